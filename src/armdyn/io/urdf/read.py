"""URDF files: links and joints in, one RobotModel out.

Inside <robot> the element

    <armdyn flange="LINK" gravity="x y z" title="..." source="..." note="..." reduced="true">
      <base xyz="..." rpy="..."/> <tool xyz="..." rpy="..."/>
    </armdyn>

says what URDF has no words for; the base is in the world, the tool in the frame of the flange.
Inside <link> it may have

    payload="NAME"                  the link is a payload of that name, which can be put down
    <frame xyz="..." rpy="..."/>    the frame that the robot means by the name of this link
    <inertia mass="..." first_moment="x y z" moment="xx xy xz yx yy yz zx zy zz"/>
                                    the inertia about the origin of the link, for reduced sets
                                    that no mass and centre of mass describe

Inside <joint>,

    <armdyn rotor_inertia="..." gear_ratio="..." rotor_axis="..." rotor_carrier="..."
        transmission_stiffness="..." transmission_damping="..." friction_side="..."
        coulomb_negative="..." stribeck="..."
            stribeck_velocity="..." smooth_velocity="..." offset="..." viscous_negative="..."
            power="..." power_exponent="..." continuous_effort="..."/>

adds what <limit> and <dynamics> cannot say; damping and friction are for both directions, or for
the positive one where the negative one is given. Other programs skip it.
"""

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import ArmdynError, InertiaError, ModelError, UnsupportedJointError, UrdfError
from armdyn.io.closing import closed_by_pairs, loops_beside, retyped
from armdyn.io.keys import (
    ROTOR,
    TRANSMISSION,
    density_findings,
    missing,
    rotor_from_keys,
    transmission_from_keys,
)
from armdyn.io.options import DEFAULT_OPTIONS, LoadOptions, Reading, named_file
from armdyn.io.urdf.geometry import MAX_MESHES_BYTES, NOT_READ, MeshReader, link_pieces
from armdyn.io.urdf.macros import read_robot
from armdyn.io.xml import Place, Problems, XmlElement, drake_rotor, note_elements
from armdyn.model import (
    GRAVITY,
    Connection,
    FrictionLaw,
    Inertia,
    Limits,
    Mimic,
    RobotModel,
    Rotor,
    Transmission,
    assemble,
)
from armdyn.model.friction import PARAMETERS
from armdyn.model.joint_types import DESCRIBED_TYPES, FIXED, CompoundType, JointType
from armdyn.model.link import Body, LinkParts
from armdyn.model.transform import IDENTITY
from armdyn.model.validate import Finding, Physical

KINDS = {word: kind for kind in DESCRIBED_TYPES.values() for word in kind.urdf}
FLOATING = "floating"
"""The type of a joint that holds nothing."""
FREE = (FLOATING, "planar")
"""Types that may attach the root of a robot to the world."""
UNLIMITED = sys.float_info.max
"""Stands for infinity in a limit, which URDF must write as a finite number."""
DYNAMICS = {"damping": "viscous", "friction": "coulomb_positive"}
"""Parameters of friction that are attributes of <dynamics>; the others are armdyn's own words."""
FRICTION_WORDS = tuple(
    name for name in PARAMETERS if name not in (*DYNAMICS.values(), "viscous_positive")
)
DRAKE = ("drake:rotor_inertia", "drake:gear_ratio")
"""Elements of an <actuator>."""
JOINT_WORDS = (*ROTOR, *TRANSMISSION, "continuous_effort", *FRICTION_WORDS)


