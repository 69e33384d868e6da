from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import armdyn
from armdyn import Robot
from armdyn.arrays import check_constant
from armdyn.errors import ModelError, TopologyError, UnknownNameError
from armdyn.model import Connection, FrictionLaw, Inertia, Mimic, Rotor, assemble
from armdyn.model.edit import with_payload
from armdyn.model.transform import (
    check_transform,
    rotation_from_quaternion,
    rotation_from_rpy,
    rpy_from_rotation,
    transform,
)
from support.peers import close


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
    for names, joints in (("0", []), ("01", [joint("a", "0", "1", "fixed")])):
        with pytest.raises(TopologyError, match="no joint moves.*give it a revolute"):
            assemble("arm", links(names), joints)
    with pytest.raises(ModelError, match="no moving joint left"):
        assemble("arm", links("01"), [joint("a", "0", "1")], locked={"a": 0.0})


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


@pytest.mark.parametrize(
    ("drive", "message"),
    [
        ({"rotor": Rotor(-1e-4)}, r"rotor_inertia cannot be negative.*got -0\.0001"),
        ({"rotor": Rotor(np.nan)}, "rotor_inertia .* got nan"),
        ({"rotor": Rotor(1e-4, 0.0)}, r"gear_ratio is 0\.0"),
        ({"friction": FrictionLaw(-1.0)}, r"viscous .* got -1\.0"),
        ({"friction": FrictionLaw(0.0, -2.0)}, r"coulomb .* got -2\.0"),
        ({"friction": FrictionLaw(0.0, 0.0, -3.0)}, r"coulomb .* got -3\.0"),
        ({"friction": FrictionLaw(stribeck=-1.0)}, r"stribeck .* got -1\.0"),
        ({"friction": FrictionLaw(smooth_velocity=np.inf)}, "smooth_velocity .* got inf"),
        (
            {"friction": FrictionLaw(stribeck=1.0, stribeck_velocity=0.0)},
            r"stribeck = 1\.0 needs a positive stribeck_velocity .* got 0\.0",
        ),
        ({"friction": FrictionLaw(stribeck_velocity=-1.0)}, r"stribeck_velocity .* got -1\.0"),
        ({"friction": FrictionLaw(offset=np.nan)}, "offset must be finite, got nan"),
        ({"friction": FrictionLaw(viscous_positive=-1.0)}, r"viscous is a magnitude .* got -1\.0"),
        ({"friction": FrictionLaw(viscous_negative=np.inf)}, "viscous is a magnitude .* got inf"),
        (
            {"friction": FrictionLaw(0.1, viscous_positive=0.2)},
            "give viscous or viscous_positive, not both",
        ),
        ({"friction": FrictionLaw(power=-1.0)}, r"power is a magnitude .* got -1\.0"),
        ({"friction": FrictionLaw(power=np.nan)}, "power is a magnitude .* got nan"),
        (
            {"friction": FrictionLaw(power=1.0, power_exponent=0.0)},
            r"power_exponent must be positive and finite, got 0\.0",
        ),
        ({"friction": FrictionLaw(power_exponent=np.nan)}, "power_exponent must be .* got nan"),
        ({"friction": FrictionLaw(power_exponent=np.inf)}, "power_exponent must be .* got inf"),
    ],
)
def test_a_drive_that_cannot_exist_is_refused_by_joint_and_number(drive, message):
    with pytest.raises(ModelError, match=f"joint 'elbow': {message}"):
        assemble("arm", links("01"), [joint("elbow", "0", "1", **drive)])


def test_a_gear_without_rotor_has_any_ratio_and_stribeck_may_never_die_out():
    drive = {"rotor": Rotor(0.0, 0.0), "friction": FrictionLaw(stribeck=1.0)}
    assemble("arm", links("01"), [joint("a", "0", "1", **drive)])


