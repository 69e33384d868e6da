"""Files that people take out of the studio, as bytes."""

import io
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from armdyn.arrays import Array
from armdyn.backends.names import identifier
from armdyn.dynamics import Robot
from armdyn.io.csv.write import csv_from_columns
from armdyn.io.toml.write import toml_from_model
from armdyn.studio.evaluate import State
from armdyn.studio.recording import Recording


def c_code(robot: Robot, folder: Path) -> tuple[str, bytes]:
    """Name and content of a ZIP file with the functions of a robot as C99."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        files = robot.export(place, "c").files
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in files:
                archive.writestr(path.name, path.read_bytes())
    return f"{identifier(robot.name)}_c.zip", packed.getvalue()


def toml(robot: Robot) -> tuple[str, bytes]:
    """Name and content of a robot in armdyn's own format."""
    return f"{identifier(robot.name)}.toml", toml_from_model(robot.model).encode()


def csv(robot: Robot, state: State, recording: Recording | None) -> tuple[str, bytes]:
    """Name and content of a table: the motion that was played last, or the state alone."""
    name = identifier(robot.name)
    if recording is None:
        recording, name = _instant(robot, state), f"{name}_state"
    else:
        name = f"{name}_motion"
    blocks = (text for _, text in csv_from_columns(recording.columns()))
    return f"{name}.csv", "".join(blocks).encode()


def png(robot: Robot, image: Array, ground: tuple[int, int, int]) -> tuple[str, bytes]:
    """Name and content of a picture.

    The image is red, green, blue and opacity, (h, w, 4), from 0 to 255, on the colour `ground`.
    """
    from matplotlib.image import imsave  # noqa: PLC0415 (slow to import)

    cover = image[..., 3:].astype(float) / 255
    mixed = image[..., :3] * cover + np.array(ground) * (1 - cover)
    drawn = io.BytesIO()
    imsave(drawn, mixed.round().astype(np.uint8), format="png")
    return f"{identifier(robot.name)}.png", drawn.getvalue()


def _instant(robot: Robot, state: State) -> Recording:
    rows = state.q[None], state.qd[None], state.qdd[None]
    ledger = robot.ledger(*rows)
    return Recording("state", np.zeros(1), *rows, ledger.total, ledger.terms)
