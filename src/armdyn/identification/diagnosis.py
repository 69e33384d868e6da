"""What is wrong with data: by the samples alone, and by hypotheses that explain a bad fit.

Samples show units, sensors that are stuck, gaps and saturation. A swap of columns or a sign is not
seen in a column itself, but a model that explains the torques badly, and well after the swap, shows
it; each is tried and compared.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np

from armdyn.arrays import Array, record
from armdyn.identification.data import Data, pilot
from armdyn.identification.equations import ROUGH, Equations
from armdyn.identification.estimate import entropic, weighted_least_squares
from armdyn.identification.preparation import SPIKE, Health, Piece, low_pass, pieces
from armdyn.identification.problem import Prior, Problem, Sums, prior_of, problem_of
from armdyn.identification.residuals import Fit
from armdyn.identification.uncertainty import FoundParameter
from armdyn.io.log import Log, Samples
from armdyn.robot import Robot


@record
class Finding:
    """Something odd about data, and what to do about it."""

    kind: str
    """One word or two, as "degrees", "sign" or "too short"."""
    text: str
    """What was found, and where."""
    advice: str = ""
    severe: bool = False
    """Whether the result is not to be trusted because of it."""

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}" + (f"; {self.advice}" if self.advice else "")


_severe = partial(Finding, severe=True)
"""A finding because of which the result is not to be trusted."""
_STUCK_SHARE = 0.1
"""Share of the samples with one and the same value from which on a sensor is stuck."""
_STUCK_RUN = 50
_MEANS = (2, 4, 8)
"""Samples over which speeds are taken, so that the steps of an encoder do not hide them."""
_JUMP = 4.0
"""Change of position or speed at the end of a run, in the largest there is elsewhere."""
_DEGREE = 180 / np.pi
_FULL_TURNS = 4 * np.pi
"""Positions beyond which a joint without limits is not expected [rad]."""


def sample_findings(robot: Robot, log: Log, samples: Samples, cutoff: float) -> Iterator[Finding]:
    """What is odd in the first samples of a log."""
    joints = robot.model.coordinate_joints
    names = robot.joint_names
    turns = np.array([joint.type.turns for joint in joints])
    peak = np.abs(samples.q).max(axis=0)
    reach = np.array([np.abs(joint.range).max() for joint in joints])
    reach = np.where(np.isfinite(reach), reach, _FULL_TURNS)
    far = turns & (peak > 3 * np.maximum(reach, 1.0))
    if far.any() and (peak[far] / _DEGREE <= 1.5 * reach[far]).all():
        j = int(np.argmax(far * peak))
        yield _severe(
            "degrees",
            f"{log.where}: {names[j]} goes to {peak[j]:.4g}, far beyond its reach of "
            f"{reach[j]:.3g} rad",
            "these look like degrees: say degrees=True (--degrees)",
        )
    elif far.any():
        told = ", ".join(names[j] for j in np.flatnonzero(far))
        yield _severe(
            "positions",
            f"{log.where}: {told}: positions far beyond the limits of the joints",
            "check the unit, the order of the columns and the zero of the encoders",
        )
    yield from _velocities(names, log, samples, cutoff)
    yield from _stuck(names, log, samples)


def _velocities(
    names: tuple[str, ...], log: Log, samples: Samples, cutoff: float
) -> Iterator[Finding]:
    """Velocities that do not belong to the positions."""
    if samples.qd is None or len(samples) < 30:
        return
    rate = 1 / log.period
    slope = np.gradient(low_pass(samples.q, cutoff, rate), samples.t, axis=0)
    given = low_pass(samples.qd, cutoff, rate)
    for j, name in enumerate(names):
        power = float(slope[:, j] @ slope[:, j])
        if power < 1e-8 * len(samples):
            continue
        factor = float(given[:, j] @ slope[:, j]) / power
        match = factor * np.sqrt(power) / max(float(np.linalg.norm(given[:, j])), 1e-300)
        if match < -0.7:
            text, advice = "have the sign opposite to its positions", "turn the sign of one of them"
        elif match < 0.5:
            text, advice = "do not belong to its positions", "check the order of the columns"
        elif not 0.5 < factor < 2:
            text = f"are {factor:.3g} times the derivative of its positions"
            advice = "check the units of both, and of time"
            if abs(abs(np.log(factor)) - np.log(_DEGREE)) < 0.2:
                advice = "one of the two is in degrees"
        else:
            continue
        yield _severe("velocities", f"{log.where}: the velocities of {name} {text}", advice)


def _stuck(names: tuple[str, ...], log: Log, samples: Samples) -> Iterator[Finding]:
    """Columns that keep one value while the joint moves."""
    moving = np.abs(np.diff(samples.q, axis=0)) > 0
    for j, name in enumerate(names):
        for what, column in (("torque", samples.tau[:, j]), ("position", samples.q[:, j])):
            start, stop = _longest_run(column)
            share = (stop - start) / len(column)
            if stop - start < _STUCK_RUN or share < _STUCK_SHARE:
                continue
            inside = moving[start : stop - 1]
            if what == "torque":
                goes_on = bool(inside[:, j].any())
            elif samples.qd is None:
                goes_on = _jumps(column, start, stop)
            else:
                speeds = np.abs(samples.qd)
                goes_on = bool(speeds[start:stop, j].max() > 0.05 * speeds.max())
            if goes_on and (what == "torque" or np.delete(inside, j, axis=1).any()):
                yield _severe(
                    "stuck sensor",
                    f"{log.where}: the {what} of {name} is {column[start]:.6g} from "
                    f"{samples.t[start]:.6g} s to {samples.t[stop - 1]:.6g} s, {100 * share:.0f} % "
                    "of the samples, while the arm moves",
                    "check the sensor and the recording, and leave these samples out",
                )


def _jumps(column: Array, start: int, stop: int) -> bool:
    """Whether positions stand still, or go on, all at once: no joint stops within a sample."""
    steps = np.diff(column)
    elsewhere = np.ones(len(steps), dtype=bool)
    elsewhere[max(start - 2 * max(_MEANS), 0) : stop + 2 * max(_MEANS)] = False
    usual = np.abs(steps[elsewhere]).max(initial=0.0)
    if stop < len(column) and usual and abs(steps[stop - 1]) > _JUMP * usual:
        return True
    return any(_brakes(column, start, stop, elsewhere, mean) for mean in _MEANS)


def _brakes(column: Array, start: int, stop: int, elsewhere: Array, mean: int) -> bool:
    """Whether the speed over some samples changes far more at the ends of a run than elsewhere."""
    speed = (column[mean:] - column[:-mean]) / mean
    change = np.abs(speed[mean:] - speed[:-mean])
    usual = change[elsewhere[: len(change)] & elsewhere[-len(change) :]].max(initial=0.0)
    ends = [speed[start - mean]] if start >= mean else []
    ends += [speed[stop - 1]] if stop - 1 < len(speed) else []
    return bool(usual) and max(map(abs, ends), default=0.0) > _JUMP * usual


def _longest_run(column: Array) -> tuple[int, int]:
    """First and last + 1 of the longest run of equal values."""
    edges = np.concatenate([[0], np.flatnonzero(np.diff(column) != 0) + 1, [len(column)]])
    place = int(np.argmax(np.diff(edges)))
    return int(edges[place]), int(edges[place + 1])


def health_findings(health: Health, names: tuple[str, ...]) -> Iterator[Finding]:
    """What was found in the samples while they were worked on, and what was done about it."""
    counts = health.counts
    told = {
        "missing": ("rows with something missing", "they were left out"),
        "doubled": ("rows with a time stamp that had been there", "they were left out"),
        "backwards": ("time stamps that step back", "rows were put in the order of time"),
        "filled": ("samples missing in between", "they were filled by interpolation"),
        "spikes": (f"rows with a number {SPIKE:g} times all that lasts", "they were left out"),
        "jumps": ("jumps of positions by a whole turn", "they were taken out"),
        "gaps": ("gaps", "the data were cut there, and the filter starts anew"),
        "jitter": (
            "steps of time that differ from the usual one",
            f"by up to {100 * health.worst_jitter:.0f} %; samples were put on a regular grid",
        ),
    }
    for kind, (what, done) in told.items():
        if counts[kind]:
            name = "time stamps" if kind in ("doubled", "backwards", "jitter") else kind
            yield Finding(name, f"{counts[kind]:,} {what}; {done}")
    if health.saturated is not None and health.saturated.any():
        counted = zip(names, health.saturated, strict=True)
        joints = ", ".join(f"{name} ({count:,})" for name, count in counted if count)
        yield Finding(
            "saturation",
            f"torques stand at their largest value: {joints} samples; these and their "
            "neighbours were left out",
            "a softer motion would use all samples",
        )


SUSPICIOUS = 0.12
"""Relative error of the training from which on hypotheses are tried."""
SUSPICIOUS_JOINT = 0.6
"""The same of one joint."""
UNTRUSTED = 0.3
"""Relative error of training or validation from which on a model is not to be trusted."""
EXPLAINS = 0.4
"""A hypothesis is told if it leaves less than this share of what was unexplained."""
LONGEST_DELAY = 0.5
"""Delay up to which torques may come before or after positions [s]."""
LEAST_SHOWN = 1 / 3
"""Share of the base parameters that a motion must show."""
_MOST_SAMPLES = 4000
_STILL = 1e-4
"""Speed below which a joint does not move at all [rad/s or m/s]."""
BAD_FIT = (
    "check geometry, gravity and tool of the robot, and what pushes on the arm; a motor of several "
    "joints needs a drive in the robot"
)
_UNIT_FACTOR = 100.0
"""Ratio of measured torques to those of the prior from which on units are in doubt."""


def diagnose(
    data: Data,
    problem: Problem,
    prior: Prior,
    base: Sequence[FoundParameter],
    fit: Fit,
    validation: Fit | None = None,
) -> tuple[Finding, ...]:
    """Everything that is to be said about the training data, and about a validation that is bad."""
    robot = data.equations.robot
    log = data.logs[0]
    samples = pilot(log)
    findings = list(sample_findings(robot, log, samples, data.cutoffs.motion))
    findings += _units(data.equations, problem, prior)
    findings += _enough(data, problem, base)
    named = {finding.kind for finding in findings if finding.severe}
    bad = fit.relative_error > SUSPICIOUS or fit.per_joint.max() > SUSPICIOUS_JOINT
    if bad and not named & {"degrees", "positions", "stuck sensor"}:
        findings += _hypotheses(data, fit)
    worst = max(filter(None, (fit, validation)), key=lambda each: each.relative_error)
    bad |= worst.relative_error > UNTRUSTED
    if bad and not any(finding.severe for finding in findings):
        text = f"{100 * worst.relative_error:.0f} % of the torques of the {worst.name} and "
        text += f"{100 * worst.per_joint.max():.0f} % of those of a joint remain unexplained"
        findings.append(Finding("bad fit", text, BAD_FIT, severe=worst.relative_error > UNTRUSTED))
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
    whole = problem.whole
    phi = prior.features @ x
    model = np.sqrt(np.einsum("a,jab,b->j", phi, whole.G[0], phi))
    heavy = model > 0.02 * model.max(initial=0.0)
    if not heavy.any():
        return
    ratio = np.sqrt(whole.yy[0])[heavy] / model[heavy]
    usual = float(np.median(ratio))
    if not 1 / _UNIT_FACTOR <= usual <= _UNIT_FACTOR:
        guess = "N mm: multiply by 0.001" if usual > 1 else "kN m, or currents: give the gains"
        yield _severe(
            "units of torque",
            f"the torques are {usual:.3g} times those of the robot as it was given",
            f"they may be in {guess} (gains=...)",
        )
    for j, one in zip(np.flatnonzero(heavy), ratio, strict=True):
        if not 1 / _UNIT_FACTOR <= one / usual <= _UNIT_FACTOR:
            yield _severe(
                "units of torque",
                f"the torque of {robot.joint_names[j]} is {one:.3g} times that of the robot as it "
                f"was given, and those of the other joints {usual:.3g} times",
                "check its unit (N mm?)",
            )


def _enough(data: Data, problem: Problem, base: Sequence[FoundParameter]) -> Iterator[Finding]:
    """Data that are too short, or a motion that shows too little."""
    equations = data.equations
    independent = 2 * data.health.duration * data.cutoffs.equations * equations.robot.n
    unknowns = problem.g.shape[-1]
    if independent < 4 * unknowns:
        yield _severe(
            "too short",
            f"{data.health.duration:.3g} s of motion below {data.cutoffs.equations:.3g} Hz are "
            f"worth {independent:.0f} independent measurements for {unknowns} unknowns",
            "record longer: thirty seconds of an exciting motion are usual",
        )
    slow = equations.speeds < max(0.01 * equations.speeds.max(), _STILL)
    still = [equations.robot.model.driven[k].name for k in np.flatnonzero(slow)]
    excited = sum(parameter.excited for parameter in base)
    if excited < LEAST_SHOWN * len(base) or still:
        which = f"; {', '.join(still)} hardly moved, or the sensor is stuck" if still else ""
        yield _severe(
            "not exciting",
            f"the motion shows {excited} of {len(base)} base parameters{which}",
            "move all joints together, far and fast: armdyn excite designs such a motion",
        )


def _possible(
    equations: Equations, doubtful: Sequence[int]
) -> Iterator[tuple[Finding, Array, Array]]:
    """Signs, exchanged columns and degrees, of joints whose torques are doubtful.

    Each has the matrices that torques are multiplied with, and positions with their rates, (n, n).
    """
    names = equations.robot.joint_names
    same = np.eye(equations.robot.n)
    for j in doubtful:
        turned = np.diag(1 - 2 * same[j])
        for what, torques, motion in (("torque", turned, same), ("position", same, turned)):
            column = f"the {what} of {names[j]}"
            finding = Finding("sign", f"with {column} turned round", f"turn the sign of {column}")
            yield finding, torques, motion
    for j, k in combinations(doubtful, 2):
        swap = same.copy()
        swap[[j, k]] = same[[k, j]]
        cases = ("torques", swap, same), ("positions", same, swap), ("columns", swap, swap)
        for what, torques, motion in cases:
            text = f"with the {what} of {names[j]} and {names[k]} exchanged"
            advice = f"exchange the {what} of these joints"
            yield Finding("swapped columns", text, advice), torques, motion
    turns = [joint.type.turns for joint in equations.robot.model.coordinate_joints]
    degrees = np.diag(np.where(turns, 1 / _DEGREE, 1.0))
    text = "with positions taken for degrees"
    yield Finding("degrees", text, "say degrees=True (--degrees)"), same, degrees


def _hypotheses(data: Data, fit: Fit) -> Iterator[Finding]:
    """The change of columns that explains held-out torques far better than the data as they are."""
    rough = replace(data.equations, structure=ROUGH)
    log = data.logs[0]
    rows = max(_MOST_SAMPLES, int(10.0 / log.period))
    part = log.part(log.first, min(log.last or 2**60, log.first + rows))
    some = list(pieces(part, data.cutoffs, Health(), np.full(rough.robot.n, np.inf)))
    if not some:
        return
    doubtful = np.flatnonzero(fit.per_joint > SUSPICIOUS).tolist()
    changes = [(finding, _changed(some, *both)) for finding, *both in _possible(rough, doubtful)]
    changes += [_delayed(rough, some, data.cutoffs.equations)]
    plain = _unexplained(rough, some, data)
    tried = [(_unexplained(rough, changed, data), finding) for finding, changed in changes]
    left, best = min(tried, key=lambda pair: pair[0][0])
    if left[0] < EXPLAINS * plain[0] and left[1] < plain[1]:
        yield _severe(
            best.kind,
            f"{best.text}, {100 * np.sqrt(left[0]):.0f} % of the torques remain unexplained, and "
            f"{100 * np.sqrt(plain[0]):.0f} % as they are",
            f"{best.advice}, if that is so",
        )


def _changed(some: Sequence[Piece], torques: Array, motion: Array) -> list[Piece]:
    return [
        replace(p, q=p.q @ motion, qd=p.qd @ motion, qdd=p.qdd @ motion, tau=p.tau @ torques)
        for p in some
    ]


def _delayed(rough: Equations, some: Sequence[Piece], cutoff: float) -> tuple[Finding, list[Piece]]:
    """The pieces with torques later or earlier, by what least squares fit best joint by joint."""
    longest = max(some, key=lambda piece: len(piece.t))
    rows = rough.rows(longest, cutoff)
    step = (longest.kept.step or 1) / longest.rate
    most = min(int(LONGEST_DELAY / step), len(rows) // 4)
    middle = slice(most, len(rows) - most)
    bases = [np.linalg.qr(Z[middle])[0] for Z in rows.Z]

    def explained(shift: int) -> float:
        y = rows.tau[most + shift : len(rows) - most + shift]
        share = [np.sum((Q.T @ y[:, j]) ** 2) / (y[:, j] @ y[:, j]) for j, Q in enumerate(bases)]
        return float(np.mean(share))

    shift = max(range(-most, most + 1), key=explained)
    by = round(shift * step * longest.rate)
    later = [replace(p, tau=np.roll(p.tau, -by, axis=0)) for p in some]  # ends are left out
    seconds = abs(by) / longest.rate
    way = "earlier" if by > 0 else "later"
    text = f"with the torques {seconds:.2g} s {way}"
    return Finding("delay", text, f"shift the torques by {seconds:.2g} s against the times"), later


def _unexplained(rough: Equations, some: Sequence[Piece], data: Data) -> tuple[float, float]:
    """Share of the squares of held-out torques that a possible robot does not explain.

    That is the mean of those of the joints, and that of all joints together.
    """
    sums = Sums(rough)
    for piece in some:
        sums.add(rough.rows(piece, data.cutoffs.equations))
    every = problem_of(sums, rough.motors_with(ROUGH))
    even = np.arange(len(every.yy)) % 2 == 0
    problem = every.part(even)
    held = every.part(~even)
    _, deviation = weighted_least_squares(problem)
    floor = 0.02 * np.sqrt(problem.yy[0] / np.maximum(problem.samples, 1))
    prior = prior_of(rough, problem)
    weights = 1 / (10 * np.maximum(deviation, floor) ** 2)
    phi = prior.features @ entropic(problem, prior, weights, 1.0)
    left = held.squares(phi)
    whole = np.maximum(held.yy[0], 1e-300)
    return float(np.mean(left / whole)), float(left.sum() / whole.sum())
