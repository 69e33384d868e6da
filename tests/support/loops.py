"""Robots with loops that tests share: those of the golden values, as files, and random ones."""

import numpy as np

from armdyn.arrays import frozen
from armdyn.formulations.kinematics import world_frames
from armdyn.formulations.lagrange_euler import homogeneous
from armdyn.model import Connection, FrictionLaw, Inertia, assemble
from armdyn.model.cut_joints import CUT_JOINTS
from armdyn.model.edit import loop_between, with_loops
from armdyn.model.transform import rotation_from_rpy, transform

HEAD = """
format = 1
name = "{name}"
[base]
rpy = [1.5707963267948966, 0.0, 0.0]
[[link]]
name = "base"
"""
LINK = """[[link]]
name = "{name}"
mass = {mass}
com = [{x}, {y}, 0.0]
inertia = [{inertia[0]}, {inertia[1]}, {inertia[2]}]
"""
BOX = """[[link]]
name = "{name}"
shape = {{ type = "box", size = [{x}, 0.03, 0.01], position = [{half}, 0.01, 0.0], density = 7850.0 }}
"""
JOINT = """[[joint]]
name = "{name}"
type = "revolute"
parent = "{parent}"
child = "{child}"
position = [{x}, {y}, 0.0]
viscous = {viscous}
"""
PIN = """[[loops]]
name = "{name}"
type = "revolute"
a = {{ link = "{a}", position = [{on_a}, 0.0, 0.0] }}
b = {{ link = "{b}", position = [{on_b}, 0.0, 0.0] }}
"""


def planar_file(name, links, joints, loops, assembly):
    """A planar robot as TOML.

    Links are (name, mass, x, y, inertia) or boxes (name, length); joints (name, parent, child, x,
    y, viscous, actuated); loops (name, a, place on a, b, place on b).
    """
    text = HEAD.format(name=name)
    for title, *rest in links:
        if len(rest) == 1:
            text += BOX.format(name=title, x=rest[0], half=rest[0] / 2)
        else:
            mass, x, y, inertia = rest
            text += LINK.format(name=title, mass=mass, x=x, y=y, inertia=inertia)
    for title, parent, child, x, y, viscous, actuated in joints:
        place = {"parent": parent, "child": child, "x": x, "y": y, "viscous": viscous}
        text += JOINT.format(name=title, **place) + ("" if actuated else "actuated = false\n")
    for title, a, on_a, b, on_b in loops:
        text += PIN.format(name=title, a=a, on_a=on_a, b=b, on_b=on_b)
    return text + "[assembly]\n" + "".join(f"{j} = {x}\n" for j, x in assembly.items())


