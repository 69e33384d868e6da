"""The torques by the fewest operations known.

Links are in modified Denavit-Hartenberg frames, each with second moment J, first moment u and mass
M about its origin. With b = S(w') + S(w)² and al the acceleration of the origin (gravity included),
the inertial wrench of a link about its origin is

    F = M al + b u,    N = vee(b J - (b J)ᵀ) + u × al

summed inward as e and n, e leaving out what M = 0 leaves out. What makes it short:

    T1   inertia on a joint axis is handed to the parent, so Jzz = MZ = M = 0 on a revolute link
    T2   N from J and b, not from the inertia tensor: 13 products for a full link
    T3   the axis z_i is fixed in both links, so the third column of b_i is a column of b of the
         parent, turned about z_i; angular accelerations are never rotated
    T4   parallel joints: w, column and n go directly from and to the first axes of the group, with
         the sine and cosine of the sum of the angles
    T5   behind joint 1, J = λ (1 - z zᵀ) is felt by joint 1 as a constant and about z, nothing else
    T6   the last link is computed before its rotation, its constants being rotated instead
    T7   a mass kept at the origin of joint j may clear an entry of the first moment of its parent
    T8   accelerations and forces in units that make constants 1
    T9   which squares are formed, and 2 w_z where the angular acceleration is not needed
    T10  a twist that is no quarter turn, with its tangent

The choices are data (`choices`), fed floats it computes, fed nodes it is traced. Reference
for T1: M. Gautier and W. Khalil 1990; for b and e: M. Renaud 1987.

Three sets of axes matter: the link's own; the joint's, before its rotation; and the first axes of
its group of parallel joints, which are the joint's axes of the leader of the group (T4).
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache, reduce

import numpy as np

from armdyn.arrays import Array, record
from armdyn.formulations.kinematics import world_frames, wrench_torques
from armdyn.loops.values import Pair, added
from armdyn.model import RobotModel
from armdyn.model.transform import rotation_z
from armdyn.shorten.canonical.frames import (
    CanonicalLink,
    CanonicalRobot,
    canonical,
    is_quarter,
    twist,
)
from armdyn.shorten.minimal.axes import (
    ZERO,
    Axes,
    JointAngle,
    Matrix,
    Scalar,
    Vector,
    about_z,
    applied,
    crossed,
    plus,
    scaled,
    turned,
    turned_back,
)
from armdyn.shorten.minimal.choices import Choices, LinkChoice
from armdyn.shorten.minimal.constants import Constants, Units, constants
from armdyn.shorten.minimal.options import options

NO_PAIR: Pair = (0.0, 0.0)


@record
class Rates:
    """Angular velocity w, acceleration w' and the tensor b = S(w') + S(w)², in one set of axes.

    The second derivative of a vector v fixed in the link is b v (T3, T9). Written out,

        b = [ -(y²+z²)  xy - z'   xz + y' ]
            [ xy + z'   -(x²+z²)  yz - x' ]       w = (x, y, z),  w' = (x', y', z')
            [ xz - y'   yz + x'   -(x²+y²) ]
    """

    w: Vector
    wd: Vector
    b: Matrix
    difference: Matrix
    """b_ii - b_jj, formed from squares where that is cheaper."""
    wxwy: Scalar


AT_REST = Rates(ZERO, ZERO, (ZERO,) * 3, (ZERO,) * 3, 0.0)
"""Those of the base, which does not turn."""


def rates_from_column(w: Vector, column: Vector, wdz: Scalar, squares: str, doubled: str) -> Rates:
    """Rates from the third column of b, which the joint axis brings from the parent.

    With p = x z and s = y z: y' = b_xz - p, b_zx = p - y' = 2z x - b_xz, x' = s - b_yz and
    b_zy = s + x' = 2z y - b_yz.
    """
    x, y, z = w
    bxz, byz, bzz = column
    p = x * z
    s = y * z
    xy = x * y
    wdy, wdx = bxz - p, s - byz
    bzx = (z + z) * x - bxz if "x" in doubled else p - wdy
    bzy = (z + z) * y - byz if "y" in doubled else s + wdx
    X = x * x
    Y = y * y
    Z = z * z
    if squares == "xz":
        xx_zz = X - Z
        bxx, byy = bzz + xx_zz, -(X + Z)
        difference = _differences(xx_zz, bzz - byy, byy - bxx)
    elif squares == "yz":
        yy_zz = Y - Z
        byy, bxx = bzz + yy_zz, -(Y + Z)
        difference = _differences(bxx - bzz, -yy_zz, byy - bxx)
    else:
        bxx, byy = -(Y + Z), -(X + Z)
        difference = _differences(X - Z, Z - Y, Y - X)
    b = (bxx, xy - wdz, bxz), (xy + wdz, byy, byz), (bzx, bzy, bzz)
    return Rates(w, (wdx, wdy, wdz), b, difference, xy)


def rates_from_acceleration(w: Vector, wd: Vector, squares: str) -> Rates:
    """Rates from angular velocity and acceleration."""
    x, y, z = w
    dx, dy, dz = wd
    xy = x * y
    xz = x * z
    yz = y * z
    X = x * x
    Y = y * y
    Z = z * z
    bzz = -(X + Y)
    bxx = bzz + (X - Z) if squares == "xz" else -(Y + Z)
    byy = bzz + (Y - Z) if squares == "yz" else -(X + Z)
    difference = _differences(X - Z, Z - Y, Y - X)
    b = (bxx, xy - dz, xz + dy), (xy + dz, byy, yz - dx), (xz - dy, yz + dx, bzz)
    return Rates(w, wd, b, difference, xy)


def rates_turned(rates: Rates, R: Matrix) -> Rates:
    """The same rates in other axes, R (quarter turns only) taking those to the present ones."""
    source = [next(m for m in range(3) if R[m][a]) for a in range(3)]
    sign = [R[source[a]][a] for a in range(3)]

    def vector(v: Vector) -> Vector:
        x, y, z = (sign[a] * v[source[a]] for a in range(3))
        return x, y, z

    b = tuple(
        tuple(sign[r] * sign[c] * rates.b[source[r]][source[c]] for c in range(3)) for r in range(3)
    )
    difference = tuple(
        tuple(rates.difference[source[r]][source[c]] for c in range(3)) for r in range(3)
    )
    w = vector(rates.w)
    return Rates(w, vector(rates.wd), b, difference, w[0] * w[1])


def _differences(xx_zz: Scalar, zz_yy: Scalar, yy_xx: Scalar) -> Matrix:
    return (0.0, -yy_xx, xx_zz), (yy_xx, 0.0, -zz_yy), (-xx_zz, zz_yy, 0.0)


class MovingLink:
    """A link in motion, found from that of its parent.

    A link whose axis is not parallel to that of the parent takes from it `rates` and `al` alone.
    """

    axes: Axes
    angle: JointAngle
    """Sum of the angles of its group up to its own."""
    turn: Pair
    whole: Pair
    """cos and sin of its own rotation, and of the angle from the first axes of its group."""
    rates: Rates
    """In the axes the link is computed in."""
    spin: Pair
    """Entries z of the angular velocity and acceleration."""
    w_joint: Vector
    column_joint: Vector
    """w of the parent and b z in the joint's axes."""
    al_joint: Vector
    """Acceleration of the origin in the joint's axes, if it does not come from the first ones."""
    al: Vector
    """Acceleration of the origin in the axes the link is computed in."""
    slide: Scalar
    """Distance along z from the joint's axes to the origin, as it enters moments."""

    def __init__(
        self,
        link: CanonicalLink,
        choice: LinkChoice,
        fixed: Constants,
        units: Units,
        up: "MovingLink | None",
        state: Vector,
    ):
        self.link = link
        self.choice = choice
        self.fixed = fixed
        self.units = units
        self.up = up
        flat = is_quarter(link.alpha) and link.alpha == 0 and link.gamma == 0
        self.leader: MovingLink = up.leader if up is not None and flat else self
        """The first link of its group of parallel joints."""
        self.follows = self.leader is not self and choice.rotated and not link.type.slides
        """Whether vectors may go through the first axes of the group (T4)."""
        self.shares = self.follows and choice.shared
        self.out_first = self.follows and choice.out_first
        self.rotated = choice.rotated or link.type.slides
        self.tangent = choice.tangent and self.rotated and not is_quarter(link.alpha)
        self._move(*state)

    def _move(self, q: Scalar, qd: Scalar, qdd: Scalar) -> None:
        """Find rates and acceleration at a position, rate and acceleration of the joint."""
        link, up = self.link, self.up
        step = JointAngle.of(link.type.angle(q), link.theta)
        # with the tangent form the joint's axes are the link's own
        own_step = JointAngle(0.0, 0) if self.tangent else step
        self.angle = up.angle.plus(step) if up and self.leader is not self else own_step
        self.turn, self.whole = step.cos_sin(), self.angle.cos_sin()
        self.axes = Axes.of(link, self.turn, self.rotated, self.tangent)
        above = up.rates if up else AT_REST
        self.w_joint, wd = self.axes.into(above.w), self.axes.into(above.wd)
        angular = wd, link.type.angle(qd), link.type.angle(qdd)
        # of equal values the first one computed counts, so the column waits where it is not carried
        if link.type.turns and not self.choice.column:
            self._rates_from_acceleration(*angular)
        self.column_joint = self.axes.into(applied(above.b, self.axes.axis()))
        if link.type.turns and self.choice.column:
            self._rates_from_column(*angular)
        elif not link.type.turns:
            self._still_rates(above, wd)
        if link.type.slides:
            self._slide_acceleration(above, *map(link.type.travel, (q, qd, qdd)))
        else:
            self._turn_acceleration(above)

    def _rates_from_column(self, wd: Vector, qd: Scalar, qdd: Scalar) -> None:
        """Rates behind a joint that turns, by the third column of b (T3, T4)."""
        choice, (_, _, bzz) = self.choice, self.column_joint
        self.spin = self.w_joint[2] + qd, wd[2] + qdd
        if self.shares:
            column_xy = turned_back(self.whole, *self.leader.column_joint[:2])
        else:
            column_xy = self.axes.own(self.column_joint)[:2]
        wz, wdz = self.spin
        self.rates = rates_from_column(
            (*self._w_xy(), wz), (*column_xy, bzz), wdz, choice.squares, choice.doubled
        )

    def _rates_from_acceleration(self, wd: Vector, qd: Scalar, qdd: Scalar) -> None:
        """Rates behind a joint that turns, by the angular acceleration."""
        (w_x, w_y), (x, y, _) = self._w_xy(), self.axes.own(wd)
        self.spin = wz, wdz = self.w_joint[2] + qd, wd[2] + qdd
        wd_own = (x + qd * w_y, y - qd * w_x, wdz)
        self.rates = rates_from_acceleration((w_x, w_y, wz), wd_own, self.choice.squares)

    def _w_xy(self) -> Pair:
        """Entries x and y of the angular velocity in the axes of the link (T4)."""
        if self.shares:
            return turned_back(self.whole, *self.leader.w_joint[:2])
        return self.axes.own(self.w_joint)[:2]

    def _turn_acceleration(self, above: Rates) -> None:
        fixed, up = self.fixed, self.up
        self.slide = fixed.r_in
        if self.out_first:
            x, y, z = self.al_first()
            self.al = (*turned_back(self.whole, x, y), z)
            return
        al_above = up.al if up else scaled(-1.0, fixed.gravity)
        al = self.axes.into(plus(al_above, applied(above.b, fixed.across_out)))
        self.al_joint = plus(al, scaled(fixed.r_out, self.column_joint))
        self.al = self.axes.own(self.al_joint)

    def _still_rates(self, above: Rates, wd: Vector) -> None:
        """Rates behind a joint that does not turn: those before it, in other axes."""
        link, own = self.link, self.axes.own
        if is_quarter(link.alpha) and is_quarter(link.gamma) and is_quarter(link.theta):
            c, s = self.turn
            R = twist(link) @ rotation_z(c, s)
            self.rates = rates_turned(above, R.round().tolist())
        else:
            self.rates = rates_from_acceleration(own(self.w_joint), own(wd), self.choice.squares)
        self.spin = self.w_joint[2], wd[2]

    def _slide_acceleration(self, above: Rates, q: Scalar, qd: Scalar, qdd: Scalar) -> None:
        fixed = self.fixed
        unit = self.units.length
        up = self.up
        w = self.w_joint
        self.slide = fixed.r_in + q * self.units.force
        al_above = up.al if up else scaled(-1.0, fixed.gravity)
        al = self.axes.into(plus(al_above, applied(above.b, fixed.across_out)))
        al = plus(al, scaled(fixed.r_out + q / unit, self.column_joint))
        twice = (qd + qd) / unit
        self.al_joint = plus(al, (twice * w[1], -(twice * w[0]), qdd / unit))
        self.al = self.axes.own(self.al_joint)

    # in the first axes of the group

    def rates_first(self) -> Rates:
        """Rates in the first axes."""
        first, (wz, wdz) = self.leader, self.spin
        w = (*first.w_joint[:2], wz)
        return rates_from_column(
            w, self.column_first(), wdz, self.choice.squares, self.choice.doubled
        )

    def column_first(self) -> Vector:
        """b z in the first axes."""
        return (*self.leader.column_joint[:2], self.column_joint[2])

    def al_first(self) -> Vector:
        """Acceleration of the origin in the first axes."""
        up, fixed = self.up, self.fixed
        if up is None or self.leader is self:
            return self.al_joint
        if not self.out_first:
            return about_z(up.whole, self.al_joint)
        across = about_z(up.whole, fixed.across_out)
        al = plus(up.al_first(), applied(up.rates_first().b, across))
        return plus(al, scaled(fixed.r_out, self.column_first()))


