"""Joints that follow others along curves and in robots with loops, beside MuJoCo and by hand."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from numpy.polynomial import Polynomial
from typer.testing import CliRunner

import armdyn
from armdyn.cli import app
from armdyn.errors import LoopError, ModelError
from armdyn.io.mjcf.read import read_mjcf
from armdyn.loops.closure import closure_of
from armdyn.loops.coordinates import coordinates_of
from armdyn.loops.steps import Follower
from armdyn.model import Mimic
from armdyn.model.cut_joints import COUPLING, CUT_JOINTS, Loop
from armdyn.model.edit import coupling_between, with_loops
from support.elimination import eliminated
from support.loop_peers import rigid
from support.loops import dyad_arm, rod_arm

CAM = (0.1, 0.5, -0.3, 0.2, 0.05)
"""Of q2 by q1, about their zeros 0.2 and -0.1."""
SCREW = (0.0, 0.1, 0.02, 0.0, 0.0)
"""Of the slide s3 by q2."""
ROD = '<geom type="capsule" size=".02" fromto="0 0 0 .3 {y} .1" mass="{mass}"/>'
ARM = f"""<mujoco model="cams"><compiler angle="radian"/>
<option tolerance="0" iterations="200"><flag contact="disable"/></option><worldbody>
<body name="l1"><joint name="q1" axis="0 -1 0" ref="-0.1"/>{ROD.format(y=0, mass=1)}
 <body name="l2" pos=".3 0 .1"><joint name="q2" axis="0 -1 .3" ref=".2" damping=".1"/>
  {ROD.format(y=0.1, mass=1.3)}
  <body name="l3" pos=".3 0 .1"><joint name="s3" type="slide" axis="1 0 0"/>
   {ROD.format(y=-0.1, mass=0.7)}</body></body></body>
<body name="l4" pos="0 .3 0"><joint name="q4" axis="0 0 1" armature=".01"/>
 {ROD.format(y=0, mass=2)}</body></worldbody>
<equality>EQUALITIES</equality></mujoco>"""
CURVES = (
    f'<joint name="cam" joint1="q2" joint2="q1" polycoef="{" ".join(map(str, CAM))}"/>'
    f'<joint name="screw" joint1="s3" joint2="q2" polycoef="{" ".join(map(str, SCREW))}"/>'
)
Q, QD, QDD = np.array([[0.7, -0.3], [1.0, -2.0], [0.5, 3.0]])


def reading(tmp_path, equalities, locked=None, tool=None):
    file = tmp_path / "arm.xml"
    file.write_text(ARM.replace("EQUALITIES", equalities))
    return armdyn.load(file, locked=locked, tool=tool)


@pytest.fixture(scope="module")
def cams(tmp_path_factory):
    return reading(tmp_path_factory.mktemp("cams"), CURVES)


def by_hand(q, qd, qdd):
    """Positions, rates and accelerations of all joints, and G, from the polynomials."""
    cam, screw = Polynomial(CAM), Polynomial(SCREW)
    x, rate, change = q[0] + 0.1, qd[0], qdd[0]
    y, dy, ddy = (cam.deriv(k)(x) if k else cam(x) for k in range(3))
    z, dz, ddz = (screw.deriv(k)(y) if k else screw(y) for k in range(3))
    full = np.array([q[0], y + 0.2, z, q[1]])
    G = np.array([[1.0, 0.0], [dy, 0.0], [dz * dy, 0.0], [0.0, 1.0]])
    turning = rate**2 * np.array([0.0, ddy, dz * ddy + ddz * dy**2, 0.0])
    return full, G @ qd, G @ np.array([change, qdd[1]]) + turning, G


@pytest.mark.slow
def test_torques_along_curves_are_those_of_mujoco(cams):
    """MuJoCo's torques of the tree, moved to the coordinates by derivatives written by hand."""
    m = mujoco.MjModel.from_xml_string(ARM.replace("EQUALITIES", ""))
    data = mujoco.MjData(m)
    data.qpos[:], data.qvel[:], data.qacc[:], G = by_hand(Q, QD, QDD)
    mujoco.mj_inverse(m, data)
    np.testing.assert_allclose(cams.all_joints(Q), data.qpos, atol=1e-14)
    tau = cams.inverse_dynamics(Q, QD, QDD)
    np.testing.assert_allclose(tau, G.T @ data.qfrc_inverse, rtol=1e-13)
    np.testing.assert_allclose(cams.forward_dynamics(Q, QD, tau), QDD, rtol=1e-12)
    assert np.abs(cams.loop_residuals(Q)).max() < 1e-14


