"""Approximate models: within their tolerance wherever they are asked, and really shorter."""

import json
import subprocess

import numpy as np
import pytest
from scipy.optimize import minimize

import armdyn
from armdyn.errors import ModelError, TrajectoryError, UnknownNameError
from armdyn.shorten.canonical.frames import canonical
from armdyn.simulation import quintic
from armdyn.study.states import Workspace, fresh_states, states_of
from armdyn.study.terms.dropping import RegroupedModel, greedy
from support.paths import DOCS, EXAMPLES, ROBOTS


@pytest.fixture(scope="module")
def robot() -> armdyn.Robot:
    """Two links, the second with a small first moment along y, friction and a small rotor."""
    bar = dict(joint="revolute", a=0.5, mass=2.0, inertia=(0.01, 0.05, 0.05), viscous=0.5)
    return armdyn.from_dh(
        [
            bar | dict(com=(-0.25, 0, 0), rotor_inertia=1e-4),
            bar | dict(com=(-0.25, 0.001, 0), alpha=0.3, coulomb=1e-3),
        ],
        gravity=(0, -9.81, 0),
        name="nearly planar",
    )


@pytest.fixture(scope="module")
def model(robot):
    return armdyn.reduced(robot, 0.05, Workspace(samples=300))


def random_states(robot, seed, samples=1000):
    states = states_of(robot, Workspace(samples=samples, seed=seed))
    return states.q, states.qd, states.qdd


@pytest.mark.slow
def test_the_error_holds_at_states_that_nobody_has_seen(robot, model):
    state = random_states(robot, seed=99, samples=200_000)
    error = np.abs(model.inverse_dynamics(*state) - robot.inverse_dynamics(*state)).max(0)
    reference = np.array([joint.reference for joint in model.errors])
    assert (error <= model.tolerance * reference).all()
    assert model.error <= model.tolerance
    known = states_of(robot, Workspace(samples=300))
    peaks = np.abs(robot.inverse_dynamics(known.q, known.qd, known.qdd)).max(0)
    np.testing.assert_allclose(reference, peaks)


@pytest.mark.slow
def test_the_worst_state_of_each_joint_is_within_the_tolerance():
    """From the worst of fresh states, gradients of another library find none beyond it."""
    arm = armdyn.load("two_link").with_joint("joint1", viscous=0.05)
    found = armdyn.reduced(arm, 0.05, Workspace(samples=200))
    q, qd, qdd = random_states(arm, seed=5, samples=20_000)
    box = np.concatenate([np.array(arm.model.ranges), *(_sides(v) for v in (qd, qdd))])
    reference = [joint.reference for joint in found.errors]
    for i in range(2):

        def error(x, i=i):
            motion = np.split(x, 3)
            return float(found.inverse_dynamics(*motion)[i] - arm.inverse_dynamics(*motion)[i])

        for sign in (1, -1):
            values = found.inverse_dynamics(q, qd, qdd) - arm.inverse_dynamics(q, qd, qdd)
            start = np.concatenate([v[np.argmax(sign * values[:, i])] for v in (q, qd, qdd)])
            best = minimize(lambda x, s=sign, f=error: -s * f(x), start, bounds=box)
            assert -best.fun <= found.tolerance * reference[i] * (1 + 1e-6)


def _sides(rates):
    most = np.abs(rates).max(axis=0)
    return np.stack([-most, most], axis=-1)


@pytest.mark.slow
def test_terms_that_are_dropped_are_named(tmp_path):
    found = armdyn.reduced(armdyn.load("puma560"), 0.05, EXAMPLES / "puma560_pick.csv")
    assert found.terms
    assert {term.joint for term in found.terms} <= set(range(6))
    assert all(0 < term.share <= 2 * found.tolerance for term in found.terms)
    assert max(found.terms, key=lambda term: term.share).text in found.report()
    assert json.loads(found.json())["terms"][0]["text"] == found.terms[0].text