def connection_from_element(
    element: XmlElement,
    problems: Problems,
    root: str | None,
    fix_root: bool,
    actuators: Mapping[str, Sequence[Place]],
) -> Connection | None:
    """The joint, or None if it cannot be told; what is wrong goes to `problems`.

    With `fix_root`, floating and planar joints on the one link `root` are taken as fixed.
    """
    name = Place(element, "a joint", problems).text("name")
    if name is None:
        return None
    joint = Place(element, f"joint {name!r}", problems)
    found = map(joint.needed, ("parent", "child"))
    ends = [None if end is None else end.text("link") for end in found]
    kind = _kind(joint, ends[0], root, fix_root)
    placement = joint.origin()
    if kind is None or not ends[0] or not ends[1]:
        return None
    bare = Connection(name, kind, ends[0], ends[1], placement)
    if not isinstance(kind, JointType) or kind is FIXED:
        for actuator in actuators.get(name, ()):
            actuator.warn("its rotor is left out: only a joint with one axis has one")
    if kind is FIXED:
        return bare
    if isinstance(kind, CompoundType):
        return _compound(joint, bare)
    own = joint.only("armdyn")
    if own is not None:
        check_words(own, JOINT_WORDS)
    limits = _limits(joint, own)
    rotor = _rotor(joint, own, actuators.get(name, ()), limits.effort)
    return replace(
        bare,
        axis=_axis(joint),
        limits=limits,
        friction=_friction(joint, own),
        rotor=rotor,
        mimic=_mimic(joint),
        transmission=Transmission() if own is None else _transmission(own, rotor),
    )


def _compound(joint: Place, bare: Connection) -> Connection:
    """A joint with several coordinates, for which URDF has one number of each kind at the most."""
    for tag in ("limit", "dynamics", "armdyn"):
        if (child := joint.only(tag)) is not None:
            child.warn(f"<{tag}> of a joint that turns and slides has no one unit and is left out")
    if (mimic := joint.only("mimic")) is not None:
        mimic.add(f"{joint.where} has several coordinates and cannot mimic another joint")
    return replace(bare, axis=_axis(joint))


def check_words(own: Place, words: tuple[str, ...]) -> None:
    """Note every attribute of an <armdyn> element that is none of its words."""
    for key in own.attributes:
        if key not in words:
            known = ", ".join(words)
            own.add(f"{own.where}: <armdyn> has no attribute {key!r}; it knows {known}")


def _kind(
    joint: Place, parent: str | None, root: str | None, fix_root: bool
) -> JointType | CompoundType | None:
    """The type of a joint; one that attaches the root to the world may be taken as fixed."""
    given, on_root = joint.text("type"), root is not None and parent == root
    if given in FREE and on_root and fix_root:
        return FIXED
    if given is None or given in KINDS:
        return None if given is None else KINDS[given]
    if given in FREE and on_root:
        advice = (
            f"A base that floats is alone on its root, but {root!r} carries others too: pass "
            "fix_root=True (--fix-root) to fix it"
        )
    elif given in FREE:
        other = f"its parent is {parent!r} and the root is {root!r}"
        advice = (
            "Only on the root link could it be taken as fixed, with fix_root=True (--fix-root), "
            f"but {other if root else 'this file has no single root link'}"
        )
    else:
        advice = "There is no such type in URDF"
    known = ", ".join(KINDS)
    text = f"{joint.where} is of type {given!r}; armdyn handles {known}. {advice}"
    joint.add(text, UnsupportedJointError)
    return None


def _axis(joint: Place) -> Array:
    place = joint.only("axis") or joint
    axis = place.vector("xyz", default=(1.0, 0.0, 0.0))
    length = math.hypot(*axis)
    if length < 1e-9:
        place.add(f"{joint.where}: the axis {axis.tolist()} has no direction")
    elif abs(length - 1.0) > 1e-3:
        place.warn(
            f"the axis {axis.tolist()} has the length {length:.6g} instead of 1; only its "
            "direction is used"
        )
    return axis


def _limits(joint: Place, own: Place | None) -> Limits:
    limit = joint.only("limit")
    continuous = math.inf if own is None else own.number("continuous_effort", math.inf, least=0.0)
    if limit is None:
        return Limits(continuous_effort=continuous)
    lower, upper = -math.inf, math.inf
    if joint.attributes["type"] != "continuous" and {"lower", "upper"} & set(limit.attributes):
        lower, upper = (_limitless(limit.number(key, default=0.0)) for key in ("lower", "upper"))
    if lower > upper:
        limit.warn(f"the lower limit {lower:g} is above the upper {upper:g}; both are left out")
        lower, upper = -math.inf, math.inf
    velocity, effort = (
        _limitless(limit.number(key, default=math.inf, least=0.0)) for key in ("velocity", "effort")
    )
    return Limits(lower, upper, velocity, effort, continuous)


