"""What holds of arms with a constant mass matrix: joints do not disturb each other, steps are exact.

The design of `armdyn.simplify` is tested elsewhere; here it moves, beside the arm as drawn.
"""

import numpy as np
import pytest

import armdyn
from support.saha_arm import constant_saha_arm

START, RATES = np.array([0.0, 0.3, -0.8]), np.array([2.0, -1.0, 3.0])
ARMS = {"as drawn": armdyn.load("saha_3r"), "constant": constant_saha_arm()}


@pytest.mark.slow
def test_a_torque_on_the_first_joint_leaves_the_others_at_rest_if_they_are_decoupled():
    fixed = {"method": "rk4", "step": 0.1, "dt": 0.1}
    run = armdyn.simulate(ARMS["constant"], START, torque=(3.0, 0.0, 0.0), duration=1.0, **fixed)
    assert run.q[-1, 0] > 0.3
    assert np.abs(run.q - START).max(0)[1:].max() < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("name", ARMS)
def test_steps_of_any_length_keep_the_energy_of_a_constant_mass_matrix(name):
    drifts = [
        armdyn.simulate(
            ARMS[name], START, RATES, duration=2.0, method="rk4", step=step, dt=step
        ).energy_drift
        for step in (0.2, 0.1, 0.01)
    ]
    if name == "constant":
        assert max(drifts) < 1e-13
    else:
        assert drifts[1] > 0.05
        assert drifts[2] > 1e-6
