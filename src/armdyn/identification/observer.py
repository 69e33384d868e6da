"""`armdyn.Observer`: the torques of the environment on an arm, without sensors of force.

The equations are in `armdyn.quantities.momentum`. An external torque that sets in is seen as

    r(t) = (1 - exp(-K t)) τ_ext

and no acceleration is needed.

A sample has a = exp(-K h). Noise of the torques with standard deviation σ, whose correlation decays
as exp(-t/T), so that b = exp(-h/T) from one sample to the next, and white noise of the velocities
with the standard deviations s have in the estimate r of joint i the variance

    σ_i² (1 - a)(1 + b) / (2 (1 - a b))  +  2 (1 - a)² / (h² (1 + a)) Σ_j (M_ij s_j)²

Both follow from the autocovariance of what r' = r + (1 - a)(d - r) filters. For white noise of the
torques, b = 0, the first is σ² (1 - a)/2; a constant error of the model, b = 1, keeps its σ².

The wrench at a link that explains external torques, τ_ext = Jᵀ w, is the least-squares solution,
with the smallest norm where several are equally good. Forces count times the reach of the arm, so
that the result does not depend on units. With the singular values s of the scaled Jᵀ and the
largest one S, each is inverted as s / max(s, ε S)²: exactly above ε S, and damped below, where
noise would be magnified by more than 1/(ε S).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from armdyn.arrays import (
    Array,
    broadcast,
    check_constant,
    check_joint_vector,
    check_names,
    check_truth,
    real,
)
from armdyn.errors import ObserverError, ShapeError, require, shown
from armdyn.forks import cached_property
from armdyn.formulations.cartesian import task_rows
from armdyn.io.csv.table import write_csv
from armdyn.model import RobotModel
from armdyn.report.figures import (
    ALARM,
    COLOURS,
    GREY,
    INK,
    draw_head,
    panels_of_joints,
    peak_words,
    save_picture,
    thinned,
)
from armdyn.report.panels import panel_title
from armdyn.robot import Robot, check_robot
from armdyn.simulation.checks import check_each, check_increasing, floats

if TYPE_CHECKING:
    from armdyn.export.options import Exported


@dataclass(frozen=True, slots=True)
class Contact:
    """A time in which a joint was above its threshold."""

    start: float
    """First sample above [s]."""
    end: float
    """Last sample above [s]."""
    joints: tuple[str, ...]
    """The joints that were. The last of them moves what was touched, or carries what does."""


@dataclass(frozen=True, eq=False)
class Observation:
    """External torques along a log; arrays have the shape (..., m, n) for m samples."""

    robot: Robot
    t: Array
    """Times, (m,) [s]."""
    q: Array
    """Positions [rad or m]."""
    torque: Array
    """What the environment gives at the joints [N m or N]."""
    thresholds: Array | None
    """What noise alone seldom exceeds, (n,) or (..., m, n); None if no noise is known."""

    @cached_property
    def contact(self) -> Array:
        """Whether each joint is above its threshold, (..., m, n)."""
        if self.thresholds is None:
            raise ObserverError("there are no thresholds: give the observer noise=...")
        return np.asarray(np.abs(self.torque) > self.thresholds)

    @cached_property
    def contacts(self) -> tuple[Contact, ...]:
        """The times of contact of one arm, in their order."""
        self._check_one_arm("contacts")
        found = []
        edges = np.diff(self.contact.any(-1).astype(int), prepend=0, append=0)
        for start, stop in np.flatnonzero(edges).reshape(-1, 2):
            joints = np.flatnonzero(self.contact[start:stop].any(0))
            names = tuple(self.robot.joint_names[i] for i in joints)
            found.append(Contact(float(self.t[start]), float(self.t[stop - 1]), names))
        return tuple(found)

    def save(self, path: str | Path) -> None:
        """Write t, the external torques tau_ext1, tau_ext2, ... and contact (0, 1) as CSV."""
        self._check_one_arm("a file")
        columns = {"t": self.t}
        columns |= {f"tau_ext{i}": column for i, column in enumerate(self.torque.T, start=1)}
        if self.thresholds is not None:
            columns["contact"] = self.contact.any(-1).astype(float)
        write_csv(path, columns)

    def plot(self, path: str | Path, *, truth: npt.ArrayLike | None = None) -> None:
        """Draw the torques of one arm with their thresholds to a .png, .pdf or .svg file.

        `truth` are torques (m, n) to be drawn beside them, as those of a simulation or a sensor.
        """
        self._check_one_arm("a picture")
        beside = None if truth is None else np.asarray(truth, dtype=float)
        if beside is not None and beside.shape != self.torque.shape:
            raise ObserverError(
                f"truth: expected torques of shape {self.torque.shape}, got {beside.shape}"
            )
        save_picture(path, _figure, self, beside)

    def _check_one_arm(self, what: str) -> None:
        if self.torque.ndim > 2:
            raise ObserverError(
                f"{what} can be made for one arm, and here are {self.torque.shape[:-2]} of them; "
                "run the observer on the log of one"
            )

    def __repr__(self) -> str:
        return f"<Observation of {self.robot.name!r}, torques of shape {self.torque.shape}>"


def _figure(seen: Observation, truth: Array | None) -> Any:
    """A panel a joint: the torques, their thresholds and the true ones."""
    model = seen.robot.model
    t = seen.t
    torque = seen.torque
    curves: list[tuple[Array, str | None, dict[str, Any]]] = [
        (torque, "estimate", {"color": COLOURS["inertial"], "linewidth": 1.4, "zorder": 3})
    ]
    if truth is not None:
        look = {"color": INK, "linewidth": 1.1, "linestyle": (0, (4, 2)), "zorder": 4}
        curves.append((truth, "true", look))
    subtitle = f"{t[-1] - t[0]:.4g} s, what the environment does to the arm"
    contact: Any = None
    if seen.thresholds is not None:
        levels = np.broadcast_to(seen.thresholds, torque.shape)
        contact = seen.contact.any(-1)
        look = {"color": GREY, "linewidth": 0.8, "linestyle": (0, (1, 1.5))}
        curves += [(levels, "threshold", look), (-levels, None, look)]
        subtitle += f"; contact in {100 * contact.mean():.3g} % of the samples"

    def words(i: int, unit: str) -> str:
        return str(peak_words(max(torque[:, i], key=abs), unit)["label"])

    return torque_figure(model, t, curves, words, "external torques", subtitle, contact)


def torque_figure(
    model: RobotModel,
    t: Array,
    curves: Sequence[tuple[Array, str | None, dict[str, Any]]],
    words: Callable[[int, str], str],
    title: str,
    subtitle: str,
    marked: Array | None = None,
) -> Any:
    """A panel a joint with curves of values (m, n), a label and a look each, over times (m,).

    What stands above a panel is in the `words` of a joint and its unit; `marked` are times (m,) of
    contact.
    """
    figure, panels = panels_of_joints(len(model.independent), t)
    for i, (panel, joint) in enumerate(zip(panels, model.coordinate_joints, strict=True)):
        for values, label, look in curves:
            panel.plot(*thinned(t, values[:, i]), label=label, **look)
        if marked is not None:
            panel.fill_between(
                t, 0, 1, where=marked, transform=panel.get_xaxis_transform(), color=ALARM,
                alpha=0.10, linewidth=0, label="contact", zorder=0,
            )  # fmt: skip
        unit = joint.type.torque_unit
        panel_title(panel, joint.name, words(i, unit))
        panel.set_ylabel(f"[{unit}]")
    handles, labels = panels[0].get_legend_handles_labels()
    lines = dict(zip(labels, handles, strict=True))
    left = panels[0].get_position().x0
    draw_head(figure, left, f"{model.title or model.name}: {title}", subtitle, lines)
    return figure


# the wrench

DAMPED_RATIO = 0.005
"""ε by default; a tenth of the configurations of common arms are damped with it."""
LEAST_SINGULAR_VALUE = 1e-100
"""What is below is zero, as for a frame that no joint moves."""
OBSERVABLE_SHARE = 0.95
"""Share of a component that must be in its estimate so that it counts as observable."""


@dataclass(frozen=True, slots=True)
class WrenchEstimate:
    """Force and moment of the environment on a link, batches leading."""

    wrench: Array
    """(..., 6) [N, N m]."""
    resolution: Array
    """What the estimate makes of the true wrench, (..., 6, 6): the identity where all six
    components are seen. A component that is assumed to be zero has a row of zeros."""
    deviation: Array | None
    """Standard deviation of each component, (..., 6); None if no noise is known."""

    @property
    def observable(self) -> Array:
        """Whether the torques of the joints tell each component, (..., 6)."""
        return np.asarray(np.diagonal(self.resolution, 0, -2, -1) > OBSERVABLE_SHARE)


def _reach_of(model: RobotModel, link: str) -> float:
    """Length of the way from the base to a frame along the joints [m]; 1 if it is zero."""
    frame = model.frame(link)
    path = model.paths[frame.link] if frame.link >= 0 else ()
    places = [model.joints[i].placement for i in path] + [frame.placement]
    return float(sum(np.linalg.norm(place[:3, 3]) for place in places)) or 1.0


# the observer


FUNCTIONS = ("observer_start", "observer_step")
LEAST_SAMPLES = 100
"""Samples without contact from which noise can be told."""
LEAST_DEVIATION = 1e-12
"""What is less is rounding, as of a simulation without noise [N m or N]."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Noise of the samples of each joint."""

    torque: Array
    """Standard deviation of the torques that the model does not explain, (n,) [N m or N]."""
    time: Array
    """Correlation time of these, (n,) [s]; 0: white."""
    velocity: Array
    """Standard deviation of the velocities, (n,)."""

    @classmethod
    def of_estimates(cls, r: Array, gain: Array, h: float) -> Noise:
        """The noise behind estimates r (..., m, n) without contact, velocities being exact.

        With D the mean square of d = r + (r' - r)/(1 - a) and R that of r, the variance above and
        that of d, σ² (1 + b)/2, give a b = 1 - (1 - a) D/R. Noise that changes its sign from sample
        to sample, as that of velocities does, counts as white noise with the same R.
        """
        gap = -np.expm1(-gain * h)
        axes = tuple(range(r.ndim - 1))
        ahead = r[..., 1:, :]
        before = r[..., :-1, :]
        D = np.mean((before + (ahead - before) / gap) ** 2, axis=axes)
        R = np.maximum(np.mean(ahead**2, axis=axes), LEAST_DEVIATION**2)
        b = np.clip((1 - gap * D / R) / np.maximum(1 - gap, 1e-9), 0.0, 1 - 1e-9)
        torque = np.sqrt(2 * R * (1 - (1 - gap) * b) / (gap * (1 + b)))
        with np.errstate(divide="ignore"):
            time = -h / np.log(b)
        return cls(torque, time, np.zeros_like(torque))

    def variance(self, gain: Array, h: Array, mass_matrix: Array | None) -> Array:
        """Of the estimate of each joint, (..., n), for samples at distances h (..., 1)."""
        gap = -np.expm1(-gain * h)
        with np.errstate(divide="ignore"):
            decay = h / self.time  # infinite where the noise is white
        found = self.torque**2 * gap * (1 + np.exp(-decay))
        found = np.asarray(found / (-2 * np.expm1(-gain * h - decay)))
        if mass_matrix is None:
            return found
        momentum = np.einsum("...ij,j->...i", mass_matrix**2, self.velocity**2)
        return found + 2 * gap**2 / (h**2 * (2 - gap)) * momentum