@record
class LinkLoad:
    """A wrench about the origin of a link, in parts that are still in different axes."""

    e: Vector = ZERO
    n: Vector = ZERO
    """Force and moment in the axes the link is computed in."""
    e_first: Pair = NO_PAIR
    n_first: Pair = NO_PAIR
    """Force and moment in the first axes of its group of parallel joints."""

    def plus(self, other: "LinkLoad") -> "LinkLoad":
        """The sum of two wrenches."""
        return LinkLoad(
            plus(self.e, other.e),
            plus(self.n, other.n),
            added(self.e_first, other.e_first),
            added(self.n_first, other.n_first),
        )

    @staticmethod
    def in_first(e: Vector = ZERO, n: Vector = ZERO) -> "LinkLoad":
        """A wrench in the first axes, which have the z axis in common with those of the link."""
        return LinkLoad((0.0, 0.0, e[2]), (0.0, 0.0, n[2]), e[:2], n[:2])


def inward(
    link: MovingLink, choice: LinkChoice, fixed: Constants, carried: Iterable[LinkLoad]
) -> tuple[Scalar, LinkLoad]:
    """The torque of the joint, and the wrench that the link hands down to its parent."""
    torque, load = closed(link, choice, fixed, reduce(LinkLoad.plus, carried, LinkLoad()))
    return torque, handed_down(link, choice, fixed, load)


