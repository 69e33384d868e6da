"""Dyads: two passive joints around a planar loop that is closed by a pin, in closed form.

With the part K of the closure that is known, r = -K, and the columns c of the two unknown rates

    RR   X + Y = r, two vectors of known lengths;   c = X', Y'
    RP   a vector of known length and a slide U x;   c = W', U   (W is what turns with the joint)
    PP   two slides;                                 c = U₁, U₂

each has one root, which is the determinant δ = c₁ × c₂ as well; its sign is the assembly mode.
Known velocities u and accelerations w of the closure give the unknown rates z = (-u × c₂,
u × c₁)/δ, and the torques T that belong to them the force (H_y, -H_x), H = (T₂ c₁ - T₁ c₂)/δ, that
does the work of the known ones.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.graph.nodes import Node
from armdyn.loops.plane import Path, PlanarLoop, Segment, angle_of
from armdyn.loops.values import Pair, Values, across, added, inner, outer, scaled, turned


@dataclass(frozen=True, slots=True)
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

    def group(self, segment: Segment) -> int:
        """Which unknown joint turns a segment last; -1: none."""
        turning = [joint for joint, _ in segment.path]
        found = [k for k in (1, 0) if self.turning[k] and self.unknown[k] in turning]
        return found[0] if found else -1

    def after(self, segment: Segment, k: int) -> Path:
        """What turns a segment after the unknown joint of its group; all of it without one."""
        if k < 0:
            return segment.path
        joints = [joint for joint, _ in segment.path]
        return segment.path[joints.index(self.unknown[k]) + 1 :]

    @property
    def slide(self) -> Segment:
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
        self.found: dict[Segment, Pair] = {}
        """Vectors that were solved for."""
        self.root: Any = None
        self.inverse: Any = None
        if not solved:
            self._solve_positions(q)
        self.parts: list[tuple[Segment, Pair]] = [
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
