"""Derivatives of the torques by composite bodies, on numbers and on nodes."""

import numpy as np
import pytest

import armdyn
from armdyn.formulations.coriolis import coriolis_matrix
from armdyn.formulations.newton_euler import newton_euler
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request
from armdyn.shorten.canonical.frames import canonical
from armdyn.shorten.minimal.slopes import torque_slopes
from support.peers import close
from support.random_robots import random_states
from support.textbook_quantities import central_differences


def test_slopes_of_numbers_are_those_of_newton_and_euler(arm):
    model = arm.model
    q, qd, qdd = random_states(model, arm.seed, batch=(3,))
    of_q, C = (
        np.moveaxis([[np.broadcast_to(x, 3) for x in row] for row in matrix], -1, 0)
        for matrix in torque_slopes(canonical(model), q, qd, qdd)
    )
    expected = central_differences(lambda x: newton_euler(model, x, qd, qdd).tau, q)
    close(of_q, expected, 1e-8)
    close(C, coriolis_matrix(model, q, qd), 1e-10)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "slopes", "coriolis"),
    [("panda", 2883, 1371), ("iiwa14", 2109, 953), ("puma560", 1231, 397), ("ur5e", 892, 267)],
)
def test_operations_only_become_fewer(name, slopes, coriolis):
    model = armdyn.load(name).model
    counted = {"inverse_dynamics_derivatives": slopes, "coriolis_matrix": coriolis}
    for quantity, most in counted.items():
        found = quantity_program(model, Request(quantity, friction=False)).operations
        assert found.total <= most, quantity
