"""Torques as linear functions of the inertial parameters."""

from armdyn.arrays import Array
from armdyn.formulations.base_parameters import base_parameters
from armdyn.formulations.regressor import regressor
from armdyn.quantities.quantity import TENSOR, Quantity
from armdyn.quantities.traced_robot import TracedRobot


def _regressor(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    return s.at.rows(regressor(s.plain, s.at.positions(q), s.at.rates(qd), s.at.rates(qdd)))


REGRESSOR = Quantity(
    "regressor",
    "The regressor of the links: tau = Y(q, qd, qdd) p without friction and rotors.",
    ("q", "qd", "qdd"),
    _regressor,
    symbol="Y",
    result=f"Y; p has for each link m, m cx, m cy, m cz, {TENSOR}, the tensor about the "
    "origin of the link",
    shape=("n", "10 N"),
    terms=("links", "coriolis", "gravity"),
    fixed=("gravity",),
)
BASE_REGRESSOR = Quantity(
    "base_regressor",
    "The columns of the regressor that belong to the base parameters of the links.",
    ("q", "qd", "qdd"),
    lambda s, *motion: _regressor(s, *motion)[:, list(base_parameters(s.model).columns)],
    symbol="Y",
    result="Y, without friction and rotors",
    shape=("n", "rank"),
    terms=("links", "coriolis", "gravity"),
    fixed=("gravity",),
)
