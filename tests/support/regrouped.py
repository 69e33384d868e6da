"""The inertial parameters that a regrouped robot has left."""

from armdyn.shorten.canonical.model import CanonicalRobot
from armdyn.shorten.canonical.regroup import is_zero


def parameter_names(robot: CanonicalRobot) -> list[str]:
    """Names of the inertial parameters a regrouped robot has left, such as "Jxx3" or "MY5"."""
    names = []
    for i, link in enumerate(robot.links, start=1):
        upper = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
        entries = [(f"J{'xyz'[a]}{'xyz'[b]}", link.J[a, b]) for a, b in upper]
        entries += [(f"M{c}", link.u[k]) for k, c in enumerate("XYZ")] + [("M", link.M)]
        names += [f"{name}{i}" for name, value in entries if not is_zero(value)]
    return names
