"""Designs of arms with parallelograms: constant and decoupled mass matrices.

The parallelogram arm and its numbers: crank, coupler and forearm beside a first link; its mass
matrix is constant and diagonal if m3 l2 d3 = m4 l1 d4 (H. Asada, K. Youcef-Toumi, Direct-Drive
Robots). Here joints are counted as the tree has them: link 2 is the forearm, 4 the coupler.
"""

import numpy as np
import pytest

import armdyn
from armdyn.errors import LoopError, UnknownNameError
from support.loops import FIVE_BAR, PARALLELOGRAM_ARM

pytestmark = pytest.mark.slow
NUMBERS = {
    "link1": (6.0, (0.27, 0.004), 0.2),
    "crank": (2.5, (0.09, -0.003), 0.012),
    "coupler": (3.0, (0.32, 0.012), 0.11),
    "forearm": (3.2, (-0.2, 0.00375), 0.19),
}
"""Mass, centre of mass and moment of inertia."""


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    file = tmp_path_factory.mktemp("loops") / "arm.toml"
    text = PARALLELOGRAM_ARM.replace("[0.25, 0.0, 0.0]", "[0.2, 0.0, 0.0]")
    text = "\n".join(line for line in text.splitlines() if not line.startswith("viscous"))
    file.write_text(text)
    robot = armdyn.load(file)
    for name, (mass, (x, y), moment) in NUMBERS.items():
        tensor = np.diag([0.1, 0.95, 1.0]) * moment
        robot = robot.with_link(name, mass=mass, com=(x, y, 0.0), inertia=tensor)
    return robot


@pytest.fixture(scope="module")
def found(robot):
    return armdyn.simplify(robot, free="forearm.com", goal="constant")


def test_the_condition_of_the_book_is_found(found):
    assert {str(polynomial) for polynomial in found.conditions.equations} == {
        "a1*m2*x2 + a3*m4*x4",
        "a1*m2*y2 - a3*m4*y4",
    }
    (branch,) = found.branches
    assert branch.feasible
    assert dict(branch.numbers) == {"x2": "-a3 m4 x4/(a1 m2)", "y2": "a3 m4 y4/(a1 m2)"}


def test_the_mass_matrix_of_the_example_is_constant_and_diagonal(robot, found):
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (500, 2))
    assert np.abs(robot.mass_matrix(q)[:, 0, 1]).max() == pytest.approx(0.19, abs=0.005)
    assert found.feasible
    M = found.robot.mass_matrix(q)
    expected = np.broadcast_to(np.diag([2.207128, 0.3743175]), M.shape)
    np.testing.assert_allclose(M, expected, atol=1e-9)
    assert np.abs(found.robot.coriolis_matrix(q, q[::-1])).max() < 1e-9
    np.testing.assert_allclose(
        found.robot.model.links[1].inertia.com[:2], [-0.1, 0.00375], atol=1e-9
    )


def test_counterweights_cancel_gravity_as_well(found):
    weights = {"link1": (12.0, (-0.375, -0.005)), "crank": (4.0, (-0.12625, -0.001125))}
    robot = found.robot
    for name, (more, place) in weights.items():
        link = next(link for link in robot.model.links if link.name == name)
        body = link.inertia
        added = armdyn.Inertia.from_com(more, (*place, 0.0), np.zeros((3, 3)))
        whole = body + added
        robot = robot.with_link(
            name, mass=whole.mass, com=whole.com, inertia=whole.moment_about_com
        )
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (50, 2))
    assert np.abs(robot.gravity_vector(q)).max() < 1e-8
    expected = np.diag([3.894928, 0.4380788125])
    np.testing.assert_allclose(robot.mass_matrix(q[0]), expected, atol=1e-8)


def test_goals_name_the_motors(robot):
    design = armdyn.simplify(robot, free="forearm.com", goal="decouple=q_link1,q_crank")
    assert design.feasible
    assert [v.element for v in design.variations] == ["D13"]
    with pytest.raises(UnknownNameError, match="q_coupler"):
        armdyn.simplify(robot, goal="decouple=q_link1,q_coupler")


def test_what_cannot_be_designed_with_loops_is_refused(robot, tmp_path):
    with pytest.raises(LoopError, match="lengths of 'parallelogram_arm' cannot be free, because"):
        armdyn.simplify(robot, free="link1.length", goal="constant")
    with pytest.raises(LoopError, match="without shaking are searched for only where there are no"):
        armdyn.simplify(robot, goal="shaking-force")
    file = tmp_path / "five_bar.toml"
    file.write_text(FIVE_BAR)
    with pytest.raises(LoopError, match="has the loop 'pin', and designs are searched for only"):
        armdyn.simplify(armdyn.load(file), goal="constant")
