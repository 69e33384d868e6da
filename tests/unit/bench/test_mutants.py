"""The script that changes the source and counts who notices."""

import ast
import json
import shutil
import sys

import mutants
import pytest
from mutant_places import places
from mutant_trees import PACKAGE, Tree, chosen

from support.paths import ROOT

SOURCE = '''\
"""Two - one is no place."""

from typing import Literal

Choice = Literal["a", "b"]
LEAST: float = 0.5


@cache(size=3)
def torque(q: "q - 1", M, w=True) -> "1 + 1":
    """Not 1 + 1 here."""
    total = (
        M[0, 1:] @ q  # a comment - with signs
        + 2 * q[-1]
    )
    if not w or q is not None and 0 < total:
        raise ValueError("a" + f"{q - 1}", 3)
    total -= q**2
    return zip([1.0] + q, -total, strict=True)


class Arm:
    def __repr__(self):
        return 1 + 1
'''
CHANGES = """\
constant 6 0.5 → 1.0
constant 10 True → False
constant 14 2 → 3
constant 16 0 → 1
constant 18 2 → 3
constant 19 1.0 → 2.0
comparison 16 and → or
comparison 16 is not → is
comparison 16 not →
comparison 16 or → and
comparison 16 < → <=
index 13 0 → 1
index 13 1 → 0
index 14 1 → 2
operator 13 M[0, 1:] @ q → q @ (M[0, 1:])
operator 14 * → /
operator 18 ** → *
sign 14 + → -
sign 18 -= → +=
sign 19 - →
term 14 + 2 * q[-1] →
term 18 total -= q**2 → pass
"""


def test_places_are_those_of_the_source_and_none_of_texts_types_and_complaints():
    source = SOURCE.encode()
    found = places("room/file.py", source)
    told = [f"{m.kind} {m.line} {source[m.start : m.end].decode()} → {m.new}" for m in found]
    assert sorted(line.strip() for line in told) == sorted(CHANGES.splitlines())
    assert {m.scope for m in found} == {"", "torque"}


def test_a_place_is_in_its_innermost_function_or_class_by_qualified_name():
    source = b"class A:\n    x = 1\n    def f(self):\n        return lambda: 2\n"
    assert [m.scope for m in places("room/file.py", source)] == ["A", "A.f.<locals>.<lambda>"]


def test_a_change_is_told_by_its_lines():
    (mutant,) = places("room/file.py", b"x = 1  # one\n")
    assert mutant.name == "room:file.py:1:4:constant"
    assert mutant.change == "room/file.py: x = 1 # one → x = 2 # one"
    assert mutant.of(b"x = 1  # one\n") == b"x = 2  # one\n"


@pytest.mark.slow
def test_every_room_has_mutants_that_are_other_programs_and_tests_near_them():
    tree = Tree(ROOT)
    for room, found in mutants.mutants_of(tree, mutants.ROOMS).items():
        assert len({mutant.name for mutant in found}) == len(found) > 100, room
        assert all(tree.files([folder]) for folder in mutants.ROOMS[room])
        for mutant in found[::400]:
            source = (ROOT / PACKAGE / mutant.file).read_bytes()
            changed = ast.parse(mutant.of(source))
            assert ast.dump(changed) != ast.dump(ast.parse(source)), mutant


@pytest.mark.slow
def test_the_draw_is_even_and_repeats_with_its_seed():
    def draw(number, seed):
        found = mutants.mutants_of(Tree(ROOT), ["graph", "shorten", "quantities"])
        return mutants.drawn(found, number, seed)

    twelve = draw(12, 3)
    assert draw(30, 3)[:12] == twelve
    assert draw(12, 4) != twelve
    assert [mutant.room for mutant in twelve[:3]] == ["graph", "shorten", "quantities"]