class Observer:
    """Estimates what the environment does to an arm, sample by sample or for a whole log.

    The torques that it takes are those of the actuators, (..., n) [N m or N], as everywhere; those
    that it gives are of the environment on the arm, positive if they drive a joint forward. A batch
    of arms is any leading shape.
    """

    def __init__(
        self,
        robot: Robot,
        gain: npt.ArrayLike = 25.0,
        *,
        noise: npt.ArrayLike | None = None,
        noise_time: npt.ArrayLike = 0.0,
        velocity_noise: npt.ArrayLike = 0.0,
        false_alarms: float = 1e-6,
        friction: bool = True,
        payload: npt.ArrayLike | None = None,
    ):
        """Set the observer up; numbers are one for all joints, or one for each, (n,).

        Args:
            robot: The robot, best as identified.
            gain: K [1/s]: 1/K is the time constant of the estimate.
            noise: Standard deviation of the torques that the model does not explain where there is
                no contact [N m or N]; None: unknown, and there are no thresholds.
            noise_time: Correlation time of these [s]; 0: from sample to sample they are
                independent.
            velocity_noise: Standard deviation of the measured velocities.
            false_alarms: Share of samples without contact in which a threshold is exceeded.
            friction: Whether the joints have the friction of the robot.
            payload: The ten numbers of `robot.payload_vector`, which may then change at run time;
                None: the robot holds what it has.
        """
        self.robot, n = check_robot(robot), robot.n
        self.gain = check_each("gain", gain, n, ObserverError, "1/s")
        self.noise = None
        if noise is not None:
            torque = check_each("noise", noise, n, ObserverError, "N m or N")
            rest: Any = {"n": n, "error": ObserverError, "zero": True}
            time = check_each("noise_time", noise_time, unit="s", **rest)
            speed = check_each("velocity_noise", velocity_noise, unit="rad/s or m/s", **rest)
            self.noise = Noise(torque, time, speed)
        share = "a share of the samples, more than 0 and less than 1"
        sound = 0 < real(false_alarms) < 1
        require(sound, "false_alarms", share, false_alarms, ObserverError)
        self.false_alarms, self.friction = false_alarms, check_truth("friction", friction)
        # deviations that Gaussian noise exceeds in one of n joints this often, after Šidák; noise
        # that the joints have in common exceeds them less often
        self._factor = -float(ndtri(-math.expm1(math.log1p(-false_alarms) / n) / 2))
        self._payload = None if payload is None else check_constant("payload", payload, (10,))
        options: Any = {"friction": self.friction, "payload": payload is not None}
        self._start, self._step = (robot.kernel(name, **options) for name in FUNCTIONS)
        self.reset()

    def reset(self) -> None:
        """Forget all samples."""
        self._state: Array | None = None
        self._sample: tuple[Array, ...] = ()
        self._h: Array | None = None

    @property
    def payload(self) -> Array | None:
        """What the arm holds; a new one counts from the last sample on."""
        return self._payload

    @payload.setter
    def payload(self, payload: npt.ArrayLike) -> None:
        if self._payload is None:
            raise ObserverError(
                "this observer has no payload that can change; give it one when you make it, as "
                "Observer(robot, payload=robot.payload_vector(0.0))"
            )
        self._payload = check_constant("payload", payload, (10,))
        if self._state is not None:
            n = self.robot.n
            self._state[..., n:] = self._start(*self._sample, *self._more)[..., n:]

    @property
    def _more(self) -> tuple[Array, ...]:
        return () if self._payload is None else (self._payload,)

    def step(
        self,
        q: npt.ArrayLike,
        qd: npt.ArrayLike,
        tau: npt.ArrayLike,
        h: npt.ArrayLike | None = None,
    ) -> Array:
        """The external torques (..., n) after one more sample.

        `h` is the time since the last sample [s], which may differ each time; the first sample
        needs none, and its estimate is zero.
        """
        sample = check_samples(self.robot.n, q=q, qd=qd, tau=tau)
        if self._state is None:
            self._state = self._start(*sample, *self._more)
        else:
            if sample[0].shape[:-1] != self._state.shape[:-1]:
                raise ShapeError(
                    f"the samples before had the batch shape {self._state.shape[:-1]}, this one "
                    f"has {sample[0].shape[:-1]}; use an Observer for each batch, or reset()"
                )
            self._h = check_period(h, sample[0].shape[:-1])
            self._state = self._step(self._state, *sample, self._h, self.gain, *self._more)
        self._sample = tuple(v.copy() for v in sample)
        return self.torque

    @property
    def torque(self) -> Array:
        """The external torques after the last sample, (..., n)."""
        if self._state is None:
            raise ObserverError("there is no sample yet; call step first")
        return self._state[..., : self.robot.n].copy()

    @property
    def contact(self) -> Array:
        """Which joints are above their threshold after the last sample, (..., n)."""
        torque = self.torque
        if self._h is None:
            return np.zeros(torque.shape, dtype=bool)
        return np.asarray(np.abs(torque) > self.thresholds(self._h[..., 0], self._sample[0]))

    def deviation(self, h: npt.ArrayLike, q: npt.ArrayLike | None = None) -> Array:
        """Standard deviation of the estimate without contact, (..., n) [N m or N].

        The samples have the distance h [s]. The positions are needed if velocities have noise.
        """
        if self.noise is None:
            raise ObserverError(
                "thresholds need the noise of the torques; give noise=..., the standard deviation "
                "of what the model does not explain, as an identification reports it"
            )
        mass = None
        if self.noise.velocity.any():
            if q is None:
                raise ObserverError("with noise of the velocities, thresholds depend on q; give q")
            mass = self.robot.mass_matrix(q)
        return np.sqrt(self.noise.variance(self.gain, check_period(h), mass))

    def thresholds(self, h: npt.ArrayLike, q: npt.ArrayLike | None = None) -> Array:
        """What noise alone exceeds as seldom as `false_alarms` says; arguments of `deviation`."""
        return self._factor * self.deviation(h, q)

    def calibrated(
        self, t: npt.ArrayLike, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike
    ) -> Observer:
        """The observer with `noise` and `noise_time` from a log without contact, as `run` takes it.

        What the model does not explain, noise and its own errors, is then in the thresholds.
        """
        seen = self.run(t, q, qd, tau)
        if len(seen.t) < LEAST_SAMPLES:
            raise ObserverError(
                f"noise can be found in {LEAST_SAMPLES} samples or more, got {len(seen.t)}"
            )
        found = Noise.of_estimates(seen.torque, self.gain, float(np.median(np.diff(seen.t))))
        same = {"false_alarms": self.false_alarms, "friction": self.friction}
        noise: Any = {"noise": found.torque, "noise_time": found.time, **same}
        return Observer(self.robot, self.gain, payload=self._payload, **noise)

    def wrench(
        self,
        q: npt.ArrayLike,
        torque: npt.ArrayLike | None = None,
        *,
        h: npt.ArrayLike | None = None,
        link: str = "tool",
        frame: str = "world",
        task: Sequence[str] | None = None,
        damping: float = DAMPED_RATIO,
    ) -> WrenchEstimate:
        """The wrench of the environment on a link that explains external torques.

        Args:
            q: Positions, (..., n).
            torque: External torques, (..., n); None: those of the last sample.
            h: Distance of samples [s], for the standard deviation; None: that of the last two.
            link: Link (or "tool") at whose origin the wrench acts.
            frame: Axes of the wrench: "world", "tool" or the name of a link.
            task: Components of "x", "y", "z", "rx", "ry", "rz" that act; the others are assumed to
                be zero, as the moments of a push at a point. None: all six.
            damping: Singular values of the Jacobian below this part of the largest one are damped.
        """
        (q,) = check_samples(self.robot.n, q=q)
        (torque,) = check_samples(self.robot.n, torque=self.torque if torque is None else torque)
        expected = "a part of the largest singular value, from 0 to 1"
        require(0 <= real(damping) < 1, "damping", expected, damping, ObserverError)
        rows = np.arange(6) if task is None else np.array(task_rows(check_names("task", task)))
        J = self.robot.jacobian(q, frame=frame, link=link)
        reach = _reach_of(self.robot.model, link)
        scale = np.array([reach] * 3 + [1.0] * 3)[rows]
        U, s, Vt = np.linalg.svd(J[..., rows, :] / scale[:, None], full_matrices=False)
        least = damping * s[..., :1] + LEAST_SINGULAR_VALUE
        inverse = s / np.maximum(s, least) ** 2
        whole = np.zeros_like(J)
        resolution = np.zeros((*J.shape[:-2], 6, 6))
        whole[..., rows, :] = (U * inverse[..., None, :] @ Vt) / scale[:, None]
        seen = (U * (inverse * s)[..., None, :] @ np.swapaxes(U, -1, -2)) * scale / scale[:, None]
        resolution[..., rows[:, None], rows] = seen
        wrench = np.einsum("...ij,...j->...i", whole, torque)
        if h is None and self._h is not None:
            h = self._h[..., 0]
        if self.noise is None or h is None:
            return WrenchEstimate(wrench, resolution, None)
        variance = np.einsum("...ij,...j->...i", whole**2, self.deviation(h, q) ** 2)
        return WrenchEstimate(wrench, resolution, np.sqrt(variance))

    def run(
        self, t: npt.ArrayLike, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike
    ) -> Observation:
        """The estimates along a whole log, with the bits that `step` gives one by one.

        Args:
            t: Times, (m,) [s], which increase.
            q: Positions, (..., m, n).
            qd: Velocities.
            tau: Torques of the actuators.
        """
        times = check_increasing("t", t, ObserverError)
        sample = check_samples(self.robot.n, q=q, qd=qd, tau=tau)
        if sample[0].ndim < 2 or sample[0].shape[-2] != len(times):
            raise ShapeError(
                f"q, qd, tau: expected shape (..., {len(times)}, {self.robot.n}) for {len(times)} "
                f"times, got {sample[0].shape}"
            )
        rows = [np.ascontiguousarray(np.moveaxis(v, -2, 0)) for v in sample]
        found = np.zeros_like(rows[0])
        gaps = np.diff(times).reshape(-1, 1)
        state = self._start(*(v[0] for v in rows), *self._more)
        other = np.empty_like(state)
        step = self._step
        more = self.gain, *self._more
        for k, now in enumerate(zip(*(v[1:] for v in rows), gaps, strict=True), start=1):
            state, other = step(state, *now, *more, out=other), state
            found[k] = state[..., : self.robot.n]
        levels = None
        if self.noise is not None and len(times) > 1:
            levels = self.thresholds(float(np.median(gaps)), sample[0])
        return Observation(self.robot, times, sample[0], np.moveaxis(found, 0, -2), levels)

    def export(
        self, directory: str | Path, language: Literal["c", "python"] = "c", **options: Any
    ) -> Exported:
        """Write the first sample and the step as source code, as `robot.export` does.

        In C the state is an array of the caller, and nothing is allocated.
        """
        options |= {"friction": self.friction, "payload": self._payload is not None}
        return self.robot.export(directory, language, functions=FUNCTIONS, **options)


