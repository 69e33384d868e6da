"""Newton's method for the passive joints of a robot with loops, and what its rows tell."""

from collections.abc import Iterator

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import LoopError
from armdyn.loops.exact_motion import moves_exactly
from armdyn.loops.rows import closure_matrix, largest_residuals, residuals
from armdyn.model import RobotModel

MOST_STEPS = 60
"""Steps after which an assembly is given up."""
CLOSED = 1e-13
"""Residuals this small, as a share of the size of the robot, are rounding."""
NEARLY_CLOSED = 1e-10
"""Residuals this small are a closed loop."""
RANK = 1e-8
"""Singular values below this share of the largest are zero."""
MOVING = 1e-12
"""The same where exact numbers tell that rows are independent: sides of equal lengths and the like
are known but for rounding."""
NEAR = (0.03, -0.02, 0.07, -0.05)
"""How far actuated joints are moved to see whether the loops can move [rad, or size]."""
NEARER = (0.005, -0.005, 5e-4, -5e-4)
"""The same where the assembly is nearly singular."""


def size(model: RobotModel) -> float:
    """A length of the robot [m]."""
    offsets = [np.linalg.norm(j.placement[:3, 3]) for j in model.joints]
    ends = [np.linalg.norm(T[:3, 3]) for x in model.loops for T in (x.frame_a, x.frame_b)]
    lengths = [*map(float, (*offsets, *ends)), *(loop.length for loop in model.loops)]
    return max(lengths) or 1.0


def closed_near(model: RobotModel, q: Array) -> tuple[Array, float]:
    """The positions with passive joints moved until loops are closed, and what is still missing.

    Gauss-Newton steps, halved until the residual shrinks.
    """
    q, passive = np.array(q, dtype=float), list(model.passive)
    scale = size(model)
    r = residuals(model, q)
    for _ in range(MOST_STEPS):
        if np.abs(r).max() <= CLOSED * scale:
            break
        A = closure_matrix(model, q)[:, passive]
        step = np.linalg.lstsq(A, -r, rcond=1e-10)[0]
        step = step / max(1.0, np.abs(step).max())  # a radian at most
        for _ in range(12):
            trial = q.copy()
            trial[passive] += step
            found = residuals(model, trial)
            if np.linalg.norm(found) < np.linalg.norm(r):
                break
            step = 0.5 * step
        else:
            break
        q, r = trial, found
    return q, float(np.abs(r).max() / scale)


def assembled(model: RobotModel) -> Array:
    """The assembly of a robot with all loops closed to rounding; a LoopError if that is none."""
    assert model.assembly is not None
    q, missing = closed_near(model, model.assembly)
    if missing <= NEARLY_CLOSED:
        return q
    missing_of = largest_residuals(model, q)
    worst = model.loops[int(missing_of.argmax())].name
    at = ", ".join(f"{model.joints[i].name} = {model.assembly[i]:g}" for i in model.independent)
    raise LoopError(
        f"loop {worst!r} of {model.name!r} cannot be closed near the assembly, with {at}: it "
        f"still misses by {missing_of.max():.3g} where it comes nearest; give positions in "
        "[assembly] at which the links meet, and check the frames of the loop",
        loop=worst,
    )


def nearby(model: RobotModel, assembly: Array) -> Iterator[Array]:
    """Closed configurations near the assembly, in different directions of the coordinates."""
    rng, scale = np.random.default_rng(0), size(model)
    units = [1.0 if model.joints[i].type.turns else scale for i in model.independent]
    some = False
    for step in (*NEAR, *NEARER):
        if some and step in NEARER:
            return
        q = assembly.copy()
        q[list(model.independent)] += step * rng.uniform(0.5, 1.0, len(units)) * units
        found, missing = closed_near(model, q)
        if missing <= NEARLY_CLOSED:
            some = True
            yield found


def check_mobility(model: RobotModel, assembly: Array, in_plane: bool = False) -> tuple[Array, ...]:
    """Some closed configurations, first the assembly; a LoopError if the loops cannot move so.

    Loops that are all `in_plane`, each with two joints of its own, need no proof.
    """
    near = list(nearby(model, assembly))
    if not in_plane and moves_exactly(model, assembly, size(model)):
        return assembly, *near
    passive, best = list(model.passive), (0, 0, assembly)
    for q in (assembly, *near):
        A = closure_matrix(model, q)
        ranks = (_rank(A[:, passive], RANK), _rank(A, MOVING))
        best = max(best, (*ranks, q), key=lambda found: found[:2])  # rank is lost, never gained
    of_passive, of_all, q = best
    names = ", ".join(repr(loop.name) for loop in model.loops)
    word = f"the loops {names}" if len(model.loops) > 1 else f"loop {names}"
    if of_passive < len(passive):
        A = closure_matrix(model, q)[:, passive]
        free = np.abs(np.linalg.svd(A)[2][of_passive:]).max(0)
        loose = ", ".join(
            repr(model.joints[passive[k]].name) for k in np.flatnonzero(free > 1e-3 * free.max())
        )
        raise LoopError(
            f"{word} of {model.name!r} cannot hold all {len(passive)} passive joints: "
            f"{len(passive) - of_passive} more must be actuated, of {loose}",
            loop=model.loops[0].name,
        )
    if not in_plane and (of_all > of_passive or not near):
        raise LoopError(
            f"{word} of {model.name!r} cannot move: the conditions are at least "
            f"{max(of_all, len(passive) + 1)}, and the passive joints {len(passive)}; are axes "
            "that should be parallel or meet exactly so, or are too many joints actuated?",
            loop=model.loops[0].name,
        )
    return assembly, *near


def _rank(A: Array, least: float) -> int:
    values = np.linalg.svd(A, compute_uv=False)
    return int((values > least * max(values.max(initial=0.0), 1e-300)).sum())
