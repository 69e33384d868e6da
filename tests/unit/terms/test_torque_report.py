import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynWarning, TrajectoryError
from armdyn.io.csv.trajectory import SampledMotion
from armdyn.quantities.formulations import FORMULATIONS
from armdyn.study.terms.torques import CHUNK, torque_report
from support.loops import FIVE_BAR


def motion(n: int, rows: int = 50) -> SampledMotion:
    t = np.linspace(0.0, 2.0, rows)
    rate = np.linspace(1.0, 2.0, n)
    angle = t[:, None] * rate
    return SampledMotion(t, np.sin(angle), rate * np.cos(angle), -(rate**2) * np.sin(angle))


def rubbing() -> armdyn.Robot:
    """Three joints with friction, without rotors."""
    friction = {f"joint{i}.viscous": 0.1 * i for i in (1, 2, 3)}
    return armdyn.load("saha_3r").with_parameters(friction)


@pytest.fixture(scope="module")
def puma() -> armdyn.Robot:
    return armdyn.load("puma560")


@pytest.mark.slow
@pytest.mark.parametrize("friction", [True, False])
def test_the_total_is_the_inverse_dynamics_and_the_sum_of_the_terms(puma, friction):
    move = motion(6, CHUNK + 7)
    counted = []
    report = torque_report(puma, move, friction=friction, progress=counted.append)
    expected = puma.inverse_dynamics(move.q, move.qd, move.qdd, friction=friction)
    np.testing.assert_allclose(report.total, expected, atol=1e-12)
    assert report.residual < 1e-10
    assert sum(counted) == len(move)
    assert ("coulomb" in report.acting) == friction
    assert "external" in report.terms
    assert "external" not in report.acting


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_every_formulation_gives_the_sum_of_the_terms(puma, formulation):
    report = torque_report(puma, motion(6, 5), formulation=formulation)
    assert report.formulation == formulation
    assert report.residual < 1e-9


def test_peak_and_rms_are_those_of_a_sine():
    # a pendulum without gravity under q = sin t needs -I sin t; over whole periods RMS = I/√2
    bar = dict(joint="revolute", mass=1.0, inertia=(0, 0, 2.0), inertia_about="origin")
    robot = armdyn.from_dh([bar], gravity=(0, 0, 0), physical="ignore")
    t = np.linspace(0, 4 * np.pi, 2001)
    q = np.sin(t)[:, None]
    report = torque_report(robot, SampledMotion(t, q, np.cos(t)[:, None], -q))
    (joint,) = report.data()["joints"]
    assert joint["unit"] == "N·m"
    assert abs(joint["peak"]) == pytest.approx(2.0, rel=1e-5)
    assert joint["rms"] == pytest.approx(np.sqrt(2.0), rel=1e-5)
    assert joint["terms"]["inertial"]["rms"] == pytest.approx(joint["rms"])
    assert np.sin(joint["peak_time"]) == pytest.approx(-joint["peak"] / 2.0)


def test_rms_weighs_by_time_and_not_by_sample():
    robot = armdyn.from_dh([dict(joint="prismatic", mass=1.0)], gravity=(0, 0, 0))
    even, uneven = np.linspace(0, 1, 400), np.linspace(0, 1, 400) ** 3
    means = []
    for t in (even, uneven):
        qdd = t[:, None]
        report = torque_report(robot, SampledMotion(t, qdd**3 / 6, qdd**2 / 2, qdd))
        means.append(report.data()["joints"][0]["rms"])
    assert means == pytest.approx([np.sqrt(1 / 3)] * 2, rel=1e-4)


def test_one_instant_is_a_report_too(puma):
    report = torque_report(puma, motion(6, 1))
    for joint, total in zip(report.data()["joints"], report.total[0], strict=True):
        assert (joint["peak"], joint["rms"]) == (total, abs(total))


@pytest.mark.slow
def test_the_columns_hold_every_term_of_every_joint():
    report = torque_report(armdyn.load("stanford"), motion(6, 3))
    table = report.columns()
    assert list(table)[:7] == ["t", *(f"tau{i}" for i in range(1, 7))]
    terms = sum(table[f"{name}3"] for name in report.terms)
    np.testing.assert_allclose(terms, table["tau3"], atol=1e-10)
    assert report.units == ("N·m", "N·m", "N", "N·m", "N·m", "N·m")


def test_a_trajectory_for_another_robot_is_refused(puma):
    message = f"moves 2 joints, but {puma.name!r} has 6: joint1, joint2"
    with pytest.raises(TrajectoryError, match=message):
        torque_report(puma, motion(2))


