"""How often 95 % intervals hold the true values, on simulated arms whose models are not exact.

    python benchmarks/identification_coverage.py [--runs 2] [ROBOT ...]

Each arm gets rotors and friction, and a guess of it links that are wrong by up to 30 %. It is
measured along random harmonics for 20 s at 200 Hz, positions rounded to 1e-5 and time stamps that
jitter, with noise of 1 % of the torque and what a row of the table has besides:

- noise: nothing else;
- ripple: 2 % of the torque (root mean square) that go with the angle, 30 waves a turn;
- Stribeck: friction that is half as much again at rest, and falls over a tenth of the usual speed.

What is identified from that is compared with what is true: base parameters of links, rotors and
friction that were excited; a payload of 2 kg (mass and first moments), by the identified model
alone and with the unloaded log; and gains of drives, from the mass of a load alone.
"""

import argparse
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import armdyn

ARMS = ("ur5e", "gen3", "scara", "iiwa14", "two_arms")
CASES = ("noise", "ripple", "Stribeck")
LOAD = armdyn.Inertia.box((0.1, 0.1, 0.1), mass=2.0).moved((0.02, 0.0, 0.05))
LINK = """
[[link]]
name    = "{name}"
mass    = {mass}
com     = [{com}, 0.01, 0.02]
inertia = [{small}, {large}, {large}]
"""
JOINT = """
[[joint]]
name     = "{name}_joint"
type     = "revolute"
parent   = "{parent}"
child    = "{name}"
position = [{x}, {y}, {z}]
axis     = {axis}
limits   = [-2.0, 2.0]
"""
PARTS = (
    ("torso", "base", (0.0, 0.0, 0.3), "[0.0, 0.0, 1.0]", 8.0),
    ("left_upper", "torso", (0.0, 0.2, 0.4), "[0.0, 1.0, 0.0]", 3.0),
    ("left_lower", "left_upper", (0.3, 0.0, 0.0), "[0.0, 0.0, 1.0]", 1.5),
    ("right_upper", "torso", (0.0, -0.2, 0.4), "[0.0, 1.0, 0.0]", 3.2),
    ("right_lower", "right_upper", (0.3, 0.0, 0.0), "[1.0, 0.0, 0.0]", 1.2),
)
"""A torso with two arms: name, parent, place and axis of the joint, mass."""


def two_arms() -> armdyn.Robot:
    """The tree of these parts."""
    text = 'format = 1\nname = "two_arms"\n\n[[link]]\nname = "base"\n'
    for name, _, _, _, mass in PARTS:
        size = {"com": 0.04 * mass**0.5, "small": 0.004 * mass, "large": 0.01 * mass}
        text += LINK.format(name=name, mass=mass, **size)
    for name, parent, (x, y, z), axis, _ in PARTS:
        text += JOINT.format(name=name, parent=parent, x=x, y=y, z=z, axis=axis)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "two_arms.toml"
        path.write_text(text, encoding="utf-8")
        return armdyn.load(path)


def worn(robot: armdyn.Robot, draw: np.random.Generator) -> armdyn.Robot:
    """The robot with rotors and friction."""
    values = {}
    for name in robot.joint_names:
        level = draw.uniform(0.4, 1.2)
        values |= {
            f"{name}.rotor": 0.05 * draw.uniform(0.5, 1.5),
            f"{name}.viscous": draw.uniform(0.25, 0.75),
            f"{name}.coulomb_positive": level,
            f"{name}.coulomb_negative": level,
            f"{name}.offset": 0.1 * draw.normal(),
            f"{name}.smooth_velocity": 0.02,
        }
    return robot.with_parameters(values, physical="ignore")


def guessed(robot: armdyn.Robot, draw: np.random.Generator) -> armdyn.Robot:
    """The robot with links that are wrong by up to 30 %."""
    scale = np.repeat(1 + 0.3 * draw.uniform(-1, 1, len(robot.model.links)), 10)
    names = robot.parameter_names[: len(scale)]
    values = dict(zip(names, scale * robot.parameters()[: len(scale)], strict=True))
    return robot.with_parameters(values, physical="ignore")


