"""Random robots with loops, in a plane and in space, that are assembled as they are made."""

from dataclasses import replace

import numpy as np

from armdyn.arrays import frozen
from armdyn.formulations.kinematics import world_frames
from armdyn.formulations.lagrange_euler import homogeneous
from armdyn.model import Connection, FrictionLaw, Inertia, Rotor, assemble
from armdyn.model.cut_joints import CUT_JOINTS
from armdyn.model.edit import coupling_between, loop_between, with_loops
from armdyn.model.joint_types import joint_type
from armdyn.model.transform import rotation_from_rpy, transform


class RandomRobot:
    """A tree that grows joint by joint, and the loops that close it where it stands."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.links, self.connections = {"base": Inertia.zero()}, []
        self.positions, self.passive, self.cuts, self.gears = {}, [], [], []

    def add(
        self, name, parent, place, kind="revolute", axis=(0.0, 0.0, 1.0), passive=True, at=None
    ):
        """A joint with its link, at a random position unless it is given."""
        rng = self.rng
        inertia = np.diag(rng.uniform(0.02, 0.03, 3))
        self.links[name] = Inertia.from_com(rng.uniform(0.5, 2), rng.uniform(-0.1, 0.1, 3), inertia)
        kind = joint_type("helical", 0.05) if kind == "helical" else kind
        self.connections.append(
            Connection(
                *(name, kind, parent, name, frozen(place), axis),
                friction=FrictionLaw(viscous=float(rng.uniform(0.05, 0.2))),
                rotor=Rotor(0.0 if passive else 0.001, 1.0 if passive else 10.0),
            )
        )
        reach = 0.2 if kind == "prismatic" else 1.2
        self.positions[name] = float(rng.uniform(-reach, reach)) if at is None else at
        if passive:
            self.passive.append(name)
        return name

    def close(self, name, kind, a, b, on_a, free=None, length=0.0):
        """A cut joint between a place on link a and where that is on link b, moved by `free`."""
        self.cuts.append((name, kind, a, b, on_a, np.eye(4) if free is None else free, length))

    def follow(self, follower, leader, powers):
        """A joint that follows another."""
        self.gears.append((follower, leader, powers))

    def model(self, name="random"):
        """The robot."""
        tree = assemble(name, self.links, self.connections, tool=self.connections[-1].child)
        q = np.array([self.positions[joint.name] for joint in tree.joints])
        frames, index = world_frames(tree, q), {j.name: i for i, j in enumerate(tree.joints)}
        loops = []
        for title, kind, a, b, on_a, free, length in self.cuts:
            T = [homogeneous(*frames.link(index.get(end, -1))) for end in (a, b)]
            on_b = np.linalg.inv(T[1]) @ T[0] @ on_a @ free
            cut = CUT_JOINTS[kind]
            loops.append(loop_between(tree, title, cut, (a, on_a), (b, on_b), length))
        for follower, leader, powers in self.gears:
            value = sum(c * self.positions[leader] ** k for k, c in enumerate(powers, 1))
            start = self.positions[follower] - value
            title = f"{follower} follows"
            loops.append(coupling_between(tree, title, follower, leader, (start, *powers)))
        return with_loops(tree, loops, self.passive, self.positions)


def planar(seed, cut="revolute", kinds=("RR", "RR"), actuated=((0,), (0,)), host="base"):
    """A loop in a plane that lies anywhere: two branches of R and P joints, closed by a cut."""
    robot = RandomRobot(seed)
    rng = robot.rng
    tilt = transform(rotation_from_rpy(rng.uniform(-2, 2, 3)), rng.uniform(-0.3, 0.3, 3))
    if host == "swing":
        robot.add("swing", "base", np.eye(4), passive=False)
    ends = planar_branches(robot, host, tilt, kinds, actuated)
    on_a = transform(None, (*rng.uniform(0.2, 0.5, 2), 0.0))
    free = turned(rng.uniform(-2, 2), 0.0)
    if cut == "prismatic":  # z along a line in the plane
        on_a = on_a @ transform(rotation_from_rpy((np.pi / 2, 0.0, 0.0)))
        free = transform(None, (0.0, 0.0, rng.uniform(-0.1, 0.1)))
    if cut == "planar":  # a plane that is normal to that of the loop
        on_a = on_a @ transform(rotation_from_rpy((np.pi / 2, 0.0, 0.0)))
        free = transform(None, (rng.uniform(-0.1, 0.1), 0.0, 0.0))
    robot.close("cut", cut, *ends, on_a, free)
    return robot


def planar_branches(robot, host, tilt, kinds, actuated, prefix=""):
    """Two branches of joints in a plane that stand on one link; their last links."""
    rng, ends = robot.rng, []
    for side, letters, driven in zip("ab", kinds, actuated, strict=True):
        parent, place = (
            host,
            tilt @ transform(None, (0.6 * (side == "b"), rng.uniform(-0.1, 0.1), 0)),
        )
        for k, letter in enumerate(letters):
            angle = rng.uniform(-3, 3)
            axis = (np.cos(angle), np.sin(angle), 0.0) if letter == "P" else (0.0, 0.0, 1.0)
            if letter == "R" and rng.random() < 0.3:
                axis = (0.0, 0.0, -1.0)
            kind = {"P": "prismatic", "R": "revolute"}[letter]
            name = f"{prefix}{side}{k}"
            parent = robot.add(name, parent, place, kind, axis, passive=k not in driven)
            place = transform(None, (*rng.uniform(0.15, 0.5, 2) * rng.choice([-1, 1], 2), 0.0))
        ends.append(parent)
    return ends


def turned(angle, slide):
    """A turn about z and a slide along it."""
    return transform(rotation_from_rpy((0.0, 0.0, angle)), (0.0, 0.0, slide))


def spatial(seed, kinds, actuated, cut, split=None, length=0.0):
    """A chain in space from the base, closed at the base or at a second branch by a cut."""
    robot = RandomRobot(seed)
    rng, parent, ends = robot.rng, "base", []
    for k, letter in enumerate(kinds):
        if k == split:
            ends.append(parent)
            parent = "base"
        place = transform(rotation_from_rpy(rng.uniform(-1.5, 1.5, 3)), rng.uniform(-0.4, 0.4, 3))
        kind = {"R": "revolute", "P": "prismatic", "H": "helical"}[letter]
        parent = robot.add(f"j{k}", parent, place, kind, passive=k not in actuated)
    ends = [*ends, parent] if ends else [parent, "base"]
    on_a = transform(rotation_from_rpy(rng.uniform(-1, 1, 3)), rng.uniform(-0.3, 0.3, 3))
    free = {
        "revolute": turned(rng.uniform(-2, 2), 0.0),
        "prismatic": turned(0.0, rng.uniform(-0.2, 0.2)),
        "cylindrical": turned(rng.uniform(-2, 2), rng.uniform(-0.2, 0.2)),
        "spherical": transform(rotation_from_rpy(rng.uniform(-2, 2, 3))),
        "planar": turned(rng.uniform(-2, 2), 0.0)
        @ transform(None, (*rng.uniform(-0.2, 0.2, 2), 0)),
        "fixed": np.eye(4),
        "distance": transform(None, (length, 0.0, 0.0)),
    }[cut]
    robot.close("cut", cut, *ends, on_a, free, length)
    return robot


def in_plane(robot, low, high):
    """A place in the plane of x and y."""
    return transform(None, (*robot.rng.uniform(low, high, 2), 0.0))


def lengthened(model, q, k):
    """Positions with slides as much longer."""
    return np.where([joint.type.turns for joint in model.joints], q, k * q)


def scaled(model, k):
    """The robot, so much larger."""

    def longer(T):
        T = np.array(T)
        T[:3, 3] *= k
        return T

    joints = tuple(replace(joint, placement=longer(joint.placement)) for joint in model.joints)
    loops = tuple(
        replace(x, frame_a=longer(x.frame_a), frame_b=longer(x.frame_b), length=k * x.length)
        for x in model.loops
    )
    return replace(model, joints=joints, loops=loops, assembly=lengthened(model, model.assembly, k))


def six_bar(seed):
    """A four-bar whose rocker drives another one in the same plane."""
    robot = planar(seed, kinds=("RR", "R"), actuated=((0,), ()))
    tilt = robot.connections[0].placement
    robot.add("c0", "b0", in_plane(robot, 0.1, 0.4))
    robot.add("d0", "base", tilt @ in_plane(robot, 0.5, 1.0))
    robot.close("second", "revolute", "c0", "d0", in_plane(robot, 0.2, 0.5), turned(0.3, 0.0))
    return robot


def hanging(seed):
    """A four-bar, and another one in another plane that stands on its coupler."""
    robot = planar(seed, kinds=("RR", "R"), actuated=((0,), ()))
    rng = robot.rng
    place = transform(rotation_from_rpy(rng.uniform(-1, 1, 3)), rng.uniform(-0.2, 0.2, 3))
    ends = planar_branches(robot, "a1", place, ("RR", "R"), ((0,), ()), "x")
    robot.close("second", "spherical", *ends, in_plane(robot, 0.2, 0.5))
    return robot


def mixed(seed):
    """A five-bar, a spatial loop that stands on its first link, and a joint that follows."""
    robot = planar(seed)
    rng = robot.rng
    for k, parent in enumerate(("a0", "k0", "k1", "a0")):
        place = transform(rotation_from_rpy(rng.uniform(-1, 1, 3)), rng.uniform(-0.3, 0.3, 3))
        robot.add(f"k{k}", parent, place, passive=k > 0)
    robot.close("ball", "spherical", "k2", "k3", in_plane(robot, 0.1, 0.3))
    robot.add("finger", "k3", in_plane(robot, 0.1, 0.2))
    robot.follow("finger", "b0", (0.4, -0.2, 0.1))
    return robot


def _dyad(kinds, actuated, **more):
    return lambda seed: planar(seed, kinds=kinds, actuated=actuated, **more)


def _space(kinds, actuated, cut, **more):
    return lambda seed: spatial(seed, kinds, actuated, cut, **more)


ROBOTS = {
    "four-bar": _dyad(("RR", "R"), ((0,), ())),
    "five-bar": planar,
    "five-bar on a swing": _dyad(("RR", "RR"), ((0,), (0,)), cut="spherical", host="swing"),
    "five-bar by a cylinder": _dyad(("RR", "RR"), ((0,), (0,)), cut="cylindrical"),
    "slide on a crank": _dyad(("RP", "RR"), ((0,), (0,))),
    "a slide with a motor first": _dyad(("PR", "RR"), ((0,), (0,))),
    "inverted slider": _dyad(("RP", "R"), ((), (0,))),
    "slider crank": _dyad(("RR", "P"), ((0,), ())),
    "cut slide": _dyad(("RR", "R"), ((0,), ()), cut="prismatic"),
    "cut plane": _dyad(("RR", "R"), ((0,), ()), cut="planar"),
    "cut at the base": _dyad(("RRR", ""), ((0,), ())),
    "three motors": _dyad(("RRR", "RR"), ((0, 1), (0,))),
    "six-bar": six_bar,
    "hanging": hanging,
    "mixed": mixed,
    "RSSR": _space("RRRR", (0,), "spherical", split=3),
    "RCCC": _space("RRPRP", (0,), "cylindrical"),
    "RRRR on a plane": _space("RRRR", (0,), "planar"),
    "6R and a slide": _space("RRRRRR", (0,), "prismatic"),
    "7 joints and a hinge": _space("RRPRRRR", (0, 1), "revolute", split=3),
    "7 joints, held": _space("RRRRPRR", (0,), "fixed"),
    "rod": _space("RRR", (0, 2), "distance", split=2, length=0.4),
    "screw": _space("RHRR", (0,), "spherical"),
    "motor at the end": _space("RRRR", (3,), "spherical"),
}
"""Kinds of robots, each a function of a seed."""
