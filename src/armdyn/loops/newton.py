"""Newton's method for the passive joints of a robot with loops, and what its rows tell.

Rows of lengths are counted in sizes of their loop, and slides in sizes of the robot. Rank is
decided at one share of the largest singular value, at the assembly and near it, so that a loop
whose numbers are rounded moves as its ideal geometry does. Rows that follow from others are told
apart by what they miss where these are closed, over the ranges of the joints.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import LoopError
from armdyn.loops.rows import closure_matrix, largest_residuals, residuals
from armdyn.model import RobotModel
from armdyn.model.cut_joints import Normal

MOST_STEPS = 60
"""Steps after which an assembly is given up."""
CLOSED = 1e-13
"""Residuals this small, as a share of the size of the loop, are rounding."""
NEARLY_CLOSED = 1e-10
"""Residuals this small are a closed loop."""
TAKEN = 3e-5
"""Residuals of rows that follow from others but for rounded geometry."""
EXACT = 1e-12
"""Residuals near the assembly below which it need not be seen what rows miss elsewhere."""
RANK = 1e-4
"""Singular values below this share of the largest are zero."""
NEAR = (0.03, -0.02, 0.07, -0.05)
"""How far actuated joints are moved to see whether the loops can move [rad, or size]."""
NEARER = (0.005, -0.005, 5e-4, -5e-4)
"""The same where the assembly is nearly singular."""
WAYS, WAY_STEP, WAY_STEPS = 12, 0.1, 32
"""Ways through the ranges: how many, the longest step of a joint [rad, or size], and how many."""
LEAST_LEVER = 1e-6
"""Levers below this share of the size of the robot are none."""
SHARE, LEAST_SHARE = 0.1, 1e-6
"""What is left of a column beside those of a basis where it joins it, at first and at last."""


def size(model: RobotModel) -> float:
    """A length of the robot [m]."""
    offsets = [np.linalg.norm(j.placement[:3, 3]) for j in model.joints]
    ends = [np.linalg.norm(T[:3, 3]) for x in model.loops for T in (x.frame_a, x.frame_b)]
    lengths = [*map(float, (*offsets, *ends)), *(loop.length for loop in model.loops)]
    return max(lengths) or 1.0


def row_weights(model: RobotModel, q: Array) -> Array:
    """What makes shares of the size of its loop, the largest lever, of each row, (rows,)."""
    A, weights = np.abs(closure_matrix(model, q)), list[float]()
    turning = [i for i, joint in enumerate(model.joints) if joint.type.turns]
    for loop in model.loops:
        rows = A[len(weights) : len(weights) + loop.conditions, turning]
        long = [not loop.couples and not isinstance(row, Normal) for row in loop.cut.rows or [None]]
        whole, lever = size(model) * (loop.length or 1.0), rows[long].max(initial=0.0)
        lever = lever if lever > LEAST_LEVER * whole else whole
        weights += [1.0 / lever if x else 1.0 for x in long]
    return np.array(weights)


def joint_units(model: RobotModel) -> Array:
    """A radian, or the size of the robot, for each joint, (N,)."""
    return np.array([1.0 if joint.type.turns else size(model) for joint in model.joints])


def scaled_matrix(model: RobotModel, q: Array) -> Array:
    """The Jacobian of the rows without units, (rows, N)."""
    A = row_weights(model, q)[:, None] * closure_matrix(model, q) * joint_units(model)
    return np.asarray(A)


def rank_of(A: Array) -> int:
    """How many singular values are not zero."""
    values = np.linalg.svd(A, compute_uv=False)
    return int((values > RANK * max(values.max(initial=0.0), 1e-300)).sum())


def pivots(matrices: Array, count: int, groups: Sequence[Collection[int]]) -> list[int]:
    """Columns that are a basis of matrices at several states, (states, m, N), group after group.

    The next one has the largest rest in the worst state, of those of which a share is left; the
    share is halved until there are enough.
    """
    rests, found, share = np.array(matrices, dtype=float), list[int](), SHARE
    whole = np.maximum(np.linalg.norm(rests, axis=1), np.finfo(float).tiny)
    while len(found) < count and share > LEAST_SHARE:
        for group in groups:
            while len(found) < count:
                rest = np.linalg.norm(rests, axis=1)
                usable = ((rest / whole).min(0) >= share).nonzero()[0].tolist()
                usable = [i for i in usable if i in group and i not in found]
                if not usable:
                    break
                best = max(usable, key=rest.min(0).__getitem__)
                unit = rests[:, :, [best]] / rest[:, None, [best]]
                for _ in range(2):
                    rests = rests - unit * (unit * rests).sum(1, keepdims=True)
                found.append(best)
        share /= 2
    return found


def closed_near(
    model: RobotModel, q: Array, rows: Sequence[int] | None = None
) -> tuple[Array, float]:
    """The positions with passive joints moved until loops are closed, and what is still missing.

    Gauss-Newton steps, halved until the residual shrinks. It is closed in these rows; None: in all.
    """
    q, passive = np.array(q, dtype=float), list(model.passive)
    weights = row_weights(model, q)
    own = list(range(len(weights)) if rows is None else rows)
    r = (weights * residuals(model, q))[own]
    for _ in range(MOST_STEPS):
        if np.abs(r).max() <= CLOSED:
            break
        A = (weights[:, None] * closure_matrix(model, q))[np.ix_(own, passive)]
        step = np.linalg.lstsq(A, -r, rcond=1e-10)[0]
        step = step / max(1.0, np.abs(step).max())  # a radian at most
        for _ in range(12):
            trial = q.copy()
            trial[passive] += step
            missing = (weights * residuals(model, trial))[own]
            if np.linalg.norm(missing) < np.linalg.norm(r):
                break
            step = 0.5 * step
        else:
            break
        q, r = trial, missing
    return q, float(np.abs(r).max())


def assembled(model: RobotModel) -> Array:
    """The assembly of a robot with its loops closed, or nearly so; a LoopError if that is none."""
    assert model.assembly is not None
    q, missing = closed_near(model, model.assembly)
    if missing <= TAKEN:
        return q
    missing_of = largest_residuals(model, q)
    worst = model.loops[int(missing_of.argmax())].name
    at = ", ".join(f"{model.joints[i].name} = {model.assembly[i]:g}" for i in model.independent)
    raise LoopError(
        f"loop {worst!r} of {model.name!r} cannot be closed near the assembly, with {at}: it "
        f"still misses by {missing_of.max():.3g} where it comes nearest, {missing:.2g} of its size "
        f"(up to {TAKEN:g} is taken for rounded numbers); give positions in [assembly] at which "
        "the links meet, and check the frames of the loop",
        loop=worst,
    )


def nearby(model: RobotModel, assembly: Array) -> Iterator[Array]:
    """Closed configurations near the assembly, in different directions of the coordinates."""
    rng, units = np.random.default_rng(0), joint_units(model)[list(model.independent)]
    some = False
    for step in (*NEAR, *NEARER):
        if some and step in NEARER:
            return
        q = assembly.copy()
        q[list(model.independent)] += step * rng.uniform(0.5, 1.0, len(units)) * units
        closed, missing = closed_near(model, q)
        if missing <= TAKEN:
            some = True
            yield closed


@dataclass(frozen=True, slots=True, eq=False)
class ClosedStates:
    """Closed configurations of a robot whose loops can move, and which rows close them."""

    states: tuple[Array, ...]
    """First the assembly, (N,) each."""
    rows: tuple[int, ...] | None = None
    """The rows that are kept where others miss; None: all agree."""
    gap: str = ""
    """What the others miss, in words."""


def closed_states(model: RobotModel, assembly: Array, in_plane: bool = False) -> ClosedStates:
    """Some closed configurations, first the assembly; a LoopError if the loops cannot move so.

    Loops that are all `in_plane`, each with two joints of its own, have no more rows than these.
    """
    near, passive = list(nearby(model, assembly)), list(model.passive)
    states = np.stack([assembly, *near])
    A = np.stack([scaled_matrix(model, q) for q in states])
    ranks = [(rank_of(a[:, passive]), rank_of(a)) for a in A]
    best = max(range(len(A)), key=ranks.__getitem__)  # rank is lost, never gained
    of_passive, of_all = ranks[best]
    names = ", ".join(repr(loop.name) for loop in model.loops)
    word = f"the loops {names}" if len(model.loops) > 1 else f"loop {names}"
    if of_passive < len(passive):
        free = np.abs(np.linalg.svd(A[best][:, passive])[2][of_passive:]).max(0)
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
    whole = [k for k, (rank, _) in enumerate(ranks) if rank == len(passive)]
    rows = sorted(pivots(A[whole][:, :, passive].mT, len(passive), [range(A.shape[1])]))
    pairs = [closed_near(model, q, rows) for q in states]
    closed = tuple(q for q, missing in pairs if missing <= NEARLY_CLOSED)
    weights = row_weights(model, assembly)
    missed = np.abs(weights * residuals(model, np.stack(closed or tuple(states)))).max(0)
    if missed.max() > EXACT:
        missed = np.maximum(missed, _missed_on_ways(model, assembly, rows, weights))
    if missed.max() <= NEARLY_CLOSED:
        return ClosedStates(tuple(states))
    worst = int(missed.argmax())
    loop = model.loops[int(np.searchsorted(np.cumsum([x.conditions for x in model.loops]), worst,
                                           side="right"))]  # fmt: skip
    gap = f"{missed[worst] / weights[worst]:.2g} or {missed[worst]:.1g} of its size"
    if missed.max() > TAKEN or not closed:
        raise LoopError(
            f"{word} of {model.name!r} cannot move: where {len(rows)} of its conditions are met, "
            f"loop {loop.name!r} misses by {gap}, and up to {TAKEN:g} of it is taken for rounded "
            "numbers; are axes that should be parallel or meet exactly so, are lengths that "
            "should be equal, or are too many joints actuated?",
            loop=loop.name,
        )
    text = f"loop {loop.name!r} of {model.name!r} closes to {gap} only, over the ranges of its "
    text += "joints; the robot moves as if its geometry were exact"
    return ClosedStates(closed, tuple(rows), text)


def _missed_on_ways(
    model: RobotModel, assembly: Array, rows: Sequence[int], weights: Array
) -> Array:
    """What each row misses at most on ways from the assembly where others are closed, (rows,).

    Ways end where a joint leaves its range, or what is closed ends.
    """
    active, passive = list(model.independent), list(model.passive)
    along = np.random.default_rng(2).uniform(-1.0, 1.0, (WAYS, len(active)))
    along *= WAY_STEP * joint_units(model)[active] / np.abs(along).max(-1, keepdims=True)
    low, high = np.array([(j.limits.lower, j.limits.upper) for j in model.joints]).T
    q, missed = np.tile(assembly, (WAYS, 1)), np.zeros(len(weights))
    for _ in range(WAY_STEPS):
        before = q
        q = q.copy()
        q[:, active] += along
        for _ in range(4):
            A = (weights[:, None] * closure_matrix(model, q))[:, rows][:, :, passive]
            r = (weights * residuals(model, q))[:, rows]
            q[:, passive] -= (np.linalg.pinv(A) @ r[..., None])[..., 0]
        r = np.abs(weights * residuals(model, q))
        far = np.abs((q - before)[:, passive] / joint_units(model)[passive]).max(-1)
        alive = (r[:, rows].max(-1) < NEARLY_CLOSED) & (far < 10 * WAY_STEP)
        alive &= ((q >= low) & (q <= high)).all(-1)
        if not alive.any():
            break
        missed = np.maximum(missed, r[alive].max(0))
        q, along = q[alive], along[alive]
    return missed
