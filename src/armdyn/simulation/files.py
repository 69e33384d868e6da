"""Simulations as files: CSV and Parquet."""

import importlib.util
from pathlib import Path

from armdyn.errors import MissingExtraError, WriteError
from armdyn.io.atomic import replacing
from armdyn.io.csv.write import write_csv
from armdyn.simulation.motion import SimulatedMotion

FORMATS = (".csv", ".parquet")


def check_save(path: str | Path) -> None:
    """Refuse, before anything is computed, a file that could not be written."""
    ending = Path(path).suffix.lower()
    if ending not in FORMATS:
        raise WriteError(
            f"cannot write a simulation to {str(path)!r}: the ending must be one of "
            f"{', '.join(FORMATS)}"
        )
    if ending == ".parquet" and importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError("pyarrow", "parquet", "writing Parquet")


def save(simulation: SimulatedMotion, path: str | Path) -> None:
    """Write the columns of a simulation to a file, which appears whole or not at all.

    A CSV has twelve digits of each number, Parquet has all of them, and the names of the robot and
    of the method in its metadata.

    Raises:
        MissingExtraError: pyarrow is not installed, and the file is a Parquet one.
        WriteError: The ending is not one of these, or the file cannot be written.
    """
    check_save(path)
    columns = simulation.columns()
    if Path(path).suffix.lower() == ".csv":
        write_csv(path, columns)
        return
    import pyarrow  # noqa: PLC0415 (an extra)
    import pyarrow.parquet  # noqa: PLC0415 (an extra)

    told = {"robot": simulation.robot.name, "method": simulation.method}
    table = pyarrow.table(columns, metadata=told | {"status": simulation.status})
    with replacing(path) as temporary:
        pyarrow.parquet.write_table(table, temporary)
