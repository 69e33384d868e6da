"""benchmarks/replay.py sees what differs between two trees, and nothing else."""

import shutil

import pytest
import replay

from armdyn.quantities.program import QUANTITIES

ITEM = {
    "texts": {"program": "a\nb\n"},
    "count": "3 + 2 = 5",
    "total": 5,
    "values": [1.0, -200.0, float("nan")],
}


def changed(**parts):
    """What differs if the head has this instead."""
    base, head = ({"arm": {"all": {}, "bias": item}} for item in (ITEM, ITEM | parts))
    return replay.differences(base, head)


def test_equal_records_have_no_differences():
    assert changed() == []


@pytest.mark.parametrize(
    ("parts", "kind", "worse", "detail"),
    [
        ({"texts": {"program": "a\nc\n"}}, "text", False, "program: line 2: 'b' → 'c'"),
        ({"texts": {"program": "a\nb\n", "arm.c": ""}}, "text", False, "arm.c"),
        ({"values": [1.0 + 1e-12, -200.0, float("nan")]}, "last bit", False, "5.0e-15"),
        ({"count": "2 + 2 = 4", "total": 4}, "count", False, "3 + 2 = 5 → 2 + 2 = 4"),
        ({"count": "3 + 3 = 6", "total": 6}, "count", True, "3 + 2 = 5 → 3 + 3 = 6"),
        ({"values": [1.0, -200.0 - 1e-9, float("nan")]}, "value", True, "5.0e-12"),
        ({"values": [1.0, -200.0, 0.0]}, "value", True, "nan"),
        ({"values": [1.0, -200.0]}, "value", True, "3 → 2 numbers"),
        ({"error": "ModelError: no"}, "value", True, "error in head only: ModelError: no"),
    ],
)
def test_differences_are_classed(parts, kind, worse, detail):
    (found,) = changed(**parts)
    assert (found.robot, found.item, found.kind, found.worse) == ("arm", "bias", kind, worse)
    assert detail in found.detail


def test_the_gravest_class_counts_and_comes_first():
    base = {"arm": {"all": {}, "bias": ITEM, "ledger": ITEM}}
    text, count = {"texts": {}}, {"count": "1 + 0 = 1", "total": 1}
    head = {"arm": {"all": {}, "bias": ITEM | text, "ledger": ITEM | text | count}}
    assert [one.kind for one in replay.differences(base, head)] == ["count", "text"]


def test_what_only_one_tree_has_is_a_difference_of_values():
    one, other = {"arm": {"all": {}, "bias": ITEM}}, {"arm": {"all": {}}}
    assert [d.detail for d in replay.differences(one, other)] == ["only in base"]
    assert [d.detail for d in replay.differences(other, one)] == ["only in head"]


def test_a_robot_that_cannot_be_loaded_is_one_difference():
    base = {"arm": {"all": {}, "bias": ITEM}}
    (found,) = replay.differences(base, {"arm": {"all": {"error": "TomlError: line 3"}}})
    assert (found.item, found.kind) == ("all", "value")


@pytest.mark.slow
def test_the_plan_has_every_quantity_and_gives_robots_of_the_quick_set_more(tmp_path):
    plan = replay.plan(tmp_path, whole=False)
    assert plan["quantities"].keys() == QUANTITIES.keys()
    assert plan["quantities"]["jacobian"] == [["q"], ["link", "frame"]]
    assert plan["robots"].keys() > replay.QUICK.keys()
    assert plan["robots"]["two_link"] == ["two_link", replay.PARTS]
    assert plan["robots"]["arms/elbow"] == [str(tmp_path / "elbow.toml"), replay.PARTS[:2]]


@pytest.mark.slow
def test_a_changed_sign_is_found_and_an_unchanged_tree_shows_nothing(tmp_path, capsys):
    shutil.copytree(replay.ROOT / "src", tmp_path / "src")
    page = next(tmp_path.rglob("newton_euler.py"))
    text = page.read_text(encoding="utf-8")
    assert text.count("vd_p + cross(wd_p, P[i])") == 1
    page.write_text(text.replace("vd_p + cross(wd_p, P[i])", "vd_p - cross(wd_p, P[i])"))
    options = ["--robots", "saha_3r", "--quantities", "mass_matrix"]
    assert replay.main([str(replay.ROOT), *options]) == 0
    assert "0 value, 0 count, 0 last bit, 0 text" in capsys.readouterr().out.replace("\n", " ")
    assert replay.main([str(replay.ROOT), "--head", str(tmp_path), *options]) == 1
    assert "inverse_dynamics, newton_euler" in capsys.readouterr().out
