"""Conditions on a design and their solutions: laws of the symbolic side."""

import math

import numpy as np
import pytest
import sympy

import armdyn
from armdyn.model import RobotModel
from armdyn.robot import Robot
from armdyn.shorten.canonical.frames import canonical
from armdyn.shorten.canonical.parameters import parameters
from armdyn.shorten.canonical.redesign import redesign
from armdyn.study.simplify.conditions import (
    Branches,
    Conditions,
    Solver,
    branches,
    conditions,
    unwritten,
)
from armdyn.study.simplify.design_variables import parse_design_variables
from armdyn.study.simplify.goals import parse_goals
from armdyn.study.simplify.linear import samples
from armdyn.study.simplify.simplify import design, simplify
from support.golden_values import golden

pytestmark = pytest.mark.slow

PLANAR = ("x3", "Ixx3", "Iyy3", "x2", "Ixx2", "Iyy2", "a1")
"""The numbers of Saha's arm when centres of mass lie along the links."""


def solved(model: RobotModel, goal: str, free=None) -> tuple[Conditions, Branches]:
    freedom = parse_design_variables(model, free)
    asked = conditions(model, parse_goals(model, goal), freedom.symbols)
    return asked, branches(asked, freedom.symbols)


def equations(branch) -> set[str]:
    return set(branch.equations)


def with_numbers(model: RobotModel, values: dict[str, float]) -> RobotModel:
    """The robot with parameters at values, whether or not such bodies exist."""
    robot = canonical(model)
    number = parameters(model, robot) | values
    pseudo = {}
    for i in range(1, len(robot.links) + 1):
        m, c = number[f"m{i}"], np.array([number[f"{axis}{i}"] for axis in "xyz"])
        I = np.array(
            [
                [number[f"Ixx{i}"], number[f"Ixy{i}"], number[f"Ixz{i}"]],
                [number[f"Ixy{i}"], number[f"Iyy{i}"], number[f"Iyz{i}"]],
                [number[f"Ixz{i}"], number[f"Iyz{i}"], number[f"Izz{i}"]],
            ]
        )
        J = 0.5 * np.trace(I) * np.eye(3) - I + m * np.outer(c, c)
        pseudo[i - 1] = np.block([[J, m * c[:, None]], [m * c[None, :], np.array([[m]])]])
    lengths = {
        i: number[f"a{link.parent + 1}"] - link.across[0]
        for i, link in enumerate(robot.links)
        if link.parent >= 0
    }
    return redesign(model, pseudo, lengths)


def variation(model: RobotModel) -> float:
    """How much the mass matrix changes over random configurations."""
    M = Robot(model).mass_matrix(samples(model))
    return float(np.ptp(M, axis=0).max())


