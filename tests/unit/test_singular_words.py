"""One thing is spoken of in the singular."""

import pytest

import armdyn
from armdyn.errors import TrajectoryError, counted
from support.random_robots import random_model


def test_a_number_of_things():
    assert [counted(n, "joint") for n in (0, 1, 2)] == ["0 joints", "1 joint", "2 joints"]
    assert counted(2000, "state", ",") == "2,000 states"


@pytest.mark.slow
def test_an_arm_with_one_joint_is_spoken_of_in_the_singular(tmp_path):
    arm = armdyn.Robot(random_model("R", 1))
    assert "1 joint," in repr(arm)
    assert "1 joint," in repr(arm.model)
    swept = armdyn.sweep(arm, "gravity_vector", armdyn.Grid(q=0.5))
    assert swept.space.words() == "a grid of 1 state (one point)"
    file = tmp_path / "motion.csv"
    file.write_text("t,q1,q2\n" + "".join(f"{t},0,0\n" for t in range(6)))
    with pytest.raises(TrajectoryError, match="the robot has 1 joint; expected q1"):
        armdyn.terms(arm, file)
