"""One link of the minimal formulation on the way in: its wrench, added to what it carries."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce

from armdyn.shorten.minimal.axes import (
    ZERO,
    Pair,
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
from armdyn.shorten.minimal.choices import LinkChoice
from armdyn.shorten.minimal.constants import Constants
from armdyn.shorten.minimal.link import MovingLink, Rates

NO_PAIR: Pair = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Load:
    """A wrench about the origin of a link, in parts that are still in different axes."""

    e: Vector = ZERO
    n: Vector = ZERO
    """Force and moment in the axes the link is computed in."""
    e_first: Pair = NO_PAIR
    n_first: Pair = NO_PAIR
    """Force and moment in the first axes of its group of parallel joints."""

    def plus(self, other: "Load") -> "Load":
        """The sum of two wrenches."""
        return Load(
            plus(self.e, other.e),
            plus(self.n, other.n),
            _added(self.e_first, other.e_first),
            _added(self.n_first, other.n_first),
        )

    @staticmethod
    def in_first(e: Vector = ZERO, n: Vector = ZERO) -> "Load":
        """A wrench in the first axes, which have the z axis in common with those of the link."""
        return Load((0.0, 0.0, e[2]), (0.0, 0.0, n[2]), e[:2], n[:2])


def inward(
    link: MovingLink, choice: LinkChoice, fixed: Constants, carried: Iterable[Load]
) -> tuple[Scalar, Load]:
    """The torque of the joint, and the wrench that the link hands down to its parent."""
    torque, load = closed(link, choice, fixed, reduce(Load.plus, carried, Load()))
    return torque, handed_down(link, choice, fixed, load)


def closed(
    link: MovingLink, choice: LinkChoice, fixed: Constants, carried: Load
) -> tuple[Scalar, Load]:
    """The torque of the joint, and the wrench of the link with all that it carries."""
    load, kind = carried, link.link.type
    here = fixed if link.rotated else constants_turned(fixed, link.turn)
    first = "" if kind.slides else choice.first_axes
    there = constants_turned(fixed, link.whole) if first else fixed
    if "J" in first:
        load = load.plus(Load.in_first(n=moment(there, link.rates_first())))
    else:
        load = load.plus(Load(n=moment(here, link.rates)))
    if "u" in first:
        load = load.plus(Load.in_first(n=crossed(there.moment_u, link.al_first())))
    else:
        load = load.plus(Load(n=crossed(here.moment_u, link.al)))
    (A, B), (C, S) = fixed.weight, link.whole
    load = load.plus(Load(n=(0.0, 0.0, A * C + B * S)))
    if "f" in first:
        load = load.plus(Load.in_first(applied(link.rates_first().b, there.force_u)))
    else:
        load = load.plus(Load(applied(link.rates.b, here.force_u)))
    if kind.slides:
        load = load.plus(Load(scaled(fixed.M, link.al)))
    return link.link.sign * kind.combine(load.e[2] * link.units.force, load.n[2]), load


def handed_down(link: MovingLink, choice: LinkChoice, fixed: Constants, load: Load) -> Load:
    """The wrench of a link with all that it carries, about the origin of its parent."""
    if link.up is None:
        return Load()
    through = _through_first_axes if link.follows and choice.in_first else _through_joint
    return through(link, link.up, fixed, load)


def _through_joint(link: MovingLink, up: MovingLink, fixed: Constants, load: Load) -> Load:
    """Carry the wrench through the joint's axes to the parent."""
    n_first = load.n_first
    e, n = link.axes.on_joint(load.e), link.axes.on_joint(load.n)
    if link.leader is link:
        e = plus(e, (*load.e_first, 0.0))
        n = plus(n, (*n_first, 0.0))
        n_first = NO_PAIR
    else:
        e = plus(e, (*turned_back(up.whole, *load.e_first), 0.0))
    if link.shares:
        n_first = _added(n_first, turned(link.whole, load.n[0], load.n[1]))
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
    return Load(e, n, n_first=n_first)


def _through_first_axes(link: MovingLink, up: MovingLink, fixed: Constants, load: Load) -> Load:
    """Carry the wrench to the parent in the first axes of the group."""
    whole = link.whole
    e = (*_added(load.e_first, turned(whole, load.e[0], load.e[1])), load.e[2])
    e = plus(e, scaled(fixed.M, link.al_first()))
    across = about_z(up.whole, fixed.across_in)
    n = about_z(whole, load.n)
    n = plus(n, crossed((across[0], across[1], across[2] + link.slide), e))
    return Load((0.0, 0.0, e[2]), (0.0, 0.0, n[2]), e[:2], _added(load.n_first, n[:2]))


def _added(a: Pair, b: Pair) -> Pair:
    return a[0] + b[0], a[1] + b[1]


def moment(constant: Constants, rates: Rates) -> Vector:
    """vee(b J - (b J)ᵀ) with Jzz = 0 (T2)."""
    b, d, J = rates.b, rates.difference, constant.J
    Jxx, Jyy, Jxy, Jxz, Jyz = J[0][0], J[1][1], J[0][1], J[0][2], J[1][2]
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
    Jxx, Jyy, Jxy = J[0][0], J[1][1], J[0][1]
    h = (Jxx - Jyy) * S + (Jxy + Jxy) * C
    t = h * S
    Jxz, Jyz = turned(turn, J[0][2], J[1][2])
    Jxx, Jyy, Jxy = Jxx - t, Jyy + t, h * C - Jxy
    return replace(
        constant,
        J=[[Jxx, Jxy, Jxz], [Jxy, Jyy, Jyz], [Jxz, Jyz, 0.0]],
        force_u=about_z(turn, constant.force_u),
        moment_u=about_z(turn, constant.moment_u),
    )
