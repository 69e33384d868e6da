"""Which joints of a robot with loops are its coordinates, where a file does not say.

Files say where links are joined, and perhaps which joints have motors and springs. The joints that
follow are chosen by pivots of the rows at the assembly and at closed states near it, group after
group: followers of couplings, plain joints, those with springs, those with motors. A last pass
exchanges joints of a group while the smallest singular value grows.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from armdyn.arrays import Array, check_names
from armdyn.errors import LoopError, check_all_known
from armdyn.loops.newton import (
    RANK,
    TAKEN,
    closed_near,
    joint_units,
    pivots,
    rank_of,
    scaled_matrix,
)
from armdyn.model import JointSpring, Loop, RobotModel
from armdyn.model.cut_joints import cycle
from armdyn.model.edit import mimic_couplings, with_loops

STATES, STEP = 6, 0.05
"""Closed states near the assembly, and how far they are [rad, or size]."""
REASON, MEASURED = "Coordinates around loops: ", " of the largest."
"""How the note on a choice begins and ends."""
BETTER = 1.02
"""How much the smallest singular value must grow for an exchange."""


def closed_tree(
    model: RobotModel,
    loops: Sequence[Loop],
    assemblies: Sequence[Array],
    motors: Collection[str] = (),
    coordinates: Sequence[str] | None = None,
) -> RobotModel:
    """The robot with loops that are closed near one of several positions, the best of them.

    Args:
        model: The robot.
        loops: Its cut joints and couplings.
        assemblies: Positions of all joints, (N,) each; the first ones are preferred.
        motors: Names of the joints that have one.
        coordinates: Names of the joints that are coordinates; None: those that suit best.
    """
    if not loops:
        return model
    spanned = _spanned(model, loops)
    pairs = [closed_near(spanned, q) for q in assemblies]
    closed = [q for q, missing in pairs if missing <= TAKEN]
    if not closed:
        raise LoopError(
            f"the loops {', '.join(repr(loop.name) for loop in loops)} of {model.name!r} cannot be "
            f"closed together: with all joints free to follow, {min(m for _, m in pairs):.2g} of "
            "their size is missing where they come nearest. Check the frames of the loops, or give "
            "positions at which links meet: a key named home in MJCF, [assembly] in TOML",
            loop=loops[0].name,
        )
    names = None if coordinates is None else check_names("coordinates", coordinates)
    choices = [_Choice.at(spanned, q, motors, names) for q in closed]
    best = max(choices, key=lambda choice: choice.measure)
    passive = [model.joints[i].name for i in best.passive]
    positions = {j.name: float(x) for j, x in zip(model.joints, best.assembly, strict=True)}
    robot = with_loops(model, loops, passive, positions)
    note = re.sub(rf"{REASON}.*?{MEASURED}", "", model.note).strip()
    return replace(robot, note=" ".join(filter(None, (note, best.reason(motors)))))


def with_coordinates(model: RobotModel, names: Sequence[str]) -> RobotModel:
    """A robot with loops and other coordinates."""
    names = check_names("coordinates", names)
    if not model.loops or model.assembly is None:
        own = [joint.name for joint in model.coordinate_joints]
        if sorted(names) == sorted(own):
            return model
        raise LoopError(
            f"{model.name!r} has no loops, so that its coordinates are {', '.join(own)}; "
            "coordinates are chosen where loops leave a choice"
        )
    return closed_tree(model, model.loops, [model.assembly], coordinates=names)


def _around(model: RobotModel, loops: Sequence[Loop]) -> list[int]:
    return sorted({i for loop in loops for i in cycle(model.paths, loop)})


def _spanned(model: RobotModel, loops: Sequence[Loop]) -> RobotModel:
    """The robot with all joints around loops free to follow, but one if there are no others."""
    every = [*loops, *mimic_couplings(model)]
    around, following = _around(model, every), {loop.link_a for loop in every if loop.couples}
    free = [
        i
        for i in around
        if i not in following and all(set(cycle(model.paths, loop)) - {i} for loop in every)
    ]
    if len(around) == len(model.joints) and not free:
        raise _immobile(model, loops)
    held = free[:1] if len(around) == len(model.joints) else []
    passive = [model.joints[i].name for i in around if i not in held]
    return with_loops(model, loops, passive, {})


def _immobile(model: RobotModel, loops: Sequence[Loop]) -> LoopError:
    return LoopError(
        f"{loops[0].where} of {model.name!r} cannot move: its conditions hold all "
        f"{len(model.joints)} joints; are axes that should be parallel or meet exactly so?",
        loop=loops[0].name,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Choice:
    """The joints that follow from one assembly."""

    model: RobotModel
    assembly: Array
    around: tuple[int, ...]
    passive: tuple[int, ...]
    measure: float
    """Smallest over largest singular value of their rows, in the worst of the closed states."""

    @classmethod
    def at(
        cls, model: RobotModel, q: Array, motors: Collection[str], names: Sequence[str] | None
    ) -> "_Choice":
        """The best choice, or that which is asked for."""
        around = _around(model, model.loops)
        states = _near(model, q, around)
        A = np.stack([scaled_matrix(model, state)[:, around] for state in states])
        ranks = [rank_of(a) for a in A]
        A = A[[rank == max(ranks) for rank in ranks]]
        if max(ranks) == len(model.joints):
            raise _immobile(model, model.loops)
        if names is not None:
            chosen = _asked(model, around, max(ranks), names)
        else:
            following = {loop.link_a for loop in model.loops if loop.couples}
            kinds = [_kind(model, i, following, motors) for i in around]
            groups = [
                [k for k, kind in enumerate(kinds) if kind == g] for g in range(max(kinds) + 1)
            ]
            chosen = _exchanged(A, pivots(A, max(ranks), groups), kinds)
        passive = tuple(sorted(around[k] for k in chosen))
        choice = cls(model, states[0], tuple(around), passive, _worst(A, chosen))
        if names is not None and choice.measure < RANK:
            other = cls.at(model, q, motors, None)
            raise LoopError(
                f"the coordinates {', '.join(names)} of {model.name!r} do not determine its other "
                f"joints where it is assembled; {', '.join(other.coordinates)} would",
                loop=model.loops[0].name,
            )
        return choice

    @property
    def coordinates(self) -> list[str]:
        """Names of the coordinates around loops."""
        return [self.model.joints[i].name for i in self.around if i not in self.passive]

    def reason(self, motors: Collection[str]) -> str:
        """The coordinates around loops and what they are, for people."""
        kinds = dict.fromkeys(_sprung(self.model), " (spring)") | dict.fromkeys(motors, " (motor)")
        names = [name + kinds.get(name, "") for name in self.coordinates]
        return (
            f"{REASON}{', '.join(names)}; the rows of the joints that follow have singular values "
            f"of which the smallest is {self.measure:.2g}{MEASURED}"
        )


def _kind(model: RobotModel, i: int, following: Collection[int], motors: Collection[str]) -> int:
    """The group of a joint: the lower, the rather it follows."""
    name = model.joints[i].name
    if i in following:
        return 0
    return 3 if name in motors else 2 if name in _sprung(model) else 1


def _sprung(model: RobotModel) -> set[str]:
    """Names of the joints with springs."""
    springs = (spring for spring in model.springs if isinstance(spring, JointSpring))
    return {joint for spring in springs for joint, _ in spring.ratios}


def _asked(model: RobotModel, around: Sequence[int], rank: int, names: Sequence[str]) -> list[int]:
    """Which joints around loops follow, where coordinates are named."""
    check_all_known(f"coordinate of {model.name!r} named", names, [j.name for j in model.joints])
    followers = {loop.link_a: loop for loop in model.loops if loop.couples}
    for i, loop in followers.items():
        if model.joints[i].name in names:
            leader = model.joints[loop.link_b].name
            raise LoopError(
                f"{loop.where}: joint {model.joints[i].name!r} follows {leader!r}, so it cannot be "
                f"a coordinate; take {leader!r}",
                loop=loop.name,
            )
    passive = [k for k, i in enumerate(around) if model.joints[i].name not in names]
    if len(passive) != rank:
        own = [model.joints[i].name for i in around if model.joints[i].name in names]
        raise LoopError(
            f"the loops of {model.name!r} leave {len(around) - rank} of the {len(around)} joints "
            f"around them free, and {len(own)} are coordinates: {', '.join(own) or 'none'}; the "
            f"joints around loops are {', '.join(model.joints[i].name for i in around)}",
            loop=model.loops[0].name,
        )
    return passive


def _near(model: RobotModel, q: Array, around: Sequence[int]) -> list[Array]:
    """Closed states, first the assembly."""
    found, units = [q], joint_units(model)[list(around)]
    A = scaled_matrix(model, q)[:, list(around)]
    free = np.linalg.svd(A)[2][rank_of(A) :]
    rng = np.random.default_rng(3)
    for _ in range(STATES if len(free) else 0):
        along = rng.normal(size=len(free)) @ free
        moved = q.copy()
        moved[list(around)] += STEP * along / np.abs(along).max() * units
        closed, missing = closed_near(model, moved)
        if missing <= TAKEN:
            found.append(closed)
    return found


def _worst(A: Array, chosen: Sequence[int]) -> float:
    """Smallest over largest singular value of these columns, in the worst state."""
    values = np.linalg.svd(A[:, :, list(chosen)])[1]
    return float((values[:, len(chosen) - 1] / values[:, 0]).min())


def _exchanged(A: Array, chosen: Sequence[int], kinds: Sequence[int]) -> list[int]:
    """The columns with some exchanged for others of their group, or of one that rather follows."""
    best, chosen = _worst(A, chosen), list(chosen)
    while True:
        trials = [
            [*(k for k in chosen if k != old), new]
            for old in chosen
            for new in range(len(kinds))
            if new not in chosen and kinds[new] <= kinds[old]
        ]
        measures = [_worst(A, trial) for trial in trials]
        if max(measures, default=0.0) <= BETTER * best:
            return chosen
        best, chosen = max(measures), trials[int(np.argmax(measures))]
