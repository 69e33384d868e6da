"""URDF files: links and joints in, one RobotModel out.

Inside <robot> the element

    <armdyn flange="LINK" gravity="x y z" title="..." source="..." note="..." reduced="true">
      <base xyz="..." rpy="..."/> <tool xyz="..." rpy="..."/>
    </armdyn>

says what URDF has no words for; the base is in the world, the tool in the frame of the flange.
Other programs skip it. `joint` and `link` describe those inside <joint> and <link>.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from armdyn.arrays import Array, frozen
from armdyn.errors import InertiaError, TopologyError, UrdfError
from armdyn.io.attributes import Problems
from armdyn.io.options import DEFAULT_OPTIONS, LoadOptions, Reading
from armdyn.io.urdf.check import check_names, check_root, moving_links_findings, root_link
from armdyn.io.urdf.joint import check_words, connection_from_element
from armdyn.io.urdf.link import UrdfLink, link_from_element
from armdyn.io.xml import XmlElement, read_xml
from armdyn.model import GRAVITY, Body, Connection, Frame, Inertia, Link, RobotModel, assemble
from armdyn.model.validate import Finding, physical_warnings

TEXTS = ("title", "source", "note")
"""What a robot says about itself, for people."""


@dataclass(frozen=True, slots=True, eq=False)
class _Description:
    """What a file says, before it becomes a robot."""

    name: str
    links: dict[str, UrdfLink]
    connections: list[Connection]
    own: XmlElement | None
    """The <armdyn> element of the robot."""
    gravity: Array
    base: Array
    tool: Array
    findings: list[Finding]


def read_urdf(path: Path, options: LoadOptions = DEFAULT_OPTIONS) -> Reading:
    """The robot in a URDF file, with what is odd about it.

    `damping` is viscous friction, `friction` is Coulomb friction in both directions.
    """
    description = _read(path, options.fix_root)
    own = description.own.attributes if description.own else {}
    flange = own.get("flange") if options.tool is None else options.tool
    try:
        model = assemble(
            description.name,
            {name: link.inertia or Inertia.zero() for name, link in description.links.items()},
            description.connections,
            tool=flange,
            tool_transform=description.tool if flange == own.get("flange") else None,
            base=description.base if options.base is None else options.base,
            gravity=description.gravity if options.gravity is None else options.gravity,
            locked=options.locked,
            source=own.get("source", ""),
            reduced=own.get("reduced") == "true",
        )
        model = replace(model, title=own.get("title", ""), note=own.get("note", ""))
        model = _restored(model, description.links)
        return model, (
            *description.findings,
            *moving_links_findings(model, description.links, options.physical),
            *physical_warnings(model, options.physical),
        )
    except TopologyError as error:
        raise TopologyError(f"{path}: {error}") from error
    except InertiaError as error:
        raise InertiaError(f"{path}: {error}", link=error.link) from error


def _read(path: Path, fix_root: bool) -> _Description:
    robot = read_xml(path, UrdfError)
    problems = Problems(path, UrdfError)
    check_root(robot, path)
    links = [link_from_element(element, problems) for element in robot.all("link")]
    root_name = root_link(robot)
    joints = [
        connection_from_element(element, problems, root_name, fix_root)
        for element in robot.all("joint")
    ]
    check_names(robot, problems)
    own = problems.only(robot, "armdyn", "the robot")
    if own is not None:
        check_words(own, ("flange", "gravity", "reduced", *TEXTS), "the robot", problems)
        if own.attributes.get("reduced", "true") not in ("true", "false"):
            given = own.attributes["reduced"]
            problems.add(own, f"reduced of <armdyn> is {given!r}; expected 'true' or 'false'")
    root = own or XmlElement("armdyn", {}, (), robot.line)
    description = _Description(
        robot.attributes.get("name") or path.stem,
        {link.name: link for link in links if link},
        [joint for joint in joints if joint],
        own,
        problems.vector(root, "gravity", "the robot", tuple(GRAVITY)),
        problems.origin(problems.only(root, "base", "the robot"), "the base"),
        problems.origin(problems.only(root, "tool", "the robot"), "the tool"),
        problems.findings,
    )
    problems.raise_if_any()
    return description


def _restored(model: RobotModel, links: Mapping[str, UrdfLink]) -> RobotModel:
    """The model with payloads marked as such and frames where their own words put them."""
    payloads = {link.name: link.payload for link in links.values() if link.payload is not None}
    places = {link.name: link.frame for link in links.values() if link.frame is not None}
    if not payloads and not places:
        return model

    def named(body: Body) -> Body:
        if body.name not in payloads:
            return body
        return replace(body, name=payloads[body.name], payload=True)

    def placed(frame: Frame) -> Frame:
        if frame.name not in places:
            return frame
        return replace(frame, placement=frozen(frame.placement @ places[frame.name]))

    def rebuilt(link: Link) -> Link:
        return Link(link.name, tuple(map(named, link.bodies)))

    return replace(
        model,
        links=tuple(map(rebuilt, model.links)),
        base_link=rebuilt(model.base_link),
        flange=placed(model.flange),
        frames=tuple(placed(frame) for frame in model.frames if frame.name not in payloads),
    )