def test_tests_that_enter_the_function_are_chosen_the_quick_ones_first():
    reach, limit = places("model/arm.py", b"def f():\n    return 1\nLIMIT = 2\n")
    seconds = {"a::1": 9.0, "a::2": 0.1, "b::1": 0.2, "b::2": 0.1, "c::1": 0.1}
    seen = {
        "tests": {name: (spent, name != "b::2") for name, spent in seconds.items()},
        "entered": {"model/arm.py:f": {"a::1", "b::1", "b::2", "c::1"}},
        "beside": {"model/arm.py": set(seconds)},
        "imported": set(),
    }
    assert list(chosen(seen, reach, ["a", "b"])) == ["b::1", "a::1"]  # b::2 fails anyway
    assert list(chosen(seen, reach, ["a", "b"], most=5.0)) == ["b::1"]
    assert list(chosen(seen, limit, ["a", "b"])) == ["b::1", "a::2", "a::1"]
    del seen["entered"]["model/arm.py:f"]
    assert not chosen(seen, reach, ["a", "b"])
    assert chosen(seen | {"imported": {"model/arm.py:f"}}, reach, ["a", "b"])


ARM = """\
def reach(a):
    return a + 1


def weight(a):
    return a * 3


def unused(a):
    return a - 1


def countdown(n):
    while n > 0:
        n -= 1
    return n
"""
TESTS = {
    "pyproject.toml": "[tool.pytest.ini_options]\nmarkers = ['thorough']\n",
    "src/armdyn/__init__.py": "",
    "src/armdyn/model/arm.py": ARM,
    "tests/unit/model/test_arm.py": """\
from armdyn.model.arm import countdown, reach, weight
def test_reach(): assert reach(2) == 3
def test_weight(): assert weight(1) > 0
def test_countdown(): assert countdown(3) == 0
""",
    "tests/golden/test_law.py": """\
import pytest
from armdyn.model.arm import unused, weight
def test_law(): assert weight(2) == 6
@pytest.mark.thorough
def test_more(): assert unused(1) == 0
""",
}
EXPECTED = {
    "model:arm.py:2:13:sign": ("near", "tests/unit/model/test_arm.py::test_reach"),
    "model:arm.py:6:13:operator": ("elsewhere", "tests/golden/test_law.py::test_law"),
    "model:arm.py:10:13:sign": ("survived", ""),
    "model:arm.py:14:12:comparison": ("near", "tests/unit/model/test_arm.py::test_countdown"),
    "model:arm.py:15:10:sign": ("timeout", ""),
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of time and memory are those of Linux")
def test_mutants_are_caught_near_elsewhere_or_not_at_all(tmp_path, monkeypatch, capsys):
    tree = tmp_path / "tree"
    for name, text in TESTS.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    shutil.copy(ROOT / "pyproject.toml", tree)  # whose settings of pytest must be known
    monkeypatch.setattr(mutants, "ROOMS", {"model": ["tests/unit/model"]})
    monkeypatch.setattr(mutants, "SPARE_SECONDS", 4.0)
    words = ["--json", str(tmp_path / "results"), "--map", str(tmp_path / "map")]
    found = mutants.main([*words, "--only", ",".join(EXPECTED)], tree)
    assert {name: (one["status"], one["test"]) for name, one in found.items()} == EXPECTED
    assert found["model:arm.py:10:13:sign"]["seconds"] == 0  # no test enters it
    assert "60.0 %" in capsys.readouterr().out
    assert (tree / "src/armdyn/model/arm.py").read_text() == ARM

    # what is known is not run again, and can be named as equivalent
    _, unseen = found["model:arm.py:10:13:sign"]["change"].split(" → ")
    reasons = {("model/arm.py", unseen): "nobody calls it"}
    monkeypatch.setattr(mutants, "EQUIVALENT", reasons)
    known = json.loads((tmp_path / "results").read_text())
    for mutant in mutants.mutants_of(Tree(tree), ["model"])["model"]:
        old = {"change": mutant.change, "status": "survived", "test": "", "seconds": 99.0}
        known.setdefault(mutant.name, old)
    (tmp_path / "results").write_text(json.dumps(known))
    again = mutants.main([*words, "--count", "100"], tree)
    assert again.pop("model:arm.py:10:13:sign")["status"] == "equivalent"
    assert again == {name: one for name, one in known.items() if name in again}
    assert len(again) == len(known) - 1
    assert "nobody calls it" in capsys.readouterr().out

    (tree / "tests/golden/test_law.py").write_text("def test_law(): assert False\n")
    with pytest.raises(SystemExit, match="fail without a mutant:\ntests/golden/test_law.py::test"):
        mutants.main(["--count", "1"], tree)