def check_samples(n: int, **vectors: npt.ArrayLike) -> tuple[Array, ...]:
    """Finite vectors (..., n) of one batch shape."""
    checked = {k: check_joint_vector(k, v, n) for k, v in vectors.items()}
    for name, values in checked.items():
        if not np.isfinite(values).all():
            at = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
            where = f"entry {at[0] if len(at) == 1 else at}"
            raise ObserverError(
                f"{name}: {where} is {values[at]}; leave out samples that are not finite: the "
                "time since the last one may be as long as it was"
            )
    found = tuple(checked.values())
    return found if len({v.shape for v in found}) == 1 else broadcast(**checked)


def check_period(h: npt.ArrayLike | None, batch: tuple[int, ...] | None = None) -> Array:
    """The time of a step for all arms, (1,), or for each of a batch, (..., 1)."""
    if h is None:
        raise ObserverError("h: give the time since the last sample [s]")
    period = floats(h)
    if batch is not None and period.shape not in ((), batch):
        one_each = f", or one for each arm, shape {batch}" if batch else ""
        raise ShapeError(f"h: expected a number [s]{one_each}; got shape {period.shape}")
    if not (np.isfinite(period) & (period > 0)).all():
        raise ObserverError(
            f"h: expected a positive time since the last sample [s], got {shown(h)}; samples must "
            "come in the order of time, each once"
        )
    return period.reshape(*period.shape, 1)
