"""MJCF files with `connect` and `weld`: loops, with the torques of MuJoCo."""

import mujoco
import numpy as np
import pytest

import armdyn
from armdyn.errors import LoopError
from armdyn.io.mjcf.read import read_mjcf
from support.elimination import eliminated

BAR = '<geom type="capsule" size=".02" fromto="0 0 0 {x} 0 .3" mass="1"/>'
FIVE_BAR = f"""<mujoco model="bars"><option><flag contact="disable"/></option><worldbody>
<body name="l1"><joint name="q1" axis="0 -1 0"/>{BAR.format(x=-0.2)}
 <body name="l2" pos="-.2 0 .3"><joint name="q2" axis="0 -1 0" damping=".1"/>{BAR.format(x=0.35)}
 </body></body>
<body name="l3" pos=".3 0 0"><joint name="q3" axis="0 -1 0"/>{BAR.format(x=0.2)}
 <body name="l4" pos=".2 0 .3"><joint name="q4" axis="0 -1 0"/>{BAR.format(x=-0.35)}TIP</body></body>
</worldbody>
<equality>PIN</equality><actuator><motor joint="q1"/><motor joint="q3"/></actuator></mujoco>"""
TIP = '<body name="tip" pos="-.35 0 .3"><joint name="q5" axis="0 -1 0"/><geom size=".03"/></body>'
PIN = '<connect name="pin" body1="l2" body2="l4" anchor=".35 0 .3"/>'
WELD = '<weld name="pin" body1="l2" body2="tip"/>'


def text(pin, tip=""):
    return FIVE_BAR.replace("PIN", pin).replace("TIP", tip)


def loaded(tmp_path, content):
    file = tmp_path / "robot.xml"
    file.write_text(content)
    return read_mjcf(file)


@pytest.mark.parametrize(("pin", "tip"), [(PIN, ""), (WELD, TIP)])
def test_joints_without_a_motor_follow(tmp_path, pin, tip):
    model, findings = loaded(tmp_path, text(pin, tip))
    assert not [f for f in findings if f.level == "warning"]
    assert [j.name for j in model.joints if j.actuated] == ["q1", "q3"]
    (loop,) = model.loops
    assert (loop.name, loop.cut.name) == ("pin", "fixed" if tip else "spherical")


@pytest.mark.slow
@pytest.mark.parametrize(("pin", "tip"), [(PIN, ""), (WELD, TIP)])
def test_torques_are_those_of_mujoco(tmp_path, pin, tip):
    """Where the loop is closed MuJoCo's inverse dynamics of the tree do the work of our torques."""
    model, _ = loaded(tmp_path, text(pin, tip))
    robot, m = armdyn.Robot(model), mujoco.MjModel.from_xml_string(text(pin, tip))
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_EQUALITY)
    q, qd, qdd = np.array([0.1, -0.2]), np.array([0.7, -0.4]), np.array([1.0, 2.0])
    here = robot._at.at(q)
    data = mujoco.MjData(m)
    data.qpos[:], data.qvel[:] = here.q, here.rates(qd)
    data.qacc[:] = here.accelerations(qd, qdd)
    mujoco.mj_inverse(m, data)
    expected = here.torques(np.array(data.qfrc_inverse))
    np.testing.assert_allclose(robot.inverse_dynamics(q, qd, qdd), expected, atol=1e-10)
    mujoco.mj_forward(m, data)
    tip_of = [
        data.xpos[m.body(b).id] + data.xmat[m.body(b).id].reshape(3, 3) @ p
        for b, p in (
            ("l2", [0.35, 0, 0.3]),
            ("l4", [-0.35, 0, 0.3]),
        )
    ]
    np.testing.assert_allclose(*tip_of, atol=1e-12)


def test_sites_and_the_world_can_be_joined(tmp_path):
    sited = text('<connect name="pin" site1="a" site2="b"/>').replace(
        '<body name="l1">', '<site name="b" pos=".1 0 .55"/><body name="l1">'
    )
    sited = sited.replace(
        '<body name="l2" pos="-.2 0 .3">',
        '<body name="l2" pos="-.2 0 .3"><site name="a" pos=".3 0 .25"/>',
    )
    model, _ = loaded(tmp_path, sited)
    assert (model.loops[0].link_a, model.loops[0].link_b) == (1, -1)
    assert {j.name for j in model.joints if not j.actuated} == {"q1", "q2"}


def test_what_holds_everything_is_told(tmp_path):
    held = '<weld name="w" body1="l1" body2="l3"/><weld name="v" body1="l2"/><weld body1="l4"/>'
    with pytest.raises(LoopError, match=r"robot.xml: loop 'w' of 'bars' cannot move"):
        loaded(tmp_path, text(held))


@pytest.mark.slow
def test_joints_may_follow_others_where_there_are_loops(tmp_path):
    """The elbows of a five-bar are geared, so that one coordinate is left."""
    model, findings = loaded(tmp_path, text(PIN + '<joint name="gear" joint1="q4" joint2="q2"/>'))
    assert not [f for f in findings if f.level == "warning"]
    (coordinate,) = (j.name for j in model.joints if j.actuated)
    assert coordinate in ("q1", "q3")  # which have the motors
    robot, motion = armdyn.Robot(model), (np.array([0.1]), np.array([0.7]), np.array([-1.0]))
    full, _, _, tau, _ = eliminated(robot, *motion, friction=True)
    assert full[3] == pytest.approx(full[1], abs=1e-12)
    np.testing.assert_allclose(robot.inverse_dynamics(*motion), tau, atol=1e-10)
    np.testing.assert_allclose(robot.forward_dynamics(*motion[:2], tau), motion[2], atol=1e-10)


def test_coordinates_are_chosen_by_people(tmp_path):
    file = tmp_path / "robot.xml"
    file.write_text(text(PIN))
    robot = armdyn.load(file)
    other = armdyn.load(file, coordinates=["q1", "q2"])
    assert other.joint_names == ("q1", "q2")
    assert "q1 (motor), q3 (motor)" in robot.model.note
    assert "Coordinates around loops: q1, q2" in other.model.note
    q = np.array([0.1, -0.2])
    full = robot.all_joints(q)
    np.testing.assert_allclose(other.all_joints(full[:2]), full, atol=1e-12)
    # one mechanism: the power of gravity does not know the coordinates
    qd = np.array([0.3, 0.7])
    rates = robot._at.at(q).rates(qd)
    power = robot.gravity_vector(q) @ qd
    assert other.gravity_vector(full[:2]) @ rates[:2] == pytest.approx(power, rel=1e-12)
    for names, message in [
        (["q1", "q9"], "coordinate of 'bars' named 'q9'"),
        (["q1"], "leave 2 of the 4 joints around them free, and 1 are coordinates: q1"),
        (["q1", "q2", "q3"], "leave 2 of the 4 joints"),
    ]:
        with pytest.raises(armdyn.errors.ArmdynError, match=message):
            armdyn.load(file, coordinates=names)


def test_coordinates_stand_in_files(tmp_path):
    file = tmp_path / "robot.xml"
    file.write_text(text(PIN))
    robot = armdyn.load(file, coordinates=["q2", "q4"])
    robot.save(tmp_path / "robot.toml")
    lines = (tmp_path / "robot.toml").read_text().replace("actuated = false\n", "")
    (tmp_path / "robot.toml").write_text(
        lines.replace("format = 1\n", 'format = 1\ncoordinates = ["q2", "q4"]\n')
    )
    assert armdyn.load(tmp_path / "robot.toml").joint_names == ("q2", "q4")
