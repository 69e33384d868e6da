"""What arguments may be, from the first value that is refused on."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import ModelError, ShapeError, SimulationError, TrajectoryError
from armdyn.simulation.checks import (
    LIMIT_ROUNDING,
    check_each,
    check_increasing,
    check_limit,
    check_point,
    check_positive,
    check_range,
    check_rate,
    floats,
)
from armdyn.simulation.simulator import FARTHEST_START, LEAST_RTOL, _check_settings, _check_start
from support.simulation_laws import planar

ROBOT = planar({"limits": [-1, 2]}, {"limits": [-0.5, 0.5]})


def test_configurations_have_the_joints_of_their_robot_or_one_at_least():
    for joints in (ROBOT, 2, None):
        np.testing.assert_array_equal(check_point("q", [1, 2], joints), [1.0, 2.0])
        assert check_point("q", [[1, 2], [3, 4]], joints, many=True).shape == (2, 2)
        assert not check_point("q", [1, 2], joints).flags.writeable
    for given, joints, many in (
        ([1, 2, 3], ROBOT, False),
        ([1, 2, 3], 2, False),
        ([[1, 2], [3, 4]], 2, False),
        ([1, 2], 2, True),
        ([[1, 2]], 2, True),
        (np.zeros((2, 2, 2)), 2, True),
        ([], None, False),
        (1.0, None, False),
    ):
        with pytest.raises(ShapeError, match="q: "):
            check_point("q", given, joints, many)
    with pytest.raises(TrajectoryError, match="q: expected finite numbers"):
        check_point("q", [1, np.inf], 2)
    with pytest.raises(ModelError, match="expected a Robot"):
        check_point("q", [1, 2], -1)


def test_one_number_is_that_of_all_joints():
    np.testing.assert_array_equal(check_rate("v", 0.5, 3), [0.5] * 3)
    np.testing.assert_array_equal(check_rate("v", [1, -2, 0], 3), [1, -2, 0])
    np.testing.assert_array_equal(check_limit("v", None, 2), [np.inf, np.inf])
    np.testing.assert_array_equal(check_limit("v", [1, np.inf], 2), [1, np.inf])
    np.testing.assert_array_equal(check_each("k", 2, 3, ModelError), [2.0] * 3)
    np.testing.assert_array_equal(check_each("k", [2], 3, ModelError), [2.0] * 3)
    np.testing.assert_array_equal(check_each("k", [0, 1], 2, ModelError, zero=True), [0, 1])
    for wrong in (0, -1, [1, 2, 3], True, "a", [[1, 2]], np.inf, [1, np.nan]):
        with pytest.raises(
            ModelError, match=r"k: expected a number that is positive, or 2 .* \[s\]"
        ):
            check_each("k", wrong, 2, ModelError, "s")
    with pytest.raises(ModelError, match="not negative, or 2 of them, one for each joint or dir"):
        check_each("k", -1e-9, 2, ModelError, zero=True)
    with pytest.raises(ShapeError, match=r"v: expected a number or shape \(2,\)"):
        check_rate("v", [[1, 2], [3, 4]], 2)
    with pytest.raises(TrajectoryError, match="v: a limit must be positive, got .* for none"):
        check_limit("v", [1, 0], 2)


def test_times_increase_from_row_to_row():
    np.testing.assert_array_equal(check_increasing("t", [-1, 0, 5], ModelError), [-1, 0, 5])
    np.testing.assert_array_equal(check_increasing("t", [3], ModelError), [3])
    for times, words in (
        ([0, 1, 1, 2], "time stands still at row 2, from 1 to 1 s"),
        ([0, 1, 0.5], "time goes backwards at row 2, from 1 to 0.5 s"),
        ([], "expected finite times"),
        ([[0, 1]], "expected finite times"),
        (2.0, "expected finite times"),
    ):
        with pytest.raises(ModelError, match=words):
            check_increasing("t", times, ModelError)


def test_numbers_are_numbers():
    assert check_positive("d", np.float32(0.5)) == 0.5
    for wrong in (0, -1, np.inf, np.nan, True, "1", None, [1, 2]):
        with pytest.raises(TrajectoryError, match=r"d: expected a positive number \[s\]"):
            check_positive("d", wrong)
    for odd in ("a", None, [1, [2]], np.ma.array([1.0, 2.0], mask=[0, 1])):
        assert np.isnan(floats(odd)).all()
    np.testing.assert_array_equal(floats([1, 2]), [1.0, 2.0])


def test_a_range_may_touch_its_limits_and_pass_them_by_rounding():
    lower, upper = ROBOT.limits.T
    slack = 0.5 * LIMIT_ROUNDING
    check_range(ROBOT, lambda: (lower - slack, upper + slack))
    check_range(None, lambda: (lower - 1, upper + 1))
    for change in (-1e-9, 0.0), (0.0, 1e-9):
        for j in range(2):
            reach = lower + change[0] * np.eye(2)[j], upper + change[1] * np.eye(2)[j]
            with pytest.raises(TrajectoryError, match=f"'joint{j + 1}' would go .* by 1e-09"):
                check_range(ROBOT, lambda reach=reach: reach)


def test_settings_may_be_at_their_bounds():
    _check_settings(1e-9, None, True, True, 1.0, LEAST_RTOL, 1e-300)
    _check_settings(1e9, print, False, False, 0.0, 0.999, 1e300)
    usual = {"friction": True, "stops": True, "bounce": 0.5, "rtol": 1e-9, "atol": 1e-9}
    for change, words in (
        ({"bounce": 1.001}, "bounce: expected a number from 0 to 1"),
        ({"bounce": -1e-9}, "bounce: expected a number from 0 to 1"),
        ({"stops": False}, "bounce: joints come back from stops; ask for stops as well"),
        ({"rtol": 0.9 * LEAST_RTOL}, "rtol: expected a number from 1e-13 to 1"),
        ({"rtol": 1.0}, "rtol: expected"),
        ({"atol": 0.0}, "atol: expected a positive number"),
        ({"atol": np.inf}, "atol: expected a positive number"),
        ({"progress": 3}, "progress: expected a function of the time"),
    ):
        with pytest.raises(SimulationError, match=words):
            _check_settings(**{"duration": 1.0, "progress": None} | usual | change)


def test_a_start_may_be_far_and_at_its_stops():
    far = np.full(2, FARTHEST_START)
    q, qd = _check_start(ROBOT, -far, far, False)
    np.testing.assert_array_equal([q, qd], [-far, far])
    q, qd = _check_start(ROBOT, ROBOT.limits[:, 0], None, True)
    assert not qd.any()
    _check_start(ROBOT, ROBOT.limits[:, 1], None, True)
    many = np.zeros((3, 2))
    many[1, 1] = -1.01 * FARTHEST_START
    with pytest.raises(SimulationError, match="qd0: joint 'joint2' starts at a size of 1.01e.06"):
        _check_start(ROBOT, 0 * many, many, False)
    for j, value in ((0, -1.001), (0, 2.001), (1, 0.501)):
        start = np.zeros((3, 2))
        start[2, j] = value
        with pytest.raises(
            SimulationError, match=f"joint 'joint{j + 1}' starts outside its limits"
        ):
            _check_start(ROBOT, start, None, True)
    assert isinstance(ROBOT, armdyn.Robot)
