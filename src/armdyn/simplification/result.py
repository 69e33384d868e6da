"""The result of a design, as data."""

from dataclasses import dataclass

from armdyn.arrays import Array
from armdyn.model import RobotModel
from armdyn.simplification.design_variables import DesignVariables
from armdyn.simplification.goals import Goals
from armdyn.simplification.obstacles import Obstacle

_REACHED_TOLERANCE = 1e-9
"""An element that is larger, relative to its scale, does not reach its goal."""


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
    """Pseudo-inertia of the added less the removed material, in the frame of the link in the model,
    shape (4, 4)."""


@dataclass(frozen=True, slots=True)
class Variation:
    """An element that a goal is about, over many configurations.

    Its values are the range of an element that shall be constant, and the largest magnitude of one
    that shall be zero.
    """

    element: str
    """D12, g2."""
    constant: bool
    before: float
    after: float
    scale: float
    """The unit in which both are compared."""

    @property
    def remains(self) -> bool:
        """Whether the goal is not reached for this element."""
        return self.after > _REACHED_TOLERANCE * self.scale


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """An arm that reaches a goal, or the one nearest to it."""

    before: RobotModel
    model: RobotModel
    goals: Goals
    variables: DesignVariables
    reached: bool
    reason: str
    """The outcome in a sentence."""
    obstacles: tuple[Obstacle, ...]
    residual: float
    """Root mean square of everything that shall vanish, dimensionless."""
    rank: int
    """Number of independent conditions on the inertial numbers that the convex problem finds."""
    cost: float
    """Sum of the weighted squared changes, in the units of `parametrisation`."""
    changes: tuple[LinkChange, ...]
    """Links that changed."""
    lengths: dict[str, tuple[float, float]]
    """Lengths that were free, before and after by symbol [m]."""
    variations: tuple[Variation, ...]
    seconds: float
    """Time that the design took."""
