"""Steps of a closure: joints that follow from those before, in closed form.

They follow others linearly behind gears and in parallelograms, where the vectors of a dyad turn
with known ones, or along a polynomial of one in couplings, which are taken before or between loops.
A dyad is two passive joints around a planar loop that is closed by a pin. With the part K of the
closure that is known, r = -K, and the columns c of the two unknown rates

    RR   X + Y = r, two vectors of known lengths;   c = X', Y'
    RP   a vector of known length and a slide U x;   c = W', U   (W is what turns with the joint)
    PP   two slides;                                 c = U₁, U₂

each has one root, which is the determinant δ = c₁ × c₂ as well; its sign is the assembly mode.
Known velocities u and accelerations w of the closure give the unknown rates z = (-u × c₂,
u × c₁)/δ, and the torques T that belong to them the force (H_y, -H_x), H = (T₂ c₁ - T₁ c₂)/δ, that
does the work of the known ones.
"""

from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any, NoReturn

import numpy as np

from armdyn.arrays import Array, record
from armdyn.errors import LoopError
from armdyn.graph.nodes import Node
from armdyn.loops.plane import LoopVector, Path, PlanarLoop, angle_of
from armdyn.loops.values import Pair, Values, across, added, inner, outer, scaled, turned
from armdyn.model import Loop, RobotModel
from armdyn.model.cut_joints import composed, derivative, polynomial

SAME_LENGTH = 1e-12
"""Largest relative difference of sides that are taken as equal."""
SAME_VECTOR = 1e-6
"""Largest relative difference of vectors in the assembly that tells which mode it is."""
EXACT_TURN = 1e-12
"""Angles this near to a multiple of a quarter turn are taken as one [rad]."""
MOST_TURNS = 12
"""Largest whole ratio at which a joint follows an angle that is known by its sine and cosine."""


@record
class Dyad:
    """Two passive joints that follow from the others around a planar loop."""

    plane: PlanarLoop
    unknown: tuple[int, int]
    """The passive joints; a revolute one first, and of two the one nearer to the host."""
    turning: tuple[bool, bool]
    paths: tuple[Path, Path]
    """What turns each of them, and a revolute one itself at the end."""
    sign: float
    """±1: which of the two ways to close it."""

    def group(self, segment: LoopVector) -> int:
        """Which unknown joint turns a segment last; -1: none."""
        turning = [joint for joint, _ in segment.path]
        found = [k for k in (1, 0) if self.turning[k] and self.unknown[k] in turning]
        return found[0] if found else -1

    def after(self, segment: LoopVector, k: int) -> Path:
        """What turns a segment after the unknown joint of its group; all of it without one."""
        if k < 0:
            return segment.path
        joints = [joint for joint, _ in segment.path]
        return segment.path[joints.index(self.unknown[k]) + 1 :]

    @property
    def slide(self) -> LoopVector:
        """The segment of the second joint, if that slides."""
        return next(s for s in self.plane.segments if s.slide == self.unknown[1])

    @property
    def slide_turns(self) -> bool:
        """Whether the first joint turns the slide of the second."""
        return self.unknown[0] in [joint for joint, _ in self.slide.path]

    def at(self, q: Values) -> "StandingDyad":
        """The dyad at positions of the known joints; those of the unknown are written into q."""
        return StandingDyad(self, q)


