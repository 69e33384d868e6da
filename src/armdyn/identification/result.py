"""What an identification found."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armdyn.dynamics import Robot
from armdyn.identification.estimate import Noise
from armdyn.identification.finding import Finding
from armdyn.identification.preparation import Cutoffs, Health
from armdyn.identification.residuals import Fit, ResidualTest
from armdyn.identification.task import Search
from armdyn.identification.uncertainty import FoundParameter
from armdyn.observer.observer import Observer
from armdyn.sections import Section, Sectioned

if TYPE_CHECKING:
    from armdyn.arrays import Array


@dataclass(frozen=True, eq=False, repr=False)
class Identification(Sectioned):
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
    def noise_time(self) -> "Array":
        """Correlation time of what is not explained, (n,) [s]."""
        return np.array([test.noise_time for test in self.tests])

    def observer(self, gain: Any = 25.0, **options: Any) -> Observer:
        """An observer of the robot, with thresholds from the noise that was found."""
        worst = self.training.rms
        if self.validation is not None:
            worst = np.maximum(worst, self.validation.rms)
        floor = np.maximum(worst, 1e-9)
        return Observer(
            self.robot, gain, **{"noise": floor, "noise_time": self.noise_time} | options
        )

    def save(self, path: str | Path) -> None:
        """Write the robot to a .toml or .urdf file, with its sources and the date."""
        self.robot.save(path)

    def plot(self, path: str | Path) -> None:
        """Draw measured and predicted torques to a .png, .pdf or .svg file."""
        from armdyn.identification.picture import plot_torques  # noqa: PLC0415 (an extra)

        plot_torques(path, self)

    def save_report(self, path: str | Path) -> None:
        """Write an .html page with tables and pictures."""
        from armdyn.identification.page import write_page  # noqa: PLC0415 (an extra)

        write_page(path, self)

    def sections(self) -> tuple[Section, ...]:
        """The parts of the report."""
        from armdyn.identification.report import sections  # noqa: PLC0415

        return sections(self)

    def __repr__(self) -> str:
        fit = self.validation or self.training
        return (
            f"<Identification of {self.given.name!r}: {100 * fit.relative_error:.2f} % error in "
            f"{fit.name}>"
        )
