"""`armdyn compare`: the table, the data and the exit codes."""

import json
import re
from functools import partial

import pytest

import armdyn
from support.comparison_robots import ONE_JOINT, two_joints


@pytest.fixture
def run(command):
    return partial(command, "compare")


def test_the_table_has_the_four_torques(run, file):
    states = file("t,q1,qd1,qdd1\n0,0,1,1\n", "states.csv")
    code, out, err = run(file(ONE_JOINT), "--with", "pinocchio,mujoco,rtb", "--states", states,
                         "--wide")  # fmt: skip
    assert (code, err) == (1, "")
    for line in (
        r"Pinocchio [\d.]+ +explained +hinge +1.42 +0.42 +-1",
        r"MuJoCo [\d.]+ +agrees +hinge +1.42 +1.42 ",
        r"Robotics Toolbox [\d.]+ +explained +hinge +1.42 +1.12 +-0.3",
        r"Pinocchio: ignores damping",
        r"MuJoCo: the same to rounding",
        r"Robotics Toolbox: takes fric",
    ):
        assert re.search(line, out)
    assert "one: 1 state, as given" in out
    assert "MuJoCo: agrees; Pinocchio, Robotics Toolbox: explained" in out


def test_json_says_the_same_as_the_library(run, file):
    path = file(ONE_JOINT)
    code, out, _ = run(path, "--json", "--with", "mujoco, pinocchio", "--states", 3, "--seed", 7)
    report = armdyn.compare(path, ["mujoco", "pinocchio"], 3, seed=7)
    data = json.loads(out)
    assert code == data["exit_code"] == report.exit_code == 1
    assert data == {**json.loads(json.dumps(report.data())), "files": []}
    assert [row["there"] for row in data["rows"]] == [row.there for row in report.rows]
    assert (data["states"], data["seed"], data["joints"]) == (3, 7, ["hinge"])


def test_the_exit_code_is_0_where_all_agree(run, file):
    assert run(file(two_joints()), "--with", "pinocchio,mujoco")[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere.urdf",), "error: nowhere.urdf: there is no such file"),
        (("ur5", "--with", "bullet"), "there is no library to compare with named 'bullet'"),
        (("ur5", "--states", "many"), "--states: expected a number, got 'many'"),
        (("ur5", "--states", "0"), "states: expected a whole number from 1"),
        (("ur5", "--seed", "-1"), "'--seed'"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(run, words, message):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert message in " ".join(err.replace("│", " ").split())
    assert "Traceback" not in err
