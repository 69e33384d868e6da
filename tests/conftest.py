"""Settings for the whole suite."""

import gc
import os
import re
import secrets
import shutil
import sys
import tempfile
from importlib.util import find_spec
from itertools import count, islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from armdyn.cli import main
from support.arms import ARMS, fresh_arm

FEWEST_ARMS, FEWEST_COMPILED = 12, 4
"""Robots of the list that a law of numbers sees at least, and one that compiles them."""

settings.register_profile(
    "armdyn",
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("armdyn")

if find_spec("pinocchio") is None:  # it is not published for Windows
    _USES = re.compile(r"^(?:import pinocchio|from support\.(?:peers|design_arms) )", re.MULTILINE)
    collect_ignore = [
        str(path)
        for path in Path(__file__).parent.rglob("test_*.py")
        if _USES.search(path.read_text(encoding="utf-8"))
    ]


def pytest_addoption(parser):
    group = parser.getgroup("armdyn")
    group.addoption(
        "--fresh-robots",
        type=int,
        default=0,
        metavar="N",
        help="give laws N robots that are drawn, instead of the list of twenty",
    )
    group.addoption("--robots-seed", type=int, help="the seed of a run with fresh robots, again")
    group.addoption("--laws", action="store_true", help="print each law with its robots, and end")


def pytest_configure(config):
    """One cache for a run and all its workers, which inherit the variable; never the user's own."""
    if hasattr(config, "workerinput"):
        config.option.robots_seed = config.workerinput["robots_seed"]
    else:
        if config.option.robots_seed is None:
            config.option.robots_seed = secrets.randbelow(10**6)
        folder = tempfile.mkdtemp(prefix="armdyn-tests-")
        os.environ["ARMDYN_CACHE_DIR"] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Workers read the command line again: they are told the seed that was drawn."""
    node.workerinput["robots_seed"] = node.config.option.robots_seed


def pytest_report_header(config):
    if config.option.fresh_robots:
        seed = config.option.robots_seed
        return f"{config.option.fresh_robots} fresh robots a law: --robots-seed {seed} repeats them"
    return None


def pytest_generate_tests(metafunc):
    """A law takes an `arm`, which is each robot of the list, or a fresh one.

    The marker `arms` selects them: by `where`, a function of an arm, or those that are `compiled`.
    """
    if "arm" not in metafunc.fixturenames:
        return
    option, mark = metafunc.config.option, metafunc.definition.get_closest_marker("arms")
    told = mark.kwargs if mark else {}
    compiled, where = told.get("compiled", False), told.get("where", bool)
    if option.fresh_robots:
        drawn = map(fresh_arm, count(1000 * option.robots_seed))
        arms = list(islice(filter(where, drawn), option.fresh_robots))
    else:
        arms = [a for a in ARMS.values() if where(a) and (a.compiled or not compiled)]
        if len(arms) < (FEWEST_COMPILED if compiled else FEWEST_ARMS):
            pytest.fail(f"{metafunc.definition.nodeid} sees {len(arms)} robots", pytrace=False)
    metafunc.parametrize("arm", arms, ids=str)


def pytest_collection_finish(session):
    """Print each law with the number of its robots and of their joints, if that is wanted."""
    # graphs of nodes keep the garbage collector busy for a third of the time: let it look more
    # rarely, and never at what was imported and collected
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    if not session.config.option.laws:
        return
    laws = {}
    for item in session.items:
        if item.get_closest_marker("law"):
            joints = laws.setdefault(item.nodeid.partition("[")[0], {})
            joints[item.callspec.params["arm"].name] = len(item.callspec.params["arm"].kinds)
    for law, joints in laws.items():
        few, many = min(joints.values()), max(joints.values())
        print(f"{len(joints):3} robots, {few} to {many} joints: {law}")
    pytest.exit(f"{len(laws)} laws", returncode=0)


@pytest.fixture
def command(monkeypatch, capsys):
    """Run a command line: its exit code, its output and its complaints."""

    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["armdyn", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        return int(end.value.code or 0), captured.out, captured.err

    return call


@pytest.fixture
def file(tmp_path):
    """A function that writes a text to a file and returns its path."""

    def write(text, name="robot.urdf"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if "arm" in item.fixturenames:
            item.add_marker("law")
