"""The report of a design: what was asked, what stands in the way, what to change, what it does."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armdyn.errors import WriteError
from armdyn.figures import FORMATS
from armdyn.io.atomic import write_text
from armdyn.io.csv.trajectory import trajectory_from_csv
from armdyn.simplification.comparison import Comparison, compare_designs
from armdyn.simplification.counterweights import Build, builds
from armdyn.simplification.report_data import change_data, comparison_data
from armdyn.simplification.report_text import Section, sections
from armdyn.simplification.simplify import Simplification, data

ENDINGS = (".txt", ".json", *FORMATS)


@dataclass(frozen=True, eq=False)
class Report:
    """A design with both arms compared."""

    found: Simplification
    builds: tuple[Build, ...]
    """What to do to the links that change."""
    comparison: Comparison

    @property
    def exit_code(self) -> int:
        """0: the goal is reached; 1: it is not, and the nearest design is told."""
        return int(not self.found.feasible)

    def sections(self) -> tuple[Section, ...]:
        """The report in parts, each with lines and perhaps a table."""
        return sections(self.found, self.builds, self.comparison)

    def text(self) -> str:
        """The report for people."""
        return "\n\n".join(section.text() for section in self.sections()) + "\n"

    def data(self) -> dict[str, Any]:
        """The report for programs."""
        seconds = {**self.found.seconds, "comparison": self.comparison.seconds}
        return {
            "robot": self.found.before.name,
            "exit_code": self.exit_code,
            **data(self.found),
            **change_data(self.found.design, self.builds),
            **comparison_data(self.comparison),
            "seconds": seconds,
        }

    def save(self, path: str | Path) -> None:
        """Write the report, by the ending: .txt, .json, or a picture as .png, .pdf or .svg.

        Raises:
            WriteError: Another ending, or the file cannot be written.
        """
        path = Path(path)
        match path.suffix.lower():
            case ".txt":
                write_text(path, self.text())
            case ".json":
                write_text(path, json.dumps(self.data(), indent=2, allow_nan=False) + "\n")
            case ending if ending in FORMATS:
                from armdyn.simplification.picture import (  # noqa: PLC0415 (an extra)
                    plot_design,
                )

                plot_design(self, path)
            case _:
                raise WriteError(
                    f"cannot write a report to {str(path)!r}: the ending must be one of "
                    f"{', '.join(ENDINGS)}"
                )


def report(found: Simplification, trajectory: str | Path | None = None) -> Report:
    """Both arms of a design compared.

    Args:
        found: The design.
        trajectory: A CSV with a motion of the arm for the torques; None: moves between far corners
            of the workspace.
    """
    before, after = found.before.model, found.design.model
    motion = None if trajectory is None else trajectory_from_csv(trajectory, found.before.n)
    return Report(found, builds(before, after), compare_designs(before, after, motion))
