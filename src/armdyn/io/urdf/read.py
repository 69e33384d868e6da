"""URDF files: links and joints in, one RobotModel out.

Inside <robot> the element

    <armdyn flange="LINK" gravity="x y z" title="..." source="..." note="..." reduced="true">
      <base xyz="..." rpy="..."/> <tool xyz="..." rpy="..."/>
    </armdyn>

says what URDF has no words for; the base is in the world, the tool in the frame of the flange.
Other programs skip it. `joint` and `link` describe those inside <joint> and <link>.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from armdyn.arrays import frozen
from armdyn.errors import InertiaError, TopologyError, UrdfError
from armdyn.io.attributes import Problems
from armdyn.io.options import DEFAULT_OPTIONS, LoadOptions, Reading
from armdyn.io.shapes import density_findings
from armdyn.io.urdf.check import (
    check_names,
    check_root,
    moving_links_findings,
    note_skipped,
    root_link,
    with_world,
)
from armdyn.io.urdf.joint import check_words, connection_from_element
from armdyn.io.urdf.link import UrdfLink, link_from_element
from armdyn.io.urdf.link_geometry import with_inertia_from_geometry
from armdyn.io.urdf.macros import read_robot
from armdyn.io.xml import XmlElement
from armdyn.model import GRAVITY, Body, Frame, Inertia, Link, RobotModel, assemble
from armdyn.model.validate import physical_warnings

TEXTS = ("title", "source", "note")
"""What a robot says about itself, for people."""


def read_urdf(path: Path, options: LoadOptions = DEFAULT_OPTIONS) -> Reading:
    """The robot in a URDF file, with what is odd about it.

    `damping` is viscous friction, `friction` is Coulomb friction in both directions.
    """
    problems = Problems(path, UrdfError)
    robot = read_robot(path, problems, options.trusted)
    check_root(robot, problems.file)
    note_skipped(robot, problems)
    robot = with_world(robot, problems)
    found = [link_from_element(element, problems) for element in robot.all("link")]
    links = {link.name: link for link in found if link}
    links, filled = with_inertia_from_geometry(links, robot, options, problems)
    root = root_link(robot)
    joints = [
        connection_from_element(element, problems, root, options.fix_root)
        for element in robot.all("joint")
    ]
    check_names(robot, problems)
    own = _own_words(robot, problems)
    gravity = problems.vector(own, "gravity", "the robot", tuple(GRAVITY))
    base = problems.origin(problems.only(own, "base", "the robot"), "the base")
    tool = problems.origin(problems.only(own, "tool", "the robot"), "the tool")
    problems.raise_if_any()
    words = own.attributes
    flange = words.get("flange") if options.tool is None else options.tool
    try:
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
    except TopologyError as error:
        raise TopologyError(f"{path}: {error}") from error
    except InertiaError as error:
        raise InertiaError(f"{path}: {error}", link=error.link) from error


def _own_words(robot: XmlElement, problems: Problems) -> XmlElement:
    """The <armdyn> element of the robot, an empty one if there is none."""
    own = problems.only(robot, "armdyn", "the robot")
    if own is None:
        return XmlElement("armdyn", {}, (), robot.line)
    check_words(own, ("flange", "gravity", "reduced", *TEXTS), "the robot", problems)
    if own.attributes.get("reduced", "true") not in ("true", "false"):
        given = own.attributes["reduced"]
        problems.add(own, f"reduced of <armdyn> is {given!r}; expected 'true' or 'false'")
    return own


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
