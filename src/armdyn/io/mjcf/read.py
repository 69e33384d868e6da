"""MJCF files, compiled by MuJoCo and read from the compiled model.

A body moves by its joints one after the other: joint k turns it about an anchor p_k, or slides it,
by q - ref. Each joint but the last carries a link without mass; the frame of every such link
coincides with the body's, so it sits at -p_k from the point that its joint moves. A ball turns
about x, then y, then z of the body.

Joints feel armature, damping and friction loss of their own, of actuators and of tendons. An
actuator behind a gear adds its armature and damping times gear² to its joint or tendon. A tendon
whose length changes by c q̇ of one coordinate adds armature and damping times c² to it, and friction
loss times |c|; with several coordinates it couples them, which a RobotModel cannot say. Whatever
else changes torques and a RobotModel does not hold is told.

By equalities, joints follow others and bodies close loops. MuJoCo holds them softly, by solref and
solimp; here they are rigid.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from armdyn.arrays import Array, check_number, frozen
from armdyn.errors import ModelError, UnknownNameError, UnsupportedJointError
from armdyn.io.mjcf.compile import compiled
from armdyn.io.options import DEFAULT_OPTIONS, LoadOptions, Reading, named_file
from armdyn.loops.choice import closed_tree
from armdyn.model import (
    Connection,
    FrictionLaw,
    Inertia,
    JointSpring,
    Limits,
    Loop,
    Mimic,
    RobotModel,
    Rotor,
    assemble,
)
from armdyn.model.cut_joints import CUT_JOINTS, composed, polynomial
from armdyn.model.edit import check_locked, coupling_between, loop_between
from armdyn.model.joint_types import DESCRIBED_TYPES, FIXED, CompoundType, JointType
from armdyn.model.transform import rotation_from_quaternion, transform
from armdyn.model.validate import Finding

SPRUNG = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
"""Joints whose springs are read."""
KINDS = {int(mujoco.mjtEq.mjEQ_CONNECT): "spherical", int(mujoco.mjtEq.mjEQ_WELD): "fixed"}
"""The cut joint of each equality that closes a loop."""


def switched_on(m: Any, *features: str) -> bool:
    """Whether none of these features of MuJoCo is disabled by <flag> in the file."""
    bits = (getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}", 0) for name in features)
    return not any(m.opt.disableflags & int(bit) for bit in bits)


def passive_forces(m: Any) -> bool:
    """Whether there are passive forces other than those of springs and dampers."""
    return switched_on(m, "PASSIVE") and (switched_on(m, "SPRING") or switched_on(m, "DAMPER"))


HELD = -1
"""Leads the joints that are held; MuJoCo gives it as the leader of an equality without one."""


@dataclass(frozen=True)
class Couplings:
    """Joints that follow others exactly, by their numbers in the compiled model."""

    followers: dict[int, tuple[int, float, float]] = field(default_factory=dict)
    """Leader, ratio and offset of each follower: q = ratio · q_leader + offset [rad or m]."""
    curves: dict[int, tuple[int, int, tuple[float, ...]]] = field(default_factory=dict)
    """By equality: follower, leader and coefficients of the leader's powers, where they are no
    straight line."""
    left: dict[int, str] = field(default_factory=dict)
    """Equalities that no follower stands for, with what is wrong with those of joints."""

    def held_with(self, locked: Mapping[int, float]) -> dict[int, float]:
        """All joints that do not move where some are held, followers along curves included."""
        found = {j: at for j, (leader, _, at) in self.followers.items() if leader == HELD}
        found |= {HELD: 0.0, **locked}
        waiting = list(self.curves.values())
        while ready := [x for x in waiting if self.coordinate(x[1])[0] in found]:
            for follower, leader, coefficients in ready:
                root, ratio, offset = self.coordinate(leader)
                found[follower] = polynomial(coefficients, ratio * found[root] + offset)
                waiting.remove((follower, leader, coefficients))
        del found[HELD]
        return found

    def coordinate(self, joint: int) -> tuple[int, float, float]:
        """The joint that follows no other and moves this one, with ratio and offset."""
        ratio, offset = 1.0, 0.0
        while joint in self.followers:
            joint, own_ratio, own_offset = self.followers[joint]
            ratio, offset = ratio * own_ratio, ratio * own_offset + offset
        return joint, ratio, offset

    def follow(self, equality: int, follower: int, leader: int, c: tuple[float, ...]) -> bool:
        """Note that a joint follows another; False if it cannot, because of what is known."""
        root, led = self.coordinate(follower)[0], {}
        for joint, lead, _ in self.curves.values():
            led[joint] = self.coordinate(lead)[0]
        leaders = [self.coordinate(leader)[0]]
        while leaders[-1] in led:
            leaders.append(led[leaders[-1]])
        if (leaders[0] if root == HELD else root) in (*led, *leaders[1:]):
            return False
        if not any(c[2:]):
            return self._join(follower, leader if c[1] else HELD, c[1], c[0])
        if follower == root:
            self.curves[equality] = follower, leader, c
        return follower == root

    def _join(self, follower: int, leader: int, ratio: float, offset: float) -> bool:
        joint, own_ratio, own_offset = self.coordinate(follower)
        lead, lead_ratio, lead_offset = self.coordinate(leader)
        # own_ratio q_joint + own_offset = slope q_lead + level
        slope, level = ratio * lead_ratio, ratio * lead_offset + offset
        if joint == lead:
            return np.allclose((own_ratio, own_offset), (slope, level), rtol=1e-9, atol=1e-12)
        if joint == HELD:
            joint, own_ratio, own_offset, lead, slope, level = (
                lead,
                slope,
                level,
                HELD,
                0,
                own_offset,
            )
        if joint == follower:
            self.followers[follower] = leader, ratio, offset
        elif own_ratio:
            self.followers[joint] = lead, slope / own_ratio, (level - own_offset) / own_ratio
        return joint == follower or own_ratio != 0


def read_couplings(m: Any) -> Couplings:
    """The joint equalities, in the order of the file; repeated ones are harmless if they agree.

    MuJoCo holds q - ref = c0 + c1 (q' - ref') + c2 (q' - ref')² + ... up to the fourth power.
    """
    found = Couplings()
    on = switched_on(m, "CONSTRAINT", "EQUALITY")
    zeros = m.qpos0[m.jnt_qposadr]
    for i in (i for i in range(m.neq) if on and m.eq_active0[i]):
        follower, leader = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
        if m.eq_type[i] != mujoco.mjtEq.mjEQ_JOINT:
            found.left[i] = ""
            continue
        c = composed(m.eq_data[i][:5].tolist(), (-float(zeros[leader]), 1.0))
        c = (m.eq_data[i][0], 0.0) if leader == HELD else c
        if not found.follow(i, follower, leader, (c[0] + float(zeros[follower]), *c[1:])):
            found.left[i] = "that contradicts the equalities before it"
    return found


def closed_by_equalities(
    model: RobotModel,
    m: Any,
    equalities: Sequence[int],
    couplings: Couplings,
    bodies: Sequence[str],
    joints: Sequence[str],
) -> RobotModel:
    """The tree with the loops that equalities close, and joints that follow along curves."""
    moving = {joint.name for joint in model.joints}
    loops = [_loop(model, m, i, bodies) for i in equalities]
    loops += [
        coupling_between(model, _name(m, i), joints[follower], joints[leader], coefficients)
        for i, (follower, leader, coefficients) in couplings.curves.items()
        if joints[follower] in moving
    ]
    if not loops:
        return model
    driven = [joints[j] for j in _driven(m)]
    homes = [np.array(m.key(k).qpos) for k in range(m.nkey) if m.key(k).name == "home"]
    places = {joints[j]: int(m.jnt_qposadr[j]) for j in range(m.njnt)}
    addresses = [places.get(joint.name, -1) for joint in model.joints]  # parts of balls have none
    at = [np.array([q[k] if k >= 0 else 0.0 for k in addresses]) for q in (*homes, m.qpos0)]
    return closed_tree(model, loops, at, driven)


def _driven(m: Any) -> Iterator[int]:
    """The joints that actuators drive, by themselves or by tendons of joints."""
    on_joint = (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
    for kind, i in zip(m.actuator_trntype, m.actuator_trnid[:, 0], strict=True):
        if int(kind) in on_joint:
            yield int(i)
        elif int(kind) == mujoco.mjtTrn.mjTRN_TENDON:
            wraps = range(m.tendon_adr[i], m.tendon_adr[i] + m.tendon_num[i])
            on_tendon = (k for k in wraps if m.wrap_type[k] == mujoco.mjtWrap.mjWRAP_JOINT)
            yield from (int(m.wrap_objid[k]) for k in on_tendon)


def _name(m: Any, i: int) -> str:
    return m.eq(i).name or f"equality {i}"


def _loop(model: RobotModel, m: Any, i: int, bodies: Sequence[str]) -> Loop:
    """A cut joint between two sites, or between two bodies.

    Of a connect there is a point on either body; of a weld one on body 2, and its frame on body 1.
    """
    ids = (m.eq_obj1id[i], m.eq_obj2id[i])
    data = m.eq_data[i]
    if hasattr(m, "eq_objtype") and m.eq_objtype[i] == mujoco.mjtObj.mjOBJ_SITE:
        places = [placed(m.site_pos[site], m.site_quat[site]) for site in ids]
        ids = m.site_bodyid[ids[0]], m.site_bodyid[ids[1]]
    elif m.eq_type[i] == mujoco.mjtEq.mjEQ_CONNECT:
        places = [transform(position=data[0:3]), transform(position=data[3:6])]
    else:
        places = [placed(data[3:6], data[6:10]), transform(position=data[0:3])]
    a, b = ((bodies[body], place) for body, place in zip(ids, places, strict=True))
    return loop_between(model, _name(m, i), CUT_JOINTS[KINDS[int(m.eq_type[i])]], a, b)


def placed(position: Array, quaternion: Array) -> Array:
    """The transform of a place in a compiled model, (4, 4)."""
    return transform(rotation_from_quaternion(quaternion), position)


def read_mjcf(path: Path, options: LoadOptions = DEFAULT_OPTIONS) -> Reading:
    """The robot in an MJCF file, with whatever in it would change torques and is left out.

    `armature` is rotor inertia, `damping` viscous and `frictionloss` Coulomb friction. A body on a
    free joint that carries all others is a base that floats; a fixed root is held where the file
    puts it. docs/formats.md lists what becomes of each field of MuJoCo's model.
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
            base=reader.base,
            gravity=gravity,
            locked=reader.locked(options.locked),
        )
        model = replace(model, floating=reader.root > 0, springs=reader.springs(model))
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
    return options.reading(path, model, findings)


