"""Design motions for identification on one core, and verify them by other means than the search.

Each arm is designed twice in a process of its own, with an empty cache and with the kernels kept.
Times are those of the processor, which other programs lengthen least. The condition number is that
of `robot.base_regressor` by a singular value decomposition over other instants than those of the
search; limits are looked at there too. With --random the best of so many random motions that just
keep the limits is shown beside it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from time import process_time
from typing import Any

import numpy as np

import armdyn
from armdyn.identification.excitation.excite import Excitation
from armdyn.identification.excitation.problem import RestBasis

PANDA = [15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0]
"""Published accelerations of the Panda [rad/s²]: Franka Control Interface, robot specifications."""
TASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "Panda": ("panda", {"acceleration": PANDA, "parameters": "links"}),
    "Panda, one period": ("panda", {"acceleration": PANDA, "parameters": "links", "periods": 1}),
    "UR10 above a table": ("ur10", {"parameters": "links", "table": 0.0}),
    "Puma 560 above a table": ("puma560", {"parameters": "links", "table": 0.0}),
}
GOALS = {"Panda": 15.0, "Panda, one period": 15.0}
"""Condition numbers that are to be reached."""
DURATION, HARMONICS, STEP = 20.0, 5, 0.0137


def main() -> None:
    """Measure in processes of their own, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=TASKS, help="One of the tasks.")
    parser.add_argument("--random", type=int, default=0, help="Random motions beside it.")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        print(json.dumps(measured(given.only, given.random)))
        return
    print("| arm | condition | seconds, first time | again | random | limits used | distance |")
    print("|---|---|---|---|---|---|---|")
    for name in [given.only] if given.only else TASKS:
        with tempfile.TemporaryDirectory() as cache:
            words = [sys.executable, __file__, "--here", "--only", name]
            first, again = (
                json.loads(_run([*words, "--random", str(count)], cache))
                for count in (0, given.random)
            )
        goal = f" of {GOALS[name]:g}" if name in GOALS else ""
        distance = "-" if first["distance"] is None else f"{1e3 * first['distance']:.0f} mm"
        others = f"{again['random']:.3g}" if given.random else "-"
        print(
            f"| {name} | {first['condition']:.2f}{goal} | {first['seconds']:.1f} | "
            f"{again['seconds']:.1f} | {others} | {100 * first['used']:.1f} % | {distance} |"
        )


def _run(words: list[str], cache: str) -> str:
    one = {name: "1" for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}
    environment = os.environ | one | {"ARMDYN_CACHE_DIR": cache}
    run = subprocess.run(words, check=True, stdout=subprocess.PIPE, env=environment)
    return run.stdout.decode()


def measured(name: str, random: int) -> dict[str, Any]:
    """One design on one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    armdyn.set_threads(1)
    arm, options = TASKS[name]
    robot = armdyn.load(arm)
    began = process_time()
    found = armdyn.excite(robot, DURATION, harmonics=HARMONICS, **options)
    seconds = process_time() - began
    s = found.samples(STEP)
    shares = found.limits.shares(s.q, s.qd, s.qdd, robot.inverse_dynamics(s.q, s.qd, s.qdd))
    return {
        "condition": _condition(found, s.q, s.qd, s.qdd),
        "seconds": seconds,
        "used": max(float(np.abs(share).max()) for share in shares.values()),
        "distance": found.least_distance,
        "random": best_of_random(found, random) if random else None,
    }


def _condition(found: Excitation, *motion: Any) -> float:
    stacked = np.concatenate(found.robot.base_regressor(*motion, links=True))
    return float(np.linalg.cond(stacked))


def best_of_random(found: Excitation, count: int) -> float:
    """The least condition number of random motions, each as large as limits of motion allow."""
    rng, limits, n = np.random.default_rng(0), found.limits, found.robot.n
    basis = RestBasis.of(found.trajectory.frequency, HARMONICS)
    phi = basis.at(np.linspace(0, found.trajectory.period, 240, endpoint=False))
    best = np.inf
    for _ in range(count):
        x = rng.standard_normal((basis.size, n))
        x[0] = limits.middle + limits.room * rng.uniform(-0.5, 0.5, n)
        moved = [np.abs(part[:, 1:] @ x[1:]).max(0) for part in phi]
        rooms = limits.room - np.abs(x[0] - limits.middle), limits.speed, limits.acceleration
        x[1:] *= np.min([room / peak for room, peak in zip(rooms, moved, strict=True)], axis=0)
        best = min(best, _condition(found, *(part @ x for part in phi)))
    return float(best)


if __name__ == "__main__":
    main()
