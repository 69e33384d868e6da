"""Search for the programs that come with armdyn, and write their archive.

    PYTHONPATH=tests python benchmarks/shipped_programs.py [--deep] [--part PART] [NAME ...]

The robots are those of the catalog, types of them with all inertial numbers different from zero as
real arms have them, and the arms of the literature. Programs that are in the archive already are
kept where they are as short; with --deep every program is searched for minutes. Each is proved
when it is found, and all of them again by the tests.
"""

import argparse
import json
import time
import zipfile
from dataclasses import asdict, replace
from importlib.resources import files
from pathlib import Path

import numpy as np

import armdyn
from armdyn.arrays import frozen
from armdyn.graph.program import Program
from armdyn.io.atomic import replacing
from armdyn.io.catalog import catalog_names
from armdyn.shorten.canonical.frames import CanonicalRobot, canonical
from armdyn.shorten.canonical.model import branches
from armdyn.shorten.parts import (
    BIAS,
    MASS_MATRIX,
    TORQUES,
    WEIGHT,
    Part,
    forward_dynamics,
)
from armdyn.shorten.program_store import SHIPPED, key_of
from armdyn.shorten.run_time import weightless
from armdyn.shorten.shortest import SearchBudget, searched
from armdyn.shorten.symbolic import generic, pattern
from support.counted_arms import ARMS, prepared

ARCHIVE = Path(str(files("armdyn.shorten") / SHIPPED))
TYPES = ("ur5", "panda", "scara", "puma560", "iiwa14")
"""Robots of the catalog whose lengths and angles many other arms have."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every entry, so that the same programs are the same archive."""


def full(robot: CanonicalRobot) -> CanonicalRobot:
    """The robot with all inertial numbers different from zero."""
    second = frozen(np.diag([2.1, 2.2, 2.3]) + np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]]) / 7)
    u = frozen(np.array([0.3, 0.4, 0.6]))
    return replace(robot, links=tuple(replace(link, J=second, u=u, M=2.7) for link in robot.links))


def robots() -> dict[str, tuple[CanonicalRobot, np.ndarray]]:
    """Robots on one base joint by name, with the inertias of their rotors."""
    found = {}
    for name in catalog_names():
        model = armdyn.load(name).model
        if model.loops:  # whose parts are regrouped otherwise
            continue
        (robot,) = branches(canonical(model)).values()
        found[name] = robot, np.array([joint.rotor.reflected for joint in model.joints])
    for name in TYPES:
        robot, rotors = found[name]
        found[f"{name}, full"] = full(robot), 0 * rotors
    for name, robot in ARMS.items():
        found[f"arm {name}"] = robot, np.zeros(len(robot.links))
    return found


def parts(robot: CanonicalRobot, rotors: np.ndarray) -> list[tuple[CanonicalRobot, Part]]:
    """What quantities need of a robot, each with the robot as it is searched for."""
    ready, still = prepared(robot), prepared(weightless(robot))
    return [
        *((ready, part) for part in (WEIGHT, BIAS, TORQUES)),
        *((still, part) for part in (BIAS, Part("torques", ("q", "qdd")), MASS_MATRIX)),
        (ready, forward_dynamics(rotors)),
    ]


def main() -> None:
    """Search, and write the archive after each robot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--deep", action="store_true")
    parser.add_argument("--part", help="torques, mass_matrix or forward_dynamics alone")
    parser.add_argument("--archive", type=Path, default=ARCHIVE)
    given = parser.parse_args()
    for name, (robot, rotors) in robots().items():
        if given.names and name not in given.names:
            continue
        for ready, part in parts(robot, rotors):
            key = key_of(asdict(part), pattern(ready))
            known = read(given.archive)
            if (key in known and not given.deep) or given.part not in (None, part.name):
                continue
            start = time.perf_counter()
            new = searched(generic(ready), part, SearchBudget(deep=given.deep))
            old = Program.from_data(json.loads(known[key])) if key in known else None
            before = old and old.whole.total
            seconds = time.perf_counter() - start
            what = f"{name}, {part.name} of {' '.join(part.vectors)}"
            print(f"{what}: {before} -> {new.whole.total}, {seconds:.1f} s", flush=True)
            if before is None or new.whole.total < before:
                text = json.dumps(new.data(), separators=(",", ":"))
                write(given.archive, read(given.archive) | {key: text})


def read(path: Path) -> dict[str, str]:
    """The programs of an archive by their keys."""
    if not path.exists():
        return {}
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def write(path: Path, programs: dict[str, str]) -> None:
    """Write an archive, whole or not at all."""
    with (
        replacing(path) as beside,
        zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
    ):
        for name in sorted(programs):
            archive.writestr(zipfile.ZipInfo(name, EPOCH), programs[name], zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main()
