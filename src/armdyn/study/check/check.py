"""Everything suspicious in the description of a robot, as a list of findings."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from armdyn.errors import ArmdynError, DescriptionError, UnsupportedJointError, counted, shown
from armdyn.io.files import read_model
from armdyn.io.options import Reading
from armdyn.io.regular import check_path
from armdyn.io.xml import read_xml
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel
from armdyn.model.validate import Finding, Level, upward_gravity
from armdyn.report.result import Result, Section, parts_of
from armdyn.robot import Robot
from armdyn.study.check.bodies import body_findings, geometry_findings, vector_text
from armdyn.study.check.joints import joint_findings, loop_findings

LEVELS: tuple[Level, ...] = ("error", "warning", "note")
MASS_MATRIX_SAMPLES, MASS_MATRIX_ENTRIES = 64, 1_000_000
"""Configurations at which the mass matrix is examined; of a long robot fewer, so that all matrices
together have so many entries."""
SINGULAR, NEARLY_SINGULAR = 1e-12, 1e-8
"""Bounds on the least eigenvalue of the mass matrix, scaled to a unit diagonal."""


OF_SEVERAL = {
    r"\bits mass of": "their masses of",
    r"^a mass of": "masses of",
    r"\bits tensor give a radius": "their tensors give a radius",
    r"^it is": "they are",
    r"was it given": "were they given",
    r"was the mass given": "were the masses given",
    r"\bits (?=tensor|geometry|link|branch|centre|origin|principal)": "their ",
}
"""Words of a finding, and what they become where it is one of several links or joints."""


@dataclass(frozen=True, slots=True)
class Check(Result):
    """What was found in a description, the gravest first."""

    source: str
    """The file, or the name of the robot."""
    findings: tuple[Finding, ...]

    @property
    def exit_code(self) -> int:
        """2 if there are errors, 1 if there are warnings, 0 otherwise."""
        levels = {finding.level for finding in self.findings}
        return 2 if "error" in levels else 1 if "warning" in levels else 0

    @property
    def summary(self) -> str:
        """How many there are of each level."""
        counts = Counter(finding.level for finding in self.findings)
        told = (counted(counts[level], level) for level in LEVELS if counts[level])
        return ", ".join(told) or "nothing to report"

    def sections(self) -> tuple[Section, ...]:
        """The table of findings."""
        rows = tuple((finding.level, finding.where, finding.message) for finding in self.findings)
        data = parts_of(self, "source", "exit_code", "findings")
        columns = ("level", "where", "what")
        return (Section(f"{self.source}: {self.summary}", (), columns, rows, 3, data),)


def check(
    robot: str | Path | Robot | RobotModel,
    *,
    read: Callable[..., Reading] | None = None,
    trusted: bool = True,
) -> Check:
    """What is wrong or odd about a robot, the gravest first.

    A file that cannot be loaded is a finding too.

    Args:
        robot: A catalog name, a file, or a robot.
        read: Reads the source with the keywords `physical` and `fix_root`; None: as it is.
        trusted: Whether files that the source names, as meshes, are read.

    Example:
        >>> check("ur5e").exit_code
        0
    """
    name = robot.name if isinstance(robot, Robot | RobotModel) else str(check_path(robot))
    found = sorted(_merged(_findings(robot, read, trusted)), key=lambda x: LEVELS.index(x.level))
    return Check(name, tuple(found))


def _findings(
    source: str | Path | Robot | RobotModel, read: Callable[..., Reading] | None, trusted: bool
) -> list[Finding]:
    findings: list[Finding] = []
    if isinstance(source, Robot | RobotModel):
        model = source.model if isinstance(source, Robot) else source
    else:
        try:
            model, found = _read(source, partial(read_model, source) if read is None else read)
        except ArmdynError as error:
            text = str(error).removeprefix(f"{source}: ")
            return [Finding("error", str(source), text)]
        except TypeError as error:
            if read is None:
                raise
            given = f"a function of physical and fix_root that gives a Reading, got {shown(read)}"
            raise DescriptionError(f"read: expected {given}") from error
        start = f"{source}: "
        findings = [
            replace(finding, where=str(source), message=finding.message.removeprefix(start))
            for finding in found
        ]
        findings += [*_fixed_joints(source), *geometry_findings(Path(source), model, trusted)]
    findings += [*body_findings(model), *joint_findings(model), *loop_findings(model)]
    findings += gravity_findings(model)
    if not any(finding.level == "error" for finding in findings):
        findings += _mass_matrix(Robot(model))
    return findings


def _read(source: str | Path, read: Callable[..., Reading]) -> Reading:
    """The robot, its root fixed if it must be, with a finding that says so."""
    try:
        return read(physical="ignore")
    except UnsupportedJointError as error:
        text = str(error).removeprefix(f"{source}: ")
        try:
            model, findings = read(physical="ignore", fix_root=True)
        except ArmdynError:
            raise error from None
        fixed = Finding("warning", str(source), f"checked with its root fixed: {text}")
        return model, (fixed, *findings)


def _merged(findings: list[Finding]) -> Iterator[Finding]:
    """Findings that say the same of several joints or links, said once."""
    places: dict[tuple[Level, str, str], dict[str, None]] = {}
    for finding in findings:
        kind, _, name = finding.where.partition(" ")
        places.setdefault((finding.level, kind, finding.message), {})[name] = None
    for (level, kind, message), names in places.items():
        several = len(names) > 1
        where = f"{kind}{'s' * several} {', '.join(names)}".strip()
        text = message
        for one, each in OF_SEVERAL.items() if several else ():
            text = re.sub(one, each, text)
        yield Finding(level, where, text)


def _fixed_joints(source: str | Path) -> Iterator[Finding]:
    """Friction that a URDF file gives for joints that do not move, which loading leaves behind."""
    path = Path(source)
    if path.suffix.lower() not in (".urdf", ".xml"):
        return
    for joint in read_xml(path, DescriptionError).all("joint"):
        given = [
            f"{name} {value}"
            for dynamics in joint.all("dynamics")
            for name, value in dynamics.attributes.items()
            if name in ("damping", "friction") and value.strip().strip("0.")
        ]
        if given and joint.attributes.get("type") == "fixed":
            yield Finding(
                "warning",
                f"joint {joint.attributes.get('name')!r}",
                f"line {joint.line}: {' and '.join(given)} on a fixed joint has no effect",
            )


def gravity_findings(model: RobotModel) -> Iterator[Finding]:
    """What is odd about the field of gravity."""
    g, where = model.gravity, "gravity"
    size = float(np.linalg.norm(g))
    if size == 0:
        yield Finding("note", where, "it is zero; torques do not hold the arm up")
        return
    yield from upward_gravity(model)
    if abs(g[2]) <= 0.5 * size:
        text = f"the field {vector_text(g)} m/s² is not along world -z (a wall, or a planar arm?)"
        yield Finding("note", where, text)
    if not 9.7 < size < 9.9:
        yield Finding("note", where, f"its strength, {size:.4g} m/s², is not that of the Earth")


def _mass_matrix(robot: Robot) -> Iterator[Finding]:
    """Whether the mass matrix can be inverted, at configurations within the limits."""
    where = "mass matrix"
    samples = min(MASS_MATRIX_SAMPLES, MASS_MATRIX_ENTRIES // robot.n**2)
    if not samples:
        yield Finding("note", where, f"it is not examined, because there are {robot.n} joints")
        return
    M = robot.mass_matrix(
        coordinates_of(robot.model).drawn_in_ranges(np.random.default_rng(0), samples)
    )
    diagonal = np.diagonal(M, axis1=-2, axis2=-1)
    for i, name in enumerate(robot.joint_names):
        if np.any(diagonal[:, i] <= 0):
            text = "moves nothing that has inertia, so forward dynamics is undefined"
            yield Finding("error", where, f"joint {name!r} {text}")
            return
    scale = np.sqrt(diagonal)
    least = np.linalg.eigvalsh(M / (scale[:, :, None] * scale[:, None, :]))[:, 0]
    bad = int(np.count_nonzero(least < SINGULAR))
    if bad:
        yield Finding(
            "error",
            where,
            f"it is singular at {bad} of {samples} configurations within the limits "
            f"(least eigenvalue {least.min():.2g}, unit diagonal), so forward dynamics is "
            "undefined; does a branch end in links without inertia?",
        )
    elif least.min() < NEARLY_SINGULAR:
        yield Finding(
            "warning",
            where,
            f"it is nearly singular (least eigenvalue {least.min():.2g}, unit diagonal); "
            "accelerations will lose digits",
        )