class _Reader:
    """Links and joints of a compiled model, gathered body by body."""

    def __init__(self, m: Any, path: Path, fix_root: bool):
        self._m = m
        self._path = path
        self._fix_root = fix_root
        self.body_names = [m.body(i).name or f"body{i}" for i in range(m.nbody)]
        self.joint_names = [
            m.jnt(j).name or f"{self.body_names[m.jnt_bodyid[j]]}_joint{j}" for j in range(m.njnt)
        ]
        self.links: dict[str, Inertia] = {}
        self.connections: list[Connection] = []
        self.placements: dict[str, Array] = {}
        self.couplings = read_couplings(m)
        self.drives = read_drives(m, self.couplings)
        self.root = 0 if fix_root else _floating_root(m)
        """The body that is the base; 0 is the world."""
        self.base = placed(m.body_pos[self.root], m.body_quat[self.root])
        own = range(m.nbody) if not self.root else np.flatnonzero(m.body_rootid == self.root)
        for i in map(int, own):
            name = self.body_names[i]
            if i != self.root:
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

    def springs(self, model: RobotModel) -> tuple[JointSpring, ...]:
        """The linear springs of hinges and slides that move."""
        m, moving = self._m, [joint.name for joint in model.joints]
        on = switched_on(m, "PASSIVE", "SPRING")
        return tuple(
            JointSpring(((name, 1.0),), float(m.jnt_stiffness[j]), float(rest), f"{name} spring")
            for j, name in enumerate(self.joint_names)
            for rest in m.qpos_spring[m.jnt_qposadr[j]][None]
            if on and name in moving and m.jnt_type[j] in SPRUNG and m.jnt_stiffness[j] > 0
        )

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
        m = self._m
        name = self.joint_names[j]
        kind = self._kind(j)
        axis, limits = np.array([0.0, 0.0, 1.0]), Limits()
        if isinstance(kind, JointType):  # a ball has no axis, and its range is no angle of a hinge
            axis, limits = np.array(m.jnt_axis[j]), _limits(m, j)
            place = place @ kind.motion(axis, -float(m.qpos0[m.jnt_qposadr[j]]))
        drives, dry = self.drives, float(self.drives.frictionloss[j])
        parts: dict[str, Any] = {
            "limits": limits,
            "friction": FrictionLaw(float(drives.damping[j]), dry, dry),
            "rotor": Rotor(float(drives.armature[j])),
            "mimic": self._mimic(j),
        }
        ends = parent, child
        self.connections.append(Connection(name, kind, *ends, frozen(place), axis, **parts))

    def _mimic(self, j: int) -> Mimic | None:
        leader, ratio, offset = self.couplings.followers.get(j, (HELD, 0.0, 0.0))
        return None if leader == HELD else Mimic(self.joint_names[leader], ratio, offset)

    def _kind(self, j: int) -> JointType | CompoundType:
        word = mujoco.mjtJoint(self._m.jnt_type[j]).name.removeprefix("mjJNT_").lower()
        for kind in DESCRIBED_TYPES.values():
            if kind.mjcf == word:
                return kind
        if self._fix_root:
            return FIXED
        raise UnsupportedJointError(
            f"joint {self.joint_names[j]!r} of body {self.body_names[self._m.jnt_bodyid[j]]!r} is "
            f"of type {word!r}; armdyn handles hinge, slide and ball, and the free joint of a body "
            "that carries all that moves, without <connect> and <weld>. Pass fix_root=True "
            "(--fix-root) to hold the body where the file puts it",
            file=self._path,
        )


