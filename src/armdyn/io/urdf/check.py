"""Checks of a URDF file as a whole: is it one, are its names right, does it say what moves."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from armdyn.errors import InertiaError, UrdfError
from armdyn.io.attributes import Problems
from armdyn.io.urdf.link import UrdfLink
from armdyn.io.xml import XmlElement
from armdyn.model import RobotModel
from armdyn.model.validate import Finding, Physical

MAX_LINKS = 5000
"""Most links or joints in one robot."""
WORLD = "world"
"""What a joint may name as its parent though there is no such link."""
KNOWN_ELEMENTS = {
    "robot": "link joint material transmission gazebo sensor ros2_control armdyn",
    "link": "inertial visual collision armdyn",
    "joint": "parent child origin axis limit dynamics mimic calibration safety_controller armdyn",
    "inertial": "origin mass inertia",
}
"""What each element of a URDF may have in it; anything else is skipped."""


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


def note_skipped(robot: XmlElement, problems: Problems) -> None:
    """Note the elements that no part of URDF knows; one much like a known one is warned of."""
    noted: set[tuple[str, str]] = set()
    parts = [robot, *robot.all("link"), *robot.all("joint")]
    for part in [*parts, *(i for link in robot.all("link") for i in link.all("inertial"))]:
        known = KNOWN_ELEMENTS[part.tag].split()
        for element in part.children:
            if element.tag in known or (part.tag, element.tag) in noted:
                continue
            noted.add((part.tag, element.tag))
            meant = get_close_matches(element.tag, known, n=1, cutoff=0.8)
            text = f"<{element.tag}> is no element of URDF and is skipped"
            text += f"; is <{meant[0]}> meant?" if meant else ""
            problems.warn(element, f"<{part.tag}>", text, "warning" if meant else "note")


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
    """Names used twice, and names of links and joints that are not there."""
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
    for joint in joints:
        where = f"joint {joint.attributes.get('name')!r}"
        for end in ("parent", "child"):
            link = _link_of(joint, end)
            if link and link not in link_names:
                problems.add(joint, f"{where}: its {end} {link!r} is no link of this robot")
    for own in robot.all("armdyn"):
        flange = own.attributes.get("flange")
        if flange is not None and flange not in link_names:
            problems.add(own, f"the flange {flange!r} is no link of this robot")
    _check_leaders(joints, problems)


def _check_leaders(joints: tuple[XmlElement, ...], problems: Problems) -> None:
    """Joints that follow one that is not there, or that does not move."""
    kinds = {joint.attributes.get("name", ""): joint.attributes.get("type") for joint in joints}
    for joint in joints:
        where = f"joint {joint.attributes.get('name')!r}"
        for mimic in joint.all("mimic"):
            leader = mimic.attributes.get("joint", "")
            if leader and leader not in kinds:
                problems.add(mimic, f"{where} mimics {leader!r}, which is no joint of this robot")
            elif kinds.get(leader) == "fixed" and joint.attributes.get("type") != "fixed":
                problems.add(mimic, f"{where} mimics {leader!r}, which is fixed; make it fixed too")


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