class StandingDyad:
    """A dyad at one configuration, or at a batch of them."""

    def __init__(self, dyad: Dyad, q: Values, solved: bool = False):
        """Solve for the unknown positions, unless they are in q already."""
        self.dyad = dyad
        graph = next((x.graph for x in q if isinstance(x, Node)), None)
        self.segments = [(s, s.exact(graph)) for s in dyad.plane.segments]
        self.found: dict[LoopVector, Pair] = {}
        """Vectors that were solved for."""
        self.root: Any = None
        self.inverse: Any = None
        if not solved:
            self._solve_positions(q)
        self.parts: list[tuple[LoopVector, Pair]] = [
            (s, self.found.get(s) or turned(angle_of(q, s.path), v)) for s, v in self.segments
        ]
        """Segments with their vectors; of a slide without its position."""
        if solved:
            self.columns = self._columns(q)
            self.inverse = 1.0 / self.determinant

        self.over = scaled(self.inverse, self.columns[0]), scaled(self.inverse, self.columns[1])
        """The columns divided by their determinant."""

    @property
    def determinant(self) -> Any:
        """c₁ × c₂, which vanishes where passive joints are not determined."""
        return outer(*self.columns)

    def _columns(self, q: Values) -> tuple[Pair, Pair]:
        """What the rates of the unknown joints do to the closure."""
        sums: list[Pair] = [(0.0, 0.0), (0.0, 0.0)]
        for segment, v in self.parts:
            if segment.slide in self.dyad.unknown:
                sums[self.dyad.unknown.index(segment.slide)] = v
            k = self.dyad.group(segment)
            if k >= 0:
                long = v if segment.slide < 0 else scaled(q[segment.slide], v)
                sums[k] = added(sums[k], across(long))
        return sums[0], sums[1]

    def _solve_positions(self, q: Values) -> None:
        dyad = self.dyad
        first, second = dyad.unknown
        known: Pair = (0.0, 0.0)
        turning: list[Pair] = [(0.0, 0.0), (0.0, 0.0)]
        directions: dict[int, Pair] = {}
        for segment, vector in self.segments:
            k = dyad.group(segment)
            v = turned(angle_of(q, dyad.after(segment, k)), vector)
            if segment.slide in dyad.unknown:
                directions[segment.slide] = v
                continue
            v = v if segment.slide < 0 else scaled(q[segment.slide], v)
            if k < 0:
                known = added(known, v)
            else:
                turning[k] = added(turning[k], v)
        r = (-known[0], -known[1])
        if all(dyad.turning):
            self._two_turns(q, r, turning[0], turning[1])
        elif dyad.turning[0]:
            self._turn_and_slide(q, r, turning[0], directions[second])
        else:
            self._two_slides(q, r, directions[first], directions[second])

    # positions

    def _two_turns(self, q: Values, r: Pair, x: Pair, y: Pair) -> None:
        rr, xx, yy = inner(r, r), inner(x, x), inner(y, y)
        kappa = 0.5 * (rr + (xx - yy))
        eta = self.dyad.sign * np.sqrt(xx * rr - kappa * kappa)
        self.root = eta
        inverse = 1.0 / (rr * eta)
        self.inverse = -(inverse * rr)  # 1/δ, δ = X × Y = -η
        X = scaled(inverse * eta, added(scaled(kappa, r), scaled(eta, across(r))))
        Y = r[0] - X[0], r[1] - X[1]
        self.columns = across(X), across(Y)
        for k, vector in ((0, X), (1, Y)):
            group = [s for s, _ in self.segments if self.dyad.group(s) == k]
            if len(group) == 1 and group[0].slide < 0:
                self.found[group[0]] = vector
        self._turn(q, 0, x, X, xx)
        self._turn(q, 1, y, Y, yy)

    def _turn_and_slide(self, q: Values, r: Pair, x: Pair, u: Pair) -> None:
        if self.dyad.slide_turns:
            root = self.dyad.sign * np.sqrt(inner(r, r) - outer(x, u) * outer(x, u))
            q[self.dyad.unknown[1]] = root - inner(x, u)
            E = added(x, scaled(q[self.dyad.unknown[1]], u))
            self._turn(q, 0, E, r, inner(r, r))
            W = r
            U = turned(angle_of(q, self.dyad.paths[1]), self.dyad.slide.v)
        else:
            side = outer(r, u)
            root = self.dyad.sign * np.sqrt(inner(x, x) - side * side)
            slide = inner(r, u) + root
            q[self.dyad.unknown[1]] = slide
            W = (r[0] - slide * u[0], r[1] - slide * u[1])
            U = u
            self._turn(q, 0, x, W, inner(x, x))
            root = -root
        self.root = root  # W · U
        self.inverse = -1.0 / root
        self.columns = across(W), U

    def _two_slides(self, q: Values, r: Pair, u1: Pair, u2: Pair) -> None:
        self.root = outer(u1, u2)
        self.inverse = 1.0 / self.root
        q[self.dyad.unknown[0]] = outer(r, u2) * self.inverse
        q[self.dyad.unknown[1]] = -outer(r, u1) * self.inverse
        self.columns = u1, u2

    def _turn(self, q: Values, k: int, a: Pair, b: Pair, square: Any) -> None:
        """The position of an unknown joint that turns a into b, both of the same length."""
        *before, (joint, sign) = self.dyad.paths[k]
        unit = scaled(1.0 / square, a)
        cosine, sine = inner(unit, b), outer(unit, b)
        if isinstance(sine, Node):
            absolute: Any = sine.graph.angle(sine, cosine)
        else:
            absolute = np.arctan2(sine, cosine)
        q[joint] = sign * (absolute - angle_of(q, tuple(before)))

    # rates

    def rates(self, q: Values, qd: Values) -> None:
        """Write the rates of the unknown joints."""
        u: Pair = (0.0, 0.0)
        for segment, v in self.parts:
            w = angle_of(qd, self.dyad.after(segment, self.dyad.group(segment)))
            if segment.slide < 0:
                u = added(u, scaled(w, across(v)))
                continue
            if segment.slide not in self.dyad.unknown:
                u = added(u, scaled(qd[segment.slide], v))
            u = added(u, scaled(w * q[segment.slide], across(v)))
        self._solve(qd, u)

    def accelerations(self, q: Values, qd: Values, twin: Values, qdd: Values) -> None:
        """Write the accelerations of the unknown joints, whose rates are known.

        They are quadratic in the rates; where the twin is not the same as these, it is the
        symmetric bilinear form of both.
        """
        w: Pair = (0.0, 0.0)
        for segment, v in self.parts:
            rates = angle_of(qd, segment.path), angle_of(twin, segment.path)
            change = angle_of(qdd, self.dyad.after(segment, self.dyad.group(segment)))
            long = v if segment.slide < 0 else scaled(q[segment.slide], v)
            w = added(w, scaled(change, across(long)))
            w = added(w, scaled(-(rates[0] * rates[1]), long))
            if segment.slide >= 0:
                mixed = rates[0] * twin[segment.slide] + rates[1] * qd[segment.slide]
                w = added(w, scaled(mixed, across(v)))
                if segment.slide not in self.dyad.unknown:
                    w = added(w, scaled(qdd[segment.slide], v))
        self._solve(qdd, w)

    def _solve(self, rates: Values, u: Pair) -> None:
        c1, c2 = self.over
        z = -outer(u, c2), outer(u, c1)
        for k in (0, 1):
            if self.dyad.turning[k]:
                *before, (joint, sign) = self.dyad.paths[k]
                rates[joint] = sign * (z[k] - angle_of(rates, tuple(before)))
            else:
                rates[self.dyad.unknown[k]] = z[k]

    # torques

    def torques(self, q: Values, tau: Values) -> Pair:
        """Move the torques of the unknown joints to the known ones; the force of b on a."""
        T: list[Any] = [0.0, 0.0]
        for k in (1, 0):
            if not self.dyad.turning[k]:
                T[k] = tau[self.dyad.unknown[k]]
                continue
            *before, (joint, sign) = self.dyad.paths[k]
            T[k] = sign * tau[joint]
            for other, other_sign in before:
                tau[other] = tau[other] - other_sign * T[k]
        c1, c2 = self.over
        F = T[1] * c1[1] - T[0] * c2[1], T[0] * c2[0] - T[1] * c1[0]
        for segment, v in self.parts:
            long = v if segment.slide < 0 else scaled(q[segment.slide], v)
            moment = inner(across(long), F)
            for joint, sign in self.dyad.after(segment, self.dyad.group(segment)):
                tau[joint] = tau[joint] + sign * moment
            if segment.slide >= 0 and segment.slide not in self.dyad.unknown:
                tau[segment.slide] = tau[segment.slide] + inner(v, F)
        return -F[0], -F[1]


