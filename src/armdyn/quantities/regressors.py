"""Torques as linear functions of the parameters of a robot, or of its links alone."""

from functools import lru_cache, partial

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.base_parameters import base_parameters
from armdyn.formulations.parameters import motor_columns
from armdyn.formulations.regressor import regressor
from armdyn.formulations.springs import spring_columns
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel
from armdyn.quantities.quantity import TENSOR, Otherwise, quantity
from armdyn.quantities.traced_robot import TracedRobot
from armdyn.thresholds import COMPILED_REGRESSOR

_PARAMETERS = f"Y; p has for each link m, m cx, m cy, m cz, {TENSOR}, the tensor about the origin "
_columns = partial(
    quantity, symbol="Y", fixed=("gravity",), otherwise=Otherwise(joints=COMPILED_REGRESSOR)
)
_of_all = partial(_columns, terms=("links", "rotors", "coriolis", "gravity", "friction"))
_of_links = partial(_columns, terms=("links", "coriolis", "gravity"))


@lru_cache(maxsize=16)
def base_columns(model: RobotModel, links: bool = False) -> list[int]:
    """Columns of the base parameters; a search traces one robot many times."""
    return list(base_parameters(coordinates_of(model), links).columns)


@_of_links(result=f"{_PARAMETERS}of the link", shape=("n", "10 N"))
def _link_regressor(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    """The regressor of the links: tau = Y(q, qd, qdd) p without friction and rotors."""
    at = s.here(q)
    return at.rows(regressor(s.plain, *at.motion(qd, qdd)))


@_of_links(result="Y, without friction and rotors", shape=("n", "link rank"))
def _link_base_regressor(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    """The columns of the regressor that belong to the base parameters of the links."""
    return _link_regressor.build(s, q, qd, qdd)[..., base_columns(s.model, links=True)]


@_of_all(
    result=f"{_PARAMETERS}of the link, then the rotor and the friction of each joint, and springs",
    shape=("n", "p"),
)
def _regressor(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    """The regressor: tau = Y(q, qd, qdd) p, rotors, friction and springs included."""
    at = s.here(q)
    motors = motor_columns(s.plain, *at.motion(qd, qdd))
    columns = [s.aside(at.torques(column))[..., None] for column in motors]
    springs = spring_columns(s.plain, s.plain.springs, at.q)
    columns += [at.torques(column)[..., None] for column in springs]
    return np.concatenate([_link_regressor.build(s, q, qd, qdd), *columns], -1)


@_of_all(result="Y", shape=("n", "rank"))
def _base_regressor(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    """The columns of the regressor that belong to the base parameters."""
    return _regressor.build(s, q, qd, qdd)[..., base_columns(s.model)]
