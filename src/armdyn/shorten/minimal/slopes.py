"""Derivatives of the torques by composite bodies on base parameters.

Each joint has in the axes of its link a motion subspace s, a velocity v and an acceleration a, all
with a linear part at the origin and an angular one; the base accelerates against gravity. By what
carries the joint, s changes with

    ψ̇ = v×s,    ψ̈ = a_up×s + v_up×ψ̇

A link and all it carries, frozen, have inertia I, needed wrench F, momentum p = ∫ ṙ dm and
K = ∫ ṙ rᵀ dm, from which B x = (x_w×p, (tr K - K) x_w) for an angular part x_w. With h_i = I_i s_i
and r_i = B_iᵀ s_i, and for a joint j that carries i,

    ∂τ_i/∂q_j = r_i·2ψ̇_j + h_i·ψ̈_j            ∂τ_j/∂q_i = s_j·(2 B_i ψ̇_i + I_i ψ̈_i + s_i×F_i)
    C_ij = r_i·s_j + h_i·ψ̇_j                  C_ji = s_j·(B_i s_i + I_i ψ̇_i)

where ∂τ/∂q̇ = 2 C. So everything is carried inward once, and r_i has no linear part.
Reference: S. Singh, R. Russell and P. Wensing, Efficient analytical derivatives of rigid-body
dynamics using spatial vector algebra, 2022.
"""

from armdyn.arrays import Array, record
from armdyn.shorten.canonical.frames import CanonicalLink, CanonicalRobot, cos_sin, twist
from armdyn.shorten.canonical.regroup import hand_down
from armdyn.shorten.minimal.axes import (
    ZERO,
    Axes,
    CompositeBody,
    JointAngle,
    Rows,
    Scalar,
    Spatial,
    Vector,
    applied,
    both,
    crossed,
    inner,
    less,
    multiple,
    plane_turned,
    plus,
    power,
    scaled,
    summed,
)

NOTHING: Spatial = ZERO, ZERO
PLANES = (0, 1, 2), (1, 2, 0), (0, 1, 2)
"""Of the turn, of the twist and of the angle about the parent's z axis."""


def torque_slopes(
    robot: CanonicalRobot, q: Array, qd: Array, qdd: Array
) -> tuple[list[list[Scalar]], list[list[Scalar]]]:
    """∂τ/∂q and C of the links, each with N rows of N entries, at q, q̇ and q̈ (..., N)."""
    robot = hand_down(robot)
    N = len(robot.links)
    joints: list[_MovingJoint] = []
    for i, link in enumerate(robot.links):
        up = joints[link.parent] if link.parent >= 0 else None
        joints.append(_MovingJoint(link, up, i, q[..., i][()], qd[..., i][()], qdd[..., i][()]))
    of_q: Rows = [[0.0] * N for _ in range(N)]
    C: Rows = [[0.0] * N for _ in range(N)]
    for joint in reversed(joints):
        joint.fill(of_q, C)
        joint.hand_down()
    return of_q, C


@record
class _MovingBody:
    """Links that are frozen to each other, in motion."""

    I: CompositeBody
    p: Vector
    K: Rows
    trace: Scalar
    """That of K."""
    F: Spatial
    """The wrench that it needs."""

    def plus(self, other: "_MovingBody") -> "_MovingBody":
        """Both together."""
        I, p = self.I.plus(other.I), plus(self.p, other.p)
        K, trace = summed(self.K, other.K), self.trace + other.trace
        return _MovingBody(I, p, K, trace, both(self.F, other.F))

    def moved(self, d: Vector) -> "_MovingBody":
        """About the origin that sees this one at d."""
        p, (f, n) = self.p, self.F
        I = self.I.moved(d)
        K = [[self.K[a][b] + p[a] * d[b] for b in range(3)] for a in range(3)]
        moment = plus(n, crossed(d, f))
        return _MovingBody(I, p, K, self.trace + inner(p, d), (f, moment))

    def coupled(self, x: Vector) -> Spatial:
        """B x of an angular part."""
        return crossed(x, self.p), less(scaled(self.trace, x), applied(self.K, x))


