"""Which loops can move: exactly, where a tolerance of floats would be fooled."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import LoopError, SingularityError
from armdyn.graph.field import number_residue
from armdyn.loops import loop_coordinates
from armdyn.loops.closure import closure_of
from armdyn.loops.exact_motion import (
    PRIMES,
    ExactGeometry,
    moves_exactly,
    series_product,
    sine_and_versine,
    stereographic_axes,
)
from armdyn.loops.loop_coordinates import LoopCoordinates
from armdyn.loops.newton import assembled, size
from armdyn.model.transform import rotation_from_rpy, transform
from support.random_loops import ROBOTS, RandomRobot, planar, spatial, turned


def verdict(model):
    return moves_exactly(model, assembled(model), size(model))


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
    assert verdict(four_bar(seed))
    closure_of(four_bar(seed))


@pytest.mark.parametrize("tilt", [1e-7, 1e-9, 1e-10])
def test_a_loop_with_a_tilted_axis_does_not(tilt):
    """The smallest singular values of its rows are as the tilt."""
    model = four_bar(2, tilt)
    assert verdict(model) is False
    with pytest.raises(LoopError, match="loop 'cut' of 'random' cannot move"):
        closure_of(model)


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
    assert verdict(spherical(1))
    assert closure_of(spherical(1)).iteration is not None
    assert verdict(spherical(1, 1e-9)) is False
    with pytest.raises(LoopError, match="cannot move"):
        closure_of(spherical(1, 1e-9))


def test_sides_of_one_length_move_but_for_rounding():
    """A third crank between two is redundant if its length is theirs, which floats know nearly."""
    for error in (0.0, 1e-9):
        robot, z = RandomRobot(0), transform(rotation_from_rpy((0.3, 0.2, 0.1)))
        crank = transform(None, (0.3, 0.0, 0.0))
        robot.add("a", "base", z, passive=False, at=0.7)
        robot.add("rod", "a", crank, at=-0.7)
        for k, x in enumerate((0.4, 0.7)):
            robot.add(f"b{k}", "base", z @ transform(None, (x, 0.0, 0.0)), at=0.7)
            on_rod = transform(None, (x + error * k, 0.0, 0.0))
            robot.close(f"pin{k}", "revolute", "rod", f"b{k}", on_rod, turned(0.1, 0.0))
        model = robot.model()
        if not error:
            here = LoopCoordinates(closure_of(model)).at(np.array([1.1]))
            np.testing.assert_allclose(here.q, [1.1, -1.1, 1.1, 1.1], atol=1e-13)
            continue
        with pytest.raises(LoopError, match="the loops 'pin0', 'pin1' of 'random' cannot move"):
            closure_of(model)


@pytest.mark.parametrize(
    ("kinds", "cut"), [("RRRR", "planar"), ("RRPRP", "cylindrical"), ("RHRR", "spherical")]
)
def test_loops_in_space_move_or_do_not(kinds, cut):
    assert verdict(spatial(1, kinds, (0,), cut).model())
    assert verdict(spatial(1, kinds, (0, 1), cut).model()) is not True


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


def test_the_axes_of_a_direction_are_normal_to_it_and_to_each_other():
    rng = np.random.default_rng(3)
    poles = [(x, y, z) for z in (1, -1) for x, y in ((0, 0), (1e-7, 0), (-3e-8, 2e-7), (0, 1e-3))]
    for direction in (*rng.normal(size=(20, 3)), *poles):
        z = np.array(direction) / np.linalg.norm(direction)
        axes = np.stack([*stereographic_axes(z), z])
        np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-14)
        assert np.linalg.det(axes) > 0


def test_series_of_sine_and_cosine_are_on_the_circle_and_add_up():
    p, rng = PRIMES[0], np.random.default_rng(4)
    x, y = rng.integers(1, p, (2, 9))
    x[0] = y[0] = 0  # without a constant term

    def circle(angle):
        sine, versine = sine_and_versine(angle, p)
        return np.array([1] + [0] * 8) - versine, sine

    def times(a, b):
        return series_product(a % p, b % p, p)

    (c, s), (d, t) = circle(x), circle(y)
    assert ((times(c, c) + times(s, s)) % p).tolist() == [1] + [0] * 8
    sums = np.array([times(c, d) - times(s, t), times(s, d) + times(c, t)])
    assert np.array_equal(sums % p, np.array(circle((x + y) % p)) % p)


@pytest.mark.parametrize(
    "kind", ["RSSR", "RCCC", "rod", "screw", "cut slide", "cut plane", "mixed"]
)
def test_loops_with_cuts_of_every_kind_move_exactly(kind):
    assert verdict(ROBOTS[kind](0).model())


def test_a_rod_moves_and_a_second_one_of_another_length_holds_it():
    robot = ROBOTS["rod"](1)
    assert verdict(robot.model())
    _, kind, a, b, on_a, free, length = robot.cuts[0]
    moved = on_a @ transform(None, (0.1, 0.2, 0.3))
    robot.close("second", kind, a, b, moved, free, length)
    assert verdict(robot.model()) is not True


def cross(a, b, p):
    """In integers: products of residues of 29 bits fit."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return [(y * w - z * v) % p, (z * u - x * w) % p, (x * v - y * u) % p]


