"""What other libraries make of friction, and forces of theirs that armdyn does not have."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from armdyn.compare.cause import Cause, each_joint
from armdyn.compare.peers import Answer
from armdyn.model import FrictionLaw, RobotModel
from armdyn.model.friction import TERMS
from armdyn.model.friction.coulomb import COULOMB


def friction_causes(model: RobotModel) -> Iterator[Cause]:
    """Terms that are left out, or taken for others."""

    def law(
        name: str, text: str, slots: str, change: Callable[[FrictionLaw], FrictionLaw]
    ) -> Cause:
        edit = each_joint(lambda joint: replace(joint, friction=change(joint.friction)))
        return Cause(name, text, frozenset(slots.split()), edit)

    laws = [joint.friction for joint in model.joints]
    damped, dry = any(f.viscous for f in laws), any(f.coulomb_positive for f in laws)
    for term in TERMS:
        yield law(term.name, term.absence, term.name, lambda f, term=term: f.without(term))  # type: ignore[misc]
    if dry:
        yield law(
            "friction as viscous",
            "takes friction, the Coulomb torque, for the viscous coefficient"
            + " and drops damping" * damped,
            "viscous coulomb",
            lambda f: f.without(COULOMB).changed(viscous=f.coulomb_positive),
        )
    if dry and damped:
        yield law(
            "friction added to viscous",
            "adds friction, the Coulomb torque, to the viscous coefficient",
            "viscous coulomb",
            lambda f: f.without(COULOMB).changed(viscous=f.viscous + f.coulomb_positive),
        )
    yield law(
        "even coulomb",
        "has the same dry friction in both directions",
        "coulomb",
        lambda f: f.changed(coulomb_negative=f.coulomb_positive),
    )
    yield law(
        "sharp sign",
        "has no smooth change of the sign of dry friction",
        "sign",
        lambda f: f.changed(smooth_velocity=0.0),
    )


def own_terms(model: RobotModel, answer: Answer) -> Iterator[Cause]:
    """What the library itself shows: soft dry friction, springs and the like."""
    dry = [term for term in TERMS if term.dry]
    softened = answer.terms.get("constraint")
    if softened is not None:
        most = np.array([joint.friction.coulomb_positive for joint in model.joints])
        if (np.abs(softened) <= most * (1 + 1e-9)).all():
            yield Cause(
                "soft dry friction",
                "softens dry friction, the Coulomb term, at low speed",
                frozenset({"sign", *(term.name for term in dry)}),
                each_joint(lambda joint: replace(joint, friction=joint.friction.without(*dry))),
                adds=softened,
            )
    for name, text in (
        ("spring", "has springs at the joints, which armdyn leaves out"),
        ("fluid", "has the drag of a fluid, which armdyn leaves out"),
        ("gravity compensation", "compensates gravity, which armdyn leaves out"),
    ):
        if name in answer.terms:
            yield Cause(name, text, frozenset({name}), adds=answer.terms[name])
