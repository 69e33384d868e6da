"""The choices of the minimal formulation, as data: one set a link, and the two units."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Literal

Unit = tuple[str, int, int]
"""A constant whose size is taken as unit: ("across" | "r" | "gravity" | "u" | "M", link, entry)."""


@dataclass(frozen=True, slots=True)
class LinkChoice:
    """How one link is computed; letters T refer to `minimal`."""

    squares: Literal["xz", "yz", "xyz"] = "xz"
    """Which squares of the angular velocity are formed (T9)."""
    doubled: Literal["", "x", "y", "xy"] = "y"
    """Which of b_zx, b_zy come from 2 w_z and the third column (T9)."""
    column: bool = True
    """Whether the third column of b is carried outward (T3), not the angular acceleration."""
    rotated: bool = True
    """Whether the link is computed in its own axes; False: in those before its rotation (T6)."""
    shared: bool = True
    """Whether vectors go directly from and to the first axes of a group of parallel joints (T4)."""
    out_first: bool = False
    """Whether accelerations of origins go outward in the first axes of the group (T4)."""
    in_first: bool = False
    """Whether forces go inward in the first axes of the group (T4)."""
    first_axes: Literal["", "J", "u", "f", "Ju", "Jf", "uf", "Juf"] = ""
    """What is formed in the first axes of the group, with rotated constants: the moment of J, the
    moment of u, the force of u (T4, T6)."""
    passes_on: bool = False
    """Whether the offset r is left to the joints that the link carries, its origin being moved."""
    isotropic: Literal["", "xx", "yy"] = ""
    """The entry of J that is cleared by what only joint 1 feels (T5)."""
    point_mass: Literal["", "x", "y", "z"] = ""
    """The entry of the parent's first moment that a mass kept at the origin clears (T7)."""
    tangent: bool = False
    """Whether a general twist is done with its tangent (T10)."""

    @property
    def outward(self) -> Hashable:
        """The choices that the motion of the link is computed by."""
        return _outward(self)


_outward = attrgetter("squares", "doubled", "column", "rotated", "shared", "out_first", "tangent")


@dataclass(frozen=True, slots=True)
class Choices:
    """All choices for one robot."""

    links: tuple[LinkChoice, ...]
    length: Unit | None = None
    """What accelerations of origins are divided by (T8)."""
    force: Unit | None = None
    """What forces are divided by (T8)."""
    weight_apart: bool = False
    """Whether gravity enters a planar arm as torques of weights, not as an acceleration."""
    regrouped: bool = False
    """Whether the inertias are first regrouped to the fewest that act by themselves."""

    @property
    def gauge(self) -> Hashable:
        """The choices that decide which inertias and lengths the links have."""
        links = tuple((link.passes_on, link.point_mass) for link in self.links)
        return links, self.weight_apart, self.regrouped

    @property
    def scales(self) -> Hashable:
        """The choices that decide all constants."""
        isotropic = tuple(link.isotropic for link in self.links)
        return self.gauge, self.length, self.force, isotropic

    def with_link(self, i: int, **changes: Any) -> "Choices":
        """The same choices with others for link i."""
        links = list(self.links)
        links[i] = replace(links[i], **changes)
        return replace(self, links=tuple(links))
