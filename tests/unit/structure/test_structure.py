"""Which elements of D, h and g vanish, are constant or vary: against arms known by hand, and peers."""

from dataclasses import replace
from functools import lru_cache, reduce
from operator import getitem

import numpy as np
import pinocchio as pin
import pytest

import armdyn
from armdyn.errors import ModelError
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.coriolis import christoffel
from armdyn.model import Connection, Inertia, Mimic, assemble
from armdyn.study.structure.structure import structure
from support.peers import PinocchioArm
from support.random_robots import random_model

pytestmark = pytest.mark.slow

HALF = np.pi / 2
SAHA_CONSTANT = [
    dict(a=0.2, alpha=HALF, d=0.3, mass=4.0, com=[-0.1, 0, 0], inertia=[0.03, 0.02, 0.03]),
    dict(a=0.5, mass=3.0, com=[-1 / 3 - 0.5, 0, 0], inertia=[53 / 60, 0.05, 53 / 60]),
    dict(a=0.4, mass=2.0, com=[-0.4, 0, 0], inertia=[0.03, 0.03, 0.02]),
]
"""Saha's arm with the masses moved so that D is constant."""


def table(elements):
    """What a grid depends on: 0, "c" or the joints."""
    short = {"zero": 0, "constant": "c"}
    return [[short.get(e.status, e.joints) for e in row] for row in elements]


def test_planar_two_link_arm():
    found = structure(armdyn.load("two_link"))
    assert table(found.D) == [[(2,), (2,)], [(2,), "c"]]
    assert table(found.h[0]) == [[0, (2,)], [(2,), (2,)]]
    assert table(found.h[1]) == [[(2,), 0], [0, 0]]
    assert table([found.g]) == [[(1, 2), (1, 2)]]


def test_saha_arm():
    found = structure(armdyn.load("saha_3r"))
    assert table(found.D) == [[(2, 3), 0, 0], [0, (3,), (3,)], [0, (3,), "c"]]
    assert table(found.h[0]) == [[0, (2, 3), (2, 3)], [(2, 3), 0, 0], [(2, 3), 0, 0]]
    assert table([found.g]) == [[0, (2, 3), (2, 3)]]


def test_polar_arm():
    rows = [
        dict(joint="revolute", alpha=HALF, mass=2.0, inertia=[0.1, 0.1, 0.1]),
        dict(joint="prismatic", mass=1.5, com=[0, 0, 0.1], inertia=[0.1, 0.1, 0.1]),
    ]
    found = structure(armdyn.from_dh(rows))
    assert table(found.D) == [[(2,), 0], [0, "c"]]
    assert table(found.h[0]) == [[0, (2,)], [(2,), 0]]
    assert table(found.h[1]) == [[(2,), 0], [0, 0]]
    assert found.D[0][1].parameters == ("x2",)


def test_a_constant_force_is_told_from_none():
    scara = structure(armdyn.load("scara"))
    assert [e.status for e in scara.g] == ["zero", "zero", "constant", "zero"]
    mass = sum(link.inertia.mass for link in armdyn.load("scara").model.links[2:])
    assert abs(scara.g[2].low) == abs(scara.g[2].high) == pytest.approx(9.81 * mass)


def test_numbers_that_cancel_are_found_although_the_symbols_vary():
    robot = armdyn.from_dh([dict(joint="revolute", **row) for row in SAHA_CONSTANT])
    found = structure(robot)
    assert found.D[0][0].joints == (2, 3)
    assert found.D[0][0].rounding
    assert found.g[1].rounding
    assert all(e.rounding for grid in found.h for r in grid for e in r if e.status == "varies")
    for i, value in enumerate((1.1733333333333336, 1.7366666666666666, 0.02)):
        assert found.D[i][i].low == pytest.approx(value, rel=1e-13)
    nominal = structure(armdyn.load("saha_3r"))
    assert not any(e.rounding for row in nominal.D for e in row)


def test_ones_are_numbers_like_others():
    rows = [
        dict(joint="revolute", alpha=0.0, mass=1.0, inertia=[1, 1, 1]),
        dict(joint="revolute", alpha=HALF, mass=1.0, com=[1, 0, 0], inertia=[2, 1, 1]),
    ]
    element = structure(armdyn.from_dh(rows, "modified")).D[0][0]
    assert element.joints == (2,)  # Ixx2 sin² + (Iyy2 + m2 x2²) cos²
    assert element.rounding


kept_structure = lru_cache(structure)
NO_SPIN = pytest.mark.arms(where=lambda arm: not arm.spins)
"""Rotors that spin have no structure of this sort."""


