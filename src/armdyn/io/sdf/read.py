"""SDF files: one model, with those in it, of links and joints in, one RobotModel out.

Links stand where the file puts them where all joints are at zero, and a joint that closes a loop in
the graph of the joints becomes a cut joint there. A model that is not fixed to the world floats,
with its first link as the base. Static models of a world belong to the world, as what joints may be
fixed to.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.errors import ModelError, SdfError, UnsupportedJointError
from armdyn.io.options import DEFAULT_OPTIONS, LoadOptions, Reading, named_file
from armdyn.io.sdf.frames import (
    WORLD,
    Named,
    SdfDocuments,
    SdfFrames,
    bound,
    first,
    number,
    numbers,
    pose,
    scoped,
)
from armdyn.io.xml import Place, Problems, XmlElement, drake_rotor, note_elements
from armdyn.loops.choice import closed_tree
from armdyn.model import (
    GRAVITY,
    Connection,
    FrictionLaw,
    Inertia,
    JointSpring,
    Limits,
    Loop,
    Mimic,
    RobotModel,
    assemble,
)
from armdyn.model.cut_joints import CUT_JOINTS
from armdyn.model.edit import loop_between
from armdyn.model.joint_types import described_type
from armdyn.model.transform import frame_along, transform

AXES = dict.fromkeys(("revolute", "continuous", "prismatic", "screw"), 1)
AXES |= {"universal": 2, "revolute2": 2, "fixed": 0, "ball": 0}
"""How many axes each type has."""
SIMPLE = {"prismatic": "prismatic", "screw": "helical", "fixed": "fixed", "ball": "spherical"}
"""The type of the joints that a joint consists of; of others it is revolute."""
CUTS = ("revolute", "continuous", "prismatic", "ball", "fixed")
"""Types that can close a loop."""


@dataclass(frozen=True, slots=True, eq=False)
class SdfJoint:
    """A joint between two links."""

    element: XmlElement
    name: str
    type: str
    parent: str
    child: str
    place: Array
    """Its frame in that of the model, (4, 4)."""
    axes: tuple[Array, ...]
    """Its axes in its frame, (3,) each."""
    motions: tuple[dict[str, Any], ...]
    """Limits, friction and leader of each axis, as a `Connection` takes them."""
    springs: tuple[tuple[float, float], ...]
    """Stiffness [N m/rad or N/m] and reference [rad or m] of the spring of each axis, or 0."""
    pitch: float | None
    """Of a screw [m/rad]."""

    def connections(self, frames: dict[str, Array], reverse: bool) -> list[Connection]:
        """The joint, or the simple joints it consists of, from the parent to the child."""
        ends = (self.child, self.parent) if reverse else (self.parent, self.child)
        here = frozen(np.linalg.inv(frames[ends[0]]) @ self.place)
        kind = described_type(self.simple, self.pitch)
        parts = list(zip(self.axes, self.motions, strict=True))
        parts = [(-axis, motion) for axis, motion in reversed(parts)] if reverse else parts
        if len(parts) < 2:
            whole = Connection(self.name, kind, *ends, here)
            return [replace(whole, axis=axis, **motion) for axis, motion in parts] or [whole]
        middle = f"{self.name} between"
        return [
            Connection(f"{self.name}_1", kind, ends[0], middle, here, parts[0][0], **parts[0][1]),
            Connection(f"{self.name}_2", kind, middle, ends[1], axis=parts[1][0], **parts[1][1]),
        ]

    @property
    def simple(self) -> str:
        """The type of the joints that it consists of, and of the cut joint in its place."""
        return SIMPLE.get(self.type, "revolute")

    @property
    def cut_frame(self) -> Array:
        """Its frame in that of the model with z along its axis, (4, 4)."""
        return self.place @ transform(frame_along(self.axes[0]) if self.axes else None)


def joint_from_element(name: str, frames: SdfFrames, problems: Problems) -> SdfJoint | None:
    """A joint of the robot; None if there is a problem with it, or if it joins nothing of it."""
    named = frames.named[name]
    element, kind = named.element, named.element.attributes.get("type", "")
    joint = Place(element, f"joint {frames.short(name)!r}", problems)
    links = [frames.link_of(named.said(tag), element) for tag in ("parent", "child")]
    ends = [link for link in links if link is not None]
    if len(ends) < 2 or not any(map(frames.is_inside, ends)):
        return None
    if kind not in AXES:
        text = f"{joint.where} is of type {kind!r}; armdyn reads {', '.join(AXES)}"
        joint.add(text, UnsupportedJointError)
        return None
    for end in (end for end in ends if end != WORLD and not frames.is_inside(end)):
        joint.add(f"{joint.where} joins the robot with {end!r}, which is in another model")
        return None
    if ends[0] == ends[1]:
        joint.add(f"{joint.where} joins the link {frames.short(ends[0])!r} with itself")
        return None
    place = frames.place(name, element)
    axes, motions, springs = [], [], list[tuple[float, float]]()
    for tag in ("axis", "axis2")[: AXES[kind]]:
        axis = first(joint, tag)
        if axis is None:
            joint.add(f"{joint.where} of type {kind!r} has no <{tag}>")
            return None
        axes.append(_axis(axis, place, frames, named))
        motions.append(
            _motion(axis, kind, springs) | {"mimic": _mimic(first(axis, "mimic"), named, frames)}
        )
    inertia, ratio = (_value(joint, f"drake:{word}") for word in ("rotor_inertia", "gear_ratio"))
    if len(motions) == 1:
        motions[0]["rotor"] = drake_rotor(joint, inertia, ratio, motions[0]["limits"].effort)
    elif inertia:
        joint.warn("its rotor is left out: only a joint with one axis has one")
    return SdfJoint(
        element=element,
        name=frames.short(name),
        type=kind,
        parent=frames.short(ends[0]),
        child=frames.short(ends[1]),
        place=place,
        axes=tuple(axes),
        motions=tuple(motions),
        springs=tuple(springs),
        pitch=_pitch(joint) if kind == "screw" else None,
    )


def _axis(axis: Place, place: Array, frames: SdfFrames, named: Named) -> Array:
    """The unit vector of an axis in the frame of its joint."""
    along = first(axis, "xyz")
    values = None if along is None else numbers(along, 3)
    if along is None or values is None:
        return np.array([0.0, 0.0, 1.0])
    size = float(np.linalg.norm(values))
    if size < 1e-9:
        along.add(f"{axis.where}: the axis has no length")
        return np.array([0.0, 0.0, 1.0])
    name = along.attributes.get("expressed_in")
    R = place if not name else frames.place(named.absolute(name), along.element)
    return np.asarray(place[:3, :3].T @ R[:3, :3] @ np.array(values) / size)


def _motion(axis: Place, kind: str, springs: list[tuple[float, float]]) -> dict[str, Any]:
    limit = first(axis, "limit")
    dynamics = first(axis, "dynamics")
    where = axis.where
    ends = [bound(limit, tag) for tag in ("lower", "upper")]
    if kind == "continuous":
        ends = [-np.inf, np.inf]
    if ends[0] > ends[1]:
        axis.add(f"{where}: its lower limit {ends[0]:g} is above the upper, {ends[1]:g}")
        ends = [-np.inf, np.inf]
    felt = {tag: number(dynamics, tag) for tag in ("damping", "friction", "spring_stiffness")}
    for tag, value in felt.items():
        if value < 0:
            axis.add(f"{where}: <{tag}> cannot be negative, got {value:g}")
    viscous, dry, stiff = (max(value, 0.0) for value in felt.values())
    springs.append((stiff, number(dynamics, "spring_reference")))
    return {
        "limits": Limits(*ends, *(bound(limit, tag) for tag in ("velocity", "effort"))),
        "friction": FrictionLaw(viscous, dry, dry),
    }


def _value(joint: Place, tag: str) -> float | None:
    return number(joint, tag) if joint.element.all(tag) else None


def _mimic(mimic: Place | None, named: Named, frames: SdfFrames) -> Mimic | None:
    """q = multiplier (q_leader - reference) + offset."""
    if mimic is None:
        return None
    ratio = number(mimic, "multiplier", 1.0)
    offset = number(mimic, "offset") - ratio * number(mimic, "reference")
    leader = named.absolute(mimic.attributes.get("joint", ""))
    return Mimic(frames.short(leader), ratio, offset)


def _pitch(joint: Place) -> float:
    """Metres for each radian; the file has metres for each turn."""
    if first(joint, "screw_thread_pitch") is None:
        joint.add(
            f"{joint.where} has no <screw_thread_pitch>, the distance for a turn; what "
            "<thread_pitch> means differs from program to program"
        )
    return number(joint, "screw_thread_pitch", 1.0) / (2 * np.pi)


def spanning_tree(
    root: str, joints: Sequence[SdfJoint]
) -> tuple[list[tuple[SdfJoint, bool]], list[SdfJoint]]:
    """The joints of a tree from the root outward, each with whether it is passed from its child.

    Joints that cannot close a loop are taken first, then those that are passed from the parent, and
    of these the ones nearest to the root. What is left closes loops.
    """
    depth, left = {root: 0}, list(joints)
    found: list[tuple[SdfJoint, bool]] = []

    def cost(j: SdfJoint) -> tuple[bool, bool, int]:
        reverse = j.parent not in depth
        return j.type in CUTS, reverse, depth[j.child if reverse else j.parent]

    while True:
        ready = [j for j in left if (j.parent in depth) != (j.child in depth)]
        if not ready:
            return found, left
        joint = min(ready, key=cost)
        reverse = joint.parent not in depth
        near, far = (joint.child, joint.parent) if reverse else (joint.parent, joint.child)
        depth[far] = depth[near] + 1
        found.append((joint, reverse))
        left.remove(joint)


def read_sdf(path: Path, options: LoadOptions = DEFAULT_OPTIONS) -> Reading:
    """The robot in an SDF file, with what is odd about it.

    `damping` is viscous friction, `friction` is Coulomb friction in both directions.
    """
    if options.density is not None:
        raise ModelError(f"{path}: density is for URDF and TOML files; give links an <inertial>")
    problems = Problems(path, SdfError)
    root = SdfDocuments(problems, options.trusted).read(path)
    frames = SdfFrames(root, problems)
    frames.choose_robot(options.model)
    name = frames.robot
    links, joints = {}, []
    for full, named in frames.named.items():
        if named.element.tag == "link" and frames.is_inside(full):
            links[frames.short(full)] = full
        elif named.element.tag == "joint" and (frames.is_inside(full) or not named.scope):
            joints.append(joint_from_element(full, frames, problems))
    element, gravity = frames.named[name].element, _gravity(root, problems)
    for part in (root, *root.all("world"), element):
        note_elements(part, "SDF", problems, but=("sdf/world", "sdf/model", "world/model"))
    if not links:
        problems.add(element, f"the model {name!r} has no <link>")
    inertias = {
        short: _inertia(frames.named[x].element, short, problems) for short, x in links.items()
    }
    places = {short: frames.place(x, element) for short, x in links.items()} | {WORLD: np.eye(4)}
    problems.raise_if_any()
    reader = _Robot(path, inertias, [j for j in joints if j is not None], places)
    tool = _tool(reader, frames, options.tool, name)
    with named_file(path):
        model = assemble(
            element.attributes.get("name") or path.stem,
            reader.links,
            reader.connections,
            placements=reader.placements,
            tool=tool,
            base=places[reader.root],
            gravity=gravity,
            locked=options.locked,
        )
        moving = {joint.name for joint in model.joints}
        springs = tuple(spring for spring in reader.springs if dict(spring.ratios).keys() <= moving)
        model = replace(model, springs=springs)
        model = closed_tree(model, reader.loops(model), [np.zeros(len(model.joints))])
        held = options.fix_root or reader.root == WORLD or frames.named[name].static
        model = replace(model, floating=not held)
    return options.reading(path, model, problems.findings)


class _Robot:
    """Links and joints as `assemble` takes them, and the joints that close loops."""

    def __init__(
        self,
        path: Path,
        links: dict[str, Inertia],
        joints: list[SdfJoint],
        places: dict[str, Array],
    ):
        self.links, self.places = dict(links), places
        if any(WORLD in (j.parent, j.child) for j in joints):
            self.links = {WORLD: Inertia.zero(), **self.links}
        self.root = next(iter(self.links))
        if self.root != WORLD:
            children = {j.child for j in joints}
            self.root = next((name for name in links if name not in children), self.root)
        tree, self.cuts = spanning_tree(self.root, joints)
        self.connections: list[Connection] = []
        self.placements: dict[str, Array] = {}
        self.springs: list[JointSpring] = []
        for joint, reverse in tree:
            far = joint.parent if reverse else joint.child
            if reverse and joint.type == "ball":
                text = f"joint {joint.name!r} of type 'ball' leads from the link {joint.child!r}"
                text += f" back to {joint.parent!r}; exchange its <parent> and <child>"
                raise joint.element.refusal(UnsupportedJointError, text)
            made = joint.connections(places, reverse)
            self.links |= {c.child: Inertia.zero() for c in made[:-1]}
            self.connections += made
            axes = joint.springs[::-1] if reverse else joint.springs
            self.springs += [
                JointSpring(((each.name, 1.0),), stiffness, rest, f"{each.name} spring")
                for each, (stiffness, rest) in zip(made, axes, strict=False)
                if stiffness
            ]
            self.placements[far] = frozen(np.linalg.inv(joint.place) @ places[far])
        reached = {self.root, WORLD, *self.placements}
        for name in (name for name in self.places if name not in reached):
            raise SdfError(
                f"link {name!r} is joined to nothing that leads to {self.root!r}; a robot is one "
                "piece",
                file=path,
            )
        for joint in self.cuts:
            if joint.type not in CUTS:
                text = f"joint {joint.name!r} of type {joint.type!r} closes a loop; armdyn closes "
                text += f"loops by {', '.join(CUTS)}. Write it as simple joints with links between"
                raise joint.element.refusal(UnsupportedJointError, text)

    def loops(self, model: RobotModel) -> list[Loop]:
        """The joints that close loops, as cut joints."""
        found = []
        for joint in self.cuts:
            a, b = (
                (link, np.linalg.inv(self.places[link]) @ joint.cut_frame)
                for link in (joint.child, joint.parent)
            )
            found.append(loop_between(model, joint.name, CUT_JOINTS[joint.simple], a, b))
        return found


def _gravity(root: XmlElement, problems: Problems) -> Array:
    """The field in the world of a file."""
    for element in (g for world in root.all("world") for g in world.all("gravity")[:1]):
        values = numbers(Place(element, "the world", problems), 3)
        return GRAVITY if values is None else frozen(values)
    return GRAVITY


def _inertia(element: XmlElement, name: str, problems: Problems) -> Inertia:
    """The inertia of a link; what SDF gives a link that has none is 1 kg and 1 kg m²."""
    link = Place(element, f"link {name!r}", problems)
    inertial = first(link, "inertial")
    if inertial is None:
        link.warn("it has no <inertial>; SDF gives it 1 kg and 1 kg m²")
        return Inertia.from_com(1.0, np.zeros(3), np.eye(3))
    mass = number(inertial, "mass", 1.0)
    if mass < 0:
        inertial.add(f"{link.where}: <mass> cannot be negative, got {mass:g}")
    tensor, given = np.eye(3), first(inertial, "inertia")
    for i, j in zip(*np.triu_indices(3), strict=True):
        name = "i" + "xyz"[i] + "xyz"[j]
        tensor[i, j] = tensor[j, i] = number(given, name, float(i == j))
    T = pose(inertial)
    return Inertia.from_com(max(mass, 0.0), T[:3, 3], tensor, T[:3, :3])


def _tool(robot: _Robot, frames: SdfFrames, tool: str | None, model: str) -> str | None:
    """The link of the tool; one without mass is made for a frame."""
    full = scoped(model, tool or "")
    if tool is None or tool in robot.links or full not in frames.named:
        return tool
    user = frames.named[full].element
    link = frames.link_of(full, user)
    if link is not None:
        place = np.linalg.inv(robot.places[frames.short(link)]) @ frames.place(full, user)
        ends = frames.short(link), tool
        robot.connections.append(Connection(f"{tool} fixed", "fixed", *ends, frozen(place)))
        robot.links[tool] = Inertia.zero()
    return tool
