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


@dataclass(frozen=True, slots=True)
class Style:
    """What the three-dimensional view is painted in."""

    dark: bool
    brand: Colour
    link: Colour
    joint: Colour
    base: Colour
    axis: Colour
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
    brand=(24, 100, 171),
    link=(190, 197, 206),
    joint=(34, 96, 160),
    base=(110, 119, 130),
    axis=(205, 45, 40),
    payload=(217, 145, 10),
    centre=(200, 40, 40),
    ellipsoid=(0, 158, 115),
    gravity=(0, 140, 100),
    reaction=(180, 60, 135),
    after=(226, 160, 70),
    grid=((226, 229, 233), (198, 203, 210)),
    ground=(255, 255, 255),
)
DARK = Style(
    dark=True,
    brand=(90, 170, 235),
    link=(150, 160, 172),
    joint=(30, 95, 165),
    base=(80, 88, 98),
    axis=(200, 40, 40),
    payload=(217, 145, 10),
    centre=(200, 40, 40),
    ellipsoid=(0, 140, 100),
    gravity=(0, 130, 95),
    reaction=(175, 60, 130),
    after=(215, 140, 50),
    grid=((48, 52, 58), (70, 76, 84)),
    ground=(26, 27, 30),
)
