"""SDF files: one model of links and joints in, one RobotModel out.

Links stand where the file puts them where all joints are at zero, and a joint that closes a loop in
the graph of the joints becomes a cut joint there. A model that is not fixed to the world is held by
its first link. Nothing else is read: no other files, no worlds of several models, no plugins.
"""

import re
from pathlib import Path

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.errors import ModelError, SdfError, UnsupportedJointError
from armdyn.io.attributes import Place, Problems
from armdyn.io.closing import closed_tree
from armdyn.io.options import DEFAULT_OPTIONS, LoadOptions, Reading, named_file
from armdyn.io.sdf.frames import WORLD, SdfFrames, first, number, numbers, pose
from armdyn.io.sdf.joint import CUTS, SdfJoint, joint_from_element, spanning_tree
from armdyn.io.xml import XmlElement, read_xml
from armdyn.model import GRAVITY, Connection, Inertia, Loop, RobotModel, assemble
from armdyn.model.cut_joints import CUT_JOINTS
from armdyn.model.edit import loop_between
from armdyn.model.validate import physical_warnings

OLDEST = 4
"""The first version of SDF that is read is 1.4."""


def read_sdf(path: Path, options: LoadOptions = DEFAULT_OPTIONS) -> Reading:
    """The robot in an SDF file, with what is odd about it.

    `damping` is viscous friction, `friction` is Coulomb friction in both directions.
    """
    if options.density is not None:
        raise ModelError(f"{path}: density is for URDF and TOML files; give links an <inertial>")
    problems = Problems(path, SdfError)
    root = read_xml(path, SdfError)
    version = _version(root, path)
    element, gravity = _only_model(root, problems)
    frames = SdfFrames(element, problems)
    links = {name: _inertia(x, problems) for name, x in _named(element, "link").items()}
    joints = [
        joint_from_element(x, frames, version, problems) for x in _named(element, "joint").values()
    ]
    places = {name: frames.place(name, element) for name in (*links, WORLD)}
    problems.raise_if_any()
    reader = _Robot(path, links, [j for j in joints if j is not None], places)
    tool = _tool(reader, frames, options.tool, element)
    base = frames.model_pose @ places[reader.root] if options.base is None else options.base
    with named_file(path):
        model = assemble(
            element.attributes.get("name") or path.stem,
            reader.links,
            reader.connections,
            placements=reader.placements,
            tool=tool,
            base=base,
            gravity=gravity if options.gravity is None else options.gravity,
            locked=options.locked,
        )
        model = closed_tree(model, reader.loops(model), np.zeros(len(model.joints)))
    return model, (*problems.findings, *physical_warnings(model, options.physical))


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
        reached = {self.root}
        for joint, reverse in tree:
            far = joint.parent if reverse else joint.child
            reached.add(far)
            if reverse and joint.type == "ball":
                raise UnsupportedJointError(
                    f"joint {joint.name!r} of type 'ball' leads from the link {joint.child!r} back "
                    f"to {joint.parent!r}; exchange its <parent> and <child>",
                    file=path,
                    line=joint.element.line,
                )
            made = joint.connections(places, reverse)
            self.links |= {c.child: Inertia.zero() for c in made[:-1]}
            self.connections += made
            self.placements[far] = frozen(np.linalg.inv(joint.place) @ places[far])
        self._check(path, reached)

    def _check(self, path: Path, reached: set[str]) -> None:
        for name in (name for name in self.places if name not in reached and name != WORLD):
            raise SdfError(
                f"link {name!r} is joined to nothing that leads to {self.root!r}; a robot is one "
                "piece",
                file=path,
            )
        for joint in self.cuts:
            if joint.type not in CUTS:
                raise UnsupportedJointError(
                    f"joint {joint.name!r} of type {joint.type!r} closes a loop; armdyn closes "
                    f"loops by {', '.join(CUTS)}. Write it as simple joints with links between",
                    file=path,
                    line=joint.element.line,
                )

    def loops(self, model: RobotModel) -> list[Loop]:
        """The joints that close loops, as cut joints."""
        found = []
        for joint in self.cuts:
            ends = [
                (link, np.linalg.inv(self.places[link]) @ joint.cut_frame)
                for link in (joint.child, joint.parent)
            ]
            cut = CUT_JOINTS[CUTS[joint.type]]
            found.append(loop_between(model, joint.name, cut, ends[0], ends[1]))
        return found


