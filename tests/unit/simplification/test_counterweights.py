"""Changes of a link as point masses and boxes."""

from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.model import Body, Inertia, Link
from armdyn.study.simplify.counterweights import counterweights, link_changes, shape

pytestmark = pytest.mark.slow


def points(rng, count):
    masses = rng.uniform(0.1, 5.0, count)
    places = rng.normal(size=(count, 3))
    r = np.column_stack([places, np.ones(count)])
    return (masses[:, None] * r).T @ r


def total(weights):
    return sum(w.mass * np.outer([*w.position, 1.0], [*w.position, 1.0]) for w in weights)


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(20))
def test_point_masses_are_the_change_are_fewest_and_as_near_as_can_be(rank, seed):
    J = points(np.random.default_rng(seed), rank)
    weights, note = counterweights(J)
    assert (len(weights), note) == (rank, "")
    np.testing.assert_allclose(total(weights), J, rtol=0, atol=1e-12 * np.abs(J).max())
    assert all(w.mass > 0 for w in weights)
    # no masses have a smaller largest distance than the root of the mean square
    mean = np.sqrt(np.trace(J[:3, :3]) / J[3, 3])
    np.testing.assert_allclose([np.linalg.norm(w.position) for w in weights], mean, rtol=1e-9)


def test_many_masses_become_four():
    J = points(np.random.default_rng(1), 50)
    weights, _ = counterweights(J)
    assert len(weights) == 4
    np.testing.assert_allclose(total(weights), J, rtol=0, atol=1e-12 * np.abs(J).max())


def test_a_mass_bolted_to_a_link_is_found_where_it_is():
    before = armdyn.load("ur5e").model
    place = np.array([-0.2, 0.05, 0.1])
    weight = Body("weight", Inertia.from_com(0.7, place, np.zeros((3, 3))))
    links = list(before.links)
    links[2] = Link(links[2].name, (*links[2].bodies, weight))
    (found,) = link_changes(before, replace(before, links=tuple(links)))
    (mass,) = found.weights
    assert (found.link, found.name, found.note) == (2, before.links[2].name, "")
    assert mass.mass == pytest.approx(0.7, rel=1e-9)
    np.testing.assert_allclose(found.in_model(mass.position), place, atol=1e-9)
    assert found.after.mass - found.before.mass == pytest.approx(0.7)


def test_a_payload_is_no_change_of_a_link():
    robot = armdyn.load("ur5e")
    assert link_changes(robot.model, robot.with_payload(2.0).model) == ()


@pytest.mark.parametrize("second", [np.diag([1.0, 0.0, 0.0]), np.diag([0.3, 0.2, 0.1])])
def test_inertia_without_mass_is_no_set_of_point_masses(second):
    J = np.zeros((4, 4))
    J[:3, :3] = second
    weights, note = counterweights(J)
    assert weights == ()
    assert "inertia is added without mass" in note


def test_what_is_taken_away_is_no_set_of_point_masses():
    J = points(np.random.default_rng(2), 4) - 1.5 * points(np.random.default_rng(3), 1)
    assert np.linalg.eigvalsh(J)[0] < 0
    weights, note = counterweights(J)
    assert weights == ()
    assert "taken away or moved" in note
    assert counterweights(np.zeros((4, 4))) == ((), "nothing changes")


def test_a_box_is_found_again_turned_and_moved():
    sides, mass = np.array([0.5, 0.3, 0.1]), 4.0
    square = sides**2
    tensor = mass / 12 * np.diag(square.sum() - square)
    R = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))[0]
    found = shape(Inertia.from_com(mass, (0.2, -0.1, 0.4), tensor, R))
    order = np.rint(np.abs(found.axes.T @ R))
    np.testing.assert_allclose(np.abs(found.axes.T @ R), order, atol=1e-10)
    np.testing.assert_allclose(found.sides, order @ sides, rtol=1e-12)
    np.testing.assert_allclose(found.com, (0.2, -0.1, 0.4), rtol=1e-12)
    np.testing.assert_allclose(found.principal, order @ np.diag(tensor), rtol=1e-12)
    assert np.abs(np.diag(found.axes)).sum() >= np.abs(np.diag(found.axes[:, ::-1])).sum()


def test_a_body_that_cannot_exist_has_no_box():
    assert shape(Inertia.from_com(1.0, (0, 0, 0), np.diag([1.0, 0.1, 0.1]))).sides is None
    assert shape(Inertia.zero()).sides is None
