"""What the samples of a log alone show: units, sensors that are stuck, gaps, saturation."""

from collections.abc import Iterator

import numpy as np

from armdyn.arrays import Array
from armdyn.identification.filters import low_pass
from armdyn.identification.finding import Finding
from armdyn.identification.preparation import Health
from armdyn.io.log import Log, Samples
from armdyn.robot import Robot

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
    joints = [robot.model.joints[i] for i in robot.model.independent]
    names = robot.joint_names
    turns = np.array([joint.type.turns for joint in joints])
    peak = np.abs(samples.q).max(axis=0)
    reach = np.array([np.abs(joint.range).max() for joint in joints])
    reach = np.where(np.isfinite(reach), reach, _FULL_TURNS)
    far = turns & (peak > 3 * np.maximum(reach, 1.0))
    if far.any() and (peak[far] / _DEGREE <= 1.5 * reach[far]).all():
        j = int(np.argmax(np.where(far, peak, 0)))
        yield Finding(
            "degrees",
            f"{log.where}: {names[j]} goes to {peak[j]:.4g}, far beyond its reach of "
            f"{reach[j]:.3g} rad",
            "these look like degrees: say degrees=True (--degrees)",
            True,
        )
    elif far.any():
        told = ", ".join(names[j] for j in np.flatnonzero(far))
        yield Finding(
            "positions",
            f"{log.where}: {told}: positions far beyond the limits of the joints",
            "check the unit, the order of the columns and the zero of the encoders",
            True,
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
        elif abs(match) < 0.5:
            text, advice = "do not belong to its positions", "check the order of the columns"
        elif not 0.5 < factor < 2:
            text = f"are {factor:.3g} times the derivative of its positions"
            near = abs(np.log(factor / _DEGREE)) < 0.2 or abs(np.log(factor * _DEGREE)) < 0.2
            advice = (
                "one of the two is in degrees" if near else "check the units of both, and of time"
            )
        else:
            continue
        yield Finding("velocities", f"{log.where}: the velocities of {name} {text}", advice, True)


def _stuck(names: tuple[str, ...], log: Log, samples: Samples) -> Iterator[Finding]:
    """Columns that keep one value while the joint moves."""
    moving = np.abs(np.diff(samples.q, axis=0)) > 0
    for j, name in enumerate(names):
        for what, column in (("torque", samples.tau[:, j]), ("position", samples.q[:, j])):
            start, stop = _longest_run(column)
            share = (stop - start) / len(column)
            if stop - start < _STUCK_RUN or share < _STUCK_SHARE:
                continue
            inside = slice(start, stop)
            if what == "torque":
                stuck = bool(moving[start : stop - 1, j].any())
            else:
                others = np.delete(moving[start : stop - 1], j, axis=1).any()
                stuck = bool(others) and _goes_on(samples, inside, j)
            if stuck:
                yield Finding(
                    "stuck sensor",
                    f"{log.where}: the {what} of {name} is {column[start]:.6g} from "
                    f"{samples.t[start]:.6g} s to {samples.t[stop - 1]:.6g} s, {100 * share:.0f} % "
                    "of the samples, while the arm moves",
                    "check the sensor and the recording, and leave these samples out",
                    True,
                )


def _goes_on(samples: Samples, inside: slice, j: int) -> bool:
    """Whether a joint moves on while its position keeps one value."""
    if samples.qd is None:
        return _jumps(samples.q[:, j], inside.start, inside.stop)
    return bool(np.abs(samples.qd[inside, j]).max() > 0.05 * np.abs(samples.qd).max())


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
        joints = ", ".join(
            f"{names[j]} ({health.saturated[j]:,})" for j in np.flatnonzero(health.saturated)
        )
        yield Finding(
            "saturation",
            f"torques stand at their largest value: {joints} samples; these and their "
            "neighbours were left out",
            "a softer motion would use all samples",
        )
