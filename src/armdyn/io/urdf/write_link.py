"""Links for a URDF file: what moves, and the parts, payloads and frames it carries."""

from collections.abc import Iterable

import numpy as np

from armdyn.arrays import Array
from armdyn.io.urdf.element import element, numbers, place
from armdyn.io.xml import Element
from armdyn.model import Body, Frame, Inertia, Link
from armdyn.model.transform import IDENTITY, inverse, rotation_from_rpy, rpy_from_rotation

LOSSLESS = 1e-13
"""Relative error up to which an inertia is written as mass, centre of mass and tensor about it."""


def moving_link(link: Link, frame: Frame | None) -> Element:
    """The link with those of its bodies that have its name, in the frame that its joint moves."""
    own = Link(link.name, tuple(body for body in link.bodies if _is_own(body, link)))
    bodies = [body.inertia.moved(body.placement) for body in own.bodies]
    inertia = bodies[0] if len(bodies) == 1 else own.inertia
    return _link(link.name, inertia, frame, IDENTITY, explicit=link.inertia.is_zero)


def _is_own(body: Body, link: Link) -> bool:
    return body.name == link.name and not body.payload


def parts(
    index: int, link: Link, frames: Iterable[Frame], taken: set[str]
) -> Iterable[tuple[Element, Array]]:
    """The links on fixed joints that a moving link carries, with their placements on it."""
    here = {frame.name: frame for frame in frames if frame.link == index}
    written = {link.name}
    for body in link.bodies:
        if _is_own(body, link):
            continue
        again = body.payload or body.name in written
        name = unique(body.name or "payload", taken) if again else body.name
        written.add(name)
        payload = body.name if body.payload else None
        yield (
            _link(name, body.inertia, here.get(name), body.placement, payload=payload),
            body.placement,
        )
    for name, frame in here.items():
        if name not in written:
            yield element("link", name=name), frame.placement


def _link(
    name: str,
    inertia: Inertia,
    frame: Frame | None,
    placement: Array,
    *,
    payload: str | None = None,
    explicit: bool = False,
) -> Element:
    """A <link>.

    Args:
        name: Its name.
        inertia: Its inertia in its own frame.
        frame: The frame that the robot means by its name, if it has one.
        placement: Where the link is, in the same axes as that frame.
        payload: Name of the payload that it stands for.
        explicit: Whether to say so if there is no inertia.
    """
    inertial = None if inertia.is_zero and not explicit else _inertial(inertia)
    elsewhere = None
    if frame is not None and not np.array_equal(frame.placement, placement):
        elsewhere = place("frame", inverse(placement) @ frame.placement)
    exact = None if inertial is None or _is_lossless(inertia) else _exact(inertia)
    words = {} if payload is None else {"payload": payload}
    own = element("armdyn", elsewhere, exact, **words) if elsewhere or exact or words else None
    return element("link", inertial, own, name=name)


def _as_given(inertia: Inertia) -> tuple[Array, Array]:
    """The symmetric tensor about the centre of mass in the given axes, and their rpy."""
    A = inertia.given_axes
    tensor = A.T @ inertia.moment_about_com @ A
    return (tensor + tensor.T) / 2, rpy_from_rotation(A)


def _is_lossless(inertia: Inertia) -> bool:
    tensor, rpy = _as_given(inertia)
    back = Inertia.from_com(inertia.mass, inertia.com, tensor, rotation_from_rpy(rpy))
    return all(
        bool(np.abs(a - b).max() <= LOSSLESS * np.abs(b).max())
        for a, b in ((back.first_moment, inertia.first_moment), (back.moment, inertia.moment))
    )


def _inertial(inertia: Inertia) -> Element:
    tensor, rpy = _as_given(inertia)
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    entries = {k: numbers(v) for k, v in zip(keys, tensor[np.triu_indices(3)], strict=True)}
    return element(
        "inertial",
        element("origin", xyz=numbers(inertia.com), rpy=numbers(rpy)),
        element("mass", value=numbers(inertia.mass)),
        element("inertia", **entries),
    )


def _exact(inertia: Inertia) -> Element:
    return element(
        "inertia",
        mass=numbers(inertia.mass),
        first_moment=numbers(inertia.first_moment),
        moment=numbers(inertia.moment),
    )


def unique(name: str, taken: set[str]) -> str:
    """The name, with a number behind it if it is taken; it is taken afterwards."""
    count, found = 1, name
    while found in taken:
        count += 1
        found = f"{name}_{count}"
    taken.add(found)
    return found