@pytest.mark.parametrize("p", PRIMES)
def test_geometry_holds_exactly_what_holds_but_for_rounding(p):
    """Lengths of 1, what is parallel, normal or on an axis, and axes that meet."""
    rng, geometry = np.random.default_rng(5), ExactGeometry(p, 1.0)
    for unit in np.eye(3):
        for sign in (1.0, -1.0):
            alone = ExactGeometry(p, 1.0).direction(sign * unit)
            assert (alone % p).tolist() == [int(sign * x) % p for x in unit]
    R = rotation_from_rpy(rng.uniform(-1, 1, 3))
    x, y, z = R.T
    found = {name: geometry.direction(v) for name, v in (("x", x), ("y", y), ("-x", -x))}
    slanted = geometry.direction(0.6 * x - 0.8 * y)
    other = geometry.direction(rotation_from_rpy(rng.uniform(-1, 1, 3))[0])
    for v in (*found.values(), slanted, other):
        assert sum(k * k for k in v.tolist()) % p == 1
    assert sum(a * b for a, b in zip(*(found[k].tolist() for k in "xy"), strict=True)) % p == 0
    assert ((found["x"] + found["-x"]) % p).tolist() == [0, 0, 0]
    across = geometry.direction(z)
    if across is not None:
        for name in "xy":
            assert (
                sum(a * b for a, b in zip(across.tolist(), found[name].tolist(), strict=True)) % p
                == 0
            )
    o = rng.uniform(-1, 1, 3)
    assert geometry.point(o).tolist() == [number_residue(float(k), p) for k in o]
    assert geometry.point(o + 1e-15) is geometry.point(o)
    origin, along = geometry.axis(o, x)
    assert cross(origin - geometry.point(o), along, p) == [0, 0, 0]
    on_it = geometry.point(o + 0.375 * x)
    assert cross(on_it - origin, along, p) == [0, 0, 0]
    beside = geometry.point(o + 0.375 * x + 1e-3 * y)
    assert cross(beside - origin, along, p) != [0, 0, 0]
    again, direction = geometry.axis(o + rng.uniform(0.5, 1.0, 3), -x)
    assert cross(again - origin, along, p) != [0, 0, 0]
    assert ((direction + along) % p).tolist() == [0, 0, 0]
    same, _ = geometry.axis(o - 0.9 * x, x)
    assert cross(same - origin, along, p) == [0, 0, 0]
    meeting, turned_to = geometry.axis(o + 0.2 * x + 0.3 * y, y)
    gap = (meeting - origin) % p
    normal = cross(along, turned_to, p)
    assert sum(g * n for g, n in zip(gap.tolist(), normal, strict=True)) % p == 0


@pytest.mark.parametrize("p", PRIMES)
def test_what_is_on_axes_of_the_base_is_where_its_numbers_are(p):
    """Points of an axis, and where axes cross, have the residues of their coordinates."""
    o = np.array([0.5, -0.25, 0.125])
    for x, y in zip(np.eye(3), np.roll(np.eye(3), 1, axis=0), strict=True):
        geometry = ExactGeometry(p, 1.0)
        origin, along = geometry.axis(o, x)
        assert origin.tolist() == [number_residue(k, p) for k in o.tolist()]
        for place in (o + 0.375 * x, o - 1.5 * x):
            assert geometry.point(place).tolist() == [number_residue(k, p) for k in place.tolist()]
        crossing, across = geometry.axis(o + 0.25 * x + 0.75 * y, y)
        assert crossing.tolist() == [number_residue(k, p) for k in (o + 0.25 * x).tolist()]
        assert (int(along @ across) % p, int(along @ along) % p) == (0, 1)
