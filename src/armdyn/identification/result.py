"""What an identification found, with its reports, pictures and files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.html import html_table, html_text
from armdyn.identification.observer.observer import Observer
from armdyn.identification.page import write_page
from armdyn.identification.picture import plot_torques, torque_figure
from armdyn.identification.record import Found
from armdyn.identification.report import sections
from armdyn.notebook import figure_html
from armdyn.sections import Section, Sectioned

_SHOWN = 4
"""Parts of the report in a notebook: verdict, findings, errors and base parameters."""


@dataclass(frozen=True, eq=False, repr=False)
class Identification(Found, Sectioned):
    """The robot that was found, how well it explains the data, and what is known of it."""

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
        plot_torques(path, self)

    def save_report(self, path: str | Path) -> None:
        """Write an .html page with tables and pictures."""
        write_page(path, self)

    def sections(self) -> tuple[Section, ...]:
        """The parts of the report."""
        return sections(self)

    def _repr_html_(self) -> str:
        """The first parts of the report and the torques, in a notebook."""
        told = [part for part in self.sections() if part.title][:_SHOWN]
        texts = ("\n".join((part.title, *(f"  {line}" for line in part.lines))) for part in told)
        tables = (
            html_table(part.columns, part.rows, texts=part.texts) if part.rows else ""
            for part in told
        )
        parts = (html_text(text) + table for text, table in zip(texts, tables, strict=True))
        return "".join(parts) + figure_html(lambda: torque_figure(self))

    def __repr__(self) -> str:
        fit = self.validation or self.training
        return (
            f"<Identification of {self.given.name!r}: {100 * fit.relative_error:.2f} % error in "
            f"{fit.name}>"
        )
