"""How often 95 % intervals hold the true base parameters, on simulated arms.

    python benchmarks/identification_coverage.py [--runs 10] [ROBOT ...]

Each arm gets rotors and friction, and a guess of it links that are wrong by a fifth. It is measured
along random harmonics for 20 s at 200 Hz, with noise of 2 % of the torque, positions rounded to
1e-5 and time stamps that jitter; the guess is identified from that, and each base parameter that
was excited counts.
"""

import argparse
import tempfile
import warnings
from pathlib import Path

import numpy as np

import armdyn
from armdyn.formulations.base_parameters import base_parameters
from armdyn.formulations.parameters import robot_parameters
from armdyn.identification.identify import with_offsets_alone
from armdyn.loops.coordinates import coordinates_of

ARMS = ("puma560", "panda", "ur5e", "stanford", "saha_3r", "two_arms")
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
    """The robot with links that are wrong by up to a fifth."""
    scale = np.repeat(1 + 0.2 * draw.uniform(-1, 1, len(robot.model.links)), 10)
    names = robot.parameter_names[: len(scale)]
    values = dict(zip(names, scale * robot.parameters()[: len(scale)], strict=True))
    return robot.with_parameters(values, physical="ignore")


def measured(robot: armdyn.Robot, draw: np.random.Generator) -> dict[str, np.ndarray]:
    """A log of random harmonics."""
    rate, seconds, base = 200.0, 20.0, 0.1
    t = np.arange(0, seconds, 1 / rate)
    t = t + 0.02 / rate * draw.uniform(-1, 1, len(t))
    ranges = np.array([robot.model.joints[i].range for i in robot.model.independent])
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
    tau = tau + 0.02 * np.sqrt(np.mean(tau**2, axis=0)) * draw.normal(size=tau.shape)
    return {"t": t, "q": np.round(q, 5), "tau": tau}


def coverage(name: str, runs: int) -> tuple[int, int, int]:
    """How many true values were inside, of how many excited ones, and how many were not excited."""
    draw = np.random.default_rng(1)
    bare = two_arms() if name == "two_arms" else armdyn.load(name)
    true = worn(bare, draw)
    known = dict(zip(true.parameter_names, true.parameters(), strict=True))
    for joint in true.joint_names:  # viscous friction may be found as that of each direction
        viscous = known[f"{joint}.viscous"]
        known |= {f"{joint}.viscous_{way}": viscous for way in ("positive", "negative")}
    inside = excited = dull = 0
    for _ in range(runs):
        found = armdyn.identify(guessed(bare, draw), measured(true, draw), False)
        model = with_offsets_alone(found.robot.model)
        base = base_parameters(coordinates_of(model))
        some = [p.name for p in robot_parameters(model) if p.linear]
        values = list(base.matrix @ [known.get(name, 0.0) for name in some])
        values += [known.get(p.name, 0.0) for p in found.base[len(values) :]]
        for parameter, value in zip(found.base, values, strict=True):
            low, high = parameter.interval
            excited += parameter.excited
            dull += not parameter.excited
            inside += parameter.excited and low < value < high
    return inside, excited, dull


def main() -> None:
    """Print a line for each arm."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("robots", nargs="*", default=ARMS)
    parser.add_argument("--runs", type=int, default=10)
    given = parser.parse_args()
    warnings.simplefilter("ignore", armdyn.errors.ArmdynWarning)
    for name in given.robots:
        inside, excited, dull = coverage(name, given.runs)
        print(
            f"{name:12} {100 * inside / excited:5.1f} % of {excited} intervals hold the true "
            f"value; {dull} parameters not excited",
            flush=True,
        )


if __name__ == "__main__":
    main()
