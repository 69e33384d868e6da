"""`armdyn terms`, `armdyn reduced` and `armdyn rank`: what they print, write and refuse."""

import json

import numpy as np
import pytest


@pytest.fixture
def move(tmp_path):
    path, t = tmp_path / "move.csv", np.linspace(0, 1, 11)
    table = np.column_stack([t, t**3, -(t**2)])
    np.savetxt(path, table, delimiter=",", header="t,q1,q2", comments="")
    return path


def test_terms_are_ranked(command, move):
    code, out, err = command("terms", "two_link", move, "--listed", "2")
    assert (code, err) == (0, "")
    for part in ("gravity", "of RMS", "Quasi-static model"):
        assert part in out
    code, out, _ = command("terms", "two_link", "workspace", "--samples", "9", "--json")
    data = json.loads(out)
    assert (code, data["robot"], len(data["joints"])) == (0, "two_link", 2)
    assert sum(term["share"] for term in data["joints"][0]["terms"]) == pytest.approx(1)


def test_a_reduced_model_is_told_and_written(command, move, tmp_path):
    folder = tmp_path / "c"
    code, out, err = command("reduced", "two_link", move, "--tolerance", "0.1", "-o", folder)
    assert (code, err) == (0, "")
    assert "not used to choose the model" in out
    assert (folder / "two_link_reduced.c").exists()
    code, out, _ = command("reduced", "two_link", move, "--tolerance", "0.1", "--json")
    data = json.loads(out)
    assert (code, data["tolerance"]) == (0, 0.1)
    assert data["error"] <= 0.1


def test_equations_say_what_was_dropped(command, move):
    code, out, err = command("equations", "two_link", "--drop", "0.3", "--over", move)
    assert (code, err) == (0, "")
    assert "changes no torque by more than" in " ".join(out.split())


def test_arms_are_ranked(command, move):
    code, out, err = command(
        "rank", "two_link", "craig_two_link", "--task", move, "--by", "condition"
    )
    assert (code, err) == (0, "")
    assert "Arms by condition" in out
    code, out, _ = command("rank", "two_link", "--task", move, "--json")
    assert json.loads(out)["arms"][0]["name"] == "two_link"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("terms", "two_link", "workspace", "--tolerance", "0"), "above 0 and below 1"),
        (("terms", "two_link", "MOVE", "--samples", "3"), "--samples is for the workspace"),
        (("terms", "two_link", "workspace", "--speed", "fast"), "expected a number"),
        (("reduced", "two_link", "MOVE", "--tolerance", "nan"), "above 0 and below 1"),
        (("equations", "two_link", "--over", "MOVE"), "--over is for --drop"),
        (("rank", "two_link", "puma560", "--task", "MOVE"), "motion of the joints"),
        (("rank", "two_link", "--task", "MOVE", "--by", "price"), "measure to rank by"),
    ],
)
def test_bad_input_is_refused(command, move, arguments, message):
    code, _, err = command(*(move if part == "MOVE" else part for part in arguments))
    assert code == 2
    assert message in " ".join(err.replace("│", " ").split())