@pytest.mark.slow
def test_reactions_are_those_of_the_robot_and_the_largest_are_told():
    robot, move = rubbing(), motion(3)
    report = torque_report(robot, move, reactions=True)
    expected = robot.reactions(move.q, move.qd, move.qdd, base_wrench=True)
    assert np.array_equal(report.reactions.world, expected)
    columns = report.columns()
    assert np.array_equal(columns["ny2"], expected[:, 2, 4])
    assert np.array_equal(columns["fx0"], expected[:, 0, 0])
    ground, first, second, _ = report.data()["reactions"]
    assert (ground["joint"], ground["link"]) == ("ground", robot.model.base_link.name)
    assert first["link"] == robot.model.links[0].name
    forces = np.linalg.norm(expected[:, 2, :3], axis=-1)
    assert second["force"]["peak"] == forces.max()
    assert second["force"]["peak_time"] == move.t[forces.argmax()]
    axial, radial, tilting, twisting = np.moveaxis(report.reactions.parts, -1, 0)
    sizes = report.reactions.sizes
    np.testing.assert_allclose(np.hypot(axial, radial), sizes[..., 0], rtol=1e-12)
    np.testing.assert_allclose(np.hypot(tilting, twisting), sizes[..., 1], rtol=1e-12)
    no_friction = robot.inverse_dynamics(move.q, move.qd, move.qdd, friction=False)
    np.testing.assert_allclose(
        twisting[:, 1:], no_friction, rtol=1e-12, atol=1e-12
    )  # no rotors here
    assert torque_report(robot, move).data()["reactions"] == []
    assert "fx1" not in torque_report(robot, move).columns()


@pytest.mark.slow
def test_a_reduced_set_of_inertias_has_no_forces_in_the_joints(puma):
    with pytest.warns(ArmdynWarning, match="reduced set, which is right in torques"):
        torque_report(puma, motion(6, 3), reactions=True)


@pytest.mark.slow
def test_a_wrench_and_a_moving_base_are_terms_of_the_torque():
    robot, move = rubbing(), motion(3)
    pull = np.linspace(0, 1, 50)[:, None] * [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]
    turning = np.outer(np.sin(move.t), [0, 0, 1.0])
    base = armdyn.BaseMotion(angular_velocity=turning, linear_acceleration=(0.5, 0, 0))
    given = {"external_wrench": pull, "wrench_frame": "tool", "base_motion": base}
    report = torque_report(robot, move, **given, reactions=True)
    state = move.q, move.qd, move.qdd
    np.testing.assert_allclose(report.total, robot.inverse_dynamics(*state, **given), rtol=1e-12)
    assert report.residual < 1e-12 * np.abs(report.total).max()
    assert {"external", "base"} <= set(report.acting)
    expected = robot.reactions(*state, base_wrench=True, **given)
    np.testing.assert_allclose(report.reactions.world, expected, rtol=1e-12)
    moving = lambda t: armdyn.BaseMotion(  # noqa: E731
        angular_velocity=(0, 0, np.sin(t)), linear_acceleration=(0.5, 0, 0)
    )
    for same in (moving, (move.t, base)):
        again = torque_report(robot, move, **(given | {"base_motion": same}))
        np.testing.assert_allclose(again.total, report.total, rtol=1e-12)
    with pytest.raises(
        armdyn.errors.ShapeError, match="wrong shape, \\(7,\\).*each of the 50 times"
    ):
        torque_report(robot, move, base_motion=armdyn.BaseMotion(angular_velocity=np.ones((7, 3))))
    with pytest.raises(TrajectoryError, match="external_wrench: expected 6 finite numbers"):
        torque_report(robot, move, external_wrench=np.ones((4, 6)))


def test_the_hand_is_in_the_table():
    robot, move = rubbing(), motion(3)
    report = torque_report(robot, move)
    table, hand = report.columns(), report.hand
    np.testing.assert_array_equal(table["hand_y"], robot.forward_kinematics(move.q)[:, 1, 3])
    np.testing.assert_array_equal(table["hand_wz"], hand.velocity[:, 5])
    speed = np.linalg.norm(hand.velocity[:, :3], axis=-1)
    assert report.data()["hand"]["linear_speed"]["peak"] == speed.max()


@pytest.mark.slow
def test_links_of_a_loop_have_their_rows_and_cut_joints_none(tmp_path):
    (tmp_path / "five_bar.toml").write_text(FIVE_BAR)
    robot = armdyn.load(tmp_path / "five_bar.toml")
    t = np.linspace(0.0, 0.5, 3)
    q = robot.model.assembly[list(robot.model.independent)] + 0.02 * t[:, None]
    move = SampledMotion(t, q, np.full(q.shape, 0.02), np.zeros(q.shape))
    report = torque_report(robot, move, reactions=True)
    expected = robot.reactions(q, move.qd, move.qdd, base_wrench=True)
    assert expected.shape == (3, 6, 6)
    np.testing.assert_array_equal(report.reactions.world, expected[:, :-1])
