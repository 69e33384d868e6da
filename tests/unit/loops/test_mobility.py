"""Which loops can move: as their ideal geometry does, where numbers are rounded."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import LoopError, SingularityError
from armdyn.loops import loop_coordinates
from armdyn.loops.closure import closure_of
from armdyn.loops.coordinates import coordinates_of
from armdyn.loops.loop_coordinates import LoopCoordinates
from armdyn.loops.newton import TAKEN, pivots, row_weights, scaled_matrix
from armdyn.loops.rows import residuals
from armdyn.model.transform import rotation_from_rpy, transform
from support.random_loops import ROBOTS, RandomRobot, planar, scaled, spatial, turned


def moves(model):
    """Whether loops move, and nothing is missed."""
    try:
        return not closure_of(model).gap
    except LoopError:
        return False


def four_bar(seed, tilt=0.0):
    """A four-bar in a plane that lies anywhere, closed by a hinge; one axis may be tilted."""
    robot = planar(seed, kinds=("RR", "R"), actuated=((0,), ()))
    last = robot.connections[1]
    turn = transform(rotation_from_rpy((tilt, 0.0, 0.0)))
    robot.connections[1] = type(last)(
        **{name: getattr(last, name) for name in last.__dataclass_fields__}
        | {"placement": last.placement @ turn}
    )
    return robot.model()


@pytest.mark.parametrize("seed", [2, 3, 4, 5])
def test_a_loop_in_any_plane_moves(seed):
    assert moves(four_bar(seed))


@pytest.mark.parametrize("tilt", [1e-6, 1e-8])
def test_a_loop_with_an_axis_that_is_tilted_by_rounding_moves_as_one_without(tilt):
    """It is as far from its ideal as the tilt, and what it misses is told."""
    ideal, tilted = closure_of(four_bar(2)), closure_of(four_bar(2, tilt))
    assert not ideal.gap
    assert "loop 'cut' of 'random' closes to " in tilted.gap
    assert tilted.iteration is not None
    assert sum(len(loop.rows) for loop in tilted.iteration.whole.loops) == 2
    q = ideal.start + np.linspace(-0.4, 0.4, 9)[:, None]
    here, there = (LoopCoordinates(closure).at(q) for closure in (ideal, tilted))
    np.testing.assert_allclose(here.q, there.q, atol=20 * tilt)
    np.testing.assert_allclose(here.G, there.G, atol=100 * tilt)
    weights = row_weights(tilted.model, tilted.assembly)
    missed = np.abs(weights * residuals(tilted.model, there.q)).max()
    assert 0.05 * tilt < missed < 5 * tilt


@pytest.mark.parametrize("tilt", [1e-4, 1e-3, 1e-2])
def test_a_loop_with_a_tilted_axis_does_not_move(tilt):
    with pytest.raises(LoopError, match="loop 'cut' of 'random' cannot move"):
        closure_of(four_bar(2, tilt))


def spherical(seed, shift=0.0):
    """Three joints and a hinge whose axes meet in one point, or one of which misses it."""
    robot = RandomRobot(seed)
    rng = robot.rng
    centre = rng.uniform(-0.5, 0.5, 3)
    parent, place = "base", transform(None, centre)
    for k in range(3):
        turn = transform(rotation_from_rpy(rng.uniform(-1.2, 1.2, 3)))
        shifted = transform(None, (shift * (k == 1), 0.0, 0.0))
        out = turned(0.0, rng.uniform(0.1, 0.3))  # along the axis, where its link begins
        parent = robot.add(f"s{k}", parent, place @ turn @ shifted @ out, passive=k > 0, at=0.3 * k)
        place = np.linalg.inv(out)
    end = place @ transform(rotation_from_rpy(rng.uniform(-1.2, 1.2, 3)))
    robot.close("hinge", "revolute", parent, "base", end, turned(0.4, 0.0))
    return robot.model()


def test_axes_that_meet_in_one_point_make_a_loop_that_moves():
    """Three rows of five follow from the others, and no two axes are parallel."""
    assert moves(spherical(1))
    assert closure_of(spherical(1)).iteration is not None
    assert closure_of(spherical(1, 1e-8)).gap
    with pytest.raises(LoopError, match="cannot move"):
        closure_of(spherical(1, 1e-3))


def test_sides_of_one_length_move_but_for_rounding():
    """A third crank between two is redundant if its length is theirs, which floats know nearly."""
    for error in (0.0, 1e-8, 1e-4):
        robot, z = RandomRobot(0), transform(rotation_from_rpy((0.3, 0.2, 0.1)))
        crank = transform(None, (0.3, 0.0, 0.0))
        robot.add("a", "base", z, passive=False, at=0.7)
        robot.add("rod", "a", crank, at=-0.7)
        for k, x in enumerate((0.4, 0.7)):
            robot.add(f"b{k}", "base", z @ transform(None, (x, 0.0, 0.0)), at=0.7)
            on_rod = transform(None, (x + error * k, 0.0, 0.0))
            robot.close(f"pin{k}", "revolute", "rod", f"b{k}", on_rod, turned(0.1, 0.0))
        model = robot.model()
        if error < TAKEN:
            assert bool(closure_of(model).gap) is bool(error)
            full = coordinates_of(model).positions(np.array([1.1]))
            np.testing.assert_allclose(full, [1.1, -1.1, 1.1, 1.1], atol=1e-13 + 10 * error)
            continue
        with pytest.raises(LoopError, match="the loops 'pin0', 'pin1' of 'random' cannot move"):
            closure_of(model)


@pytest.mark.parametrize(
    ("kinds", "cut"), [("RRRR", "planar"), ("RRPRP", "cylindrical"), ("RHRR", "spherical")]
)
def test_loops_in_space_move_or_do_not(kinds, cut):
    assert moves(spatial(1, kinds, (0,), cut).model())
    assert not moves(spatial(1, kinds, (0, 1), cut).model())


def test_an_assembly_around_which_nothing_can_be_closed_is_named(monkeypatch):
    closure = closure_of(four_bar(2))
    monkeypatch.setattr(loop_coordinates, "LEAST_DETERMINANT", 100.0)
    with pytest.raises(LoopError, match="loops 'cut' of 'random' can hardly be closed around"):
        LoopCoordinates(closure).drawn(np.random.default_rng(0), 3)


@pytest.mark.slow
def test_a_singular_configuration_is_named_where_inertias_grow_without_bound():
    """So near to it the mass matrix cannot be inverted, and no mass is the cause."""
    robot = armdyn.load("five_bar")
    ends, share = (robot.start, np.array([1.0068, 1.8752])), [0.0, 1.0]
    for _ in range(60):
        middle = sum(share) / 2
        closed = np.isfinite(robot._at.at(ends[0] + middle * (ends[1] - ends[0])).q).all()
        share[0 if closed else 1] = middle
    near = ends[0] + (share[0] - 1e-14) * (ends[1] - ends[0])
    assert 1e-9 < robot.singularity(near).type2[0] < 1e-6
    with pytest.raises(SingularityError, match=r"loop 'pin' of 'five_bar' is singular \(type 2\)"):
        robot.forward_dynamics(near, [0.1, 0.2], [1.0, 2.0])


@pytest.mark.parametrize(
    "kind", ["RSSR", "RCCC", "rod", "screw", "cut slide", "cut plane", "mixed"]
)
def test_loops_with_cuts_of_every_kind_move(kind):
    assert moves(ROBOTS[kind](0).model())


def test_a_rod_moves_and_a_second_one_of_another_length_holds_it():
    robot = ROBOTS["rod"](1)
    assert moves(robot.model())
    _, kind, a, b, on_a, free, length = robot.cuts[0]
    moved = on_a @ transform(None, (0.1, 0.2, 0.3))
    robot.close("second", kind, a, b, moved, free, length)
    assert not moves(robot.model())


@pytest.mark.parametrize("kind", ["RSSR", "rod", "five-bar", "cut slide", "mixed"])
def test_rows_without_units_do_not_know_the_size_of_a_robot(kind):
    """A robot that is seven times as large has the same matrix; slides are counted in sizes."""
    model = ROBOTS[kind](0).model()
    large = scaled(model, 7.0)
    q = closure_of(model).assembly
    slides = np.array([joint.type.slides for joint in model.joints])
    there = np.where(slides, 7.0 * q, q)
    np.testing.assert_allclose(scaled_matrix(large, there), scaled_matrix(model, q), atol=1e-12)


def test_pivots_are_a_basis_in_every_state_and_take_the_first_group_first():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(5, 4, 9)) * rng.uniform(0.1, 10, 9)
    A[:, :, 1] = 3 * A[:, :, 0]
    found = pivots(A, 4, [(0, 1, 2), range(9)])
    assert len(set(found)) == 4
    assert set(found) & {0, 1}
    assert not {0, 1} <= set(found)
    assert 2 in found
    assert min(np.linalg.svd(a[:, found])[1][-1] for a in A) > 1e-3
    worst = A.copy()
    worst[3, :, 2] = 0.0  # in one state it is none
    assert 2 not in pivots(worst, 4, [(0, 1, 2), range(9)])
