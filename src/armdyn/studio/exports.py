"""The files that people take out of the studio, as names and bytes.

Those of a robot that cannot exist say so: in a comment or a red stripe, and in their names.
"""

import io
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from armdyn.arrays import Array
from armdyn.export.names import identifier
from armdyn.io.csv.table import csv_from_columns
from armdyn.io.toml.write import toml_from_model
from armdyn.robot import Robot
from armdyn.studio.arm import Arm, State
from armdyn.studio.recording import Recording

ALARM = (180, 35, 24)
"""The stripe on a picture of a robot that cannot exist."""
STRIPE = 0.05
"""Its height, relative to that of the picture."""


def warning(arm: Arm) -> str:
    """What the exports of a robot must say; nothing for a robot that can exist."""
    if not arm.faults:
        return ""
    causes = "; ".join(f"{fault.where}: {fault.message}" for fault in arm.faults)
    words = f"WARNING: this robot cannot exist as it is described. {causes}"
    return " ".join(words.split())


def named(robot: Robot, what: str, warned: str) -> str:
    """The name of a file."""
    return f"{identifier(robot.name)}{'_INVALID' if warned else ''}{what}"


def c_code(robot: Robot, folder: Path, warned: str = "") -> tuple[str, bytes]:
    """Name and content of a ZIP file with the functions of a robot as C99."""
    head = f"/* {warned.replace('*/', '* /')} */\n".encode() if warned else b""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        files = robot.export(place, "c").files
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in files:
                archive.writestr(path.name, head + path.read_bytes())
            if warned:
                archive.writestr("WARNING.txt", f"{warned}\n")
    return named(robot, "_c.zip", warned), packed.getvalue()


def toml(robot: Robot, warned: str = "") -> tuple[str, bytes]:
    """Name and content of a robot in armdyn's own format."""
    head = f"# {warned}\n" if warned else ""
    return named(robot, ".toml", warned), (head + toml_from_model(robot.model)).encode()


def csv(
    robot: Robot, state: State, recording: Recording | None, warned: str = ""
) -> tuple[str, bytes]:
    """Name and content of a table: the motion that was played last, or the state alone."""
    name = "motion"
    if recording is None:
        rows = state.q[None], state.qd[None], state.qdd[None]
        ledger = robot.ledger(*rows)
        name, recording = "state", Recording("", np.zeros(1), *rows, ledger.total, ledger.terms)
    blocks = (text for _, text in csv_from_columns(recording.columns()))
    return named(robot, f"_{name}.csv", warned), "".join(blocks).encode()


def png(
    robot: Robot, image: Array, ground: tuple[int, int, int], warned: str = ""
) -> tuple[str, bytes]:
    """Name and content of a picture.

    The image is red, green, blue and opacity, (h, w, 4), from 0 to 255, on the colour `ground`.
    """
    from matplotlib.image import imsave  # noqa: PLC0415 (slow to import)

    cover = image[..., 3:].astype(float) / 255
    mixed = image[..., :3] * cover + np.array(ground) * (1 - cover)
    if warned:
        mixed[: max(int(STRIPE * len(mixed)), 1)] = ALARM
    drawn = io.BytesIO()
    # the words are in the file too, for whoever opens it elsewhere
    imsave(drawn, mixed.round().astype(np.uint8), format="png", metadata={"Comment": warned})
    return named(robot, ".png", warned), drawn.getvalue()
