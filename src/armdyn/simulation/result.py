"""What a simulation gives: a motion that can be saved and drawn."""

from pathlib import Path

from armdyn.simulation.files import save
from armdyn.simulation.motion import SimulatedMotion
from armdyn.simulation.plots import plot


class Simulation(SimulatedMotion):
    """A motion; arrays have the shape (..., m, n) for m instants and any number of arms."""

    def save(self, path: str | Path) -> None:
        """Write the motion to a .csv or .parquet file; several arms get a column `arm`."""
        save(self, path)

    def plot(self, path: str | Path) -> None:
        """Draw positions, torques with their terms, energies and power to a .png, .pdf or .svg."""
        plot(self, path)