def _limitless(value: float) -> float:
    return math.copysign(math.inf, value) if abs(value) >= UNLIMITED else value


def _friction(joint: Place, own: Place | None) -> FrictionLaw:
    values: dict[str, float] = {}
    own_words = dict(zip(FRICTION_WORDS, FRICTION_WORDS, strict=True))
    for place, names in ((joint.only("dynamics"), DYNAMICS), (own, own_words)):
        for key, name in names.items():
            if place is not None and key in place.attributes:
                least = -math.inf if PARAMETERS[name].signed else 0.0
                given = place.number(key, default=0.0, least=least)
                values[name] = _limitless(max(given, least))
    if "viscous_negative" in values:
        values["viscous_positive"] = values.pop("viscous", 0.0)
    law = FrictionLaw(**{"coulomb_negative": values.get("coulomb_positive", 0.0)} | values)
    fault = law.fault or missing(law, values)
    if fault:
        (own or joint).add(f"{joint.where}: {fault}")
    return law


def actuators_by_joint(robot: XmlElement, problems: Problems) -> dict[str, list[Place]]:
    """The actuators of <transmission> that have Drake's elements, by the joint that they drive."""
    actuators: dict[str, list[Place]] = {}
    for transmission in robot.all("transmission"):
        joint = next((x.attributes.get("name", "") for x in transmission.all("joint")), "")
        for actuator in transmission.all("actuator"):
            if any(x.tag in DRAKE for x in actuator.children):
                place = Place(actuator, f"joint {joint!r}", problems)
                actuators.setdefault(joint, []).append(place)
    names = {joint.attributes.get("name") for joint in robot.all("joint")}
    for place in (places[0] for joint, places in actuators.items() if joint not in names):
        place.warn("it is no joint of this robot; its actuator is left out")
    return actuators


def _rotor(joint: Place, own: Place | None, actuators: Sequence[Place], effort: float) -> Rotor:
    """What turns with the joint: the rotor of <armdyn> and those of actuators."""
    rotors = []
    for place in actuators:
        inertia, ratio = (x.number("value") if x else None for x in map(place.only, DRAKE))
        rotors.append(drake_rotor(place, inertia, ratio, effort))
    if own is not None:
        least = max(own.number("rotor_inertia", default=0.0, least=0.0), 0.0)
        given: dict[str, Any] = {"rotor_inertia": least}
        if "gear_ratio" in own.attributes:
            given["gear_ratio"] = own.number("gear_ratio")
        if "rotor_axis" in own.attributes:
            given["rotor_axis"] = own.vector("rotor_axis")
        if "rotor_carrier" in own.attributes:
            given["rotor_carrier"] = own.attributes["rotor_carrier"]
        try:
            rotors.insert(0, rotor_from_keys(own.where, given))
        except ModelError as fault:
            own.add(str(fault))
    heavy = [rotor for rotor in rotors if rotor.inertia]
    if len(heavy) > 1:
        joint.warn(
            f"it has {len(heavy)} rotors; what they add to its inertia is summed up, and that they "
            "spin is left out"
        )
        return Rotor(sum(rotor.reflected for rotor in heavy))
    return (heavy or rotors or [Rotor()])[0]


def _transmission(own: Place, rotor: Rotor) -> Transmission:
    """What gives between motor and link."""
    given: dict[str, Any] = {k: own.number(k) for k in TRANSMISSION[:2] if k in own.attributes}
    given |= {k: own.attributes[k] for k in TRANSMISSION[2:] if k in own.attributes}
    try:
        return transmission_from_keys(own.where, given, rotor)
    except ModelError as fault:
        own.add(str(fault))
        return Transmission()


def _mimic(joint: Place) -> Mimic | None:
    mimic = joint.only("mimic")
    leader = None if mimic is None else mimic.text("joint")
    if mimic is None or leader is None:
        return None
    ratio = mimic.number("multiplier", default=1.0)
    offset = mimic.number("offset", default=0.0)
    return Mimic(leader, ratio, offset)


