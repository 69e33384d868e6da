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

Other programs skip it. `joint` describes that inside <joint>.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.errors import ArmdynError, InertiaError, UrdfError
from armdyn.io.attributes import Place, Problems
from armdyn.io.elements import note_elements
from armdyn.io.options import DEFAULT_OPTIONS, LoadOptions, Reading, named_file
from armdyn.io.shapes import density_findings
from armdyn.io.urdf.geometry import MAX_MESHES_BYTES, NOT_READ, MeshReader, link_pieces
from armdyn.io.urdf.joint import actuators_by_joint, check_words, connection_from_element
from armdyn.io.urdf.macros import read_robot
from armdyn.io.xml import XmlElement
from armdyn.model import GRAVITY, Frame, Inertia, Link, RobotModel, assemble
from armdyn.model.validate import Finding, Physical, physical_warnings

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
    with named_file(path):
        model = assemble(
            robot.attributes.get("name") or path.stem,
            {name: link.inertia or Inertia.zero() for name, link in links.items()},
            list(filter(None, joints)),
            tool=flange,
            tool_transform=tool if flange == words.get("flange") else None,
            base=base if options.base is None else options.base,
            gravity=gravity if options.gravity is None else options.gravity,
            locked=options.locked,
            source=words.get("source", ""),
            reduced=words.get("reduced") == "true",
        )
        model = replace(model, title=words.get("title", ""), note=words.get("note", ""))
        model = _restored(model, links)
        return model, (
            *problems.findings,
            *density_findings(str(path), options.density, filled),
            *moving_links_findings(model, links, options.physical),
            *physical_warnings(model, options.physical),
        )


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


def _restored(model: RobotModel, links: Mapping[str, UrdfLink]) -> RobotModel:
    """The model with payloads marked as such and frames where their own words put them."""
    payloads = {link.name: link.payload for link in links.values() if link.payload is not None}
    places = {link.name: link.frame for link in links.values() if link.frame is not None}
    if not payloads and not places:
        return model

    def placed(frame: Frame) -> Frame:
        if frame.name not in places:
            return frame
        return replace(frame, placement=frozen(frame.placement @ places[frame.name]))

    def rebuilt(link: Link) -> Link:
        bodies = (
            replace(body, name=payloads[body.name], payload=True) if body.name in payloads else body
            for body in link.bodies
        )
        return Link(link.name, tuple(bodies))

    return replace(
        model,
        links=tuple(map(rebuilt, model.links)),
        base_link=rebuilt(model.base_link),
        flange=placed(model.flange),
        frames=tuple(placed(frame) for frame in model.frames if frame.name not in payloads),
    )


def with_world(robot: XmlElement, problems: Problems) -> XmlElement:
    """The robot with the link "world", where joints are mounted on it and it was forgotten."""
    names = {link.attributes.get("name") for link in robot.all("link")}
    mounted = [joint for joint in robot.all("joint") if _link_of(joint, "parent") == WORLD]
    if not mounted or WORLD in names:
        return robot
    text = f"its parent {WORLD!r} is no link of this robot; it is taken for a fixed root"
    problems.warn(mounted[0], f"joint {mounted[0].attributes.get('name')!r}", text)
    world = XmlElement("link", {"name": WORLD}, (), robot.line)
    return replace(robot, children=(world, *robot.children))


def check_root(robot: XmlElement, path: Path) -> None:
    """Refuse files that are no URDF, and robots without links or with too many."""
    if robot.tag != "robot":
        known = {"mujoco": "this is MJCF; name it .xml", "sdf": "this is SDF; convert it to URDF"}
        raise UrdfError(
            f"expected <robot> as the outermost element of a URDF file, got <{robot.tag}>"
            + (f": {known[robot.tag]}" if robot.tag in known else ""),
            file=path,
            line=robot.line,
        )
    if not robot.all("link"):
        raise UrdfError("there is no <link> in this robot", file=path, line=robot.line)
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
    """Each joint that moves none of the given bodies, with its link."""
    loaded: set[int] = set()
    for i, joint in reversed(list(enumerate(model.joints))):
        if i in loaded or any(body.name in given for body in model.links[i].bodies):
            loaded.add(joint.parent)
        else:
            yield joint.name, model.links[i].name
