"""Why another library may compute another torque: each cause as a change to the robot.

A change is what the library makes of the description, so the torque of the changed robot must be
its torque, to rounding. What it decides about are its slots; causes that share one exclude each
other.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from armdyn.arrays import Array
from armdyn.compare.cause import Cause, Edit, each_body, each_joint
from armdyn.compare.files import Material, Sources
from armdyn.compare.friction import friction_causes, own_terms
from armdyn.compare.misread import Misread
from armdyn.compare.peers import Answer
from armdyn.model import GRAVITY, Inertia, RobotModel, Rotor
from armdyn.model.edit import with_base, with_gravity, without_payload

STANDARD_GRAVITY = 9.80665


def causes(sources: Sources, material: Material, answer: Answer) -> list[Cause]:
    """Every cause there may be for a library that was given this file and gave this answer."""
    return [
        *_geometry(sources),
        *_misread(material),
        *_inertias(material),
        *_gravity(material.model),
        *friction_causes(material.model),
        *own_terms(material.model, answer),
        Cause(
            "rotors",
            "has no rotor inertia (armature)",
            frozenset({"rotor"}),
            each_joint(lambda joint: replace(joint, rotor=Rotor())),
        ),
        Cause(
            "mimic",
            "gives mimic joints torques of their own, not in that of the joint they follow",
            frozenset({"mimic"}),
            uncouples=True,
        ),
    ]


def _geometry(sources: Sources) -> Iterator[Cause]:
    other = sources.otherwise
    if other is not None:
        wrong = "modified" if sources.convention == "standard" else "standard"
        text = f"reads the {sources.convention} DH table as {wrong}"
        yield Cause("DH convention", text, frozenset({"table"}), lambda _: other, rigid=True)
    yield Cause(
        "base",
        "stands upright at the origin, whatever the placement of the base",
        frozenset({"base"}),
        lambda model: with_base(model, None),
        rigid=True,
    )


def _misread(material: Material) -> Iterator[Cause]:
    if material.file.suffix.lower() != ".urdf":
        return
    file = Misread(material.file)
    for name, text, edit in (
        (
            "fixed joints",
            "forgets the fixed joints that come before a moving one",
            file.without_fixed_joints,
        ),
        (
            "fixed links",
            "puts links that are fixed side by side one behind the other",
            file.with_fixed_links_in_a_row,
        ),
        (
            "oblique axes",
            "misreads an axis with several components, as z of a frame turned about it",
            file.with_oblique_axes_turned,
        ),
    ):
        yield Cause(name, text, frozenset({name}), edit, rigid=True)
    back = file.signs(material.model)
    yield Cause(
        "negative axes",
        "takes speed and torque of joints with a negative axis the wrong way round",
        frozenset({"signs"}),
        lambda model: file.with_axes_reversed(model, back),
        rigid=True,
        signs=back,
    )


def _inertias(material: Material) -> Iterator[Cause]:
    slots = frozenset({"inertia"})
    plain = material.plain
    yield Cause(
        "inertial rpy",
        "loses the rotation of the inertial frame (rpy of <inertial>)",
        slots,
        each_body(lambda body: replace(body, inertia=_unturned(body.inertia))),
        rigid=True,
    )
    yield Cause(
        "reduced inertias",
        "was not given the reduced inertias, which mass, centre of mass and tensor cannot hold",
        slots,
        lambda model: replace(model, links=plain.links, base_link=plain.base_link),
        rigid=True,
    )
    payload = frozenset({"payload"})
    yield Cause("payload", "leaves out the payload", payload, without_payload, rigid=True)


def _unturned(inertia: Inertia) -> Inertia:
    if inertia.given_about != "com" or not inertia.has_com:
        return inertia
    return Inertia.from_com(inertia.mass, inertia.com, inertia.tensor_as_given)


def _gravity(model: RobotModel) -> Iterator[Cause]:
    size = float(np.linalg.norm(model.gravity))
    fields = [
        ("gravity", "takes gravity as (0, 0, -9.81) m/s²", GRAVITY),
        ("no gravity", "has no gravity", np.zeros(3)),
        ("gravity upwards", "takes gravity the other way round", -model.gravity),
    ]
    if size:
        standard = model.gravity * (STANDARD_GRAVITY / size)
        text = f"computes with gravity {STANDARD_GRAVITY} m/s²"
        fields.insert(0, (f"gravity {STANDARD_GRAVITY}", text, standard))
    for name, text, value in fields:
        yield Cause(name, text, frozenset({"gravity"}), _in_field(value), rigid=True)


def _in_field(gravity: Array) -> Edit:
    return lambda model: with_gravity(model, gravity)
