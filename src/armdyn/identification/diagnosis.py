"""What is wrong with data: hypotheses that would explain a bad fit, each tried and compared.

A swap of columns or a sign is not seen in a column itself, but a model that explains the torques
badly, and well after the swap, shows it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from armdyn.arrays import Array
from armdyn.identification.data import Data, pilot
from armdyn.identification.equations import Equations
from armdyn.identification.estimate import entropic, weighted_least_squares
from armdyn.identification.finding import Finding
from armdyn.identification.friction_terms import OFFSET, VISCOUS, coulomb
from armdyn.identification.gram import Sums
from armdyn.identification.preparation import Health, Piece, pieces
from armdyn.identification.problem import (
    Prior,
    Problem,
    motors_with,
    prior_of,
    problem_of,
)
from armdyn.identification.residuals import Fit
from armdyn.identification.samples_check import health_findings, sample_findings
from armdyn.identification.uncertainty import FoundParameter

SUSPICIOUS = 0.12
"""Relative error of the training from which on hypotheses are tried."""
SUSPICIOUS_JOINT = 0.6
"""The same of one joint."""
EXPLAINS = 0.4
"""A hypothesis is told if it leaves less than this share of what was unexplained."""
LEAST_SHOWN = 1 / 3
"""Share of the base parameters that a motion must show."""
_MOST_SAMPLES = 4000
_STILL = 1e-4
"""Speed below which a joint does not move at all [rad/s or m/s]."""
_UNIT_FACTOR = 100.0
"""Ratio of measured torques to those of the prior from which on units are in doubt."""
_ROUGH = (VISCOUS, coulomb(0.03), OFFSET)


def diagnose(
    data: Data, problem: Problem, prior: Prior, base: Sequence[FoundParameter], fit: Fit
) -> tuple[Finding, ...]:
    """Everything that is to be said about the training data."""
    robot, log = data.equations.robot, data.logs[0]
    samples = pilot(log)
    findings = list(sample_findings(robot, log, samples, data.cutoffs.motion))
    findings += _units(data.equations, problem, prior)
    findings += _enough(data, problem, base)
    named = {finding.kind for finding in findings if finding.severe}
    bad = fit.relative_error > SUSPICIOUS or fit.per_joint.max() > SUSPICIOUS_JOINT
    if bad and not named & {"degrees", "positions", "stuck sensor"}:
        findings += _hypotheses(data)
    findings += health_findings(data.health, robot.joint_names)
    return tuple(findings)


def _units(equations: Equations, problem: Problem, prior: Prior) -> Iterator[Finding]:
    """Torques that are far from those of the robot as it was given."""
    robot = equations.robot
    if not all(link.inertia.mass > 0 for link in robot.model.links):
        return
    x = prior.objective.start.copy()
    motors = np.array([k < len(robot.model.driven) for k, _ in problem.motors], dtype=bool)
    x[10 * len(robot.model.links) :][motors] = 0.0
    whole, phi = problem.whole, prior.features @ x
    model = np.sqrt(np.einsum("a,jab,b->j", phi, whole.G[0], phi))
    measured = np.sqrt(whole.yy[0])
    heavy = model > 0.02 * model.max(initial=0.0)
    if not heavy.any():
        return
    ratio = measured[heavy] / model[heavy]
    names = [name for name, big in zip(robot.joint_names, heavy, strict=True) if big]
    usual = float(np.median(ratio))
    if usual > _UNIT_FACTOR or usual < 1 / _UNIT_FACTOR:
        guess = "N mm: multiply by 0.001" if usual > 1 else "kN m, or currents: give the gains"
        yield Finding(
            "units of torque",
            f"the torques are {usual:.3g} times those of the robot as it was given",
            f"they may be in {guess} (gains=...)",
            True,
        )
    for name, one in zip(names, ratio, strict=True):
        if one / usual > _UNIT_FACTOR or one / usual < 1 / _UNIT_FACTOR:
            yield Finding(
                "units of torque",
                f"the torque of {name} is {one:.3g} times that of the robot as it was given, and "
                f"those of the other joints {usual:.3g} times",
                "check its unit (N mm?)",
                True,
            )


def _enough(data: Data, problem: Problem, base: Sequence[FoundParameter]) -> Iterator[Finding]:
    """Data that are too short, or a motion that shows too little."""
    equations = data.equations
    independent = 2 * data.health.duration * data.cutoffs.equations * equations.robot.n
    unknowns = problem.g.shape[-1]
    if independent < 4 * unknowns:
        yield Finding(
            "too short",
            f"{data.health.duration:.3g} s of motion below {data.cutoffs.equations:.3g} Hz are "
            f"worth {independent:.0f} independent measurements for {unknowns} unknowns",
            "record longer: thirty seconds of an exciting motion are usual",
            True,
        )
    speeds = equations.speeds
    names = [owner.name for owner in equations.robot.model.driven]
    least = max(0.01 * speeds.max(), _STILL)
    still = [name for name, speed in zip(names, speeds, strict=True) if speed < least]
    excited = sum(parameter.excited for parameter in base)
    if excited < LEAST_SHOWN * len(base) or still:
        which = f"; {', '.join(still)} hardly moved, or the sensor is stuck" if still else ""
        yield Finding(
            "not exciting",
            f"the motion shows {excited} of {len(base)} base parameters{which}",
            "move all joints together, far and fast: armdyn excite designs such a motion",
            True,
        )


@dataclass(frozen=True, slots=True)
class _Hypothesis:
    """A change of columns that may be what was meant."""

    kind: str
    text: str
    advice: str
    change: Callable[[Piece], Piece]


def _hypotheses(data: Data) -> Iterator[Finding]:
    """The change of columns that explains the torques far better than the data as they are."""
    equations, n = data.equations, data.equations.robot.n
    rough = replace(equations, structure=_ROUGH)
    log = data.logs[0]
    part = log.part(log.first, min(log.last or 2**60, log.first + _rows(data)))
    some = list(pieces(part, data.cutoffs, Health(), np.full(n, np.inf)))
    if not some:
        return
    plain = _unexplained(rough, some, data, lambda piece: piece)
    tried = [(_unexplained(rough, some, data, h.change), h) for h in _possible(equations)]
    left, best = min(tried, key=lambda pair: pair[0])
    if left < EXPLAINS * plain:
        yield Finding(
            best.kind,
            f"{best.text}, {100 * np.sqrt(left):.0f} % of the torques remain unexplained, and "
            f"{100 * np.sqrt(plain):.0f} % as they are",
            f"{best.advice}, if that is so",
            True,
        )
    else:
        yield Finding(
            "bad fit",
            f"{100 * np.sqrt(plain):.0f} % of the torques of a joint remain unexplained on average",
            "check geometry, gravity and tool of the robot, and what pushes on the arm; a motor of "
            "several joints needs a drive in the robot",
        )


def _possible(equations: Equations) -> Iterator[_Hypothesis]:
    """Signs, exchanged columns and degrees."""
    names, motion = equations.robot.joint_names, ("q", "qd", "qdd")
    for what, fields in (("torque", ("tau",)), ("position", motion)):
        for j, name in enumerate(names):
            yield _Hypothesis(
                "sign",
                f"with the {what} of {name} turned round",
                f"turn the sign of the {what} of {name}",
                partial(_turned, fields=fields, j=j),
            )
    groups = {"torques": ("tau",), "positions": motion, "columns": ("tau", *motion)}
    for j, k in combinations(range(len(names)), 2):
        for what, columns in groups.items():
            yield _Hypothesis(
                "swapped columns",
                f"with the {what} of {names[j]} and {names[k]} exchanged",
                f"exchange the {what} of these joints",
                partial(_swapped, fields=columns, j=j, k=k),
            )
    model = equations.robot.model
    turns = np.array([model.joints[i].type.turns for i in model.independent])
    yield _Hypothesis(
        "degrees",
        "with positions taken for degrees",
        "say degrees=True (--degrees)",
        partial(_scaled, scale=np.where(turns, np.pi / 180, 1.0)),
    )


def _rows(data: Data) -> int:
    return max(_MOST_SAMPLES, int(10.0 / data.logs[0].period))


def _unexplained(
    rough: Equations, some: list[Piece], data: Data, change: Callable[[Piece], Piece]
) -> float:
    """Mean share of the squares of a joint's torques that a possible robot does not explain."""
    sums = Sums(rough)
    for piece in some:
        sums.add(rough.rows(change(piece), data.cutoffs.equations))
    problem = problem_of(rough, sums.folds(1), motors_with(rough, _ROUGH))
    _, deviation = weighted_least_squares(problem)
    floor = 0.02 * np.sqrt(problem.yy[0] / np.maximum(problem.samples, 1))
    prior = prior_of(rough, problem)
    weights = 1 / (10 * np.maximum(deviation, floor) ** 2)
    phi = prior.features @ entropic(problem, prior, weights, 1.0)
    return float(np.mean(problem.squares(phi) / np.maximum(problem.yy[0], 1e-300)))


def _turned(piece: Piece, fields: Sequence[str], j: int) -> Piece:
    sign = np.ones(piece.q.shape[1])
    sign[j] = -1.0
    return replace(piece, **{name: getattr(piece, name) * sign for name in fields})


def _swapped(piece: Piece, fields: Sequence[str], j: int, k: int) -> Piece:
    order = np.arange(piece.q.shape[1])
    order[[j, k]] = k, j
    return replace(piece, **{name: getattr(piece, name)[:, order] for name in fields})


def _scaled(piece: Piece, scale: Array) -> Piece:
    return replace(piece, q=piece.q * scale, qd=piece.qd * scale, qdd=piece.qdd * scale)
