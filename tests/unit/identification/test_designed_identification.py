"""What a designed motion is for: parameters found on it predict torques elsewhere."""

import numpy as np
import pytest

import armdyn
from armdyn.simulation.trajectories import fourier, sampled

FRICTION = {f"joint{i}.{what}": 0.3 for i in (1, 2) for what in ("viscous", "offset")}
NOISE = 0.2
"""Standard deviation of the measured torques [N m]."""


@pytest.mark.slow
def test_a_designed_motion_gives_a_better_model_than_a_lazy_one():
    true = armdyn.load("two_link").with_parameters(FRICTION)
    heavier = true.parameters()[true.parameter_names.index("link2.m")] * 1.3
    guess = true.with_parameters({"link2.m": heavier}, physical="ignore")
    limits = {"position": [(-2.0, 1.5), (-1.5, 2.0)], "speed": [2.0, 3.0], "acceleration": 12.0}
    designed = armdyn.excite(guess, 20, **limits, starts=2).samples()
    lazy = fourier([0, 0.3], [[0.3, 0.1]], [[0.1, 0.3]], 0.2, duration=20.0, ramp=True)
    elsewhere = armdyn.Workspace(samples=500, speed=2.0, acceleration=8.0, seed=5).states(true)
    state = elsewhere.q, elsewhere.qd, elsewhere.qdd
    torque = true.inverse_dynamics(*state)

    def error(motion):
        t, *state_of_motion = motion
        tau = true.inverse_dynamics(*state_of_motion)
        tau = tau + NOISE * np.random.default_rng(1).standard_normal(tau.shape)
        log = dict(zip(("t", "q", "qd", "qdd", "tau"), (t, *state_of_motion, tau), strict=True))
        options = {"method": "least_squares", "friction": "keep", "cutoff": 10.0}
        found = armdyn.identify(guess, log, False, **options)
        wrong = found.robot.inverse_dynamics(*state) - torque
        return np.linalg.norm(wrong) / np.linalg.norm(torque)

    assert error(designed) < 0.01
    assert error(sampled(lazy, 0.01)) > 3 * error(designed)
