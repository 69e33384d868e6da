"""Newton's method for loops without a closed form, with a fixed number of steps.

Actuated joints go from the assembly to where they are asked on the shortest way, in equal parts;
after each part passive joints make one step of Newton's method, and at the end some more. So the
way a robot is assembled is kept, whatever was computed before, and it is straight-line code: with
nodes angles are known by their cosine and sine, which a step δ turns by

    t = δ/2,   c' = ((1 - t²) c - 2 t s)/(1 + t²),   s' = ((1 - t²) s + 2 t c)/(1 + t²)

that is by 2 atan(δ/2), so no function is called. Where more is missing before the last step than
that step mends, or the determinant of A_p has another sign than in the assembly, the result is not
a number.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, frozen, record
from armdyn.formulations.kinematics import world_frames
from armdyn.formulations.spatial import sign
from armdyn.graph.nodes import Graph, Node
from armdyn.loops.newton import ClosedStates, size
from armdyn.loops.orthogonal import Orthogonal, determinant
from armdyn.loops.rows import closure_bias, closure_matrix, residuals
from armdyn.loops.spheres import Spheres, spheres_of
from armdyn.loops.steps import Step, following, from_root
from armdyn.loops.values import Values, entries, inner, stacked
from armdyn.model import Frame, Loop, RobotModel
from armdyn.model.cut_joints import Distance, Slide, cycle
from armdyn.model.transform import IDENTITY

LAST_STEPS = 4
"""Steps of Newton's method where actuated joints are where they are asked."""
LAST_MISSING = 1e-7
"""What may be missing before the last step, whose error is the square of it: a share of size."""
LOST = 2.0
"""What is missing after a part of the way, as a share of size, where a robot has lost its way."""
REFUSED = 1e13
"""How much larger than a pivot its scale is where it is no pivot."""
SOME = 1e-300
"""A number above zero."""
ROUNDING = 1e-15
"""How far a cosine can be beyond 1."""
EMPTY = 1e-9
"""Rows of a Jacobian below this share of the largest say nothing."""
PARTS = (2, 4, 8, 16)
"""Parts that a way from the assembly may have."""
FINE = 32
"""Parts of a way that is taken for the true one."""
TRIED = 24
"""States that are tried."""
SAME = 1e-6
"""Largest difference of positions that are the same."""


@record(eq=False)
class LoopAround:
    """A loop with nothing but the joints around it.

    What a closure asks does not depend on where a loop is carried: the joints around it are a
    mechanism of its own, which stands on the link that carries both branches. All rows are written
    in axes of that link, and joints before it are not in them.
    """

    loop: Loop
    members: tuple[int, ...]
    """The joints of the robot around it, in order."""
    model: RobotModel
    """These joints and this loop alone."""
    rows: tuple[int, ...]
    """Which rows of its cut joint say something."""

    def weights(self, size: float) -> Array:
        """What makes numbers without a unit of the residuals of its rows."""
        if self.loop.couples:
            return np.ones(1)
        powers = {Slide: 1, Distance: 2}
        kinds = [type(self.loop.cut.rows[k]) for k in self.rows]
        return np.array([size ** -powers.get(kind, 0) for kind in kinds])

    def linearised(self, q: Array) -> tuple[Array, Array]:
        """What the rows miss, (..., rows), for positions of the members, and its Jacobian."""
        if self.loop.couples:
            return self._sine(q), closure_matrix(self.model, q)
        frames, rows = world_frames(self.model, q), list(self.rows)
        matrix = closure_matrix(self.model, q, frames)
        return residuals(self.model, q, frames)[..., rows], matrix[..., rows, :]

    def _sine(self, q: Array) -> Array:
        """The sine of what a coupling of angles misses: whole turns do not count."""
        (hosted,) = self.model.loops
        values = entries(q)
        position = values[hosted.link_a]
        following(hosted).at(values)
        return np.stack([np.sin(position - values[hosted.link_a])], -1)

    def bias(self, q: Array, qd: Array) -> Array:
        """Their second derivative at constant rates, (..., rows)."""
        return closure_bias(self.model, q, qd)[..., list(self.rows)]


def loop_around(model: RobotModel, loop: Loop) -> LoopAround:
    """The loop, with all rows of its cut joint."""
    loop = from_root(model, loop) if loop.couples else loop
    members = cycle(model.paths, loop)
    place = {i: k for k, i in enumerate(members)}
    motor = place[loop.link_b] if loop.couples else 0
    joints = tuple(
        # which of them are actuated does not matter here, but some must be and some not
        replace(joint, parent=place.get(joint.parent, -1), mimic=None, actuated=k == motor)
        for k, joint in enumerate(model.joints[i] for i in members)
    )
    a, b = (place.get(link, -1) for link in (loop.link_a, loop.link_b))
    alone = replace(
        model,
        joints=joints,
        links=tuple(model.links[i] for i in members),
        loops=(replace(loop, link_a=a, link_b=b),),
        drives=(),
        springs=(),
        frames=(),
        flange=Frame("flange", -1, IDENTITY),
        tool=IDENTITY,
        base=IDENTITY,
        assembly=np.zeros(len(members)),
    )
    return LoopAround(loop, members, alone, tuple(range(loop.conditions)))


