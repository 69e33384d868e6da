"""Arms that do not shake their base: what the ground carries is the oracle."""

import json

import numpy as np
import pinocchio as pin
import pytest

import armdyn
from armdyn.errors import ModelError
from armdyn.loops.coordinates import coordinates_of
from armdyn.shorten.canonical.frames import canonical
from armdyn.study.simplify.goals import obstacles, parse_goals
from armdyn.study.simplify.linear import InertiaCoefficients, samples
from support.design_arms import design, planar, polar
from support.peers import pin_model
from support.random_robots import random_model


def ground(model, states=30):
    """The force of the ground on the base in random motions, (states, 3)."""
    q, qd, qdd = np.random.default_rng(3).uniform(-2, 2, (3, states, len(model.joints)))
    return armdyn.Robot(model).reactions(q, qd, qdd, base_wrench=True)[:, 0, :3]


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", [planar(2), random_model("RRR", 4, tree=True)], ids=["2R", "tree"]
)
def test_no_motion_shakes_the_base_by_a_force(model):
    found = design(model, "shaking-force", "*.mass,*.com,*.inertia", add_only=True)
    assert found.feasible
    before, after = ground(model), ground(found.model)
    mass = sum(link.inertia.mass for link in (found.model.base_link, *found.model.links))
    assert np.ptp(before, axis=0).max() > 1
    np.testing.assert_allclose(after, np.tile(-mass * model.gravity, (30, 1)), atol=1e-8 * mass)


def test_the_centre_of_mass_of_the_arm_stays_where_it_is():
    found = design(planar(3), "shaking-force", reach=np.inf)
    other, data = pin_model(found.model)
    q = np.random.default_rng(0).uniform(-3, 3, (10, 3))
    centres = [pin.centerOfMass(other, data, state).copy() for state in q]
    np.testing.assert_allclose(centres, np.tile(centres[0], (10, 1)), atol=1e-9)


def test_momenta_are_those_of_pinocchio():
    model = random_model("RRPR", 7)
    robot, q = canonical(model), samples(model)[:4]
    arm = InertiaCoefficients(robot, q, coordinates_of(model))
    phi = np.concatenate(
        [np.concatenate([[x.M], x.u, np.diag(x.J), x.J[[0, 0, 1], [1, 2, 2]]]) for x in robot.links]
    )
    other, data = pin_model(model)
    for s, state in enumerate(q):
        columns = pin.computeCentroidalMap(other, data, state)
        for i in range(4):
            p = np.array([(arm.momentum(i, e) @ phi)[s] for e in np.eye(3)])
            h = np.array([(arm.angular_momentum(i, axis) @ phi)[s] for axis in range(3)])
            # the axes of the canonical base are others, lengths and products are not
            assert np.linalg.norm(p) == pytest.approx(np.linalg.norm(columns[:3, i]))
            assert p @ h == pytest.approx(columns[:3, i] @ columns[3:, i], abs=1e-10)


def test_a_balanced_arm_has_its_inertia_as_angular_momentum():
    found = design(planar(2), "shaking-force").model
    other, data = pin_model(found)
    for q in np.random.default_rng(1).uniform(-3, 3, (5, 2)):
        h = pin.computeCentroidalMap(other, data, q)[3:]
        M = pin.crba(other, data, q)
        assert np.linalg.norm(h[:, 1]) == pytest.approx(M[1, 1])
        assert np.linalg.norm(h[:, 0]) == pytest.approx(M[0, 0])


def test_what_forbids_it():
    found = obstacles(polar(), parse_goals(polar(), "shaking-force"))
    assert [(o.goal, o.joints) for o in found] == [("shaking-force", (1,))]
    model = planar(2)
    found = obstacles(model, parse_goals(model, "shaking-moment"))
    assert [(o.goal, o.joints) for o in found] == [("shaking-moment", (i,)) for i in range(2)]
    nearest = armdyn.simplify(model, goal="shaking-moment")
    assert not nearest.feasible
    assert "only a further body that turns the other way" in nearest.reason
    assert "not written out" in nearest.solved.note


def test_the_conditions_are_on_first_moments_alone():
    found = armdyn.simplify(planar(2), goal="shaking-force")
    (branch,) = found.branches
    assert branch.equations == ("x2 = 0", "y2 = 0", "x1 = -a1 m2/m1", "y1 = 0")


def test_a_reduced_set_says_nothing_of_forces_on_the_base():
    with pytest.raises(ModelError, match=r"reduced set.*forces on the base"):
        armdyn.simplify(armdyn.load("puma560"), goal="shaking-force")


@pytest.mark.slow
def test_the_command_tells_how_the_base_shakes(command, tmp_path):
    path = tmp_path / "arm.toml"
    armdyn.Robot(planar(1)).save(path)
    words = ("simplify", str(path), "--goal", "shaking-force", "--no-symbolic", "--json")
    code, out, _ = command(*words)
    assert code == 0
    force, moment = json.loads(out)["shaking"]
    assert force["before"] > 1
    assert force["after"] < 1e-9 * force["before"]
    assert moment["after"] > 0
