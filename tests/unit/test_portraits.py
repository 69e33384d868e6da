"""What a robot says about itself: DH tables, pictures, notebooks; and robots with other numbers."""

import re

import numpy as np
import pytest

import armdyn
from armdyn.errors import ModelError, ShapeError, UnknownNameError
from armdyn.loops.coordinates import coordinates_of
from armdyn.report.figures import STYLE
from armdyn.shorten.canonical.dh_table import dh_table
from support.random_robots import random_model, random_states

CASES = [("RRR", 1), ("RPRR", 2), ("PRP", 3), ("RRRRRRR", 4)]


def product(table, q):
    """The pose that a table gives, from the definition of its convention."""

    def turned(axis, angle):
        c, s = np.cos(angle), np.sin(angle)
        T, (i, j) = np.eye(4), {"x": (1, 2), "z": (0, 1)}[axis]
        T[i, i], T[i, j], T[j, i], T[j, j] = c, -s, s, c
        return T

    def moved(axis, length):
        T = np.eye(4)
        T["xyz".index(axis), 3] = length
        return T

    T = table.base
    for row, value in zip(table.rows, q, strict=True):
        turn = 0.0 if row.kind == "prismatic" else value
        slide = {"prismatic": value, "revolute": 0.0}.get(row.kind, (row.pitch or 0.0) * value)
        along = turned("z", row.theta + turn) @ moved("z", row.d + slide)
        across = moved("x", row.a) @ turned("x", row.alpha)
        T = T @ (along @ across if table.convention == "standard" else across @ along)
    return T @ table.tool


@pytest.mark.slow
@pytest.mark.parametrize("convention", ["standard", "modified"])
@pytest.mark.parametrize("name", ["puma560", "panda", "stanford", "scara", "ur5e", "saha_3r"])
def test_the_table_of_a_catalog_robot_gives_its_pose(name, convention):
    robot = armdyn.load(name)
    q = np.random.default_rng(1).uniform(-2, 2, robot.n)
    table = robot.dh_table(convention)
    np.testing.assert_allclose(product(table, q), robot.forward_kinematics(q), atol=1e-10)
    again = armdyn.from_dh(
        [row | {"mass": 1.0} for row in table.as_rows()],
        convention,
        base=table.base,
        tool=table.tool,
    )
    np.testing.assert_allclose(again.forward_kinematics(q), robot.forward_kinematics(q), atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("convention", ["standard", "modified"])
@pytest.mark.parametrize(("kinds", "seed"), CASES)
def test_axes_may_have_any_direction_and_trees_any_branch(kinds, seed, convention):
    for tree in (False, True):
        model = random_model(kinds, seed, tree=tree)
        robot = armdyn.Robot(model)
        q, _, _ = random_states(model, seed)
        for link in ("tool", robot.link_names[-1]):
            table = robot.dh_table(convention, link)
            frame = model.frame(link)
            values = coordinates_of(model).positions(np.asarray(q))
            path = [values[i] for i in model.paths[frame.link]] if frame.link >= 0 else []
            expected = robot.forward_kinematics(q, link)
            np.testing.assert_allclose(product(table, path), expected, atol=1e-9)


@pytest.mark.parametrize("degrees", [False, True])
@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_cells_say_what_a_joint_adds_to_each_number(arm, convention, degrees):
    table = dh_table(arm.model, convention)
    unit = 180 / np.pi if degrees else 1.0
    number = {"rel": 1e-5, "abs": 1e-300}
    for i, (row, cells) in enumerate(zip(table.rows, table.cells(degrees), strict=True), 1):
        assert cells[:2] == [row.joint, row.kind]
        assert float(cells[2]) == pytest.approx(row.a, **number)
        assert float(cells[3]) == pytest.approx(unit * row.alpha, **number)
        steps = {"prismatic": (1, 0), "revolute": (0, 1)}.get(row.kind, (row.pitch, 1))
        for text, step, zero in zip(cells[4:], steps, (row.d, unit * row.theta), strict=True):
            at = [eval(re.sub(r"(?<=\d) q", " * q", text), {f"q{i}": q}) for q in (0.0, 1.0)]
            assert at[0] == pytest.approx(zero, **number)
            assert at[1] - at[0] == pytest.approx(step, abs=1e-5)


def test_the_puma_has_the_numbers_of_its_table():
    rows = armdyn.load("puma560").dh_table().rows
    np.testing.assert_allclose([row.a for row in rows], [0, 0.4318, 0.0203, 0, 0, 0], atol=1e-12)
    angles = np.degrees([row.alpha for row in rows])
    np.testing.assert_allclose(angles, [90, 0, -90, 90, -90, 0], atol=1e-9)
    assert "q1" in str(armdyn.load("puma560").dh_table())


def test_the_command_line_prints_the_table(command):
    code, out, _ = command("info", "puma560", "--dh", "modified", "--degrees")
    assert code == 0
    assert "modified Denavit-Hartenberg table" in out
    assert "-90" in out
    with pytest.raises(UnknownNameError, match="convention of DH tables 'paul'"):
        armdyn.load("two_link").dh_table("paul")


def test_other_joints_links_and_limits_make_another_robot():
    robot = armdyn.load("puma560")
    changed = robot.with_joint("joint2", viscous=1.5, effort_limit=100.0)
    law, limits = (getattr(changed.model.joints[1], k) for k in ("friction", "limits"))
    assert limits.effort == 100.0
    assert limits.lower == robot.model.joints[1].limits.lower
    qd = np.full(6, 0.3)
    before, after = robot.friction_torque(qd), changed.friction_torque(qd)
    slope = robot.model.joints[1].friction
    assert law != slope
    assert np.flatnonzero(before != after).tolist() == [1]
    heavy = robot.with_link("link3", mass=10.0)
    assert heavy.model.links[2].inertia.mass == 10.0
    np.testing.assert_allclose(
        heavy.model.links[2].inertia.com, robot.model.links[2].inertia.com, atol=1e-15
    )
    ball = armdyn.Inertia.sphere(0.1, mass=2.0)
    assert robot.with_link("link3", ball).model.links[2].bodies[0].inertia is ball
    named = robot.with_limits({"joint1": (-1, 1)}, velocity=[1, 2, 3, 4, 5, 6])
    assert named.limits[0].tolist() == [-1, 1]
    assert [joint.limits.velocity for joint in named.model.joints] == [1, 2, 3, 4, 5, 6]
    np.testing.assert_array_equal(named.limits[1:], robot.limits[1:])
    assert np.isinf(robot.with_joint("joint1", limits=None).limits[0]).all()


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (lambda r: r.with_joint("elbow"), UnknownNameError, "joint of 'two_link' named 'elbow'"),
        (lambda r: r.with_joint("joint1", mass=1), UnknownNameError, "number of a joint"),
        (lambda r: r.with_joint("joint1", limits=(1, 0)), ModelError, r"must be \(lower, upper\)"),
        (lambda r: r.with_link("link9", mass=1), UnknownNameError, "link of 'two_link' named"),
        (lambda r: r.with_link("link1"), ModelError, "give an Inertia, or some of mass"),
        (lambda r: r.with_link("link1", 3.0), ModelError, "expected an armdyn.Inertia, got 3.0"),
        (lambda r: r.with_limits(effort=[1.0]), ModelError, "one for each of the joints joint1"),
        (lambda r: r.with_limits(effort={"x": 1.0}), UnknownNameError, "named 'x'"),
    ],
)
def test_changes_that_cannot_be_are_refused(change, kind, message):
    with pytest.raises(kind, match=message):
        change(armdyn.load("two_link"))


