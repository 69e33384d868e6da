"""Contenders of a benchmark: fair times for them, and other libraries on its robot and states.

Contenders take turns, and the shortest time of each counts. Other libraries are called in their
fastest way; a robot with loops is in Pinocchio a tree, and a point in common at each cut joint.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import BenchmarkError, PeerError, counted
from armdyn.kernels.threads import set_threads, threads
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import Joint, RobotModel
from armdyn.robot import Robot

TURN_SECONDS = 0.01
"""How long a contender runs before the next one has its turn."""
LOOP = 500
"""States that are computed in one run of a loop in Python."""
FEWEST_ROUNDS = 3
"""Every contender has at least as many turns."""
AGREEMENT = 1e-9
"""Largest difference of two results, relative to the largest entry."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A function that is timed."""

    name: str
    run: Callable[[], object]
    states: int
    """How many states one run computes."""
    result: Callable[[], Array] | None = None
    """Computes the results of the first states; None: they are not compared with others."""


def loop(
    name: str,
    compute: Callable[..., Any],
    rows: Sequence[Sequence[Array]],
    ordered: Callable[[Any], Array] = np.array,
) -> Contender:
    """A function that is called for one state after the other; `ordered` copies its result."""

    def run() -> None:
        for row in rows:
            compute(*row)

    def result() -> Array:
        return np.array([ordered(compute(*row)) for row in rows])

    return Contender(name, run, len(rows), result)


def alternate(contenders: Sequence[Contender], seconds: float) -> list[float]:
    """The shortest time that each takes for one state [s], on one thread.

    They take turns until the time is over, so that a slow phase of the machine slows all of them.
    """
    best = [np.inf] * len(contenders)
    rounds, end, before = 0, perf_counter() + seconds, threads()
    set_threads(1)
    try:
        while rounds < FEWEST_ROUNDS or perf_counter() < end:
            for k, contender in enumerate(contenders):
                best[k] = min(best[k], _turn(contender.run) / contender.states)
            rounds += 1
    finally:
        set_threads(before)
    return best


def _turn(run: Callable[[], object]) -> float:
    """The shortest run of a turn; a long run is a turn by itself."""
    best, before = np.inf, perf_counter()
    end = before + TURN_SECONDS
    while before < end:
        run()
        after = perf_counter()
        best, before = min(best, after - before), after
    return best


def check_agreement(contenders: Iterable[Contender]) -> None:
    """Raise a BenchmarkError unless all contenders give the results of the first one."""
    (ours, found), *others = [(c.name, c.result()) for c in contenders if c.result is not None]
    for name, theirs in others:
        common = min(len(found), len(theirs))
        a, b = found[:common], theirs[:common]
        if a.shape != b.shape:
            raise BenchmarkError(
                f"{ours} gives shape {a.shape} and {name} {b.shape}; they are not given "
                "the same robot, so no time is reported"
            )
        apart = float(np.abs(a - b).max() / np.abs(b).max())
        if not apart <= AGREEMENT:
            raise BenchmarkError(
                f"{ours} and {name} differ by {apart:.1e} of the largest entry, "
                f"expected at most {AGREEMENT:g}; one of them is wrong, so no time is "
                "reported. Empty the cache with 'armdyn cache --clear' and run again; if they "
                "still differ, report it"
            )


PINS = ("revolute", "spherical", "cylindrical")
"""Cut joints of planar loops, which a point in common closes."""
PROXIMAL = (1e-14, 1e-9, 100)
"""Accuracy, weight and most iterations of Pinocchio's solver: rows of planar loops depend on each
other, so without a weight it gives no numbers."""
INDEPENDENT = 1e-9
"""Pivot below which a row of the closures is a combination of others."""


