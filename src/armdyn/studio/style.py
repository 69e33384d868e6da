"""The colours of the studio, light and dark."""

from collections.abc import Mapping

from armdyn.report.figures import COLOURS

Colour = tuple[int, int, int]
Style = Mapping[str, Colour]
"""The colours of the three-dimensional view by what has them."""

TERMS = COLOURS | {"dry friction": COLOURS["coulomb"], "stops": "#5B6B7B"}
"""Terms of a torque by their names, those of a simulation included."""
WORDS = {
    "inertial": "inertia",
    "coriolis": "Coriolis and centrifugal force",
    "rotor": "the rotors",
    "spin": "the spin of rotors",
    "viscous": "viscous friction",
    "coulomb": "dry friction",
    "stribeck": "Stribeck friction",
    "offset": "a constant torque",
    "external": "the environment",
    "base": "the motion of the base",
    "stops": "the stops",
}
"""What people call the terms, where that is another word."""

LINES = ("#3B8FD0", "#E0703A", "#1FA37C", "#D583B4", "#D9A514", "#5CBBEA", "#A98258", "#A084C8")
"""Colours of the joints in plots over time, legible on dark and light."""
POSITIVE, NEGATIVE = "#2F86C9", "#E0703A"
"""Entries of a matrix by their sign."""
GOOD, BAD = "var(--ad-good)", "var(--ad-alarm)"
"""Words that say that something is well, or wrong."""
LEVELS = {"error": BAD, "warning": "var(--ad-near)", "note": "var(--ad-brand)"}
"""Findings of a check by their level."""
STAGES = {
    "written": "#9AA8B6",
    "customised": "#7FB2DB",
    "regrouped": "#3F8FCB",
    "minimal": "#0F5C9C",
}
"""Stages of reduction in the comparison of operation counts."""


_COLOURS: dict[str, tuple[Colour, Colour]] = {
    "brand": ((24, 100, 171), (90, 170, 235)),
    "link": ((190, 197, 206), (150, 160, 172)),
    "joint": ((34, 96, 160), (30, 95, 165)),
    "lid": ((22, 62, 104), (20, 62, 108)),  # the ends of a joint
    "base": ((110, 119, 130), (80, 88, 98)),
    "axis": ((205, 45, 40), (200, 40, 40)),
    "payload": ((217, 145, 10), (217, 145, 10)),
    "centre": ((200, 40, 40), (200, 40, 40)),
    "ellipsoid": ((0, 158, 115), (0, 140, 100)),
    "gravity": ((0, 140, 100), (0, 130, 95)),
    "reactions": ((180, 60, 135), (175, 60, 130)),
    "velocities": ((40, 100, 190), (90, 150, 230)),
    "coriolis": ((204, 121, 167), (214, 130, 178)),
    "centrifugal": ((120, 70, 160), (160, 110, 205)),
    "after": ((226, 160, 70), (215, 140, 50)),  # the links of a new design
    "weight": ((60, 64, 70), (196, 200, 206)),  # its counterweights
    "cell": ((226, 229, 233), (48, 52, 58)),  # fine lines of the grid on the ground
    "section": ((198, 203, 210), (70, 76, 84)),  # coarse lines of the grid
    "ground": ((255, 255, 255), (26, 27, 30)),  # the background of a picture
}
"""Each colour of the three-dimensional view on a light page and on a dark one."""
LIGHT: Style = {name: light for name, (light, _) in _COLOURS.items()}
DARK: Style = {name: dark for name, (_, dark) in _COLOURS.items()}