def closed(
    link: MovingLink, choice: LinkChoice, fixed: Constants, carried: LinkLoad
) -> tuple[Scalar, LinkLoad]:
    """The torque of the joint, and the wrench of the link with all that it carries."""
    load, kind = carried, link.link.type
    here = fixed if link.rotated else constants_turned(fixed, link.turn)
    first = "" if kind.slides else choice.first_axes
    there = constants_turned(fixed, link.whole) if first else fixed
    if "J" in first:
        load = load.plus(LinkLoad.in_first(n=moment(there, link.rates_first())))
    else:
        load = load.plus(LinkLoad(n=moment(here, link.rates)))
    if "u" in first:
        load = load.plus(LinkLoad.in_first(n=crossed(there.moment_u, link.al_first())))
    else:
        load = load.plus(LinkLoad(n=crossed(here.moment_u, link.al)))
    (A, B), (C, S) = fixed.weight, link.whole
    load = load.plus(LinkLoad(n=(0.0, 0.0, A * C + B * S)))
    if "f" in first:
        load = load.plus(LinkLoad.in_first(applied(link.rates_first().b, there.force_u)))
    else:
        load = load.plus(LinkLoad(applied(link.rates.b, here.force_u)))
    if kind.slides:
        load = load.plus(LinkLoad(scaled(fixed.M, link.al)))
    return link.link.sign * kind.combine(load.e[2] * link.units.force, load.n[2]), load


