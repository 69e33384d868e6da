"""Other libraries, each asked for inverse dynamics as its own documentation says.

A library is given a `Case` and returns an `Answer`; the joints are matched by name. Everybody gets
the file as it is, except that pictures, collision bodies and armdyn's own words are left out of a
URDF: they have no part in inverse dynamics, and meshes are seldom at hand. A robot that is in
another format is written as a URDF first.
"""

import importlib
import importlib.metadata
import logging
import re
import tomllib
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import PeerError, TomlError, UrdfError
from armdyn.io.atomic import write_text
from armdyn.io.catalog import catalog_names, catalog_path
from armdyn.io.files import read_model, save_model
from armdyn.io.regular import read_regular
from armdyn.io.urdf.macros import read_robot
from armdyn.io.xml import Problems, XmlElement, read_xml, text_from_element
from armdyn.loading import load
from armdyn.model import JointSpring, RobotModel
from armdyn.model.validate import Physical
from armdyn.robot import Robot
from armdyn.study.states import StateSet

UNREAD = {
    "robot": ("armdyn", "gazebo", "material", "transmission"),
    "link": ("armdyn", "collision", "visual"),
    "joint": ("armdyn",),
}
"""What is left out of each element of a URDF."""
_CONVENTION = re.compile(r"""^(\s*convention\s*=\s*)["'](standard|modified)["']""", re.MULTILINE)


@dataclass(frozen=True)
class Material:
    """A file for other libraries, and what armdyn reads in it."""

    file: Path
    model: RobotModel
    plain: RobotModel
    """The same without armdyn's own words."""


@dataclass(frozen=True)
class Sources:
    """A robot in every format it can be had in."""

    name: str
    """The file, or the name of the robot."""
    robot: Robot
    formats: dict[str, Material]
    """By "urdf" and, if that is what it comes from, "mjcf"."""
    other_convention: tuple[str, str, RobotModel] | None
    """For a DH table its convention, the other one, and the robot read in that one."""


@contextmanager
def sources(source: str | Path | Robot, physical: Physical = "error") -> Iterator[Sources]:
    """The files of a robot, which last as long as the block."""
    with TemporaryDirectory(prefix="armdyn-compare-") as temporary:
        folder = Path(temporary)
        formats = {}
        other = None
        urdf = folder / "given.urdf"
        if isinstance(source, Robot):
            robot, name = source, source.name
        else:
            robot, name = load(source, physical=physical), str(source)
            path = catalog_path(name) if name in catalog_names() else Path(source)
            kind = path.suffix.lower()
            if kind == ".toml":
                other = _other_convention(path, folder)
            elif kind in (".urdf", ".xacro") or read_xml(path, UrdfError).tag == "robot":
                urdf = path
            else:
                formats["mjcf"] = Material(path, robot.model, robot.model)
        if not urdf.exists():
            left = tuple(x for x in robot.model.springs if not isinstance(x, JointSpring))
            save_model(replace(robot.model, springs=left), urdf)
        formats["urdf"] = _stripped(urdf, folder / "robot.urdf", robot.model)
        yield Sources(name, robot, formats, other)


def _stripped(file: Path, to: Path, given: RobotModel) -> Material:
    """The file without what libraries do not need, of a robot whose springs it cannot hold."""

    def kept(element: XmlElement) -> XmlElement:
        unread = UNREAD.get(element.tag, ())
        children = tuple(kept(child) for child in element.children if child.tag not in unread)
        return XmlElement(element.tag, element.attributes, children, element.line)

    root = read_robot(file, Problems(file, UrdfError), line_breaks=True)
    write_text(to, text_from_element(kept(root)))
    model, plain = (read_model(path, physical="ignore")[0] for path in (file, to))
    return Material(to, replace(model, springs=given.springs), plain)


