"""Arms to be designed anew, and what Pinocchio says of them."""

import numpy as np
import pinocchio as pin

import armdyn
from armdyn.study.simplify import simplify as designs
from armdyn.study.simplify.design_variables import parse_design_variables
from armdyn.study.simplify.goals import parse_goals
from support.peers import pin_model

HALF = np.pi / 2


def design(model, goals, free=None, *, bounds=None, weights=None, reach=None, **options):
    """The design for goals and design variables in words."""
    variables = parse_design_variables(model, free, bounds, weights, reach)
    return designs.design(armdyn.Robot(model), parse_goals(model, goals), variables, **options)


def inertia_terms(model, states=40, seed=5):
    """Mass matrices and gravity torques by Pinocchio over random states, rotors left out."""
    other, data = pin_model(model)
    other.armature = np.zeros(len(model.joints))
    rng = np.random.default_rng(seed)
    M, G = [], []
    for q in rng.uniform(-3, 3, size=(states, len(model.joints))):
        upper = np.triu(pin.crba(other, data, q))
        M.append(upper + np.triu(upper, 1).T)
        G.append(pin.computeGeneralizedGravity(other, data, q).copy())
    return np.array(M), np.array(G)


def polar():
    """A turning arm whose hand slides outwards."""
    body = {"mass": 1.0, "com": (0.0, 0.02, 0.1), "inertia": [0.3, 0.2, 0.4]}
    rows = [{"joint": "revolute", "alpha": HALF, **body}, {"joint": "prismatic", **body}]
    return armdyn.from_dh(rows, name="polar").model


def planar(n):
    """An arm of parallel axes."""
    body = {"mass": 2.0, "com": (-0.2, 0.03, 0.01), "inertia": [0.01, 0.05, 0.05]}
    rows = [{"joint": "revolute", "a": 0.4, **body} for _ in range(n)]
    return armdyn.from_dh(rows, name=f"planar {n}R", gravity=(0, -9.81, 0)).model


def two_groups(first=3, second=3):
    """Vertical axes, then horizontal ones."""
    rows = [
        {
            "joint": "revolute",
            "a": 0.3,
            "alpha": HALF if i == first - 1 else 0.0,
            "d": 0.1,
            "mass": 6.0 - 0.8 * i,
            "com": (-0.15, 0.01, 0.02),
            "inertia": [0.02, 0.05, 0.06],
        }
        for i in range(first + second)
    ]
    return armdyn.from_dh(rows, name="two groups").model


def puma_arm():
    """The first three joints of the Puma 560, its wrist locked."""
    return armdyn.load("puma560").with_locked({f"joint{i}": 0.0 for i in (4, 5, 6)}).model
