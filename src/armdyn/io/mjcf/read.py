"""MJCF files, compiled by MuJoCo and read from the compiled model.

A body moves by its joints one after the other: joint k turns it about an anchor p_k, or slides it,
by q - ref. Each joint but the last carries a link without mass; the frame of every such link
coincides with the body's, so it sits at -p_k from the point that its joint moves. A ball turns
about x, then y, then z of the body.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array, check_number, frozen
from armdyn.errors import MissingExtraError, ModelError, UnknownNameError, UnsupportedJointError
from armdyn.io.options import DEFAULT_OPTIONS, LoadOptions, Reading, named_file
from armdyn.model import Connection, FrictionLaw, Inertia, Limits, Mimic, Rotor, assemble
from armdyn.model.edit import check_locked
from armdyn.model.joint_types import DESCRIBED_TYPES, FIXED, CompoundType, JointType
from armdyn.model.transform import rotation_from_quaternion, transform
from armdyn.model.validate import Finding, physical_warnings

try:
    import mujoco
except ImportError:
    raise MissingExtraError("mujoco", "mjcf", "reading MJCF files") from None

from armdyn.io.mjcf.compile import compiled
from armdyn.io.mjcf.drives import approximated, read_drives, unmodelled
from armdyn.io.mjcf.equalities import (
    KINDS,
    closed_by_equalities,
    placed,
    read_couplings,
    switched_on,
)


def read_mjcf(path: Path, options: LoadOptions = DEFAULT_OPTIONS) -> Reading:
    """The robot in an MJCF file, with whatever in it would change torques and is left out.

    `armature` is rotor inertia, `damping` viscous and `frictionloss` Coulomb friction. A fixed root
    is held where the file puts it. docs/formats.md lists what becomes of each field of
    MuJoCo's model.
    """
    m, warned = compiled(path)
    gravity = m.opt.gravity if switched_on(m, "GRAVITY") else np.zeros(3)
    reader = _Reader(m, path, options.fix_root)
    if options.tool is not None:
        reader.add_tool(options.tool)
    with named_file(path):
        model = assemble(
            m.names.split(b"\0", 1)[0].decode() or path.stem,
            reader.links,
            reader.connections,
            placements=reader.placements,
            tool=options.tool,
            base=options.base,
            gravity=gravity if options.gravity is None else options.gravity,
            locked=reader.locked(options.locked),
        )
        names, drives = reader.joint_names, reader.drives
        equalities = [i for i in reader.couplings.left if int(m.eq_type[i]) in KINDS]
        model = closed_by_equalities(
            model, m, equalities, reader.couplings, reader.body_names, names
        )
    left = {i: why for i, why in reader.couplings.left.items() if i not in equalities}
    said = [f"MuJoCo warns: {text}" for text in warned]
    said += unmodelled(m, reader.body_names, names, drives, left)
    said += approximated(m, names, drives)
    findings = (Finding("warning", str(path), f"{path}: {text}") for text in said)
    return model, (*findings, *physical_warnings(model, options.physical))


class _Reader:
    """Links and joints of a compiled model, gathered body by body."""

    def __init__(self, m: Any, path: Path, fix_root: bool):
        self._m, self._path, self._fix_root = m, path, fix_root
        self.body_names = [m.body(i).name or f"body{i}" for i in range(m.nbody)]
        self.joint_names = [
            m.jnt(j).name or f"{self.body_names[m.jnt_bodyid[j]]}_joint{j}" for j in range(m.njnt)
        ]
        self.links: dict[str, Inertia] = {}
        self.connections: list[Connection] = []
        self.placements: dict[str, Array] = {}
        self.couplings = read_couplings(m)
        self.drives = read_drives(m, self.couplings)
        for i, name in enumerate(self.body_names):
            if i > 0:
                self._joints(i, self.body_names[m.body_parentid[i]])
            mass, axes = float(m.body_mass[i]), rotation_from_quaternion(m.body_iquat[i])
            tensor = np.diag(m.body_inertia[i])
            self.links[name] = Inertia.from_com(mass, m.body_ipos[i], tensor, axes)

    def locked(self, given: Mapping[str, float] | None) -> Mapping[str, float]:
        """Joints that are held by the caller or by an equality, and those that follow them."""
        asked, names = check_locked(given), self.joint_names
        curved = {follower: leader for follower, leader, _ in self.couplings.curves.values()}
        for name in asked:
            if name in names and names.index(name) in curved:
                leader = names[curved[names.index(name)]]
                raise ModelError(
                    f"joint {name!r} follows {leader!r} and has no value of its own; lock "
                    f"{leader!r} instead"
                )
        numbered = {names.index(x): check_number(f"locked joint {x!r}", v)
                    for x, v in asked.items() if x in names}  # fmt: skip
        held = self.couplings.held_with(numbered)
        return {names[j]: x for j, x in held.items()} | dict(asked)

    def add_tool(self, tool: str) -> None:
        """A massless link at a site, so that the tool can be mounted there."""
        m = self._m
        if tool in self.links:
            return
        sites = {m.site(i).name: i for i in range(m.nsite)}
        if tool not in sites:
            names = [*self.body_names, *(name for name in sites if name)]
            raise UnknownNameError(f"body or site for the tool in {self._path} named", tool, names)
        i = sites[tool]
        place = placed(m.site_pos[i], m.site_quat[i])
        self._fix(self.body_names[m.site_bodyid[i]], tool, place)
        self.links[tool] = Inertia.zero()

    def _fix(self, parent: str, child: str, placement: Array) -> None:
        name = f"{child} fixed"
        self.connections.append(Connection(name, FIXED, parent, child, placement))

    def _joints(self, i: int, parent: str) -> None:
        """The joints of body i, in the order in which they move it."""
        m, body = self._m, self.body_names[i]
        place = placed(m.body_pos[i], m.body_quat[i])
        own = range(m.body_jntadr[i], m.body_jntadr[i] + m.body_jntnum[i])
        moving = [j for j in own if self._kind(j) is not FIXED]
        if not moving:
            self._fix(parent, body, place)
        for j in moving:
            link = body if j == moving[-1] else f"{body} after {self.joint_names[j]}"
            if link != body:
                self.links[link] = Inertia.zero()
            anchor = m.jnt_pos[j] if self._kind(j).turns else np.zeros(3)
            self.placements[link] = frozen(transform(position=-anchor))
            self._connect(j, parent, link, place @ transform(position=anchor))
            parent, place = link, np.eye(4)

    def _connect(self, j: int, parent: str, child: str, place: Array) -> None:
        m, name, kind = self._m, self.joint_names[j], self._kind(j)
        axis, limits = np.array([0.0, 0.0, 1.0]), Limits()
        if isinstance(kind, JointType):  # a ball has no axis, and its range is no angle of a hinge
            axis, limits = np.array(m.jnt_axis[j]), _limits(m, j)
            place = place @ kind.motion(axis, -float(m.qpos0[m.jnt_qposadr[j]]))
        drives, dry = self.drives, float(self.drives.frictionloss[j])
        self.connections.append(
            Connection(
                name,
                kind,
                parent,
                child,
                frozen(place),
                axis,
                limits,
                FrictionLaw(float(drives.damping[j]), dry, dry),
                Rotor(float(drives.armature[j])),
                self._mimic(j),
            )
        )

    def _mimic(self, j: int) -> Mimic | None:
        if j not in self.couplings.followers:
            return None
        leader, ratio, offset = self.couplings.followers[j]
        return Mimic(self.joint_names[leader], ratio, offset)

    def _kind(self, j: int) -> JointType | CompoundType:
        word = mujoco.mjtJoint(self._m.jnt_type[j]).name.removeprefix("mjJNT_").lower()
        for kind in DESCRIBED_TYPES.values():
            if kind.mjcf == word:
                return kind
        if self._fix_root:
            return FIXED
        raise UnsupportedJointError(
            f"joint {self.joint_names[j]!r} of body {self.body_names[self._m.jnt_bodyid[j]]!r} is "
            f"of type {word!r}; armdyn handles hinge, slide and ball. Pass fix_root=True "
            "(--fix-root) to hold the body where the file puts it",
            file=self._path,
        )


def _limits(m: Any, j: int) -> Limits:
    lower, upper = m.jnt_range[j] if m.jnt_limited[j] else (-np.inf, np.inf)
    effort = np.abs(m.jnt_actfrcrange[j]).max() if m.jnt_actfrclimited[j] else np.inf
    return Limits(float(lower), float(upper), effort=float(effort))
