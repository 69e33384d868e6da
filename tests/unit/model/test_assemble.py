import numpy as np
import pytest

from armdyn import Robot
from armdyn.errors import ModelError, TopologyError, UnknownNameError
from armdyn.model import Connection, Inertia, Mimic, assemble
from armdyn.model.transform import (
    check_transform,
    rotation_from_quaternion,
    rotation_from_rpy,
    rpy_from_rotation,
    transform,
)
from oracles import close


def links(names):
    return {n: Inertia.from_com(1.0, (0.1, 0.0, 0.2), 0.01 * np.eye(3)) for n in names}


def joint(name, parent, child, kind="revolute", **more):
    return Connection(name, kind, parent, child, transform(position=(0.3, 0, 0)), **more)


def test_joints_are_sorted_from_the_base_outward_whatever_their_order():
    connections = [joint("c", "2", "3"), joint("a", "0", "1"), joint("b", "1", "2")]
    model = assemble("arm", links("0123"), connections)
    assert [j.name for j in model.joints] == ["a", "b", "c"]
    assert model.parents == (-1, 0, 1)
    assert model.is_chain
    assert model.tool_frame.link == 2


def test_fixed_joints_are_merged_and_the_originals_kept():
    connections = [joint("a", "0", "1"), joint("f", "1", "2", "fixed"), joint("b", "2", "3")]
    model = assemble("arm", links("0123"), connections)
    assert [j.name for j in model.joints] == ["a", "b"]
    assert [b.name for b in model.links[0].bodies] == ["1", "2"]
    assert model.links[0].inertia.mass == 2.0
    close(model.links[0].inertia.com, [0.25, 0, 0.2])
    assert model.frame("2").link == 0
    close(model.frame("2").placement[:3, 3], [0.3, 0, 0])
    close(model.joints[1].placement[:3, 3], [0.6, 0, 0])


def test_two_roots_are_refused_by_name():
    with pytest.raises(TopologyError, match=r"2 root links: '0', '2'"):
        assemble("arm", links("0123"), [joint("a", "0", "1"), joint("b", "2", "3")])


def test_a_loop_is_refused_with_the_joints_that_close_it():
    connections = [joint("a", "0", "1"), joint("b", "0", "2"), joint("c", "1", "2")]
    with pytest.raises(TopologyError, match=r"'2' is the child of the joints 'b' and 'c'.*loop"):
        assemble("arm", links("012"), connections)


def test_a_ring_without_root_and_a_ring_beside_the_root_are_refused():
    ring = [joint("a", "1", "2"), joint("b", "2", "1")]
    with pytest.raises(TopologyError, match="no root"):
        assemble("arm", links("12"), ring)
    with pytest.raises(TopologyError, match=r"'a', 'b' form a loop that does not hang"):
        assemble("arm", links("012"), ring)


def test_names_must_exist_and_be_single():
    with pytest.raises(UnknownNameError, match="parent of joint 'a': 'x'"):
        assemble("arm", links("01"), [joint("a", "x", "1")])
    with pytest.raises(TopologyError, match="two joints are named 'a'"):
        assemble("arm", links("012"), [joint("a", "0", "1"), joint("a", "1", "2")])
    with pytest.raises(UnknownNameError, match=r"tool in 'arm' named 'hand'"):
        assemble("arm", links("01"), [joint("a", "0", "1")], tool="hand")


def test_axis_without_direction_and_robot_without_joints():
    with pytest.raises(ModelError, match=r"joint 'a': the axis \[0.0, 0.0, 0.0\] has no direction"):
        assemble("arm", links("01"), [joint("a", "0", "1", axis=(0, 0, 0))])
    with pytest.raises(ModelError, match="no moving joint left"):
        assemble("arm", links("01"), [joint("a", "0", "1", "fixed")])


def test_mimic_of_unknown_joint_or_in_a_circle():
    with pytest.raises(UnknownNameError, match="mimicked by 'a' named 'b'"):
        assemble("arm", links("01"), [joint("a", "0", "1", mimic=Mimic("b"))])
    circle = [
        joint("a", "0", "1", mimic=Mimic("b")),
        joint("b", "1", "2", mimic=Mimic("a")),
        joint("c", "2", "3"),
    ]
    with pytest.raises(TopologyError, match="mimic each other in a circle"):
        assemble("arm", links("0123"), circle)


def mimicking():
    connections = [
        joint("a", "0", "1"),
        joint("b", "1", "2", mimic=Mimic("a", -0.5, 0.2)),
        joint("c", "2", "3", "prismatic", mimic=Mimic("b", 2.0, 0.1)),
        joint("d", "3", "4"),
    ]
    return assemble("gripper", links("01234"), connections)


def test_mimic_is_a_linear_coupling():
    model = mimicking()
    K, k = model.coupling
    close(K, [[1, 0], [-0.5, 0], [-1, 0], [0, 1]])
    close(k, [0, 0.2, 0.5, 0])


def test_locking_a_leader_locks_its_followers():
    robot = Robot(mimicking())
    assert robot.joint_names == ("a", "d")
    locked = robot.with_locked({"a": 0.4})
    assert locked.joint_names == ("d",)
    close(locked.forward_kinematics([0.3]), robot.forward_kinematics([0.4, 0.3]), 1e-13)
    with pytest.raises(ModelError, match="'b' mimics 'a'.*lock 'a' instead"):
        robot.with_locked({"b": 0.1})


def test_unknown_joint_to_lock_names_the_nearest():
    with pytest.raises(UnknownNameError, match=r"lock in 'gripper' named 'e'"):
        Robot(mimicking()).with_locked({"e": 0.0})


@pytest.mark.parametrize("rpy", [(0.1, -0.7, 2.0), (0.4, np.pi / 2, 0.3), (1.0, -np.pi / 2, -2.0)])
def test_rpy_survives_a_round_trip_as_a_rotation(rpy):
    R = rotation_from_rpy(rpy)
    close(R @ R.T, np.eye(3), 1e-14)
    close(rotation_from_rpy(rpy_from_rotation(R)), R, 1e-14)


def test_quarter_turns_are_exact():
    R = rotation_from_rpy((np.pi / 2, 0, -np.pi))
    assert set(np.unique(np.abs(R))) == {0.0, 1.0}
    assert rotation_from_quaternion((1, 1, 0, 0))[2, 1] == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.eye(3), r"expected numbers of shape \(4, 4\), got shape \(3, 3\)"),
        (2 * np.eye(4), "last row"),
        (np.diag([1, 1, -1, 1]), "not a rotation"),
        (np.full((4, 4), np.nan), "finite"),
        ("tool", "expected numbers"),
    ],
)
def test_a_transform_must_be_rigid(value, message):
    with pytest.raises(ModelError, match=message):
        check_transform("tool", value)
