"""Balance by springs: energies, torques, and the gravity that is left."""

import json

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError
from armdyn.formulations.energy import potential_energy
from armdyn.formulations.springs import spring_energy, spring_torques
from armdyn.model.link import Spring
from armdyn.study.simplify.linear import link_slopes
from armdyn.study.simplify.springs import (
    SpringPlace,
    gravity_torques,
    realised,
    spring_places,
)
from support.design_arms import planar
from support.paths import ROOT
from support.random_robots import random_model


def total_energy(found, q):
    """Of gravity and springs, which is constant where they balance."""
    model = found.robot.model
    return potential_energy(model, q) + spring_energy(model, found.springs, q)


@pytest.mark.parametrize("length", [0.0, 0.3])
def test_torques_are_the_slope_of_the_energy(length):
    model = random_model("RRPHR", 5, tree=True)
    rng = np.random.default_rng(1)
    link = len(model.joints) - 1
    springs = [
        Spring(link, rng.normal(size=3), -1, rng.normal(size=3), 40.0, length),
        Spring(link, rng.normal(size=3), model.parents[link], rng.normal(size=3), 7.0, length),
    ]
    q, h = rng.uniform(-1, 1, (3, 5)), 1e-5
    expected = [
        (spring_energy(model, springs, q + h * e) - spring_energy(model, springs, q - h * e))
        / (2 * h)
        for e in np.eye(5)
    ]
    np.testing.assert_allclose(
        spring_torques(model, springs, q), np.stack(expected, -1), rtol=1e-6, atol=1e-6
    )


def test_sixteen_numbers_are_those_of_springs():
    model = random_model("RRRP", 2)
    rng = np.random.default_rng(0)
    q = rng.uniform(-1, 1, (6, 4))
    for pair in ((3, -1), (3, 1)):
        (place,) = spring_places(model, [pair], q)
        for B in (np.zeros((3, 3)), rng.normal(size=(3, 3))):
            numbers = np.array([2.0, *rng.normal(size=6), *B.ravel()])
            if not B.any():  # one spring
                numbers[7:] = np.outer(numbers[4:7], numbers[1:4]).ravel() / 2.0
            springs = realised(numbers, 0.7)
            assert len(springs) == (6 if B.any() else 1)
            own = [place.spring(row, 0.0) for row in springs]
            expected = place.coefficients(0.7) @ numbers
            np.testing.assert_allclose(spring_torques(model, own, q), expected, atol=1e-9)


def test_slopes_of_a_fit_are_those_of_the_torques():
    rng = np.random.default_rng(4)
    model = random_model("RRR", 3)
    q = rng.uniform(-1, 1, (5, 3))
    (place,) = spring_places(model, [(2, -1)], q)
    x, h = rng.uniform(0.5, 1.0, 7), 1e-6

    def torque(place: SpringPlace, x):
        return spring_torques(model, [place.spring(x, 0.2)], q)

    found = place.torque_slopes(x, 0.2)
    for k, e in enumerate(np.eye(7)):
        slope = (torque(place, x + h * e) - torque(place, x - h * e)) / (2 * h)
        np.testing.assert_allclose(found[..., k], slope, atol=1e-7)


def test_gravity_is_that_of_the_robot_with_joints_that_follow_others():
    robot = armdyn.load(ROOT / "tests" / "robots" / "gripper.urdf")
    q = np.random.default_rng(0).uniform(-1, 1, (4, robot.n))
    np.testing.assert_allclose(gravity_torques(robot.model, q), robot.gravity_vector(q), atol=1e-9)
    T, _ = link_slopes(planar(2), np.zeros((1, 2)))
    assert T.shape == (2, 1, 4, 4)


@pytest.mark.parametrize(("joints", "springs"), [(1, 1), (2, 3)])
def test_a_planar_arm_is_balanced_exactly_by_few_springs(joints, springs):
    found = armdyn.spring_balance(armdyn.Robot(planar(joints)))
    assert found.exact
    assert len(found.springs) == springs
    q = np.random.default_rng(9).uniform(-9, 9, (30, joints))
    energy = total_energy(found, q)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-9)
    held = found.robot.gravity_vector(q) + found.torques(q)
    np.testing.assert_allclose(held, 0.0, atol=1e-7)


