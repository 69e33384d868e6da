"""Robots with loops in every room: the same torque, or a refusal that says why."""

import importlib.util

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, LoopError, ModelError, WriteError
from armdyn.study.structure.structure import structure

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=["five_bar", "palletizer"])
def robot(request):
    return armdyn.load(request.param)


@pytest.fixture(scope="module")
def motion(robot):
    rng = np.random.default_rng(7)
    q = robot.start + rng.uniform(-0.1, 0.1, robot.n)
    return q, *rng.uniform(-1.0, 1.0, (2, robot.n))


@pytest.fixture(scope="module")
def tau(robot, motion):
    return robot.inverse_dynamics(*motion)


def same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_textbook_formulations_and_the_ledger(robot, motion, tau):
    for formulation in ("newton_euler", "lagrange_euler", "denoc"):
        same(robot.inverse_dynamics(*motion, formulation=formulation), tau)
    same(robot.ledger(*motion).total, tau)
    same(robot.regressor(*motion) @ robot.parameters(), tau)
    same(robot.with_parameters(robot.parameters()).inverse_dynamics(*motion), tau)
    same(robot.forward_dynamics(*motion[:2], tau, method="composite_body"), motion[2])
    with pytest.raises(ModelError, match="articulated_body' is for independent joints"):
        robot.forward_dynamics(*motion[:2], tau, method="articulated_body")


def test_wrenches_payloads_and_locked_joints(robot, motion, tau):
    wrench = np.arange(1.0, 7.0)
    expected = tau - robot.jacobian(motion[0]).T @ wrench
    same(robot.inverse_dynamics(*motion, external_wrench=wrench), expected)
    loaded = robot.with_payload(2.0, (0.0, 0.0, 0.1))
    weight = np.array([0.0, 0.0, -9.81 * 2.0])
    T = robot.forward_kinematics(motion[0])
    moment = np.cross(T[:3, :3] @ [0.0, 0.0, 0.1], weight)
    held = loaded.gravity_vector(motion[0]) - robot.gravity_vector(motion[0])
    same(held, -robot.jacobian(motion[0]).T @ [*weight, *moment])
    fixed = robot.with_locked({robot.joint_names[0]: motion[0][0]})
    still = [motion[0], *(np.concatenate([[0.0], v[1:]]) for v in motion[1:])]
    found = fixed.inverse_dynamics(*(v[1:] for v in motion))
    same(found, robot.inverse_dynamics(*still)[1:])
    passive = next(joint.name for joint in robot.model.joints if not joint.actuated)
    with pytest.raises(LoopError, match="lock an actuated joint instead"):
        robot.with_locked({passive: 0.1})


def test_exports_bridges_and_sweeps(robot, motion, tau, tmp_path):
    robot.export(tmp_path, "python")
    (file,) = tmp_path.glob("*.py")
    spec = importlib.util.spec_from_file_location("exported", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    same(module.inverse_dynamics(*motion), tau)
    robot.export(tmp_path / "c", "c")
    (source,) = (tmp_path / "c").glob("*.c")
    tested = source.read_text().partition("_SELFTEST")[2]
    assert "NAN" not in tested  # it is where loops can be closed
    if importlib.util.find_spec("casadi"):
        found = robot.casadi("inverse_dynamics")(*motion)
        same(np.array(found).ravel(), tau)
    rows = {name: np.array([v, v]) for name, v in zip(("q", "qd", "qdd"), motion, strict=True)}
    swept = armdyn.sweep(robot, "inverse_dynamics", rows)
    same(swept.extremes.max, tau)
    still = armdyn.sweep(robot, "gravity_vector", armdyn.Grid())  # where the robot is assembled
    same(still.extremes.max, robot.gravity_vector(robot.start))
    robot.save(tmp_path / "again.toml")
    same(armdyn.load(tmp_path / "again.toml").inverse_dynamics(*motion), tau)


def test_terms_add_up_over_the_workspace_that_can_be_closed(robot):
    found = armdyn.terms(robot, armdyn.Workspace(samples=50))
    assert found.residual < 1e-9


def test_observers_see_no_contact_where_there_is_none(robot):
    run = armdyn.simulate(robot, robot.start, np.zeros(robot.n), 0.02)
    seen = armdyn.Observer(robot, gain=50.0).run(run.t, run.q, run.qd, run.tau)
    assert np.abs(seen.torque).max() < 1e-2 * np.abs(robot.gravity_vector(robot.start)).max()


def test_what_has_no_loops_refuses_them(robot, tmp_path):
    with pytest.raises(LoopError, match="why elements vanish is told of robots without loops"):
        structure(robot)
    with pytest.raises(WriteError, match="URDF has no loops; save it as .toml"):
        robot.save(tmp_path / "robot.urdf")
    with pytest.raises(ArmdynError, match="URDF has no loops"):
        armdyn.compare(robot)
    assert not list(tmp_path.iterdir())
