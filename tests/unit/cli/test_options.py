"""Every verb that takes a robot has all the options that describe one."""

import json

import numpy as np
import pytest
import typer

import armdyn
from armdyn.cli import app
from armdyn.cli.options import RobotSource

COMMANDS = typer.main.get_command(app).commands
WITHOUT_ROBOT = {"robots", "inertia", "bench", "cache", "rank"}
"""Also the verb that takes several robots, each as it is."""
SHARED = {
    "payload",
    "add_payload",
    "gravity",
    "lock",
    "tool",
    "base",
    "fix_root",
    "free_base",
    "base_joints",
    "spinning_rotors",
    "coordinates",
    "loops",
    "physical",
    "density",
    "hull",
    "model",
}


@pytest.mark.parametrize("verb", sorted(set(COMMANDS) - WITHOUT_ROBOT))
def test_a_verb_with_a_robot_has_all_shared_options(verb):
    first, *others = COMMANDS[verb].params
    assert (first.name, first.metavar) == ("source", "ROBOT")
    panels = {option.name: getattr(option, "rich_help_panel", None) for option in others}
    assert {name for name, panel in panels.items() if panel == "Robot"} == SHARED
    spelt = {option.opts[0] for option in others if option.name in SHARED}
    assert spelt == {f"--{name.replace('_', '-')}" for name in SHARED}


@pytest.mark.parametrize("verb", sorted(WITHOUT_ROBOT))
def test_a_verb_without_a_robot_has_none_of_them(verb):
    own = {"density", "hull"} if verb == "inertia" else set()  # of a mesh, not of a robot
    assert not SHARED & {option.name for option in COMMANDS[verb].params} - own


def test_the_base_and_the_tool_are_those_of_the_library():
    turned = RobotSource("panda", base="0.1,0.2,0.3,0,0,1.5", tool="link4").open()
    T = np.eye(4)
    c, s = np.cos(1.5), np.sin(1.5)
    T[:2, :2], T[:3, 3] = [[c, -s], [s, c]], (0.1, 0.2, 0.3)
    expected = armdyn.load("panda", base=T, tool="link4")
    q = np.linspace(-0.5, 0.5, expected.n)
    np.testing.assert_allclose(turned.forward_kinematics(q), expected.forward_kinematics(q))


def test_options_reach_the_check_and_the_comparison(command):
    code, out, _ = command("check", "ur5e", "--gravity", "0,0,9.81", "--json")
    assert code == 1
    assert "points up in the world" in json.loads(out)["findings"][0]["message"]
    code, out, _ = command("compare", "two_link", "--with", "pinocchio", "--payload", "2", "--json")
    assert code in (0, 1)
    here = json.loads(out)["rows"][0]
    robot = armdyn.load("two_link").with_payload(2.0, (0, 0, 0))
    motion = here["motion"]
    tau = robot.inverse_dynamics(motion["q"], motion["qd"], motion["qdd"])
    assert np.isclose(tau, here["here"], rtol=1e-12).any()


def test_a_second_payload_is_refused_unless_it_is_added(command, tmp_path):
    """A file that was written with --payload holds it; naming it again would hold it twice."""
    path = tmp_path / "loaded.toml"
    armdyn.load("two_link").with_payload(2.0).save(path)
    masses = []
    for options in ((), ("--payload", "1", "--add-payload")):
        code, out, _ = command("worst", path, *options, "--speed", "0", "--json")
        assert code == 0
        masses.append(json.loads(out)["payload"])
    assert masses == [2.0, 3.0]
    code, out, err = command("info", path, "--payload", "2")
    assert (code, out) == (2, "")
    assert "holds a payload of 2 kg already (payload)" in " ".join(err.split())
    assert "--add-payload" in err
    assert "without_payload()" in err


def test_bad_placements_are_refused(command):
    code, out, err = command("info", "two_link", "--base", "1,2")
    assert (code, out) == (2, "")
    assert "--base: expected 3 or 6 numbers" in err
    code, _, err = command("info", "panda", "--tool", "nothing")
    assert code == 2
    assert "nothing" in err
