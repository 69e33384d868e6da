import pytest

import armdyn
from armdyn.errors import ModelError, UnknownNameError
from armdyn.study.simplify.goals import parse_goals
from support.design_arms import planar
from support.paths import ROBOTS

ARM = planar(3)


def test_words_joined_by_plus_are_a_list_of_words():
    joined = parse_goals(ARM, "constant+gravity-balanced + decouple=1,3")
    listed = parse_goals(ARM, ["constant", "gravity-balanced", "decouple=1,3"])
    assert joined == listed
    assert joined.constant
    assert joined.balanced
    assert joined.zero == {(0, 2)}
    assert str(joined) == "constant + gravity-balanced + decouple=1,3"


def test_diagonal_is_every_pair_and_a_pair_has_no_order():
    pairs = [f"decouple={i},{j}" for i in (1, 2, 3) for j in (3, 2, 1) if i != j]
    assert parse_goals(ARM, "diagonal").zero == parse_goals(ARM, pairs).zero


def test_joints_go_by_number_or_name():
    model = armdyn.load("scara").model
    assert parse_goals(model, "decouple=j2,j1").zero == parse_goals(model, "decouple=1,2").zero


def test_a_misspelt_goal_is_answered_with_a_guess():
    with pytest.raises(UnknownNameError, match="Did you mean 'constant'"):
        parse_goals(ARM, "constnat")
    with pytest.raises(UnknownNameError, match="gravity-balanced"):
        parse_goals(ARM, "gravity-balance")


@pytest.mark.parametrize(
    ("goal", "error", "message"),
    [
        ("", ModelError, "no goal"),
        ([], ModelError, "no goal"),
        ("decouple=2,2", ModelError, "from itself"),
        ("decouple=1", ModelError, "expected two joints"),
        ("decouple=1,7", UnknownNameError, "'7'"),
        ("decouple=1,joint9", UnknownNameError, "Did you mean"),
        ("constant=1", UnknownNameError, "goal"),
    ],
)
def test_a_goal_that_means_nothing_is_an_error(goal, error, message):
    with pytest.raises(error, match=message):
        parse_goals(ARM, goal)


def test_joints_that_follow_others_are_refused():
    gripper = ROBOTS / "gripper.urdf"
    with pytest.raises(ModelError, match="follow others"):
        parse_goals(armdyn.load(gripper).model, "constant")