def test_the_catalog_is_listed():
    assert "panda" in armdyn.robots()
    assert all(isinstance(name, str) for name in armdyn.robots())


def test_a_robot_is_drawn(tmp_path):
    robot = armdyn.load("stanford")
    robot.plot([0.1] * 6, tmp_path / "arm.png")
    assert (tmp_path / "arm.png").stat().st_size > 10_000
    figure = robot.plot()
    assert {text.get_text() for text in figure.axes[0].texts} == set(robot.joint_names)
    with pytest.raises(ShapeError, match="one configuration"):
        robot.plot(np.zeros((2, 6)))
    assert STYLE["font.size"]


@pytest.mark.slow
def test_notebooks_get_tables_formulas_and_pictures():
    robot = armdyn.load("two_link")
    html = robot._repr_html_()
    assert "joint2" in html
    assert "Denavit-Hartenberg" in html
    assert "data:image/png;base64," in html
    hostile = armdyn.from_dh([dict(joint="revolute", mass=1.0, name="<b>j")], name="<script>")
    assert "<script>" not in hostile._repr_html_()
    assert "<b>j" not in hostile._repr_html_()
    ledger = robot.ledger([0.1, 0.2], [1, 1], [1, 1])
    assert f"{ledger.total[0]:.5g}" in ledger._repr_html_()
    assert "largest" in robot.ledger(np.zeros((3, 2)), [1, 1], [1, 1])._repr_html_()
    base = robot.base_parameters()
    assert all(name in base._repr_html_() for name in base.names)
    page = armdyn.equations(robot)._repr_html_()
    assert page.count("<math ") > 8
    assert not {"$", "\\"} & {*page}
    formulas = armdyn.equations(robot)._repr_latex_()
    assert formulas.startswith("$$\n\\begin{aligned}")
    assert formulas.count("{") == formulas.count("}")
    assert formulas.count("M_{11} &=") == 1
    assert "$$" in armdyn.equations(robot)._repr_markdown_()
    run = armdyn.simulate(robot, [0.1, 0], duration=0.1, dt=0.05)
    assert "data:image/png;base64," in run._repr_html_()
    assert "<td" in armdyn.check(robot.with_gravity((0, 9.81, 0)))._repr_html_()