TEXTS = ("title", "source", "note")
"""What a robot says about itself, for people."""
MAX_LINKS = 5000
"""Most links or joints in one robot."""
WORLD = "world"
"""What a joint may name as its parent though there is no such link."""


@dataclass(frozen=True, slots=True, eq=False)
class UrdfLink:
    """What a <link> says that matters to dynamics."""

    name: str
    inertia: Inertia | None
    """Its inertia in its own frame; None where the file gives none."""
    payload: str | None = None
    """Name of the payload that it stands for."""
    frame: Array | None = None
    """The frame that its name means, in the frame of the link, shape (4, 4); None: the same."""

    @property
    def parts(self) -> LinkParts:
        """Its body and its frame; a payload, which can be put down, has a body alone."""
        inertia, place = self.inertia or Inertia.zero(), self.frame
        if self.payload is not None:
            return LinkParts((Body(self.payload, inertia, payload=True),), ())
        return LinkParts(
            (Body(self.name, inertia),), ((self.name, IDENTITY if place is None else place),)
        )


def link_from_element(element: XmlElement, problems: Problems) -> UrdfLink | None:
    """The link, or None if it has no name; what is wrong goes to `problems`."""
    name = Place(element, "a link", problems).text("name")
    if name is None:
        return None
    link = Place(element, f"link {name!r}", problems)
    inertial = link.only("inertial")
    inertia = None if inertial is None else _inertia(inertial)
    own = link.only("armdyn")
    if own is None:
        return UrdfLink(name, inertia)
    check_words(own, ("payload",))
    exact = own.only("inertia")
    if exact is not None:
        mass, first = exact.number("mass"), exact.vector("first_moment")
        moment = np.reshape(exact.vector("moment", default=(0.0,) * 9), (3, 3))
        inertia = Inertia.from_origin(mass, first, moment)
    frame = own.origin("frame") if own.element.all("frame") else None
    return UrdfLink(name, inertia, own.attributes.get("payload"), frame)


def _inertia(inertial: Place) -> Inertia:
    mass, tensor = inertial.needed("mass"), inertial.needed("inertia")
    T = inertial.origin()
    if mass is None or tensor is None:
        return Inertia.zero()
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    xx, xy, xz, yy, yz, zz = map(tensor.number, keys)
    I = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    return Inertia.from_com(mass.number("value"), T[:3, 3], I, T[:3, :3])


def read_urdf(path: Path, options: LoadOptions = DEFAULT_OPTIONS) -> Reading:
    """The robot in a URDF file, with what is odd about it.

    `damping` is viscous friction, `friction` is Coulomb friction in both directions.
    """
    problems = Problems(path, UrdfError)
    robot = read_robot(path, problems, options.trusted)
    check_root(robot, problems.file)
    note_elements(robot, "URDF", problems)
    robot = with_world(robot, problems)
    robot, floats = (robot, None) if options.fix_root else without_floating_root(robot, problems)
    found = [link_from_element(element, problems) for element in robot.all("link")]
    links = {link.name: link for link in found if link}
    links, filled = with_inertia_from_geometry(links, robot, options, problems)
    root = root_link(robot)
    actuators = actuators_by_joint(robot, problems)
    joints = [
        connection_from_element(element, problems, root, options.fix_root, actuators)
        for element in robot.all("joint")
    ]
    check_names(robot, problems)
    own = _own_words(robot, problems)
    gravity = own.vector("gravity", tuple(GRAVITY))
    base, tool = own.origin("base"), own.origin("tool")
    problems.raise_if_any()
    words = own.attributes
    flange = words.get("flange") if options.tool is None else options.tool
    loops = loops_beside(options.loops)
    connections = retyped(list(filter(None, joints)), loops)
    with named_file(path):
        model = assemble(
            robot.attributes.get("name") or path.stem,
            {name: link.parts for name, link in links.items()},
            connections,
            tool=flange,
            tool_transform=tool if flange == words.get("flange") else None,
            base=base if floats is None else base @ floats,
            gravity=gravity,
            locked=options.locked,
            source=words.get("source", ""),
            reduced=words.get("reduced") == "true",
        )
        model = replace(
            model,
            title=words.get("title", ""),
            note=words.get("note", ""),
            floating=floats is not None,
        )
        if options.loops is not None:
            ends = {c.name: c.child for c in connections}
            model = closed_by_pairs(model, loops, ends, options.coordinates)
        findings = (
            *problems.findings,
            *density_findings(str(path), options.density, filled),
            *moving_links_findings(model, links, options.physical),
        )
    return options.reading(path, model, findings)


