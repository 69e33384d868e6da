"""The mass matrix as a heat map."""

from collections.abc import Sequence

import numpy as np
import viser

from armdyn.arrays import Array
from armdyn.studio import svg
from armdyn.studio.arm import Arm
from armdyn.studio.evaluate import Snapshot
from armdyn.studio.session import Panel
from armdyn.studio.style import NEGATIVE, POSITIVE

WRITTEN = 8
"""Joints up to which cells have numbers."""
TALLEST = 34.0
"""Height of a row."""
_SEEN = 1e-9
"""What is smaller, relative to the largest element, is rounding."""


class MatrixPanel(Panel):
    """The mass matrix now."""

    def __init__(self, gui: viser.GuiApi):
        self._html = gui.add_html("")
        self._names: tuple[str, ...] = ()

    def enter(self, arm: Arm) -> None:
        """Begin with another robot."""
        self._names = arm.robot.joint_names

    def show(self, snapshot: Snapshot) -> None:
        """Draw it."""
        self._html.content = (
            f"<div style='padding:4px 12px'>{heat_map(snapshot.mass_matrix, self._names)}</div>"
        )


def heat_map(matrix: Array, names: Sequence[str]) -> str:
    """A matrix as SVG: the root of each magnitude as depth of colour, blue or orange by sign."""
    n = len(matrix)
    left, top = 18.0, 18.0
    wide = (svg.WIDTH - left - 2) / n
    tall = min(wide, TALLEST)
    largest = float(np.abs(matrix).max()) or 1.0
    parts = []
    for i in range(n):
        row, column = top + (i + 0.5) * tall + 4, left + (i + 0.5) * wide
        parts.append(svg.text(left - 6, row, str(i + 1), anchor="end", faint=True))
        parts.append(svg.text(column, top - 6, str(i + 1), anchor="middle", faint=True))
        for j in range(n):
            x, y, value = left + j * wide, top + i * tall, float(matrix[i, j])
            depth = float(np.sqrt(abs(value) / largest))
            hint = f"{names[i]}, {names[j]}: {value:.6g}"
            colour = NEGATIVE if value < -_SEEN * largest else POSITIVE
            parts.append(
                svg.box(
                    x + 0.75, y + 0.75, wide - 1.5, tall - 1.5, colour,
                    opacity=0.05 + 0.8 * depth, radius=3, hint=hint,
                    data={"row": i, "column": j, "value": repr(value)},
                )
            )  # fmt: skip
            if n <= WRITTEN:
                size = 9.5 if n > 6 else 10.5
                place = x + wide / 2, y + tall / 2 + 3.5
                parts.append(
                    svg.text(*place, svg.number(value, scale=largest), anchor="middle", size=size)
                )
    return svg.picture(top + n * tall + 4, parts, "matrix")
