"""Everything suspicious in the description of a robot, as a list of findings."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import (
    ArmdynError,
    DescriptionError,
    LoopError,
    UnsupportedJointError,
    counted,
    shown,
)
from armdyn.io.files import read_model
from armdyn.io.options import Reading
from armdyn.io.regular import check_path
from armdyn.io.xml import read_xml
from armdyn.loops.coordinates import coordinates_of
from armdyn.loops.loop_coordinates import LoopCoordinates
from armdyn.loops.newton import size
from armdyn.loops.rows import residuals
from armdyn.model import FrictionLaw, Joint, RobotModel
from armdyn.model.validate import Finding, Level, upward_gravity
from armdyn.report.result import Result, Section, parts_of
from armdyn.robot import Robot
from armdyn.study.check.bodies import body_findings, geometry_findings, vector_text

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
        rows = [(finding.level, finding.where, finding.message) for finding in self.findings]
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
    """Everything that is odd about a source, those who say the same apart."""
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
    if model.floating:
        name = f"link {model.base_link.name!r}"
        findings.append(Finding("note", name, "nothing holds this base; it is checked as if held"))
        model = replace(model, floating=False)
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


FULL_TURN = 2 * math.pi
LARGEST_USUAL_EXPONENT = 3.0
"""Friction that grows faster with the speed than by this power looks like a mistake."""


def joint_findings(model: RobotModel) -> Iterator[Finding]:
    """What is odd about the joints of a robot."""
    for joint in model.joints:
        where, rotor = f"joint {joint.name!r}", joint.rotor
        for odd, message in _suspicions(joint):
            if odd:
                yield Finding("warning", where, message)
        if rotor.inertia == 0 and abs(rotor.gear_ratio) != 1:
            text = f"the gear ratio {rotor.gear_ratio:g} has no effect without rotor inertia"
            yield Finding("note", where, text)
    yield from _missing_everywhere(model)


def _suspicions(joint: Joint) -> Iterator[tuple[bool, str]]:
    """Messages, and whether they are true of the joint."""
    limits = joint.limits
    turns = joint.type.turns
    ratio = joint.rotor.gear_ratio
    hinge = turns and not joint.type.slides  # a screw makes many turns, and fast ones
    largest = max((abs(v) for v in (limits.lower, limits.upper) if math.isfinite(v)), default=0.0)
    span = f"limits {limits.lower:g} to {limits.upper:g}"
    yield not turns and not _bounded(joint), "a sliding joint without limits of position"
    yield (
        limits.lower == limits.upper,
        f"both limits are {limits.lower:g} {joint.type.unit}, so the joint cannot move",
    )
    yield (
        hinge and 2 * FULL_TURN < largest <= 720,
        f"{span} rad are {largest / FULL_TURN:.0f} turns; are these degrees?",
    )
    yield (
        not turns and largest > 20,
        f"{span} m are longer than a house; are these millimetres?",
    )
    yield (
        hinge and 60 < limits.velocity <= 720,
        f"a velocity limit of {limits.velocity:g} rad/s; are these degrees?",
    )
    for what, value in (("velocity", limits.velocity), ("effort", limits.effort)):
        yield (
            value == 0,
            f"the {what} limit is 0, which forbids all motion; leave it out if it is not known",
        )
    yield (
        limits.effort < limits.continuous_effort < math.inf,
        f"the continuous effort {limits.continuous_effort:g} exceeds the effort limit "
        f"{limits.effort:g}",
    )
    yield from _odd_friction(joint.friction, limits.effort)
    yield (
        joint.rotor.inertia != 0 and abs(ratio) < 1,
        f"the gear ratio {ratio:g} makes the motor slower than the joint; it is the turns of the "
        "motor for one of the joint",
    )


def _odd_friction(law: FrictionLaw, effort: float) -> Iterator[tuple[bool, str]]:
    """The same of the friction of a joint with a limit of effort."""
    for given in law.idle():
        yield True, f"{given} has no effect"
    level = max(abs(law.static_level(direction) + law.offset) for direction in (-1.0, 1.0))
    yield (
        0 < effort < level,
        f"dry friction{' with the offset' if law.offset else ''} of {level:g} exceeds the effort "
        f"limit {effort:g}, so the actuator cannot move the joint",
    )
    yield (
        law.power > 0 and law.power_exponent > LARGEST_USUAL_EXPONENT,
        f"friction grows with the speed to the power of {law.power_exponent:g}; a power law has an "
        f"exponent of {LARGEST_USUAL_EXPONENT:g} at most",
    )
    yield (
        bool(law.viscous_positive) != bool(law.viscous_negative),
        "viscous friction acts in one direction only",
    )


def _missing_everywhere(model: RobotModel) -> Iterator[Finding]:
    """One note a kind of number that joints lack, not one a joint."""
    where = f"robot {model.name!r}"
    wanted: tuple[tuple[str, Callable[[Joint], bool]], ...] = (
        ("range of positions", lambda j: j.type.turns and not _bounded(j)),
        ("velocity limit", lambda j: math.isinf(j.limits.velocity)),
        ("effort limit", lambda j: math.isinf(j.limits.effort)),
    )
    for what, lacking in wanted:
        driven = [joint for joint in model.joints if joint.actuated]
        names = [joint.name for joint in driven if lacking(joint)]
        if names:
            which = "any joint" if len(names) == len(driven) else ", ".join(names)
            yield Finding("note", where, f"no {what} is given for {which}")
    if model.is_frictionless:
        text = "no joint has friction; torques are those of a frictionless arm"
        yield Finding("note", where, text)


def _bounded(joint: Joint) -> bool:
    return math.isfinite(joint.limits.lower) and math.isfinite(joint.limits.upper)


NEAR_SINGULAR = 0.05
"""Share of the largest determinant below which an assembly is nearly singular."""
MOVED = 0.2
"""How far an assembly may be from being closed until it is told [rad, or share of the size]."""
OPEN = 1e-6
"""Largest residual of a closed loop, as a share of the size of the robot."""
SAMPLES = 2000
"""Configurations in the ranges of the actuated joints that are tried."""


def loop_findings(model: RobotModel) -> Iterator[Finding]:
    """What is odd about the loops of a robot."""
    if not model.loops:
        return
    try:
        at = coordinates_of(model)
    except LoopError as error:
        yield Finding("error", "loops", str(error))
        return
    every = sum(loop.conditions for loop in model.loops)
    independent = len(model.passive)
    if independent != every:
        names = ", ".join(repr(loop.name) for loop in model.loops)
        yield Finding(
            "note",
            f"loop {names}" if len(model.loops) == 1 else f"loops {names}",
            f"of {every} conditions {independent} are independent, as in loops in a plane; forces "
            "in the other directions are not determined by rigid bodies, and are zero here",
        )
    yield from _of_assembly(model, at.assembly)
    yield from _of_limits(model, at.assembly)
    if isinstance(at, LoopCoordinates):
        yield from _of_singularity(at)
        low, high = model.ranges.T
        q = np.random.default_rng(0).uniform(low, high, (SAMPLES, len(low)))
        closed = float(np.mean((at.at(q).type2 > 0).all(-1)))
        if closed < 1:
            share = f"they can be closed at {100 * closed:.3g} % of random positions of the "
            yield Finding("note", "loops", f"{share}actuated joints in their ranges")


def _of_assembly(model: RobotModel, assembly: Array) -> Iterator[Finding]:
    """How far the assembly of the description is from a closed one, and zero as well."""
    given = np.asarray(model.assembly)
    units = np.array([1.0 if joint.type.turns else size(model) for joint in model.joints])
    moved = np.abs(assembly - given) / units
    worst = int(np.argmax(moved))
    if moved[worst] > MOVED:
        yield Finding(
            "warning",
            "assembly",
            f"the loops are not closed as it is given: joint {model.joints[worst].name!r} is at "
            f"{assembly[worst]:.4g} in the nearest closed one, not at {given[worst]:.4g}; is that "
            "the way the robot is assembled?",
        )
    start = 0
    rest = np.abs(residuals(model, np.zeros(len(model.joints)))) / size(model)
    for loop in model.loops:
        largest = float(rest[start : start + loop.conditions].max())
        start += loop.conditions
        if largest > OPEN:
            yield Finding("note", f"loop {loop.name!r}", "it is open where all joints are at zero")


def _of_limits(model: RobotModel, assembly: Array) -> Iterator[Finding]:
    """Joints that are beyond their limits in the assembly, and limits of motors where none is."""
    for joint, position in zip(model.joints, assembly, strict=True):
        limits, where = joint.limits, f"joint {joint.name!r}"
        if not limits.lower - OPEN <= position <= limits.upper + OPEN:
            yield Finding(
                "warning",
                where,
                f"it is at {position:.4g} {joint.type.unit} in the assembly, beyond its limits of "
                f"{limits.lower:.4g} to {limits.upper:.4g}",
            )
        if not joint.actuated and 0 < limits.effort < np.inf:
            yield Finding("note", where, "it is passive, so its effort limit has no effect")
        if not joint.actuated and joint.rotor.inertia:
            yield Finding("note", where, "it is passive and has a rotor; is there a motor?")


def _of_singularity(at: LoopCoordinates) -> Iterator[Finding]:
    """Assemblies that are nearly singular."""
    robot = Robot(at.model)
    near = robot.singularity(robot.start)
    for k, share in zip(at.closure.order, np.atleast_1d(near.type2), strict=True):
        if share < NEAR_SINGULAR:
            yield Finding(
                "warning",
                f"loop {at.model.loops[k].name!r}",
                f"its assembly is nearly singular (type 2): the determinant of its passive joints "
                f"is {share:.2g} of the largest it could have, so they are hardly determined there",
            )
    if near.type1 < NEAR_SINGULAR:
        yield Finding(
            "note", "assembly", "the tool can hardly move in one direction there (type 1)"
        )
