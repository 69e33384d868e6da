"""What a design gives, as data."""

from dataclasses import dataclass

from armdyn.arrays import Array
from armdyn.model import RobotModel
from armdyn.simplification.design_variables import Free
from armdyn.simplification.goals import Goals
from armdyn.simplification.obstacles import Obstacle

_SEEN = 1e-9
"""What is left of an element, relative to its scale, that counts as not reached."""


@dataclass(frozen=True, slots=True, eq=False)
class LinkChange:
    """A link before and after, without payloads, in its canonical frame."""

    link: int
    """Index of the link, from 0."""
    name: str
    mass: tuple[float, float]
    """[kg]."""
    com: tuple[Array, Array]
    """Shape (3,) each [m]."""
    inertia: tuple[Array, Array]
    """About the centre of mass, shape (3, 3) each [kg m²]."""
    added: Array
    """Pseudo-inertia of what was added less what was taken away, in the frame of the link in the
    model, shape (4, 4)."""


@dataclass(frozen=True, slots=True)
class LengthChange:
    """A length before and after [m]."""

    symbol: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Variation:
    """An element that a goal is about, over random configurations.

    Largest less smallest value where it shall be constant, largest magnitude where it shall vanish.
    """

    element: str
    """D12, g2."""
    constant: bool
    before: float
    after: float
    scale: float
    """What it is measured in."""

    @property
    def remains(self) -> bool:
        """Whether the goal is not reached for this element."""
        return self.after > _SEEN * self.scale


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """An arm that reaches a goal, or the one nearest to it."""

    before: RobotModel
    model: RobotModel
    goals: Goals
    free: Free
    reached: bool
    reason: str
    """What was found, in a sentence."""
    obstacles: tuple[Obstacle, ...]
    residual: float
    """Root mean square of what shall vanish, dimensionless."""
    rank: int
    """How many independent conditions the goals are on the free inertial numbers that are not
    searched."""
    cost: float
    """Sum of the weighted squared changes, in the units of `freedom`."""
    changes: tuple[LinkChange, ...]
    """Links that changed."""
    lengths: tuple[LengthChange, ...]
    """Lengths that were free."""
    variations: tuple[Variation, ...]
    seconds: float
    """How long it took."""