def _version(root: XmlElement, path: Path) -> int:
    """The number behind the dot of the version."""
    if root.tag != "sdf":
        raise SdfError(f"the root is <{root.tag}>; expected <sdf>", file=path, line=root.line)
    text = root.attributes.get("version", "")
    found = re.fullmatch(r"1\.(\d{1,3})", text, re.ASCII)
    if found is None or int(found[1]) < OLDEST:
        raise SdfError(
            f"version {text!r} of SDF is not read; expected 1.{OLDEST} or later, which `gz sdf -p` "
            "makes of older files",
            file=path,
            line=root.line,
        )
    return int(found[1])


def _only_model(root: XmlElement, problems: Problems) -> tuple[XmlElement, Array]:
    """The model of a file, and gravity."""
    worlds = root.all("world")
    gravity, models = GRAVITY, list(root.all("model"))
    for world in worlds:
        models += world.all("model")
        for element in world.all("gravity")[:1]:
            values = numbers(Place(element, "the world", problems), 3)
            gravity = GRAVITY if values is None else frozen(values)
    for element in (x for parent in (root, *worlds, *models) for x in parent.all("include")):
        problems.add(
            element, "it includes another file, which is not read; `gz sdf -p` writes it out"
        )
    for element in (x for model in models for x in model.all("model")):
        problems.add(element, "there is a model in a model; `gz sdf -p` makes one of nested models")
    if len(models) != 1:
        names = ", ".join(repr(model.attributes.get("name", "")) for model in models) or "none"
        problems.add(root, f"a robot is one <model>, found {len(models)}: {names}")
        problems.raise_if_any()
    return models[0], gravity


def _named(model: XmlElement, tag: str) -> dict[str, XmlElement]:
    return {x.attributes["name"]: x for x in model.all(tag) if x.attributes.get("name")}


def _inertia(element: XmlElement, problems: Problems) -> Inertia:
    """The inertia of a link; what SDF gives a link that has none is 1 kg and 1 kg m²."""
    link = Place(element, f"link {element.attributes['name']!r}", problems)
    inertial = first(link, "inertial")
    if inertial is None:
        link.warn("it has no <inertial>; SDF gives it 1 kg and 1 kg m²")
        return Inertia.from_com(1.0, np.zeros(3), np.eye(3))
    if inertial.attributes.get("auto") in ("true", "1"):
        inertial.add(f"{link.where}: inertia from geometry (auto) is not read; write it out")
        return Inertia.zero()
    mass = number(inertial, "mass", 1.0)
    if mass < 0:
        inertial.add(f"{link.where}: <mass> cannot be negative, got {mass:g}")
    tensor, given = np.eye(3), first(inertial, "inertia")
    for i, j in zip(*np.triu_indices(3), strict=True):
        name = "i" + "xyz"[i] + "xyz"[j]
        tensor[i, j] = tensor[j, i] = number(given, name, float(i == j))
    T = pose(inertial)
    return Inertia.from_com(max(mass, 0.0), T[:3, 3], tensor, T[:3, :3])


def _tool(robot: _Robot, frames: SdfFrames, tool: str | None, model: XmlElement) -> str | None:
    """The link of the tool; one without mass is made for a frame."""
    element = frames.elements.get(tool or "")
    if tool is None or element is None or element.tag == "link" or tool in robot.links:
        return tool
    link = frames.link_of(tool, model)
    if link is not None:
        place = np.linalg.inv(robot.places[link]) @ frames.place(tool, model)
        robot.connections.append(Connection(f"{tool} fixed", "fixed", link, tool, frozen(place)))
        robot.links[tool] = Inertia.zero()
    return tool
