"""Deltas of any geometry in closed form: as Newton's method and orthogonal columns have them."""

from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.arrays import frozen
from armdyn.loops.closure import closure_of
from armdyn.loops.iteration import FINE
from armdyn.loops.rows import residuals
from armdyn.loops.spheres import RodSystem
from armdyn.loops.standing import StandingGeneral
from armdyn.model.transform import rotation_from_rpy, transform


def delta(seed):
    """The delta of the catalog, or one whose cranks are turned, rods unequal and rows slanted."""
    model = armdyn.load("delta").model
    if not seed:
        return model
    rng, joints, loops = np.random.default_rng(seed), list(model.joints), []
    for i, joint in enumerate(joints):
        if joint.actuated:
            turn = transform(
                rotation_from_rpy(rng.uniform(-0.2, 0.2, 3)), rng.uniform(-0.03, 0.03, 3)
            )
            joints[i] = replace(joint, placement=frozen(joint.placement @ turn))
    for loop in model.loops:
        longer = transform(None, (*rng.uniform(-0.1, 0.1, 2), rng.uniform(-0.1, 0.1)))
        turn = transform(rotation_from_rpy(rng.uniform(-1, 1, 3)))
        loops.append(
            replace(
                loop, frame_a=frozen(loop.frame_a @ longer), frame_b=frozen(loop.frame_b @ turn)
            )
        )
    base = transform(rotation_from_rpy(rng.uniform(-1, 1, 3)), (0.1, 0.2, 0.3))
    return replace(model, joints=tuple(joints), loops=tuple(loops), base=frozen(base))


@pytest.fixture(params=[0, 1, 2])
def pair(request):
    """The iteration with spheres and without, and coordinates near the assembly."""
    iteration = closure_of(delta(request.param)).iteration
    assert iteration.spheres is not None
    rng, start = np.random.default_rng(3), iteration.assembly[list(iteration.model.independent)]
    plain = replace(iteration, spheres=None, parts=FINE)
    return iteration, plain, start + rng.uniform(-0.4, 0.4, (6, 3))


def test_the_platform_is_where_three_spheres_meet(pair):
    iteration, plain, q = pair
    here, there = (StandingGeneral(x, q) for x in (iteration, plain))
    assert np.abs(residuals(iteration.model, here.q)).max() < 1e-14
    np.testing.assert_allclose(np.cos(here.q), np.cos(there.q), atol=1e-12)
    np.testing.assert_allclose(np.sin(here.q), np.sin(there.q), atol=1e-12)


def test_rates_and_forces_are_those_of_orthogonal_columns(pair):
    iteration, plain, q = pair
    here, there = (StandingGeneral(x, q) for x in (iteration, plain))
    assert isinstance(here._passive, RodSystem)
    assert not isinstance(there._passive, RodSystem)
    qd, qdd = np.random.default_rng(4).normal(size=(2, *q.shape))
    tau = np.random.default_rng(5).normal(size=(len(q), 12))
    np.testing.assert_allclose(here.G, there.G, atol=1e-12)
    close = {"rtol": 1e-11, "atol": 1e-12}
    np.testing.assert_allclose(here.accelerations(qd, qdd), there.accelerations(qd, qdd), **close)
    np.testing.assert_allclose(here.torques(tau), there.torques(tau), **close)
    np.testing.assert_allclose(here._multipliers(tau), there._multipliers(tau), **close)
    np.testing.assert_allclose(here.type2, there.type2, **close)


@pytest.mark.parametrize(
    ("quantity", "most"),
    [("inverse_dynamics", 720), ("forward_dynamics", 1010), ("mass_matrix", 535)],
)
def test_dynamics_of_the_delta_are_short(quantity, most):
    """Newton's method took 19,500 operations."""
    robot = armdyn.load("delta")
    assert armdyn.count_operations(robot, quantity=quantity, stage="minimal").total < most


def test_no_platform_is_beyond_its_rods():
    """Cranks apart from each other: no point has the distance of a rod from all elbows."""
    model = delta(0)
    iteration = closure_of(model).iteration
    rods = tuple(replace(rod, end=0.3 * rod.end) for rod in iteration.spheres.rods)
    short = replace(iteration, spheres=replace(iteration.spheres, rods=rods))
    assert np.isnan(StandingGeneral(short, np.array([[0.5, 0.5, -1.5]])).q).any()


def test_what_is_no_delta_has_no_spheres():
    model = delta(0)
    elbow = next(i for i, joint in enumerate(model.joints) if joint.name == "elbow1_y")
    joints = list(model.joints)
    apart = transform(None, (0.0, 0.0, 0.01))  # its axes do not cross
    joints[elbow] = replace(joints[elbow], placement=frozen(joints[elbow].placement @ apart))
    assert closure_of(replace(model, joints=tuple(joints))).iteration.spheres is None
