"""Identification from a log: what an arm really weighs, checked on a motion that was not used.

The log is made here by a simulated arm that is a fifth heavier than its description, with noise.

    python examples/08_identify.py
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import armdyn
from armdyn.simulation.trajectories import fourier

guess = armdyn.load("two_link")
links = dict(zip(guess.parameter_names[:20], guess.parameters()[:20], strict=True))
true = guess.with_parameters({name: 1.2 * value for name, value in links.items()})


def record(path: Path, seed: int) -> None:
    """A log of twenty seconds at 200 Hz: t, q1, q2, tau1, tau2."""
    draw = np.random.default_rng(seed)
    wave = fourier([0.0, 0.0], *draw.normal(size=(2, 5, 2)) / 4, frequency=0.1, periods=2)
    t = np.arange(0, 20, 0.005)
    q, qd, qdd = wave(t)
    tau = true.inverse_dynamics(q, qd, qdd)
    tau += 0.01 * np.abs(tau).max() * draw.normal(size=tau.shape)
    table = np.column_stack([t, q, tau])
    np.savetxt(path, table, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")


with TemporaryDirectory() as folder:
    runs = Path(folder, "run.csv"), Path(folder, "other.csv")
    for seed, path in enumerate(runs):
        record(path, seed)
    found = armdyn.identify(guess, *runs)

print(f"error on the other motion: {found.validation.relative_error:.1%}")
q, qd, qdd = np.random.default_rng(9).uniform(-1, 1, (3, 100, 2))
wanted = true.inverse_dynamics(q, qd, qdd)
for name, robot in (("description", guess), ("identified", found.robot)):
    off = np.linalg.norm(robot.inverse_dynamics(q, qd, qdd) - wanted) / np.linalg.norm(wanted)
    print(f"{name}: torques are {off:.1%} off")
assert off < 0.02
