"""A robot as plain data, for people to read and programs to parse."""

import math
from dataclasses import asdict
from typing import Any

import numpy as np

from armdyn.io.catalog import catalog_names
from armdyn.io.files import read_model
from armdyn.io.keys import keys_from_part, keys_from_spring
from armdyn.model import Body, Drive, Joint, JointSpring, Link, Loop, RobotModel, Spring


def catalog() -> list[dict[str, Any]]:
    """Name, title, joints, mass, source and note of every robot in the catalog."""
    keys = ("name", "title", "kinds", "moving_mass", "source", "note")
    robots = (describe(read_model(name)[0]) for name in catalog_names())
    return [{key: robot[key] for key in keys} for robot in robots]


def describe(model: RobotModel) -> dict[str, Any]:
    """Everything a robot is made of, in SI units, tensors as given; None: no limit."""
    return {
        "name": model.name,
        "title": model.title,
        "joints": [_joint(model, i) for i in range(len(model.joints))],
        "drives": [
            {"name": drive.name, "joints": dict(drive.ratios), **_motor(drive)}
            for drive in model.drives
        ],
        "springs": [_spring(model, spring) for spring in model.springs],
        "loops": [_loop(model, loop) for loop in model.loops],
        "assembly": None if model.assembly is None else model.assembly.tolist(),
        "links": [_link(link) for link in model.links],
        "base_link": _link(model.base_link),
        "kinds": "".join(joint.type.letter for joint in model.joints),
        "coordinates": len(model.independent),
        "moving_mass": sum(link.inertia.mass for link in model.links),
        "total_mass": sum(link.inertia.mass for link in (model.base_link, *model.links)),
        "gravity": model.gravity.tolist(),
        "base": model.base.tolist(),
        "flange": model.flange.name,
        "tool": model.tool.tolist(),
        "reduced": model.reduced,
        "floating": model.floating,
        "source": model.source,
        "note": model.note,
    }


def _joint(model: RobotModel, i: int) -> dict[str, Any]:
    joint = model.joints[i]
    return {
        "name": joint.name,
        "kind": joint.kind,
        "pitch": joint.type.slide if joint.type.pitched else None,
        "parent": model.base_link.name if joint.parent < 0 else model.links[joint.parent].name,
        "link": model.links[i].name,
        "axis": joint.axis.tolist(),
        "placement": joint.placement.tolist(),
        "limits": {name: _finite(value) for name, value in asdict(joint.limits).items()},
        **_motor(joint),
        "mimic": None if joint.mimic is None else asdict(joint.mimic),
        "actuated": joint.actuated,
        "transmission": dict(keys_from_part(joint.transmission))
        if joint.transmission.gives
        else {},
    }


def _loop(model: RobotModel, loop: Loop) -> dict[str, Any]:
    names = [*(link.name for link in model.links), model.base_link.name]  # -1 is the base
    called = {"name": loop.name, "type": loop.cut.name}
    if loop.couples:
        ends = {"follower": loop.link_a, "leader": loop.link_b}
        joints = {end: model.joints[i].name for end, i in ends.items()}
        return called | joints | {"coefficients": list(loop.coefficients)}
    return called | {
        "a": {"link": names[loop.link_a], "placement": loop.frame_a.tolist()},
        "b": {"link": names[loop.link_b], "placement": loop.frame_b.tolist()},
        "length": loop.length if loop.cut.has_length else None,
    }


def _spring(model: RobotModel, spring: Spring | JointSpring) -> dict[str, Any]:
    keys = dict(keys_from_spring(model, spring))
    points = {key: keys[key].tolist() for key in ("point", "anchor") if key in keys}
    return keys | points | {"free_length": spring.free_length}


def _motor(owner: Joint | Drive) -> dict[str, Any]:
    friction = owner.friction.parameters
    return {
        "friction": {name: _finite(value) for name, value in friction.items()},
        "rotor": asdict(owner.rotor) | {"reflected": owner.rotor.reflected},
    }


def _link(link: Link) -> dict[str, Any]:
    return {
        "name": link.name,
        "mass": link.inertia.mass,
        "com": link.inertia.com.tolist(),
        "moment_about_com": link.inertia.moment_about_com.tolist(),
        "bodies": [_body(body) for body in link.bodies],
    }


def _body(body: Body) -> dict[str, Any]:
    inertia = body.inertia
    same_axes = np.allclose(inertia.given_axes, np.eye(3))
    return {
        "name": body.name,
        "payload": body.payload,
        "mass": inertia.mass,
        "com": inertia.com.tolist(),
        "inertia": inertia.tensor_as_given.tolist(),
        "inertia_about": inertia.given_about,
        "inertia_axes": None if same_axes else inertia.given_axes.tolist(),
        "placement": body.placement.tolist(),
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