FIVE_BAR = planar_file(
    "five_bar",
    [
        ("link1", 1.9, 0.16, 0.012, (0.0024, 0.0228, 0.024)),
        ("link2", 1.25, 0.27, -0.008, (0.0031, 0.02945, 0.031)),
        ("link3", 1.6, 0.14, 0.006, (0.0018, 0.0171, 0.018)),
        ("link4", 1.05, 0.22, 0.01, (0.0022, 0.0209, 0.022)),
    ],
    [
        ("q_link1", "base", "link1", 0.0, 0.0, 0.3, True),
        ("q_link2", "link1", "link2", 0.35, 0.0, 0.05, False),
        ("q_link3", "base", "link3", 0.28, 0.0, 0.25, True),
        ("q_link4", "link3", "link4", 0.31, 0.0, 0.04, False),
    ],
    [("pin", "link2", 0.52, "link4", 0.47)],
    {"q_link1": 2.3, "q_link2": -1.72, "q_link3": 0.7, "q_link4": 1.61},
)
PARALLELOGRAM_ARM = planar_file(
    "parallelogram_arm",
    [
        ("link1", 5.2, 0.28, 0.01, (0.019, 0.1805, 0.19)),
        ("crank", 3.1, 0.11, -0.006, (0.0028, 0.0266, 0.028)),
        ("coupler", 2.4, 0.33, 0.009, (0.0088, 0.0836, 0.088)),
        ("forearm", 4.0, -0.21, 0.004, (0.016, 0.152, 0.16)),
    ],
    [
        ("q_link1", "base", "link1", 0.0, 0.0, 0.8, True),
        ("q_crank", "base", "crank", 0.0, 0.0, 0.6, True),
        ("q_coupler", "crank", "coupler", 0.25, 0.0, 0.07, False),
        ("q_forearm", "link1", "forearm", 0.6, 0.0, 0.09, False),
    ],
    [("pin", "coupler", 0.6, "forearm", 0.25)],
    {"q_link1": 1.1, "q_crank": 2.4, "q_coupler": -1.3, "q_forearm": 1.3},
)
SIX_BAR = planar_file(
    "six_bar",
    [
        *(("crank", 0.1), ("coupler", 0.3), ("rocker", 0.25), ("rod", 0.28)),
        ("lever", 0.4, 0.08, 0.01, (0.001, 0.002, 0.002)),
    ],
    [
        ("crank", "base", "crank", 0.0, 0.0, 0.0, True),
        ("coupler", "crank", "coupler", 0.1, 0.0, 0.01, False),
        ("rocker", "base", "rocker", 0.3, 0.0, 0.0, False),
        ("rod", "rocker", "rod", 0.2, 0.05, 0.0, False),
        ("lever", "base", "lever", 0.6, -0.02, 0.02, False),
    ],
    [("first", "coupler", 0.3, "rocker", 0.25), ("second", "rod", 0.28, "lever", 0.2)],
    {"crank": 1.0, "coupler": -0.5, "rocker": 1.6, "rod": -1.5, "lever": 1.7},
)
"""Two four-bars, the second driven by the rocker of the first; one motor."""


def dyad_arm(kind, tilt=True):
    """A model with one planar loop, not aligned with anything, whose dyad is of a kind.

    Two branches stand on a first joint that is out of the plane: crank and rod on one side, rocker
    and what the dyad has in it on the other.
    """
    rng = np.random.default_rng(5)
    plane = np.eye(4)
    if tilt:
        plane = transform(rotation_from_rpy((0.4, -0.7, 0.3)), (0.1, -0.2, 0.3))
    slide, turn = "prismatic", "revolute"
    types = {
        "RRR": (turn, turn, turn, turn, {"a2", "b2"}),
        "RPR": (turn, turn, turn, slide, {"b1", "b2"}),
        "RRP": (turn, turn, turn, slide, {"a2", "b2"}),
        "PRR": (turn, turn, slide, turn, {"a2", "b1"}),
        "one_branch": (turn, turn, turn, turn, {"a2", "a3"}),
        "PP": (turn, turn, slide, slide, {"b1", "b2"}),
    }[kind]
    one = kind == "one_branch"
    chain = [("swing", turn, "base"), ("a1", types[0], "swing"), ("a2", types[1], "a1")]
    if one:
        chain += [("a3", turn, "a2"), ("b1", types[2], "swing")]
    else:
        chain += [("b1", types[2], "swing"), ("b2", types[3], "b1")]
    places = {"a1": (0.0, 0.0), "a2": (0.4, 0.1), "a3": (0.5, -0.1), "b1": (0.6, 0.05)}
    places["b2"] = (0.3, 0.02)
    axes = {"b1": (1.0, 0.0, 0.0), "b2": (0.6, 0.8, 0.0) if tilt else (0.0, 1.0, 0.0)}
    connections, links = [], {"base": Inertia.zero()}
    for name, kind_of, parent in chain:
        links[name] = Inertia.from_com(
            rng.uniform(1, 2), rng.uniform(-0.1, 0.1, 3), np.diag(rng.uniform(0.02, 0.03, 3))
        )
        place = plane if parent == "swing" else np.eye(4)
        place = place @ transform(None, (*places.get(name, (0.0, 0.0)), 0.0))
        axis = axes.get(name, (0, 0, 1)) if kind_of == slide else (0.0, 0.0, 1.0)
        if name == "swing":
            place, axis = np.eye(4), (0.0, 0.0, 1.0)
        connections.append(Connection(name, kind_of, parent, name, frozen(place), axis))
    model = assemble("dyad", links, connections, tool="a2")
    assembly = {"swing": 0.3, "a1": 1.2, "a2": -0.9, "a3": -0.8, "b1": 1.9, "b2": -1.0}
    assembly |= {name: 0.2 for name, kind_of, _ in chain if kind_of == slide}
    known = {j.name for j in model.joints}
    assembly = {name: x for name, x in assembly.items() if name in known}
    frames = world_frames(model, np.array([assembly[j.name] for j in model.joints]))
    a, b = ("a3", "b1") if one else ("a2", "b2")
    index = {j.name: i for i, j in enumerate(model.joints)}
    on_a = transform(None, (0.45, -0.05, 0.0))
    pin = homogeneous(*frames.link(index[a])) @ on_a
    on_b = np.linalg.inv(homogeneous(*frames.link(index[b]))) @ pin
    on_b[:3, :3] = np.eye(3)
    loop = loop_between(model, "pin", CUT_JOINTS["revolute"], (a, on_a), (b, on_b))
    return with_loops(model, [loop], types[4], assembly)


