"""Several arms on one task."""

import json

import numpy as np
import pytest

import armdyn
from armdyn.errors import ModelError, TrajectoryError, UnknownNameError
from armdyn.io.csv.trajectory import SampledMotion
from armdyn.simulation import quintic
from armdyn.study.terms.rank import _coupling

BAR = dict(joint="revolute", a=0.5, mass=2.0, com=(-0.25, 0, 0), inertia=(0.01, 0.05, 0.05))
TASK = quintic([0.0, 0.5], [1.0, -1.0], 1.0)


@pytest.fixture(scope="module")
def arms() -> dict[str, armdyn.Robot]:
    light = armdyn.from_dh([BAR, BAR], gravity=(0, -9.81, 0), name="light")
    return {"loaded": light.with_payload(3.0), "light": light}


@pytest.fixture(scope="module")
def ranking(arms):
    return armdyn.rank(arms, TASK)


def test_measures_are_those_of_the_torques_and_of_the_mass_matrix(arms, ranking):
    t = np.linspace(0, 1, 1001)
    q, qd, qdd = TASK(t)
    weights = SampledMotion(t, q, qd, qdd).shares
    for found in ranking.arms:
        robot = arms[found.name]
        tau, M = robot.inverse_dynamics(q, qd, qdd), robot.mass_matrix(q)
        power = np.abs(tau * qd).sum(1)
        assert found.peak_torque == pytest.approx(np.abs(tau).max())
        assert found.rms_torque**2 == pytest.approx(weights @ (tau**2).sum(1))
        assert found.peak_power == pytest.approx(power.max())
        assert found.mean_power == pytest.approx(weights @ power)
        assert found.condition == pytest.approx(np.linalg.cond(M).max())
        assert found.operations == armdyn.count_operations(robot).total
        assert found.peak_force == found.rms_force == 0
        assert np.isnan(found.load)


def test_the_arm_that_needs_least_is_the_first(arms, ranking):
    assert ranking.best == "light"
    assert [arm.name for arm in ranking.arms] == ["light", "loaded"]
    assert armdyn.rank(arms, TASK, by="coupling").by == "coupling"
    assert ranking.measures == (
        "peak_torque", "rms_torque", "peak_power", "mean_power", "coupling", "condition",
        "operations",
    )  # fmt: skip


def test_coupling_is_zero_for_a_diagonal_matrix_and_knows_no_units():
    M = np.array([[4.0, 1.0], [1.0, 1.0]])
    scale = np.diag([1.0, 1000.0])
    both = _coupling(np.stack([M, scale @ M @ scale, np.diag([1.0, 5.0])]))
    np.testing.assert_allclose(both, [1 / 3, 1 / 3, 0])


def test_equal_names_are_numbered(arms):
    two = armdyn.rank([arms["light"]] * 2, ([0.1, 0.2],) * 3)
    assert [arm.name for arm in two.arms] == ["light", "light (2)"]


def test_arms_that_slide_are_ranked_by_forces():
    slides = [armdyn.from_dh([dict(joint="prismatic", mass=m)], name=f"{m} kg") for m in (3.0, 2.0)]
    found = armdyn.rank(slides, ([0.1], [0.0], [1.0]))
    assert found.by == "peak_force"
    assert found.best == "2.0 kg"
    assert "peak_torque" not in found.measures


def test_arms_with_other_joints_are_refused(arms):
    slide = armdyn.from_dh([BAR, BAR | dict(joint="prismatic")], name="slide")
    with pytest.raises(
        ModelError, match=r"'slide' has 2 joints \(revolute, prismatic\) but 'light'"
    ):
        armdyn.rank([arms["light"], slide], TASK)
    with pytest.raises(ModelError, match="a task is a motion of the joints"):
        armdyn.rank([arms["light"], armdyn.from_dh([BAR])], TASK)


@pytest.mark.parametrize(
    ("robots", "message"),
    [([], "at least one robot"), ("puma560", "expected a list"), ([1], "expected a Robot")],
)
def test_what_is_no_list_of_robots_is_refused(robots, message):
    with pytest.raises(ModelError, match=message):
        armdyn.rank(robots, TASK)


def test_bad_tasks_and_measures_are_refused(arms):
    with pytest.raises(UnknownNameError, match="measure to rank by"):
        armdyn.rank(arms, TASK, by="price")
    narrow = armdyn.from_dh([BAR | dict(limits=(-0.1, 0.1)), BAR], name="narrow")
    with pytest.raises(TrajectoryError, match="leaves the limits of 'narrow'"):
        armdyn.rank([arms["light"], narrow], TASK)


def test_the_report_and_the_picture(ranking, tmp_path):
    data = json.loads(ranking.json())
    assert [arm["name"] for arm in data["arms"]] == ["light", "loaded"]
    assert data["arms"][0]["load"] is None
    assert "peak torque [N·m]" in ranking.report()
    ranking.plot(tmp_path / "rank.svg")
    assert (tmp_path / "rank.svg").stat().st_size > 5000
