"""Derivatives of long robots, which are put together from directions and from those of torques."""

import numpy as np
import pytest

from armdyn.quantities.derivatives import _by_directions, _by_torques
from armdyn.quantities.request import Request

RNG = np.random.default_rng(3)
A, B, M = RNG.normal(size=(3, 3, 3))
M = M @ M.T + np.eye(3)


def run(name, *arrays, friction=True):
    """The quantities of M q̈ + B q̇ + A q, as a robot would run them."""
    assert friction is True
    if name == "inverse_dynamics_slope":
        *_, dq, dqd = np.broadcast_arrays(*arrays)
        return np.stack([dq @ A.T, dqd @ B.T], -2)
    q, *_ = arrays
    if name == "inverse_dynamics_derivatives":
        return np.broadcast_to([A, B], (*q.shape[:-1], 2, 3, 3))
    if name == "mass_matrix":
        return np.broadcast_to(M, (*q.shape[:-1], 3, 3))
    assert name == "forward_dynamics"
    q, qd, tau = arrays
    return np.linalg.solve(M, (tau - q @ A.T - qd @ B.T)[..., None])[..., 0]


@pytest.mark.parametrize("batch", [(), (4,), (2, 5)])
def test_derivatives_of_a_linear_system_are_its_matrices(batch):
    state = RNG.normal(size=(3, *batch, 3))
    request = Request("inverse_dynamics_derivatives", friction=True)
    found = _by_directions(run, None, request, *state)
    np.testing.assert_allclose(found[..., 0, :, :], np.broadcast_to(A, (*batch, 3, 3)))
    np.testing.assert_allclose(found[..., 1, :, :], np.broadcast_to(B, (*batch, 3, 3)))
    solved = _by_torques(run, None, Request("forward_dynamics_derivatives", friction=True), *state)
    assert solved.shape == (*batch, 3, 3, 3)
    for part, expected in zip(np.moveaxis(solved, -3, 0), (-A, -B, np.eye(3)), strict=True):
        np.testing.assert_allclose(M @ part, np.broadcast_to(expected, part.shape), atol=1e-12)
