"""Measure exported C against Pinocchio's C++: torques of one state after the other, in a loop.

Both loops are compiled by the same compiler with the same options and run as programs of their own
in turns; the shortest run of each counts. Both read the same robot and states from files, so that
nothing is known when they are compiled. Without Pinocchio's or Eigen's headers, Pinocchio is
measured by `rneaInParallel` on one thread, which has no overhead of calls either.
"""

import argparse
import subprocess
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import c_export_sources as sources
import numpy as np
import speed_robots

from armdyn.bench.bench import Machine, duration, measured_arm, random_states
from armdyn.bench.peers import AGREEMENT, BLOCK, alternate, pinocchio
from armdyn.cli.console import print_line, print_table, status, table
from armdyn.errors import BenchmarkError, PeerError
from armdyn.export.names import identifier
from armdyn.loading import load
from armdyn.robot import Robot
from armdyn.study.compare.peers import installed

ROBOTS = ("panda", "ur5", "iiwa14", "gen3", "scara", "puma560")
STATES = 128
"""States in a loop: they stay in the first cache."""
SECONDS = 0.05
"""Of one run of a program."""
FLAGS = {"-O2": ("-O2",), "-O3 -march=native": ("-O3", "-march=native")}
EIGEN = ("/usr/include/eigen3", "/usr/local/include/eigen3")
"""Where Eigen may be, beside Pinocchio's own headers."""
DEFINED = (
    "NDEBUG",
    "BOOST_MPL_LIMIT_LIST_SIZE=30",
    "BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "BOOST_FUSION_INVOKE_MAX_ARITY=12",
)
"""No assertions, and what Pinocchio's headers want of Boost."""


def include_folders(pin: Any, eigen: str | None) -> list[Path]:
    """Folders of the headers of Pinocchio, Boost and Eigen; none if one of them is missing."""
    prefixes = [p for p in Path(pin.__file__).parents if (p / "include/pinocchio").is_dir()]
    if not prefixes:
        return []
    headers = prefixes[0] / "include"
    named = map(Path, [eigen] if eigen else [str(headers / "eigen3"), *EIGEN])
    found = [folder for folder in named if (folder / "unsupported/Eigen").is_dir()]
    return [headers, found[0]] if found else []


def compile_c(robot: Robot, function: str, flags: Sequence[str], folder: Path) -> Path:
    """The program that loops over the exported function."""
    prefix = f"{identifier(robot.name)}_arm"
    robot.export(folder, functions=[function], prefix=prefix)
    main, program = folder / "main.c", folder / f"{prefix}{''.join(flags)}"
    call = sources.C_CALLS[function]
    main.write_text(sources.C_LOOP.format(prefix=prefix, states=STATES, n=robot.n, call=call))
    _run("gcc", "-std=gnu11", *flags, main, folder / f"{prefix}.c", "-lm", "-o", program)
    return program


def compile_cpp(folders: Sequence[Path], flags: Sequence[str], folder: Path) -> Path:
    """The program that loops over `pinocchio::rnea`, made from headers alone."""
    main, program = folder / "main.cpp", folder / f"pinocchio{''.join(flags)}"
    main.write_text(sources.CPP_LOOP)
    headers = (word for path in folders for word in ("-isystem", path))
    defined = (f"-D{name}" for name in DEFINED)
    _run("g++", "-std=c++17", *flags, *defined, *headers, main, "-o", program)
    return program


def _run(*words: object) -> str:
    done = subprocess.run(
        [str(word) for word in words], check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise PeerError(f"{words[0]} failed: {done.stderr.strip()[:400]}")
    return done.stdout


def in_turns(commands: Sequence[Sequence[object]], rounds: int) -> list[float]:
    """The shortest time of a state of each program [s]; an error if their results differ."""
    runs = [[_run(*command, SECONDS).split() for command in commands] for _ in range(rounds)]
    times, totals = np.moveaxis(np.array(runs, dtype=float), -1, 0)
    if np.ptp(totals) > AGREEMENT * np.abs(totals).max():
        raise BenchmarkError(f"the sums of the torques differ: {totals[0]}; no time is reported")
    return [float(time) for time in times.min(0)]


def measure(
    names: Sequence[str], rounds: int, eigen: str | None, tell: Callable[[str], None]
) -> Iterator[tuple[str, str, float, str, float | None]]:
    """Robot, options, time of the exported C, and function and time of Pinocchio."""
    pin = installed("pinocchio")
    folders = [] if pin is None else include_folders(pin, eigen)
    with TemporaryDirectory(prefix="armdyn-c-") as made:
        folder, peers = Path(made), dict[str, Path]()
        model, states = folder / "model", folder / "states"
        for label, flags in FLAGS.items() if folders else ():
            tell(f"compiling Pinocchio's rnea, {label}")
            peers[label] = compile_cpp(folders, flags, folder)
        for name, (label, flags) in product(names, FLAGS.items()):
            tell(f"{name}, {label}")
            robot = (speed_robots.robot(name) if name in speed_robots.FILES else None) or load(name)
            with measured_arm(robot) as arm:
                np.concatenate(random_states(robot, STATES)).tofile(states)
                ours = compile_c(arm.robot, "inverse_dynamics", flags, folder), states
                if peers and arm.file:
                    sources.write_model(pin, arm, model)
                    times = in_turns([ours, (peers[label], model, states)], rounds)
                    yield name, label, times[0], "pinocchio::rnea", times[1]
                    continue
                (time,) = in_turns([ours], rounds)
                if pin is None or arm.file is None:  # or Pinocchio cannot read this robot
                    yield name, label, time, "", None
                    continue
                peer = pinocchio(pin, arm, "inverse_dynamics", random_states(robot, BLOCK))
                yield name, label, time, peer.name, alternate([peer], 1.0)[0]


def measure_observer(
    names: Sequence[str], rounds: int, tell: Callable[[str], None]
) -> Iterator[tuple[str, str, float, str, None]]:
    """The same for a step of the observer, which Pinocchio does not have."""
    with TemporaryDirectory(prefix="armdyn-c-") as made:
        folder = Path(made)
        for name, (label, flags) in product(names, FLAGS.items()):
            tell(f"{name}, {label}")
            robot = load(name)
            np.concatenate(random_states(robot, STATES)).tofile(folder / "states")
            ours = compile_c(robot, "observer_step", flags, folder), folder / "states"
            yield name, label, in_turns([ours], rounds)[0], "", None


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="*", default=ROBOTS, help="names of robots")
    parser.add_argument("--rounds", type=int, default=12, help="runs of each program")
    parser.add_argument("--eigen", help="folder of Eigen's headers: Eigen and unsupported")
    parser.add_argument("--observer", action="store_true", help="a step of the observer instead")
    given = parser.parse_args()
    text = ("robot", "options", "against")
    found = table(*text[:2], "exported C", "against", "time", "times as fast", left=text)
    with status("starting") as tell:
        rows = (
            measure_observer(given.robots, given.rounds, tell)
            if given.observer
            else measure(given.robots, given.rounds, given.eigen, tell)
        )
        for name, label, time, peer, theirs in rows:
            ratio = "" if theirs is None else f"{theirs / time:.1f}"
            found.add_row(name, label, duration(time), peer, duration(theirs), ratio)
    for line in Machine.here().lines:
        print_line(line)
    print_table(found)
    if installed("pinocchio") is None and not given.observer:
        print_line("note: Pinocchio is not installed, so there is nothing to compare with")


if __name__ == "__main__":
    main()
