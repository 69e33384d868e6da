"""Canonical frames and base parameters keep the torques, and nothing more can be regrouped."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.formulations.augmented_body import augmented_body
from armdyn.formulations.newton_euler import newton_euler
from armdyn.model import Connection, Inertia, assemble
from armdyn.model.transform import rotation_about, rotation_from_rpy, transform
from armdyn.shorten.canonical.frames import canonical, is_quarter, with_tip_phase
from armdyn.shorten.canonical.model import branches, model_from_canonical, torque_difference
from armdyn.shorten.canonical.regroup import hand_down, regroup, slide_origin
from support.peers import close
from support.random_robots import (
    random_axis,
    random_inertia,
    random_states,
)
from support.reading import model_from_dh
from support.regrouped import parameter_names

CATALOG = ("renaud_6r", "puma560", "stanford", "panda", "two_link", "ur5e", "saha_3r", "gen3")
HALF = np.pi / 2


def torques(robot, q, qd, qdd):
    """Torques of a canonical robot, each branch by augmented bodies."""
    tau = np.empty(np.shape(q))
    for members, part in zip(_members(robot), branches(robot).values(), strict=True):
        at = (v[..., members] for v in (q, qd, qdd))
        tau[..., members] = augmented_body(model_from_canonical(part, float), *at).tau
    return tau


def _members(robot):
    roots = []
    for i, parent in enumerate(robot.parents):
        roots.append(i if parent < 0 else roots[parent])
    return [[i for i, r in enumerate(roots) if r == root] for root in sorted(set(roots))]


def dh(kinds, rows, gravity=(0, 0, -9.81)):
    """A chain of rows (alpha, a, d, theta), modified, with arbitrary inertias."""
    rng = np.random.default_rng(5)
    table = []
    for kind, (alpha, a, d, theta) in zip(kinds, rows, strict=True):
        body = random_inertia(rng)
        table.append(
            {
                "joint": {"R": "revolute", "P": "prismatic"}[kind],
                "alpha": alpha,
                "a": a,
                "d": d,
                "theta": theta,
                "mass": body.mass,
                "com": body.com,
                "inertia": body.moment_about_com,
            }
        )
    return model_from_dh(table, "modified", gravity=gravity)


def rank(robot):
    """Number of inertial parameters that the torques can tell apart."""
    n = len(robot.links)
    rng = np.random.default_rng(0)
    states = [rng.uniform(-2, 2, size=(8 * n, n)) for _ in range(3)]
    empty = [replace(k, J=np.zeros((3, 3)), u=np.zeros(3), M=0.0) for k in robot.links]
    columns = []
    for i in range(n):
        for k in range(10):
            pseudo = np.zeros((4, 4))
            a, b = np.triu_indices(4)[0][k], np.triu_indices(4)[1][k]
            pseudo[a, b] = pseudo[b, a] = 1.0
            links = list(empty)
            links[i] = replace(empty[i], J=pseudo[:3, :3], u=pseudo[:3, 3], M=pseudo[3, 3])
            columns.append(torques(replace(robot, links=tuple(links)), *states).ravel())
    s = np.linalg.svd(np.array(columns).T, compute_uv=False)
    return int((s > 1e-9 * s[0]).sum())


@pytest.mark.slow
def test_canonical_frames_keep_torques(arm):
    q, qd, qdd = random_states(arm.model, arm.seed)
    expected = newton_euler(arm.model, q, qd, qdd).tau
    close(torques(canonical(arm.model), q, qd, qdd), expected, 1e-12)


@pytest.mark.parametrize("name", CATALOG)
def test_catalog_in_canonical_frames(name):
    model = armdyn.load(name).model
    robot = canonical(model)
    q, qd, qdd = random_states(model, 1)
    close(torques(robot, q, qd, qdd), newton_euler(model, q, qd, qdd).tau, 1e-12)
    assert robot.snapped < 1e-12
    assert all(is_quarter(link.alpha) and link.gamma == 0 for link in robot.links)


@pytest.mark.parametrize("seed", range(3))
def test_antiparallel_and_nearly_parallel_axes(seed):
    rng = np.random.default_rng(seed)
    near = [(0, 0, 0.1, 0), (np.pi, 0.3, 0.2, 0.4), (3.7e-6, 0.2, 0.1, 0.2), (HALF, 0.1, 0, 0)]
    model = dh("RRRR", near, gravity=9.81 * rng.normal(size=3))
    robot = canonical(model)
    assert robot.links[1].sign == -1
    assert robot.links[1].alpha == 0
    assert max(np.abs(link.across).max() for link in robot.links) < 1.0
    q, qd, qdd = random_states(model, seed)
    close(torques(robot, q, qd, qdd), newton_euler(model, q, qd, qdd).tau, 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("angle", [0.0, np.pi])
@pytest.mark.parametrize("sine", np.logspace(-15, -2, 27))
def test_almost_parallel_axes_on_any_base(sine, angle):
    rng = np.random.default_rng(3)
    turned = transform(rotation_from_rpy((0.9781, -0.5716, 2.3180)))
    almost = transform(rotation_from_rpy((angle + sine, 0, 0)), (0.1, 0.2, 0.3))
    model = chain("RR", [turned, almost], rng)
    q, qd, qdd = random_states(model, 0, (20,))
    close(torques(canonical(model), q, qd, qdd), newton_euler(model, q, qd, qdd).tau, 2e-13)


def chain(kinds, placements, rng, gravity=(0, 0, -9.81)):
    """A chain of joints along z, placed by transforms, with arbitrary inertias."""
    names = ["base", *(f"link{i}" for i in range(1, len(kinds) + 1))]
    links = {name: random_inertia(rng) for name in names}
    joints = [
        Connection(
            f"to {down}", {"R": "revolute", "P": "prismatic"}[kind], up, down, T, axis=(0, 0, 1)
        )
        for kind, up, down, T in zip(kinds, names[:-1], names[1:], placements, strict=True)
    ]
    return assemble("chain", links, joints, gravity=gravity)


def worst(actual, expected):
    """The largest difference relative to the largest torque of the same joint."""
    return (np.abs(actual - expected).max(axis=0) / np.abs(expected).max(axis=0)).max()


LONG_ARM = [
    transform(),
    transform(rotation_from_rpy((1.5708, 0, 0))),
    transform(position=(10, 0, 1e-5)),
    transform(rotation_from_rpy((1.5708, 0, 0)), (0.1, 0, 0)),
]


@pytest.mark.parametrize("tolerance", [1e-2, 1e-3, 1e-5, 1e-6])
def test_what_snapping_says_is_what_it_does(tolerance):
    model = chain("RRRR", LONG_ARM, np.random.default_rng(2))
    snapped = canonical(model, tolerance)
    q, qd, qdd = random_states(model, 3, (400,))
    moved = worst(torques(snapped, q, qd, qdd), newton_euler(model, q, qd, qdd).tau)
    assert snapped.snapped == pytest.approx(moved, rel=0.5, abs=1e-12)


def test_snapping_takes_rounded_quarter_turns():
    rows = [(0, 0, 0.1, 0), (1.5708, 0, 0, 0), (0, 0.4, 0, 0), (1.5708, 0, 0.4, 0)]
    exact, snapped = canonical(dh("RRRR", rows)), canonical(dh("RRRR", rows), tolerance=1e-5)
    assert not all(is_quarter(link.alpha) for link in exact.links)
    assert all(is_quarter(link.alpha) for link in snapped.links)
    assert exact.snapped == 0
    assert 1e-6 < snapped.snapped < 1e-4


@pytest.mark.parametrize("tilt", [2e-14, 6e-14, 9e-14])
def test_by_default_no_torque_moves_even_under_great_weight(tilt):
    tilted = transform(rotation_from_rpy((tilt, 0, 0)), (1, 0, 0))
    model = chain("RR", [transform(), tilted], np.random.default_rng(1), gravity=(0, 0, -1e5))
    robot = canonical(model)
    assert robot.snapped < 1e-12
    assert torque_difference(model, robot) < 1e-12
    assert canonical(model, 1e-12).snapped > 1e-10


@pytest.mark.slow
def test_the_difference_to_a_wrong_robot_is_seen(arm):
    model, robot = arm.model, canonical(arm.model)
    assert torque_difference(model, robot, 10) < 1e-11
    i = len(robot.links) - 1  # a mass that no torque feels is no difference
    heavier = replace(robot.links[i], M=2 * robot.links[i].M, J=2 * robot.links[i].J)
    links = [*robot.links[:i], heavier, *robot.links[i + 1 :]]
    wrong = replace(robot, links=tuple(links))
    q, qd, qdd = random_states(model, 0, (100,))
    moved = worst(torques(wrong, q, qd, qdd), newton_euler(model, q, qd, qdd).tau)
    assert torque_difference(model, wrong) == pytest.approx(moved, rel=0.8)


@pytest.mark.slow
def test_regrouping_keeps_torques(arm):
    robot = canonical(arm.model)
    q, qd, qdd = random_states(arm.model, arm.seed)
    expected = torques(robot, q, qd, qdd)
    close(torques(hand_down(robot), q, qd, qdd), expected, 1e-10)
    close(torques(regroup(robot), q, qd, qdd), expected, 1e-10)
    close(torques(with_tip_phase(robot), q, qd, qdd), expected, 1e-10)
    close(torques(slide_origin(robot, 0), q, qd, qdd), expected, 1e-10)


REGROUPED = {
    **{name: armdyn.load(name).model for name in CATALOG[:-1]},
    "scara": dh("RRPR", [(0, 0, 0.1, 0), (0, 0.3, 0, 0), (0, 0.2, 0, 0), (0, 0, 0, 0)]),
    "turned slides": dh(
        "RPRP", [(0, 0.2, 0.1, 0.3), (0, 0.3, 0, 0.7), (0, 0.2, 0.1, 1.1), (0, 0.1, 0, -0.8)]
    ),
    "planar": dh("RRR", [(0, 0, 0.1, 0), (0, 0.3, 0, 0), (0, 0.2, 0, 0)], (0, -9.81, 0)),
    "planar with slides": dh(
        "RPRP", [(0, 0, 0.1, 0), (HALF, 0.3, 0, 0), (-HALF, 0.2, 0, 0), (HALF, 0.2, 0, 0.2)]
    ),
    "three slides": dh("PPP", [(0, 0, 0.1, 0), (HALF, 0.3, 0, HALF), (HALF, 0.2, 0, 0)]),
    "gantry": dh(
        "PPPRRR",
        [
            (0, 0, 0.1, 0),
            (HALF, 0.3, 0, HALF),
            (HALF, 0.2, 0, 0),
            (0, 0, 0, 0),
            (HALF, 0.1, 0, 0),
            (-HALF, 0, 0.1, 0),
        ],
    ),
    "parallel slides": dh("PPR", [(0, 0, 0.1, 0), (0, 0, 0.1, 0), (HALF, 0, 0, 0)]),
    "slide along the axis": dh(
        "RPPRR", [(0, 0, 0.1, 0), (0, 0.3, 0, 0), (0, 0.2, 0, 0), (0, 0.2, 0, 0), (HALF, 0.2, 0, 0)]
    ),
    "oblique": dh(
        "RPPR", [(0, 0, 0.1, 0), (0.7, 0.3, 0, 0.2), (0.4, 0, 0, 0.2), (-0.2, 0.2, 0, 0)]
    ),
    "slide first": dh("PRR", [(0.3, 0, 0.1, 0), (0.5, 0.3, 0, 0), (0, 0.2, 0, 0)]),
    "vertical": dh("R", [(0, 0, 0.1, 0)]),
    "coaxial": dh("RR", [(0, 0, 0, 0), (0, 0, 0.3, 0)]),
    "coaxial with a slide": dh("RPR", [(0, 0, 0, 0)] * 3),
    "coaxial, then out": dh(
        "RRRR", [(0, 0, 0, 0), (0, 0, 0.3, 0), (HALF, 0, 0, 0), (0, 0.3, 0, 0)]
    ),
    "slide on a turning slide": dh("RPP", [(0, 0, 0, 0), (HALF, 0, 0, 0.3), (-HALF, 0.2, 0, 0)]),
    "universal, weightless": dh("RR", [(0, 0, 0, 0), (HALF, 0, 0, 0)], (0, 0, 0)),
    "wrist, weightless": dh("RRR", [(0, 0, 0, 0), (HALF, 0, 0, 0), (-HALF, 0, 0, 0)], (0, 0, 0)),
    "wrist with an arm, weightless": dh(
        "RRRR", [(0, 0, 0, 0), (0.7, 0, 0.2, 0), (0, 0, 0.2, 0), (HALF, 0.3, 0, 0)], (0, 0, 0)
    ),
    "weightless, one axis missed": dh("RR", [(0, 0, 0, 0), (HALF, 0.1, 0, 0)], (0, 0, 0)),
}


@pytest.mark.parametrize("name", REGROUPED)
def test_regrouping_keeps_the_torques_of_special_robots(name):
    model = REGROUPED[name]
    robot, states = canonical(model), random_states(model, 2, batch=(3,))
    expected = torques(robot, *states)
    close(expected, newton_euler(model, *states).tau, 1e-10)
    for found in (hand_down(robot), regroup(robot), with_tip_phase(robot)):
        close(torques(found, *states), expected, 1e-10)


def keeps_no_parameter_too_many(model):
    """Whether as many are left of arbitrary inertias as the torques can tell apart."""
    robot, rng = canonical(model), np.random.default_rng(7)
    generic = []
    for link in robot.links:
        body = random_inertia(rng).pseudo
        generic.append(replace(link, J=body[:3, :3], u=body[:3, 3], M=body[3, 3]))
    robot = replace(robot, links=tuple(generic))
    return len(parameter_names(regroup(robot))) == rank(robot)


@pytest.mark.slow
@pytest.mark.parametrize("name", REGROUPED)
def test_what_is_left_is_the_rank_of_the_regressor(name):
    assert keeps_no_parameter_too_many(REGROUPED[name])


@pytest.mark.slow
def test_what_is_left_of_any_robot_is_the_rank_of_the_regressor(arm):
    assert keeps_no_parameter_too_many(arm.model)


def special_model(seed):
    """A tree of up to five joints whose axes like to be parallel, normal, or to meet."""
    rng = np.random.default_rng(seed)
    names, joints = ["base"], []
    tree, coaxial, sliding = rng.random() < 0.3, rng.random() < 0.5, rng.choice([0, 0.3, 0.6])
    angles = (0, 0, HALF, -HALF, np.pi, 0.7) if rng.random() > 0.3 else (0,)
    for i in range(1, rng.integers(2, 7)):
        up = names[rng.integers(len(names))] if tree else names[-1]
        a, d = 0 if coaxial else rng.choice([0, 0, 0.3]), rng.choice([0, 0, 0.2])
        T = transform(rotation_from_rpy((rng.choice(angles), 0, 0)), (a, 0, 0))
        T = T @ transform(rotation_from_rpy((0, 0, rng.choice([0, HALF, 0.4]))), (0, 0, d))
        kind = "prismatic" if rng.random() < sliding else "revolute"
        joints.append(Connection(f"joint{i}", kind, up, f"link{i}", T, axis=(0, 0, 1)))
        names.append(f"link{i}")
    gravity = [(0, 0, 0), (0, 0, -9.81), (0, -9.81, 0), (1, 2, 3)][rng.integers(4)]
    return assemble(
        "special", {name: random_inertia(rng) for name in names}, joints, gravity=gravity
    )


def test_regrouping_keeps_the_torques_of_special_geometries():
    for seed in range(60):
        assert (
            torque_difference(special_model(seed), regroup(canonical(special_model(seed)))) < 1e-11
        )


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 160, 20))
def test_special_geometries_keep_no_parameter_too_many(first):
    for seed in range(first, first + 20):
        model = special_model(seed)
        left = regroup(canonical(model))
        assert len(parameter_names(left)) == armdyn.Robot(model).base_parameters(links=True).rank, (
            seed
        )
        assert torque_difference(model, left, 20) < 1e-11, seed


@pytest.mark.parametrize("angle", [1e-12, 1e-10, 1e-9])
def test_regrouping_sees_a_small_twist(angle):
    robot = canonical(dh("RR", [(0, 0, 0, 0), (angle, 0.3, 0, 0)]))
    assert robot.snapped == 0
    assert len(parameter_names(regroup(robot))) == len(
        parameter_names(regroup(canonical(dh("RR", [(0, 0, 0, 0), (0.5, 0.3, 0, 0)]))))
    )


def test_links_of_very_different_size_keep_their_digits():
    """Masses of 1e-6 to 1e6 kg, lengths of 1e-4 to 1e3 m: each joint for itself."""
    for seed in range(10):
        model = _uneven(np.random.default_rng(seed))
        q, qd, qdd = np.random.default_rng(0).normal(size=(3, 20, len(model.joints)))
        expected = newton_euler(model, q, qd, qdd).tau
        found = newton_euler(model_from_canonical(canonical(model), float), q, qd, qdd).tau
        assert (np.abs(found - expected).max(0) < 1e-11 * np.abs(expected).max(0)).all()


def _uneven(rng, joints=6):
    links, connections = {"base": Inertia.zero()}, []
    for i in range(joints):
        mass, radius, length = 10 ** rng.uniform([-6, -4, -4], [6, 3, 3])
        points = np.hstack([radius * rng.normal(size=(6, 3)), np.ones((6, 1))])
        links[f"link{i}"] = Inertia.from_pseudo(mass * points.T @ points)
        turn = rotation_about(random_axis(rng), rng.uniform(-3, 3))
        placement = transform(turn, length * random_axis(rng))
        parent = list(links)[-2]
        connections.append(
            Connection(f"joint{i}", "revolute", parent, f"link{i}", placement, random_axis(rng))
        )
    return assemble("uneven", links, connections)


@pytest.mark.parametrize("size", [1e-20, 1e-9, 1e9])
def test_robots_of_any_size_keep_their_lengths(size):
    row = {"joint": "revolute", "a": 0.3 * size, "alpha": 0.3, "d": 0.0, "theta": 0.2, "mass": 1.0}
    row |= {"com": (0.2 * size, 0, 0), "inertia": size * size * np.eye(3)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = armdyn.from_dh([row, row], gravity=(0, -9, 1)).model
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 20, 2))
    expected = newton_euler(model, q, qd, qdd).tau
    found = newton_euler(model_from_canonical(canonical(model), float), q, qd, qdd).tau
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())