@pytest.mark.slow
def test_accelerations_along_curves_are_those_of_mujoco_made_rigid(cams):
    """At rest: MuJoCo's equality of joints leaves out what the curve adds in motion."""
    m = mujoco.MjModel.from_xml_string(ARM.replace("EQUALITIES", CURVES))
    full, rates, changes, _ = by_hand(Q, 0 * QD, QDD)
    tau = np.zeros(4)
    tau[[0, 3]] = cams.inverse_dynamics(Q, 0 * QD, QDD)
    found, _ = rigid(m, full, rates, tau)
    np.testing.assert_allclose(found, changes, rtol=1e-7, atol=1e-7)


@pytest.mark.slow
def test_laws_hold_along_curves(cams):
    slopes, h = cams.inverse_dynamics_derivatives(Q, QD, QDD), 1e-3
    for found, place in ((slopes.dq, 0), (slopes.dqd, 1)):
        for k in range(2):
            moved = []
            for times in (-2, -1, 1, 2):
                state = [Q.copy(), QD.copy(), QDD.copy()]
                state[place][k] += times * h
                moved.append(cams.inverse_dynamics(*state))
            expected = (moved[0] - 8 * moved[1] + 8 * moved[2] - moved[3]) / (12 * h)
            np.testing.assert_allclose(found[:, k], expected, atol=1e-9)
    M_rate = sum((cams.mass_matrix(Q + s * 1e-5 * QD)) * s for s in (1, -1)) / 2e-5
    skew = M_rate - 2 * cams.coriolis_matrix(Q, QD)
    np.testing.assert_allclose(skew, -skew.T, atol=1e-8)
    friction = cams.friction_torque(QD, Q)
    rest = cams.mass_matrix(Q) @ QDD + cams.coriolis_vector(Q, QD) + cams.gravity_vector(Q)
    np.testing.assert_allclose(rest + friction, cams.inverse_dynamics(Q, QD, QDD), atol=1e-12)
    regressed = cams.regressor(Q, QD, QDD) @ cams.parameters()
    np.testing.assert_allclose(regressed, rest + friction, atol=1e-12)


def test_the_command_line_tells_of_couplings(tmp_path):
    done = CliRunner().invoke(app, ["info", str(_file(tmp_path, CURVES))])
    assert done.exit_code == 0
    assert "Couplings" in done.output
    assert "screw" in done.output


@pytest.mark.slow
def test_held_joints_and_contradictions_are_told(tmp_path):
    held = reading(tmp_path, '<joint joint1="q2" polycoef="0.3"/>', tool="l2")
    assert held.joint_names == ("q1", "s3", "q4")
    T = held.forward_kinematics(np.zeros(3))
    free = reading(tmp_path, "", tool="l2").forward_kinematics([0.0, 0.5, 0.0, 0.0])
    np.testing.assert_allclose(T, free, atol=1e-15)
    both = reading(tmp_path, CURVES, locked={"q1": 0.4}, tool="l3")
    assert both.joint_names == ("q4",)
    expected = reading(tmp_path, CURVES, tool="l3").forward_kinematics([0.4, 0.0])
    np.testing.assert_allclose(both.forward_kinematics([0.0]), expected, atol=1e-15)
    with pytest.raises(ModelError, match="joint 'q2' follows 'q1' and has no value of its own"):
        reading(tmp_path, CURVES, locked={"q2": 0.0})
    for more in (
        '<joint joint1="q2" joint2="q4"/>',
        '<joint joint1="q2" polycoef="1"/>',
        '<joint joint1="q1" joint2="s3" polycoef="0 1 1 0 0"/>',
    ):
        _, findings = read_mjcf(_file(tmp_path, CURVES + more))
        assert any("contradicts the equalities before it" in f.message for f in findings)


def _file(tmp_path, equalities):
    file = tmp_path / "odd.xml"
    file.write_text(ARM.replace("EQUALITIES", equalities))
    return file