def _floating_root(m: Any) -> int:
    """The body on a free joint that carries all that moves; 0 if there is none, or it is tied."""
    free = m.jnt_bodyid[m.jnt_type == mujoco.mjtJoint.mjJNT_FREE]
    alone = len(free) == 1 and (m.body_rootid[m.jnt_bodyid] == free[0]).all()
    return int(free[0]) if alone and not any(np.isin(m.eq_type, list(KINDS))) else 0


def _limits(m: Any, j: int) -> Limits:
    lower, upper = m.jnt_range[j] if m.jnt_limited[j] else (-np.inf, np.inf)
    effort = np.abs(m.jnt_actfrcrange[j]).max() if m.jnt_actfrclimited[j] else np.inf
    return Limits(float(lower), float(upper), effort=float(effort))


@dataclass(frozen=True)
class Drives:
    """What the joints feel, by their numbers in the compiled model."""

    armature: Array
    """Inertia (njnt,) [kg m² or kg]."""
    damping: Array
    """Viscous coefficient (njnt,) [N m s/rad or N s/m]."""
    frictionloss: Array
    """Dry friction (njnt,) [N m or N]."""
    nonlinear: Array
    """Whether damping has powers of the speed, which are left out (njnt,)."""
    tendons_left: dict[int, list[str]]
    """Tendons that move with several coordinates, and their fields that are left out."""


