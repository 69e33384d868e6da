"""Torques as linear functions of the parameters of a robot, or of its links alone."""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.base_parameters import base_parameters
from armdyn.formulations.parameters import motor_columns
from armdyn.formulations.regressor import regressor
from armdyn.formulations.springs import spring_columns
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel
from armdyn.quantities.quantity import TENSOR, Otherwise, Quantity
from armdyn.quantities.traced_robot import TracedRobot
from armdyn.thresholds import COMPILED_REGRESSOR


def _links(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    at = s.here(q)
    return at.rows(regressor(s.plain, *at.motion(qd, qdd)))


def _all(s: TracedRobot, q: Array, qd: Array, qdd: Array) -> Array:
    at = s.here(q)
    motors = motor_columns(s.plain, *at.motion(qd, qdd))
    columns = [s.aside(at.torques(column))[..., None] for column in motors]
    springs = spring_columns(s.plain, s.plain.springs, at.q)
    columns += [at.torques(column)[..., None] for column in springs]
    return np.concatenate([_links(s, q, qd, qdd), *columns], -1)


@lru_cache(maxsize=16)
def base_columns(model: RobotModel, links: bool = False) -> list[int]:
    """Columns of the base parameters; a search traces one robot many times."""
    return list(base_parameters(coordinates_of(model), links).columns)


REGRESSOR = Quantity(
    "regressor",
    "The regressor: tau = Y(q, qd, qdd) p, rotors, friction and springs included.",
    ("q", "qd", "qdd"),
    _all,
    symbol="Y",
    result=f"Y; p has for each link m, m cx, m cy, m cz, {TENSOR}, the tensor about the "
    "origin of the link, then the rotor and the friction of each joint, and springs",
    shape=("n", "p"),
    terms=("links", "rotors", "coriolis", "gravity", "friction"),
    fixed=("gravity",),
    otherwise=Otherwise(joints=COMPILED_REGRESSOR),
)
BASE_REGRESSOR = replace(
    REGRESSOR,
    name="base_regressor",
    doc="The columns of the regressor that belong to the base parameters.",
    build=lambda s, *motion: _all(s, *motion)[..., base_columns(s.model)],
    result="Y",
    shape=("n", "rank"),
)
LINK_REGRESSOR = replace(
    REGRESSOR,
    name="link_regressor",
    doc="The regressor of the links: tau = Y(q, qd, qdd) p without friction and rotors.",
    build=_links,
    result=f"Y; p has for each link m, m cx, m cy, m cz, {TENSOR}, the tensor about the "
    "origin of the link",
    shape=("n", "10 N"),
    terms=("links", "coriolis", "gravity"),
)
LINK_BASE_REGRESSOR = replace(
    LINK_REGRESSOR,
    name="link_base_regressor",
    doc="The columns of the regressor that belong to the base parameters of the links.",
    build=lambda s, *motion: _links(s, *motion)[..., base_columns(s.model, links=True)],
    result="Y, without friction and rotors",
    shape=("n", "link rank"),
)
