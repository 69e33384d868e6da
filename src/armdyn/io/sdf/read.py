"""SDF files: one model, with those in it, of links and joints in, one RobotModel out.

Links stand where the file puts them where all joints are at zero, and a joint that closes a loop in
the graph of the joints becomes a cut joint there. A model that is not fixed to the world is held by
its first link. Static models of a world belong to the world, as what joints may be fixed to.
"""

from pathlib import Path

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.errors import ModelError, SdfError, UnsupportedJointError
from armdyn.io.attributes import Place, Problems
from armdyn.io.closing import closed_tree
from armdyn.io.elements import note_elements
from armdyn.io.options import DEFAULT_OPTIONS, LoadOptions, Reading, named_file
from armdyn.io.sdf.document import SdfDocuments
from armdyn.io.sdf.frames import WORLD, SdfFrames, first, number, numbers, pose, scoped
from armdyn.io.sdf.joint import CUTS, SdfJoint, joint_from_element, spanning_tree
from armdyn.io.xml import XmlElement
from armdyn.model import GRAVITY, Connection, Inertia, Loop, RobotModel, assemble
from armdyn.model.cut_joints import CUT_JOINTS
from armdyn.model.edit import loop_between
from armdyn.model.validate import physical_warnings


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
            base=places[reader.root] if options.base is None else options.base,
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
        for joint, reverse in tree:
            far = joint.parent if reverse else joint.child
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
        reached = {self.root, WORLD, *self.placements}
        for name in (name for name in self.places if name not in reached):
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