def spatial_loop():
    """A model with a chain of seven joints in space, closed by a hinge, without a closed form."""
    rng = np.random.default_rng(7)
    links, connections, parent = {"base": Inertia.zero()}, [], "base"
    names = [f"j{i}" for i in range(1, 8)]
    for name in names:
        links[name] = Inertia.from_com(
            rng.uniform(1, 2), rng.uniform(-0.1, 0.1, 3), np.diag(rng.uniform(0.02, 0.03, 3))
        )
        place = transform(rotation_from_rpy(rng.uniform(-1.2, 1.2, 3)), rng.uniform(-0.4, 0.4, 3))
        friction = FrictionLaw(viscous=float(rng.uniform(0.05, 0.2)))
        connections.append(
            Connection(name, "revolute", parent, name, frozen(place), friction=friction)
        )
        parent = name
    model = assemble("spatial loop", links, connections, tool="j3")
    assembly = dict(zip(names, rng.uniform(-0.7, 0.7, 7), strict=True))
    q = np.array(list(assembly.values()))
    on_a = transform(rotation_from_rpy((0.3, 0.5, -0.2)), (0.2, 0.1, -0.1))
    on_b = homogeneous(*world_frames(model, q).link(6)) @ on_a
    loop = loop_between(model, "hinge", CUT_JOINTS["revolute"], ("j7", on_a), ("base", on_b))
    return with_loops(model, [loop], names[2:], assembly)


def rod_arm():
    """A model with two levers about skew axes on a first joint, and a light rod between them."""
    rng = np.random.default_rng(2)
    places = {
        "swing": (None, (0.0, 0.0, 0.2)),
        "crank": ((0.3, 0.4, 0.0), (0.1, 0.0, 0.1)),
        "rocker": ((-0.5, 0.2, 0.3), (0.5, 0.1, 0.0)),
    }
    links, connections = {"base": Inertia.zero()}, []
    for name, (rpy, place) in places.items():
        links[name] = Inertia.from_com(
            rng.uniform(1, 2), rng.uniform(-0.1, 0.1, 3), np.diag(rng.uniform(0.02, 0.03, 3))
        )
        placement = transform(rotation_from_rpy(rpy or (0.4, 0.0, 0.0)), place)
        friction = FrictionLaw(viscous=float(rng.uniform(0.05, 0.2)))
        parent = "base" if name == "swing" else "swing"
        connections.append(
            Connection(name, "revolute", parent, name, frozen(placement), friction=friction)
        )
    model = assemble("rod arm", links, connections, tool="rocker")
    ends = [(name, transform(None, (0.3, 0.05, 0.0))) for name in ("crank", "rocker")]
    loop = loop_between(model, "rod", CUT_JOINTS["distance"], *ends, 0.5)
    return with_loops(model, [loop], ["rocker"], {"swing": 0.2, "crank": 1.1, "rocker": 0.9})
