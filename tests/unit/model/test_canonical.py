"""Canonical frames and base parameters keep the torques, and nothing more can be regrouped."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

import armdyn
from armdyn.formulations.augmented_body import augmented_body
from armdyn.formulations.newton_euler import newton_euler
from armdyn.io.dh import model_from_dh
from armdyn.model.canonical import canonical, is_quarter, with_tip_phase
from armdyn.model.regroup import hand_down, parameter_names, regroup, slide_origin
from armdyn.programs.symbolic_model import branches, model_from_canonical
from oracles import close
from strategies import random_inertia, random_model, random_states, robots, seeds

CATALOG = ("renaud_6r", "puma560", "stanford", "panda", "two_link", "ur5e", "saha_3r", "gen3")
HALF = np.pi / 2


def torques(robot, q, qd, qdd):
    """Torques of a canonical robot, each branch by augmented bodies."""
    tau = np.empty(np.shape(q))
    for members, part in zip(_members(robot), branches(robot), strict=True):
        at = (v[..., members] for v in (q, qd, qdd))
        tau[..., members] = augmented_body(model_from_canonical(part), *at).tau
    return tau.astype(float)


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


@given(robots, seeds)
def test_canonical_frames_keep_torques(model, seed):
    q, qd, qdd = random_states(model, seed)
    close(torques(canonical(model), q, qd, qdd), newton_euler(model, q, qd, qdd).tau, 1e-12)


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


def test_snapping_moves_torques_by_less_than_it_says():
    rows = [(0, 0, 0.1, 0), (1.5708, 0, 0, 0), (0, 0.4, 0, 0), (1.5708, 0, 0.4, 0)]
    model = dh("RRRR", rows)
    exact, snapped = canonical(model), canonical(model, tolerance=1e-5)
    assert not all(is_quarter(link.alpha) for link in exact.links)
    assert all(is_quarter(link.alpha) for link in snapped.links)
    assert 7e-6 < snapped.snapped < 1e-4
    q, qd, qdd = random_states(model, 3)
    close(torques(snapped, q, qd, qdd), torques(exact, q, qd, qdd), 3 * snapped.snapped)


@given(robots, seeds)
def test_regrouping_keeps_torques(model, seed):
    robot = canonical(model)
    q, qd, qdd = random_states(model, seed)
    expected = torques(robot, q, qd, qdd)
    close(torques(hand_down(robot), q, qd, qdd), expected, 1e-10)
    close(torques(regroup(robot), q, qd, qdd), expected, 1e-10)
    close(torques(with_tip_phase(robot), q, qd, qdd), expected, 1e-10)
    close(torques(slide_origin(robot, 0), q, qd, qdd), expected, 1e-10)


REGROUPED = {
    **{name: armdyn.load(name).model for name in CATALOG[:-1]},
    "scara": dh("RRPR", [(0, 0, 0.1, 0), (0, 0.3, 0, 0), (0, 0.2, 0, 0), (0, 0, 0, 0)]),
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
    "tree": random_model("RRPRPR", 4, tree=True),
    "another tree": random_model("RRRPRR", 12, tree=True),
    "random PRPR": random_model("PRPR", 1),
}


@pytest.mark.parametrize("name", REGROUPED)
def test_what_is_left_is_the_rank_of_the_regressor(name):
    robot = canonical(REGROUPED[name])
    rng = np.random.default_rng(7)
    generic = []
    for link in robot.links:
        body = random_inertia(rng).pseudo
        generic.append(replace(link, J=body[:3, :3], u=body[:3, 3], M=body[3, 3]))
    robot = replace(robot, links=tuple(generic))
    assert len(parameter_names(regroup(robot))) == rank(robot)
