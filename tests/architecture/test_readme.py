"""What the README shows is what happens."""

import re

import pytest

import armdyn
from armdyn.io.catalog import catalog_names
from armdyn.quantities.formulations import FORMULATIONS
from armdyn.quantities.program import QUANTITIES
from armdyn.quantities.quantity import TERMS
from support.comparison_robots import ONE_JOINT
from support.pages import python_blocks, table
from support.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_first_example_is_short():
    code = python_blocks(README)[0]
    assert len([line for line in code.splitlines() if line.strip()]) <= 10


def test_the_one_joint_of_the_table_gives_its_numbers(file):
    robot = armdyn.load(file(ONE_JOINT))
    motion = ([0.0], [1.0], [1.0])
    assert robot.inverse_dynamics(*motion).item() == pytest.approx(1.42)
    assert robot.inverse_dynamics(*motion, friction=False).item() == pytest.approx(0.42)
    assert "| armdyn | **1.42** (`friction=False`: 0.42) |" in README


def test_catalog_and_formulations_are_listed_in_full():
    assert tuple(re.findall(r"`(\w+)`", table(README, "catalog"))) == catalog_names()
    assert re.findall(r"`(\w+)`", table(README, "formulations")) == list(FORMULATIONS)


def test_every_method_in_the_table_of_terms_exists():
    table = README.split("## Which terms")[1].split("This is worth")[0]
    names = re.findall(r"`(\w+)\(", table)
    assert len(names) >= 9
    assert [name for name in names if not hasattr(armdyn.Robot, name)] == []


def test_the_table_of_terms_says_what_the_records_of_the_quantities_say():
    table = README.split("## Which terms")[1].split("`ledger(")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert len(rows) == 8
    for calls, *cells in (row.strip("| ").split(" | ") for row in rows):
        for name in re.findall(r"`(\w+)\(", calls):
            record = QUANTITIES[name]
            chosen = re.search(r"friction=(\w+)", calls)
            for term, cell in zip(TERMS, cells, strict=True):
                optional = cell.startswith("if ") or (term == "friction" and chosen is not None)
                said = cell.strip("*") == "yes" or optional
                assert said == (term in record.terms), (name, term)
                assert not optional or term in record.options, (name, term)


PAGES = sorted(
    path.relative_to(ROOT).as_posix() for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"))
)


@pytest.mark.parametrize("page", PAGES)
def test_links_between_pages_lead_somewhere(page):
    path = ROOT / page
    for link in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
        assert link.startswith("http") or (path.parent / link).exists(), link


def test_it_is_read_in_a_few_minutes():
    assert len(README.splitlines()) <= 180