@record(eq=False)
class LoopSystem:
    """Rows of loops and columns of passive joints: the linear system that rates and steps solve."""

    model: RobotModel
    loops: tuple[LoopAround, ...]
    columns: tuple[int, ...]
    """The passive joints, those first that are around few loops."""
    usual: tuple[float, ...] = ()
    """The squares of the columns of A_p in the assembly."""

    def linearised(self, found: Values) -> tuple[Values, dict[int, Values]]:
        """What all rows miss, and the columns of their Jacobian by joint."""
        missing: Values = []
        columns: dict[int, Values] = {i: [] for i in range(len(found))}
        for loop in self.loops:
            r, A = loop.linearised(stacked([found[i] for i in loop.members]))
            missing += entries(r)
            around = {i: entries(A[..., k]) for k, i in enumerate(loop.members)}
            for i, column in columns.items():
                column.extend(around.get(i, [0.0] * len(loop.rows)))
        return missing, columns

    def passive_matrix(self, q: Array) -> Array:
        """A_p at positions of all joints, (passive joints, rows)."""
        by_joint = self.linearised(q.tolist())[1]
        return np.array([by_joint[i] for i in self.columns], dtype=float)


@record(eq=False)
class Iteration:
    """How the passive joints of loops are found."""

    whole: LoopSystem
    """All loops, whose rates are solved for together."""
    first: tuple[Step, ...]
    """Closed forms that need nothing of the iteration."""
    left: LoopSystem
    """The other loops."""
    assembly: Array
    size: float
    """A length of the robot [m]."""
    inverse: Array
    """A_p⁻¹ of the other loops in the assembly, (passive joints, rows)."""
    parts: int
    """Parts of the way from the assembly; a power of 2."""
    spheres: Spheres | None = None
    """What finds all positions at once, where there is such a form."""

    @property
    def model(self) -> RobotModel:
        """The robot."""
        return self.whole.model

    def positions(self, q: Values) -> Values:
        """Positions of all joints for those of the coordinates."""
        graph = next((x.graph for x in q if isinstance(x, Node)), None)
        found: Values = [
            x if graph is None else _given(graph, x, self._turns(i))
            for i, x in enumerate(self.assembly.tolist())
        ]
        if self.spheres is not None:
            for i, x in zip(self.model.independent, q, strict=True):
                found[i] = x
            for step in self.first:
                step.at(found)
            self.spheres.at(found)
            return found
        coordinates = zip(self.model.independent, q, strict=True)
        ways = [_way(x, found[i], self._turns(i), self.parts) for i, x in coordinates]
        for points in zip(*ways, strict=True):
            places = dict(zip(self.model.independent, points, strict=True))
            moved = [places.get(i, x) for i, x in enumerate(found)]
            for step in self.first:
                step.at(moved)
            found = self.stepped(moved, LOST)
        for k in reversed(range(LAST_STEPS)):
            found = self.stepped(found, LOST if k else LAST_MISSING)
        return found

    def _turns(self, i: int) -> bool:
        """Whether whole turns of a joint are alike, also for those that follow it."""
        leads = any(loop.couples and i == loop.link_b for loop in self.model.loops)
        return self.model.joints[i].type.only_turns and not (leads and i in self.model.independent)

    def stepped(self, found: Values, most: float) -> Values:
        """One step of Newton's method; not a number where more is missing than that."""
        r, A = self.left.linearised(found)
        weighed = [w * x for w, x in zip(self.weights, r, strict=True)]
        refused = (REFUSED / most**2) * inner(weighed, weighed)
        columns = [A[i] for i in self.left.columns]
        if most == LAST_MISSING:  # another way to assemble it is refused as well
            refused = refused + REFUSED * (1.0 - sign(determinant(self.inverse, columns))[()])
        step = Orthogonal(columns, self.left.usual, refused).solve([-1.0 * x for x in r])
        moved = list(found)
        for i, delta in zip(self.left.columns, step, strict=True):
            moved[i] = _turned(found[i], delta) if self._turns(i) else found[i] + delta
        return moved

    @property
    def weights(self) -> list[float]:
        """What makes numbers without a unit of the residuals."""
        return [w for loop in self.left.loops for w in loop.weights(self.size).tolist()]


def _given(graph: Graph, x: float, turns: bool) -> Node:
    """A constant position."""
    number = graph.number
    return graph.angle(number(np.sin(x)), number(np.cos(x))) if turns else number(x)


def _pair(x: Node) -> tuple[Node, Node]:
    return x.graph.function("cos", x), x.graph.function("sin", x)


def _turned(x: Any, delta: Any) -> Any:
    """An angle after a step."""
    if not isinstance(x, Node):
        return x + 2.0 * np.arctan(0.5 * delta)
    c, s = _pair(x)
    t = 0.5 * delta
    over = 1.0 / (1.0 + t * t)
    same, other = (1.0 - t * t) * over, (2.0 * t) * over
    return x.graph.angle(same * s + other * c, same * c - other * s)


