"""What long robots evaluate in the place of kernels: see `Otherwise`.

Derivatives, regressors and the Cartesian form have limits of their own: their entries grow faster
than the robot, and so would the code.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from armdyn.arrays import Array, lost
from armdyn.formulations.base_parameters import base_parameters
from armdyn.formulations.cartesian import task_columns
from armdyn.formulations.coriolis import configuration_space
from armdyn.formulations.parameters import full_regressor
from armdyn.formulations.regressor import regressor
from armdyn.formulations.slopes import TorqueSlopes, acceleration_slopes
from armdyn.formulations.textbook_terms import TextbookTerms
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel
from armdyn.quantities.quantity import Otherwise
from armdyn.quantities.request import Request
from armdyn.thresholds import (
    COMPILED_CARTESIAN,
    COMPILED_MASS_ENTRIES,
    COMPILED_REGRESSOR,
    WHOLE_DERIVATIVES,
)

Run = Callable[..., Array]


def _textbook(run: Run, model: RobotModel, request: Request, *arrays: Array) -> Array:
    """By the method of the same name in `TextbookTerms`; wrenches are the last arrays."""
    states = len(arrays) - len(request.wrench)
    on = dict(zip(request.wrench, arrays[states:], strict=True))
    how = request.friction, on, request.wrench_frame, request.link, request.frame
    found: Array = getattr(TextbookTerms(coordinates_of(model), *how), request.quantity)(
        *arrays[:states]
    )
    return found


def _slopes(run: Run, model: RobotModel, request: Request, *motion: Array) -> Array:
    """∂τ/∂q and ∂τ/∂q̇, (..., 2, n, n), a column for each direction."""
    along = [v[..., None, :] for v in motion]
    unit = np.eye(motion[0].shape[-1])
    found = run("inverse_dynamics_slope", *along, unit, unit, friction=request.friction)
    return np.ascontiguousarray(np.moveaxis(found, -3, -1))


def _acceleration_slopes(
    run: Run, model: RobotModel, request: Request, q: Array, qd: Array, tau: Array
) -> Array:
    """∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ, (..., 3, n, n), from the derivatives of torques."""
    friction = {"friction": request.friction}
    qdd = run("forward_dynamics", q, qd, tau, **friction)
    if lost(qdd, q, qd, tau):  # then nothing can be solved for
        return np.full((*q.shape[:-1], 3, q.shape[-1], q.shape[-1]), np.nan)
    dq, dqd = np.moveaxis(run("inverse_dynamics_derivatives", q, qd, qdd, **friction), -3, 0)
    found = acceleration_slopes(TorqueSlopes(dq, dqd, run("mass_matrix", q)))
    return np.stack([found.dq, found.dqd, found.dtau], -3)


def _coriolis(run: Run, model: RobotModel, request: Request, q: Array, qd: Array) -> Array:
    slopes = run("inverse_dynamics_derivatives", q, qd, np.zeros_like(qd), friction=False)
    return 0.5 * slopes[..., 1, :, :]


def _symbols(run: Run, model: RobotModel, request: Request, q: Array) -> Array:
    # C_ij = Σ c_ijk q̇_k, so unit velocities give them one by one
    return np.moveaxis(run("coriolis_matrix", q[..., None, :], np.eye(q.shape[-1])), -3, -1)


def _space(run: Run, model: RobotModel, request: Request, q: Array) -> Array:
    M, symbols, G = (run(name, q) for name in ("mass_matrix", "christoffel", "gravity_vector"))
    form = configuration_space(M, symbols, G)
    return np.concatenate([form.M, form.B, form.C, form.G[..., None]], -1)


def _cartesian(run: Run, model: RobotModel, request: Request, q: Array, qd: Array) -> Array:
    return task_columns(run, q, qd, request.frame, request.task)


def _regressor(run: Run, model: RobotModel, request: Request, q: Array, *rates: Array) -> Array:
    at, links = coordinates_of(model), request.quantity.startswith("link_")
    columns = regressor if links else full_regressor
    found = at.rows(columns(model, at.positions(q), *map(at.rates, rates)))
    return found[..., base_columns(model, links)] if "base" in request.quantity else found


@lru_cache(maxsize=16)
def base_columns(model: RobotModel, links: bool = False) -> list[int]:
    """Columns of the base parameters; a search traces one robot many times."""
    return list(base_parameters(coordinates_of(model), links).columns)


IN_NUMPY = Otherwise(_textbook)
MASS_IN_NUMPY = Otherwise(_textbook, entries=COMPILED_MASS_ENTRIES)
BY_DIRECTIONS = Otherwise(_slopes, WHOLE_DERIVATIVES)
BY_TORQUES = Otherwise(_acceleration_slopes, WHOLE_DERIVATIVES)
CORIOLIS_BY_SLOPES = Otherwise(_coriolis, WHOLE_DERIVATIVES)
SYMBOLS_BY_VELOCITIES = Otherwise(_symbols, WHOLE_DERIVATIVES)
SPACE_BY_SYMBOLS = Otherwise(_space, WHOLE_DERIVATIVES)
CARTESIAN_IN_NUMPY = Otherwise(_cartesian, COMPILED_CARTESIAN)
REGRESSOR_IN_NUMPY = Otherwise(_regressor, COMPILED_REGRESSOR)
