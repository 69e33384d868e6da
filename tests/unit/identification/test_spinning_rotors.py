"""Rotors that spin are found with their carriers in motion, and are missed where nobody asks."""

import numpy as np
import pytest

import armdyn
from support.measured_arms import guessed, measured, worn

INERTIAS, RATIOS = (6e-3, 8e-3, 5e-3), (9.0, -7.0, 8.0)


@pytest.mark.slow
def test_a_log_shows_the_inertia_of_rotors_that_spin():
    robot = worn(armdyn.load("saha_3r"))
    for k, carrier in enumerate(("base", "link1", "link2")):
        given = {"inertia": INERTIAS[k], "gear_ratio": RATIOS[k], "carrier": carrier}
        robot = robot.with_rotor(f"joint{k + 1}", axis=[0, 0.6, 0.8], **given)
    logs, blind = (measured(robot), measured(robot, seed=5)), guessed(robot)
    found = armdyn.identify(blind, *logs)
    for name in robot.joint_names:
        blind = blind.with_rotor(name)
    missed = armdyn.identify(blind, *logs)
    assert found.validation.relative_error < 0.004
    assert missed.validation.relative_error > 2 * found.validation.relative_error
    # that of the first joint is one base parameter with the inertia of its link
    rotors = [joint.rotor for joint in found.robot.model.joints][1:]
    np.testing.assert_allclose([x.inertia for x in rotors], INERTIAS[1:], rtol=0.02)
    assert [(x.gear_ratio, x.carrier) for x in rotors] == [(-7.0, "link1"), (8.0, "link2")]
    motors = [joint.rotor.inertia for joint in missed.robot.model.joints][1:]
    assert np.all(np.abs(np.array(motors) / INERTIAS[1:] - 1.0) > 0.04)
