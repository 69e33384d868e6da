"""Can these bodies exist? Physical consistency of the inertias, link by link."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from armdyn.errors import ArmdynWarning, InertiaError, ModelError, is_one_of, shown
from armdyn.model.inertia import Inertia
from armdyn.model.link import Body
from armdyn.model.robot import RobotModel

Level = Literal["error", "warning", "note"]
Physical = Literal["error", "warn", "ignore"]

DIGITS_TOLERANCE = 1e-6
"""Relative violation that is taken for rounding of the printed digits."""
MOMENT_ROUNDING = 1e-13
"""Relative error of a moment of inertia after it has been carried to another point."""


@dataclass(frozen=True, slots=True)
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
    return [
        Finding(
            "warning" if model.reduced and not body.payload else level,
            f"link {body.name!r}",
            message,
        )
        for body in bodies(model)
        for level, message in _inertia_findings(body.inertia)
    ]


def check_physical(model: RobotModel, physical: Physical = "error") -> RobotModel:
    """The robot itself, or an InertiaError; odd but legal inertias are warned of."""
    for finding in physical_warnings(model, physical):
        warnings.warn(finding.message, ArmdynWarning, stacklevel=3)
    return model


def physical_warnings(model: RobotModel, physical: Physical = "error") -> Iterator[Finding]:
    """Inertias that are odd but legal, or that cannot exist and are wanted all the same."""
    if not is_one_of(physical, ("error", "warn", "ignore")):
        raise ModelError(f"physical must be 'error', 'warn' or 'ignore', got {shown(physical)}")
    for finding in physical_findings(model):
        text = f"{finding.where} of {model.name!r}: {finding.message}"
        if finding.level == "error" and physical == "error":
            raise InertiaError(
                f"{text}. Correct the numbers, or pass physical='warn' (--physical warn) to "
                "compute with them anyway",
                link=finding.where.removeprefix("link ").strip("'"),
            )
        if physical != "ignore" and not (finding.level == "warning" and model.reduced):
            yield Finding("warning", finding.where, text)


def _inertia_findings(inertia: Inertia) -> Iterator[tuple[Level, str]]:
    m, I = inertia.mass, inertia.moment_about_com
    # I is a difference of moments about the origin, which leave their rounding in it
    slack = DIGITS_TOLERANCE * float(np.abs(I).max()) + MOMENT_ROUNDING * float(
        np.abs(inertia.moment).max()
    )
    if m < 0:
        yield "error", f"the mass is {m:g} kg; it must be positive"
        return
    if np.abs(I - I.T).max() > slack:
        yield "error", f"the inertia tensor {I.tolist()} is not symmetric"
        return
    if m == 0:
        if not inertia.is_zero:
            yield (
                "warning",
                "it has inertia but no mass: not a physical link, but a valid reduced parameter "
                "set; the torques are right, the centre of mass means nothing",
            )
        return
    # the moments of a body that exists are sums of pairs of non-negative spreads (ΣΣ = ∫ r rᵀ dm)
    principal = np.linalg.eigvalsh(I)
    if principal[0] < -slack:
        yield (
            "error",
            f"the inertia tensor about the centre of mass is not positive definite: "
            f"its principal moments are {', '.join(f'{v:.6g}' for v in principal)} kg m²",
        )
    elif principal[2] > (principal[0] + principal[1]) * (1 + DIGITS_TOLERANCE) + slack:
        yield (
            "error",
            f"the triangle inequality is violated: the largest principal moment about the centre "
            f"of mass, {principal[2]:.6g}, exceeds the sum of the others, "
            f"{principal[0]:.6g} + {principal[1]:.6g} kg m² (pseudo-inertia not positive "
            f"semidefinite); was the tensor given about another point?",
        )
