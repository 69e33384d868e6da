"""The arms whose operations the literature counts, in canonical frames: which numbers are zero."""

import numpy as np

from armdyn.graph import Graph
from armdyn.model.joint_types import PRISMATIC, REVOLUTE
from armdyn.shorten.canonical.frames import CanonicalLink, CanonicalRobot, with_tip_phase
from armdyn.shorten.canonical.regroup import regroup
from armdyn.shorten.parts import PartWriter
from armdyn.shorten.shortest import QUICK, shortest_sound
from armdyn.shorten.symbolic import symbolic, valued

HALF = np.pi / 2

RENAUD = (
    ("R", 0.0, 0.0, 0.0),
    ("R", HALF, 0.0, 0.0),
    ("R", 0.0, 0.45, 0.0),
    ("R", HALF, 0.0, 0.4),
    ("R", -HALF, 0.0, 0.0),
    ("R", HALF, 0.0, 0.0),
)
PUMA = (
    ("R", 0.0, 0.0, 0.0),
    ("R", -HALF, 0.0, 0.15),
    ("R", 0.0, 0.43, 0.0),
    ("R", -HALF, 0.02, 0.43),
    ("R", HALF, 0.0, 0.0),
    ("R", -HALF, 0.0, 0.0),
)
STANFORD = (
    ("R", 0.0, 0.0, 0.0),
    ("R", -HALF, 0.0, 0.154),
    ("P", HALF, 0.0, 0.0),
    ("R", 0.0, 0.0, 0.0),
    ("R", -HALF, 0.0, 0.0),
    ("R", HALF, 0.0, 0.0),
)
PANDA = (
    ("R", 0.0, 0.0, 0.0),
    ("R", -HALF, 0.0, 0.0),
    ("R", HALF, 0.0, 0.316),
    ("R", HALF, 0.0825, 0.0),
    ("R", -HALF, -0.0825, 0.384),
    ("R", HALF, 0.0, 0.0),
    ("R", HALF, 0.088, 0.0),
)
GENERAL = (
    ("R", 0.0, 0.0, 0.0),
    ("R", 0.5, 0.2, 0.3),
    ("R", 0.7, 0.25, 0.35),
    ("R", -0.6, 0.3, 0.21),
    ("R", 0.9, 0.15, 0.12),
    ("R", -0.4, 0.22, 0.17),
)
TWO_LINK = (("R", 0.0, 0.0, 0.0), ("R", 0.0, 0.8, 0.0))


def arm(name, rows, centres=None, gravity=(0.0, 0.0, -9.81)):
    """An arm of rows (kind, alpha, a, r), all ten inertial numbers of a link being nonzero.

    With `centres`, the axes on which the centre of mass of each link lies ("x", "yz", ...), the
    products of inertia are zero.
    """
    rng = np.random.default_rng(1)
    links = []
    for i, (kind, alpha, a, r) in enumerate(rows):
        J, u = np.diag(rng.uniform(0.5, 1.5, 3)), np.zeros(3)
        products, moments = rng.uniform(0.05, 0.2, 3), rng.uniform(0.1, 1.0, 3)
        if centres is None:
            upper = np.zeros((3, 3))
            upper[np.triu_indices(3, 1)] = products
            J, u = J + upper + upper.T, moments
        else:
            along = ["xyz".index(axis) for axis in centres[i]]
            u[along] = moments[along]
        links.append(
            CanonicalLink(
                f"joint{i + 1}",
                i - 1,
                PRISMATIC if kind == "P" else REVOLUTE,
                alpha,
                np.array([a, 0.0, 0.0]),
                0.0,
                r,
                J,
                u,
                rng.uniform(2.0, 5.0),
                gravity=np.array(gravity if i == 0 else (0.0, 0.0, 0.0)),
            )
        )
    return CanonicalRobot(name, tuple(links))


ARMS = {
    "renaud": arm("Renaud 6R", RENAUD, ("z", "x", "y", "z", "y", "z")),
    "renaud_full": arm("Renaud 6R, full", RENAUD),
    "puma": arm("Puma 560, Armstrong", PUMA, ("", "xyz", "yz", "z", "", "z")),
    "puma_full": arm("Puma 560, full", PUMA),
    "stanford": arm("Stanford", STANFORD, ("z", "y", "z", "z", "y", "z")),
    "stanford_full": arm("Stanford, full", STANFORD),
    "panda": arm("Panda, full", PANDA),
    "general": arm("general 6R, full", GENERAL),
    "two_link": arm("two-link", TWO_LINK, ("x", "x"), (0.0, -9.81, 0.0)),
}


def prepared(robot):
    """A robot of numbers as programs are written for it: base parameters, last links turned."""
    return valued(regroup(symbolic(with_tip_phase(robot), Graph())))


def minimal_outputs(robot, part):
    """The shortest outputs for a robot of numbers on one base joint, on symbols of their own."""
    ready = prepared(robot)
    program = shortest_sound(ready, part, QUICK, np.zeros(len(part.rotors)))
    return PartWriter(ready).replayed(program)
