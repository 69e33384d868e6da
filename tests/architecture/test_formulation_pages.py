"""The pages on formulations: worked examples, names of quantities, and the table of equations."""

import ast
import re
from dataclasses import fields

import numpy as np
import pytest

import armdyn
from armdyn.formulations.link_axes import LINK_AXES
from armdyn.quantities.formulations import FORMULATIONS
from support.pages import examples, page, python_blocks
from support.paths import DOCS, ROOT
from support.source_code import tree_of

FOLDER = DOCS / "formulations"
TABLE = "formulations/equations"
WORKED = [f"formulations/{path.stem}" for path in sorted(FOLDER.glob("*.md")) if path.stem != "equations"]  # fmt: skip
ROW = re.compile(r"^\| (.+?) \| (.+?) \| `(.+)` \| \[`(\w+)`\]\((.+?)\) \|$", re.MULTILINE)
ROWS = ROW.findall(page(TABLE))
PAGES = [*DOCS.rglob("*.md"), *ROOT.glob("*.md")]


def formulations(text):
    """The formulations that the first lines of a page name."""
    return [name for name in re.findall(r'"(\w+)"', text.split("\nSource:")[0]) if name in FORMULATIONS]  # fmt: skip


@pytest.mark.parametrize("name", WORKED)
def test_what_a_worked_example_prints_stands_below_it(name):
    assert 0 < len(examples(page(name))) == len(python_blocks(page(name)))


def test_every_formulation_but_our_own_has_a_page():
    listed = [name for each in WORKED for name in formulations(page(each))]
    assert sorted([*listed, "minimal"]) == sorted(FORMULATIONS)


@pytest.mark.parametrize("name", [name for name in WORKED if formulations(page(name))])
def test_a_page_names_every_quantity_of_its_formulations_and_no_other(name):
    robot, quantities = armdyn.load("two_link"), set()
    for formulation in formulations(page(name)):
        frame = LINK_AXES.get(formulation, "world")
        kind = type(robot.formulate(formulation, *np.ones((3, 2)), frame=frame))
        quantities |= {field.name for field in fields(kind)} - {"model", "qd"}
        quantities |= {key for key, value in vars(kind).items() if isinstance(value, property)}
    rows = page(name).split("## Names in the code")[1].split("\n## ")[0]
    table = "\n".join(line for line in rows.splitlines() if line.startswith("| "))
    assert {*re.findall(r"`(\w+)(?:\[[^`]*\])?`", table)} - {"denoc", "denoc_recursive"} == quantities  # fmt: skip


@pytest.mark.slow
def test_the_costs_in_the_overview_are_counted():
    robot = armdyn.load("renaud_6r")
    text = page("formulations").split("## Which one to use")[1]
    rows = re.findall(r"^\| `(\w+)` \| [a-z ]+ \| (\d+) \+ (\d+) \| (\d+) \+ (\d+) \|", text, re.MULTILINE)  # fmt: skip
    assert [*(name for name, *_ in rows), "minimal"] == list(FORMULATIONS)
    for name, *said in rows:
        stages = ("written", "customised")
        counts = [armdyn.count_operations(robot, formulation=name, stage=stage) for stage in stages]
        assert [str(n) for count in counts for n in (count.mul, count.add)] == said


def test_the_calls_on_the_page_of_the_forms_exist():
    calls = re.findall(r"`robot\.(\w+)\(", page("formulations/forms"))
    assert len(calls) > 10
    assert [call for call in calls if not hasattr(armdyn.Robot, call)] == []


@pytest.mark.slow
def test_every_call_of_the_table_of_equations_runs():
    names = {}
    exec(python_blocks(page(TABLE))[0], names)
    torque = names["robot"].inverse_dynamics(*(names[key] for key in ("q", "qd", "qdd")))
    for equation, meaning, call, _, _ in ROWS:
        value = eval(call, names)
        if meaning.startswith("torque"):
            np.testing.assert_allclose(value, torque, atol=1e-12)
        arrays = value if isinstance(value, tuple) else (value,)
        for array in arrays:
            known = isinstance(array, str) or hasattr(array, "mul")  # a text, a count
            assert known or np.isfinite(np.asarray(array)).all(), equation


def test_the_table_has_every_equation_of_the_sources():
    printed = {*re.findall(r"\(([\d.]+(?:-1)?[a-f]?)\)", " ".join(row[0] for row in ROWS))}
    lagrange = {f"2.{k}" for k in (1, 2, 3, 4, 5, 6, 11, 13, 14, 15)}  # the others name vectors
    alembert, renaud = {f"4.{k}" for k in range(1, 6)}, {str(k) for k in range(11)}
    ends = {"2a", "2b", "5a", "5b", "11a", "11b", "13a", "13f", "14a", "14f", "15a", "15c"}
    saha = {"1", "3", "4", "6", "7", "8", "9", "10", "12", "16"} | ends
    assert printed == {"3.2-1"} | lagrange | alembert | saha | renaud


@pytest.mark.parametrize("row", ROWS, ids=[f"{row[3]} {row[0]}" for row in ROWS])
def test_an_equation_is_named_where_the_table_says(row):
    equation, _, _, name, link = row
    path = (FOLDER / link).resolve()
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        named = [node for node in ast.walk(tree_of(path)) if name in names_of(node)]
        assert named
        text = "\n".join([ast.get_docstring(tree_of(path)), *(ast.get_source_segment(text, node) for node in named)])  # fmt: skip
    for number in re.findall(r"\(.+?\)", equation) or [equation.split(":")[0]]:
        assert number.lower() in text.lower(), number


def names_of(node):
    """The name that a statement defines."""
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return [getattr(node, "name", None)] if isinstance(node, ast.stmt) else []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_link_of_a_page_leads_somewhere(path):
    text = re.sub(r"```.*?```|`[^`]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        file, _, heading = target.partition("#")
        goal = path.parent / file if file else path
        assert goal.exists(), target
        if heading:
            titles = re.findall(r"^#+ (.*)$", goal.read_text(encoding="utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
            assert heading in slugs, target