def _other_convention(path: Path, folder: Path) -> tuple[str, str, RobotModel] | None:
    """The convention of a DH table, the other one, and the robot read in that one."""
    text = read_regular(path, partial(TomlError, file=path)).decode()
    convention = tomllib.loads(text).get("convention")
    if not convention:
        return None
    other = "modified" if convention == "standard" else "standard"
    copy = folder / "other.toml"
    write_text(copy, _CONVENTION.sub(rf'\1"{other}"', text, count=1))
    return convention, other, read_model(copy, physical="ignore")[0]


WORLD = "world"
"""A root link of this name is the world itself in Drake."""


def installed(name: str) -> Any:
    """The module of a peer, or None."""
    with suppress(ImportError):
        return importlib.import_module(name)


def version(package: str) -> str | None:
    """The version of a package; None if it is not installed."""
    with suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(package)
    return None


@dataclass(frozen=True)
class Case:
    """What a library is asked."""

    file: Path
    joints: tuple[str, ...]
    """Names of all N moving joints, in our order."""
    root: str
    """Name of the link that does not move."""
    states: StateSet
    """Motions of these joints, (m, N)."""

    def places(self, theirs: list[str]) -> list[int]:
        """Where each of our joints is among theirs."""
        missing = [name for name in self.joints if name not in theirs]
        if missing:
            raise PeerError(f"it has no joint {', '.join(map(repr, missing))}")
        return [theirs.index(name) for name in self.joints]

    @property
    def rows(self) -> list[tuple[Array, Array, Array]]:
        """Position, velocity and acceleration of one state after the other."""
        return list(zip(*self.states.motion, strict=True))


@dataclass(frozen=True)
class Answer:
    """What a library says."""

    torque: Array
    """Torques of the joints of the case, (m, N) [N m or N]."""
    terms: dict[str, Array] = field(default_factory=dict)
    """Terms of the torque that armdyn does not have, (m, N), by name."""


