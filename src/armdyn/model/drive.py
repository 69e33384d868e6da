"""Drives that turn with several joints at once, as those in front of many wrists do."""

import math
from dataclasses import dataclass, field

from armdyn.model.friction import FrictionLaw
from armdyn.model.joint import Rotor


@dataclass(frozen=True, slots=True)
class Drive:
    """A motor behind a gear whose rate is a combination of the rates of joints.

    Its rotor and its friction act along that combination: what they need is felt at each joint
    times its ratio. What turns with one joint alone belongs to that joint.
    """

    name: str
    ratios: tuple[tuple[str, float], ...]
    """The joints, and how much the output of the gear turns with each."""
    rotor: Rotor = field(default_factory=Rotor)
    friction: FrictionLaw = field(default_factory=FrictionLaw)

    @property
    def fault(self) -> str:
        """Why no robot can have this drive; empty if one can."""
        names = [joint for joint, _ in self.ratios]
        if not names:
            return "it turns with no joint"
        if len(set(names)) < len(names):
            return "a joint is named twice"
        for joint, ratio in self.ratios:
            if not math.isfinite(ratio) or not ratio:
                return f"the ratio of {joint!r} must be finite and not 0, got {ratio!r}"
        return self.rotor.fault or self.friction.fault