def numbers(arm, q):
    """D and g by Pinocchio and h by the Coriolis matrix, one configuration of all joints."""
    model, pinocchio = arm.rigid, PinocchioArm(arm)
    D = pin.crba(pinocchio.other, pinocchio.data, q)
    D = np.triu(D) + np.triu(D, 1).T + pinocchio.shared
    gravity = pin.computeGeneralizedGravity(pinocchio.other, pinocchio.data, q)
    return D, christoffel(model, q), gravity


@NO_SPIN
def test_other_libraries_vary_with_exactly_the_joints_named(arm):
    found, n, rng = kept_structure(arm.model), len(arm.model.joints), np.random.default_rng(5)
    moved, largest = [0.0] * 3, [0.0] * 3
    for q in rng.uniform(-1.5, 1.5, (4, n)):
        base = numbers(arm, q)
        others = [numbers(arm, q + e) for e in np.diag(rng.uniform(0.3, 0.9, n))]
        for k, (here, *there) in enumerate(zip(base, *others, strict=True)):
            moved[k] = np.maximum(moved[k], np.abs(np.array(there) - here))
            largest[k] = np.maximum(largest[k], np.abs(here))
    for grid, moves, size in zip((found.D, found.h, found.g), moved, largest, strict=True):
        nothing = 1e-11 * max(1.0, size.max())
        for place in np.ndindex(size.shape):
            element = reduce(getitem, place, grid)
            if not element.rounding:
                joints = 1 + np.flatnonzero(moves[:, *place] > nothing)
                assert element.joints == tuple(joints), place
                assert (element.status == "zero") == (size[place] < nothing), place


@NO_SPIN
def test_an_element_of_d_depends_only_on_joints_beyond_the_inner_one(arm):
    model, found = arm.model, kept_structure(arm.model)
    shared = PinocchioArm(arm).shared
    for i, row in enumerate(found.D):
        for j, element in enumerate(row):
            if i not in model.paths[j] and j not in model.paths[i] and not shared[i, j]:
                assert element.status == "zero"
                assert "branches" in element.reason
            inner = min(i, j)
            assert all(inner in model.paths[k - 1][:-1] for k in element.joints)


def test_a_long_general_chain_has_no_zeros_but_those_of_every_chain():
    n = 20
    found = structure(random_model("R" * n, 3))
    for i in range(n):
        for j in range(n):
            assert found.D[i][j].joints == tuple(range(min(i, j) + 2, n + 1))
    # h_iki = ½ ∂D_ii/∂q_k = 0 for k ≤ i, and nothing else
    assert found.counts["h"] == {
        "zero": n * (n + 1) // 2,
        "constant": 0,
        "varies": (n - 1) * n * (n + 1) // 2,
    }


def test_lowest_and_highest_values_are_those_of_configurations_within_the_limits():
    model = random_model("RPR", 2)
    found = structure(model)
    limits = np.array([(j.limits.lower, j.limits.upper) for j in model.joints])
    q = np.random.default_rng(1).uniform(*limits.T, size=(4000, 3))
    M = mass_matrix(model, q)
    for i, row in enumerate(found.D):
        for j, element in enumerate(row):
            span = np.ptp(M[:, i, j])
            assert element.low == pytest.approx(M[:, i, j].min(), abs=0.15 * span + 1e-12)
            assert element.high == pytest.approx(M[:, i, j].max(), abs=0.15 * span + 1e-12)


def test_followers_are_joints_of_their_own():
    body = Inertia.from_com(1.0, (0.1, 0.2, 0.3), 0.1 * np.eye(3))
    connections = [
        Connection("lead", "revolute", "base", "a"),
        Connection("follow", "revolute", "a", "b", mimic=Mimic("lead", 2.0)),
    ]
    found = structure(assemble("pair", dict.fromkeys(("base", "a", "b"), body), connections))
    assert found.joints == ("lead", "follow")
    assert found.mimics == ("follow",)
    assert "follow (followers)" in found.report()


def test_rotors_load_their_own_joint_alone():
    model = random_model("RRR", 4)
    rotors = random_model("RRR", 4, rotors=True)
    with_rotors = replace(
        model,
        joints=tuple(
            replace(j, rotor=r.rotor) for j, r in zip(model.joints, rotors.joints, strict=True)
        ),
    )
    plain, geared = structure(model), structure(with_rotors)
    assert table(plain.D) == table(geared.D)
    assert geared.D[2][2].low - plain.D[2][2].low == pytest.approx(
        with_rotors.joints[2].rotor.reflected
    )


def test_only_robots_have_a_structure():
    with pytest.raises(ModelError, match=r"expected a Robot, got 'panda'; load it"):
        structure("panda")
