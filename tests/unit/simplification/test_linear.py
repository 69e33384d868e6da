import numpy as np
import pinocchio as pin
import pytest

import armdyn
from armdyn.loops.coordinates import coordinates_of
from armdyn.shorten.canonical.frames import canonical
from armdyn.study.simplify.convex import CONDITION_TOLERANCE, Convex
from armdyn.study.simplify.design_variables import ParametrisedArm, parse_design_variables
from armdyn.study.simplify.goals import parse_goals
from armdyn.study.simplify.linear import (
    InertiaCoefficients,
    goal_elements,
    lattice,
    numbers_of,
    pseudo_of,
    samples,
)
from support.design_arms import planar, puma_arm
from support.peers import close, pin_model
from support.random_robots import random_inertia, random_model

pytestmark = pytest.mark.slow


def numbers(robot):
    return np.concatenate(
        [np.concatenate([[x.M], x.u, np.diag(x.J), x.J[[0, 0, 1], [1, 2, 2]]]) for x in robot.links]
    )


def singular_values(model, goal, free=None):
    freedom, q = ParametrisedArm(model, parse_design_variables(model, free)), samples(model)
    elements = goal_elements(freedom.robot, parse_goals(model, goal), freedom.start, q, freedom.at)
    M = Convex(freedom, elements, q, 1e-4).system(np.zeros(0)).M
    return np.linalg.svd(M, compute_uv=False)


@pytest.mark.parametrize(("kinds", "tree"), [("RPRRP", False), ("RRPRR", True), ("PRPPR", True)])
def test_mass_matrix_and_gravity_are_linear_in_the_numbers(kinds, tree):
    model = random_model(kinds, 7, tree=tree)
    robot, q = canonical(model), samples(model)[:5]
    arm, phi = InertiaCoefficients(robot, q, coordinates_of(model)), numbers(robot)
    other, data = pin_model(model)
    for s, state in enumerate(q):
        M, G = pin.crba(other, data, state), pin.computeGeneralizedGravity(other, data, state)
        for i, path in enumerate(model.paths):
            for j in path:
                close((arm.mass(i, j) @ phi)[s], M[j, i], 1e-12)
        for i in range(len(kinds)):
            close((arm.momentum(i, -arm.field) @ phi)[s], G[i], 1e-12)


def test_numbers_and_pseudo_inertia_are_each_other():
    J = random_inertia(np.random.default_rng(0)).pseudo
    np.testing.assert_allclose(pseudo_of(numbers_of(J)), J, rtol=1e-14)


@pytest.mark.parametrize(
    ("model", "free", "rank"),
    [
        (armdyn.load("saha_3r").model, "link2.com,link2.inertia,link3.com,link3.inertia", 12),
        (armdyn.load("scara").model, None, 4),
        (planar(3), None, 4),
        (planar(2), None, 2),
        (puma_arm(), None, 10),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_a_constant_mass_matrix_is_as_many_conditions_as_by_hand(model, free, rank):
    assert np.sum(singular_values(model, "constant", free) > CONDITION_TOLERANCE) == rank


@pytest.mark.parametrize("name", ["saha_3r", "puma560", "renaud_6r", "stanford", "panda"])
@pytest.mark.parametrize("goal", ["constant", "diagonal", "gravity-balanced"])
def test_a_wide_gap_parts_conditions_from_rounding(name, goal):
    values = singular_values(armdyn.load(name).model, goal)
    rank = int(np.sum(values > CONDITION_TOLERANCE))
    assert values[rank - 1] > 1e-3
    assert values[rank:].max(initial=0.0) < 1e-12


def test_planar_arms_need_the_composite_first_moments_to_vanish():
    """Two coordinates a joint behind the first, whatever their number."""
    for n in (2, 3, 4, 5):
        assert np.sum(singular_values(planar(n), "constant") > CONDITION_TOLERANCE) == 2 * (n - 1)


def test_a_lattice_of_configurations_is_symmetric_about_rest():
    q = lattice(planar(3))
    turned = {tuple(row) for row in np.round(np.mod(q, 2 * np.pi), 9) % round(2 * np.pi, 9)}
    back = {tuple(row) for row in np.round(np.mod(-q, 2 * np.pi), 9) % round(2 * np.pi, 9)}
    assert len(turned) == len(q)
    assert turned == back
