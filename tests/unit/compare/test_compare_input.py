"""Libraries that are missing or refuse, and questions that cannot be answered."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import ModelError, ShapeError, TrajectoryError, UnknownNameError, UrdfError
from armdyn.study.compare.peers import Answer
from armdyn.study.states import Workspace, states_of
from support.comparison_robots import ONE_JOINT
from support.paths import ROBOTS


def test_a_library_that_is_not_installed_is_a_row(file, fake):
    fake(None, module="no_such_library_anywhere")
    report = armdyn.compare(file(ONE_JOINT), ["fake", "mujoco"])
    assert report["fake"].status == "not installed"
    assert "pip install" in report["fake"].explanation
    assert report.exit_code == 0
    assert armdyn.compare(file(ONE_JOINT), ["fake"]).exit_code == 2


def test_a_library_that_refuses_the_file_gives_its_reason(file, fake):
    def solve(module, case):
        raise RuntimeError("no such  thing\nas a hinge")

    fake(solve)
    report = armdyn.compare(file(ONE_JOINT), ["fake"])
    assert report["fake"].explanation == "Fake refuses it: no such thing as a hinge"
    assert (report["fake"].status, report.exit_code) == ("refused", 1)


def test_a_reason_has_no_path_of_a_temporary_file(file, fake):
    def solve(_, case):
        raise RuntimeError(f"{case.file}:3: no such element")

    fake(solve)
    explanation = armdyn.compare(file(ONE_JOINT), ["fake"])["fake"].explanation
    assert explanation == "Fake refuses it: robot.urdf:3: no such element"


def test_commands_in_a_file_are_not_executed(file):
    text = ONE_JOINT.replace('"arm"', '"$(eval 1 + 1)"')
    row = armdyn.compare(file(text), ["rtb"])["rtb"]
    assert (row.status, "a command of xacro" in row.explanation) == ("refused", True)


@pytest.mark.parametrize(
    ("solve", "reason"),
    [
        (lambda _, case: Answer(case.places(["elbow"])), "it has no joint 'hinge'"),
        (lambda _, case: Answer(case.states.q * np.nan), "its torques are not finite numbers"),
    ],
)
def test_an_answer_that_is_none_is_refused(file, fake, solve, reason):
    fake(solve)
    assert reason in armdyn.compare(file(ONE_JOINT), ["fake"])["fake"].explanation


def test_without_a_choice_every_library_has_a_row(file):
    assert [row.library for row in armdyn.compare(file(ONE_JOINT)).rows] == [
        "pinocchio",
        "mujoco",
        "drake",
        "rtb",
    ]


def test_random_states_keep_to_the_limits_and_to_the_seed():
    robot = armdyn.load(ROBOTS / "arm.urdf")
    model = robot.model
    seeds = (3, 3, 4)
    states, again, other = (states_of(robot, Workspace(200, seed=seed)) for seed in seeds)
    limits = [model.joints[i].limits for i in model.independent]
    for i, limit in enumerate(limits):
        assert (states.q[:, i] >= limit.lower).all()
        assert (states.q[:, i] <= limit.upper).all()
        assert (np.abs(states.qd[:, i]) <= limit.velocity).all()
    assert np.array_equal(states.qdd, again.qdd)
    assert not np.array_equal(states.qdd, other.qdd)


@pytest.mark.slow
def test_the_state_that_is_shown_gives_the_torque_that_is_shown():
    row = armdyn.compare(ROBOTS / "arm.urdf", ["pinocchio"], seed=5)["pinocchio"]
    robot = armdyn.load(ROBOTS / "arm.urdf")
    joint = robot.joint_names.index(row.joint)
    assert robot.inverse_dynamics(**row.motion)[joint] == pytest.approx(row.here, rel=1e-12)
    assert abs(row.difference) == pytest.approx(max(row.differences), rel=1e-9)
    assert max(row.differences) == row.differences[joint]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"with_": ["pinochio"]}, UnknownNameError, "'pinochio'. Did you mean 'pinocchio'"),
        ({"with_": "mujoco"}, ModelError, r"expected a list of libraries such as \['mujoco'\]"),
        ({"over": 0}, ModelError, "expected a whole number from 1 to 100,000, got 0"),
        ({"over": True}, ModelError, "expected a whole number from 1 to 100,000, got True"),
        ({"over": ([0.0], [1.0])}, TrajectoryError, r"the arrays \(q, qd, qdd\)"),
        ({"over": ([0.0, 1.0], [1.0], [1.0])}, ShapeError, r"q: expected shape \(..., 1\)"),
        ({"over": ([np.nan], [1.0], [1.0])}, TrajectoryError, "numbers that are not finite"),
        ({"over": [np.zeros((0, 1))] * 3}, TrajectoryError, "has no states"),
        ({"over": "nowhere.csv"}, TrajectoryError, "nowhere.csv"),
        ({"seed": -1}, ModelError, "seed: expected a whole number from 0 on, got -1"),
    ],
)
def test_bad_questions_are_refused(file, options, error, message):
    with pytest.raises(error, match=message):
        armdyn.compare(file(ONE_JOINT), **options)


def test_bad_files_are_refused(file):
    with pytest.raises(UrdfError, match="outermost element"):
        armdyn.compare(file("<robt/>"))
    with pytest.raises(UnknownNameError, match="Did you mean 'puma560'"):
        armdyn.compare("pumma560")
