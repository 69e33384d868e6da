"""RobotModel: a robot as frozen data, in the one convention that everything below io knows."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.errors import InertiaError, LoopError, ModelError, check_known, counted
from armdyn.forks import cached_property
from armdyn.model.cut_joints import Loop, check_loops
from armdyn.model.inertia import LARGEST_LENGTH, MASS_RANGE, MOMENT_RANGE
from armdyn.model.joint import Drive, Joint
from armdyn.model.link import Body, Frame, JointSpring, Link, Spring
from armdyn.model.transform import IDENTITY

GRAVITY = frozen([0.0, 0.0, -9.81])
"""The default field of gravity: world z is up [m/s²]."""
DESCRIPTIVE = ("title", "source", "note", "letters")
"""Fields that describe a robot to people and are no part of its equations."""


@dataclass(frozen=True, eq=False, repr=False)
class RobotModel:
    """A tree of links and joints. No algorithms.

    Link i moves with joint i, parents come before their children, SI units, radians.
    """

    name: str
    joints: tuple[Joint, ...]
    """Every moving joint, those that follow another one included."""
    links: tuple[Link, ...]
    base_link: Link
    """What the arm stands on; it moves only if the base floats."""
    flange: Frame
    """Where the tool is mounted."""
    frames: tuple[Frame, ...] = ()
    """The frame of every link of the description, merged ones included."""
    tool: Array = field(default_factory=lambda: IDENTITY)
    """The tool frame in the flange frame, shape (4, 4)."""
    base: Array = field(default_factory=lambda: IDENTITY)
    """The base in the world, shape (4, 4)."""
    gravity: Array = field(default_factory=lambda: GRAVITY)
    """The field of gravity in world axes, pointing down, shape (3,) [m/s²]."""
    title: str = ""
    """What people call it."""
    source: str = ""
    """Where the numbers were published."""
    note: str = ""
    """What was decided where the publication leaves a choice."""
    drives: tuple[Drive, ...] = ()
    """Motors that turn with several joints at once; those of one joint belong to that joint."""
    springs: tuple[Spring | JointSpring, ...] = ()
    """Springs between links or wound by joints, whose pull counts with gravity."""
    reduced: bool = False
    """Whether the inertias are known to be a reduced set, valid in the torques but not bodies."""
    letters: Mapping[str, str] = field(default_factory=dict)
    """What its publication calls the parameters that equations are written in: {"a1": "l"}."""
    loops: tuple[Loop, ...] = ()
    """Cut joints that close the tree; the joints that are not actuated follow from them."""
    assembly: Array | None = None
    """Positions of all joints near a configuration in which every loop is closed, (N,) [rad or m];
    None without loops."""
    floating: bool = False
    """Whether nothing holds the base, which is a body then and starts where `base` says."""

    def __post_init__(self) -> None:
        """Refuse numbers beyond all bounds, and two places named "tool"."""
        self._check_loops()
        self._check_finite()
        self._check_parts()
        for row in self._sizes():
            _check_size(*row)
        # a frame of that name must be the tool frame itself
        if not any(frame.name == "tool" for frame in self.frames):
            return
        if self.flange.name != "tool" or not np.array_equal(self.tool, IDENTITY):
            found = "a tool transform" if self.flange.name == "tool" else repr(self.flange.name)
            raise ModelError(
                f"robot {self.name!r} has a link or frame named 'tool', so that name is taken and "
                f"the tool cannot be placed elsewhere by {found}; rename it in the description"
            )

    def _check_finite(self) -> None:
        """Refuse what a product of finite numbers of the description made infinite."""
        for link in (self.base_link, *self.links):
            infinite = [body for body in link.bodies if not body.inertia.is_finite]
            together = [] if link.inertia.is_finite else link.bodies
            for body in (*infinite, *together):
                raise InertiaError(
                    f"link {body.name!r}: a moment of inertia is not a finite number, with mass "
                    f"{body.inertia.mass:g} and centre of mass {body.inertia.com.tolist()}; are "
                    "the units right?",
                    link=body.name,
                )
        places = {f"joint {joint.name!r}": joint.placement for joint in self.joints}
        places |= {f"frame {frame.name!r}": frame.placement for frame in self.frames}
        for what, T in (places | {"the tool": self.tool_frame.placement}).items():
            if T.dtype != object and not np.isfinite(T).all():
                raise ModelError(f"{what}: the place is not finite, {T[:3, 3].tolist()}")
        if not all(np.isfinite(part).all() for part in self.coupling or ()):
            raise ModelError("joints that mimic others do so by factors that are not finite")

    def _check_parts(self) -> None:
        """Refuse drives and springs that no robot can have, or whose names are taken."""
        joints = [joint.name for joint in self.joints]
        wound = [x for x in self.springs if isinstance(x, JointSpring)]
        for what, turning in (("drive", self.drives), ("spring", wound)):
            for turned in turning:
                where = f"{what} {turned.name!r} of {self.name!r}"
                for joint, _ in turned.ratios:
                    check_known(f"{where}: moving joint named", joint, joints)
        places = [frame.name for frame in self.frames]
        for owner in self.driven:
            if owner.rotor.carrier:
                where = f"rotor of {owner.name!r} of {self.name!r}"
                check_known(
                    f"{where}: link or frame that carries it named", owner.rotor.carrier, places
                )
        links = [link.name for link in (self.base_link, *self.links)]
        kinds: tuple[tuple[str, Sequence[Drive | Spring | JointSpring], list[str], str], ...] = (
            ("drive", self.drives, joints, "joint or drive"),
            ("spring", self.springs, links, "joint, drive, link or spring"),
        )
        taken: list[str] = []
        for kind, parts, others, owners in kinds:
            taken += others
            for part in parts:
                where = f"{kind} {part.name!r} of {self.name!r}"
                if part.name in taken:
                    raise ModelError(f"{where}: a {owners} has this name; give each its own")
                taken.append(part.name)
                if part.fault:
                    raise ModelError(f"{where}: {part.fault}")

    def _sizes(self) -> Iterator[tuple[str, str, str, object, float, float]]:
        """Owner, name, unit and value of each number whose size counts, the largest and least."""
        yield "gravity", "field", "m/s²", self.gravity, LARGEST_LENGTH, 0.0
        rotors = [(f"joint {joint.name!r}", joint.rotor.reflected) for joint in self.joints]
        for joint, (where, _) in zip(self.joints, rotors, strict=True):
            yield where, "offset", "m", joint.placement[:3, 3], LARGEST_LENGTH, 0.0
        for drive in self.drives:
            largest = max(abs(ratio) for _, ratio in drive.ratios)
            rotors.append((f"drive {drive.name!r}", largest**2 * drive.rotor.reflected))
        for where, felt in rotors:
            yield where, "rotor inertia times gear_ratio²", "kg m²", felt, *MOMENT_RANGE[::-1]
        for body in (body for link in (self.base_link, *self.links) for body in link.bodies):
            where, inertia = f"link {body.name!r}", body.inertia
            yield where, "mass", "kg", inertia.mass, *MASS_RANGE[::-1]
            yield where, "placement", "m", body.placement[:3, 3], LARGEST_LENGTH, 0.0
            first, most = inertia.first_moment, MASS_RANGE[1] * LARGEST_LENGTH
            yield where, "first moment", "kg m", first, most, 0.0
            least = MOMENT_RANGE[0] if _size(inertia.mass) == 0 else 0.0
            yield where, "moment of inertia", "kg m²", inertia.moment, MOMENT_RANGE[1], least

    def _check_loops(self) -> None:
        if not all(joint.type.moves for joint in self.joints):
            return  # fixed joints are merged first
        check_loops(self.joints, self.loops, self.paths)
        if not self.loops:
            return
        given = np.zeros(len(self.joints)) if self.assembly is None else self.assembly
        if given.shape != (len(self.joints),) or not np.isfinite(given).all():
            raise LoopError(
                f"the assembly of {self.name!r} has {len(self.joints)} finite positions, one for "
                f"each joint, got {given.tolist()}"
            )
        object.__setattr__(self, "assembly", frozen(given))

    def check_held(self) -> None:
        """Refuse what is true of a base that something holds, if nothing holds it."""
        if self.floating:
            raise ModelError(
                f"nothing holds the base {self.base_link.name!r} of {self.name!r}, so this is not "
                "defined; robot.free_base has what is, and armdyn.load(..., fix_root=True) "
                "(--fix-root) holds the base"
            )

    def __repr__(self) -> str:
        letters = "".join(joint.type.letter for joint in self.joints)
        return f"<RobotModel {self.name!r}, {counted(len(self.joints), 'joint')}, {letters}>"

    def __eq__(self, other: object) -> bool:
        """Whether the other is a model with the same numbers and the same descriptions."""
        if not isinstance(other, RobotModel):
            return NotImplemented
        return self is other or (
            self.digest == other.digest
            and all(getattr(self, name) == getattr(other, name) for name in DESCRIPTIVE)
        )

    def __hash__(self) -> int:
        return hash(self.digest)

    @cached_property
    def digest(self) -> str:
        """The digest of everything that the equations depend on."""
        return digest(self)

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """Index of the parent of each link; -1 is the base."""
        return tuple(joint.parent for joint in self.joints)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Indices of the children of each link."""
        return tuple(
            tuple(c for c, p in enumerate(self.parents) if p == i) for i in range(len(self.joints))
        )

    @cached_property
    def paths(self) -> tuple[tuple[int, ...], ...]:
        """For each link the joints from the base up to and including its own."""
        return paths_from_parents(self.parents)

    @property
    def is_chain(self) -> bool:
        """Whether every link carries at most one other."""
        return self.parents == tuple(range(-1, len(self.joints) - 1))

    @property
    def tool_frame(self) -> Frame:
        """The tool as a frame on the link that carries it."""
        return Frame("tool", self.flange.link, frozen(self.flange.placement @ self.tool))

    @property
    def payloads(self) -> tuple[Body, ...]:
        """The bodies that are held and can be put down."""
        return tuple(body for link in self.links for body in link.bodies if body.payload)

    @property
    def payload_mass(self) -> float:
        """What they weigh together [kg]."""
        return sum((body.inertia.mass for body in self.payloads), 0.0)

    @property
    def coordinate_joints(self) -> tuple[Joint, ...]:
        """The joints whose positions are the coordinates."""
        return tuple(self.joints[i] for i in self.independent)

    @cached_property
    def independent(self) -> tuple[int, ...]:
        """Indices of the joints that follow no other: the coordinates of the robot."""
        own = (i for i, joint in enumerate(self.joints) if joint.mimic is None)
        return tuple(i for i in own if self.joints[i].actuated)

    @cached_property
    def passive(self) -> tuple[int, ...]:
        """Indices of the joints without a motor, which follow from the loops."""
        return tuple(i for i, joint in enumerate(self.joints) if not joint.actuated)

    @cached_property
    def ranges(self) -> Array:
        """Lowest and highest position of each coordinate, finite, (n, 2) [rad or m]."""
        return frozen([joint.range for joint in self.coordinate_joints])

    @cached_property
    def coupling(self) -> tuple[Array, Array] | None:
        """K and k of q_all = K q + k where joints mimic others; None where none does."""
        if self.loops or len(self.independent) == len(self.joints):
            return None
        index = {joint.name: i for i, joint in enumerate(self.joints)}
        K = np.zeros((len(self.joints), len(self.independent)))
        k = np.zeros(len(self.joints))
        for i in range(len(self.joints)):
            ratio, offset, j = 1.0, 0.0, i
            while (mimic := self.joints[j].mimic) is not None:
                offset += ratio * mimic.offset
                ratio *= mimic.multiplier
                j = index[mimic.leader]
            K[i, self.independent.index(j)], k[i] = ratio, offset
        return frozen(K), frozen(k)

    @cached_property
    def drive_ratios(self) -> Array:
        """R of the rates R q̇_all at which drives turn, (m, N)."""
        R = np.zeros((len(self.drives), len(self.joints)))
        names = [j.name for j in self.joints]
        for row, drive in zip(R, self.drives, strict=True):
            for joint, ratio in drive.ratios:
                row[names.index(joint)] = ratio
        return frozen(R)

    @property
    def is_coupled(self) -> bool:
        """Whether joints mimic others, share drives, close loops or have rotors that spin.

        No recursion solves these.
        """
        return self.coupling is not None or bool(self.drives or self.loops) or self.spins

    @property
    def spins(self) -> bool:
        """Whether rotors have more effect than on the diagonal of the mass matrix."""
        return any(owner.rotor.spins for owner in self.driven)

    @property
    def driven(self) -> tuple[Joint | Drive, ...]:
        """All that have a rotor and friction: the joints, then the drives."""
        return *self.joints, *self.drives

    @property
    def is_frictionless(self) -> bool:
        """Whether neither a joint nor a drive has friction."""
        return all(owner.friction.is_zero for owner in self.driven)

    @cached_property
    def frame_names(self) -> tuple[str, ...]:
        """Every name that `frame` knows, each once."""
        return tuple(dict.fromkeys([*(frame.name for frame in self.frames), "tool"]))

    def frame(self, name: str) -> Frame:
        """The frame of that name: a link of the description, or "tool"."""
        check_known(f"link or frame in {self.name!r} named", name, self.frame_names)
        if name == "tool":
            return self.tool_frame
        return next(frame for frame in self.frames if frame.name == name)


