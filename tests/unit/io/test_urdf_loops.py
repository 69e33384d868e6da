"""URDF files with the loops that are written beside them."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import DescriptionError, LoopError, ModelError, UnknownNameError
from armdyn.io.files import read_model
from armdyn.loops.coordinates import coordinates_of
from support.elimination import assembled, missing

BODY = """<link name="{0}"><inertial><origin xyz="{1} 0 {2}"/><mass value="{3}"/>
<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0.001" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{0}" type="{4}"><parent link="{1}"/><child link="{2}"/><origin xyz="{3}"/>
<axis xyz="0 -1 0"/><limit lower="-3" upper="3" effort="9" velocity="9"/></joint>"""
LINKS = [
    ("l1", -0.1, 0.15, 1),
    ("l2", 0.17, 0.15, 2),
    ("l3", 0.1, 0.15, 1.5),
    ("l4", -0.17, 0.2, 1),
]
JOINTS = [
    ("crank_mot", "base", "l1", "0 0 0", "revolute"),
    ("elbow", "l1", "l2", "-.2 0 .3", "revolute"),
    ("other_mot", "base", "l3", ".3 0 0", "revolute"),
    ("other_elbow", "l3", "l4", ".2 0 .3", "revolute"),
    ("pin_A", "l2", "pin_A_link", ".35 0 .3", "fixed"),
    ("pin_B", "l4", "pin_B_link", "-.35 0 .3", "fixed"),
]
EMPTY = '<link name="base"/><link name="pin_A_link"/><link name="pin_B_link"/>'
URDF = "".join(
    ['<robot name="bars">', EMPTY]
    + [BODY.format(*x) for x in LINKS]
    + [JOINT.format(*x) for x in JOINTS]
    + ["</robot>"]
)
YAML = """
closed_loop:
- [pin_A, pin_B]
type:
- 3d
name_mot: [crank_mot, other_mot]
"""


@pytest.fixture
def urdf(tmp_path):
    file = tmp_path / "bars.urdf"
    file.write_text(URDF)
    return file


def test_loops_stand_beside_a_file(urdf, tmp_path):
    """By YAML, by a mapping of its keys and by loops as tables have them it is one robot."""
    (tmp_path / "loops.yaml").write_text(YAML)
    pairs = {"closed_loop": [["pin_A_link", "pin_B_link"]], "type": "3d", "name_mot": "mot"}
    table = [{"type": "spherical", "a": ("pin_A_link", (0, 0, 0)), "b": ("l4", (-0.35, 0.0, 0.3))}]
    robots = [
        read_model(urdf, loops=tmp_path / "loops.yaml")[0],
        read_model(urdf, loops=pairs)[0],
        read_model(urdf, loops=table, coordinates=["crank_mot", "other_mot"])[0],
    ]
    q = np.array([0.1, -0.2])
    for model in robots:
        assert [j.name for j in model.coordinate_joints] == ["crank_mot", "other_mot"]
        full = coordinates_of(model).positions(q)
        assert np.abs(missing(model, full)).max() < 1e-13
        np.testing.assert_allclose(full, assembled(model, q, full + 0.01), atol=1e-12)
    other = read_model(urdf, loops=pairs, coordinates=["elbow", "other_elbow"])[0]
    back = coordinates_of(other).positions(full[[1, 3]])
    np.testing.assert_allclose(back, full, atol=1e-12)


def test_a_frame_that_is_welded_holds_what_a_point_lets_turn(tmp_path, urdf):
    """With a link at the pin that turns by itself, 6d is the same loop."""
    text = URDF.replace('name="pin_B" type="fixed"', 'name="pin_turn" type="revolute"')
    urdf.write_text(text)
    pairs = {"closed_loop": [["pin_A", "pin_turn"]], "type": ["6d"], "name_mot": ["mot"]}
    welded = read_model(urdf, loops=pairs)[0]
    assert welded.loops[0].cut.name == "fixed"
    q = np.array([0.1, -0.2])
    full = coordinates_of(welded).positions(q)
    urdf.write_text(URDF)
    pinned = read_model(urdf, loops={"closed_loop": [["pin_A", "pin_B"]], "type": ["3d"]})[0]
    start = coordinates_of(pinned).positions(full[list(pinned.independent)])
    np.testing.assert_allclose(full[:4], start, atol=1e-12)


def test_joints_may_be_balls_which_urdf_has_not(urdf):
    """A weld behind a ball is a point that turns; a joint that is fixed is locked."""
    tail = BODY.format("end", 0.01, 0.0, 0.1) + BODY.format("tail", 0.1, 0.0, 1)
    tail += JOINT.format("to_ball", "l4", "end", "-.35 0 .3", "revolute")
    tail += JOINT.format("stiff", "l1", "tail", "0 0 0", "revolute")
    urdf.write_text(URDF.replace("</robot>", tail + "</robot>"))
    loops = {"closed_loop": [["pin_A", "end"]], "type": ["6d"], "name_mot": ["mot"]}
    loops |= {"joint_name": ["to_ball", "stiff"], "joint_type": ["SPHERICAL", "FIXED"]}
    model = read_model(urdf, loops=loops)[0]
    assert [j.name for j in model.joints if j.name.startswith("to_ball")] == [
        f"to_ball_{x}" for x in "xyz"
    ]
    assert "stiff" not in [j.name for j in model.joints]
    q = np.array([0.1, -0.2])
    full = coordinates_of(model).positions(q)
    assert np.abs(missing(model, full)).max() < 1e-13
    urdf.write_text(URDF)
    pinned = read_model(urdf, loops={"closed_loop": [["pin_A", "pin_B"]], "type": ["3d"]})[0]
    arms = [i for i, joint in enumerate(model.joints) if "ball" not in joint.name]
    start = coordinates_of(pinned).positions(full[arms][list(pinned.independent)])
    np.testing.assert_allclose(full[arms], start, atol=1e-12)


def test_frames_survive_what_robots_are_saved_as(urdf, tmp_path):
    tree = armdyn.load(urdf)
    closed = armdyn.load(urdf, loops={"closed_loop": [["pin_A", "pin_B"]], "type": "3d"})
    names = {"pin_A_link", "pin_B_link", "l1", "l2", "l3", "l4", "base"}
    for robot, ending in ((tree, "urdf"), (tree, "toml"), (closed, "toml")):
        robot.save(tmp_path / f"again.{ending}")
        again = armdyn.load(tmp_path / f"again.{ending}").model
        assert names <= set(again.frame_names)
        for name in names:
            frame, same = robot.model.frame(name), again.frame(name)
            np.testing.assert_allclose(same.placement, frame.placement, atol=1e-15)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"closed_loop": [["pin_A", "pin_C"]]}, UnknownNameError, "frame in 'bars' named 'pin_C'"),
        ({"closed_loop": [["pin_A"]]}, ModelError, "pairs of names of frames"),
        ({"closed_loop": []}, ModelError, "closed_loop: expected pairs of frames"),
        ({"type": ["3d", "3d"]}, ModelError, "expected one for each of 1 loops, got 2"),
        ({"type": ["4d"]}, ModelError, "expected '3d' or '6d', got '4d'"),
        ({"name_mot": ["motor"]}, UnknownNameError, "joint in name_mot named 'motor'"),
        ({"name_mot": ["crank_mot"]}, LoopError, "leave 2 of the 4 joints around them free"),
        ({"name_mot": ["mot", "elbow"]}, LoopError, "leave 2 of the 4 joints around them free"),
        ({"closed_loops": []}, UnknownNameError, "key of loops named 'closed_loops'"),
        ({"joint_name": ["elbow"]}, ModelError, "a type for each joint_name"),
        (
            {"joint_name": ["el"], "joint_type": ["FIXED"]},
            UnknownNameError,
            "joint_name named 'el'",
        ),
        ({"joint_name": ["elbow"], "joint_type": ["BALL"]}, UnknownNameError, "named 'BALL'"),
        ({"assembly": {"elbows": 0.1}}, UnknownNameError, "named 'elbows'"),
    ],
)
def test_what_is_wrong_with_loops_is_told(urdf, changes, error, message):
    loops = {"closed_loop": [["pin_A", "pin_B"]], "type": ["3d"], "name_mot": ["mot"]} | changes
    with pytest.raises(error, match=message):
        read_model(urdf, loops=loops)


def test_joints_that_no_loop_and_no_motor_moves_are_told(urdf):
    tail = BODY.format("tail", 0.1, 0, 1) + JOINT.format("wag", "l1", "tail", "0 0 0", "revolute")
    urdf.write_text(URDF.replace("</robot>", tail + "</robot>"))
    loops = {"closed_loop": [["pin_A", "pin_B"]], "type": ["3d"], "name_mot": ["mot"]}
    with pytest.raises(LoopError, match="leave wag free, which name_mot has not"):
        read_model(urdf, loops=loops)


def test_files_that_are_no_yaml_and_robots_that_are_no_urdf_are_refused(urdf, tmp_path):
    bad = tmp_path / "loops.yaml"
    bad.write_text("closed_loop: [")
    with pytest.raises(DescriptionError, match="loops.yaml: this is no YAML"):
        read_model(urdf, loops=bad)
    with pytest.raises(DescriptionError, match="there is no such file"):
        read_model(urdf, loops=tmp_path / "none.yaml")
    with pytest.raises(ModelError, match="loops stand beside URDF files"):
        read_model("five_bar", loops=bad)