@dataclass(frozen=True)
class Peer:
    """A library to compare with."""

    title: str
    package: str
    """What is installed."""
    module: str
    """What is imported."""
    formats: tuple[str, ...]
    """What it reads, the best first."""
    solve: Callable[[Any, Case], Answer]

    def answer(self, case: Case) -> Answer | None:
        """What it says, or a PeerError with the reason; None if the library is not installed."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = installed(self.module)
            if module is None:
                return None
            try:
                answer = self.solve(module, case)
            except Exception as reason:
                said = " ".join(str(reason).split()) or type(reason).__name__
                raise PeerError(said.replace(str(case.file), case.file.name)) from reason
        if not np.isfinite(answer.torque).all():
            raise PeerError("its torques are not finite numbers")
        return answer


def pinocchio(pin: Any, case: Case) -> Answer:
    """`rnea`; a joint without limits is a point on the circle."""
    model = pin.buildModelFromUrdf(str(case.file))
    data = model.createData()
    joints = [model.joints[1 + i] for i in case.places(list(model.names)[1:])]
    torque = []
    for q, qd, qdd in case.rows:
        position, velocity, acceleration = pin.neutral(model), *np.zeros((2, model.nv))
        for joint, angle, *rates in zip(joints, q, qd, qdd, strict=True):
            place = slice(joint.idx_q, joint.idx_q + joint.nq)
            position[place] = (np.cos(angle), np.sin(angle)) if joint.nq == 2 else angle
            velocity[joint.idx_v], acceleration[joint.idx_v] = rates
        tau = pin.rnea(model, data, position, velocity, acceleration)
        torque.append([tau[joint.idx_v] for joint in joints])
    return Answer(np.array(torque))


def mujoco(mujoco: Any, case: Case) -> Answer:
    """`mj_inverse`, with limits, contacts and equalities off, so that constraints are friction."""
    from armdyn.io.mjcf.compile import mujoco_warnings  # noqa: PLC0415 (mujoco is an extra)

    with mujoco_warnings():
        model = mujoco.MjModel.from_xml_path(str(case.file))
        for constraint in ("LIMIT", "CONTACT", "EQUALITY"):
            model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{constraint}"))
        data = mujoco.MjData(model)
        bodies = [model.body(i).name or f"body{i}" for i in range(model.nbody)]
        names = [
            model.jnt(j).name or f"{bodies[model.jnt_bodyid[j]]}_joint{j}"
            for j in range(model.njnt)
        ]
        places = case.places(names)
        positions, rates = model.jnt_qposadr[places], model.jnt_dofadr[places]
        terms = {
            "constraint": "qfrc_constraint",
            "spring": "qfrc_spring",
            "fluid": "qfrc_fluid",
            "gravity compensation": "qfrc_gravcomp",
        }
        torque, shown = [], []
        for q, qd, qdd in case.rows:
            data.qpos[positions], data.qvel[rates], data.qacc[rates] = q, qd, qdd
            mujoco.mj_inverse(model, data)
            torque.append(data.qfrc_inverse[rates].copy())
            shown.append([-getattr(data, force)[rates] for force in terms.values()])
        return Answer(np.array(torque), dict(zip(terms, np.swapaxes(shown, 0, 1), strict=True)))


def drake(pydrake: Any, case: Case) -> Answer:
    """`CalcInverseDynamics` with the force elements, the root welded to the world."""
    log = logging.getLogger("drake")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        plant = pydrake.MultibodyPlant(time_step=0.0)
        (instance,) = pydrake.Parser(plant).AddModels(str(case.file))
        if case.root != WORLD:
            root = plant.GetBodyByName(case.root, instance)
            plant.WeldFrames(plant.world_frame(), root.body_frame())
        plant.Finalize()
    finally:
        log.setLevel(before)
    joints = [plant.GetJointByName(name, instance) for name in case.joints]
    positions = [joint.position_start() for joint in joints]
    rates = [joint.velocity_start() for joint in joints]
    context, torque = plant.CreateDefaultContext(), []
    forces = pydrake.MultibodyForces(plant)
    for q, qd, qdd in case.rows:
        position = plant.GetPositions(context)
        velocity, acceleration = np.zeros((2, plant.num_velocities()))
        position[positions], velocity[rates], acceleration[rates] = q, qd, qdd
        plant.SetPositions(context, position)
        plant.SetVelocities(context, velocity)
        plant.CalcForceElementsContribution(context, forces)
        torque.append(plant.CalcInverseDynamics(context, acceleration, forces)[rates])
    return Answer(np.array(torque))


def toolbox(rtb: Any, case: Case) -> Answer:
    """`rne` of a robot made of the links of the file, in which it would execute `$(...)`."""
    if "$(" in case.file.read_text(encoding="utf-8"):
        raise PeerError("there is '$(' in the file, which the toolbox takes for a command of xacro")
    links, name, _ = importlib.import_module("roboticstoolbox.models.URDF.URDFRobot").URDF_read(
        case.file.resolve()
    )
    robot = rtb.Robot(links, name=name)
    moving = {link.jindex: link._joint_name for link in robot.links if link.isjoint}
    places = case.places([moving[i] for i in range(robot.n)])
    torque = []
    for row in case.rows:
        motion = np.zeros((3, robot.n))
        motion[:, places] = row
        torque.append(np.atleast_1d(robot.rne(*motion))[places])
    return Answer(np.array(torque))


PEERS = {
    "pinocchio": Peer("Pinocchio", "pin", "pinocchio", ("urdf",), pinocchio),
    "mujoco": Peer("MuJoCo", "mujoco", "mujoco", ("mjcf", "urdf"), mujoco),
    "drake": Peer("Drake", "drake", "pydrake.all", ("urdf",), drake),
    "rtb": Peer(
        "Robotics Toolbox", "roboticstoolbox-python", "roboticstoolbox", ("urdf",), toolbox
    ),
}
"""The libraries by the names they are asked for."""
