import numpy as np
import pytest

import armdyn
from armdyn.errors import ShapeError, TrajectoryError
from armdyn.simulation.trajectories import quintic, via_points
from support.trajectory_laws import (
    assert_derivatives,
    assert_rests_outside,
    assert_touches,
    assert_vectorised,
)

POINTS = np.array([[0, 0.2, 1], [1, -0.5, 1], [0.4, 1, 1], [-1, 0.3, 1], [-1.2, 0.1, 1]])
TIMES = np.array([0, 0.7, 1.5, 3.1, 3.6])


def test_it_is_a_motion_through_every_point():
    move = via_points(POINTS, times=TIMES)
    np.testing.assert_array_equal(move(TIMES).q, POINTS)
    assert_derivatives(move, TIMES)
    assert_rests_outside(move)
    assert_vectorised(move)
    for t in (0.0, move.duration):
        assert not move(t).qd.any()
        assert not move(t).qdd.any()


def test_four_derivatives_are_continuous_at_the_points():
    move = via_points(POINTS, times=TIMES)
    for order in range(1, 5):
        left = np.polynomial.polynomial.polyder(np.moveaxis(move.pieces, 1, 0), order)
        scale = move.lengths[:-1, None] ** order
        ends = left[:, :-1].sum(0) / scale
        starts = left[0, :-1] / scale
        np.testing.assert_allclose(ends[:-1], starts[1:], rtol=1e-8, atol=1e-8 * np.abs(ends).max())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("acceleration", [None, 0.3, 40.0])
def test_limits_are_kept_and_touched(seed, acceleration):
    rng = np.random.default_rng(seed)
    points, top = rng.normal(size=(6, 4)), rng.uniform(0.5, 2, 4)
    move = via_points(points, velocity=top, acceleration=acceleration)
    speeds, bends = move.peaks()
    bound = np.inf if acceleration is None else acceleration
    assert assert_touches(speeds, top) | assert_touches(bends, bound)
    dense = move(np.linspace(0, move.duration, 5001))
    assert (np.abs(dense.qd) <= top).all()
    assert (np.abs(dense.qdd) <= bound).all()
    np.testing.assert_allclose(move(move.knots).q, points, atol=1e-12)


def test_two_points_are_a_quintic_move():
    limits = {"velocity": 1.3, "acceleration": [2, 1, 3]}
    spline, move = via_points(POINTS[:2], **limits), quintic(*POINTS[:2], **limits)
    assert spline.duration == pytest.approx(move.duration, rel=1e-11)
    t = np.linspace(0, move.duration, 30)
    np.testing.assert_allclose(spline(t).q, move(t).q, atol=1e-10)
    np.testing.assert_allclose(spline(t).qdd, move(t).qdd, atol=1e-9)


def test_a_joint_that_stays_has_rates_of_exactly_zero():
    at = via_points(POINTS, velocity=1)(np.linspace(0, 3, 50))
    assert not at.qd[:, 2].any()


def test_backwards_in_time_is_the_way_back():
    there = via_points(POINTS, times=TIMES)
    back = via_points(POINTS[::-1], times=TIMES[-1] - TIMES[::-1])
    t = np.linspace(0, TIMES[-1], 41)
    np.testing.assert_allclose(there(TIMES[-1] - t).q, back(t).q, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give either the times"),
        ({"times": TIMES, "velocity": 1}, "give either the times"),
        ({"times": [0, 1, 1, 2, 3]}, "times: time stands still at row 2, from 1 to 1 s"),
        ({"times": [1, 2, 3, 4, 5]}, "from 0 on"),
        ({"times": [0, 1, 2, 3, np.nan]}, "finite"),
        ({"velocity": -1}, "limit must be positive"),
        ({"acceleration": np.inf}, "no joint that moves has a finite limit"),
    ],
)
def test_what_cannot_be_is_said(arguments, message):
    with pytest.raises(TrajectoryError, match=message):
        via_points(POINTS, **arguments)


def test_shapes_and_doubles_are_named():
    with pytest.raises(TrajectoryError, match=r"times: expected one for each of 5 points"):
        via_points(POINTS, times=[0, 1])
    with pytest.raises(TrajectoryError, match="times: expected finite times.*got 'now'"):
        via_points(POINTS, times="now")
    with pytest.raises(ShapeError, match="two or more configurations"):
        via_points(POINTS[:1], velocity=1)
    with pytest.raises(TrajectoryError, match="points 2 and 3 are the same"):
        via_points(POINTS[[0, 1, 1, 2]], velocity=1)
    scara = armdyn.load("scara")
    with pytest.raises(TrajectoryError, match="outside its limits"):
        via_points([[0, 0, 0, 0], [0, 0, 0.119, 0], [0, 0, 0, 0.5]], velocity=1, robot=scara)
