"""A program of a user, for mypy alone: the types of armdyn reach it."""

from typing import Any, assert_type

from numpy.typing import NDArray

import armdyn
from armdyn.study.compare.compare import CompareReport

robot = armdyn.load("panda")
assert_type(robot.inverse_dynamics([0.0] * 7, [0.0] * 7, [0.0] * 7), NDArray[Any])
assert_type(armdyn.compare("arm.urdf"), CompareReport)