class PinocchioLoops:
    """The tree of a robot in Pinocchio, without friction, with its closures.

    Arrays are those of all joints in our order; Pinocchio's sparse algorithms want joints depth
    first.
    """

    def __init__(self, pin: Any, model: RobotModel):
        for each in model.loops:
            if each.cut.name not in PINS:
                raise PeerError(f"{each.where} is closed by a {each.cut.name} joint, not by a pin")
        self.pin, self.order = pin, depth_first(model)
        self.back = np.argsort(self.order)
        index = {-1: 0} | {i: k + 1 for k, i in enumerate(self.order)}
        self.model = other = pin.Model()
        other.gravity = pin.Motion(np.array(model.gravity), np.zeros(3))
        for i in self.order:
            joint, body = model.joints[i], model.links[i].inertia
            place = model.base @ joint.placement if joint.parent < 0 else joint.placement
            k = other.addJoint(
                index[joint.parent], pin_joint(pin, joint), pin.SE3(np.array(place)), joint.name
            )
            inertia = pin.Inertia(body.mass, body.com, body.moment_about_com)
            other.appendBodyToJoint(k, inertia, pin.SE3.Identity())
        other.armature = np.array([model.joints[i].rotor.reflected for i in self.order])
        self.data = other.createData()
        self.models = pin.StdVec_RigidConstraintModel()
        self.datas = pin.StdVec_RigidConstraintData()
        for each in model.loops:
            ends: list[Any] = []
            for link, T in ((each.link_a, each.frame_a), (each.link_b, each.frame_b)):
                place = model.base @ T if link < 0 else T
                ends += [index[link], pin.SE3(np.array(place))]
            kind = pin.ContactType.CONTACT_3D
            cut = pin.RigidConstraintModel(kind, other, *ends, pin.LOCAL_WORLD_ALIGNED)
            self.models.append(cut)
            self.datas.append(cut.createData())
        pin.initConstraintDynamics(other, self.data, self.models, self.datas)
        self.settings = pin.ProximalSettings(*PROXIMAL)

    def closure_matrix(self, q: Array) -> Array:
        """A of the rates A q̇ = 0 that keep the loops closed, (3 loops, N)."""
        self.pin.computeJointJacobians(self.model, self.data, q[self.order])
        return np.array(self.jacobian()[:, self.back])

    def jacobian(self) -> Any:
        """The same in Pinocchio's order, from Jacobians that are computed already."""
        for cut, data in zip(self.models, self.datas, strict=True):
            cut.calc(self.model, self.data, data)
        return self.pin.getConstraintsJacobian(self.model, self.data, self.models, self.datas)


def depth_first(model: RobotModel) -> list[int]:
    """Indices of joints, each followed by those that it carries."""
    order: list[int] = []
    ahead = [i for i, parent in enumerate(model.parents) if parent < 0][::-1]
    while ahead:
        order.append(i := ahead.pop())
        ahead += model.children[i][::-1]
    return order


def pin_joint(pin: Any, joint: Joint) -> Any:
    """A joint as Pinocchio has it; its helical joint too has its pitch in metres per radian."""
    kind, axis = joint.type, np.array(joint.axis)
    if kind.turns and kind.slides:
        return pin.JointModelHelicalUnaligned(axis, kind.slide)
    if kind.slides:
        return pin.JointModelPrismaticUnaligned(axis)
    return pin.JointModelRevoluteUnaligned(axis)


def pinocchio_loops(pin: Any, robot: Robot, case: str, states: Sequence[Array]) -> Contender | None:
    """Pinocchio on a robot with loops; positions and rates of all joints are given to it.

    Inverse dynamics are those of the tree, with the forces of the closures eliminated by their
    Jacobian; forward dynamics are its constrained ones.
    """
    if case not in ("inverse_dynamics", "one_state", "forward_dynamics"):
        return None
    peer, model = PinocchioLoops(pin, robot.model), robot.model
    active = peer.back[list(model.independent)]
    at = coordinates_of(model).at(states[0][:LOOP])
    rates = at.rates(states[1][:LOOP])
    here = at.q, rates, at.accelerations(states[1][:LOOP], states[2][:LOOP])
    rows = [[v[i][peer.order] for v in here] for i in range(len(here[0]))]
    if case == "forward_dynamics":
        full = np.zeros((len(rows), len(model.joints)))
        full[:, active] = states[2][:LOOP]
        given = [[*row[:2], tau] for row, tau in zip(rows, full, strict=True)]
        rest = peer.models, peer.datas, peer.settings
        dynamics = partial(pin.constraintDynamics, peer.model, peer.data)
        name = "pin.constraintDynamics in a loop"
        return loop(name, lambda *row: dynamics(*row, *rest), given, lambda qdd: qdd[active].copy())
    passive = peer.back[list(model.passive)]
    independent = _independent(peer.closure_matrix(here[0][0])[:, list(model.passive)])
    rnea, jacobians = pin.rnea, pin.computeJointJacobians
    known, unknown = np.ix_(independent, active), np.ix_(independent, passive)

    def compute(q: Array, qd: Array, qdd: Array) -> Array:
        tau = rnea(peer.model, peer.data, q, qd, qdd)
        jacobians(peer.model, peer.data, q)
        A = peer.jacobian()
        force = np.linalg.solve(A[unknown].T, tau[passive])
        return np.array(tau[active] - A[known].T @ force)

    return loop("pin.rnea and constraint Jacobians in a loop", compute, rows)


def _independent(A: Array) -> Array:
    """As many rows as the rank of A."""
    from scipy.linalg import qr  # noqa: PLC0415 (slow, and few robots have loops)

    _, R, order = qr(A.T, pivoting=True, mode="economic")
    sizes = np.abs(np.diag(R))
    return np.sort(order[: int((sizes > INDEPENDENT * sizes[0]).sum())])


