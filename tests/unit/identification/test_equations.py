"""The equations of a motion: features times what a robot has are its torques; sums of them."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import armdyn
from armdyn.identification import equations as terms
from armdyn.identification.equations import OFFSET, ROTOR, VISCOUS, Equations, Rows, coulomb
from armdyn.identification.problem import FOLDS, MOTOR_SHARE, Sums, prior_of, problem_of
from support.measured_arms import worn
from support.programs import EvaluatedRobot


def written(robot, seed=0):
    """The equations of a robot with the terms that it has, in speeds of its motors."""
    speeds = np.random.default_rng(seed).uniform(0.3, 2, len(robot.model.driven))
    bare = Equations(robot, (), speeds)
    own = [feature for k, feature in bare.own_motors if k < len(robot.model.driven)]
    return replace(bare, structure=tuple(dict.fromkeys(own)))


def rows_of(equations, *state, tau=None, good=None):
    q, qd, qdd = state
    tau = np.zeros_like(q) if tau is None else tau
    good = np.ones(q.shape, dtype=bool) if good is None else good
    Z = tuple(equations.features(q, qd, qdd))
    return Rows(np.arange(len(q)) / 100, q, qd, tau, good, Z)


@pytest.mark.arms(where=lambda arm: arm.friction or arm.rotors or arm.drives)
def test_features_times_what_the_robot_has_are_its_torques(arm):
    robot, state = arm.robot, arm.states(40)  # so many that each joint moves both ways
    equations = written(robot)
    motors = equations.own_motors
    phi = np.concatenate([robot.base_parameters(links=True).values, equations.known(motors)])
    rows = rows_of(equations, *state)
    expected = robot.inverse_dynamics(*state)
    found = equations.predicted(rows, motors, phi)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    # each joint has the features that act on it, and these alone
    for j, (Z, acting) in enumerate(zip(rows.Z, equations.acting, strict=True)):
        assert Z.shape == (40, len(acting))
        size = np.abs(Z).max(axis=0)
        assert (size > 0).all(), (j, size)


def test_springs_come_after_motors_with_their_stiffness_and_tension():
    spring = {
        "name": "balance",
        "link": "link2",
        "point": [0.1, 0.02, 0.03],
        "anchor": [0.1, 0.2, 0.3],
    }
    weak = {"name": "weak", "link": "link3", "point": [0.1, 0.0, 0.0], "anchor": [0.0, 0.1, 0.3]}
    springs = [spring | {"stiffness": 500.0, "free_length": 0.1}, weak | {"stiffness": 20.0}]
    robot = armdyn.load("saha_3r").with_springs(springs)
    equations = written(EvaluatedRobot(robot.model))
    motors = equations.own_motors
    assert [k for k, _ in motors] == [3, 3, 4]
    np.testing.assert_allclose(equations.known(motors), [500.0, 50.0, 20.0])


# columns

SPEED = 0.7
RATES = np.linspace(-2, 2, 9)


def test_columns_of_friction_are_in_speeds_of_their_joint():
    for feature, expected in (
        (VISCOUS, RATES),
        (OFFSET, np.ones(9)),
        (terms.FORWARDS, np.maximum(RATES, 0)),
        (terms.BACKWARDS, np.minimum(RATES, 0)),
        (coulomb(0.1), np.tanh(RATES / (0.1 * SPEED))),
        (terms.power(2.0), RATES * np.abs(RATES)),
        (terms.power(1 / 3), np.cbrt(RATES)),
        (
            terms.stribeck(0.1, 0.3),
            np.tanh(RATES / (0.1 * SPEED)) * np.exp(-((RATES / (0.3 * SPEED)) ** 2)),
        ),
    ):
        np.testing.assert_allclose(feature.torque(RATES, SPEED), expected, atol=1e-12)


def test_each_change_of_terms_is_one_more_or_another_one():
    for structure in terms.first_structures():
        (smooth,) = {feature.smooth for feature in structure if feature.smooth}
        found = terms.changes(structure)
        more = [set(one) - set(structure) for one in found]
        less = [set(structure) - set(one) for one in found]
        assert {frozenset(x) for x in less} == {frozenset(), frozenset([VISCOUS])}
        stribeck = [x for (x, *_) in map(list, more) if x.name == "Stribeck"]
        assert [x.stribeck for x in stribeck] == [v for v in terms.STRIBECK if v > smooth]
        assert {x.smooth for x in stribeck} <= {smooth}
        assert {terms.FORWARDS, terms.BACKWARDS} in more
        powers = [x.power for (x, *_) in map(list, more) if x.power]
        assert powers == list(terms.POWERS)
        assert len(found) == len(stribeck) + len(powers) + 1
        # each is among the columns that are summed up, and has no third kind of change
        for one in found:
            assert set(one) <= set(terms.all_features())
            again = [set(x) - set(one) for x in terms.changes(one)]
            assert not any(
                {f.name.split()[0] for f in x}
                & {f.name.split()[0] for f in set(one) - set(structure)}
                for x in again
            )
    assert len(terms.all_features()) == len(set(terms.all_features()))


# sums


@pytest.fixture(scope="module")
def equations():
    """Of an arm with friction and a follower, with more columns than it has terms."""
    structure = (ROTOR, VISCOUS, coulomb(0.05), OFFSET)
    robot = EvaluatedRobot(worn(armdyn.load("saha_3r")).model)
    return Equations(robot, structure, np.array([0.5, 0.8, 1.1]))


@pytest.fixture(scope="module")
def some_rows(equations):
    rng = np.random.default_rng(8)
    state = rng.normal(size=(3, 57, 3))
    return rows_of(equations, *state, tau=rng.normal(size=(57, 3)), good=rng.random((57, 3)) > 0.2)


def dense(equations, rows, motors):
    """The matrix of all features in the rows of each joint, (n, m, F); what does not act is zero."""
    found = np.zeros((3, len(rows), equations.links + len(motors)))
    for j, (out, into) in enumerate(equations.matched(motors)):
        found[j][:, into] = rows.Z[j][:, out]
    return found


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_the_products_of_good_rows_fold_by_fold(equations, some_rows, weighted):
    motors = equations.motors_with((VISCOUS, OFFSET))
    rng = np.random.default_rng(2)
    weights = rng.uniform(0.1, 2, (57, 3)) if weighted else np.ones((57, 3))
    sums = Sums(equations)
    sums.add(some_rows, weights if weighted else None)
    problem = problem_of(sums, motors)
    assert problem.motors == motors
    Z = dense(equations, some_rows, motors)
    edges = np.linspace(0, 57, FOLDS + 1).astype(int)
    for k, (first, last) in enumerate(pairwise(edges)):
        for j in range(3):
            rows = first + np.flatnonzero(some_rows.good[first:last, j])
            w = weights[rows, j][:, None]
            A, y = Z[j][rows], some_rows.tau[rows, j]
            np.testing.assert_allclose(problem.G[k, j], A.T @ (w * A), atol=1e-10)
            np.testing.assert_allclose(problem.g[k, j], A.T @ (w[:, 0] * y), atol=1e-10)
            assert problem.yy[k, j] == pytest.approx(w[:, 0] @ y**2)
            assert problem.counts[k, j] == len(rows)
    np.testing.assert_array_equal(problem.samples, some_rows.good.sum(0))
    assert sums.samples == 57
    phi, share = rng.normal(size=Z.shape[-1]), rng.uniform(1, 2, 3)
    residual = some_rows.tau - equations.predicted(some_rows, motors, phi)
    squares = np.sum(some_rows.good * weights * residual**2, axis=0)
    np.testing.assert_allclose(problem.squares(phi), squares)
    np.testing.assert_allclose(problem.whole.squares(phi), squares)
    A, b = problem.normal(share)
    np.testing.assert_allclose(
        share @ squares, phi @ A @ phi - 2 * b @ phi + share @ problem.yy.sum(0)
    )
    odd = problem.part(np.arange(FOLDS) % 2 == 1)
    np.testing.assert_allclose(odd.G[0], problem.G[1::2].sum(0))
    even = problem.part(slice(0, FOLDS, 2))
    np.testing.assert_allclose(odd.squares(phi) + even.squares(phi), squares)
    blocks = list(problem.held_out(8))
    for rest, held in blocks:
        np.testing.assert_allclose(rest.G + held.G, problem.whole.G, atol=1e-10)
    np.testing.assert_allclose(sum(held.G for _, held in blocks), problem.whole.G, atol=1e-10)
    np.testing.assert_allclose(blocks[0][1].G[0], problem.G[:4].sum(0))
    assert len(list(problem.part([0, 1]).held_out(8))) == 1


def test_the_same_blocks_of_all_pieces_are_one_fold(equations, some_rows):
    sums, one = Sums(equations), Sums(equations)
    one.add(some_rows)
    for _ in range(2):
        sums.add(some_rows)
    sums.add(rows_of(equations, *np.zeros((3, 0, 3))))
    for both, single in zip(sums.products, one.products, strict=True):
        np.testing.assert_allclose(both, 2 * single)
    assert (sums.samples, len(sums.kept)) == (2 * one.samples, 2)


def test_of_many_pieces_some_are_kept_from_the_whole_log(equations, some_rows, monkeypatch):
    monkeypatch.setattr("armdyn.identification.problem.KEPT_SAMPLES", 4 * 57)
    sums, given = Sums(equations), []
    for k in range(23):
        given.append(replace(some_rows, t=some_rows.t + k))
        sums.add(given[-1])
    places = [next(i for i, one in enumerate(given) if one is kept) for kept in sums.kept]
    assert places == list(range(0, 23, sums.every))
    assert 2 <= len(places) <= 4
    assert sums.samples == 23 * 57


def test_a_prior_is_the_robot_and_terms_that_nobody_knows_are_a_tenth_of_the_torque(
    equations, some_rows
):
    """Of the joint in whose torque they are the most; those that are known are as they are."""
    sums = Sums(equations)
    sums.add(some_rows)
    plain = EvaluatedRobot(armdyn.load("saha_3r").with_parameters({"joint2.viscous": 0.7}).model)
    for robot in (equations.robot, plain):
        given = replace(equations, robot=robot)
        problem = problem_of(sums, given.motors)
        prior = prior_of(given, problem)
        known = given.known(given.motors)
        np.testing.assert_allclose(prior.known[30:], known)
        np.testing.assert_allclose(prior.known[:30], robot.parameters()[:30])
        theta = prior.parameters @ prior.objective.start
        x = np.random.default_rng(0).normal(size=len(theta))
        whole = prior.parameters @ x
        base = robot.base_parameters(links=True)
        np.testing.assert_allclose(prior.features @ x, [*base.matrix @ whole[:30], *whole[30:]])
        rms = np.sqrt(problem.yy.sum(0) / problem.samples)
        scales = np.diag(prior.parameters)[30:]
        for i, (_, feature) in enumerate(given.motors):
            place = given.links + i
            size = np.sqrt(problem.G[:, :, place, place].sum(0) / problem.samples)
            share = (size / rms).max()
            if feature.signed:
                assert theta[30 + i] == pytest.approx(known[i], abs=1e-12)
                assert scales[i] * share == pytest.approx(MOTOR_SHARE)
            elif known[i]:
                assert theta[30 + i] == scales[i] == pytest.approx(known[i])
            else:
                assert theta[30 + i] * share == pytest.approx(MOTOR_SHARE)
