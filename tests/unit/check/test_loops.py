"""What `check` knows of loops, and what cannot be loaded."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import LoopError
from armdyn.io.toml.read import read_toml
from armdyn.study.check.check import loop_findings
from support.loops import FIVE_BAR

SECOND = """
[[loops]]
name = "strut"
type = "revolute"
a = { link = "link2", position = [0.2, 0.0, 0.0] }
b = { link = "link4", position = [0.2, 0.0, 0.0] }
"""


def told(tmp_path, old="", new="", text=FIVE_BAR):
    """Levels and words about the loops of a robot."""
    file = tmp_path / "robot.toml"
    file.write_text(text.replace(old, new) if old else text)
    return [(f.level, f"{f.where}: {f.message}") for f in loop_findings(read_toml(file)[0])]


def test_planar_loops_have_conditions_to_spare(tmp_path):
    found = told(tmp_path)
    assert ("note", "loop 'pin': it is open where all joints are at zero") in found
    (rows,) = [text for _, text in found if "conditions" in text]
    assert "of 5 conditions 2 are independent" in rows
    (share,) = [text for _, text in found if "can be closed at" in text]
    assert 90 < float(share.split("closed at ")[1].split(" %")[0]) < 100


def test_assemblies_far_from_closed_or_nearly_singular_are_warned_of(tmp_path):
    found = told(tmp_path, "q_link2 = -1.72", "q_link2 = -1.2")
    assert any(
        level == "warning" and "joint 'q_link2' is at -1.717 in the nearest closed one" in text
        for level, text in found
    )
    flat = "q_link1 = 1.095\nq_link2 = -0.89\nq_link3 = 1.787\nq_link4 = -1.54\n"
    found = told(tmp_path, text=FIVE_BAR[: FIVE_BAR.index("q_link1 = 2.3")] + flat)
    assert any(level == "warning" and "nearly singular (type 2)" in text for level, text in found)


def test_limits_that_the_assembly_violates(tmp_path):
    found = told(tmp_path, "viscous = 0.05", "viscous = 0.05\nlimits = [-1.0, 1.0]")
    assert (
        "warning",
        "joint 'q_link2': it is at -1.717 rad in the assembly, beyond its limits of -1 to 1",
    ) in found
    found = told(
        tmp_path, "viscous = 0.04", "viscous = 0.04\neffort_limit = 3.0\nrotor_inertia = 0.1"
    )
    assert ("note", "joint 'q_link4': it is passive, so its effort limit has no effect") in found
    assert ("note", "joint 'q_link4': it is passive and has a rotor; is there a motor?") in found


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("position = [0.47, 0.0, 0.0] }", "position = [9.0, 0.0, 0.0] }", "still misses by"),
        ('link = "link4", position', 'link = "link9", position', "link9"),
        ('link = "link4", position', 'link = "link2", position', "both ends are on one link"),
        ('type = "revolute"\na =', 'type = "hinge"\na =', "hinge"),
        ("[assembly]\n", SECOND + "[assembly]\n", "cannot be closed|cannot move"),
        ("actuated = false", "", "every joint around it is actuated|set actuated = false"),
        ("viscous = 0.3", "actuated = false\nviscous = 0.3", "more must be actuated"),
        ("q_link2 = -1.72", "q_elbow = -1.72", "q_elbow"),
    ],
)
def test_what_cannot_be_assembled_is_an_error_by_name(tmp_path, old, new, message):
    file = tmp_path / "robot.toml"
    file.write_text(FIVE_BAR.replace(old, new))
    with pytest.raises(armdyn.errors.ArmdynError, match=message):
        armdyn.load(file).inverse_dynamics(*np.zeros((3, 2)))


def test_check_tells_of_loops_that_cannot_be_closed(tmp_path):
    file = tmp_path / "robot.toml"
    file.write_text(
        FIVE_BAR.replace("position = [0.47, 0.0, 0.0] }", "position = [9.0, 0.0, 0.0] }")
    )
    finding = armdyn.check(file).findings[0]
    assert finding.level == "error"
    assert "loop 'pin' of 'five_bar' cannot be closed near the assembly" in finding.message
    with pytest.raises(LoopError):
        armdyn.load(file)
