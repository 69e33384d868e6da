import itertools

import numpy as np
import pytest

import armdyn
from armdyn.model.transform import rotation_about
from armdyn.study.simplify.goals import obstacles, parse_goals
from support.design_arms import HALF, planar, polar, two_groups
from support.random_robots import random_model, special_model

pytestmark = pytest.mark.slow


def named(model, goal):
    return {(o.goal, o.joints) for o in obstacles(model, parse_goals(model, goal))}


def axes(model, q):
    """Every axis in world axes."""
    turned = []
    for joint, value in zip(model.joints, q, strict=True):
        R = turned[joint.parent][0] if joint.parent >= 0 else model.base[:3, :3]
        R = R @ joint.placement[:3, :3]
        axis = R @ joint.axis
        turned.append((R if joint.type.slides else R @ rotation_about(joint.axis, value), axis))
    return [axis for _, axis in turned]


def carried(model, i):
    return sum(model.links[k].inertia.mass for k, path in enumerate(model.paths) if i in path)


class TestLaws:
    """The identities that forbid, on arms with nothing special about them."""

    def evaluate(self, kinds, seed):
        model = random_model(kinds, seed)
        robot = armdyn.Robot(model)
        q = np.random.default_rng(seed).uniform(-1, 1, size=len(kinds))
        return model, robot, q

    @pytest.mark.parametrize("seed", range(3))
    def test_mean_coupling_of_two_turning_joints(self, seed):
        model, robot, q = self.evaluate("RRPRR", seed)
        for j, i in ((0, 1), (0, 3), (1, 3), (3, 4), (0, 4)):
            turns = np.repeat(q[None], 5, axis=0)
            turns[:, i] += np.arange(5) * 2 * np.pi / 5  # exact for degree two
            M = robot.mass_matrix(turns)
            e = axes(model, q)
            assert M[:, i, j].mean() == pytest.approx(M[0, i, i] * (e[i] @ e[j]), abs=1e-12)

    @pytest.mark.parametrize("seed", range(3))
    def test_coupling_of_two_sliding_joints(self, seed):
        model, robot, q = self.evaluate("RPRPR", seed)
        e = axes(model, q)
        expected = carried(model, 3) * (e[1] @ e[3])
        assert robot.mass_matrix(q)[1, 3] == pytest.approx(expected, abs=1e-12)

    @pytest.mark.parametrize("seed", range(3))
    def test_inertia_about_an_axis_grows_with_a_slide_across_it(self, seed):
        model, robot, q = self.evaluate("RRPRR", seed)
        e, h = axes(model, q), 0.5
        states = q + h * np.outer([-1, 0, 1], np.eye(5)[2])
        for j in (0, 1):
            below, here, above = robot.mass_matrix(states)[:, j, j]
            curvature = (below - 2 * here + above) / (2 * h**2)
            across = np.cross(e[j], e[2])
            assert curvature == pytest.approx(carried(model, 2) * (across @ across), abs=1e-11)

    @pytest.mark.parametrize("seed", range(3))
    def test_gravity_on_a_slide_and_by_a_slide(self, seed):
        model, robot, q = self.evaluate("RRPRR", seed)
        e, mass, g = axes(model, q), carried(model, 2), model.gravity
        assert robot.gravity_vector(q)[2] == pytest.approx(-mass * (g @ e[2]), abs=1e-11)
        slope = robot.gravity_vector(q + np.eye(5)[2]) - robot.gravity_vector(q)
        for j in (0, 1):
            assert slope[j] == pytest.approx(-mass * (e[j] @ np.cross(e[2], g)), abs=1e-11)


@pytest.mark.parametrize("seed", range(40))
def test_what_is_decided_exactly_is_seen_in_numbers(seed):
    model = special_model(seed)
    rng = np.random.default_rng(seed)
    e = np.array([axes(model, q) for q in rng.uniform(-3, 3, size=(20, len(model.joints)))])
    expected = set()
    for i, path in enumerate(model.paths):
        for j in path[:-1]:
            product = np.einsum("sk,sk->s", e[:, i], e[:, j])
            slides = model.joints[j].type.slides, model.joints[i].type.slides
            if slides == (False, True) and np.abs(product**2 - 1).max() > 1e-6:
                expected.add(("constant", (j, i)))
            if slides[0] == slides[1] and np.ptp(product) > 1e-6:
                expected.add(("constant", (j, i)))
    assert named(model, "constant") == expected


@pytest.mark.parametrize("turns", list(itertools.product((0.0, HALF, 0.7), repeat=3)))
def test_turning_axes_must_form_at_most_two_groups_of_parallel_ones(turns):
    rows = [
        {"joint": "revolute", "a": 0.2, "alpha": alpha, "mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
        for alpha in (*turns, 0.0)
    ]
    model = armdyn.from_dh(rows).model
    groups = 1 + sum(alpha != 0 for alpha in turns)
    assert bool(named(model, "constant")) == (groups > 2)


def test_axes_parallel_across_an_inclined_slide_are_recognised():
    body = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
    rows = [
        {"joint": "revolute", "alpha": 0.5, **body},
        {"joint": "prismatic", "alpha": -0.5, **body},
        {"joint": "revolute", **body},
    ]
    model = armdyn.from_dh(rows).model
    assert named(model, "constant") == {("constant", (0, 1))}
    assert named(model, "decouple=1,3") == {("zero", (0, 2))}


def test_the_sum_of_two_angles_that_closes_is_no_obstacle():
    body = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
    rows = [{"joint": "prismatic", "alpha": a, **body} for a in (0.3, 0.4, HALF - 0.7, 0.0)]
    assert ("zero", (0, 3)) not in named(armdyn.from_dh(rows).model, "diagonal")


def test_known_arms():
    assert named(armdyn.load("saha_3r").model, "constant") == set()
    assert named(armdyn.load("saha_3r").model, "diagonal") == {("zero", (1, 2))}
    assert named(planar(3), "diagonal") == {("zero", pair) for pair in ((0, 1), (0, 2), (1, 2))}
    assert named(polar(), "constant") == {("constant", (0, 1))}
    assert named(two_groups(), "constant") == set()
    assert ("constant", (3, 5)) in named(armdyn.load("renaud_6r").model, "constant")
    assert named(armdyn.load("scara").model, "gravity-balanced") == {("gravity-balanced", (2,))}
    assert named(armdyn.load("puma560").model, "gravity-balanced") == set()
    weightless = armdyn.load("scara").with_gravity((0, 0, 0)).model
    assert named(weightless, "gravity-balanced") == set()


def test_an_obstacle_says_which_joints_and_why():
    (obstacle,) = obstacles(polar(), parse_goals(polar(), "constant"))
    assert obstacle.law == "D11 = ... + m̃2 |e1 × e2|² q2²"
    assert "joint 1" in str(obstacle)
    assert "joint 2" in str(obstacle)
    assert "not parallel" in str(obstacle)