def handed_down(link: MovingLink, choice: LinkChoice, fixed: Constants, load: LinkLoad) -> LinkLoad:
    """The wrench of a link with all that it carries, about the origin of its parent."""
    if link.up is None:
        return LinkLoad()
    through = _through_first_axes if link.follows and choice.in_first else _through_joint
    return through(link, link.up, fixed, load)


def _through_joint(link: MovingLink, up: MovingLink, fixed: Constants, load: LinkLoad) -> LinkLoad:
    """Carry the wrench through the joint's axes to the parent."""
    n_first = load.n_first
    e = link.axes.on_joint(load.e)
    n = link.axes.on_joint(load.n)
    if link.leader is link:
        e = plus(e, (*load.e_first, 0.0))
        n = plus(n, (*n_first, 0.0))
        n_first = NO_PAIR
    else:
        e = plus(e, (*turned_back(up.whole, *load.e_first), 0.0))
    if link.shares:
        n_first = added(n_first, turned(link.whole, load.n[0], load.n[1]))
        n = (0.0, 0.0, n[2])
    if not link.link.type.slides:
        if link.out_first:
            x, y, z = link.al_first()
            al = (*turned_back(up.whole, x, y), z)
        else:
            al = link.al_joint
        e = plus(e, scaled(fixed.M, al))
    n = plus(n, crossed((0.0, 0.0, link.slide), e))
    e = link.axes.out_of(e)
    n = plus(link.axes.out_of(n), crossed(fixed.across_in, e))
    return LinkLoad(e, n, n_first=n_first)