def _way(x: Any, start: Any, turns: bool, parts: int) -> Values:
    """Positions of a joint on its way from the assembly to x."""
    if not turns:
        return [*(start + (k / parts) * (x - start) for k in range(1, parts)), x]
    if not isinstance(x, Node):
        turn = np.arctan2(np.sin(x - start), np.cos(x - start))
        return [*(start + (k / parts) * turn for k in range(1, parts)), x]
    (c, s), (c0, s0) = _pair(x), _pair(start)
    part = c * c0 + s * s0, s * c0 - c * s0
    for _ in range(parts.bit_length() - 1):
        part = _half(*part)
    points, (c, s) = [], (c0, s0)
    for _ in range(1, parts):
        c, s = c * part[0] - s * part[1], s * part[0] + c * part[1]
        points.append(x.graph.angle(s, c))
    return [*points, x]


def _half(c: Node, s: Node) -> tuple[Node, Node]:
    """Cosine and sine of half an angle between -π and π."""
    more = ((0.5 + ROUNDING) + 0.5 * c).sqrt()
    less = ((0.5 + ROUNDING) - 0.5 * c).sqrt()
    return more, (s + SOME).sign() * less


def iteration_of(model: RobotModel, closed: ClosedStates, first: Sequence[Step] = ()) -> Iteration:
    """Newton's method for the loops of a robot, some of whose closed configurations are known.

    `first` are closed forms of some joints, which it leaves to them.
    """
    whole = _system(model, model.loops, model.passive, closed)
    solved = {i for step in first for i in step.unknown}
    passive = [i for i in model.passive if i not in solved]
    known = solved.union(model.independent)
    loops = [x for x in model.loops if not known.issuperset(cycle(model.paths, x))]
    left = _system(model, loops, passive, closed)
    inverse = frozen(np.linalg.pinv(left.passive_matrix(closed.states[0]).T))
    assembly = frozen(closed.states[0])
    spheres = spheres_of(model, loops, known, closed.states[0]) if closed.rows is None else None
    found = Iteration(whole, tuple(first), left, assembly, size(model), inverse, FINE, spheres)
    return found if spheres is not None else replace(found, parts=_parts(found))


def _system(
    model: RobotModel, loops: Sequence[Loop], passive: Sequence[int], closed: ClosedStates
) -> LoopSystem:
    """Rows of loops that say something, and columns of passive joints."""
    around = [_telling(loop_around(model, loop), closed.states) for loop in loops]
    if closed.rows is not None:
        ends = np.cumsum([loop.conditions for loop in model.loops])
        first = {x.name: end - x.conditions for x, end in zip(model.loops, ends, strict=True)}
        around = [
            replace(x, rows=tuple(k for k in x.rows if first[x.loop.name] + k in closed.rows))
            for x in around
        ]
    # fewer entries are filled in this order
    columns = sorted(passive, key=lambda i: (sum(i in x.members for x in around), i))
    system = LoopSystem(model, tuple(around), tuple(columns))
    squares = (system.passive_matrix(closed.states[0]) ** 2).sum(-1)
    return replace(system, usual=tuple(squares.tolist()))


def _telling(loop: LoopAround, closed: Sequence[Array]) -> LoopAround:
    """The loop without rows that hold whatever its joints do, as those out of its plane."""
    A = np.abs([loop.linearised(q[list(loop.members)])[1] for q in closed]).max((0, 2))
    return replace(loop, rows=tuple(np.flatnonzero(EMPTY * A.max() < A).tolist()))


def _parts(fine: Iteration) -> int:
    """Twice as many parts of the way as lead where a fine one does."""
    q = _drawn(fine)
    true = _cosines(fine, q)
    for parts in PARTS[:-1]:
        found = _cosines(replace(fine, parts=parts), q)
        agree = np.abs(np.nan_to_num(found) - np.nan_to_num(true)).max(-1) < SAME
        if agree.all():
            return 2 * parts
    return PARTS[-1]


def _cosines(iteration: Iteration, q: Array) -> Array:
    """What tells positions of all joints apart, but for whole turns, (states, 2 N)."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        found = stacked(iteration.positions(entries(q)))
    turns = np.array([joint.type.turns for joint in iteration.model.joints])
    found[~np.isfinite(found).all(-1)] = np.nan
    slides = found / iteration.size
    return np.where(turns, np.cos(found), slides) + 1j * np.where(turns, np.sin(found), 0.0)


def _drawn(iteration: Iteration) -> Array:
    """Coordinates at random between their limits, more of them near the assembly."""
    model, rng = iteration.model, np.random.default_rng(1)
    start = iteration.assembly[list(model.independent)]
    ends = []
    for i, x in zip(model.independent, start, strict=True):
        limits, kind = model.joints[i].limits, model.joints[i].type
        reach = np.pi if kind.turns else iteration.size
        low = max(limits.lower, x - reach)
        high = min(limits.upper, x + reach)
        ends.append((min(low, x), max(high, x)))
    low, high = np.array(ends).T
    near = rng.uniform(0.0, 1.0, (TRIED, 1))
    return start + near * (rng.uniform(low, high, (TRIED, len(start))) - start)
