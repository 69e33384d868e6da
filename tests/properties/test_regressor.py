"""τ = Y π = Y_b π_b: the regressor, and the base parameters of many kinds of robots."""

import re
from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn import Robot
from armdyn.arrays import frozen
from armdyn.errors import ArmdynWarning
from armdyn.model import Body, Link
from support.peers import PinocchioArm, close
from support.programs import EvaluatedRobot
from support.random_robots import random_inertia, random_model

KNOWN = {
    "two_link": 6,
    "renaud_6r": 36,
    "puma560": 36,
    "stanford": 33,
    "panda": 43,
    "iiwa14": 43,
}
"""Base parameters of arms whose first axis is vertical (of the planar arm: horizontal)."""


def chain(*twists, gravity=(0.0, 0.0, -9.81), kinds=None):
    """A chain of modified DH with the given twists [rad] and lengths that are all different."""
    rows = [
        dict(
            joint=kind,
            alpha=alpha,
            a=0.2 + 0.1 * i,
            d=0.15 - 0.07 * i,
            mass=1.0,
            com=(0.1, 0.2, 0.05),
            inertia=(0.1, 0.12, 0.08),
        )
        for i, (alpha, kind) in enumerate(
            zip(twists, kinds or ["revolute"] * len(twists), strict=True)
        )
    ]
    return armdyn.from_dh(rows, convention="modified", gravity=gravity)