@record
class LinearStep:
    """Passive joints q = Σ ratio q_j + offset."""

    unknown: tuple[int, ...]
    ratios: tuple[Path, ...]
    """For each of them the joints that it follows, with ratios."""
    offsets: tuple[float, ...]

    def at(self, q: Values) -> "LinearStep":
        """The step itself, which is the same at all positions; those of its joints go into q."""
        for joint, ratios, offset in zip(self.unknown, self.ratios, self.offsets, strict=True):
            total: Any = 0.0
            for other, ratio in ratios:
                total = total + _times(ratio, q[other])
            q[joint] = total + offset
        return self

    def rates(self, q: Values, qd: Values) -> None:
        """Write the rates of the unknown joints."""
        for joint, ratios in zip(self.unknown, self.ratios, strict=True):
            qd[joint] = angle_of(qd, ratios)

    def accelerations(self, q: Values, qd: Values, twin: Values, qdd: Values) -> None:
        """Write the accelerations of the unknown joints."""
        self.rates(q, qdd)

    def torques(self, q: Values, tau: Values) -> None:
        """Move the torques of the unknown joints to the known ones."""
        for joint, ratios in zip(self.unknown[::-1], self.ratios[::-1], strict=True):
            for other, ratio in ratios:
                tau[other] = tau[other] + ratio * tau[joint]


