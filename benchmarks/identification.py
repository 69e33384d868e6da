"""The error of identified models on held-out data, for recordings of real arms.

    python benchmarks/identification.py FOLDER [FOLDER ...] [--cutoff HZ] [--robot ROBOT]

A FOLDER holds one recording, or folders that each hold one. A recording is one or more .csv,
.parquet or .npz files; the arm is --robot, or the .toml, .urdf or .xml file beside them, or the
robot of the catalog that the folder is named after ("ur10_lab" is a "ur10"). One file is split in
time, 60 to 40, both ways; of several files each is held out in turn.

The torque is filtered at a fixed cut-off, so that no filter buys the number. Cut-offs and coupled
wrists of known arms are in `KNOWN`; others get the cut-off that is chosen from their motion.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import armdyn
from armdyn.io.catalog import catalog_names

ENDINGS = (".csv", ".parquet", ".npz")
DESCRIPTIONS = (".toml", ".urdf", ".xml")
HELD_OUT = 0.4


@dataclass(frozen=True)
class Known:
    """What is known of an arm besides its description."""

    cutoff: float
    """Of the torque that errors are measured against [Hz]."""
    coupled: tuple[str, ...] = ()
    """Joints that one motor turns with."""


KNOWN = {
    "panda": Known(5.0),
    "ur10": Known(5.0),
    "tx40": Known(20.0, ("joint_5", "joint_6")),
}


@dataclass(frozen=True)
class Recording:
    """The files of one arm."""

    folder: Path
    files: tuple[Path, ...]
    robot: str
    known: Known | None

    def load(self) -> armdyn.Robot:
        """The arm, with the motor of a coupled wrist."""
        robot = armdyn.load(self.robot, physical="warn")
        if self.known is None or not self.known.coupled:
            return robot
        joints = dict.fromkeys(self.known.coupled, 1.0)
        return robot.with_drives([{"name": "wrist_motor", "joints": joints}])


def recordings(folders: list[Path], robot: str | None) -> Iterator[Recording]:
    """The recordings in folders, and in the folders in them."""
    for folder in folders:
        inner = sorted(path for path in folder.iterdir() if path.is_dir())
        files = tuple(sorted(p for p in folder.iterdir() if p.suffix.lower() in ENDINGS))
        if files:
            yield Recording(folder, files, robot or _robot(folder), _known(folder))
        yield from recordings(inner, robot)


def _robot(folder: Path) -> str:
    beside = sorted(p for p in folder.iterdir() if p.suffix.lower() in DESCRIPTIONS)
    if beside:
        return str(beside[0])
    known = [name for name in catalog_names() if name in folder.name.lower()]
    if not known:
        raise SystemExit(f"{folder}: which arm is it? Give --robot, or a .urdf beside the data")
    return max(known, key=len)


def _known(folder: Path) -> Known | None:
    return next((k for name, k in KNOWN.items() if name in folder.name.lower()), None)


def splits(recording: Recording) -> Iterator[tuple[str, object, object]]:
    """Names of splits with what is trained on and what is held out."""
    files = [str(path) for path in recording.files]
    if len(files) == 1:
        yield "first 60 % to rest", files[0], HELD_OUT
        yield "last 60 % to rest", files[0], -HELD_OUT
        return
    for held in files:
        rest = [path for path in files if path != held]
        yield f"others to {Path(held).name}", rest, held


def measure(recording: Recording, cutoff: float | None, method: str) -> None:
    """Identify on each split, and print a line for each."""
    robot = recording.load()
    fixed = cutoff or (recording.known.cutoff if recording.known else None)
    for name, data, held in splits(recording):
        began = time.perf_counter()
        found = armdyn.identify(robot, data, held, cutoff=fixed, method=method)
        seconds = time.perf_counter() - began
        assert found.validation is not None
        possible = all(link.inertia.fault is None for link in found.robot.model.links)
        print(
            f"{recording.folder.name:20} {name:26} {found.cutoffs.equations:6.3g} Hz "
            f"{100 * found.training.relative_error:7.2f} % "
            f"{100 * found.validation.relative_error:7.2f} %   {seconds:5.1f} s   "
            f"{'every link possible' if possible else 'IMPOSSIBLE LINKS'}; {found.split}; "
            f"{found.search.friction}; prior {found.search.weight:g}",
            flush=True,
        )


def main() -> None:
    """Run the recordings that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--robot", help="a name of the catalog or a description")
    parser.add_argument("--cutoff", type=float, help="of the torque, in Hz")
    parser.add_argument("--method", default="entropic")
    given = parser.parse_args()
    for folder in given.folders:
        if not folder.is_dir():
            sys.exit(f"{folder}: there is no such folder")
    warnings.simplefilter("ignore", armdyn.errors.ArmdynWarning)
    print(f"{'recording':20} {'split':26} {'cut-off':>9} {'training':>9} {'held out':>9}")
    found = list(recordings(given.folders, given.robot))
    if not found:
        sys.exit("there are no recordings in these folders")
    for recording in found:
        measure(recording, given.cutoff, given.method)


if __name__ == "__main__":
    main()
