"""Designs as columns, against robots that were made of the same numbers."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError
from armdyn.model.edit import with_payload
from armdyn.shorten.canonical.frames import canonical
from armdyn.shorten.canonical.parameters import parameters
from armdyn.shorten.canonical.redesign import redesign

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def robot():
    return armdyn.load("puma560")


def redesigned(robot, name, value):
    """The robot with one other number, the long way round."""
    model, i = robot.model, int(name[1:]) - 1
    change = value - parameters(model)[name]
    if name[0] == "a":
        return armdyn.Robot(redesign(model, {}, lengths={i + 1: change}))
    if name[0] == "d":
        return armdyn.Robot(redesign(model, {}, offsets={i: change}))
    link = canonical(model).links[i]
    com = link.u / link.M
    pseudo = np.zeros((4, 4))
    pseudo[:3, :3] = link.J + change * np.outer(com, com)
    pseudo[:3, 3] = pseudo[3, :3] = link.u + change * com
    pseudo[3, 3] = link.M + change
    return armdyn.Robot(redesign(model, {i: pseudo}))


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "mass_matrix", "forward_dynamics"])
def test_masses_and_lengths_are_arguments(robot, quantity):
    values = {"m3": 7.5, "a2": 0.6, "d4": 0.3}
    move = {"q": [0.3, -0.8, 0.5, 0.2, 0.9, -0.4]}
    if quantity != "mass_matrix":
        move |= {"qd": [0.5, -0.2, 1.0, 0.3, 0.1, 0.7]}
        move |= {"qdd" if quantity[0] == "i" else "tau": [1.0, 2.0, -1.0, 0.5, 0.3, 0.2]}
    for name, value in values.items():
        found = armdyn.sweep(robot, quantity, armdyn.Grid(**move, **{name: value})).extremes.max
        expected = getattr(redesigned(robot, name, value), quantity)(*move.values())
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "mass_matrix"])
def test_rotors_that_spin_are_arguments(quantity):
    """Their momentum grows with the gear ratio, and their inertia behind it with its square."""
    robot = armdyn.load("puma560", spinning_rotors=True)
    move = {"q": [0.3, -0.8, 0.5, 0.2, 0.9, -0.4]}
    if quantity == "inverse_dynamics":
        move |= {"qd": [0.5, -0.2, 1.0, 0.3, 0.1, 0.7], "qdd": [1.0, 2.0, -1.0, 0.5, 0.3, 0.2]}
    for k, name, value in ((3, "N4", -9.0), (4, "N5", 30.0), (3, "Ia4", 0.5)):
        found = armdyn.sweep(robot, quantity, armdyn.Grid(**move, **{name: value})).extremes.max
        rotor = robot.model.joints[k].rotor
        change = {"gear_ratio": value}
        if name[0] == "I":
            change = {"inertia": value / rotor.gear_ratio**2, "gear_ratio": rotor.gear_ratio}
        given = {"axis": rotor.axis, "carrier": rotor.carrier, **change}
        other = robot.with_rotor(robot.joint_names[k], **given)
        expected = getattr(other, quantity)(*move.values())
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
        plain = other.with_rotor(robot.joint_names[k])
        assert np.abs(getattr(plain, quantity)(*move.values()) - expected).max() > 1e-4


def test_gears_and_payloads_of_many_variants(robot):
    over = armdyn.Grid(qdd=1.0, N2=(50, 150, 3), payload=(0, 4, 3), m3=[3.0, 6.0])
    result = armdyn.sweep(robot, "inverse_dynamics", over, by=("N2", "payload1", "m3"))
    assert result.extremes.max.shape == (3, 3, 2, 6)
    zero, one = np.zeros(6), np.ones(6)
    at_50, at_150 = result.extremes.max[0, 0, 0, 1], result.extremes.max[2, 0, 0, 1]
    rotor = robot.model.joints[1].rotor.inertia
    assert at_150 - at_50 == pytest.approx(rotor * (150**2 - 50**2), rel=1e-9)
    heavy = armdyn.Robot(with_payload(redesigned(robot, "m3", 6.0).model, 4.0))
    at = result.states(result.extremes.argmax[0, 2, 1, 1])
    ratio = robot.model.joints[1].rotor.gear_ratio
    expected = heavy.inverse_dynamics(zero, zero, one)[1] + rotor * (50**2 - ratio**2)
    assert result.extremes.max[0, 2, 1, 1] == pytest.approx(expected, rel=1e-9)
    assert at["design"].tolist() == [50.0, 6.0]


@pytest.mark.parametrize(
    ("quantity", "said", "options", "message"),
    [
        ("jacobian", {"a2": 0.5}, {}, "no quantity of a design 'jacobian'"),
        ("bias", {"a2": 0.5}, {"base_motion": True}, "options friction and payload alone"),
        ("bias", {"a2": 0.5, "gravity": 0.0}, {}, "options friction and payload alone"),
        ("bias", {"N2": 0.5, "Ia2": 1.0}, {}, "N2 and Ia2 are one rotor"),
        ("bias", {"m9": 0.5}, {}, "no argument or column 'm9'"),
    ],
)
def test_what_is_no_design_is_refused(robot, quantity, said, options, message):
    with pytest.raises(ArmdynError, match=message):
        armdyn.sweep(robot, quantity, armdyn.Grid(**said), **options)