def measured(robot: armdyn.Robot, draw: np.random.Generator, case: str) -> dict[str, np.ndarray]:
    """A log of random harmonics."""
    rate, seconds, base = 200.0, 20.0, 0.1
    t = np.arange(0, seconds, 1 / rate)
    t = t + 0.02 / rate * draw.uniform(-1, 1, len(t))
    ranges = np.array([robot.model.joints[i].range for i in robot.model.independent])
    ranges = np.where(np.isfinite(ranges), ranges, [-np.pi, np.pi])
    q = np.tile(ranges.mean(axis=1), (len(t), 1))
    qd, qdd = np.zeros_like(q), np.zeros_like(q)
    reach = 0.45 * np.minimum(0.5 * np.ptp(ranges, axis=1), 1.5)
    for k in range(1, 6):
        a, b = reach * draw.normal(size=(2, robot.n)) / k
        w = 2 * np.pi * base * k
        s, c = np.sin(w * t)[:, None], np.cos(w * t)[:, None]
        q, qd = q + a * s + b * c, qd + w * (a * c - b * s)
        qdd = qdd - w * w * (a * s + b * c)
    tau = robot.inverse_dynamics(q, qd, qdd)
    size = np.sqrt(np.mean(tau**2, axis=0))
    if case == "ripple":
        tau = tau + 0.02 * np.sqrt(2) * size * np.sin(30 * q + draw.uniform(0, 6, robot.n))
    elif case == "Stribeck":
        levels = [joint.friction.coulomb_positive for joint in robot.model.coordinate_joints]
        slow = np.exp(-((qd / (0.1 * np.sqrt(np.mean(qd**2, axis=0)))) ** 2))
        tau = tau + 0.5 * np.array(levels) * slow * np.tanh(qd / 0.02)
    tau = tau + 0.01 * size * draw.normal(size=tau.shape)
    return {"t": t, "q": np.round(q, 5), "tau": tau}


def coverage(name: str, case: str, runs: int) -> dict[str, Counter]:
    """How many true values were inside and outside of their intervals, by what they are of."""
    draw = np.random.default_rng(1)
    bare = two_arms() if name == "two_arms" else armdyn.load(name)
    true = worn(bare, draw)
    loaded = true.with_payload(LOAD, add=True)
    moments = np.array([LOAD.mass, *LOAD.first_moment])
    counts: dict[str, Counter] = {}

    def count(kind: str, values: np.ndarray, errors: np.ndarray, truth: np.ndarray) -> None:
        inside = np.abs(np.asarray(values) - truth) < 1.96 * np.asarray(errors)
        counts.setdefault(kind, Counter()).update(inside.tolist())

    for _ in range(runs):
        guess = guessed(bare, draw)
        log, held = (measured(robot, draw, case) for robot in (true, loaded))
        found = armdyn.identify(guess, log, False)
        for parameter in found.base:
            if parameter.excited:
                of_links = any(part.split(".")[0] in link_names(bare) for part in parameter.parts)
                kind = "links" if of_links else "friction"
                count(kind, [parameter.value], [parameter.error], parameter.of(true))
        for kind, payload in (
            ("payload", armdyn.identify_payload(found.robot, held)),
            ("payload, two logs", armdyn.identify_payload(guess, held, log)),
        ):
            ours = [payload.mass, *(payload.mass * payload.com)]
            count(kind, ours, payload.errors[:4], moments)
        gains = draw.uniform(5, 15, bare.n)
        currents = [run | {"tau": run["tau"] / gains} for run in (log, held)]
        drives = armdyn.identify_drive_gains(guess, *currents, LOAD.mass)
        count("gains", drives.values, drives.errors, gains)
    return counts


def link_names(robot: armdyn.Robot) -> set[str]:
    """The names of the links."""
    return {link.name for link in robot.model.links}


def main() -> None:
    """Print a line for each arm."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("robots", nargs="*", default=ARMS)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--cases", nargs="*", default=CASES)
    given = parser.parse_args()
    warnings.simplefilter("ignore", armdyn.errors.ArmdynWarning)
    kinds = ("links", "friction", "payload", "payload, two logs", "gains")
    print("| arm | besides noise | " + " | ".join(kinds) + " |", flush=True)
    print("|---|---|" + "---|" * len(kinds))
    for name in given.robots:
        for case in given.cases:
            counts = coverage(name, case, given.runs)
            cells = (f"{100 * c[True] / c.total():.0f} % of {c.total()}" for c in counts.values())
            print(f"| {name} | {case} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
