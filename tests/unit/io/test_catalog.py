"""The catalog: every robot has a source and can exist, and the textbook arms give their torques."""

import tomllib
import warnings

import numpy as np
import pytest

import armdyn
from armdyn.errors import InertiaError, UnknownNameError
from armdyn.io.catalog import catalog_names, catalog_path
from armdyn.model.validate import physical_findings
from support.reading import model_from_dh, model_from_toml

PROMISED = {
    "two_link": 2,
    "craig_two_link": 2,
    "renaud_6r": 6,
    "saha_3r": 3,
    "puma560": 6,
    "stanford": 6,
    "scara": 4,
    "panda": 7,
    "ur5e": 6,
    "iiwa14": 7,
    "gen3": 7,
}
"""Names and numbers of joints that users may rely on."""


@pytest.mark.parametrize(("name", "joints"), PROMISED.items())
def test_promised_robots_exist(name, joints):
    assert len(model_from_toml(catalog_path(name)).joints) == joints


@pytest.mark.parametrize("name", catalog_names())
def test_every_robot_has_a_source_and_loads_in_silence(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = model_from_toml(catalog_path(name))
    assert len(model.source) > 40
    assert not [f for f in physical_findings(model) if f.level == "error"]
    joints = ("slide_x", "slide_y", "cross1", "cross2", "cross3")  # of the delta robot
    bodies = [link for link in model.links if link.name not in joints]
    assert all(link.inertia.mass > 0 for link in bodies) or model.reduced


@pytest.mark.slow
@pytest.mark.parametrize("name", catalog_names())
def test_mass_matrix_is_positive_and_energy_is_kept(name):
    """M is symmetric positive definite, and without friction power goes into kinetic energy."""
    robot = armdyn.load(name, gravity=(0, 0, 0))
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.uniform(-1.0, 1.0, (3, robot.n))
    q = robot.start + 0.1 * q if robot.model.loops else q
    M = robot.mass_matrix(q)
    assert np.linalg.eigvalsh(M)[0] > 0
    np.testing.assert_allclose(M, M.T, rtol=1e-12, atol=1e-14)
    h = 1e-6
    rate = (
        robot.kinetic_energy(q + h * qd, qd + h * qdd)
        - robot.kinetic_energy(q - h * qd, qd - h * qdd)
    ) / (2 * h)
    power = qd @ robot.inverse_dynamics(q, qd, qdd, friction=False)
    np.testing.assert_allclose(power, rate, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "name", ["panda", "puma560", "ur3", "ur5", "ur10", "ur5e", "iiwa14", "gen3"]
)
def test_arms_that_are_built_have_limits_of_velocity_and_effort(name):
    """With the source of the limits named, and strong enough to hold the arm stretched out."""
    model = model_from_toml(catalog_path(name))
    limits = [joint.limits for joint in model.joints]
    assert all(0 < each.velocity < 10 and 1 < each.effort < 1000 for each in limits)
    assert "elocity" in model.source + model.note
    robot = armdyn.load(name)
    held = robot.gravity_vector(
        np.random.default_rng(5).uniform(*robot.model.ranges.T, (500, robot.n))
    )
    assert (np.abs(held).max(0) < [each.effort for each in limits]).all()


def test_only_the_puma_is_a_reduced_set():
    reduced = [n for n in catalog_names() if model_from_toml(catalog_path(n)).reduced]
    assert reduced == ["puma560"]


def test_unknown_name_offers_the_nearest():
    with pytest.raises(UnknownNameError, match=r"named 'puma'\. Did you mean 'puma560'"):
        catalog_path("puma")
    with pytest.raises(UnknownNameError, match="Available: craig_two_link"):
        catalog_path("../toml")


@pytest.mark.parametrize(
    ("name", "state", "tau"),
    [
        (
            "two_link",
            [[0.3, -0.7], [0.5, -1.2], [1.1, -0.4]],
            [20.414688100140456, 3.9798636960348954],
        ),
        (
            "craig_two_link",
            [[0.3, -0.7], [0.5, -1.2], [1.1, -0.4]],
            [43.805156453029014, 8.543284795808455],
        ),
        (
            "saha_3r",
            [[0.4, 0.3, -0.8], [0.7, -0.5, 1.1], [0.2, 1.3, -0.6]],
            [0.83932770891942, 21.285786533691, 3.5792658637088],
        ),
        (
            "renaud_6r",
            [
                [0.1, -0.4, 0.7, 0.2, -0.9, 1.3],
                [0.5, -0.3, 0.8, -1.1, 0.4, 0.9],
                [1, -0.6, 0.3, 2, -1.5, 0.7],
            ],
            [
                3.4901383052501,
                56.97324958039,
                4.3027409119478,
                0.13586124645354,
                -0.64826421718207,
                0.00085757029985143,
            ],
        ),
    ],
)
def test_textbook_torques(name, state, tau):
    """Values computed from the equations of the books by several methods and by Pinocchio."""
    np.testing.assert_allclose(armdyn.load(name).inverse_dynamics(*state), tau, rtol=1e-10)


def test_craig_in_closed_form():
    """Craig's closed form of the arm with two point masses, with viscous and Coulomb friction."""
    robot = armdyn.load("craig_two_link")
    m1, m2, l1, l2, g = 4.6, 2.3, 0.5, 0.4, 9.81
    (t1, t2), (w1, w2), (a1, a2) = state = np.array([[0.9, 0.4], [-1.0, 0.7], [0.3, 2.0]])
    c1, c2, s2, c12 = np.cos(t1), np.cos(t2), np.sin(t2), np.cos(t1 + t2)
    tau2 = m2 * l2 * (l1 * c2 * a1 + l1 * s2 * w1**2 + g * c12 + l2 * (a1 + a2))
    tau1 = (
        m2 * l2**2 * (a1 + a2)
        + m2 * l1 * l2 * c2 * (2 * a1 + a2)
        + (m1 + m2) * l1**2 * a1
        - m2 * l1 * l2 * s2 * w2**2
        - 2 * m2 * l1 * l2 * s2 * w1 * w2
        + m2 * l2 * g * c12
        + (m1 + m2) * l1 * g * c1
    )
    friction = np.array([0.3, 0.2]) * [w1, w2] + np.array([0.15, 0.1]) * np.sign([w1, w2])
    np.testing.assert_allclose(
        robot.inverse_dynamics(*state), np.array([tau1, tau2]) + friction, rtol=1e-12
    )
    np.testing.assert_allclose(
        robot.forward_kinematics([t1, t2])[:2, 3],
        [l1 * c1 + l2 * c12, l1 * np.sin(t1) + l2 * np.sin(t1 + t2)],
        rtol=1e-12,
    )


def test_scara_gravity_is_on_the_slide_only():
    """Vertical axes: the slide carries what hangs on it, no rotation feels gravity."""
    robot = armdyn.load("scara")
    carried = sum(link.inertia.mass for link in robot.model.links[2:])
    q = np.array([0.3, -0.8, 0.05, 1.0])
    np.testing.assert_allclose(robot.gravity_vector(q), [0, 0, 9.81 * carried, 0], atol=1e-14)


def test_panda_flange():
    """At q = 0 the flange is 0.088 m before the base, 0.333 + 0.316 + 0.384 - 0.107 m up."""
    panda = armdyn.load("panda")
    assert panda.model.flange.name == "attachment"
    np.testing.assert_allclose(
        panda.forward_kinematics(np.zeros(7))[:3, 3], [0.088, 0.0, 0.926], atol=1e-15
    )


def test_uncorrected_stanford_table_cannot_exist():
    """Link 5 as the Robotics Toolbox has it, against which the note of the catalog argues."""
    row = dict(joint="revolute", alpha=np.pi / 2, mass=0.63, link="link5")
    with pytest.raises(InertiaError, match="link 'link5'.*triangle inequality"):
        model_from_dh([row | dict(com=(0, 0.566, 0.003), inertia=(0.003, 0.0004, 0.0))])


def test_stanford_masses_lie_within_the_arm():
    """No centre of mass is farther from its own joint frames than the arm is long."""
    for link in model_from_toml(catalog_path("stanford")).links:
        assert np.linalg.norm(link.bodies[0].inertia.com) < 0.7


@pytest.mark.parametrize("name", catalog_names())
def test_source_and_note_are_one_paragraph_each(name):
    data = tomllib.loads(catalog_path(name).read_text(encoding="utf-8"))
    for text in (data["source"], data.get("note", "-")):
        assert text == " ".join(text.split())
