"""Rotors that spin, in every format and by hand, and those of which too little is known."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import ModelError, UnknownNameError, UrdfError
from armdyn.loops.coordinates import coordinates_of
from support.peers import close
from support.random_robots import random_model
from support.rotor_bodies import spinning, with_rotor_bodies

GIVEN = {"inertia": 2e-4, "gear_ratio": -80.0}


def same(one, other):
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 5, one.n))
    tau = other.inverse_dynamics(q, qd, qdd)
    close(one.inverse_dynamics(q, qd, qdd), tau, 1e-12)
    assert [x.rotor for x in one.model.driven] == [x.rotor for x in other.model.driven]


@pytest.mark.parametrize("ending", ["toml", "urdf"])
def test_files_keep_them(tmp_path, ending):
    robot = spinning(random_model("RPRR", 3, tree=True))
    robot.save(tmp_path / f"arm.{ending}")
    same(armdyn.load(tmp_path / f"arm.{ending}"), robot)


def test_files_keep_those_of_shared_motors(tmp_path):
    model = random_model("RRR", 3)
    names = [joint.name for joint in model.joints]
    robot = armdyn.Robot(model).with_drives(
        [{"name": "both", "joints": {names[1]: 1.0, names[2]: -0.5}}]
    )
    robot = spinning(robot.model)
    robot.save(tmp_path / "arm.toml")
    same(armdyn.load(tmp_path / "arm.toml"), robot)


def test_rows_of_tables_and_edits_say_the_same():
    row = {"joint": "revolute", "a": 0.5, "mass": 2.0, "com": [-0.2, 0, 0], "inertia": [1, 1, 1]}
    keys = {"rotor_inertia": 2e-4, "gear_ratio": -80.0, "rotor_axis": [0, 3, 4]}
    keys |= {"rotor_carrier": "link1"}
    table = armdyn.from_dh([row, row | keys])
    plain = armdyn.from_dh([row, row])
    by_joint = plain.with_joint("joint2", **keys)
    by_rotor = plain.with_rotor("joint2", axis=[0, 0.6, 0.8], carrier="link1", **GIVEN)
    same(table, by_joint)
    same(table, by_rotor)
    assert table.model.joints[1].rotor.axis == pytest.approx((0.0, 0.6, 0.8))
    assert (
        by_rotor.with_rotor("joint2").model.joints[1].rotor
        == plain.with_joint("joint2", rotor_inertia=2e-4, gear_ratio=-80.0).model.joints[1].rotor
    )


DRAKE = """<transmission><joint name="{joint}"/><actuator name="m">
<drake:rotor_inertia value="{inertia}"/><drake:gear_ratio value="{ratio}"/></actuator></transmission>
</robot>"""


def with_actuator(path, joint, inertia, ratio):
    text = path.read_text().replace("<robot ", '<robot xmlns:drake="http://drake.mit.edu" ', 1)
    tags = DRAKE.format(joint=joint, inertia=inertia, ratio=ratio)
    path.write_text(text.replace("</robot>", tags))


def test_rotors_of_drake_spin_about_their_joints_if_asked(tmp_path):
    """Each is a body of its own on the link before, which turns against it about the joint."""
    model, path = random_model("RRR", 6), tmp_path / "arm.urdf"
    armdyn.Robot(model).save(path)
    last = model.joints[-1].name
    with_actuator(path, last, 1e-4, 100.0)
    plain, robot = armdyn.load(path), armdyn.load(path, spinning_rotors=True)
    assert not plain.model.spins
    bodies = with_rotor_bodies(robot.model)
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 3))
    explicit = armdyn.Robot(bodies.model)
    tau = explicit.inverse_dynamics(*map(bodies.all, (q, qd, qdd)))
    close(robot.inverse_dynamics(q, qd, qdd), bodies.torques(tau), 1e-11)
    hinge = bodies.model.joints[-1]
    axis, own = hinge.placement[:3, :3] @ hinge.axis, robot.model.joints[-1]
    assert hinge.parent == own.parent
    np.testing.assert_allclose(axis, own.placement[:3, :3] @ own.axis, atol=1e-12)
    assert coordinates_of(robot.model).is_linear


def test_rotors_known_behind_their_gears_alone_do_not_spin(tmp_path):
    path = tmp_path / "arm.urdf"
    armdyn.load("saha_3r").save(path)
    with_actuator(path, "joint2", 0.6, 1.0)
    message = "how fast a rotor spins needs its true gear_ratio"
    with pytest.raises(ModelError, match=f"rotor of 'joint2': {message}"):
        armdyn.load(path, spinning_rotors=True)
    armature = tmp_path / "arm.xml"
    armature.write_text(
        '<mujoco><worldbody><body name="b"><joint name="j" armature="0.6"/>'
        '<geom size="0.1" mass="1"/></body></worldbody></mujoco>'
    )
    with pytest.raises(ModelError, match=f"rotor of 'j': {message}"):
        armdyn.load(armature, spinning_rotors=True)
    robot = armdyn.load("saha_3r").with_joint("joint2", rotor_inertia=0.6)
    along = {"axis": [0, 0, 1], "carrier": "link1"}
    with pytest.raises(ModelError, match=message):
        robot.with_rotor("joint2", **along)
    with pytest.raises(ModelError, match=message):
        robot.with_joint("joint2", rotor_axis=[0, 0, 1], rotor_carrier="link1")
    assert robot.with_rotor("joint2", **along, gear_ratio=1.0).model.spins  # a direct drive
    row = {"joint": "revolute", "mass": 1.0, "rotor_axis": [0, 0, 1], "rotor_carrier": "base"}
    with pytest.raises(ModelError, match=f"DH row 1: {message}"):
        armdyn.from_dh([row], physical="ignore")


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"axis": [0, 0, 1]}, ModelError, "needs both rotor_axis and rotor_carrier"),
        ({"carrier": "link1"}, ModelError, "needs both rotor_axis and rotor_carrier"),
        ({"axis": [0, 0, 0], "carrier": "link1"}, ModelError, "has no direction"),
        ({"axis": [0, 0, 1], "carrier": "linkage"}, UnknownNameError, "that carries it named"),
        ({"axis": [0, 0, 1], "carrier": "link1", "inertia": -1.0}, ModelError, "negative"),
        ({"axis": [0, 0, 1], "carrier": "link1", "gear_ratio": 0.0}, ModelError, "other than 0"),
    ],
)
def test_rotors_that_cannot_be(given, error, message):
    with pytest.raises(error, match=rf"rotor of 'joint2'.*{message}"):
        armdyn.load("saha_3r").with_rotor("joint2", **GIVEN | given)


def test_words_of_urdf_that_cannot_be(tmp_path):
    path = tmp_path / "arm.urdf"
    spun = armdyn.load("saha_3r").with_rotor("joint2", axis=[0, 0, 1], carrier="link1", **GIVEN)
    spun.save(path)
    text = path.read_text()
    for old, new, message in (
        ('rotor_carrier="link1"', "", "needs both rotor_axis and rotor_carrier"),
        (' gear_ratio="-80.0"', "", "how fast a rotor spins needs its true gear_ratio"),
    ):
        assert old in text
        path.write_text(text.replace(old, new))
        with pytest.raises(UrdfError, match=message):
            armdyn.load(path)


def test_locked_joints_hold_their_rotors():
    """A link that is merged into another one is still a carrier, as a frame."""
    robot = armdyn.load("saha_3r")
    robot = robot.with_rotor("joint3", axis=[0.6, 0, 0.8], carrier="link2", **GIVEN)
    robot = robot.with_rotor("joint2", axis=[0, 0, 1], carrier="link1", **GIVEN)
    less, q2 = robot.with_locked({"joint2": 0.4}), 0.4
    q, qd, qdd = np.random.default_rng(2).uniform(-1, 1, (3, 2))
    full = [np.insert(x, 1, y) for x, y in ((q, q2), (qd, 0.0), (qdd, 0.0))]
    close(less.inverse_dynamics(q, qd, qdd), np.delete(robot.inverse_dynamics(*full), 1), 1e-12)
