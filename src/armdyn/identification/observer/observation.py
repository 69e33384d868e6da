"""What an observer finds in a log: external torques, and when there was contact."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array
from armdyn.errors import ObserverError
from armdyn.forks import cached_property
from armdyn.io.csv.table import write_csv
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
from armdyn.robot import Robot


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
        beyond: Array = np.abs(self.torque) > self.thresholds
        return beyond

    @cached_property
    def contacts(self) -> tuple[Contact, ...]:
        """The times of contact of one arm, in their order."""
        self._check_one_arm("contacts")
        above = self.contact.any(-1).astype(int)
        starts = np.flatnonzero(np.diff(above, prepend=0) > 0)
        ends = np.flatnonzero(np.diff(above, append=0) < 0)
        found = []
        for first, last in zip(starts, ends, strict=True):
            joints = np.flatnonzero(self.contact[first : last + 1].any(0))
            names = tuple(self.robot.joint_names[i] for i in joints)
            found.append(Contact(float(self.t[first]), float(self.t[last]), names))
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
    model, t, torque = seen.robot.model, seen.t, seen.torque
    curves: list[tuple[Array, str | None, dict[str, Any]]] = [
        (torque, "estimate", {"color": COLOURS["inertial"], "linewidth": 1.4, "zorder": 3})
    ]
    if truth is not None:
        look = {"color": INK, "linewidth": 1.1, "linestyle": (0, (4, 2)), "zorder": 4}
        curves.append((truth, "true", look))
    subtitle = f"{t[-1] - t[0]:.4g} s, what the environment does to the arm"
    contact: Any = None
    if seen.thresholds is not None:
        levels, contact = np.broadcast_to(seen.thresholds, torque.shape), seen.contact.any(-1)
        look = {"color": GREY, "linewidth": 0.8, "linestyle": (0, (1, 1.5))}
        curves += [(levels, "threshold", look), (-levels, None, look)]
        subtitle += f"; contact in {100 * contact.mean():.3g} % of the samples"
    figure, panels = panels_of_joints(torque.shape[-1], t)
    for i, panel in enumerate(panels):
        for values, label, look in curves:
            panel.plot(*thinned(t, values[:, i]), label=label, **look)
        if contact is not None:
            panel.fill_between(
                t, 0, 1, where=contact, transform=panel.get_xaxis_transform(), color=ALARM,
                alpha=0.10, linewidth=0, label="contact", zorder=0,
            )  # fmt: skip
        joint = model.joints[model.independent[i]]
        unit = joint.type.torque_unit
        peak = float(torque[np.abs(torque[:, i]).argmax(), i])
        panel.set_title(joint.name, fontsize=10, weight="bold", color=INK, pad=5)
        panel.set_title(loc="right", **peak_words(peak, unit))
        panel.set_ylabel(f"[{unit}]")
    handles, labels = panels[0].get_legend_handles_labels()
    lines = dict(zip(labels, handles, strict=True))
    title = f"{model.title or model.name}: external torques"
    draw_head(figure, panels[0].get_position().x0, title, subtitle, lines)
    return figure