def with_inertia_from_geometry(
    links: dict[str, UrdfLink], robot: XmlElement, options: LoadOptions, problems: Problems
) -> tuple[dict[str, UrdfLink], list[str]]:
    """The links with the inertia of their geometry where they have none, and which these are.

    <collision> goes before <visual>. Without a density there are none.
    """
    density = options.density
    if density is None:
        return links, []
    filled, names = dict(links), []
    limit = MAX_MESHES_BYTES if options.trusted else NOT_READ
    meshes = MeshReader(limit, "all" if options.hull else "none")
    folder = problems.file.parent.resolve()
    for element in robot.all("link"):
        link = links.get(element.attributes.get("name", ""))
        if link is None or link.inertia is not None:
            continue
        body = Inertia.zero()
        for piece in link_pieces(element, folder, problems, ("collision", "visual")):
            try:
                body = body + meshes.body(piece, density)
            except ArmdynError as error:
                text = f"link {link.name!r}: its <{piece.element.tag}> has no inertia: {error}"
                problems.add(piece.shape, text)
        if not body.is_zero:
            filled[link.name] = replace(link, inertia=body)
            names.append(f"link {link.name!r} ({body.mass:.4g} kg)")
    return filled, names


def _own_words(robot: XmlElement, problems: Problems) -> Place:
    """The <armdyn> element of the robot, an empty one if there is none."""
    own = Place(robot, "the robot", problems).only("armdyn")
    if own is None:
        return Place(XmlElement("armdyn", {}, (), robot.line), "the robot", problems)
    check_words(own, ("flange", "gravity", "reduced", *TEXTS))
    given = own.attributes.get("reduced", "true")
    if given not in ("true", "false"):
        own.add(f"reduced of <armdyn> is {given!r}; expected 'true' or 'false'")
    return own


def with_world(robot: XmlElement, problems: Problems) -> XmlElement:
    """The robot with the link "world", where joints are mounted on it and it was forgotten."""
    names = {link.attributes.get("name") for link in robot.all("link")}
    mounted = [joint for joint in robot.all("joint") if _link_of(joint, "parent") == WORLD]
    if not mounted or WORLD in names:
        return robot
    text = f"its parent {WORLD!r} is no link of this robot; it is taken for the world"
    problems.warn(mounted[0], f"joint {mounted[0].attributes.get('name')!r}", text)
    world = XmlElement("link", {"name": WORLD}, (), robot.line)
    return replace(robot, children=(world, *robot.children))


def without_floating_root(robot: XmlElement, problems: Problems) -> tuple[XmlElement, Array | None]:
    """The robot without a root that carries one link, on a floating joint, and where that is.

    The root stands for the world there. None: the base does not float.
    """
    root = root_link(robot)
    on_root = [joint for joint in robot.all("joint") if _link_of(joint, "parent") == root]
    if root is None or [x.attributes.get("type") for x in on_root] != [FLOATING]:
        return robot, None
    place = Place(on_root[0], f"joint {on_root[0].attributes.get('name')!r}", problems).origin()
    gone = [*on_root, *(x for x in robot.all("link") if x.attributes.get("name") == root)]
    kept = (x for x in robot.children if not any(x is other for other in gone))
    return replace(robot, children=tuple(kept)), place


def check_root(robot: XmlElement, path: Path) -> None:
    """Refuse files that are no URDF, and robots without links or with too many."""
    if robot.tag != "robot":
        known = {"mujoco": "this is MJCF; name it .xml", "sdf": "this is SDF; convert it to URDF"}
        text = f"expected <robot> as the outermost element of a URDF file, got <{robot.tag}>"
        text += f": {known[robot.tag]}" if robot.tag in known else ""
        raise robot.refusal(UrdfError, text)
    if not robot.all("link"):
        raise robot.refusal(UrdfError, "there is no <link> in this robot")
    if max(len(robot.all("link")), len(robot.all("joint"))) > MAX_LINKS:
        raise UrdfError(f"there are more than {MAX_LINKS} links or joints", file=path)


