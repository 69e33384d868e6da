"""The closure of a robot with loops: its assembly, its independent rows and how it is solved.

Couplings whose leader is known, and loops in a plane with two joints that are not known yet, are
taken one after the other in closed form (`steps`); what is left is solved together by Newton's
method.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.forks import cached_property
from armdyn.loops.iteration import Iteration, iteration_of
from armdyn.loops.newton import assembled, closed_states
from armdyn.loops.plane import Path, PlanarLoop, planar_loop
from armdyn.loops.steps import (
    Dyad,
    Follower,
    LinearStep,
    StandingDyad,
    Step,
    following,
    from_root,
    linear_dyad,
    refuse_leader,
    turns_wholly,
)
from armdyn.model import Loop, RobotModel


@dataclass(frozen=True, eq=False)
class Closure:
    """How the passive joints of a robot follow from the actuated ones."""

    model: RobotModel
    assembly: Array
    """All loops are closed here, (N,)."""
    steps: tuple[Step, ...]
    """Closed forms in the order in which they are taken, before the iteration."""
    iteration: Iteration | None
    """Newton's method, for loops without closed forms."""
    gap: str = ""
    """What rows miss that follow from others but for rounded geometry, in words."""

    @property
    def start(self) -> Array:
        """The coordinates of the assembly, (n,)."""
        return self.assembly[list(self.model.independent)]

    @property
    def order(self) -> tuple[int, ...]:
        """The loops of the dyads that are no parallelograms, in their order; or all loops."""
        if self.iteration is not None:
            return tuple(range(len(self.model.loops)))
        names = [loop.name for loop in self.model.loops]
        dyads = (step for step in self.steps if isinstance(step, Dyad))
        return tuple(names.index(dyad.plane.loop.name) for dyad in dyads)

    @cached_property
    def linear(self) -> tuple[Array, Array] | None:
        """K and k of q_all = K q + k; None if that is not so."""
        if self.iteration or not all(isinstance(step, LinearStep) for step in self.steps):
            return None
        N, columns = len(self.model.joints), self.model.independent
        K = np.zeros((N, len(columns)))
        k = np.zeros(N)
        K[list(columns), range(len(columns))] = 1.0
        for step in self.steps:
            assert isinstance(step, LinearStep)
            for joint, ratios, offset in zip(step.unknown, step.ratios, step.offsets, strict=True):
                K[joint] = sum((ratio * K[j] for j, ratio in ratios), np.zeros(len(columns)))
                k[joint] = sum(ratio * k[j] for j, ratio in ratios) + offset
        return frozen(K), frozen(k)


@lru_cache(maxsize=64)
def closure_of(model: RobotModel) -> Closure:
    """The closure of a robot; a LoopError if it cannot be assembled or cannot move."""
    assembly = assembled(model)
    steps, left = _steps(model, assembly)
    in_plane = not left and len(steps) == len(model.loops)
    closed = closed_states(model, assembly, in_plane)
    iteration = iteration_of(model, closed, steps) if left else None
    return Closure(model, frozen(closed.states[0]), steps, iteration, closed.gap)


def _steps(model: RobotModel, assembly: Array) -> tuple[tuple[Step, ...], bool]:
    """Closed forms that can be taken one after the other, and whether any loop is left."""
    left = [from_root(model, loop) if loop.couples else loop for loop in model.loops]
    planes = {x.name: None if x.couples else planar_loop(model, x) for x in left}
    known, valued = set(model.independent), set(model.independent)
    found: list[Step] = []
    while left:
        for loop in left:
            step = (
                _coupling_step(model, loop, known, valued)
                if loop.couples
                else _planar_step(model, planes[loop.name], known, assembly)
            )
            if step is not None:
                break
        else:
            return _checked(model, found, left)
        left.remove(loop)
        found += step
        known |= {i for one in step for i in one.unknown}
        valued |= {i for one in step for i in _valued(model, one, valued)}
    return tuple(found), False


def _checked(
    model: RobotModel, found: Sequence[Step], left: Sequence[Loop]
) -> tuple[tuple[Step, ...], bool]:
    """What is known before an iteration, which solves for couplings of whole ratios as well.

    It knows angles of passive joints by sine and cosine, so that none can lead along a curve.
    """
    angles = {i for i in model.passive if model.joints[i].type.turns}
    curved = {step.joint for step in found if isinstance(step, Follower) and step.leader in angles}
    for loop in (from_root(model, loop) for loop in model.loops if loop.couples):
        waits = loop.name in [other.name for other in left] and not turns_wholly(model, loop)
        if waits or loop.link_a in curved:
            refuse_leader(model, loop)
    return tuple(found), True


def _coupling_step(
    model: RobotModel, loop: Loop, known: Collection[int], valued: Collection[int]
) -> list[Step] | None:
    """The step of a coupling; None if its leader is not known yet."""
    if loop.link_b not in known:
        return None
    if loop.link_b not in valued and not turns_wholly(model, loop):
        refuse_leader(model, loop)
    return [following(loop)]


def _valued(model: RobotModel, step: Step, valued: Collection[int]) -> list[int]:
    """The joints of a step whose positions are known, and not just sine and cosine of angles."""
    if isinstance(step, Dyad):
        return [i for i in step.unknown if not model.joints[i].type.turns]
    if isinstance(step, Follower):
        return [step.joint]
    leaders = ({j for j, _ in ratios} for ratios in step.ratios)
    return [i for i, led in zip(step.unknown, leaders, strict=True) if led.issubset(valued)]


def _planar_step(
    model: RobotModel, plane: PlanarLoop | None, known: Collection[int], assembly: Array
) -> list[Step] | None:
    """The step of a loop in a plane; None if there is none yet."""
    unknown = [] if plane is None else [j for j in plane.joints if j not in known]
    if plane is None or len(unknown) not in (0, 2):
        return None
    if not unknown:
        return []
    dyad = _dyad(model, plane, unknown, assembly)
    return [linear_dyad(dyad, assembly) or dyad]


def _dyad(model: RobotModel, plane: PlanarLoop, unknown: Sequence[int], assembly: Array) -> Dyad:
    first, second = sorted(unknown, key=lambda j: (not model.joints[j].type.turns, j))
    turning = model.joints[first].type.turns, model.joints[second].type.turns
    paths = _path(plane, first), _path(plane, second)
    dyad = Dyad(plane, (first, second), turning, paths, 1.0)
    root = StandingDyad(dyad, [float(x) for x in assembly], solved=True).determinant
    sign = -np.sign(root) if turning[1] or dyad.slide_turns else np.sign(root)
    return replace(dyad, sign=float(sign) or 1.0)


def _path(plane: PlanarLoop, joint: int) -> Path:
    """What turns a joint, with itself if it turns."""
    for segment in plane.segments:
        joints = [j for j, _ in segment.path]
        if joint in joints:
            return segment.path[: joints.index(joint) + 1]
        if segment.slide == joint:
            return segment.path
    raise AssertionError(joint)