class TestSahasArm:
    def test_both_branches_of_the_corrected_conditions(self):
        model = armdyn.load("saha_3r").model
        _, found = solved(model, "constant", PLANAR)
        common = {"x3 = 0", "Ixx3 = Iyy3"}
        short = common | {"a1 = 0", "Ixx2 = Iyy2 + a2² m3 + m2 x2²"}
        balanced = common | {"x2 = -a2 m3/m2", "Ixx2 = Iyy2 + a2² m3 + a2² m3²/m2"}
        assert [equations(b) for b in found.branches if not b.needs] in (
            [short, balanced],
            [balanced, short],
        )
        assert found.complete

    def test_full_inertias_ask_for_twelve_numbers(self):
        _, found = solved(armdyn.load("saha_3r").model, "constant")
        (only,) = (b for b in found.branches if not b.needs)
        assert len(only.numbers) == 12
        assert {"x3 = 0", "y3 = 0", "y2 = 0", "x2 = -a2 m3/m2", "Iyz2 = 0"} <= equations(only)

    def test_a_length_that_is_not_free_is_told_as_another_way(self):
        _, found = solved(armdyn.load("saha_3r").model, "constant")
        others = [b for b in found.branches if b.needs]
        assert [b.needs for b in others] == [("a1 = 0",)]
        assert others[0].feasible is None
        assert len(others[0].numbers) == 10

    def test_the_printed_conditions_leave_a_square(self):
        """I2xx = I2yy, m2 d2 = -m3 a2, d2 = -a2, d3 = 0, I3xx = I3yy leave 2 m3 a2² C2²."""
        model = armdyn.load("saha_3r").model
        mass, a2 = 2.0, 0.5
        printed = {"m2": mass, "x2": -a2, "x3": 0.0, "Ixx2": 0.065, "Ixx3": 0.03}
        arm = with_numbers(model, printed)
        q = np.random.default_rng(3).uniform(-3, 3, (50, 3))
        i11 = Robot(arm).mass_matrix(q)[:, 0, 0]
        left = i11 - 2 * mass * a2**2 * np.cos(q[:, 1]) ** 2
        assert np.ptp(left) < 1e-12
        assert np.ptp(i11) > 0.5

    def test_the_golden_arm_is_what_its_branch_gives(self):
        case = golden("saha_modified")
        given = {"Iyy2": 0.05, "Izz2": case["I2"][2], "Iyy3": 0.03, "Izz3": 0.02}
        model = with_numbers(armdyn.load("saha_3r").model, given | {"Ixx2": 0.86, "Ixx3": 0.02})
        found = simplify(model, ["x2", "x3", "Ixx2", "Ixx3"])
        (branch,) = (b for b in found.branches if not b.needs)
        assert branch.feasible
        numbers = parameters(found.robot.model)
        assert numbers["x2"] == pytest.approx(case["d2"], rel=1e-9)
        assert numbers["Ixx2"] == pytest.approx(case["I2"][0], rel=1e-9)
        q = np.random.default_rng(5).uniform(-3, 3, (20, 3))
        np.testing.assert_allclose(
            found.robot.mass_matrix(q), np.broadcast_to(case["GIM"], (20, 3, 3)), atol=1e-9
        )
        assert np.abs(found.robot.gravity_vector(q)).max() < 1e-9

    def test_couplings_cannot_all_vanish(self):
        _, found = solved(armdyn.load("saha_3r").model, "diagonal")
        assert not found.branches
        assert any("Izz3 + m3 x3²" in reason and "D23" in reason for reason in found.impossible)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("two_link", {"x2 = 0", "y2 = 0"}),
        ("craig_two_link", {"x2 = 0", "y2 = 0"}),
        ("scara", {"x4 = 0", "y4 = 0", "x2 = -a2 m3/m2 - a2 m4/m2 - m3 x3/m2", "y2 = -m3 y3/m2"}),
    ],
)
def test_planar_arms_need_a_balanced_outer_arm(name, wanted):
    _, found = solved(armdyn.load(name).model, "constant")
    (only,) = (b for b in found.branches if not b.needs)
    assert equations(only) == wanted


def test_a_sliding_mass_cannot_have_a_constant_inertia():
    row = {"joint": "prismatic", "mass": 2.0, "inertia": np.eye(3) * 0.01}
    turning = {"joint": "revolute", "alpha": math.pi / 2, "mass": 1.0, "inertia": np.eye(3) * 0.1}
    _, found = solved(armdyn.from_dh([turning, row]).model, "constant")
    assert not found.branches
    assert any(reason.startswith("m2 cannot be zero (q2² in D11)") for reason in found.impossible)


def fill(branch, free: list[str], values: dict[str, float], seed: int) -> dict[str, float]:
    """Random values of what a branch leaves open, and what it makes of the others."""
    rng = np.random.default_rng(seed)
    drawn = {s: v + rng.uniform(0.01, 0.1) for s, v in values.items() if s in free}
    known = values | drawn
    symbols = {name: sympy.Symbol(name) for name in known}
    for symbol, text in branch.numbers.items():
        product = text.replace("²", "**2").replace("³", "**3").replace(" ", "*")
        written = product.replace("*+*", "+").replace("*-*", "-")
        value = sympy.sympify(written, locals=symbols).subs(known)
        drawn[symbol] = float(value)
    return drawn


@pytest.mark.parametrize("name", ["saha_3r", "two_link", "scara"])
@pytest.mark.parametrize("seed", [0, 1])
def test_every_arm_of_a_branch_has_a_constant_mass_matrix(name, seed):
    model = armdyn.load(name).model
    asked, found = solved(model, "constant")
    free = list(parse_design_variables(model).symbols)
    for branch in (b for b in found.branches if not b.needs):
        open_ = [s for s in free if s not in branch.numbers]
        values = {s: asked.values.get(s, 0.0) for s in {*asked.values, *free}}
        values |= parameters(model)
        numbers = fill(branch, open_, values, seed)
        assert variation(with_numbers(model, numbers)) < 1e-11
        assert variation(model) > 1e-3


@pytest.mark.parametrize("name", ["saha_3r", "puma560", "stanford"])
def test_conditions_vanish_exactly_where_the_goal_is_reached(name):
    """As numbers they are zero for an arm that was designed for it, and not before."""
    model = armdyn.load(name).model
    goals = parse_goals(model, "constant" if name == "saha_3r" else "decouple=1,2")
    free = parse_design_variables(model)
    after = design(armdyn.Robot(model), goals, free).model
    largest = []
    for arm in (model, after):
        asked = conditions(arm, goals, free.symbols)
        residues = [
            float(polynomial.subs({s: asked.values[str(s)] for s in polynomial.free_symbols}))
            for polynomial in asked.equations
        ]
        largest.append(max(map(abs, residues)))
    assert largest[0] > 1e-4
    assert largest[1] < 1e-12


