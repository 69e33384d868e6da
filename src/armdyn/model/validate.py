"""Can these bodies exist? Physical consistency of the inertias, link by link."""

import warnings
from collections.abc import Iterator
from typing import Literal

import numpy as np

from armdyn.arrays import check_choice, record
from armdyn.errors import ArmdynWarning, InertiaError
from armdyn.model.link import Body
from armdyn.model.robot import RobotModel

Level = Literal["error", "warning", "note"]
Physical = Literal["error", "warn", "ignore"]


@record
class Finding:
    """Something a description should not have, or that its owner should know."""

    level: Level
    where: str
    """The link, joint or file concerned."""
    message: str


def bodies(model: RobotModel) -> Iterator[Body]:
    """Every part of the robot that moves."""
    for link in model.links:
        yield from link.bodies


def physical_findings(model: RobotModel) -> list[Finding]:
    """What is wrong with the inertias of a robot; a reduced set has none but in payloads."""
    findings = []
    for body in bodies(model):
        where, fault = f"link {body.name!r}", body.inertia.fault
        if fault is not None:
            level: Level = "warning" if model.reduced and not body.payload else "error"
            findings.append(Finding(level, where, fault))
        elif body.inertia.mass == 0 and not body.inertia.is_zero:
            message = (
                "it has inertia but no mass: not a physical link, but a valid reduced parameter "
                "set; the torques are right, the centre of mass means nothing"
            )
            findings.append(Finding("warning", where, message))
    return findings


def upward_gravity(model: RobotModel) -> Iterator[Finding]:
    """A warning of a field that points up."""
    if model.gravity[2] > 0.5 * np.linalg.norm(model.gravity):
        g = ", ".join(f"{component:.3g}" for component in model.gravity)
        yield Finding(
            "warning",
            "gravity",
            f"the field ({g}) m/s² points up in the world; it is the acceleration of a body in "
            "free fall, (0, 0, -9.81) on the ground",
        )


def check_physical(model: RobotModel, physical: Physical = "error") -> RobotModel:
    """The robot itself, or an InertiaError; odd but legal inertias are warned of."""
    for finding in physical_warnings(model, physical):
        warnings.warn(finding.message, ArmdynWarning, stacklevel=3)
    return model


def physical_warnings(model: RobotModel, physical: Physical = "error") -> Iterator[Finding]:
    """Inertias that are odd but legal, or that cannot exist and are wanted all the same."""
    check_choice("physical", physical, ("error", "warn", "ignore"))
    for finding in physical_findings(model):
        text = f"{finding.where} of {model.name!r}: {finding.message}"
        if finding.level == "error" and physical == "error":
            stop = "" if text.endswith("?") else "."
            raise InertiaError(
                f"{text}{stop} Correct the numbers, or pass physical='warn' (--physical warn) to "
                "compute with them anyway",
                link=finding.where.removeprefix("link ").strip("'"),
            )
        if physical != "ignore" and not (finding.level == "warning" and model.reduced):
            yield Finding("warning", finding.where, text)