def paths_from_parents(parents: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """For each link of a tree the links from the base up to and including it."""
    paths: list[tuple[int, ...]] = []
    for i, parent in enumerate(parents):
        paths.append((*paths[parent], i) if parent >= 0 else (i,))
    return tuple(paths)


def digest(model: Any) -> str:
    """SHA-256 in hex: the same for equal models in every process, another for any other number.

    A model with expression nodes has a digest too, but only within this process.
    """
    pieces: list[bytes] = []
    _collect(model, pieces)
    return hashlib.sha256(b"\0".join(pieces)).hexdigest()


def _collect(value: Any, pieces: list[bytes]) -> None:
    if is_dataclass(value):
        pieces.append(type(value).__name__.encode())
        for entry in fields(value):
            if entry.name not in DESCRIPTIVE:
                pieces.append(entry.name.encode())
                _collect(getattr(value, entry.name), pieces)
    elif isinstance(value, np.ndarray):
        pieces.append(str(value.shape).encode())
        if value.dtype == object:
            _collect(value.ravel().tolist(), pieces)
        else:
            pieces.append(np.asarray(value, dtype="<f8").tobytes())
    elif isinstance(value, tuple | list):
        pieces.append(str(len(value)).encode())
        for entry in value:
            _collect(entry, pieces)
    elif value is None or isinstance(value, str | int | float):
        pieces.append(repr(value).encode())
    else:  # a node is itself and no other
        pieces.append(str(id(value)).encode())


def _check_size(
    where: str, what: str, unit: str, value: object, largest: float, least: float = 0.0
) -> None:
    """A ModelError if a number is so large or small that torques would lose it silently."""
    size = _size(value)
    if not size <= largest:
        raise ModelError(
            f"{where}: its {what} is {size:g} {unit}; up to {largest:g} can be computed with. "
            "Check the units"
        )
    if 0 < size < least:
        raise ModelError(
            f"{where}: its {what} is {size:g} {unit}, which products with other numbers lose; from "
            f"{least:g} on it can be computed with. Check the units, or set it to 0"
        )


def _size(value: object) -> float:
    """The largest size of a number; 0 for one in letters."""
    entries = np.asarray(value)
    return 0.0 if entries.dtype == object else float(np.abs(entries).max())