class _MovingJoint:
    """A joint in motion, with what its link carries."""

    def __init__(
        self,
        link: CanonicalLink,
        up: "_MovingJoint | None",
        index: int,
        q: Scalar,
        qd: Scalar,
        qdd: Scalar,
    ):
        self.link = link
        self.up = up
        self.index = index
        kind, sign = link.type, link.sign
        self.turn = JointAngle.of(kind.angle(sign * q), link.theta).cos_sin()
        self.axes = Axes.of(link, self.turn, rotated=True, tangent=False)
        slide, x = link.r + kind.travel(sign * q), link.across
        R = twist(link)
        self.place: Vector = (
            x[0] + R[0, 2] * slide,
            x[1] + R[1, 2] * slide,
            x[2] + R[2, 2] * slide,
        )
        """The origin, in the parent."""
        self.s: Spatial = (0.0, 0.0, sign * kind.slide), (0.0, 0.0, sign * kind.turn)
        v: Spatial = NOTHING
        a: Spatial = self.axes.own(less(NOTHING[0], link.gravity.tolist())), NOTHING[1]
        if up is not None:
            v, a = self.motion(up.v), self.motion(up.a)
        self.rate = _across(v, self.s)
        self.acceleration = both(_across(a, self.s), _across(v, self.rate))
        self.v: Spatial = both(v, multiple(qd, self.s))
        self.a: Spatial = both(a, both(multiple(qdd, self.s), multiple(qd, self.rate)))
        self.body = self._own()

    def _own(self) -> _MovingBody:
        """The link alone."""
        (v, w), (a, wd), link = self.v, self.a, self.link
        I = CompositeBody.of(link)
        u = I.u
        columns = [crossed(w, row) for row in link.J.tolist()]  # of w× J, which is symmetric
        S = [[column[i] for column in columns] for i in range(3)]
        K = [[v[i] * u[j] + S[i][j] for j in range(3)] for i in range(3)]
        turning = crossed(w, u)
        p = plus(scaled(link.M, v), turning)
        force, moment = I.times((plus(a, crossed(w, v)), wd))
        F = plus(force, crossed(w, turning)), less(moment, applied(S, w))
        return _MovingBody(I, p, K, inner(v, u), F)

    def into(self, v: Vector) -> Vector:
        """A vector of the parent, in the axes of the link."""
        return self.axes.own(self.axes.into(v))

    def out(self, v: Vector) -> Vector:
        """A vector of the link, in the axes of the parent."""
        return self.axes.out_of(self.axes.on_joint(v))

    def motion(self, x: Spatial) -> Spatial:
        """A motion of the parent, at the origin of the link."""
        v, w = x
        return self.into(plus(v, crossed(w, self.place))), self.into(w)

    def wrench(self, x: Spatial) -> Spatial:
        """A wrench on the link, at the origin of the parent."""
        f, n = map(self.out, x)
        return f, plus(n, crossed(self.place, f))

    def fill(self, of_q: Rows, C: Rows) -> None:
        """The entries of this joint with itself and with those that carry it."""
        body, (slide, turn), i = self.body, self.s, self.index
        h, rate = body.I.times(self.s), self.rate
        K_rows = [list(row) for row in zip(*body.K, strict=True)]
        r = plus(less(scaled(body.trace, turn), applied(K_rows, turn)), crossed(body.p, slide))
        own = both(body.coupled(plus(rate[1], rate[1])), body.I.times(self.acceleration))
        of_own_q = both(own, _across_wrench(self.s, body.F))
        of_own_rate = both(body.coupled(turn), body.I.times(rate))
        at = self
        while True:
            j = at.index
            twice = plus(at.rate[1], at.rate[1])
            of_q[i][j] = inner(r, twice) + power(h, at.acceleration)
            C[i][j] = inner(r, at.s[1]) + power(h, at.rate)
            if at is not self:
                of_q[j][i], C[j][i] = power(of_own_q, at.s), power(of_own_rate, at.s)
            if at.up is None:
                return
            r, h = at.out(r), at.wrench(h)
            of_own_q, of_own_rate = at.wrench(of_own_q), at.wrench(of_own_rate)
            at = at.up

    def hand_down(self) -> None:
        """Add the link and what it carries to the parent."""
        if self.up is None:
            return
        body, link = self.body, self.link
        I, K = body.I, body.K
        turns = self.turn, cos_sin(link.alpha), cos_sin(link.gamma)
        for turn, plane in zip(turns, PLANES, strict=True):
            quarter = isinstance(turn[0], float) and turn[0] in (0.0, 1.0, -1.0)
            I = I.turned(turn, plane, quarter)
            K = plane_turned(K, turn, plane, quarter=quarter)
        force, moment = map(self.out, body.F)
        carried = _MovingBody(I, self.out(body.p), K, body.trace, (force, moment))
        self.up.body = self.up.body.plus(carried.moved(self.place))


def _across(x: Spatial, y: Spatial) -> Spatial:
    """x × y of two motions."""
    (v, w), (linear, angular) = x, y
    return plus(crossed(v, angular), crossed(w, linear)), crossed(w, angular)


def _across_wrench(x: Spatial, F: Spatial) -> Spatial:
    """x × F of a motion and a wrench."""
    (v, w), (f, n) = x, F
    return crossed(w, f), plus(crossed(w, n), crossed(v, f))