def _times(ratio: float, x: Any) -> Any:
    """A multiple; a whole one of an angle is a sum, of which sine and cosine are known."""
    if isinstance(x, Node) and x.op != "input" and ratio and float(ratio).is_integer():
        total = reduce(add, [x] * int(abs(ratio)))
        return total if ratio > 0 else -total
    return ratio * x


@record
class LinearDyad(LinearStep):
    """Two passive joints of a loop that follow linearly."""

    dyad: Dyad


def linear_dyad(dyad: Dyad, assembly: Array) -> LinearDyad | None:
    """The dyad as a linear one; None if it is none in the mode of the assembly."""
    if not all(dyad.turning):
        return None
    groups: dict[int, list[LoopVector]] = {-1: [], 0: [], 1: []}
    for segment in dyad.plane.segments:
        groups[dyad.group(segment)].append(segment)
    sides = [groups[0], groups[1]]
    known = groups[-1]
    simple = len(known) == 2 and all(len(side) == 1 for side in sides)
    if not simple or any(s.slide >= 0 for s in dyad.plane.segments):
        return None
    x, y = sides[0][0], sides[1][0]
    if dyad.after(x, 0) or dyad.after(y, 1):
        return None
    for a, b in (known, known[::-1]):
        if _opposite(x, a, assembly) and _opposite(y, b, assembly):
            return _following(dyad, ((x, a), (y, b)), assembly)
    return None


def _opposite(x: LoopVector, a: LoopVector, assembly: Array) -> bool:
    """Whether x is -a in the assembly, and as long."""
    lengths = np.hypot(*x.v), np.hypot(*a.v)
    if abs(lengths[0] - lengths[1]) > SAME_LENGTH * lengths[1]:
        return False
    X, A = (turned(float(angle_of(list(assembly), s.path)), s.v) for s in (x, a))
    return bool(np.hypot(X[0] + A[0], X[1] + A[1]) < SAME_VECTOR * lengths[1])


def _following(
    dyad: Dyad, pairs: tuple[tuple[LoopVector, LoopVector], ...], assembly: Array
) -> LinearDyad:
    """R(Θ) x = -R(θ) a, so Θ = θ + the angle from x to -a."""
    ratios, offsets = [], []
    for k, (x, a) in enumerate(pairs):
        *before, (joint, sign) = dyad.paths[k]
        phase = float(np.arctan2(-a.v[1], -a.v[0]) - np.arctan2(x.v[1], x.v[0]))
        quarters = round(phase / (np.pi / 2))
        phase = quarters * np.pi / 2 if abs(phase - quarters * np.pi / 2) < EXACT_TURN else phase
        total: dict[int, float] = {}
        for path, factor in ((a.path, sign), (tuple(before), -sign)):
            for other, ratio in path:
                total[other] = total.get(other, 0.0) + factor * ratio
        ratios.append(tuple((j, ratio) for j, ratio in total.items() if ratio))
        offset = sign * phase
        missing = float(assembly[joint]) - offset - float(angle_of(list(assembly), ratios[-1]))
        offsets.append(offset + 2 * np.pi * round(missing / (2 * np.pi)))
    return LinearDyad(dyad.unknown, tuple(ratios), tuple(offsets), dyad)


