"""What a simulation gives: a motion that can be saved and drawn."""

import importlib.util
from pathlib import Path

from armdyn.errors import MissingExtraError, WriteError
from armdyn.html import html_text
from armdyn.io.atomic import ending, replacing
from armdyn.io.csv.table import write_csv
from armdyn.notebook import figure_html
from armdyn.simulation.motion import SimulatedMotion
from armdyn.simulation.plots import curves, draw, plot

FORMATS = (".csv", ".parquet")


class Simulation(SimulatedMotion):
    """A motion; arrays have the shape (..., m, n) for m instants and any number of arms."""

    def save(self, path: str | Path) -> None:
        """Write the motion to a .csv or .parquet file; several arms get a column `arm`.

        A CSV has twelve digits of each number, Parquet has all of them, and the names of the robot
        and of the method in its metadata. The file appears whole or not at all.

        Raises:
            MissingExtraError: pyarrow is not installed, and the file is a Parquet one.
            WriteError: The ending is not one of these, or the file cannot be written.
        """
        check_save(path)
        columns = self.columns()
        if ending(path, ".csv") == ".csv":
            write_csv(path, columns)
            return
        import pyarrow  # noqa: PLC0415 (an extra)
        import pyarrow.parquet  # noqa: PLC0415 (an extra)

        told = {"robot": self.robot.name, "method": self.method, "status": self.status}
        table = pyarrow.table(columns, metadata=told)
        with replacing(path) as stream:
            pyarrow.parquet.write_table(table, stream)

    def _repr_html_(self) -> str:
        """How it ended and its plots, in a notebook."""
        name = self.robot.model.title or self.robot.name
        text = f"{name}: {self.t[-1]:.6g} s by {self.method}, {self.status}"
        return html_text(text) + figure_html(lambda: draw(self, curves(self)))

    def plot(self, path: str | Path) -> None:
        """Draw positions, torques with their terms, energies and power to a .png, .pdf or .svg."""
        plot(self, path)


def check_save(path: str | Path) -> None:
    """Refuse, before anything is computed, a file that could not be written."""
    kind = ending(path, ".csv")
    if kind not in FORMATS:
        raise WriteError(
            f"cannot write a simulation to {str(path)!r}: the ending must be one of "
            f"{', '.join(FORMATS)}"
        )
    if kind == ".parquet" and importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError("pyarrow", "parquet", "writing Parquet")
