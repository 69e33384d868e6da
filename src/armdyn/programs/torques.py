"""The torques of a robot as a straight-line program, with a payload that is known at run time."""

from dataclasses import replace

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.compiler.passes import reduce
from armdyn.compiler.program import Program
from armdyn.compiler.trace import trace
from armdyn.errors import ModelError
from armdyn.expr.graph import Graph
from armdyn.formulations.minimal import minimal
from armdyn.model import Body, Inertia, Link, RobotModel
from armdyn.model.canonical import CanonicalRobot, canonical
from armdyn.programs.symbolic import symbolic


def torque_program(model: RobotModel, payload: bool = False) -> Program:
    """A program for the joint torques of the links, called with q, qd, qdd.

    Args:
        model: The robot; friction, rotors and couplings are not in the program.
        payload: Whether it takes a fourth vector, the payload at the tool: its ten inertial
            parameters m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz in the tool frame, the tensor
            about the origin of that frame (`payload_vector` makes it from mass, centre and tensor).
    """
    graph, n = Graph(), len(model.joints)
    robot = symbolic(canonical(model), graph)
    inputs = {name: n for name in ("q", "qd", "qdd")}
    if payload:
        robot = _loaded(model, robot, graph.inputs("payload", 10))
        inputs["payload"] = 10
    states = [graph.inputs(name, n) for name in ("q", "qd", "qdd")]
    outputs = trace(graph, lambda *s: minimal(robot, *s).tau, *states)
    return Program.from_outputs(np.array(reduce(outputs).outputs), inputs)


def payload_vector(mass: float, com: Array, inertia: Array) -> Array:
    """The ten parameters of a payload from mass, centre of mass and tensor about it, tool axes."""
    body = Inertia.from_com(mass, com, inertia)
    tensor = body.moment[np.tril_indices(3)]
    return np.array([body.mass, *body.first_moment, *tensor])


def _loaded(model: RobotModel, robot: CanonicalRobot, payload: Array) -> CanonicalRobot:
    """The robot with a payload of ten symbols on the link that carries the tool.

    Frames do not depend on inertias, and J, u and M are linear in them: each parameter adds what a
    link that has this parameter alone, at the tool, has in the frame of the robot.
    """
    at = model.flange.link
    if at < 0:
        raise ModelError(
            f"the tool of {model.name!r} is on the base, where a payload has no effect"
        )
    link = robot.links[at]
    J, u, M = np.array(link.J, dtype=object), np.array(link.u, dtype=object), link.M
    for symbol, unit in zip(payload, np.eye(10), strict=True):
        alone = canonical(_with_body(model, at, _inertia(unit))).links[at]
        J, u, M = J + symbol * alone.J, u + symbol * alone.u, M + symbol * alone.M
    links = list(robot.links)
    links[at] = replace(link, J=frozen(J), u=frozen(u), M=M)
    return replace(robot, links=tuple(links))


def _inertia(ten: Array) -> Inertia:
    moment = np.zeros((3, 3))
    moment[np.tril_indices(3)] = ten[4:]
    moment = moment + np.tril(moment, -1).T
    return Inertia.from_origin(float(ten[0]), ten[1:4], moment)


def _with_body(model: RobotModel, at: int, inertia: Inertia) -> RobotModel:
    links = list(model.links)
    links[at] = Link(links[at].name, (Body("payload", inertia, model.tool_frame.placement),))
    return replace(model, links=tuple(links))