def stacked(robot, links, states=200, seed=0):
    """The regressor over many states, each column at unit length, those of mere rounding zero."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-3, 3, size=(3, states, robot.n))
    Y = robot.regressor(q, qd, qdd, links=links)
    W = Y.reshape(-1, Y.shape[-1])
    sizes = np.linalg.norm(W, axis=0)
    return np.where(sizes > 1e-12 * sizes.max(), W / np.where(sizes > 0, sizes, 1.0), 0.0)


def check_base_parameters(robot):
    states = np.random.default_rng(3).uniform(-2, 2, size=(3, 5, robot.n))
    of_links = robot._at.torques(robot.formulate("newton_euler", *states, frame="joint").tau)
    for links, tau in ((True, of_links), (False, robot.inverse_dynamics(*states))):
        base = robot.base_parameters(links=links)
        assert base.rank == np.linalg.matrix_rank(stacked(robot, links))
        Y, Y_b = (f(*states, links=links) for f in (robot.regressor, robot.base_regressor))
        assert base.matrix.shape == (base.rank, Y.shape[-1])
        close(base.values, base.matrix @ robot.parameters()[: Y.shape[-1]], 1e-14)
        close(Y, Y_b @ base.matrix, 1e-10)
        close(Y_b @ base.values, tau)


def test_regressor_of_links_is_that_of_pinocchio(arm):
    states = arm.states()
    Y = arm.robot.regressor(*states, links=True)
    close(Y, PinocchioArm(arm, spins=False).regressor(*states), 1e-11)


def test_torque_is_regressor_times_parameters(arm):
    states, robot = arm.states(2, 3), arm.robot
    Y = robot.regressor(*states)
    linear = [parameter.linear for parameter in robot.parameter_table]
    assert Y.shape == (2, 3, robot.n, sum(linear))
    # of friction some terms have parameters that torques are not linear in, as exponents
    close(Y @ robot.parameters()[linear], robot.inverse_dynamics(*states), 1e-11)


def test_parameters_go_by_name():
    robot = armdyn.load("panda")
    value = dict(zip(robot.parameter_names, robot.parameters(), strict=True))
    body = robot.model.links[3].inertia
    name = robot.model.links[3].name
    assert len(value) == 70
    assert value[f"{name}.m"] == body.mass
    assert value[f"{name}.mcy"] == body.first_moment[1]
    assert value[f"{name}.Ixz"] == body.moment[0, 2]


def test_base_parameters_of_any_robot(arm):
    check_base_parameters(arm.robot)


@pytest.mark.parametrize(
    "name",
    ["craig_two_link", "saha_3r", "scara", "ur5e", "xarm7", *KNOWN],
)
def test_base_parameters_of_the_catalog(name):
    check_base_parameters(EvaluatedRobot(armdyn.load(name).model))


@pytest.mark.parametrize(("name", "count"), KNOWN.items())
def test_number_of_base_parameters_is_the_known_one(name, count):
    assert armdyn.load(name).base_parameters(links=True).rank == count


@pytest.mark.parametrize(
    ("twists", "kinds"),
    [
        ((0, 0, 0), "RRR"),
        ((0, 0, np.pi / 2, 0, 0), "RRRRR"),
        ((0, np.pi / 2, np.pi / 2), "PPP"),
        ((0.3, np.pi / 2, 0, 0), "PRRP"),
        ((0, 0, 0, np.pi / 2), "PPRR"),
        ((0, np.pi / 2, 0, -np.pi / 2), "RPRP"),
    ],
)
@pytest.mark.parametrize("gravity", [(0, 0, -9.81), (0, -9.81, 0), (0, 0, 0)])
def test_base_parameters_of_special_geometries(twists, kinds, gravity):
    names = {"R": "revolute", "P": "prismatic"}
    robot = chain(*twists, gravity=gravity, kinds=[names[k] for k in kinds])
    check_base_parameters(EvaluatedRobot(robot.model))


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7])
def test_gravity_along_the_first_axis_hides_two_parameters(n):
    # Khalil: 7 n - 4 for a revolute chain without special geometry; along gravity the first
    # moments of link 1 do nothing
    robot = Robot(random_model("R" * n, n))
    assert robot.base_parameters().rank == 7 * n - 4
    first = robot.model.joints[0]
    axis = robot.model.base[:3, :3] @ first.placement[:3, :3] @ first.axis
    upright = robot.with_gravity(-9.81 * np.sign(axis[2]) * axis)
    hidden = set(robot.base_parameters().names) - set(upright.base_parameters().names)
    assert upright.base_parameters().rank == 7 * n - 6
    assert all(name.startswith("link1.mc") for name in hidden)


def test_what_groups_together_does_not_depend_on_the_inertias(arm):
    rng = np.random.default_rng(arm.seed)
    links = tuple(Link(k.name, (Body(k.name, random_inertia(rng)),)) for k in arm.model.links)
    mine = arm.robot.base_parameters()
    theirs = Robot(replace(arm.model, links=links)).base_parameters()
    assert mine.groupings == theirs.groupings
    assert np.array_equal(mine.matrix, theirs.matrix)


@pytest.mark.parametrize("size", [1e-4, 1e3])
def test_size_of_the_robot_does_not_matter(size):
    model = random_model("RPRRR", 4, tree=True)
    resized = []
    for joint in model.joints:
        T = np.array(joint.placement)
        T[:3, 3] *= size
        resized.append(replace(joint, placement=frozen(T)))
    small = Robot(replace(model, joints=tuple(resized))).base_parameters()
    base = Robot(model).base_parameters()
    assert small.names == base.names
    moment = np.tile([0, 1, 1, 1, 2, 2, 2, 2, 2, 2], len(model.links))
    unit = size**moment
    expected = base.matrix * unit[list(base.columns), None] / unit
    np.testing.assert_allclose(small.matrix, expected, rtol=1e-9, atol=0)


def test_groupings_are_those_of_the_literature():
    renaud = armdyn.load("renaud_6r").base_parameters().groupings
    assert "link5.mcy - link6.mcz" in renaud
    assert "link6.Ixx - link6.Iyy" in renaud
    assert "link4.Izz + link5.Iyy" in renaud
    assert "link2.Ixz - joint3.x*link3.mcz" in renaud
    assert (
        "link3.mcy - joint4.y*link4.m - link4.mcz - joint4.y*link5.m - joint4.y*link6.m" in renaud
    )
    assert armdyn.load("two_link").base_parameters().groupings == (
        "link1.mcx + joint2.x*link2.m",
        "link1.mcy",
        "link1.Izz + joint2.x^2*link2.m",
        "link2.mcx",
        "link2.mcy",
        "link2.Izz",
    )


def test_coefficients_are_exact_where_the_geometry_is():
    robot = armdyn.load("puma560")
    base = robot.base_parameters()
    row = dict(zip(robot.parameter_names, base.matrix[base.names.index("link2.mcx")], strict=True))
    assert row["link3.m"] == 0.4318
    assert set(np.abs(base.matrix[base.names.index("link4.Izz")])) == {0.0, 1.0}


def test_text_shows_value_and_grouping():
    text = str(armdyn.load("two_link").base_parameters()).splitlines()
    assert text[0] == " 1.600000e+00  link1.mcx + joint2.x*link2.m"


def test_axes_that_are_almost_parallel_are_reported():
    robot = chain(0, 1e-9, 0)
    with pytest.warns(ArmdynWarning, match="not quite, combinations of other parameters: link2"):
        robot.base_parameters()


def test_rounded_right_angles_are_taken_as_they_are():
    exact, rounded = chain(0, np.pi / 2, 0), chain(0, 1.57, 0)
    assert rounded.base_parameters().rank >= exact.base_parameters().rank
    check_base_parameters(rounded)


@pytest.mark.parametrize("name", ["two_link", "ur5e", "panda", "renaud_6r"])
def test_groupings_are_written_in_lengths_or_in_numbers_and_never_in_both(name):
    texts = " ".join(armdyn.load(name).base_parameters().groupings)
    coefficients = [x for x in re.findall(r"(\S+)\*\S+", texts) if not re.fullmatch(r"\W*2", x)]
    numbers = [x for x in coefficients if re.fullmatch(r"[\d.e+-]+", x)]
    assert len(numbers) in (0, len(coefficients))
