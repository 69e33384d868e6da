"""A <link> of a URDF file, with armdyn's own words for what URDF has none for.

Inside <link> the element <armdyn> may have

    payload="NAME"                  the link is a payload of that name, which can be put down
    <frame xyz="..." rpy="..."/>    the frame that the robot means by the name of this link
    <inertia mass="..." first_moment="x y z" moment="xx xy xz yx yy yz zx zy zz"/>
                                    the inertia about the origin of the link, for reduced sets
                                    that no mass and centre of mass describe

Other programs skip it.
"""

from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.io.attributes import Problems
from armdyn.io.urdf.joint import check_words
from armdyn.io.xml import XmlElement
from armdyn.model import Inertia


@dataclass(frozen=True, slots=True, eq=False)
class UrdfLink:
    """What a <link> says that matters to dynamics."""

    name: str
    line: int
    inertia: Inertia | None
    """Its inertia in its own frame; None where the file gives none."""
    payload: str | None = None
    """Name of the payload that it stands for."""
    frame: Array | None = None
    """The frame that its name means, in the frame of the link, shape (4, 4); None: the same."""


def link_from_element(link: XmlElement, problems: Problems) -> UrdfLink | None:
    """The link, or None if it has no name; what is wrong goes to `problems`."""
    name = problems.text(link, "name", "a link")
    if name is None:
        return None
    where = f"link {name!r}"
    inertial = problems.only(link, "inertial", where)
    inertia = None if inertial is None else _inertia(inertial, where, problems)
    own = problems.only(link, "armdyn", where)
    if own is None:
        return UrdfLink(name, link.line, inertia)
    check_words(own, ("payload",), where, problems)
    exact = problems.only(own, "inertia", where)
    if exact is not None:
        moment = problems.vector(exact, "moment", where, default=(0.0,) * 9)
        inertia = Inertia.from_origin(
            problems.number(exact, "mass", where),
            problems.vector(exact, "first_moment", where),
            np.reshape(moment, (3, 3)),
        )
    place = problems.only(own, "frame", where)
    frame = None if place is None else problems.origin(place, where)
    return UrdfLink(name, link.line, inertia, own.attributes.get("payload"), frame)


def _inertia(inertial: XmlElement, where: str, problems: Problems) -> Inertia:
    mass = problems.needed(inertial, "mass", where)
    tensor = problems.needed(inertial, "inertia", where)
    T = problems.origin(problems.only(inertial, "origin", where), where)
    if mass is None or tensor is None:
        return Inertia.zero()
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    xx, xy, xz, yy, yz, zz = (problems.number(tensor, key, where) for key in keys)
    I = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    return Inertia.from_com(problems.number(mass, "value", where), T[:3, 3], I, T[:3, :3])
