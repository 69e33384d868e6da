"""The readers of files, as functions that give the robot and warn of what they found."""

from pathlib import Path

from armdyn.io.dh import read_dh
from armdyn.io.options import LoadOptions
from armdyn.io.toml.read import read_toml
from armdyn.io.urdf.read import read_urdf
from armdyn.loading import robot_from


def model_from_dh(*table, **options):
    return robot_from(read_dh(*table, **options)).model


def model_from_urdf(path, **options):
    return robot_from(read_urdf(Path(path), LoadOptions(**options))).model


def model_from_toml(path, **options):
    return robot_from(read_toml(Path(path), LoadOptions(**options))).model


def model_from_mjcf(path, **options):
    from armdyn.io.mjcf.read import read_mjcf

    return robot_from(read_mjcf(Path(path), LoadOptions(**options))).model
