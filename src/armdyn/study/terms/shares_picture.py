"""The largest terms of each joint as a picture."""

from typing import Any

import numpy as np

from armdyn.figures import COLOURS, GREY, INK, PALE
from armdyn.study.terms.shares import KINDS, JointTerms

DRAWN_TERMS = 7
"""Most terms of a joint in its panel."""
MOST_PANELS = 12
"""Most joints with a panel of their own; more are drawn by kinds, a bar each."""
KIND_COLOURS = {**COLOURS, "centrifugal": "#F0A6CA"}


def draw_terms(head: tuple[str, str], joints: tuple[JointTerms, ...], speeds: list[float]) -> Any:
    """A panel a joint with its largest terms, or a bar a joint where there are many."""
    return (_panels if len(joints) <= MOST_PANELS else _bars)(head, joints, speeds)


def _panels(head: tuple[str, str], joints: tuple[JointTerms, ...], speeds: list[float]) -> Any:
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    n = len(joints)
    columns = min(n, 2 if n <= 4 else 3)
    rows = -(-n // columns)
    height = 1.6 + 2.3 * rows
    figure = Figure(figsize=(1.2 + 4.6 * columns, height), facecolor="white")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    inch, left = 1 / height, (1.35 if columns > 1 else 1.6) / (1.2 + 4.6 * columns)
    figure.subplots_adjust(
        left=left, right=0.97, top=1 - 1.65 * inch, bottom=0.25 * inch, hspace=0.42, wspace=0.45
    )
    longest = max((s.rms_share for joint in joints for s in joint.terms), default=1.0) or 1.0
    most = min(DRAWN_TERMS, max(len(joint.terms) for joint in joints))
    for panel, joint, speed in zip(axes, joints, speeds, strict=False):
        _draw_joint(panel, joint, speed, longest)
        panel.set_ylim(max(most, 1) - 0.4, -0.6)
    for panel in axes[n:]:
        panel.set_visible(False)
    _heading(figure, head, {s.kind for joint in joints for s in joint.terms}, inch)
    return figure


def _draw_joint(panel: Any, joint: JointTerms, speed: float, longest: float) -> None:
    shares = joint.terms[:DRAWN_TERMS]
    for row, share in enumerate(shares):
        panel.barh(row, share.rms_share, height=0.68, color=KIND_COLOURS[share.kind])
        panel.annotate(
            f"{100 * share.rms_share:.3g} %", (share.rms_share, row), xytext=(3, 0),
            textcoords="offset points", va="center", fontsize=7.5, color=GREY,
        )  # fmt: skip
    labels = [share.name.replace("^2", "²") for share in shares]
    panel.set_yticks(range(len(shares)), labels)
    panel.set_xlim(0, 1.18 * longest)
    panel.tick_params(axis="y", length=0, labelcolor=INK)
    panel.set_xticks([])
    panel.spines["bottom"].set_visible(False)
    panel.spines["left"].set_color(PALE)
    panel.set_title(joint.name, fontsize=10, weight="bold", color=INK, pad=5)
    static = "static" if np.isinf(speed) else f"quasi-static to {speed:.2g} × speed"
    panel.set_title(
        f"RMS {joint.rms:.3g} {joint.unit}, {static}", loc="right", fontsize=7.5, color=GREY, pad=5
    )


def _bars(head: tuple[str, str], joints: tuple[JointTerms, ...], speeds: list[float]) -> Any:
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    n = len(joints)
    height = 2.0 + 0.2 * n
    figure, inch = Figure(figsize=(9.8, height), facecolor="white"), 1 / height
    panel = figure.add_axes((0.16, 0.5 * inch, 0.68, 1 - 1.75 * inch))
    for row, (joint, speed) in enumerate(zip(joints, speeds, strict=True)):
        total, start = sum(kind.rms for kind in joint.kinds) or 1.0, 0.0
        for kind in joint.kinds:
            width = kind.rms / total
            panel.barh(row, width, left=start, height=0.76, color=KIND_COLOURS[kind.kind])
            start += width
        text = f"{joint.rms:.3g} {joint.unit}" + ("" if np.isinf(speed) else f", {speed:.2g} ×")
        panel.text(1.01, row, text, va="center", fontsize=7, color=GREY)
    panel.set_yticks(range(n), [joint.name for joint in joints])
    panel.tick_params(axis="y", length=0, labelcolor=INK, labelsize=7)
    panel.set_ylim(n - 0.4, -0.6)
    panel.set_xlim(0, 1)
    panel.set_xlabel("RMS of each kind, as a part of their sum; right: RMS and quasi-static speed")
    kinds = {kind.kind for joint in joints for kind in joint.kinds if kind.peak}
    _heading(figure, head, kinds, inch)
    return figure


def _heading(figure: Any, head: tuple[str, str], kinds: set[str], inch: float) -> None:
    """Title, what the states are, and the colours."""
    from matplotlib.patches import Patch  # noqa: PLC0415 (an extra)

    left = 0.3 / figure.get_figwidth()
    figure.text(left, 1 - 0.3 * inch, head[0], fontsize=13, weight="bold", color=INK, va="center")
    figure.text(left, 1 - 0.47 * inch, head[1], color=GREY, va="top", linespacing=1.5)
    figure.legend(
        handles=[Patch(color=KIND_COLOURS[k], label=k) for k in KINDS if k in kinds],
        loc="center left", bbox_to_anchor=(left, 1 - 1.02 * inch), ncols=len(KINDS), frameon=False,
        borderpad=0, borderaxespad=0, handlelength=1.2, columnspacing=1.4, labelcolor=INK,
    )  # fmt: skip
