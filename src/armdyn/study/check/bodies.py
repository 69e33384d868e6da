"""Masses, centres of mass and tensors that do not fit the robot or the geometry of their link."""

import math
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import DescriptionError
from armdyn.io.urdf.geometry import LinkGeometry, read_geometry
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

CLEARLY_BEYOND = 2.0
"""Radius of gyration, in the size of its link, from which on it is no matter of a few parts."""

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
    # the longest chain of joint offsets and strokes, from first joint to tip [m]
    lengths: list[float] = []
    for i, joint in enumerate(model.joints):
        step = float(np.linalg.norm(joint.placement[:3, 3]))
        before = lengths[joint.parent] + step if joint.parent >= 0 else 0.0
        lengths.append(before + _stroke(model, i))
    reach = float(np.add(lengths, extents).max())
    for i, link in enumerate(model.links):
        for body in link.bodies:
            for level, message in _size_findings(model, i, body, reach, extents):
                yield Finding(level, f"link {body.name!r}", message)


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
    """Links without mass, and masses beyond those of arms."""
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
    """Centres of mass and tensors that do not fit the size of a link or of the robot."""
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
        # a link whose frames all lie in one point may extend anywhere
        clear = extents[i] > 0 and radius > CLEARLY_BEYOND * max(own, offset)
        yield (
            "warning" if clear else "note",
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
    c = inertia.com
    m = inertia.mass
    given = inertia.moment_about_com
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


LARGEST_LINK = 50.0
"""No link of an arm is longer [m]."""
OUTSIDE = 0.5
"""How far outside the geometry, relative to its size, a centre of mass looks wrong."""
DENSITIES = 0.01, 25_000.0
"""Mean densities beyond which a mass looks wrong [kg/m³]: a hundredth of air, more than osmium."""
MISFIT, FIT = 0.6, 0.2
"""A tensor that differs by more than the first, relative to that of a uniform body, is looked into;
an explanation that leaves less than the second of it is believed."""
EXCESS, LARGE_EXCESS = 2.0, 3.0
"""How many times the largest spread that the geometry permits is worth a note, or a warning."""
SPREAD_SLACK = 0.1
"""Share of the size of a link by which its mass may reach beyond the geometry."""
DEFICIT, POINT = 0.01, 1e-9
"""A tensor less than so many times that of a uniform body looks wrong, but a point mass is meant
by one of nothing."""
LIGHT = 1e-3
"""What is wrong with a body of less than this share of the mass of the robot is but noted."""
ABOUT_ORIGIN = "it were about the origin of the link frame"
WRONG_UNITS = {
    1e9: "g mm²",
    1e6: "kg mm²",
    1e4: "kg cm²",
    1e3: "g m²",
    1e-3: "t m²",
}
"""For each factor by which a tensor in kg m² may be too large, the unit that makes it so."""


def geometry_findings(path: Path, model: RobotModel, trusted: bool = True) -> Iterator[Finding]:
    """What does not fit in the inertias of links that a URDF file also gives the geometry of.

    Meshes are read only from a file that is trusted.
    """
    if path.suffix.lower() not in (".urdf", ".xacro", ".xml"):
        return
    try:
        geometry, unread = read_geometry(path, trusted)
    except DescriptionError:
        return
    if unread:
        (first, reason), *others = unread.items()
        more = f" and {len(others)} more" if others else ""
        yield Finding(
            "note",
            str(path),
            f"the inertia of {first!r}{more} is not held against its geometry: {reason}",
        )
    known = {body.name for body in bodies(model) if not body.inertia.is_zero}
    for frame in model.frames:
        if frame.link >= 0 and frame.name in geometry and frame.name not in known:
            # a note where it is fixed to a link that has inertia
            yield Finding(
                "warning" if model.links[frame.link].inertia.is_zero else "note",
                f"link {frame.name!r}",
                "geometry without inertia, which weighs nothing; add an <inertial>, or load with "
                "density=... (--density), which takes it from the geometry",
            )
    total = sum(body.inertia.mass for body in bodies(model))
    for body in bodies(model):
        shape = geometry.get(body.name)
        if shape is not None and body.inertia.mass > 0 and not body.payload:
            light = body.inertia.mass < LIGHT * total
            for level, message in _findings(body.inertia, shape):
                yield Finding("note" if light else level, f"link {body.name!r}", message)


def _findings(inertia: Inertia, shape: LinkGeometry) -> Iterator[tuple[Level, str]]:
    """What does not fit between the inertia of a body and its geometry."""
    low, high = shape.points.min(0), shape.points.max(0)
    size = float(np.linalg.norm(high - low))
    c, density = inertia.com, inertia.mass / shape.body.mass
    outside = float(np.linalg.norm(c - np.clip(c, low, high)))
    if size > LARGEST_LINK:
        yield (
            "warning",
            f"its geometry is {size:.3g} m large; is a mesh in millimetres, whose scale should be "
            "0.001?",
        )
    elif outside > OUTSIDE * size:
        within = [k for k in (1e-3, 1e3) if np.all((low <= k * c) & (k * c <= high))]
        hint = f" {within[0]:g} times it is inside" if within else ""
        yield (
            "warning",
            f"the centre of mass {vector_text(c)} m lies {outside:.3g} m outside the geometry, "
            f"which goes from {vector_text(low)} to {vector_text(high)} m; is it in metres, and in "
            f"the frame of the link?{hint}",
        )
    elif not DENSITIES[0] <= density <= DENSITIES[1]:
        dense = density > DENSITIES[1]
        question = "was the mass given in grams?" if dense else "is a mesh too large?"
        yield (
            "warning" if dense else "note",
            f"its mass of {inertia.mass:g} kg in the volume of its geometry, {shape.body.mass:.3g} "
            f"m³, makes a density of {density:.3g} kg/m³; {question}",
        )
    else:
        yield from _tensor_findings(inertia, shape, low, high)


def _tensor_findings(
    inertia: Inertia, shape: LinkGeometry, low: Array, high: Array
) -> Iterator[tuple[Level, str]]:
    """How a tensor differs from that of a uniform body of the same geometry."""
    given = inertia.moment_about_com / inertia.mass
    uniform = shape.body.moment_about_com / shape.body.mass

    def misfit(tensor: Array) -> float:
        return float(np.linalg.norm(tensor - uniform) / np.linalg.norm(uniform))

    if misfit(given) <= MISFIT:
        return
    mistake, right = min(_explanations(inertia), key=lambda pair: misfit(pair[1]))
    axes = np.linalg.eigh(uniform)[1]
    turned = axes @ np.diag(np.linalg.eigvalsh(given)) @ axes.T
    ratio = float(np.trace(given) / np.trace(uniform))
    start = (
        f"its tensor about the centre of mass, {vector_text(inertia.mass * np.diag(given))} kg m² "
        f"on the diagonal, is not that of its geometry, which with the same mass would have "
        f"{vector_text(inertia.mass * np.diag(uniform))}"
    )
    if misfit(right) <= FIT:
        if mistake != ABOUT_ORIGIN or tensor_about_origin(inertia) is None:  # else said already
            yield "warning", f"{start}; it would fit if {mistake}"
        return
    if misfit(turned) <= FIT:
        why = "its principal moments fit, but not their axes; is the rpy of its <origin> right?"
        yield "warning", f"{start}; {why}"
        return
    spread = 0.5 * np.trace(given) - np.diag(given)
    c = np.clip(inertia.com, low, high)
    # of masses between two ends with their mean at c, (high - c) (c - low) is the largest spread
    slack = (SPREAD_SLACK * float(np.linalg.norm(high - low))) ** 2
    excess = np.sqrt(np.maximum(spread, 0.0) / ((high - c) * (c - low) + slack))
    k = int(np.argmax(excess))
    if excess[k] > EXCESS:
        radius = np.sqrt(spread[k])
        yield (
            "warning" if excess[k] > LARGE_EXCESS else "note",
            f"{start}. A radius of gyration of {radius:.3g} m along {'xyz'[k]} is more than any "
            f"body within the geometry can have, {radius / excess[k]:.3g} m; is the tensor in "
            "kg m², and about the centre of mass?",
        )
    elif POINT < ratio < DEFICIT:
        yield "note", f"{start}; a factor of {ratio:.2g}. Is it in kg m²?"


def _explanations(inertia: Inertia) -> Iterator[tuple[str, Array]]:
    """Mistakes that a tensor may have in it, and the tensor without each, by mass [m²]."""
    given, c = inertia.moment_about_com / inertia.mass, inertia.com
    yield ABOUT_ORIGIN, given - (c @ c * np.eye(3) - np.outer(c, c))
    yield "the products of inertia had the other sign", 2 * np.diag(np.diag(given)) - given
    for order in permutations(range(3)):
        if order != (0, 1, 2):
            axes = ", ".join("xyz"[k] for k in order)
            yield f"its axes x, y, z were {axes}", given[np.ix_(order, order)]
    for factor, unit in WRONG_UNITS.items():
        yield f"it were in {unit}, a factor of {factor:g}", given / factor