def read_drives(m: Any, couplings: Couplings) -> Drives:
    """What the joints of a compiled model feel, where <flag> does not switch it off."""
    damped = switched_on(m, "PASSIVE", "DAMPER")
    factors = {
        "armature": 1.0,
        "damping": float(damped),
        "dampingpoly": float(damped),
        "frictionloss": float(switched_on(m, "CONSTRAINT", "FRICTIONLOSS")),
    }
    joints = {name: factor * _felt(m, "dof", name) for name, factor in factors.items()}
    tendons = {name: factor * _felt(m, "tendon", name) for name, factor in factors.items()}
    left: dict[int, list[str]] = {}
    for t in range(m.ntendon):
        arms = _moment_arms(m, t, couplings)
        if arms is None or len(arms) > 1:
            left[t] = [name for name, values in tendons.items() if np.any(values[t])]
            continue
        for j, c in arms.items():
            for name, values in joints.items():
                values[j] += tendons[name][t] * (abs(c) if name == "frictionloss" else c**2)
    nonlinear = np.any(joints.pop("dampingpoly"), axis=-1)
    return Drives(**joints, nonlinear=nonlinear, tendons_left=left)


def _felt(m: Any, target: str, name: str) -> Array:
    """A field of the joints or tendons with what actuators add to it; zeros if there is none."""
    first = m.jnt_dofadr if target == "dof" else np.arange(m.ntendon)
    shape = (len(first), 1) if name == "dampingpoly" else (len(first),)
    has_own, actuated = hasattr(m, f"{target}_{name}"), hasattr(m, f"actuator_{name}")
    felt: Array = np.array(getattr(m, f"{target}_{name}")[first]) if has_own else np.zeros(shape)
    T = mujoco.mjtTrn
    kinds = {"dof": (T.mjTRN_JOINT, T.mjTRN_JOINTINPARENT), "tendon": (T.mjTRN_TENDON,)}
    for i, kind in enumerate(m.actuator_trntype if actuated else ()):
        if int(kind) in kinds[target]:
            added = getattr(m, f"actuator_{name}")[i]
            felt[m.actuator_trnid[i, 0]] += m.actuator_gear[i, 0] ** 2 * added
    return felt