BLOCK = 10_000
"""States that a peer computes in one run; the fastest block counts, which favours the peer."""
PINOCCHIO = {
    "inverse_dynamics": "rneaInParallel",
    "forward_dynamics": "abaInParallel",
    "mass_matrix": "crba",
    "derivatives": "computeRNEADerivatives",
    "one_state": "rnea",
}
"""Pinocchio's function for each case; those "InParallel" take many states."""


@dataclass(frozen=True)
class MeasuredArm:
    """A robot without friction and rotors, and the file of it that other libraries read."""

    robot: Robot
    file: Path | None
    """A URDF; None if a URDF cannot describe the robot."""
    reason: str = ""
    """Why there is no file."""

    def urdf(self) -> str:
        """The path of the file."""
        if self.file is None:
            raise PeerError(self.reason)
        return str(self.file)

    def order(self, theirs: Sequence[str]) -> list[int]:
        """Index among our joints of each joint of a library."""
        ours = self.robot.joint_names
        if sorted(ours) != sorted(theirs):
            raise PeerError(f"it moves {counted(len(theirs), 'joint')}, armdyn {len(ours)}")
        return [ours.index(name) for name in theirs]


def pinocchio(pin: Any, arm: MeasuredArm, case: str, states: Sequence[Array]) -> Contender | None:
    """Pinocchio's function for a case, on one thread."""
    if case not in PINOCCHIO:
        return None
    if arm.robot.model.loops:
        return pinocchio_loops(pin, arm.robot, case, states)
    model = pin.buildModelFromUrdf(arm.urdf())
    model.gravity.linear = np.array(arm.robot.gravity)
    order = arm.order(list(model.names)[1:])
    count = len(states[0])
    name = PINOCCHIO[case]
    back = np.argsort(order)
    if name.endswith("InParallel"):
        size = min(BLOCK, count)
        call = partial(getattr(pin, name), 1, pin.ModelPool(model, 1))
        blocks = [
            [np.asfortranarray(v[start : start + size, order].T) for v in states]
            for start in range(0, count - size + 1, size)
        ]
        out, turns = np.zeros((model.nv, size), order="F"), cycle(blocks)

        def first_block() -> Array:
            call(*blocks[0], out)
            return out.T[:, back].copy()

        return Contender(f"pin.{name}", lambda: call(*next(turns), out), size, first_block)

    def ordered(found: Any) -> Array:
        """A copy in our order; of the derivatives those by q and q̇."""
        array = np.array(found[:2] if isinstance(found, tuple) else found)
        return array[back] if array.ndim == 1 else array[..., back[:, None], back]

    compute = partial(getattr(pin, name), model, model.createData())
    rows = [[v[i % count, order] for v in states] for i in range(LOOP)]
    return loop(f"pin.{name} in a loop", compute, rows, ordered)


def mujoco(mujoco: Any, arm: MeasuredArm, case: str, states: Sequence[Array]) -> Contender | None:
    """`mj_inverse`, contacts, limits and other constraints switched off."""
    if case != "inverse_dynamics":
        return None
    model = mujoco.MjModel.from_xml_path(arm.urdf())
    model.opt.gravity[:] = arm.robot.gravity
    for constraint in ("CONSTRAINT", "CONTACT"):
        model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{constraint}"))
    data = mujoco.MjData(model)
    order = arm.order([model.joint(i).name for i in range(model.njnt)])
    back = np.argsort(order)
    inverse = mujoco.mj_inverse
    position = data.qpos
    velocity = data.qvel
    acceleration = data.qacc

    def compute(*row: Array) -> Array:
        position[:], velocity[:], acceleration[:] = row
        inverse(model, data)
        return data.qfrc_inverse

    rows = list(zip(*(v[:LOOP, order] for v in states), strict=True))
    return loop("mj_inverse in a loop", compute, rows, lambda tau: tau[back])


def toolbox(rtb: Any, arm: MeasuredArm, case: str, states: Sequence[Array]) -> Contender | None:
    """`rne` of the Robotics Toolbox, written in C, for its own model of the Puma 560."""
    if case != "inverse_dynamics" or arm.robot.name != "puma560":
        return None
    puma = rtb.models.DH.Puma560().nofriction(coulomb=True, viscous=True)
    for link in puma.links:
        link.Jm = 0.0
    run = partial(puma.rne, *(v[:BLOCK] for v in states))
    return Contender("rtb rne", run, min(BLOCK, len(states[0])), run)


PEERS = {"pinocchio": pinocchio, "mujoco": mujoco, "roboticstoolbox": toolbox}
"""The function that makes a contender of a library, by the module that is imported."""
