"""Other libraries on the robots and states of the benchmark, called as they like it best."""

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.bench.robots import Arm
from armdyn.bench.timing import Contender

BLOCK = 10_000
"""States that a peer computes in one run; the fastest block counts, which is in its favour."""
LOOP = 500
"""States that a peer computes in one run of a loop in Python."""


class Pinocchio:
    """Pinocchio's model of an arm; its joints may be in another order than ours."""

    def __init__(self, pin: Any, arm: Arm):
        model = pin.buildModelFromUrdf(str(arm.file))
        names = arm.robot.joint_names
        held = [model.getJointId(name) for name in list(model.names)[1:] if name not in names]
        self.model = pin.buildReducedModel(model, held, pin.neutral(model)) if held else model
        self.model.gravity.linear = np.array(arm.robot.gravity)
        self.data, self.pin = self.model.createData(), pin
        self.order = [names.index(name) for name in list(self.model.names)[1:]]
        self.back = np.argsort(self.order)

    def batch(self, function: str, states: Sequence[Array]) -> Contender:
        """A function for many states at once, on one thread: "rneaInParallel"."""
        pool, call = self.pin.ModelPool(self.model, 1), getattr(self.pin, function)
        size = min(BLOCK, len(states[0]))
        count = len(states[0]) // size
        blocks = [
            [np.asfortranarray(v[i * size : (i + 1) * size, self.order].T) for v in states]
            for i in range(count)
        ]
        out = np.zeros((self.model.nv, size), order="F")
        turns = cycle(blocks)

        def result() -> Array:
            call(1, pool, *blocks[0], out)
            return out.T[:, self.back].copy()

        return Contender(f"pin.{function}", lambda: call(1, pool, *next(turns), out), size, result)

    def loop(self, function: str, states: Sequence[Array], parts: int = 1) -> Contender:
        """A function for one state after the other, whose results are matrices: "crba"."""
        call, model, data = getattr(self.pin, function), self.model, self.data
        rows = [[v[i, self.order] for v in states] for i in range(min(LOOP, len(states[0])))]

        def run() -> None:
            for row in rows:
                call(model, data, *row)

        def matrices(row: list[Array]) -> Array:
            """Copies in our order: the next call writes over what this one returned."""
            found = call(model, data, *row)
            both = np.ix_(self.back, self.back)
            return np.array([M[both] for M in (found if parts > 1 else (found,))[:parts]])

        def result() -> Array:
            every = np.array([matrices(row) for row in rows])
            return every if parts > 1 else every[:, 0]

        return Contender(f"pin.{function} in a loop", run, len(rows), result)

    def single(self, q: Array, qd: Array, qdd: Array, calls: int) -> Contender:
        """`pin.rnea` for one state, over and over."""
        rnea, model, data = self.pin.rnea, self.model, self.data
        q, qd, qdd = (v[self.order] for v in (q, qd, qdd))

        def run() -> None:
            for _ in range(calls):
                rnea(model, data, q, qd, qdd)

        return Contender(
            "pin.rnea", run, calls, lambda: np.array([rnea(model, data, q, qd, qdd)[self.back]])
        )


def mujoco_inverse(mujoco: Any, arm: Arm, states: Sequence[Array]) -> Contender:
    """`mj_inverse`, contacts, limits and other constraints switched off."""
    model = mujoco.MjModel.from_xml_path(str(arm.plain))
    model.opt.gravity[:] = arm.robot.gravity
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data = mujoco.MjData(model)
    places = [int(model.joint(name).qposadr[0]) for name in arm.robot.joint_names]
    order, back = np.argsort(places), np.array(places)
    rows = [[v[i, order] for v in states] for i in range(min(LOOP, len(states[0])))]
    inverse, position, velocity, acceleration = mujoco.mj_inverse, data.qpos, data.qvel, data.qacc

    def compute(row: list[Array]) -> Array:
        position[:], velocity[:], acceleration[:] = row
        inverse(model, data)
        return data.qfrc_inverse

    def run() -> None:
        for row in rows:
            compute(row)

    def result() -> Array:
        return np.array([compute(row)[back] for row in rows])

    return Contender("mj_inverse in a loop", run, len(rows), result)


def toolbox_rne(toolbox: Any, states: Sequence[Array]) -> Contender:
    """`rne` of the Robotics Toolbox, written in C, for its own Puma 560 without friction."""
    puma = toolbox.models.DH.Puma560().nofriction(coulomb=True, viscous=True)
    rows = [v[: min(BLOCK, len(v))] for v in states]
    return Contender("rne", lambda: puma.rne(*rows), len(rows[0]), lambda: puma.rne(*rows))
