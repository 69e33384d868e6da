"""What other libraries make of friction, and forces of theirs that armdyn does not have."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from armdyn.compare.cause import Cause, each_joint
from armdyn.compare.peers import Answer
from armdyn.model import Friction, RobotModel


def friction_causes(model: RobotModel) -> Iterator[Cause]:
    """Terms that are left out, or taken for others."""

    def law(name: str, text: str, slots: str, change: Callable[[Friction], Friction]) -> Cause:
        edit = each_joint(lambda joint: replace(joint, friction=change(joint.friction)))
        return Cause(name, text, frozenset(slots.split()), edit)

    laws = [joint.friction for joint in model.joints]
    damped, dry = any(f.viscous for f in laws), any(f.coulomb_positive for f in laws)
    yield law("viscous", "ignores damping (the viscous term)", "viscous", _without_viscous)
    yield law("coulomb", "ignores dry friction (the Coulomb term)", "coulomb", _without_coulomb)
    if dry:
        yield law(
            "friction as viscous",
            "takes friction, the Coulomb torque, for the viscous coefficient"
            + " and drops damping" * damped,
            "viscous coulomb",
            lambda f: replace(_without_coulomb(f), viscous=f.coulomb_positive),
        )
    if dry and damped:
        yield law(
            "friction added to viscous",
            "adds friction, the Coulomb torque, to the viscous coefficient",
            "viscous coulomb",
            lambda f: replace(_without_coulomb(f), viscous=f.viscous + f.coulomb_positive),
        )
    yield law(
        "even coulomb",
        "has the same dry friction in both directions",
        "coulomb",
        lambda f: replace(f, coulomb_negative=f.coulomb_positive),
    )
    yield law(
        "stribeck", "has no Stribeck friction", "stribeck", lambda f: replace(f, stribeck=0.0)
    )
    yield law(
        "sharp sign",
        "has no smooth change of the sign of dry friction",
        "sign",
        lambda f: replace(f, smooth_velocity=0.0),
    )


def _without_viscous(friction: Friction) -> Friction:
    return replace(friction, viscous=0.0)


def _without_coulomb(friction: Friction) -> Friction:
    return replace(friction, coulomb_positive=0.0, coulomb_negative=0.0)


def own_terms(model: RobotModel, answer: Answer) -> Iterator[Cause]:
    """What the library itself shows: soft dry friction, springs and the like."""
    softened = answer.terms.get("constraint")
    if softened is not None:
        most = np.array([joint.friction.coulomb_positive for joint in model.joints])
        if (np.abs(softened) <= most * (1 + 1e-9)).all():
            yield Cause(
                "soft dry friction",
                "softens dry friction, the Coulomb term, at low speed",
                frozenset({"coulomb", "stribeck", "sign"}),
                each_joint(lambda joint: replace(joint, friction=_no_dry(joint.friction))),
                adds=softened,
            )
    for name, text in (
        ("spring", "has springs at the joints, which armdyn leaves out"),
        ("fluid", "has the drag of a fluid, which armdyn leaves out"),
        ("gravity compensation", "compensates gravity, which armdyn leaves out"),
    ):
        if name in answer.terms:
            yield Cause(name, text, frozenset({name}), adds=answer.terms[name])


def _no_dry(friction: Friction) -> Friction:
    return replace(_without_coulomb(friction), stribeck=0.0)
