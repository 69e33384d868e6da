"""What the joints of an arm carry along a motion, and its picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.figures import GREY, INK, PALE, peak_words, save_picture, thinned
from armdyn.model import RobotModel

NAMES = ("fx", "fy", "fz", "nx", "ny", "nz")
PARTS = ("axial", "radial", "tilting", "twisting")
"""Force along the axis of the joint and across it, moment across the axis and about it."""
GROUND = "ground"
"""What carries the base, in the place of a joint; its axis is the z axis of the base."""
LINES = {
    "force": (INK, 2.0),
    "axial": ("#0072B2", 1.3),
    "radial": ("#D55E00", 1.3),
    "moment": (INK, 2.0),
    "tilting": ("#009E73", 1.3),
    "twisting": ("#CC79A7", 1.3),
}
"""Colour and width of each line."""


@dataclass(frozen=True, slots=True, eq=False)
class Reactions:
    """Force and moment that base and N links receive at m instants: rows 0, and 1 to N.

    The base receives them from the ground, a link from its parent.
    """

    title: str
    """What people call the robot."""
    t: Array
    """Times, (m,) [s]."""
    links: tuple[str, ...]
    joints: tuple[str, ...]
    world: Array
    """Force and moment about joint or base, world axes, (m, 1 + N, 6) [N, N m]."""
    parts: Array
    """Those of `PARTS`, (m, 1 + N, 4) [N, N m]; radial and tilting are magnitudes."""

    @classmethod
    def of(cls, model: RobotModel, t: Array, world: Array, local: Array) -> Reactions:
        """From the reactions with the base, in world axes and in those of each joint."""
        axes = np.array([(0.0, 0.0, 1.0), *(joint.axis for joint in model.joints)])
        both = local.reshape(*local.shape[:-1], 2, 3)
        along = np.einsum("mnkx,nx->mnk", both, axes)
        across = np.linalg.norm(both - along[..., None] * axes[:, None], axis=-1)
        parts = np.stack([along[..., 0], across[..., 0], across[..., 1], along[..., 1]], -1)
        links = (model.base_link.name, *(link.name for link in model.links))
        joints = (GROUND, *(joint.name for joint in model.joints))
        return cls(model.title or model.name, t, links, joints, world, parts)

    @property
    def sizes(self) -> Array:
        """Magnitudes of force and moment, (m, 1 + N, 2)."""
        return np.linalg.norm(self.world.reshape(*self.world.shape[:-1], 2, 3), axis=-1)

    def columns(self) -> dict[str, Array]:
        """fx0, fy0, ..., nz0, axial0, ..., twisting0, fx1, ...: 0 is the base, 1 the first link."""
        return {
            f"{name}{i}": column
            for i in range(len(self.links))
            for name, column in zip(
                (*NAMES, *PARTS), (*self.world[:, i].T, *self.parts[:, i].T), strict=True
            )
        }

    def summary(self) -> list[dict[str, Any]]:
        """For base and links the largest of every magnitude, with its time, as plain data."""
        values = dict(zip(("force", "moment"), np.moveaxis(self.sizes, -1, 0), strict=True))
        values |= dict(zip(PARTS, np.moveaxis(np.abs(self.parts), -1, 0), strict=True))
        return [
            {"link": link, "joint": joint}
            | {name: self._peak(found[:, i]) for name, found in values.items()}
            for i, (link, joint) in enumerate(zip(self.links, self.joints, strict=True))
        ]

    def _peak(self, values: Array) -> dict[str, float]:
        k = values.argmax()
        return {"peak": float(values[k]), "peak_time": float(self.t[k])}

    def plot(self, path: str | Path) -> None:
        """Draw force and moment on ground and joints to a .png, .pdf or .svg file, a row each."""
        save_picture(path, _figure, self)


def _figure(reactions: Reactions) -> Any:
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    count = len(reactions.links)
    pairs = 1 if count <= 10 else 2 if count <= 40 else 3
    rows = -(-count // pairs)
    height = 1.5 + 1.65 * rows
    figure = Figure(figsize=(9.8 * pairs, height), facecolor="white")
    axes = figure.subplots(rows, 2 * pairs, sharex=True, squeeze=False)
    inch = 1 / height
    figure.subplots_adjust(
        left=0.085 / pairs, right=1 - 0.015 / pairs, top=1 - 1.25 * inch, bottom=0.5 * inch,
        hspace=0.42, wspace=0.19,
    )  # fmt: skip
    sizes, panels = reactions.sizes, axes.reshape(-1, 2)
    for row in panels[count:]:
        row[0].set_visible(False)
        row[1].set_visible(False)
    for i, row in enumerate(panels[:count]):
        axial, radial, tilting, twisting = reactions.parts[:, i].T
        forces = {"force": sizes[:, i, 0], "axial": axial, "radial": radial}
        moments = {"moment": sizes[:, i, 1], "tilting": tilting, "twisting": twisting}
        _draw(row[0], reactions, f"{reactions.joints[i]}: force", forces, "N")
        _draw(row[1], reactions, "moment", moments, "N·m")
        for panel in row if i + pairs >= count else ():
            panel.set_xlabel("time [s]")
            panel.tick_params(labelbottom=True)
    left = axes[0, 0].get_position().x0
    title = f"{reactions.title}: what ground and joints carry"
    figure.text(left, 1 - 0.24 * inch, title, fontsize=13, weight="bold", color=INK, va="center")
    subtitle = (
        "on each link from its parent; axial: along the axis of the joint (of the ground: z of the "
        "base), radial and tilting: across it, twisting: about it"
    )
    figure.text(left, 1 - 0.49 * inch, subtitle, color=GREY, va="center")
    for column in (0, 1):
        place = axes[0, column].get_position().x0, 1 - 0.78 * inch
        handles, labels = axes[0, column].get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="center left", bbox_to_anchor=place, ncols=len(labels),
            frameon=False, borderpad=0, borderaxespad=0, handlelength=1.6, columnspacing=1.4,
        )  # fmt: skip
    figure.align_ylabels(axes)
    return figure


def _draw(panel: Any, reactions: Reactions, title: str, lines: dict[str, Array], unit: str) -> None:
    t, whole = reactions.t, next(iter(lines.values()))
    panel.axhline(0.0, color=PALE, linewidth=0.8, zorder=0)
    for name, values in lines.items():
        colour, width = LINES[name]
        front = 2 if colour == INK else 3
        label = {"force": "magnitude", "moment": "magnitude"}.get(name, name)
        panel.plot(*thinned(t, values), color=colour, linewidth=width, label=label, zorder=front)
    peak = int(whole.argmax())
    panel.plot(t[peak], whole[peak], "o", color=INK, markersize=4, zorder=4)
    panel.set_title(title, fontsize=10, weight="bold", color=INK, pad=5)
    words = peak_words(float(whole[peak]), unit)
    words["label"] += f" at {t[peak]:.3g} s"
    panel.set_title(loc="right", **words)
    panel.set_ylabel(f"[{unit}]")
    panel.set_xlim(*(t[[0, -1]] if len(t) > 1 else t[0] + np.array([-0.5, 0.5])))
    panel.margins(y=0.08)
    panel.locator_params(axis="y", nbins=5)
