"""What ranks and nearest bodies rest on: exact twins, clean coefficients, divergences."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest

from armdyn.arrays import frozen
from armdyn.formulations.base_parameters import (
    base_parameters,
    exact_twin,
    independent_columns,
    powers,
)
from armdyn.formulations.parameters import full_regressor, robot_parameters
from armdyn.formulations.possible_bodies import (
    PriorBodies,
    divergence_value,
    floored_pseudo,
    longest_step,
    matrices,
)
from armdyn.formulations.regressor import PARAMETERS, body_of, ten_parameters
from armdyn.formulations.scaled_newton import (
    Objective,
    constrained_newton,
    newton,
    with_base_parameters,
)
from armdyn.graph import Graph, evaluate
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import Inertia
from support.peers import close
from support.random_robots import random_model


def test_the_exact_twin_is_the_robot_in_numbers(arm):
    graph = Graph()
    twin = exact_twin(arm.model, graph)

    def numbers(nodes):
        nodes = np.asarray(nodes, dtype=object)
        return np.array(evaluate([graph.node(x) for x in nodes.flat], {})).reshape(nodes.shape)

    for joint, exact in zip(arm.model.joints, twin.joints, strict=True):
        close(numbers(exact.placement), joint.placement, 1e-14)
        close(numbers(exact.axis), joint.axis, 1e-14)
    assert np.array_equal(numbers(twin.base), np.eye(4))
    close(numbers(twin.gravity), arm.model.base[:3, :3].T @ arm.model.gravity, 1e-14)


def nudged(model, share, size):
    """The robot, so large, with places and turns of joints off by a share."""
    rng, joints = np.random.default_rng(0), []
    for joint in model.joints:
        T = np.array(joint.placement)
        T[:3] += share * rng.uniform(-1, 1, (3, 4))
        T[:3, 3] *= size
        joints.append(replace(joint, placement=frozen(T)))
    return replace(model, joints=tuple(joints))


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4])
@pytest.mark.arms(where=lambda arm: bool(arm.rows))
def test_what_is_off_by_rounding_is_what_was_meant_however_large_a_robot_is(arm, size):
    places = []
    for share in (0.0, 1e-11, 1e-6):
        graph = Graph()
        twin = exact_twin(nudged(arm.model, share, size), graph)
        nodes = [graph.node(x) for j in twin.joints for x in j.placement[:3].flat]
        places.append(np.array(evaluate(nodes, {})))
    exact, near, other = places
    zeros = exact == 0.0
    assert zeros.any()
    assert (near[zeros] == 0.0).all()
    assert (other[zeros] != 0.0).any()


def test_lengths_have_the_powers_of_their_units(arm):
    """A body that is larger by a factor has numbers larger by its powers."""
    model, count = arm.model, sum(p.linear for p in robot_parameters(arm.model))
    body = body_of(np.arange(1.0, 11.0))
    larger = Inertia.from_origin(body.mass, 3.0 * body.first_moment, 9.0 * body.moment)
    found = np.log(ten_parameters(larger) / ten_parameters(body)) / np.log(3.0)
    close(powers(model, range(10)), found, 1e-12)
    links = 10 * len(model.links)
    expected = [*np.tile(found, len(model.links)), *[2] * (count - links)]
    close(powers(model, range(count)), expected, 1e-12)


def test_base_parameters_carry_the_torques_and_their_columns_are_independent(arm):
    at = coordinates_of(arm.model)
    base = base_parameters(at)
    known = np.array([p.value for p in robot_parameters(arm.model) if p.linear])
    close(base.values, base.matrix @ known, 1e-14)
    rng = np.random.default_rng(5)
    q, qd, qdd = rng.uniform(-2, 2, (3, 60, len(arm.model.independent)))
    here = at.at(q)
    Y = here.rows(full_regressor(arm.model, *here.motion(qd, qdd)))
    Y_b = Y[..., list(base.columns)]
    close(Y_b @ base.matrix, Y, 1e-10)
    W = Y_b.reshape(-1, base.rank)
    assert np.linalg.matrix_rank(W / np.linalg.norm(W, axis=0)) == base.rank
    assert np.array_equal(base.matrix[:, list(base.columns)], np.eye(base.rank))
    assert not np.signbit(base.matrix[base.matrix == 0]).any()
    assert not base.matrix[:, np.linalg.norm(Y.reshape(-1, Y.shape[-1]), axis=0) == 0].any()


@pytest.mark.arms(where=lambda arm: bool(arm.rows))
def test_coefficients_are_the_numbers_and_lengths_that_the_geometry_has(arm):
    """No rounding is left where twists are quarter turns, and groupings say the same in words."""
    base = base_parameters(coordinates_of(arm.model), links=True)
    names = [p.name for p in robot_parameters(arm.model)][: base.matrix.shape[1]]
    known = {0.0, 1.0, 2.0}
    for joint in arm.model.joints:
        x, y, z = np.abs(joint.placement[:3, 3])
        for a in (x, y, z):
            known |= {a, 2.0 * a, a * a}
        known |= {x * y, y * z, x * z, x * x + y * y, y * y + z * z, x * x + z * z}
    sums = 0
    for text, row in zip(base.groupings, base.matrix, strict=True):
        off = [np.abs(np.array(sorted(known)) - abs(c)).min() / max(1e-9, abs(c)) for c in row]
        assert all(o < 2e-16 or o > 1e-7 for o in off), text  # or a sum of those of many joints
        sums += sum(o > 1e-7 for o in off)
        value = dict.fromkeys(names, 0.0)
        for sign, factor, name in re.findall(
            r"(?:^| )([+-] )?(?:(\([^)]*\)|\S+?)\*)?([^\s*]+\.\w+)(?= |$)", text
        ):
            size = 1.0 if not factor else in_numbers(arm.model, factor)
            value[name] += -size if sign == "- " else size
        np.testing.assert_allclose(list(value.values()), row, rtol=1e-5, atol=1e-9)
    words = [w for text in base.groupings for w in re.findall(r"joint\d\.[xyz]", text)]
    assert not (words and sums)


def in_numbers(model, text):
    """A coefficient such as "2*joint2.x", "joint2.x^2" or "0.15"."""
    joints = {joint.name: joint for joint in model.joints}

    def length(match):
        return repr(float(abs(joints[match[1]].placement["xyz".index(match[2]), 3])))

    return float(eval(re.sub(r"(joint\d)\.([xyz])", length, text).replace("^", "**")))


def test_columns_among_known_ones_are_as_many_as_their_rank(arm):
    at = coordinates_of(arm.model)
    count = sum(p.linear for p in robot_parameters(arm.model))
    among = range(10 * len(arm.model.links) - 10, 10 * len(arm.model.links))
    found = independent_columns(at, among)
    assert set(found) <= set(among)
    q, qd, qdd = np.random.default_rng(5).uniform(-2, 2, (3, 60, len(arm.model.independent)))
    here = at.at(q)
    Y = here.rows(full_regressor(arm.model, *here.motion(qd, qdd))).reshape(-1, count)
    W = Y[:, list(among)]
    sizes = np.linalg.norm(W, axis=0)
    unit = W / np.where(sizes > 1e-12 * sizes.max(), sizes, np.inf)
    assert len(found) == np.linalg.matrix_rank(unit, tol=1e-8)
    assert np.linalg.matrix_rank(Y[:, list(found)] / np.linalg.norm(Y[:, list(found)], axis=0)) == (
        len(found)
    )


def objective(seed=3, links=2):
    """A function of bodies, of a magnitude and of a number with a sign."""
    rng = np.random.default_rng(seed)
    roots = np.array([np.linalg.cholesky(floored_pseudo(cloud(rng))) for _ in range(links)])
    signed, centre = np.array([False, True]), np.array([1.0, -0.3])
    plain = Objective.plain(PriorBodies(roots), np.array([0.7, 1.4]), signed, centre)
    return plain, rng


def cloud(rng):
    points = np.hstack([0.3 * rng.normal(size=(6, 3)), np.ones((6, 1))])
    return Inertia.from_pseudo(points.T @ points)


def test_divergence_is_zero_at_the_prior_alone_and_has_no_bound_at_the_edge():
    plain, rng = objective()
    assert plain.value(plain.start) == pytest.approx(0.0, abs=1e-14)
    close(plain.slopes(plain.start)[0], np.zeros(22), 1e-14)
    close(matrices(plain.start[:20].reshape(2, 10)), [np.eye(4)] * 2, 1e-15)
    for _ in range(5):
        dx = rng.normal(size=20).reshape(2, 10)
        x = plain.start[:20].reshape(2, 10)
        edge = longest_step(x, dx)
        least = np.linalg.eigvalsh(matrices(x + edge * dx)).min()
        assert least == pytest.approx(0.0, abs=1e-12)
        inside = divergence_value(x + 0.999 * edge * dx)
        X = matrices(x + 0.999 * edge * dx)
        expected = np.trace(X, axis1=1, axis2=2) - np.linalg.slogdet(X)[1] - 4
        close(inside, expected, 1e-10)
        assert np.isinf(divergence_value(x + 1.001 * edge * dx)).all()
    assert longest_step(x, np.tile(plain.start[:10], (2, 1))) == np.inf


def test_steps_stay_inside_and_go_as_far_as_they_may():
    plain, rng = objective()
    for k in range(8):
        dx = rng.normal(size=22) * (4.0 if k % 2 else 0.05)
        dx[20] = (-3.0, -0.4, 0.5)[k % 3]
        room = plain.room(plain.start, dx)
        assert 0 < room <= 1
        assert np.isfinite(plain.value(plain.start + room * dx))
        if room < 1:
            assert not np.isfinite(plain.value(plain.start + room / 0.9 * 1.001 * dx))
    heavier = plain.weighted(2.0, np.array([3.0, 5.0]))
    x = plain.start + 0.02 * rng.normal(size=22)
    parts = [
        replace(plain, weight=w).value(x)
        for w in np.array([[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    ]
    assert heavier.value(x) == pytest.approx(np.array([2.0, 3.0, 5.0]) @ parts)


def test_the_minimum_has_no_slope_and_with_conditions_one_along_them():
    plain, rng = objective()
    S = rng.normal(size=(30, 22))
    whole = plain.with_data(S.T @ S, S.T @ (S @ plain.start + rng.normal(size=30)))
    x = newton(whole, plain.start)
    size = np.abs(whole.A).max()
    assert np.abs(whole.slopes(x)[0]).max() < 1e-4 * size
    assert all(whole.value(x) <= whole.value(x + 1e-3 * rng.normal(size=22)) for _ in range(20))
    free = rng.random(22) < 0.5
    some = newton(whole, plain.start, free)
    assert np.array_equal(some[~free], plain.start[~free])
    assert np.abs(whole.slopes(some)[0][free]).max() < 1e-4 * size
    B = rng.normal(size=(5, 22))
    r = B @ (1.1 * plain.start)
    x = constrained_newton(plain, plain.start, B, r)
    close(B @ x, r, 1e-9)
    gradient = plain.slopes(x)[0]
    rest = gradient - B.T @ np.linalg.lstsq(B.T, gradient, rcond=None)[0]
    assert np.abs(rest).max() < 1e-5 * np.abs(gradient).max()


@pytest.mark.arms(where=lambda arm: not arm.mimics)
def test_the_nearest_robot_has_the_base_parameters_that_were_asked_for(arm):
    base = base_parameters(coordinates_of(arm.model), links=True)
    wanted = 1.02 * base.values
    found = with_base_parameters(arm.rigid, base, wanted)
    values = np.array([p.value for p in robot_parameters(found)][: base.matrix.shape[1]])
    close(base.matrix @ values, wanted, 1e-6)
    assert all(np.linalg.eigvalsh(link.inertia.pseudo).min() > 0 for link in found.links)


@pytest.mark.parametrize(("axis", "handed"), [(0, "x Iyy"), (1, "y Ixx"), (2, "z Iyy")])
def test_a_hinge_hands_its_mass_and_what_lies_along_its_axis_to_the_link_before(axis, handed):
    """Khalil: of a link on a hinge about z these are m, m cz and Iyy."""
    model = random_model("RRR", 2)
    joints = tuple(replace(joint, axis=np.eye(3)[axis]) for joint in model.joints)
    base = base_parameters(coordinates_of(replace(model, joints=joints)), links=True)
    along, across = handed.split()
    for link in ("link2", "link3"):
        own = {name.partition(".")[2] for name in base.names if name.startswith(link)}
        assert own == {*PARAMETERS} - {"m", f"mc{along}", across}


def test_columns_that_hardly_differ_from_others_are_told_of():
    model = random_model("RRR", 2)
    for tilt, told in ((0.0, False), (1e-9, True), (1e-2, False)):
        joints = list(model.joints)
        placement = np.array(joints[1].placement)
        z = joints[0].axis
        placement[:3, :3] = np.eye(3)
        axis = z + tilt * np.cross(z, [0.3, 0.4, 0.5])
        joints[1] = replace(
            joints[1], placement=frozen(placement), axis=frozen(axis / np.linalg.norm(axis))
        )
        at = coordinates_of(replace(model, joints=tuple(joints)))
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            base_parameters(at, links=True)
        assert bool(found) == told