def _link_of(joint: XmlElement, end: str) -> str:
    """The link that a joint names as its parent or child."""
    return next((e.attributes.get("link", "") for e in joint.all(end)), "")


def root_link(robot: XmlElement) -> str | None:
    """Name of the one link that is no joint's child; None if there are several or none."""
    children = {_link_of(joint, "child") for joint in robot.all("joint")}
    names = [link.attributes.get("name") for link in robot.all("link")]
    roots = [name for name in names if name not in children]
    return roots[0] if len(roots) == 1 else None


def check_names(robot: XmlElement, problems: Problems) -> None:
    """Names used twice, of links and joints that are not there, and leaders that do not move."""
    links, joints = robot.all("link"), robot.all("joint")
    for elements in (links, joints):
        first: dict[str, int] = {}
        for element in elements:
            name = element.attributes.get("name", "")
            if name in first:
                problems.add(
                    element,
                    f"{element.tag} {name!r} is already defined in line {first[name]}; "
                    "give each its own name",
                )
            first.setdefault(name, element.line)
    if all(joint.attributes.get("type") == "fixed" for joint in joints):
        problems.add(robot, "no joint moves, so this robot has no dynamics")
    link_names = {link.attributes.get("name", "") for link in links}
    kinds = {joint.attributes.get("name", ""): joint.attributes.get("type") for joint in joints}
    for joint in joints:
        where = f"joint {joint.attributes.get('name')!r}"
        for end in ("parent", "child"):
            link = _link_of(joint, end)
            if link and link not in link_names:
                problems.add(joint, f"{where}: its {end} {link!r} is no link of this robot")
        for mimic in joint.all("mimic"):
            leader = mimic.attributes.get("joint", "")
            if leader and leader not in kinds:
                problems.add(mimic, f"{where} mimics {leader!r}, which is no joint of this robot")
            elif kinds.get(leader) == "fixed" and joint.attributes.get("type") != "fixed":
                problems.add(mimic, f"{where} mimics {leader!r}, which is fixed; make it fixed too")
    for own in robot.all("armdyn"):
        flange = own.attributes.get("flange")
        if flange is not None and flange not in link_names:
            problems.add(own, f"the flange {flange!r} is no link of this robot")


def moving_links_findings(
    model: RobotModel, links: Mapping[str, UrdfLink], physical: Physical
) -> Iterator[Finding]:
    """Joints that move nothing for which the file gives an inertia; refused if that is wanted."""
    given = {link.payload or link.name for link in links.values() if link.inertia is not None}
    for joint, link in _unloaded(model, given):
        text = (
            f"joint {joint!r} moves link {link!r}, but neither that link nor any link it carries "
            "has an <inertial>: its torque would be zero. Add the <inertial>, lock the joint on "
            "loading, or pass density=... (--density), which takes it from the geometry"
        )
        if not given:
            text = (
                "no link of this robot has an <inertial>, so that every torque would be zero. Add "
                "them: mass, centre of mass and tensor; or pass density=... (--density), which "
                "takes them from the geometry"
            )
        if physical == "warn":
            yield Finding("warning", f"joint {joint!r}", text)
        elif physical == "error":
            raise InertiaError(
                f"{text}, or pass physical='warn' (--physical warn) to compute without it",
                link=link,
            )
        if not given:
            return


def _unloaded(model: RobotModel, given: set[str]) -> Iterator[tuple[str, str]]:
    """Each joint that moves none of the given bodies and follows no loop, with its link."""
    loaded: set[int] = set()
    for i, joint in reversed(list(enumerate(model.joints))):
        if i in loaded or any(body.name in given for body in model.links[i].bodies):
            loaded.add(joint.parent)
        elif joint.actuated:
            yield joint.name, model.links[i].name
