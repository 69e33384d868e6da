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

MAX_WRITTEN_JOINTS = 8
"""A matrix of more joints has no numbers in its cells."""
MAX_ROW_HEIGHT = 34.0
SIGN_ROUNDING = 1e-9
"""An element below this part of the largest one has no sign: it is rounding."""


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
        self._html.content = svg.framed(heat_map(snapshot.mass_matrix, self._names))


def heat_map(matrix: Array, names: Sequence[str]) -> str:
    """A matrix as SVG: the root of each magnitude as depth of colour, blue or orange by sign."""
    n = len(matrix)
    left, top = 18.0, 18.0
    wide = (svg.WIDTH - left - 2) / n
    tall = min(wide, MAX_ROW_HEIGHT)
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
            colour = NEGATIVE if value < -SIGN_ROUNDING * largest else POSITIVE
            words = svg.number(value, scale=largest) if n <= MAX_WRITTEN_JOINTS else ""
            parts.append(
                svg.cell(
                    x, y, wide, tall, colour, words, size=9.5 if n > 6 else 10.5,
                    opacity=0.05 + 0.8 * depth, hint=hint,
                    data={"row": i, "column": j, "value": repr(value)},
                )
            )  # fmt: skip
    return svg.picture(top + n * tall + 4, parts, "matrix")
