"""Masses, centres of mass and tensors that do not fit the size of the robot they belong to."""

import math
from collections.abc import Iterator

import numpy as np

from armdyn.arrays import Array
from armdyn.model import Body, Inertia, RobotModel
from armdyn.model.inertia import DIGITS_TOLERANCE
from armdyn.model.validate import Finding, Level, bodies, physical_findings

SUSPICIOUS_OFFSET_SHARE = 0.65
"""Share of a tensor that the offset of the centre of mass explains if the point is suspicious.

A uniform rod on its end gives 0.75, a compact body far from its frame nearly 1, and a rod whose
tensor is about its centre, as it should be, 3.
"""

FARTHEST_COM = 5.0
"""No arm has a centre of mass farther from its link than this [m]."""

STEEL_DENSITY = 8000.0
"""No arm has a larger mean density [kg/m³]."""


def body_findings(model: RobotModel) -> Iterator[Finding]:
    """What is odd about the moving parts of a robot, and what cannot exist."""
    for finding in physical_findings(model):
        allowed = model.reduced and finding.level == "warning"
        why = "allowed in what is declared a reduced parameter set: " if allowed else ""
        yield Finding(finding.level, finding.where, why + finding.message)
    yield from _mass_findings(model)
    # how far the points of each link lie from its own joint [m]
    extents = [
        max(float(np.linalg.norm(point)) for point in _landmarks(model, i))
        for i in range(len(model.links))
    ]
    reach = _reach(model, extents)
    for i, link in enumerate(model.links):
        for body in link.bodies:
            for level, message in _size_findings(model, i, body, reach, extents):
                yield Finding(level, f"link {body.name!r}", message)


def _reach(model: RobotModel, extents: list[float]) -> float:
    """Length of the longest chain of joint offsets and strokes, from first joint to tip [m]."""
    lengths: list[float] = []
    for i, joint in enumerate(model.joints):
        step = float(np.linalg.norm(joint.placement[:3, 3]))
        before = lengths[joint.parent] + step if joint.parent >= 0 else 0.0
        lengths.append(before + _stroke(model, i))
    return float(np.add(lengths, extents).max())


def _landmarks(model: RobotModel, i: int) -> list[Array]:
    """Points known to be on a link: its joint, the joints it carries, its frames and the tool."""
    frames = [frame for frame in (*model.frames, model.tool_frame) if frame.link == i]
    return [
        np.zeros(3),
        *(model.joints[c].placement[:3, 3] for c in model.children[i]),
        *(frame.placement[:3, 3] for frame in frames),
    ]


def _stroke(model: RobotModel, i: int) -> float:
    joint = model.joints[i]
    reach = abs(joint.type.slide) * max(abs(joint.limits.lower), abs(joint.limits.upper))
    return reach if math.isfinite(reach) else 0.0


def _mass_findings(model: RobotModel) -> Iterator[Finding]:
    if all(link.inertia.is_zero for link in model.links):
        yield Finding("error", f"robot {model.name!r}", "no moving link has a mass or an inertia")
        return
    for i, (link, moved) in enumerate(zip(model.links, model.joints, strict=True)):
        if link.inertia.is_zero and not model.children[i]:
            yield Finding(
                "warning",
                f"link {link.name!r}",
                f"it is the last of its branch and has neither mass nor inertia, so joint "
                f"{moved.name!r} moves nothing"
                + (" but its rotor" if moved.rotor.reflected else ""),
            )
    for body in bodies(model):
        if body.inertia.mass > 1000:
            text = f"a mass of {body.inertia.mass:g} kg; was it given in grams?"
            yield Finding("warning", f"link {body.name!r}", text)


def _size_findings(
    model: RobotModel, i: int, body: Body, reach: float, extents: list[float]
) -> Iterator[tuple[Level, str]]:
    inertia = body.inertia
    if inertia.mass <= 0 or body.payload:
        return
    place = body.placement[:3, 3]
    com = body.placement[:3, :3] @ inertia.com + place
    far = min(float(np.linalg.norm(com - point)) for point in (*_landmarks(model, i), place))
    # a last link may go on beyond its frames: nothing but the other links tells how far
    own = extents[i] if extents[i] > 0 or model.children[i] else max(extents)
    if far > FARTHEST_COM or (reach > 0 and far > max(3 * own, _stroke(model, i), 0.25 * reach)):
        yield (
            "warning",
            f"the centre of mass {vector_text(inertia.com)} m lies {far:.3g} m from every known "
            f"point of its link, which extends {extents[i]:.3g} m, on a robot that reaches "
            f"{reach:.3g} m (are the units metres, and is it in the frame of the link?)",
        )
    radius = math.sqrt(max(np.trace(inertia.moment_about_com) / (2 * inertia.mass), 0.0))
    offset = float(np.linalg.norm(inertia.com))
    given = f"its mass of {inertia.mass:g} kg and its tensor give a radius of gyration of"
    if reach > 0 and radius > reach:
        yield (
            "warning",
            f"{given} {radius:.3g} m, more than the robot reaches ({reach:.3g} m); "
            "are the units kg m²?",
        )
    elif reach > 0 and radius > max(own, offset, 0.2 * reach):
        yield (
            "note",
            f"{given} {radius:.3g} m, much for a link that extends {extents[i]:.3g} m with its "
            f"centre of mass {offset:.3g} m from its origin; is the tensor about that point?",
        )
    elif 0 < radius < 1e-3:
        yield "warning", f"{given} {1e3 * radius:.3g} mm; are the units kg and kg m²?"
    shifted = tensor_about_origin(inertia)
    if shifted is not None:
        yield (
            "warning",
            f"the tensor given about the centre of mass looks as if it were about the origin of "
            f"the link frame: the centre of mass is {offset:.3g} m from there, the radius of "
            f"gyration {radius:.3g} m, and less mass times that offset squared it is still the "
            "tensor of a body that can exist, with "
            f"{vector_text(np.diag(shifted))} kg m² on its diagonal",
        )


def tensor_about_origin(inertia: Inertia) -> Array | None:
    """The tensor about the centre of mass if the given one looks like one about the origin."""
    c, m, given = inertia.com, inertia.mass, inertia.moment_about_com
    share = 2 * m * float(c @ c)
    if inertia.given_about != "com" or share <= SUSPICIOUS_OFFSET_SHARE * float(np.trace(given)):
        return None
    shifted: Array = given - m * ((c @ c) * np.eye(3) - np.outer(c, c))
    principal = np.linalg.eigvalsh(shifted)
    slack = DIGITS_TOLERANCE * float(np.abs(given).max())
    if principal[0] < -slack or principal[2] > principal[0] + principal[1] + slack:
        return None
    # the given point is right if only the other one would need a body denser than steel
    dense = _density(shifted, m) > STEEL_DENSITY and _density(given, m) <= STEEL_DENSITY
    return None if dense else shifted


def _density(tensor: Array, mass: float) -> float:
    """Density of the uniform ellipsoid that has a tensor about its centre [kg/m³]."""
    spread = 0.5 * np.trace(tensor) - np.linalg.eigvalsh(tensor)
    axes = np.sqrt(5 * np.maximum(spread, 0.0) / mass)
    volume = 4 / 3 * math.pi * float(np.prod(axes))
    return mass / volume if volume > 0 else math.inf


def vector_text(values: Array) -> str:
    """A vector as it stands in a sentence."""
    return f"({', '.join(f'{v:.3g}' for v in values)})"
