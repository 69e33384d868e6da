"""Loops in TOML: the same robot comes back, and what is no loop is refused by its name."""

from pathlib import Path

import numpy as np
import pytest

from armdyn.errors import LoopError, TomlError, WriteError
from armdyn.io.describe import describe
from armdyn.io.toml.read import read_toml
from armdyn.io.toml.write import toml_from_model
from armdyn.io.urdf.write import urdf_from_model
from armdyn.model.cut_joints import CUT_JOINTS
from armdyn.model.edit import lock
from support.loops import FIVE_BAR

PIN = 'name = "pin"\ntype = "revolute"'


def read(tmp_path: Path, text: str = FIVE_BAR):
    file = tmp_path / "robot.toml"
    file.write_text(text)
    return read_toml(file)[0]


def test_the_coordinates_of_a_robot_with_loops_are_its_actuated_joints(tmp_path):
    model = read(tmp_path)
    assert [model.joints[i].name for i in model.independent] == ["q_link1", "q_link3"]
    assert [model.joints[i].name for i in model.passive] == ["q_link2", "q_link4"]
    assert model.loops[0].cut is CUT_JOINTS["revolute"]
    assert describe(model)["loops"][0]["b"]["link"] == "link4"


COUPLING = 'name = "cam"\ntype = "coupling"\n'
COUPLED = COUPLING + 'follower = "q_link2"\nleader = "q_link1"\ncoefficients = [0.1, 0.5, 0.2]\n'
BACK = 'follower = "q_link1"\nleader = "q_link2"\ncoefficients = [0.0, 1.0]\n'


def coupled(text):
    """The five-bar with something in place of its loop."""
    ends = FIVE_BAR.index(PIN), FIVE_BAR.index("[assembly]")
    return FIVE_BAR[: ends[0]] + text + FIVE_BAR[ends[1] :]


def test_a_coupling_comes_back(tmp_path):
    model = read(tmp_path, coupled(COUPLED).replace("viscous = 0.04\nactuated = false", ""))
    (loop,) = model.loops
    assert (loop.link_a, loop.link_b, loop.coefficients) == (1, 0, (0.1, 0.5, 0.2))
    assert [model.joints[i].name for i in model.passive] == ["q_link2"]
    assert read(tmp_path, toml_from_model(model)) == model
    told = describe(model)["loops"][0]
    assert (told["follower"], told["leader"]) == ("q_link2", "q_link1")
    held = lock(model, {"q_link1": 0.3})
    assert [joint.name for joint in held.joints] == ["q_link3", "q_link4"]
    assert not held.loops
    assert held.frame("link2").placement[:3, 3] == pytest.approx([0.35, 0, 0] @ turn(0.3).T)


def turn(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (COUPLING, "the key 'follower' is missing"),
        (COUPLED.replace("[0.1, 0.5, 0.2]", "[0.1]"), "one of which after c0 is not zero"),
        (COUPLED.replace("[0.1, 0.5, 0.2]", "0.1"), "coefficients: expected numbers in brackets"),
        (COUPLED.replace("q_link1", "q_link9"), "joint coupled in 'five_bar' named 'q_link9'"),
        (COUPLED.replace("q_link1", "q_link2"), "a joint cannot follow itself"),
        (COUPLED + "length = 1.0\n", "there is no key 'length'"),
        (
            COUPLED + "[[loops]]\n" + COUPLED.replace("cam", "other"),
            "'other': joint 'q_link2' follows another one",
        ),
        (
            COUPLED + "[[loops]]\n" + COUPLING.replace("cam", "back") + BACK,
            "'back': joint 'q_link1' follows itself",
        ),
    ],
)
def test_what_is_no_coupling_is_refused(tmp_path, text, message):
    with pytest.raises(TomlError, match=message):
        read(tmp_path, coupled(text))


@pytest.mark.parametrize("kind", sorted({*CUT_JOINTS} - {"coupling"}))
def test_what_is_written_comes_back(tmp_path, kind):
    length = "\nlength = 0.25" if kind == "distance" else ""
    turned = FIVE_BAR.replace(PIN, f'name = "pin"\ntype = "{kind}"{length}').replace(
        "position = [0.47, 0.0, 0.0]", "position = [0.47, 0.0, 0.0], rpy = [0.1, 0.2, 0.3]"
    )
    model = read(tmp_path, turned)
    again = read(tmp_path, toml_from_model(model))
    assert again == model
    np.testing.assert_array_equal(again.loops[0].frame_b, model.loops[0].frame_b)


def test_a_locked_joint_takes_the_ends_of_loops_with_it(tmp_path):
    model = read(tmp_path)
    held = lock(model, {"q_link3": 0.7})
    (loop,) = held.loops
    assert [held.joints[i].name for i in held.passive] == ["q_link2", "q_link4"]
    assert (loop.link_a, loop.link_b, len(held.assembly)) == (1, 2, 3)


def test_a_passive_joint_cannot_be_locked(tmp_path):
    with pytest.raises(LoopError, match="'q_link2' is not actuated and follows from the loops"):
        lock(read(tmp_path), {"q_link2": 0.0})


def test_urdf_has_no_loops(tmp_path):
    with pytest.raises(WriteError, match="has the loop 'pin', and URDF has no loops"):
        urdf_from_model(read(tmp_path))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            PIN,
            'name = "pin"\ntype = "hinge"',
            "loops 1 'pin': there is no cut joint of type 'hinge'",
        ),
        (PIN, PIN + "\nlength = 0.2", "'pin': a revolute cut joint has no length"),
        (PIN, 'name = "pin"\ntype = "distance"', "'pin': its length is a positive number"),
        (PIN, PIN + "\nlink_a = 1", "there is no key 'link_a'"),
        ('link = "link4"', 'link = "link5"', "'pin': there is no link or frame .* 'link5'"),
        ('b = { link = "link4"', 'b = { link = "link2"', "'pin': both ends are on one link"),
        ('b = { link = "link4", position = [0.47, 0.0, 0.0] }', "", "the end 'b' is missing"),
        ("actuated = false", "", "'pin': every joint around it is actuated"),
        ("[assembly]", "[assembly]\nq9 = 0.0", "joint in the assembly of 'five_bar' named 'q9'"),
        ("[assembly]", '[assembly]\nq9 = "x"', "q9: expected a number"),
        ("actuated = false", "actuated = 0", "actuated: expected true or false"),
    ],
)
def test_what_is_no_loop_is_refused_by_its_name(tmp_path, old, new, message):
    with pytest.raises(TomlError, match=message):
        read(tmp_path, FIVE_BAR.replace(old, new))


def test_joints_without_a_motor_need_a_loop(tmp_path):
    tree = FIVE_BAR[: FIVE_BAR.index("[[loops]]")]
    with pytest.raises(TomlError, match="'q_link2' is not actuated, and there is no"):
        read(tmp_path, tree)
    with pytest.raises(TomlError, match=r"assembly: there are no \[\[loops\]\] to assemble"):
        read(tmp_path, tree.replace("actuated = false", "") + "[assembly]\nq_link1 = 1.0\n")


def test_two_loops_have_two_names(tmp_path):
    twice = FIVE_BAR + FIVE_BAR[FIVE_BAR.index("[[loops]]") : FIVE_BAR.index("[assembly]")]
    with pytest.raises(TomlError, match="two loops are named 'pin'"):
        read(tmp_path, twice)