def test_the_spring_of_one_link_is_the_one_of_the_book():
    """k p a = m g c, the anchor straight above the joint seen from where the link is held."""
    model = planar(1)
    (spring,) = armdyn.spring_balance(armdyn.Robot(model)).springs
    body = model.links[0].inertia
    product = (
        spring.stiffness * np.linalg.norm(spring.point[:2]) * np.linalg.norm(spring.anchor[:2])
    )
    assert product == pytest.approx(9.81 * np.linalg.norm(body.first_moment[:2]))


def test_an_arm_in_space_is_balanced_from_its_base():
    robot = armdyn.load("saha_3r")
    found = armdyn.spring_balance(robot)
    assert found.exact
    assert all(spring.other == -1 for spring in found.springs)
    energy = total_energy(found, np.random.default_rng(2).uniform(-3, 3, (30, 3)))
    np.testing.assert_allclose(energy, energy[0], rtol=1e-9)


def test_a_slide_is_balanced_as_well_as_can_be():
    lift = armdyn.from_dh([dict(joint="prismatic", mass=2.0, limits=(-0.5, 0.5))])
    found = armdyn.spring_balance(lift, reach=1.0)
    assert not found.exact
    assert "changes along a slide" in found.reason
    # the softest spring is best: it is stretched by 2 m in the middle
    (spring,) = found.springs
    assert abs(spring.anchor[2] - spring.point[2]) == pytest.approx(2.0, abs=1e-3)
    assert np.mean(found.left**2) < 0.03 * np.mean(found.gravity**2)


def test_springs_with_a_free_length_leave_something():
    robot = armdyn.Robot(planar(1))
    found = armdyn.spring_balance(robot, free_length=0.1)
    assert not found.exact
    assert "free length 0" in found.reason
    assert np.mean(found.left**2) < 0.5 * np.mean(found.gravity**2)
    farther = armdyn.spring_balance(robot, free_length=0.1, reach=2.0)
    assert np.mean(farther.left**2) < np.mean(found.left**2)


def test_an_arm_without_weight_needs_no_springs():
    found = armdyn.spring_balance(armdyn.Robot(planar(2)).with_gravity([0, 0, -9.81]))
    assert found.exact
    assert found.springs == ()
    assert found.reason == "gravity needs no torque as the arm is"
    assert found.data()["springs"] == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"between": [("link9", "base")]}, "no link of .* named 'link9'"),
        ({"between": [("link1", "link2")]}, "'link2' does not carry 'link1'"),
        ({"between": ["link1"]}, "expected pairs such as"),
        ({"between": []}, "at least one pair"),
        ({"free_length": -1.0}, "free_length that is not negative"),
        ({"reach": 0.0}, "positive reach"),
        ({"reach": "far"}, "reach: expected a number"),
    ],
)
def test_what_cannot_be_asked_for(options, message):
    with pytest.raises(ArmdynError, match=message):
        armdyn.spring_balance(armdyn.Robot(planar(2)), **options)


def test_the_command(command, tmp_path):
    path, plot = tmp_path / "arm.toml", tmp_path / "springs.svg"
    armdyn.Robot(planar(2)).save(path)
    words = ("simplify", str(path), "--by", "springs")
    code, out, err = command(*words, "--plot", str(plot), "--springs", "link2:base,link1:base")
    assert (code, err) == (0, "")
    assert "in every configuration" in out
    assert plot.stat().st_size > 10_000
    code, out, _ = command(*words, "--free-length", "0.2", "--json")
    assert code == 1
    assert json.loads(out)["exact"] is False
    for more in (
        ("--springs", "link2"),
        ("-o", "x.toml"),
        ("--goal", "diagonal"),
        ("--by", "rope"),
    ):
        assert command(*words, *more)[0] == 2