def mimicking(model, **mimics):
    """A robot with loops, assembled as before, with joints that follow others.

    Each name has its leader and the coefficients of its powers, from the first.
    """
    assembly = dict(zip([j.name for j in model.joints], model.assembly.tolist(), strict=True))
    couplings = []
    for name, (leader, powers) in mimics.items():
        start = assembly[name] - Polynomial((0.0, *powers))(assembly[leader])
        couplings.append(coupling_between(model, f"{name} gear", name, leader, (start, *powers)))
    passive = [joint.name for joint in model.joints if not joint.actuated]
    return with_loops(model, [*model.loops, *couplings], passive, assembly)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "mimics"),
    [
        ("RRR", {"swing": ("a1", (-0.7,))}),
        ("RRR", {"swing": ("a1", (-0.7, 0.2, 0.1))}),
        ("RRR", {"swing": ("a2", (-2.0,))}),  # of a joint that a loop moves
        ("RRP", {"swing": ("b2", (0.4, 0.3))}),  # of a slide that a loop moves
        ("rod", {"swing": ("crank", (0.5, 0.1))}),
    ],
)
def test_joints_follow_in_robots_with_loops(kind, mimics):
    model = mimicking(rod_arm() if kind == "rod" else dyad_arm(kind), **mimics)
    robot, rng = armdyn.Robot(model), np.random.default_rng(1)
    q = robot.start + rng.uniform(-0.05, 0.05, robot.n)
    qd, qdd = rng.uniform(-1, 1, (2, robot.n))
    _, rates, changes, tau, _ = eliminated(robot, q, qd, qdd, friction=True)
    np.testing.assert_allclose(robot.inverse_dynamics(q, qd, qdd), tau, atol=1e-10)
    here = robot._at.at(q)
    np.testing.assert_allclose(here.rates(qd), rates, atol=1e-11)
    np.testing.assert_allclose(here.accelerations(qd, qdd), changes, atol=1e-10)
    np.testing.assert_allclose(robot.forward_dynamics(q, qd, tau), qdd, atol=1e-9)
    assert np.abs(robot.loop_residuals(q)).max() < 1e-13
    assert any(isinstance(step, Follower) for step in closure_of(model).steps) == (
        len(next(iter(mimics.values()))[1]) > 1
    )


def test_a_mimic_is_a_coupling_where_there_are_loops():
    closed = dyad_arm("RRR")
    joints = tuple(
        replace(joint, mimic=Mimic("a1", 0.5, 0.1)) if joint.name == "swing" else joint
        for joint in closed.joints
    )
    tree = replace(
        closed, joints=tuple(replace(j, actuated=True) for j in joints), loops=(), assembly=None
    )
    model = with_loops(tree, closed.loops, ["a2", "b2"], {"a1": 1.2, "b1": 1.9, "b2": -1.0})
    assert [model.joints[i].name for i in model.independent] == ["a1", "b1"]
    assert model.loops[-1].coefficients == (0.1, 0.5)
    assert all(joint.mimic is None for joint in model.joints)


@pytest.mark.parametrize("powers", [(0.5,), (1.0, 0.2)])
def test_what_only_knows_sine_and_cosine_cannot_lead_along_a_curve(powers):
    model = mimicking(dyad_arm("RRR"), swing=("a2", powers))
    with pytest.raises(LoopError, match="joint 'swing' follows 'a2', which is moved by a loop"):
        closure_of(model)
    general = mimicking(rod_arm(), swing=("rocker", powers))
    with pytest.raises(LoopError, match="follows 'rocker', which is moved by a loop"):
        closure_of(general)


def test_coefficients_belong_to_couplings_and_couplings_need_them():
    for cut, coefficients, words in (
        (COUPLING, (), "by coefficients c0, c1"),
        (COUPLING, (0.2, 0.0), "one of which after c0 is not zero"),
        (CUT_JOINTS["revolute"], (0.0, 1.0), "a revolute cut joint has no coefficients"),
    ):
        assert words in Loop("loop", cut, 0, 1, coefficients=coefficients).fault
    assert not Loop("loop", COUPLING, 0, 1, coefficients=(0.2, 1.0)).fault


def test_positions_are_drawn_on_both_sides_of_zero_up_to_one():
    drawn = coordinates_of(armdyn.load("panda").model).drawn(np.random.default_rng(0), 400)
    assert drawn.shape == (400, 7)
    assert np.abs([drawn.min(0) + 1, drawn.max(0) - 1]).max() < 0.05
    assert np.abs(drawn).max() <= 1