def _through_first_axes(
    link: MovingLink, up: MovingLink, fixed: Constants, load: LinkLoad
) -> LinkLoad:
    """Carry the wrench to the parent in the first axes of the group."""
    whole = link.whole
    e = (*added(load.e_first, turned(whole, load.e[0], load.e[1])), load.e[2])
    e = plus(e, scaled(fixed.M, link.al_first()))
    across = about_z(up.whole, fixed.across_in)
    n = about_z(whole, load.n)
    n = plus(n, crossed((across[0], across[1], across[2] + link.slide), e))
    return LinkLoad((0.0, 0.0, e[2]), (0.0, 0.0, n[2]), e[:2], added(load.n_first, n[:2]))


def moment(constant: Constants, rates: Rates) -> Vector:
    """vee(b J - (b J)ᵀ) with Jzz = 0 (T2)."""
    b = rates.b
    d = rates.difference
    J = constant.J
    Jxx = J[0][0]
    Jyy = J[1][1]
    Jxy = J[0][1]
    Jxz = J[0][2]
    Jyz = J[1][2]
    return (
        Jyy * b[2][1] + Jxy * b[2][0] - Jxz * b[1][0] + Jyz * d[2][1],
        Jyz * b[0][1] + Jxz * d[0][2] - Jxx * b[2][0] - Jxy * b[2][1],
        constant.spin * rates.wd[2]
        + (Jxx - Jyy) * rates.wxwy
        + (Jxz * b[1][2] - Jyz * b[0][2] + Jxy * d[1][0]),
    )


