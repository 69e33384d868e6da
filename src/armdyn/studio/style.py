"""Colours and sizes of the studio, in the dark and in the light."""

from dataclasses import dataclass

from armdyn.figures import COLOURS

Colour = tuple[int, int, int]

TERMS = COLOURS
"""Colours of the terms of a torque: those of every other picture."""
LINES = ("#3B8FD0", "#E0703A", "#1FA37C", "#D583B4", "#D9A514", "#5CBBEA", "#A98258", "#A084C8")
"""Colours of the joints in plots over time, legible on dark and light."""
POSITIVE, NEGATIVE = "#2F86C9", "#E0703A"
"""Entries of a matrix by their sign."""
LEVELS = {"error": "#E5484D", "warning": "#D9910A", "note": "#3B8FD0"}
"""Findings of a check by their level."""
STAGES = {
    "written": "#9AA8B6",
    "customised": "#7FB2DB",
    "regrouped": "#3F8FCB",
    "minimal": "#0F5C9C",
}
"""Stages of reduction in the comparison of operation counts."""
BRAND = (24, 100, 171)


@dataclass(frozen=True, slots=True)
class Style:
    """What the three-dimensional view is painted in."""

    dark: bool
    link: Colour
    joint: Colour
    base: Colour
    axis: Colour
    tool: Colour
    payload: Colour
    centre: Colour
    ellipsoid: Colour
    gravity: Colour
    reaction: Colour
    after: Colour
    """The links of a new design."""
    grid: tuple[Colour, Colour]
    """Cells and sections."""
    ground: Colour
    """What is behind the arm in a picture."""


LIGHT = Style(
    dark=False,
    link=(205, 211, 219),
    joint=(46, 110, 170),
    base=(120, 130, 142),
    axis=(214, 69, 65),
    tool=(60, 68, 78),
    payload=(217, 145, 10),
    centre=(214, 69, 65),
    ellipsoid=(0, 158, 115),
    gravity=(0, 140, 100),
    reaction=(190, 85, 150),
    after=(240, 190, 120),
    grid=((226, 229, 233), (198, 203, 210)),
    ground=(255, 255, 255),
)
DARK = Style(
    dark=True,
    link=(176, 186, 198),
    joint=(58, 132, 200),
    base=(98, 108, 120),
    axis=(255, 107, 107),
    tool=(226, 231, 237),
    payload=(240, 175, 50),
    centre=(255, 107, 107),
    ellipsoid=(40, 200, 150),
    gravity=(60, 205, 155),
    reaction=(225, 135, 195),
    after=(240, 180, 100),
    grid=((48, 52, 58), (70, 76, 84)),
    ground=(26, 27, 30),
)
