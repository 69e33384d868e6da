"""Other libraries on the robot and the states of a benchmark, called in their fastest way."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.bench.loop_peers import pinocchio_loops
from armdyn.bench.timing import LOOP, Contender, loop
from armdyn.errors import PeerError, counted
from armdyn.robot import Robot

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
    order, count, name = arm.order(list(model.names)[1:]), len(states[0]), PINOCCHIO[case]
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
    inverse, position, velocity, acceleration = mujoco.mj_inverse, data.qpos, data.qvel, data.qacc

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
