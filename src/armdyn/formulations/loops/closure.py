"""The closure of a robot with loops: its assembly, its independent rows and how it is solved.

Loops in a plane are taken one after the other, each with two joints that are not known yet, in
closed form (`dyad`, `parallelogram`); where that does not go all loops are solved together by
Newton's method.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.formulations.loops.dyad import Dyad, StandingDyad
from armdyn.formulations.loops.iteration import Iteration
from armdyn.formulations.loops.iteration_of import iteration_of
from armdyn.formulations.loops.newton import assembled, check_mobility
from armdyn.formulations.loops.parallelogram import LinearDyad, linear_dyad
from armdyn.formulations.loops.plane import Path, PlanarLoop, planar_loop
from armdyn.model import RobotModel


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """How the passive joints of a robot follow from the actuated ones."""

    model: RobotModel
    assembly: Array
    """All loops are closed here, (N,)."""
    dyads: tuple[Dyad | LinearDyad, ...] | None
    """Closed forms in the order in which they are taken; None: there is none."""
    iteration: Iteration | None
    """Newton's method, for loops without closed forms."""

    @property
    def order(self) -> tuple[int, ...]:
        """The loops of the dyads that are no parallelograms, in their order; or all loops."""
        if self.iteration is not None:
            return tuple(range(len(self.model.loops)))
        names = [loop.name for loop in self.model.loops]
        dyads = (dyad for dyad in self.dyads or () if isinstance(dyad, Dyad))
        return tuple(names.index(dyad.plane.loop.name) for dyad in dyads)

    @property
    def linear(self) -> tuple[Array, Array] | None:
        """K and k of q_all = K q + k; None if that is not so."""
        if self.dyads is None or not all(isinstance(d, LinearDyad) for d in self.dyads):
            return None
        N, columns = len(self.model.joints), self.model.independent
        K, k = np.zeros((N, len(columns))), np.zeros(N)
        K[list(columns), range(len(columns))] = 1.0
        for dyad in self.dyads:
            assert isinstance(dyad, LinearDyad)
            for joint, ratios, offset in zip(dyad.unknown, dyad.ratios, dyad.offsets, strict=True):
                K[joint] = sum((ratio * K[j] for j, ratio in ratios), np.zeros(len(columns)))
                k[joint] = sum(ratio * k[j] for j, ratio in ratios) + offset
        return frozen(K), frozen(k)


@lru_cache(maxsize=64)
def closure_of(model: RobotModel) -> Closure:
    """The closure of a robot; a LoopError if it cannot be assembled or cannot move."""
    assembly = assembled(model)
    closed = check_mobility(model, assembly)
    dyads = _dyads(model, assembly)
    iteration = None if dyads is not None else iteration_of(model, closed)
    return Closure(model, frozen(assembly), dyads, iteration)


def _dyads(model: RobotModel, assembly: Array) -> tuple[Dyad | LinearDyad, ...] | None:
    planes = [planar_loop(model, loop) for loop in model.loops]
    known = set(model.independent)
    left = [plane for plane in planes if plane is not None]
    if len(left) < len(planes):
        return None
    found: list[Dyad | LinearDyad] = []
    while left:
        ready = [p for p in left if len([j for j in p.joints if j not in known]) in (0, 2)]
        if not ready:
            return None
        plane = ready[0]
        left.remove(plane)
        unknown = [j for j in plane.joints if j not in known]
        if unknown:
            dyad = _dyad(model, plane, unknown, assembly)
            found.append(linear_dyad(dyad, assembly) or dyad)
            known |= set(unknown)
    return tuple(found)


def _dyad(model: RobotModel, plane: PlanarLoop, unknown: Sequence[int], assembly: Array) -> Dyad:
    first, second = sorted(unknown, key=lambda j: (not model.joints[j].type.turns, j))
    turning = model.joints[first].type.turns, model.joints[second].type.turns
    paths = _path(plane, first), _path(plane, second)
    dyad = Dyad(plane, (first, second), turning, paths, 1.0)
    root = StandingDyad(dyad, [float(x) for x in assembly], solved=True).determinant
    sign = -np.sign(root) if turning[1] or dyad.slide_turns else np.sign(root)
    return Dyad(plane, (first, second), turning, paths, float(sign) or 1.0)


def _path(plane: PlanarLoop, joint: int) -> Path:
    """What turns a joint, with itself if it turns."""
    for segment in plane.segments:
        joints = [j for j, _ in segment.path]
        if joint in joints:
            return segment.path[: joints.index(joint) + 1]
        if segment.slide == joint:
            return segment.path
    raise AssertionError(joint)
