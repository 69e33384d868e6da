"""Distances that motions keep: between links, to a table and to obstacles."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import ExcitationError, ModelError, UnknownNameError
from armdyn.identification.excitation.clearance import (
    INFLUENCE,
    LEAST_INFLUENCE,
    RADIUS_SHARE,
    Clearance,
    Solid,
    _hull,
    link_solids,
    obstacle_solids,
    surroundings,
    table_solid,
)
from armdyn.identification.excitation.limits import motion_limits
from armdyn.identification.excitation.problem import Problem, RestBasis, aim_at
from armdyn.identification.excitation.search import _start
from armdyn.model.transform import rotation_from_rpy, transform
from armdyn.simulation.trajectories.piecewise import Motion
from support.paths import ROBOTS

pytest.importorskip("coal")  # it is not published for Windows

RANGES = np.array([(-2.5, 2.5)] * 3)
LENGTH, RADIUS = 0.5, 0.05


def planar(n=3):
    """Links of one length in the vertical plane x-z, the first joint 0.6 m above the ground."""
    row = {"joint": "revolute", "a": LENGTH, "alpha": 0.0, "d": 0.0, "theta": 0.0, "mass": 2.0}
    row |= {"com": (-0.2, 0.0, 0.0), "inertia": np.diag([0.01, 0.05, 0.05]), "limits": (-2.5, 2.5)}
    upright = np.array([[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0.6], [0, 0, 0, 1.0]])
    return armdyn.from_dh([row] * n, base=upright, name="planar")


@pytest.fixture(scope="module")
def robot():
    return planar()


def ends(robot, q):
    """The two ends of the axis of each capsule, (m, 3, 2, 3): a radius beyond the joint, to the end."""
    angle, at = np.cumsum(q, -1), np.zeros((*q.shape, 2, 3))
    base = np.broadcast_to([0.0, 0.0, 0.6], (len(q), 3))
    for i in range(3):
        way = np.stack([np.cos(angle[:, i]), 0 * angle[:, i], np.sin(angle[:, i])], -1)
        at[:, i, 0], base = base + RADIUS * way, base + LENGTH * way
        at[:, i, 1] = base
    return at


def apart(one, other, steps=201):
    """The distance of two segments (2, 3), by brute force."""
    u = np.linspace(0, 1, steps)[:, None]
    p, q = (s[0] + u * (s[1] - s[0]) for s in (one, other))
    return np.sqrt(((p[:, None] - q) ** 2).sum(-1)).min()


def clearance(robot, least=0.1, **options):
    solids, _ = link_solids(robot, None, RADIUS)
    around = [table_solid(0.0), *obstacle_solids(options.get("obstacles"))]
    return Clearance.of(robot, [*solids, *around], least, RANGES, 0)


def test_distances_are_those_of_capsules(robot):
    found = clearance(robot)
    names = {found.words(k) for k in range(len(found.pairs))}
    assert names == {"link1 and link3", *(f"link{i} and the table" for i in (1, 2, 3))}
    q = np.random.default_rng(0).uniform(-2.5, 2.5, (40, 3))
    at = ends(robot, q)
    near = found.near(q, 5.0)
    assert len(near.pose) == 4 * len(q)
    for pose, pair, distance in zip(near.pose, near.pair, near.distance, strict=True):
        if found.words(pair).endswith("table"):
            link = int(found.words(pair)[4]) - 1
            assert distance == pytest.approx(at[pose, link, :, 2].min() - RADIUS, abs=1e-9)
        else:
            expected = apart(at[pose, 0], at[pose, 2]) - 2 * RADIUS
            if expected > 0.01:
                assert distance == pytest.approx(expected, abs=1e-3)


def test_slopes_of_distances_and_of_the_barrier_are_those_of_differences(robot):
    found = clearance(robot, obstacles=[{"box": (0.2, 2.0, 0.2), "position": (0.9, 0, 1.3)}])
    rng = np.random.default_rng(2)
    q = rng.uniform(-1.2, 1.2, (300, 3))
    q[:, 0] += 1.2
    q = q[[not found.fault(pose) for pose in q]]
    value, slope = found.barrier(q)
    assert value > 1
    way = rng.standard_normal(q.shape)
    step = 1e-6 * way
    difference = (found.barrier(q + step)[0] - found.barrier(q - step)[0]) / 2e-6
    assert (slope * way).sum() == pytest.approx(difference, rel=1e-4)


def test_no_pair_is_passed_over_because_of_the_balls_around_its_solids(robot, monkeypatch):
    around = [{"cylinder": (0.1, 0.6), "position": (0.9, 0.1, 1.3), "rpy": (0.4, 0.2, 0)}]
    found = clearance(
        robot, obstacles=[*around, {"box": (0.3, 0.2, 0.5), "position": (-0.9, 0, 1)}]
    )
    q = np.random.default_rng(4).uniform(-2.5, 2.5, (60, 3))
    near = found.near(q, 0.2)
    assert 60 < len(near.pair) < 400
    monkeypatch.setattr(
        Clearance, "_culled", lambda self, places, limits: np.ones((60, len(limits)))
    )
    every = found.near(q, 0.2)
    for name in ("pose", "pair", "distance"):
        np.testing.assert_array_equal(getattr(near, name), getattr(every, name))


def test_the_least_distance_counts_from_what_each_pair_keeps(robot):
    found = clearance(robot)
    q = np.random.default_rng(5).uniform(-1.5, 1.5, (50, 3))
    found.kept[0] *= 0.5
    near = found.near(q, found.influence)
    expected = np.full(50, found.least + found.influence)
    for pose, pair, distance in zip(near.pose, near.pair, near.distance, strict=True):
        expected[pose] = min(expected[pose], distance + found.least - found.kept[pair])
    np.testing.assert_allclose(found.distances(q), expected)
    assert found.influence == pytest.approx(max(INFLUENCE * 0.1, LEAST_INFLUENCE))
    assert found.lowered == (f"{found.words(0)} (0.05 m)",)
    twice = found.scaled(2.0)
    np.testing.assert_allclose(twice.kept, 2 * found.kept)
    assert (twice.least, twice.pairs) == (2 * found.least, found.pairs)


def test_the_barrier_is_felt_within_the_influence_and_infinite_at_the_clearance(robot):
    found, q = clearance(robot), np.zeros((1, 3))
    for height, felt in ((0.05 + 0.1 + 0.25, False), (0.05 + 0.1 + 0.1, True), (0.05 + 0.09, None)):
        lower = Clearance.of(
            robot, [*link_solids(robot, None, RADIUS)[0], table_solid(0.6 - height)], 0.1, RANGES, 0
        )
        value = lower.barrier(q)
        assert (value is None) == (felt is None)
        if felt is not None:
            assert (value[0] > 0) == felt
            u = 0.1 / found.influence
            expected = -3 * (1 - u) ** 2 * np.log(u) if felt else 0.0  # three capsules lie level
            assert value[0] == pytest.approx(expected, abs=1e-9)


def test_the_cost_of_nearness_has_the_slope_of_differences(robot):
    limits = motion_limits(robot, RANGES, 3.0, 12.0, None)
    some = dict.fromkeys(("obstacles", "geometry"))
    near, _ = surroundings(robot, limits, 0, clearance=0.1, table=-0.6, radius=RADIUS, **some)
    rng, options = np.random.default_rng(1), ("condition", RestBasis.of(0.25, 2), limits, None)
    problem = Problem(robot, aim_at(robot, "links"), *options, near, power=2.0, barrier=0.1)
    felt = 0
    for _ in range(2):
        z = _start(problem, rng)
        way = rng.normal(size=len(z))
        difference = (problem(z + 1e-6 * way)[0] - problem(z - 1e-6 * way)[0]) / 2e-6
        assert problem(z)[1] @ way == pytest.approx(difference, rel=1e-5)
        motion = problem.coefficients(z)
        q = problem.grid.q @ motion
        cost, slope = problem._clearance_barrier(Motion(q, q, q))
        felt += cost > 0
        direction = rng.normal(size=q.shape)
        ends = [
            problem._clearance_barrier(Motion(p, p, p))[0]
            for p in (q + 1e-6 * direction, q - 1e-6 * direction)
        ]
        assert (slope[0] * direction).sum() == pytest.approx(
            (ends[0] - ends[1]) / 2e-6, rel=1e-4, abs=1e-9
        )
        assert not slope[1:].any()
    assert felt


def test_every_solid_has_the_ball_that_it_is_in():
    points = np.array([[0.1, 0, 0], [0, -0.4, 0.3], [0, 0, 0.2]])
    for shape, lengths, radius in (
        ("box", (2.0, 3.0, 6.0), 3.5),
        ("sphere", (0.3,), 0.3),
        ("capsule", (0.3, 0.8), 0.7),
        ("cylinder", (0.3, 0.8), 0.5),
        ("hull", (), 0.5),
        ("halfspace", (), np.inf),
    ):
        assert Solid("a", -1, np.eye(4), shape, lengths, points).radius == pytest.approx(radius)


def test_a_hull_keeps_its_corners_and_is_about_the_middle_of_its_box():
    rng = np.random.default_rng(2)
    place = transform(rotation_from_rpy((0.3, -0.7, 1.1)), (0.2, 0.5, -0.4))
    solid = Solid("mesh", 0, place, "mesh", (0.1,))
    corners = rng.uniform(-0.3, 0.3, (12, 3))
    for points in (corners, corners + np.array([3.0, -2.0, 5.0]), np.vstack([corners, -corners])):
        hull = _hull(solid, points)
        assert (hull.name, hull.link, hull.shape, hull.lengths) == ("mesh", 0, "hull", ())
        found = hull.points @ hull.placement[:3, :3].T + hull.placement[:3, 3]
        np.testing.assert_allclose(found, points @ place[:3, :3].T + place[:3, 3], atol=1e-14)
        np.testing.assert_allclose(hull.points.min(0), -hull.points.max(0), atol=1e-14)
        assert hull.radius <= np.linalg.norm(np.ptp(points, axis=0)) / 2 * (1 + 1e-12)


def test_five_centimetres_are_kept_where_something_stands_around_unless_told(robot):
    none = dict.fromkeys(("clearance", "table", "obstacles", "geometry", "radius"))
    limits = motion_limits(robot, RANGES, 3.0, 12.0, None)
    near, notes = surroundings(robot, limits, 0, **none)
    assert near is None
    assert notes == ("distances between links, and to what is around, are not looked at",)
    for given, least in (
        ({"table": -3.0}, 0.05),
        ({"obstacles": [{"sphere": 0.1, "position": (0.0, 3.0, 0.0)}]}, 0.05),
        ({"clearance": 0.08}, 0.08),
        ({"clearance": 0.02, "table": -3.0}, 0.02),
    ):
        near, notes = surroundings(robot, limits, 0, **none | {"radius": RADIUS} | given)
        assert near.least == least
        assert sum(solid.surrounding for solid in near.solids) == len(given.keys() - {"clearance"})
        assert notes == ("capsules of radius 0.05 m for link1, link2, link3",)


def test_capsules_are_as_thick_as_a_share_of_the_longest_way_along_the_joints():
    arm = armdyn.load("ur10")
    reach = sum(np.linalg.norm(joint.placement[:3, 3]) for joint in arm.model.joints)
    solids, _ = link_solids(arm, None, None)
    np.testing.assert_allclose([solid.lengths[0] for solid in solids], RADIUS_SHARE * reach)
    row = {"joint": "revolute", "alpha": 1.0, "mass": 1.0, "com": (0.3, 0, 0)}
    for tool, length in ((0.7, 0.7), (0.0, 1.0)):  # all axes meet in one point
        wrist = armdyn.from_dh([row] * 3, name="wrist")
        wrist = wrist.with_tool(transform(None, (0, 0, tool)))
        solids, _ = link_solids(wrist, None, None)
        np.testing.assert_allclose([solid.lengths[0] for solid in solids], RADIUS_SHARE * length)


def test_a_capsule_begins_a_radius_beyond_its_joint_and_ends_around_the_next(robot):
    solids, _ = link_solids(robot, None, RADIUS)
    q = np.random.default_rng(1).uniform(-1, 1, (6, 3))
    places = Clearance(robot, tuple(solids), 0.1)._places(q)
    for link, solid in enumerate(solids):
        assert solid.shape == "capsule"
        half = places[:, link, :3, 2] * solid.lengths[1] / 2
        middle = places[:, link, :3, 3]
        found = np.stack([middle - half, middle + half], axis=1)
        np.testing.assert_allclose(found, ends(robot, q)[:, link], atol=1e-12)


def test_an_obstacle_stands_upright_at_the_origin_unless_it_is_told():
    plain, turned = obstacle_solids(
        [{"sphere": 0.1}, {"box": (1, 2, 3), "position": (4, 5, 6), "rpy": (0, 0, np.pi / 2)}]
    )
    np.testing.assert_array_equal(plain.placement, np.eye(4))
    expected = np.array([[0, -1, 0, 4], [1, 0, 0, 5], [0, 0, 1, 6], [0, 0, 0, 1.0]])
    np.testing.assert_allclose(turned.placement, expected, atol=1e-15)
    assert (plain.surrounding, plain.link, plain.name) == (True, -1, "obstacle 1")
    np.testing.assert_array_equal(table_solid(0.3).placement[:3, 3], [0, 0, 0.3])
    assert obstacle_solids(None) == []


@pytest.mark.slow
def test_a_motion_keeps_its_distance_from_a_table(robot):
    options = {"speed": 2.0, "starts": 2, "table": 0.0, "clearance": 0.1, "radius": RADIUS}
    found = armdyn.excite(robot, 8, **options)
    at = ends(robot, found.samples(8 / 1777).q)
    heights = at[..., 2].min((1, 2)) - RADIUS
    assert heights.min() >= 0.1
    assert found.least_distance == pytest.approx(heights.min(), abs=0.01)
    others = [apart(pose[0], pose[2]) - 2 * RADIUS for pose in at[::20]]
    assert min(others) >= 0.1
    free = armdyn.excite(robot, 8, speed=2.0, starts=2)
    assert free.condition < found.condition
    assert ends(robot, free.samples().q)[..., 2].min() - RADIUS < 0.1
    assert "capsules of radius 0.05 m" in found.report()
    assert "not looked at" in free.report()


def test_a_start_in_collision_is_refused_with_the_pair(robot):
    options = {"speed": 2.0, "table": 0.0, "start": (-1.4, 0.0, 0.0)}
    with pytest.raises(ExcitationError, match=r"start: .*link. and the table are -"):
        armdyn.excite(robot, 8, **options)
    options |= {"start": None, "starts": 1}
    with pytest.raises(
        ExcitationError, match=r"link1 and the table touch in every one of .* poses"
    ):
        armdyn.excite(robot, 8, **options | {"table": 3.0})
    walls = [{"box": (0.1, 9.0, 9.0), "position": (x, 0.0, 0.0)} for x in (-0.2, 0.2)]
    with pytest.raises(ExcitationError, match=r"no motion .* are .* m from each other"):
        armdyn.excite(robot, 8, **options, obstacles=walls)


def test_links_that_always_touch_are_told():
    robot = armdyn.load("ur10")
    solids, notes = link_solids(robot, None, None)
    found = Clearance.of(robot, [*solids, table_solid(0.0)], 0.05, robot.limits, 0)
    assert "wrist_1_link and wrist_3_link" in found.left_out
    words = {found.words(k) for k in range(len(found.pairs))}
    assert "upper_arm_link and the table" in words
    assert "forearm_link and the table" in words
    assert notes[0].startswith("capsules of radius")


def test_shapes_of_a_file_and_obstacles(tmp_path):
    text = (ROBOTS / "gripper.urdf").read_text(encoding="utf-8")
    shape = (
        '<link name="palm"><collision><origin xyz="0 0 0.05"/><geometry>'
        '<box size="0.1 0.2 0.1"/></geometry></collision>'
    )
    path = tmp_path / "gripper.urdf"
    path.write_text(text.replace('<link name="palm">', shape, 1), encoding="utf-8")
    robot = armdyn.load(path)
    solids, notes = link_solids(robot, path, {"left_finger": 0.01})
    palm = next(solid for solid in solids if solid.name == "palm")
    assert (palm.shape, palm.lengths, palm.placement[2, 3]) == ("box", (0.1, 0.2, 0.1), 0.05)
    assert next(s for s in solids if s.name == "left_finger").lengths[0] == 0.01
    assert notes[0] == "geometry of gripper.urdf, meshes by their convex hulls"
    toml = tmp_path / "cell.toml"
    toml.write_text(
        '[[obstacle]]\nname = "post"\ncylinder = [0.1, 2.0]\nposition = [0.5, 0.0, 1.0]\n'
        "[[obstacle]]\nsphere = 0.2\n",
        encoding="utf-8",
    )
    post, ball = obstacle_solids(toml)
    assert (post.name, post.shape, post.lengths) == ("post", "cylinder", (0.1, 2.0))
    assert (ball.name, ball.radius) == ("obstacle 2", 0.2)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"clearance": 0.0}, ExcitationError, "clearance: expected a positive length"),
        ({"clearance": "near"}, ModelError, "clearance"),
        ({"table": "low"}, ModelError, "table"),
        ({"clearance": 0.1, "radius": -1.0}, ExcitationError, "radius: expected a positive"),
        ({"clearance": 0.1, "radius": {"arm": 1.0}}, UnknownNameError, "radius: link of 'planar'"),
        ({"obstacles": [{"cone": 1.0}]}, ExcitationError, "obstacle 1: expected one of box"),
        ({"obstacles": [{"box": 1.0}]}, ExcitationError, "obstacle 1: a box has 3 lengths"),
        ({"obstacles": [{"sphere": -1.0}]}, ExcitationError, "obstacle 1: sphere"),
        ({"obstacles": [{"sphere": 1.0, "at": 3}]}, ExcitationError, "got the key 'at'"),
        ({"obstacles": [3]}, ExcitationError, "obstacles: expected a list of mappings"),
        ({"geometry": ROBOTS / "gripper.urdf"}, ExcitationError, "no link has a <collision>"),
    ],
)
def test_bad_surroundings_are_refused(robot, options, error, words):
    with pytest.raises(error, match=words):
        armdyn.excite(robot, 8, speed=2.0, **options)
