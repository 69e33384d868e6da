"""What the pages of the documentation show is what happens."""

import pkgutil
import re
import tomllib

import pytest

from armdyn.cli.simulate import GAINS
from armdyn.quantities.program import QUANTITIES
from armdyn.simulation import controllers
from armdyn.simulation.simulator import ADAPTIVE, FIXED
from armdyn.study.simplify.goals import WORDS
from support.pages import commands, page, table
from support.paths import ROOT

COMMANDS = [
    words
    for name, verb in (
        ("equations", "equations"),
        ("simplify", "simplify"),
        ("simulation", "simulate"),
    )
    for words in commands(page(name), verb)
]
WRITTEN = (".csv", ".png", ".parquet", ".tex", ".toml", ".urdf", ".py")


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_commands_run_and_write_their_files(words, command, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    code, _, err = command(*words)
    assert (code, err) == (0, "")
    written = {word for word in words if word.endswith(WRITTEN)}
    assert {path.name for path in tmp_path.iterdir()} == written


def test_every_quantity_is_listed_with_its_arguments_and_options():
    rows = re.findall(
        r"^\| `(\w+)` \| (.*?) \| (.*?) ?\|$", table(page("kernels"), "quantities"), re.MULTILINE
    )
    assert {
        name: (tuple(a.split(", ")), tuple(filter(None, o.split(", ")))) for name, a, o in rows
    } == {name: (record.arguments, record.options) for name, record in QUANTITIES.items()}


def test_every_name_of_the_package_on_a_page_exists():
    named = {
        (path.name, name)
        for path in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
        for name in re.findall(r"\barmdyn((?:\.[A-Za-z_]+)+)", path.read_text(encoding="utf-8"))
        if not name.endswith((".toml", ".md", ".py", ".svg"))
    }
    assert len(named) > 50
    missing = []
    for page_name, name in sorted(named):
        try:
            pkgutil.resolve_name(f"armdyn{name}")
        except (ImportError, AttributeError):
            missing.append((page_name, f"armdyn{name}"))
    assert missing == []


def test_every_goal_is_listed():
    goals = re.findall(r"^\| `(.*?)` \|", table(page("simplify"), "goals"), re.MULTILINE)
    assert tuple(goals) == WORDS


def test_every_controller_and_every_method_is_listed():
    text = page("simulation")
    rows = re.findall(r"^\| `(\w+)\(.*`([a-z-]+)` \|$", table(text, "controllers"), re.MULTILINE)
    assert [name for name, _ in rows] == [
        name
        for name, kind in vars(controllers).items()
        if isinstance(kind, type)
        and kind.__module__ == controllers.__name__
        and "__call__" in vars(kind)
    ]  # fmt: skip
    own = [word for word in GAINS if not word.startswith("elastic")]  # on a page of their own
    assert [word for _, word in rows] == own
    assert set(GAINS) - {*own} <= {*re.findall(r"[\w-]+", page("elastic"))}
    listed = re.findall(r'`"(\w+)"`', text.split("## Methods")[1].split("##")[0])
    assert {*listed} == {*ADAPTIVE, *FIXED}


def test_every_extra_is_on_the_page_of_the_installation():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    listed = re.findall(r"^\| `(\w+)` \|", table(page("install"), "extras"), re.MULTILINE)
    assert sorted(listed) == sorted(extras["optional-dependencies"])
