"""How long an identification takes: 5,000 samples of a Panda, in time of one processor.

The robot is compiled first. Time is that of the process, so that a busy machine counts less; the
least of some repeats is told. `python benchmarks/identification_speed.py [--repeats 3]`
"""

import argparse
import os
import time

os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")

import numpy as np

import armdyn

SAMPLES, RATE = 5000, 200.0
CASES = {
    "terms of friction given": {"friction": "keep"},
    "with the choice of friction": {},
}


def measured(robot: armdyn.Robot) -> dict[str, np.ndarray]:
    """A log with friction, noise and jitter."""
    draw = np.random.default_rng(0)
    t = np.arange(SAMPLES) / RATE + 1e-4 * draw.uniform(size=SAMPLES)
    middle = robot.model.ranges.mean(axis=1)
    q, qd, qdd = (np.zeros((SAMPLES, robot.n)) for _ in range(3))
    for k in range(1, 6):
        w, (a, b) = 2 * np.pi * 0.1 * k, draw.normal(size=(2, robot.n)) / k / 1.5
        s, c = np.sin(w * t)[:, None], np.cos(w * t)[:, None]
        q, qd, qdd = (
            q + a * s + b * c,
            qd + w * (a * c - b * s),
            qdd - w * w * (a * s + b * c),
        )
    q = q + middle
    tau = robot.inverse_dynamics(q, qd, qdd)
    return {"t": t, "q": q, "tau": tau + 0.02 * tau.std(axis=0) * draw.normal(size=tau.shape)}


def main() -> None:
    """Print a row for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    guess = armdyn.load("panda")
    wear = {"rotor": 0.05, "viscous": 0.5, "coulomb_positive": 0.8, "coulomb_negative": 0.8}
    wear["smooth_velocity"] = 0.02
    worn = guess.with_parameters(
        {f"{joint}.{name}": value for joint in guess.joint_names for name, value in wear.items()}
    )
    log = measured(worn)
    for case, options in CASES.items():
        times = []
        for _ in range(repeats + 1):  # the first one compiles
            began = time.process_time()
            found = armdyn.identify(worn, log, **options)
            times.append(time.process_time() - began)
        print(
            f"{SAMPLES:,} samples of {guess.name}, {case}: {min(times[1:]):.2f} s, "
            f"{100 * found.validation.relative_error:.2f} % error held out",
            flush=True,
        )


if __name__ == "__main__":
    main()
