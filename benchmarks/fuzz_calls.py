"""The public functions of armdyn, each with arguments that are right."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_seeds import MOTION, TREE

import armdyn
from armdyn import simulation

ROW = {"joint": "revolute", "a": 1.0, "mass": 1.0, "com": (0.1, 0, 0), "inertia": (1, 1, 1)}
OFTEN = ("from_dh", "load", "simulate", "kernel", "with_payload")
"""Functions with many arguments, which are called more often than others."""
RIGHT: dict[str, Any] = {
    **{key: [0.1, 0.2] for key in ("q", "qd", "qdd", "qddd", "qdddd", "tau", "q0", "start")},
    **{key: [0.1, 0.2] for key in ("base", "target", "at")},
    "rows": [ROW, ROW],
    "end": [1.0, 2.0],
    "points": [[0, 0], [1, 1], [2, 0]],
    "duration": 1.0,
    "velocity": 1.0,
    "acceleration": 1.0,
    "a": [[0.1, 0.2]],
    "b": [[0.1, 0.2]],
    "frequency": 1.0,
    "dt": 0.1,
    "formulation": "denoc",
    "mass": 1.0,
    "gravity": [0.0, 0.0, -9.81],
    "tool": np.eye(4),
    "joints": {"joint1": 0.0},
    "quantity": "mass_matrix",
    "count": 1,
    "first_moment": np.zeros(3),
    "moment": np.eye(3),
    "T": np.eye(4),
    "values": {"joint1.viscous": 0.1},
    "drives": [{"name": "motor", "joints": {"joint1": 1.0, "joint2": -1.0}}],
    "springs": [{"link": "link1", "point": [0.1, 0.0, 0.0], "stiffness": 10.0}],
    "centre": [1.5, 0.0, 0.0],
    "axis": [0.0, 0.0, 1.0],
    "momentum": np.zeros(6),
    "pose": np.eye(4),
    "names": ["x", "rz"],
    "twist": np.zeros(6),
    "rate": np.zeros(6),
}
"""Arguments by name."""
OWN: dict[str, dict[str, Any]] = {
    "simulate": {"duration": 0.01, "dt": 0.005, "method": "RK45", "rtol": 1e-3},
    "rk4": {"duration": 0.01, "method": "rk4"},
    "with_base": {"base": np.eye(4)},
    "CartesianImpedance": {"target": np.eye(4)},
    "fourier": {"duration": 1.0},
    "cartesian_line": {"orientation": "free", "duration": 1.0},
    "quintic": {"duration": 1.0},
    "via_points": {"times": [0.0, 1.0, 2.0]},
    "smooth_spline": {"times": [0.0, 1.0, 2.0]},
    "smoothed": {"times": np.arange(40) / 40, "points": np.zeros((40, 2)), "cutoff": 3.0},
    "Shaped": {"shares": [0.5, 0.5], "delays": [0.0, 0.1]},
    "with_elasticity": {"stiffness": 1e4},
    "equations": {"form": "energy"},
    "count_operations": {"stage": "written"},
    "simplify": {"free": "link2.com", "symbolic": False},
    "compare": {"with_": []},
    "kernel": {"quantity": "mass_matrix"},
    "with_joint": {"name": "joint1"},
    "with_link": {"name": "link1"},
    "with_rotor": {"name": "joint1", "axis": [0, 0, 1], "carrier": "base", "gear_ratio": -50.0},
    "sweep": {"over": armdyn.Grid(q=(-1.0, 1.0, 3))},
    "with_base_parameters": {"values": armdyn.load("two_link").base_parameters().values},
}
"""Arguments of one function that differ, or that it needs to be quick."""


NOT_CALLED = (
    *("Robot", "Ledger", "Simulation", "Event", "reduced", "excite", "update_model"),
    *("identify", "identify_drive_gains", "identify_friction", "identify_gravity"),
    *("identify_payload", "torch", "worst_case", "LoopMotion", "FreeBase"),
)
"""Classes that people do not make themselves, functions that take seconds, and those of large
extras."""
MOTORS = """
[[motor]]
name = "motor"
rotor_inertia = 1e-4
rated_torque = 1.0
peak_torque = 3.0
max_speed = 300.0
mass = 1.0

[[gear]]
ratios = [10.0, 100.0]
"""


@dataclass(frozen=True)
class Call:
    """A function with arguments that are right, and the names of all it has."""

    name: str
    function: Callable[..., Any]
    given: dict[str, Any]
    arguments: tuple[str, ...]


def calls(folder: Path) -> list[Call]:
    """Every public function, and every method of a robot."""
    robot = armdyn.load("two_link")
    (folder / "arm.toml").write_text(TREE)
    (folder / "move.csv").write_text(MOTION)
    files = {
        "source": str(folder / "arm.toml"),
        "robot_or_path": str(folder / "arm.toml"),
        "path": str(folder / "out.toml"),
        "directory": str(folder / "out"),
        "robot": robot,
        "position": robot.forward_kinematics(RIGHT["q0"])[:3, 3] - (0.01, 0.0, 0.0),
        "trajectory": simulation.hold([0.1, 0.2], 1.0),
        "over": simulation.hold([0.1, 0.2], 1.0),
        "robots": [robot, robot],
        "motors": str(folder / "motors.toml"),
    }
    (folder / "motors.toml").write_text(MOTORS)
    public = {name for name in dir(robot) if name[0] != "_"} - {"elastic"}  # no joint gives
    functions = {name: getattr(armdyn, name) for name in armdyn.__all__}
    functions |= {"rk4": armdyn.simulate}
    functions |= {name: getattr(simulation, name) for name in dir(simulation)}
    with warnings.catch_warnings(action="ignore"):  # its base has no mass
        functions |= {name: getattr(robot, name) for name in dir(robot) if name in public}
    floating = functions["free_base"]
    functions |= {
        f"free {name}": getattr(floating, name) for name in dir(floating) if name[0] != "_"
    }
    made = []
    for name, function in functions.items():
        if not callable(function) or name in NOT_CALLED:
            continue
        kinds = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
        parameters = [p for p in signature(function).parameters.values() if p.kind not in kinds]
        own = OWN.get(name, {})
        if name == "from_csv":
            own = {"path": str(folder / "move.csv")}
        if name.startswith("free "):
            free = {"base": armdyn.BaseState(), "moved": ["joint1"]}
            own = {p.name: free[p.name] for p in parameters if p.name in free}
        needed = {p.name: p for p in parameters if p.default is Parameter.empty}
        right = RIGHT | files | own
        given = {key: right[key] for key in (*needed, *own)}
        call = Call(name, function, given, tuple(p.name for p in parameters))
        made += [call] * (8 if name in OFTEN else 1)
    return made
