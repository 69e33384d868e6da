"""What an identification found, as data."""

from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.identification.estimate import Noise
from armdyn.identification.finding import Finding
from armdyn.identification.preparation import Cutoffs, Health
from armdyn.identification.residuals import Fit, ResidualTest
from armdyn.identification.task import Search
from armdyn.identification.uncertainty import FoundParameter
from armdyn.robot import Robot


@dataclass(frozen=True, eq=False, repr=False)
class Found:
    """The robot that was found, how well it explains the data, and what is known of it."""

    robot: Robot
    """The robot that was found; every link of it can exist."""
    given: Robot
    """The robot as it was given."""
    parameters: tuple[FoundParameter, ...]
    """Every linear parameter, with standard error and interval."""
    base: tuple[FoundParameter, ...]
    """The combinations of parameters that torques depend on, alike."""
    training: Fit
    validation: Fit | None
    """None if nothing was held out."""
    split: str
    """What sort of validation it was."""
    method: str
    search: Search
    """What was chosen on held-out blocks of the training."""
    cutoffs: Cutoffs
    noise: Noise
    """What the torques have that the model does not explain."""
    tests: tuple[ResidualTest, ...]
    """What the residuals still contain."""
    findings: tuple[Finding, ...]
    """What was odd about the data."""
    health: Health
    sources: tuple[str, ...]
    held_out: tuple[str, ...]
    passes: int
    """How often the training data were read."""
    seconds: float
    """Time that it took [s]."""

    @property
    def unexcited(self) -> tuple[FoundParameter, ...]:
        """Base parameters that the motion did not show, with the reason."""
        return tuple(parameter for parameter in self.base if not parameter.excited)

    @property
    def noise_time(self) -> Array:
        """Correlation time of what is not explained, (n,) [s]."""
        return np.array([test.noise_time for test in self.tests])