@record
class Follower:
    """A joint q = c₀ + c₁ q_leader + c₂ q_leader² + ..."""

    joint: int
    leader: int
    coefficients: tuple[float, ...]

    @property
    def unknown(self) -> tuple[int, ...]:
        """The joint that follows."""
        return (self.joint,)

    def at(self, q: Values) -> "StandingFollower":
        """The coupling at the position of its leader; that of the joint is written into q."""
        x = q[self.leader]
        slopes = derivative(self.coefficients)
        q[self.joint] = polynomial(self.coefficients, x)
        return StandingFollower(self, polynomial(slopes, x), polynomial(derivative(slopes), x))


@record(eq=False)
class StandingFollower:
    """A coupling at one position of its leader, or a batch of them."""

    of: Follower
    slope: Any
    """First derivative of the polynomial."""
    curvature: Any
    """The second one."""

    def rates(self, q: Values, qd: Values) -> None:
        """Write the rate of the joint."""
        qd[self.of.joint] = self.slope * qd[self.of.leader]

    def accelerations(self, q: Values, qd: Values, twin: Values, qdd: Values) -> None:
        """Write the acceleration of the joint, by the bilinear form of its rates and their twin."""
        leader = self.of.leader
        turning = self.curvature * (qd[leader] * twin[leader])
        qdd[self.of.joint] = self.slope * qdd[leader] + turning

    def torques(self, q: Values, tau: Values) -> None:
        """Move the torque of the joint to its leader."""
        tau[self.of.leader] = tau[self.of.leader] + self.slope * tau[self.of.joint]


Step = Dyad | LinearStep | Follower
"""Joints that follow from those before; a LinearDyad is a linear step."""
StandingStep = StandingDyad | LinearStep | StandingFollower
"""A step at a configuration."""


def from_root(model: RobotModel, loop: Loop) -> Loop:
    """A coupling to the joint that leads its leader, and that follows no other."""
    leading = {other.link_a: other for other in model.loops if other.couples}
    while (up := leading.get(loop.link_b)) is not None:
        coefficients = composed(loop.coefficients, up.coefficients)
        loop = replace(loop, link_b=up.link_b, coefficients=coefficients)
    return loop


def turns_wholly(model: RobotModel, loop: Loop) -> bool:
    """Whether a joint that turns follows one that turns by a whole ratio.

    Sine and cosine of the leader are all that is needed then.
    """
    ratio = loop.coefficients[1]
    whole = not any(loop.coefficients[2:]) and float(ratio).is_integer()
    ends = (model.joints[i] for i in (loop.link_a, loop.link_b))
    return whole and 0 < abs(ratio) <= MOST_TURNS and all(joint.type.only_turns for joint in ends)


def following(loop: Loop) -> LinearStep | Follower:
    """A coupling as a step of a closure."""
    if any(loop.coefficients[2:]):
        return Follower(loop.link_a, loop.link_b, loop.coefficients)
    offset, ratio = loop.coefficients[:2]
    return LinearStep((loop.link_a,), (((loop.link_b, ratio),),), (offset,))


def refuse_leader(model: RobotModel, loop: Loop) -> NoReturn:
    """Refuse a coupling to the angle of a passive joint, of which nothing but a whole ratio is."""
    leader, joint = model.joints[loop.link_b], model.joints[loop.link_a]
    raise LoopError(
        f"{loop.where} of {model.name!r}: joint {joint.name!r} follows {leader.name!r}, which is "
        "moved by a loop, so that its angle is known by sine and cosine alone; a joint can follow "
        f"it by a whole ratio up to {MOST_TURNS} if both turn, or make {leader.name!r} the "
        "actuated one",
        loop=loop.name,
    )