def _moment_arms(m: Any, t: int, couplings: Couplings) -> dict[int, float] | None:
    """How the length of a tendon changes with each coordinate; None unless that is constant."""
    arms: dict[int, float] = {}
    for w in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]):
        if m.wrap_type[w] != mujoco.mjtWrap.mjWRAP_JOINT:
            return None
        joint, ratio, _ = couplings.coordinate(int(m.wrap_objid[w]))
        arms[joint] = arms.get(joint, 0.0) + ratio * float(m.wrap_prm[w])
    return {joint: arm for joint, arm in arms.items() if arm}


def unmodelled(
    m: Any, bodies: list[str], joints: list[str], drives: Drives, equalities: Mapping[int, str]
) -> Iterator[str]:
    """Everything in a compiled model that is left out, by joint and body.

    `equalities` are those that nothing stands for, with what is wrong with those of joints.
    """
    for text in (
        *_joint_terms(m, joints, drives),
        *_body_terms(m, bodies),
        *_tendon_terms(m, drives),
        *_actuator_terms(m),
        *_equalities_left(m, joints, equalities),
    ):
        yield f"{text}; armdyn leaves it out, so its torques differ from MuJoCo's"


def approximated(m: Any, joints: list[str], drives: Drives) -> Iterator[str]:
    """Ball joints whose drive is not quite that of three hinges."""
    for j in np.flatnonzero(m.jnt_type == mujoco.mjtJoint.mjJNT_BALL):
        fields = ("armature", "damping", "frictionloss")
        felt = [name for name in fields if getattr(drives, name)[j]]
        where = f"joint {joints[j]!r} is a ball, which is read as three hinges;"
        if felt:
            yield (
                f"{where} its {' and '.join(felt)} is that of each hinge, which is MuJoCo's only "
                "where the angle of the middle hinge is 0"
            )
        if m.jnt_limited[j]:
            yield f"{where} its range is left out"