def test_what_is_told_is_what_is_measured(robot, model):
    known = states_of(robot, Workspace(samples=300))
    other = fresh_states(robot, Workspace(samples=300), known, 0)
    assert not np.isin(known.q, other.q).any()
    for states, field in ((known, "chosen"),):
        motion = states.q, states.qd, states.qdd
        error = np.abs(model.inverse_dynamics(*motion) - robot.inverse_dynamics(*motion)).max(0)
        told = [getattr(joint, field) * joint.reference for joint in model.errors]
        np.testing.assert_allclose(error, told, rtol=1e-9, atol=1e-12)


def test_the_program_is_shorter_and_is_the_one_that_is_compiled(model):
    full, reduced = model.counts
    assert reduced.total < full.total
    kernel = model.kernel.__self__
    assert kernel.operations.total == reduced.total == model.operations.total
    state = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    np.testing.assert_allclose(model.kernel(*state), model.program(*state), rtol=1e-12)


def test_dropped_parameters_are_zero_in_the_robot(robot):
    found = armdyn.reduced(robot, 0.05, Workspace(samples=200), parameters_only=True)
    assert "Ia1" in found.dropped
    assert found.robot.model.joints[0].rotor.reflected == 0
    assert found.robot.model.reduced
    state = random_states(robot, seed=5, samples=20)
    np.testing.assert_allclose(
        found.inverse_dynamics(*state), found.robot.inverse_dynamics(*state), atol=1e-12
    )


def test_effects_of_parameters_are_those_of_models_without_them():
    robot = armdyn.load(ROBOTS / "gripper.urdf")
    regrouped = RegroupedModel.of(robot.model)
    some = tuple(regrouped.droppable())
    states = states_of(robot, Workspace(samples=5))
    motion = states.q, states.qd, states.qdd
    before = robot.inverse_dynamics(*motion, formulation="newton_euler")
    for x, effect in zip(some, regrouped.effects(some, states, True), strict=True):
        fewer = armdyn.Robot(regrouped.without([x]))
        after = fewer.inverse_dynamics(*motion, formulation="newton_euler")
        np.testing.assert_allclose(after - before, effect, atol=1e-12)


@pytest.mark.slow
def test_a_shared_drive_and_a_spring_are_part_of_the_reduced_model(robot):
    """Rotor and friction of a drive act on both joints; small ones are dropped as a joint's are."""
    drive = dict(name="belt", joints={"joint1": 1.0, "joint2": -0.5}, rotor_inertia=0.3)
    spring = dict(name="pull", link="link1", point=(0.0, 0.0, 0.0), stiffness=100.0)
    driven = robot.with_drives([drive | dict(viscous=1.0, coulomb=1e-4)])
    driven = driven.with_springs([spring | dict(other="base", anchor=(0.2, 0.6, 0.0))])
    found = armdyn.reduced(driven, 0.05, Workspace(samples=100))
    state = random_states(driven, seed=7, samples=200)
    error = np.abs(found.inverse_dynamics(*state) - driven.inverse_dynamics(*state)).max(0)
    assert (error <= 1.1 * 0.05 * np.array([joint.reference for joint in found.errors])).all()
    assert "coulomb of belt" in found.dropped
    (left,) = found.robot.model.drives
    assert left.rotor.inertia == 0.3
    assert left.friction.viscous == 1.0


def test_a_point_mass_that_remains_has_no_centre_made_of_rounding():
    """Link 3 of the SCARA is left with its mass alone, which was moved to a canonical frame."""
    scara = RegroupedModel.of(armdyn.load("scara").model)
    assert [x.name for x in scara.droppable() if x.joint == 2] == ["M3"]
    link = canonical(scara.without(())).links[2]
    assert link.M > 0
    assert not link.u.any()
    assert not link.J.any()