class TestSolver:
    def solve(self, *texts: str, free: str, **values: float):
        names = {name: sympy.Symbol(name, real=True) for name in {*free.split(), *values}}
        solver = Solver(free.split(), {name: 0.0 for name in free.split()} | values)
        equations = [sympy.sympify(t, locals=names) for t in texts]
        return solver, solver.solve(equations), equations

    def check(self, equations, solution, **values):
        put = {s: values[str(s)] for e in equations for s in e.free_symbols if str(s) in values}
        for equation in equations:
            assert abs(complex(equation.subs(solution.numbers).subs(put).evalf())) < 1e-9

    def test_a_product_opens_a_branch_for_each_factor(self):
        _, found, system = self.solve("x1*(x2 - a1)", "y1*x1", free="x1 x2 y1", a1=0.5)
        assert len(found) == 2
        for solution in found:
            self.check(system, solution, a1=0.5, y1=0.7, x2=0.3, x1=0.2)

    def test_squares_have_two_roots_where_they_are_real(self):
        _, found, system = self.solve("m1*x1**2 - Ixx1", free="x1", m1=2.0, Ixx1=0.5)
        assert len(found) == 2
        for solution in found:
            self.check(system, solution, m1=2.0, Ixx1=0.5)
        solver, found, _ = self.solve("m1*x1**2 + Ixx1*y1", free="x1", m1=2.0, Ixx1=0.5, y1=1.0)
        assert not found
        assert solver.failures

    def test_a_basis_solves_what_is_linear_in_nothing(self):
        """x y = p and x² - y² = r: two of four roots are real."""
        values = {"p": 0.3, "r": 0.2}
        _, found, system = self.solve("x1*y1 - p", "x1**2 - y1**2 - r", free="x1 y1", **values)
        assert len(found) == 2
        for solution in found:
            assert not solution.remaining
            self.check(system, solution, **values)

    def test_two_circles_that_do_not_meet(self):
        values = {"p": 9.0, "r": 1.0}
        _, found, _ = self.solve(
            "x1**2 + y1**2 - r", "(x1 - p)**2 + y1**2 - r", free="x1 y1", **values
        )
        assert not found

    def test_a_mass_is_never_zero_or_negative(self):
        _, found, _ = self.solve("m1*x1", free="m1 x1")
        assert [s.numbers for s in found] == [{sympy.Symbol("x1", real=True): 0}]
        _, found, _ = self.solve("m1 + a1", free="m1", a1=1.0)
        assert not found

    def test_what_cannot_be_solved_is_kept(self):
        _, (only,), system = self.solve("x1**5 + y1**5*x1 + z1**3 + 1", free="x1 y1 z1")
        assert only.remaining == (system[0],)

    def test_branches_within_others_are_left_out(self):
        _, found, _ = self.solve("x1*y1", "x1*z1", free="x1 y1 z1")
        assert {frozenset(map(str, s.numbers)) for s in found} == {
            frozenset({"x1"}),
            frozenset({"y1", "z1"}),
        }


def test_angles_that_are_no_quarter_turns_belong_to_the_coefficients():
    rows = [
        {"joint": "revolute", "a": 0.3, "alpha": 0.7, "mass": 1.0, "inertia": np.eye(3) * 0.02},
        {
            "joint": "revolute",
            "a": 0.2,
            "mass": 2.0,
            "com": (-0.1, 0, 0),
            "inertia": np.eye(3) * 0.03,
        },
    ]
    model = armdyn.from_dh(rows).model
    asked, found = solved(model, "constant")
    assert any(name.startswith("c_alpha") for name in asked.values)
    (first, *_) = (b for b in found.branches if not b.needs)
    assert {"x2 = 0", "y2 = 0"} <= equations(first)


def test_large_arms_are_not_written_out():
    puma = armdyn.load("puma560").model
    assert unwritten(puma, parse_goals(puma, "constant")) == ""
    rows = [
        {"joint": "revolute", "a": 0.3, "alpha": 0.5, "mass": 1.0, "inertia": np.eye(3)}
        for _ in range(7)
    ]
    long = armdyn.from_dh(rows).model
    assert "7 joints" in unwritten(long, parse_goals(long, "constant"))
