"""Joint types as records: a type that turns and slides needs nothing but its record."""

from dataclasses import replace

import numpy as np
import pytest

from armdyn.canonical.frames import canonical
from armdyn.canonical.regroup import regroup
from armdyn.dynamics import Robot
from armdyn.formulations.articulated_body import articulated_body
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.kinematics import jacobian, jacobian_rate, world_frames
from armdyn.minimal.articulated import minimal_articulated_body
from armdyn.minimal.mass import minimal_mass_matrix
from armdyn.minimal.torques import minimal
from armdyn.model.joint_types import JOINT_TYPES, REVOLUTE
from support.random_robots import random_model

SCREW = replace(REVOLUTE, name="screw", letter="H", slide=0.15)


def screw_robot(seed, tree=True):
    """A random robot in which every second joint is a screw."""
    model = random_model("RRPRR", seed, tree=tree, rotors=True)
    joints = tuple(replace(j, type=SCREW) if i % 2 else j for i, j in enumerate(model.joints))
    return replace(model, joints=joints)


@pytest.fixture(params=range(4))
def model(request):
    return screw_robot(request.param)


@pytest.fixture
def state(model):
    return np.random.default_rng(7).uniform(-2, 2, size=(3, 5, len(model.joints)))


def same(value, expected):
    np.testing.assert_allclose(value, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_a_screw_turns_and_slides():
    T = SCREW.motion(np.array([0.0, 0.0, 1.0]), 0.5)
    np.testing.assert_allclose(T[:3, 3], [0, 0, 0.075])
    np.testing.assert_allclose(T[:2, 0], [np.cos(0.5), np.sin(0.5)])
    np.testing.assert_allclose(SCREW.subspace(np.array([0.0, 1.0, 0.0])), [0, 0.15, 0, 0, 1, 0])


@pytest.mark.parametrize("kind", [*JOINT_TYPES.values(), SCREW])
def test_the_generator_is_the_slope_of_the_motion(kind):
    axis = np.array([0.6, 0.0, 0.8])
    slope = (kind.motion(axis, 1e-6) - kind.motion(axis, -1e-6)) / 2e-6
    np.testing.assert_allclose(kind.generator(axis), slope, atol=1e-9)


@pytest.mark.parametrize(
    "formulation",
    [
        "lagrange_euler",
        "dalembert",
        "denoc",
        "denoc_recursive",
        "augmented_body",
        "augmented_body_intrinsic",
    ],
)
def test_formulations_agree_on_screws(model, state, formulation):
    robot = Robot(model)
    same(robot.formulate(formulation, *state).tau, robot.formulate("newton_euler", *state).tau)


@pytest.mark.parametrize(
    ("formulation", "frame"), [("newton_euler_base", "world"), ("newton_euler_link", "far_end")]
)
def test_tables_agree_on_a_chain_with_screws(formulation, frame):
    model = screw_robot(0, tree=False)
    state = np.random.default_rng(7).uniform(-2, 2, size=(3, 5, len(model.joints)))
    found = Robot(model).formulate(formulation, *state, frame=frame)
    same(found.tau, Robot(model).formulate("newton_euler", *state).tau)


def test_the_minimal_formulation_takes_screws(model, state):
    q, qd, qdd = state
    tau = Robot(model).formulate("newton_euler", *state).tau
    robot = canonical(model)
    same(minimal(robot, *state).tau, tau)
    same(minimal(regroup(robot), *state).tau, tau)
    same(minimal_mass_matrix(robot, q), mass_matrix(model, q))
    rotors = np.array([joint.rotor.reflected for joint in model.joints])
    expected = articulated_body(model, q, qd, tau + rotors * qdd)[1]
    same(expected, qdd)
    same(minimal_articulated_body(robot, q, qd, tau + rotors * qdd, rotors), qdd)


def test_the_jacobian_of_screws_is_the_slope_of_positions(model, state):
    q, qd, _ = state
    frame, h = model.tool_frame, 1e-6
    ends = [world_frames(model, q + s * h * qd).link(frame.link) for s in (1, -1)]
    p = [O + R @ frame.placement[:3, 3] for R, O in ends]
    v = (jacobian(model, q, frame) @ qd[..., None])[..., 0]
    np.testing.assert_allclose(v[..., :3], (p[0] - p[1]) / (2 * h), atol=1e-6)
    rate = jacobian(model, q + h * qd, frame) - jacobian(model, q - h * qd, frame)
    np.testing.assert_allclose(jacobian_rate(model, q, qd, frame), rate / (2 * h), atol=1e-5)
