"""`-o -` is standard output; what is told beside goes to standard error."""

import json
import tomllib

import numpy as np
import pytest

import armdyn


@pytest.fixture
def move(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "move.csv").write_text("t,q1,q2\n" + "".join(f"{t},{t},0\n" for t in range(7)))


@pytest.mark.parametrize("words", ["torque two_link move.csv", "simulate two_link --duration 0.1"])
@pytest.mark.parametrize("json_too", [False, True])
def test_tables(command, move, tmp_path, words, json_too):
    code, out, err = command(*words.split(), "-o", "-", *["--json"] * json_too)
    assert code == 0
    names, *rows = out.splitlines()
    assert names.startswith("t,")
    assert np.isfinite(np.array([row.split(",") for row in rows], float)).all()
    if json_too:
        assert json.loads(err)["files"] == []
    else:
        assert err.startswith(("two_link along", "two-link arm: "))
    assert not (tmp_path / "-").exists()


@pytest.mark.slow
def test_robots(command, move):
    code, out, err = command("simplify", "two_link", "--no-symbolic", "-o", "-")
    assert tomllib.loads(out)["name"]
    assert "goal" in err
    assert code in (0, 1)


def test_equations(command, move):
    expected = armdyn.equations(armdyn.load("two_link"))
    assert command("equations", "two_link", "-o", "-") == (0, expected.text(), "")
    document = command("export", "two_link", "--lang", "sympy", "-o", "-")
    assert document == (0, expected.sympy(), "")


def test_several_files_need_a_folder(command, move):
    code, out, err = command("export", "two_link", "-o", "-")
    assert (code, out) == (2, "")
    assert "several files" in err