def _joint_terms(m: Any, joints: list[str], drives: Drives) -> Iterator[str]:
    for j, name in enumerate(joints):
        felt = (drives.armature[j], drives.damping[j], drives.frictionloss[j])
        if m.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE and any(felt):
            yield f"the free joint {name!r} has armature, damping or friction loss"
        curved = _any(m, "jnt_stiffnesspoly", j) or _any(m, "jnt_springyield", j)
        if switched_on(m, "PASSIVE", "SPRING") and (curved or m.jnt_stiffness[j]):
            if curved:
                yield f"joint {name!r} has a spring that is not linear in its position"
            elif m.jnt_type[j] not in SPRUNG:
                yield f"joint {name!r} has a spring (stiffness {m.jnt_stiffness[j]:g})"
        if drives.nonlinear[j]:
            yield f"joint {name!r} has damping that is not linear in its speed"


def _body_terms(m: Any, bodies: list[str]) -> Iterator[str]:
    compensated = passive_forces(m) and switched_on(m, "GRAVITY")
    for i, name in enumerate(bodies):
        if m.body_gravcomp[i] and compensated and _has_passive_joint(m, i):
            yield f"body {name!r} has its gravity compensated (gravcomp {m.body_gravcomp[i]:g})"
        if m.body_mocapid[i] >= 0:
            yield f"body {name!r} is moved from outside (mocap)"
    if (m.opt.density or m.opt.viscosity) and passive_forces(m):
        yield (
            f"the bodies move in a fluid (density {m.opt.density:g}, viscosity {m.opt.viscosity:g})"
        )
    if m.nflex:
        yield "there are deformable bodies (flex)"
    if m.nplugin:
        yield "there are plugins"


def _has_passive_joint(m: Any, body: int) -> bool:
    """Whether a joint that carries a body has its compensation as a passive force."""
    active = getattr(m, "jnt_actgravcomp", np.zeros(m.njnt))
    while body:
        if not np.all(active[m.body_jntadr[body] :][: m.body_jntnum[body]]):
            return True
        body = m.body_parentid[body]
    return False


def _tendon_terms(m: Any, drives: Drives) -> Iterator[str]:
    springs = switched_on(m, "PASSIVE", "SPRING")
    for t in range(m.ntendon):
        stiff = _any(m, "tendon_stiffness", t) or _any(m, "tendon_stiffnesspoly", t)
        felt = ["stiffness"] * (springs and stiff) + drives.tendons_left.get(t, [])
        if felt:
            yield f"tendon {m.tendon(t).name or t!r} has {' and '.join(felt)}"


def _actuator_terms(m: Any) -> Iterator[str]:
    """Actuators that act whatever the controls are; the others give the torque that is asked."""
    gains = (mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtGain.mjGAIN_AFFINE)
    for i in np.flatnonzero(m.actuator_biastype != mujoco.mjtBias.mjBIAS_NONE):
        idle = int(m.actuator_gaintype[i]) in gains and not np.any(m.actuator_gainprm[i][:3])
        without_input = hasattr(m, "actuator_ctrlnum") and not m.actuator_ctrlnum[i]
        if without_input or (idle and np.any(m.actuator_biasprm[i])):
            yield f"actuator {m.actuator(i).name or i!r} acts without a control"


def _equalities_left(m: Any, joints: list[str], left: Mapping[int, str]) -> Iterator[str]:
    for i, fault in left.items():
        kind = mujoco.mjtEq(m.eq_type[i]).name.removeprefix("mjEQ_").lower()
        what = f"there is an equality constraint {m.eq(i).name or i!r} of type {kind!r}"
        yield f"{what} on joint {joints[m.eq_obj1id[i]]!r} {fault}" if fault else what


def _any(m: Any, field: str, index: int) -> bool:
    """Whether an entry of a field is not zero; fields that this MuJoCo lacks are."""
    return bool(np.any(getattr(m, field)[index])) if hasattr(m, field) else False