@pytest.mark.parametrize("bad", ["", 3, None])
def test_names_are_strings_that_are_not_empty(bad):
    words = "a name is a string that is not empty, got"
    with pytest.raises(ModelError, match=f"robot: {words}"):
        assemble(bad, links("01"), [joint("a", "0", "1")])
    with pytest.raises(ModelError, match=f"joint: {words}"):
        assemble("arm", links("01"), [joint(bad, "0", "1")])
    with pytest.raises(ModelError, match=f"link: {words}"):
        assemble("arm", links(["0", bad]), [joint("a", "0", bad)])


def with_link_named_tool(**options):
    connections = [joint("a", "0", "1"), joint("b", "1", "tool"), joint("c", "1", "2")]
    connections.append(joint("d", "2", "3"))
    return assemble("arm", links(["0", "1", "tool", "2", "3"]), connections, **options)


def test_a_link_named_tool_is_the_tool():
    robot = Robot(with_link_named_tool())
    assert robot.model.flange.name == "tool"
    assert sorted(robot.link_names) == ["0", "1", "2", "3", "tool"]
    link = next(frame for frame in robot.model.frames if frame.name == "tool")
    assert robot.model.tool_frame.link == link.link
    assert np.array_equal(robot.model.tool_frame.placement, link.placement)
    assert robot.with_locked({"b": 0.3}).model.tool_frame.link == 0


def test_the_tool_cannot_be_elsewhere_than_the_link_of_that_name():
    shift = transform(position=(0.1, 0, 0))
    for options in ({"tool": "3"}, {"tool_transform": shift}):
        with pytest.raises(ModelError, match="'arm' has a link or frame named 'tool'.*rename it"):
            with_link_named_tool(**options)
    with pytest.raises(ModelError, match="name is taken"):
        Robot(with_link_named_tool()).with_tool(shift)


@pytest.mark.parametrize("ending", ["toml", "urdf"])
def test_a_link_named_tool_survives_saving(tmp_path, ending):
    robot = Robot(with_link_named_tool())
    robot.save(tmp_path / f"arm.{ending}")
    back = armdyn.load(tmp_path / f"arm.{ending}")
    q = np.array([0.3, -0.2, 0.5, 0.1])
    close(back.forward_kinematics(q, "tool"), robot.forward_kinematics(q, "tool"), 1e-13)
    assert sorted(back.link_names) == sorted(robot.link_names)


@pytest.mark.parametrize("ending", ["toml", "urdf"])
def test_a_payload_named_tool_survives_saving(tmp_path, ending):
    model = assemble("arm", links("01"), [joint("a", "0", "1")])
    Robot(with_payload(model, 2.0, name="tool")).save(tmp_path / f"arm.{ending}")
    back = armdyn.load(tmp_path / f"arm.{ending}")
    assert [body.name for body in back.model.links[0].bodies] == ["1", "tool"]
    assert back.link_names == ("0", "1", "tool")


@pytest.mark.parametrize("locked", [["a"], "a", 3])
def test_joints_are_locked_by_a_mapping(locked):
    words = r"joints to lock: expected a mapping .* got"
    with pytest.raises(ModelError, match=words):
        Robot(mimicking()).with_locked(locked)
    with pytest.raises(ModelError, match=words):
        assemble("arm", links("01"), [joint("a", "0", "1")], locked=locked)


@pytest.mark.parametrize("value", ["0.3", b"1", True, np.True_, None, 10**400, 1j])
def test_text_and_booleans_are_no_numbers(value):
    for given, shape in ((value, ()), ([0.0, value], (2,))):
        with pytest.raises(ModelError, match="mass: expected"):
            check_constant("mass", given, shape)


@pytest.mark.parametrize("value", [1, np.float32(1), np.int8(1), Fraction(1), np.array(1)])
def test_every_kind_of_real_number_is_one(value):
    assert check_constant("mass", value, ()) == 1.0


def test_models_of_the_same_numbers_are_equal():
    first, second = (assemble("arm", links("ab"), [joint("j", "a", "b")]) for _ in "12")
    assert first == second
    assert hash(first) == hash(second)
    assert first != replace(second, gravity=np.array([0.0, 0.0, -1.62]))
    assert first != replace(second, note="another")
    assert len(repr(first)) < 80