def test_greedy_stays_within_the_tolerance():
    effects = (
        np.random.default_rng(0).normal(size=(8, 30, 2)) * np.logspace(-3, 0, 8)[:, None, None]
    )
    start, scale = np.zeros((30, 2)), np.array([1.0, 3.0])
    taken = greedy(start, effects, scale, 0.05)
    assert 0 < len(taken) < 8
    assert np.abs(effects[taken].sum(0) / scale).max() <= 0.05
    assert greedy(start, effects[:0], scale, 0.05) == []


def test_a_motion_is_verified_between_its_instants(robot):
    path = quintic([0.0, 0.0], [1.0, -2.0], 1.0)
    states = states_of(robot, path)
    between = fresh_states(robot, path, states, 0)
    t = 0.5 * (states.t[1:] + states.t[:-1])
    for found, expected in zip((between.q, between.qd, between.qdd), path(t), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)
    alone = states_of(robot, ([0.1, 0.2],) * 3)
    assert len(fresh_states(robot, None, alone, 0)) == 1
    pair = states_of(robot, (np.eye(2),) * 3)
    np.testing.assert_allclose(fresh_states(robot, None, pair, 0).q, [[0.5, 0.5]])


def test_the_c_code_computes_the_reduced_torques(model, tmp_path):
    written = model.export(tmp_path)
    text = (tmp_path / "nearly_planar_reduced.h").read_text()
    assert "reduced to within 5 %" in text
    assert f"{model.operations.mul} multiplications" in text
    source = next(path for path in written.files if path.suffix == ".c")
    program = tmp_path / "selftest"
    macro = "-DNEARLY_PLANAR_REDUCED_SELFTEST"
    subprocess.run(["cc", "-std=c99", macro, source, "-lm", "-o", program], check=True)
    subprocess.run([program], check=True, capture_output=True)


def test_the_report_and_the_picture(model, tmp_path):
    data = json.loads(model.json())
    assert data["operations"]["reduced"]["total"] == model.operations.total
    assert set(data["dropped"]) | set(data["kept"]) >= {"Jxx2", "MX2"}
    assert "not used to choose" in model.report()
    model.plot(tmp_path / "reduced.svg")
    assert (tmp_path / "reduced.svg").stat().st_size > 5000


@pytest.mark.parametrize("tolerance", [0, -1, 1.0, np.nan, np.inf, "1 %"])
def test_a_tolerance_lies_between_0_and_1(robot, tolerance):
    with pytest.raises(ModelError, match="above 0 and below 1"):
        armdyn.reduced(robot, tolerance)


def test_bad_requests_are_refused(robot):
    with pytest.raises(UnknownNameError, match="reference of errors"):
        armdyn.reduced(robot, 0.1, reference="mean")
    with pytest.raises(TrajectoryError, match="expected a motion"):
        armdyn.reduced(robot, 0.1, over=1.0)
    with pytest.raises(ModelError, match="parameters_only"):
        armdyn.reduced(robot, 0.1, ([0.1, 0.2],) * 3, parameters_only="yes")
    with pytest.raises(ModelError, match="expected a Robot"):
        armdyn.reduced("puma560", 0.1)


@pytest.mark.slow
def test_an_arm_that_never_moves_keeps_only_what_holds_it(robot):
    q = np.linspace([0, 0], [1, 1], 20)
    still = np.zeros_like(q)
    found = armdyn.reduced(robot, 0.01, (q, still, still))
    assert "viscous of joint1" in found.dropped
    assert found.operations.total < 0.7 * found.counts[0].total


@pytest.mark.slow
def test_the_page_tells_how_many_operations_remain_of_the_puma():
    page = (DOCS / "reduced.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith("| Puma 560 along the motion"))
    full, *told = (int(cell) for cell in row.split("|")[2:5])
    robot, motion = armdyn.load("puma560"), EXAMPLES / "puma560_pick.csv"
    for tolerance, operations in zip((0.01, 0.05), told, strict=True):
        found = armdyn.reduced(robot, tolerance, motion)
        assert (found.counts[0].total, found.operations.total) == (full, operations)
        assert max(joint.verified for joint in found.errors) <= tolerance
