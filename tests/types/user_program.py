"""A program of a user, for mypy alone: the types of armdyn reach it."""

from typing import assert_type

import numpy as np
from armdyn.compare.report import CompareReport
from numpy.typing import NDArray

import armdyn

robot = armdyn.load("panda")
assert_type(robot.inverse_dynamics([0.0] * 7, [0.0] * 7, [0.0] * 7), NDArray[np.float64])
assert_type(armdyn.compare("arm.urdf"), CompareReport)
