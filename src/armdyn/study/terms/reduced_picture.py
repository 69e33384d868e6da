"""Operations and errors of an approximate model as a picture."""

from collections.abc import Sequence
from typing import Any

from armdyn.figures import COLOURS, GREY, INK, PALE

INCH_A_JOINT, HEAD, FOOT = 0.3, 1.1, 0.75
_FULL, _REDUCED, _VERIFIED = PALE, COLOURS["inertial"], COLOURS["coulomb"]


def draw_reduction(
    head: tuple[str, str], counts: Sequence[Any], errors: Sequence[Any], tolerance: float
) -> Any:
    """Bars of operations beside the largest error of each joint."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    rows = max(4, len(errors))
    height = HEAD + FOOT + INCH_A_JOINT * rows
    figure, inch = Figure(figsize=(9.8, height), facecolor="white"), 1 / height
    span = FOOT * inch, 1 - (HEAD + FOOT) * inch
    _draw_counts(figure.add_axes((0.09, span[0], 0.33, span[1])), counts)
    _draw_errors(figure.add_axes((0.55, span[0], 0.42, span[1])), errors, tolerance)
    left = 0.02
    figure.text(left, 1 - 0.3 * inch, head[0], fontsize=13, weight="bold", color=INK, va="center")
    figure.text(left, 1 - 0.55 * inch, head[1], color=GREY, va="center")
    return figure


def _draw_counts(axes: Any, counts: Sequence[Any]) -> None:
    for row, (count, colour) in enumerate(zip(counts, (_FULL, _REDUCED), strict=True)):
        axes.barh(row, count.total, height=0.6, color=colour)
        axes.annotate(
            str(count.total), (count.total, row), xytext=(4, 0), textcoords="offset points",
            va="center", weight="bold", color=INK,
        )  # fmt: skip
    axes.set_yticks((0, 1), ("full", "reduced"))
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(1.6, -0.6)
    axes.set_xlim(0, 1.18 * max(counts[0].total, 1))
    axes.set_xlabel("multiplications and additions")


def _draw_errors(axes: Any, errors: Sequence[Any], tolerance: float) -> None:
    for row, joint in enumerate(errors):
        axes.barh(
            row, 100 * joint.chosen, height=0.62, color=_REDUCED, label="states it was chosen by"
        )
        axes.plot(
            100 * joint.verified, row, "D", color=_VERIFIED, markersize=5, label="other states",
            clip_on=False,
        )  # fmt: skip
    axes.axvline(100 * tolerance, color=INK, linewidth=1.0, linestyle=(0, (4, 3)))
    axes.set_yticks(range(len(errors)), [joint.name for joint in errors])
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.set_ylim(len(errors) - 0.4, -0.6)
    axes.set_xlim(0, 112 * tolerance)
    axes.set_xlabel("largest error [% of the largest torque of the joint, or of its limit]")
    handles, labels = axes.get_legend_handles_labels()
    chosen = dict(zip(labels, handles, strict=True))
    axes.legend(
        chosen.values(), chosen.keys(), loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2,
        frameon=False, borderpad=0, handlelength=1.2, labelcolor=INK,
    )  # fmt: skip
