"""Robots from every source."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from numpy.typing import ArrayLike

from armdyn.errors import ArmdynWarning
from armdyn.io.catalog import catalog_names
from armdyn.io.dh import read_dh
from armdyn.io.files import read_model
from armdyn.io.options import Reading
from armdyn.loops.coordinates import closure_gap
from armdyn.model import GRAVITY
from armdyn.model.validate import Physical, upward_gravity
from armdyn.robot import Robot


def robots() -> tuple[str, ...]:
    """The names of the robots that come with armdyn, for `load`."""
    return catalog_names()


def load(
    source: str | Path,
    *,
    locked: Mapping[str, float] | None = None,
    tool: str | None = None,
    gravity: ArrayLike | None = None,
    base: ArrayLike | None = None,
    physical: Physical = "error",
    fix_root: bool = False,
    density: float | None = None,
    hull: bool = False,
    model: str | None = None,
    spinning_rotors: bool = False,
    coordinates: Sequence[str] | None = None,
    loops: str | Path | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
) -> Robot:
    """A robot from the catalog or from a file.

    Args:
        source: A catalog name such as "panda", or a path to a .urdf, .xacro, .sdf, .xml (MJCF) or
            .toml file.
        locked: Joints held at a value [rad or m]; they become fixed.
        tool: The link at whose frame the tool is mounted; None: what the file says, or the end of
            the longest chain.
        gravity: Field of gravity in world axes, pointing down [m/s²]; None: what the file says, or
            (0, 0, -9.81).
        base: 4x4 transform of the base in the world; None: what the file says, or the identity.
        physical: What to do about inertias that cannot exist: "error", "warn" or "ignore".
        fix_root: Whether a base that nothing holds is held where it is, and a planar joint at the
            root of a URDF file fixed; else such a robot has `robot.free_base` alone.
        density: Density of links that have a shape and no inertia [kg/m³]: geometry of a URDF file,
            shapes of a TOML file. A warning names them.
        hull: Whether meshes of a URDF file count with their convex hulls for that.
        model: Which of the models of an SDF file is the robot, as "arm" or "cell::arm"; None: the
            one that is not static.
        spinning_rotors: Whether rotors behind gears of which nothing else is said, as in Drake's
            elements, spin about the axes of their joints on the links before these.
        coordinates: Joints around loops from which all others follow; None: what the file says, or
            those that suit best, which keep motors.
        loops: What closes a URDF file: a YAML file with `closed_loop`, `type` and `name_mot`, a
            mapping of these, or loops as `from_dh` takes them.

    Example:
        >>> load("two_link").inverse_dynamics([0.3, -0.7], [0, 0], [0, 0]).round(3)
        array([18.602,  3.613])
    """
    given: dict[str, Any] = {"locked": locked, "tool": tool, "gravity": gravity, "base": base}
    given |= {"physical": physical, "fix_root": fix_root, "density": density, "hull": hull}
    given |= {"model": model, "spinning_rotors": spinning_rotors}
    given |= {"coordinates": coordinates, "loops": loops}
    return robot_from(read_model(source, **given), gravity=gravity)


def robot_from(reading: Reading, gravity: object = None) -> Robot:
    """The robot of a reading; who called is warned of what was found, and of gravity if given."""
    model, findings = reading
    for finding in (*findings, *(() if gravity is None else upward_gravity(model))):
        if finding.level != "note":
            warnings.warn(finding.message, ArmdynWarning, stacklevel=3)
    robot = Robot(model)
    if gap := closure_gap(model):
        warnings.warn(gap, ArmdynWarning, stacklevel=3)
    return robot


def from_dh(
    rows: Sequence[Mapping[str, Any]],
    convention: Literal["standard", "modified"] = "standard",
    *,
    gravity: ArrayLike = GRAVITY,
    base: ArrayLike | None = None,
    tool: ArrayLike | None = None,
    name: str = "robot",
    physical: Physical = "error",
    loops: Sequence[Mapping[str, Any]] = (),
    assembly: Mapping[str, float] | None = None,
) -> Robot:
    """A robot from its Denavit-Hartenberg table.

    The columns of a row, all by name: `joint` ("revolute", "prismatic" or "helical"), `pitch`
    (of a helical joint [m/rad]), `a`, `alpha`, `d`, `theta` (the joint variable q is added to theta
    or d; helical: q to theta and pitch·q to d), `mass`, `com`, `inertia`, `inertia_about`
    ("com" or "origin"), `shape` (below), `viscous`, `coulomb`, `stribeck`, `stribeck_velocity`,
    `smooth_velocity`, `offset`, `power`, `power_exponent`, `rotor_inertia`, `gear_ratio`,
    `rotor_axis` and `rotor_carrier` (of a rotor that spins: its axis in the frame of that link),
    `limits`, `velocity_limit`, `effort_limit`, `continuous_effort`, `name`, `link`; for trees
    `parent` (the link that a row is on, "base" or that of an earlier row; else the row before),
    `gamma` and `b` (Khalil and Kleinfinger); for loops `actuated`.

    Instead of `com` and `inertia`, `shape` is an `Inertia`, a mapping such as dict(type="box",
    size=(x, y, z), density=2700, position=(x, y, z)), or a list of them, in the frame of the row;
    a `mass` beside it is that of all shapes together.

    Args:
        rows: One mapping a joint.
        convention: "standard" (Paul) or "modified" (Craig; row i holds a_{i-1} and alpha_{i-1}).
        gravity: Field of gravity in world axes, pointing down [m/s²].
        base: 4x4 transform of the base in the world.
        tool: 4x4 transform of the tool in the last frame of the table.
        name: Name of the robot.
        physical: What to do about inertias that cannot exist: "error", "warn" or "ignore".
        loops: Cut joints that close the tree, each a mapping of `name`, `type` (as in TOML), `a`
            and `b`: a link with a point, or a 4x4 transform, in the frame of its row.
        assembly: Positions near which all loops are closed, by the names of joints [rad or m].
    """
    given: dict[str, Any] = {"gravity": gravity, "base": base, "tool": tool, "name": name}
    given |= {"physical": physical, "loops": loops, "assembly": assembly}
    return robot_from(read_dh(rows, convention, **given), gravity)