def constants_turned(constant: Constants, turn: Pair) -> Constants:
    """The constants of a link in axes turned back about z (T6)."""
    J, (C, S) = constant.J, turn
    Jxx = J[0][0]
    Jyy = J[1][1]
    Jxy = J[0][1]
    h = (Jxx - Jyy) * S + (Jxy + Jxy) * C
    t = h * S
    Jxz, Jyz = turned(turn, J[0][2], J[1][2])
    Jxx = Jxx - t
    Jyy = Jyy + t
    Jxy = h * C - Jxy
    return replace(
        constant,
        J=[[Jxx, Jxy, Jxz], [Jxy, Jyy, Jyz], [Jxz, Jyz, 0.0]],
        force_u=about_z(turn, constant.force_u),
        moment_u=about_z(turn, constant.moment_u),
    )


@record
class Minimal:
    """The joint torques, (..., N)."""

    tau: Array


Rate = Array | float
"""Velocities or accelerations (..., N), or the number 0 where all are zero."""


def minimal(
    robot: CanonicalRobot, q: Array, qd: Rate, qdd: Rate, choices: Choices | None = None
) -> Minimal:
    """Joint torques of a tree of links in canonical frames, whose entries may be nodes."""
    choices = options(robot).start if choices is None else choices
    links = moving_links(robot, choices, q, qd, qdd)
    carried: list[list[LinkLoad]] = [[] for _ in links]
    tau: list[Scalar] = []
    for i, link in reversed(list(enumerate(links))):
        torque, load = inward(link, link.choice, link.fixed, carried[i])
        tau.append(np.broadcast_to(torque, q.shape[:-1]))
        if link.up is not None:
            carried[robot.links[i].parent].append(load)
    return Minimal(np.stack(tau[::-1], -1))


def moving_links(
    robot: CanonicalRobot, choices: Choices, q: Array, qd: Rate, qdd: Rate
) -> list[MovingLink]:
    """The links in motion; arguments as in `minimal`."""
    fixed, units = constants(robot, choices)
    states = states_of_joints(robot, q, qd, qdd)
    links: list[MovingLink] = []
    for i, (link, choice) in enumerate(zip(robot.links, choices.links, strict=True)):
        up = links[link.parent] if link.parent >= 0 else None
        links.append(MovingLink(link, choice, fixed[i], units, up, states[i]))
    return links


def states_of_joints(robot: CanonicalRobot, q: Array, qd: Rate, qdd: Rate) -> list[Vector]:
    """Position, velocity and acceleration of each joint, counted along its z axis."""
    q, qd, qdd = (np.broadcast_to(np.asarray(v), q.shape) for v in (q, qd, qdd))
    signs = enumerate(link.sign for link in robot.links)
    return [(s * q[..., i][()], s * qd[..., i][()], s * qdd[..., i][()]) for i, s in signs]


def minimal_torques(
    model: RobotModel, q: Array, qd: Array, qdd: Array, wrench: Array | None = None
) -> Minimal:
    """Joint torques of any robot, its frames being found once; arguments as in `newton_euler`."""
    tau = minimal(_canonical(model), q, qd, qdd).tau
    if wrench is not None:
        tau = tau + wrench_torques(model, world_frames(model, q), wrench)
    return Minimal(tau)


_canonical = lru_cache(maxsize=64)(canonical)
