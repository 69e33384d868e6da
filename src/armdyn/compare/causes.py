"""Why another library may compute another torque: each cause as a change to the robot.

A change is what the library makes of the description, so the torque of the changed robot must be
its torque, to rounding.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from operator import methodcaller

import numpy as np

from armdyn.compare.explain import Cause, Edit, each_body, each_joint
from armdyn.compare.files import Material, Sources
from armdyn.compare.misread import misreadings
from armdyn.compare.peers import Answer
from armdyn.model import GRAVITY, Body, FrictionLaw, Inertia, RobotModel, Rotor
from armdyn.model.edit import with_base, with_gravity, without_payload
from armdyn.model.friction import ASYMMETRIC_VISCOUS, COULOMB, TERMS

STANDARD_GRAVITY = 9.80665


def causes(sources: Sources, material: Material, answer: Answer) -> list[Cause]:
    """Every cause there may be for a library that was given this file and gave this answer."""
    return [
        *_geometry(sources),
        *misreadings(material.file, material.model),
        *_inertias(material),
        *_gravity(material.model),
        *_friction(material.model),
        *_own_terms(material.model, answer),
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


def _of_links(name: str, text: str, slot: str, edit: Edit) -> Cause:
    return Cause(name, text, frozenset({slot}), edit, rigid=True)


def _of_friction(
    name: str, text: str, slots: str, change: Callable[[FrictionLaw], FrictionLaw]
) -> Cause:
    edit = each_joint(lambda joint: replace(joint, friction=change(joint.friction)))
    return Cause(name, text, frozenset(slots.split()), edit)


def _geometry(sources: Sources) -> Iterator[Cause]:
    if sources.other_convention is not None:
        right, wrong, other = sources.other_convention
        text = f"reads the {right} DH table as {wrong}"
        yield _of_links("DH convention", text, "table", lambda _: other)
    yield _of_links(
        "base",
        "stands upright at the origin, whatever the placement of the base",
        "base",
        lambda model: with_base(model, None),
    )


def _inertias(material: Material) -> Iterator[Cause]:
    def unturned(body: Body) -> Body:
        given = body.inertia
        if given.given_about != "com" or not given.has_com:
            return body
        return replace(body, inertia=Inertia.from_com(given.mass, given.com, given.tensor_as_given))

    plain = material.plain
    yield _of_links(
        "inertial rpy",
        "loses the rotation of the inertial frame (rpy of <inertial>)",
        "inertia",
        each_body(unturned),
    )
    yield _of_links(
        "reduced inertias",
        "was not given the reduced inertias, which mass, centre of mass and tensor cannot hold",
        "inertia",
        lambda model: replace(model, links=plain.links, base_link=plain.base_link),
    )
    yield _of_links("payload", "leaves out the payload", "payload", without_payload)


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
        yield _of_links(name, text, "gravity", partial(with_gravity, gravity=value))


def _friction(model: RobotModel) -> Iterator[Cause]:
    """Terms of friction that are left out, or taken for others."""
    laws = [joint.friction for joint in model.joints]
    damped, dry = any(_even(f).viscous for f in laws), any(f.coulomb_positive for f in laws)
    for term in TERMS:
        yield _of_friction(term.name, term.absence, term.name, methodcaller("without", term))
    if dry:
        yield _of_friction(
            "friction as viscous",
            "takes friction, the Coulomb torque, for the viscous coefficient"
            + " and drops damping" * damped,
            "viscous coulomb asymmetric_viscous",
            lambda f: _even(f).without(COULOMB).changed(viscous=f.coulomb_positive),
        )
    if dry and damped:
        yield _of_friction(
            "friction added to viscous",
            "adds friction, the Coulomb torque, to the viscous coefficient",
            "viscous coulomb asymmetric_viscous",
            lambda f: (
                _even(f).without(COULOMB).changed(viscous=_even(f).viscous + f.coulomb_positive)
            ),
        )
    same = "has the same viscous friction in both directions"
    yield _of_friction("even viscous", same, "asymmetric_viscous", _even)
    yield _of_friction(
        "even coulomb",
        "has the same dry friction in both directions",
        "coulomb",
        lambda f: f.changed(coulomb_negative=f.coulomb_positive),
    )
    sharp = "has no smooth change of the sign of dry friction"
    yield _of_friction("sharp sign", sharp, "sign", methodcaller("changed", smooth_velocity=0.0))


def _even(law: FrictionLaw) -> FrictionLaw:
    """The law with the viscous coefficient of the positive direction in both."""
    viscous = law.viscous + law.viscous_positive
    return law.without(ASYMMETRIC_VISCOUS).changed(viscous=viscous)


def _own_terms(model: RobotModel, answer: Answer) -> Iterator[Cause]:
    """What the library itself shows: soft dry friction, springs and the like."""
    softened = answer.terms.get("constraint")
    most = np.array([joint.friction.coulomb_positive for joint in model.joints])
    if softened is not None and (np.abs(softened) <= most * (1 + 1e-9)).all():
        dry = [term for term in TERMS if term.dry]
        soft = _of_friction(
            "soft dry friction",
            "softens dry friction, the Coulomb term, at low speed",
            " ".join(["sign", *(term.name for term in dry)]),
            methodcaller("without", *dry),
        )
        yield replace(soft, adds=softened)
    for name, text in (
        ("spring", "has springs at the joints, which armdyn leaves out"),
        ("fluid", "has the drag of a fluid, which armdyn leaves out"),
        ("gravity compensation", "compensates gravity, which armdyn leaves out"),
    ):
        if name in answer.terms:
            yield Cause(name, text, frozenset({name}), adds=answer.terms[name])
