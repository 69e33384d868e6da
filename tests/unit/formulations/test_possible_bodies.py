"""Pseudo-inertias, the function that keeps bodies possible, and what its slopes are."""

import numpy as np
import pytest

from armdyn.formulations.possible_bodies import PriorBodies, pseudo_inertias, ten_numbers
from armdyn.formulations.regressor import ten_parameters
from armdyn.formulations.scaled_newton import Objective
from armdyn.identification.estimate import correlation_length
from support.random_robots import random_inertia

BODIES = np.array([ten_parameters(random_inertia(np.random.default_rng(k))) for k in range(5)])


def test_pseudo_inertias_hold_the_ten_parameters_and_are_positive_for_possible_bodies():
    """J = [[Σ, m c], [m cᵀ, m]] with Σ = tr(I)/2 - I, after Wensing, Kim and Slotine."""
    J = pseudo_inertias(BODIES)
    np.testing.assert_allclose(ten_numbers(J), BODIES, rtol=1e-13)
    np.testing.assert_array_equal(J, np.swapaxes(J, 1, 2))
    np.testing.assert_array_equal(J[:, 3, 3], BODIES[:, 0])
    np.testing.assert_array_equal(J[:, :3, 3], BODIES[:, 1:4])
    assert np.linalg.eigvalsh(J).min() > 0
    too_flat = BODIES[0] * np.r_[np.ones(4), 0.2, 1, 0.2, 1, 1, 5.0]  # Izz > Ixx + Iyy
    assert np.linalg.eigvalsh(pseudo_inertias(too_flat)).min() < 0


def test_slopes_of_the_function_are_its_derivatives():
    rng = np.random.default_rng(3)
    prior, signed = (
        PriorBodies(np.linalg.cholesky(pseudo_inertias(BODIES[:3]))),
        np.array([True, False, True, False]),
    )
    plain = Objective.plain(prior, rng.uniform(0.5, 2, 4), signed, rng.normal(size=4))
    S = rng.normal(size=(34, 34))
    objective = plain.with_data(S @ S.T, rng.normal(size=34))
    x = plain.start + rng.uniform(-0.05, 0.05, 34)
    gradient, hessian = objective.slopes(x)
    for k, unit in enumerate(np.eye(34)):
        ends = [x + side * 1e-6 * unit for side in (1, -1)]
        rise = np.subtract(*map(objective.value, ends)) / 2e-6
        assert rise == pytest.approx(gradient[k], rel=1e-6, abs=1e-6 * np.abs(gradient).max())
        turn = np.subtract(*(objective.slopes(end)[0] for end in ends)) / 2e-6
        np.testing.assert_allclose(turn, hessian[k], atol=1e-6 * np.abs(hessian).max())


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.8])
def test_samples_that_follow_from_those_before_count_for_less(memory):
    """x_k = a x_{k-1} + noise has a correlation length of (1 + a)/(1 - a)."""
    noise = np.random.default_rng(5).normal(size=200_000)
    x = np.zeros_like(noise)
    for k in range(1, len(x)):
        x[k] = memory * x[k - 1] + noise[k]
    assert correlation_length(x) == pytest.approx((1 + memory) / (1 - memory), rel=0.05)
