"""Files whose root nothing holds: what they become, what is refused then, and the way back."""

from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynWarning, ModelError, UnsupportedJointError
from armdyn.io.files import read_model

BALL = '<inertial pos="0.1 -0.2 0.05" mass="5" diaginertia="0.2 0.3 0.25"/>'
ARM = (
    '<body name="arm" pos="0 0 0.2"><joint name="hinge" axis="0 1 0"/>'
    '<inertial pos="0.2 0 0" mass="1" diaginertia="0.02 0.03 0.01"/>{}</body>'
)
MJCF = (
    '<mujoco><worldbody>{}<body name="bus" pos="1 2 3" quat="0.8 0 0.6 0"><freejoint name="free"/>'
    "{}{}</body></worldbody>{}</mujoco>"
)
URDF = (
    '<robot name="robot"><link name="world"/>'
    '<link name="bus"><inertial><origin xyz="0.1 -0.2 0.05"/><mass value="5"/>'
    '<inertia ixx="0.2" iyy="0.3" izz="0.25" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    '<link name="arm"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>'
    '<inertia ixx="0.02" iyy="0.03" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    '<joint name="free" type="floating"><parent link="world"/><child link="bus"/>'
    '<origin xyz="1 2 3" rpy="0 1.2870022175866 0"/></joint>'
    '<joint name="hinge" type="continuous"><parent link="bus"/><child link="arm"/>'
    '<origin xyz="0 0 0.2"/><axis xyz="0 1 0"/></joint></robot>'
)
SDF = (
    '<sdf version="1.9"><model name="robot"><pose>1 2 3 0 1.2870022175866 0</pose>{}'
    '<link name="bus"><inertial><pose>0.1 -0.2 0.05 0 0 0</pose><mass>5</mass><inertia>'
    "<ixx>0.2</ixx><iyy>0.3</iyy><izz>0.25</izz></inertia></inertial></link>"
    '<link name="arm"><pose>0 0 0.2 0 0 0</pose><inertial><pose>0.2 0 0 0 0 0</pose><mass>1</mass>'
    "<inertia><ixx>0.02</ixx><iyy>0.03</iyy><izz>0.01</izz></inertia></inertial></link>"
    '<joint name="hinge" type="revolute"><parent>bus</parent><child>arm</child>'
    "<axis><xyz>0 1 0</xyz></axis></joint></model></sdf>"
)
FILES = {
    "robot.xml": MJCF.format("", BALL, ARM.format(""), ""),
    "robot.urdf": URDF,
    "robot.sdf": SDF.format(""),
}


def written(folder, name, text=None):
    (folder / name).write_text(text or FILES[name])
    return folder / name


def close(a, b):
    assert a.floating == b.floating
    np.testing.assert_allclose(a.base, b.base, atol=1e-12)
    for x, y in zip((a.base_link, *a.links), (b.base_link, *b.links), strict=True):
        np.testing.assert_allclose(x.inertia.pseudo, y.inertia.pseudo, atol=1e-12)
    for x, y in zip(a.joints, b.joints, strict=True):
        np.testing.assert_allclose(x.placement, y.placement, atol=1e-12)


@pytest.mark.parametrize("name", FILES)
def test_a_root_that_nothing_holds_is_a_base_that_floats(tmp_path, name):
    """In each format it is the same robot, its base the body and not the world."""
    model, _ = read_model(written(tmp_path, name))
    assert model.floating
    assert (model.base_link.name, [joint.name for joint in model.joints]) == ("bus", ["hinge"])
    np.testing.assert_allclose(model.base[:3, 3], (1.0, 2.0, 3.0))
    close(model, read_model(written(tmp_path, "robot.urdf"))[0])


@pytest.mark.parametrize("name", FILES)
def test_it_is_held_where_it_is_on_request(tmp_path, name):
    path = written(tmp_path, name)
    free, held = armdyn.load(path).model, armdyn.load(path, fix_root=True).model
    assert not held.floating
    masses = [sum(link.inertia.mass for link in (x.base_link, *x.links)) for x in (free, held)]
    np.testing.assert_allclose(masses, 6.0)
    here = held.base @ held.joints[0].placement
    np.testing.assert_allclose(here, free.base @ free.joints[0].placement, atol=1e-12)


@pytest.mark.parametrize("ending", ["toml", "urdf"])
def test_it_floats_when_it_is_read_back(tmp_path, ending):
    robot = armdyn.load(written(tmp_path, "robot.xml"))
    path = tmp_path / f"saved.{ending}"
    robot.save(path)
    close(armdyn.load(path).model, robot.model)
    close(armdyn.load(path, fix_root=True).model, replace(robot.model, floating=False))
    again = armdyn.load(path)
    again.save(path)
    assert armdyn.load(path) == again


def test_names_of_the_world_and_its_joint_in_a_saved_file_are_free(tmp_path):
    text = URDF.replace('"hinge"', '"floating_base"').replace('"world"', '"w"')
    robot = armdyn.load(written(tmp_path, "robot.urdf", text.replace('"arm"', '"world"')))
    robot.save(tmp_path / "saved.urdf")
    close(armdyn.load(tmp_path / "saved.urdf").model, robot.model)


FIXED = {
    "compiled": lambda robot, x: robot.inverse_dynamics(x, x, x),
    "kinematics": lambda robot, x: robot.forward_kinematics(x),
    "kernel": lambda robot, x: robot.kernel("mass_matrix"),
    "derivatives": lambda robot, x: robot.jax("gravity_vector"),
    "as written": lambda robot, x: robot.inverse_dynamics(x, x, x, formulation="newton_euler"),
    "formulation": lambda robot, x: robot.formulate("newton_euler", x, x, x),
    "method": lambda robot, x: robot.forward_dynamics(x, x, x, method="composite_body"),
    "base parameters": lambda robot, x: robot.base_parameters(),
    "exact rank": lambda robot, x: robot.exact_rank(),
    "inverse kinematics": lambda robot, x: robot.inverse_kinematics(np.eye(4)),
    "equations": lambda robot, x: armdyn.equations(robot),
    "terms": lambda robot, x: armdyn.terms(robot),
}


@pytest.mark.parametrize("asked", FIXED)
def test_what_belongs_to_a_fixed_base_is_refused(tmp_path, asked):
    robot = armdyn.load(written(tmp_path, "robot.urdf"))
    with pytest.raises(ModelError, match=r"base 'bus' of 'robot'.*free_base.*fix_root=True"):
        FIXED[asked](robot, np.zeros(1))
    assert robot.free_base.total_mass == 6.0


@pytest.mark.slow
def test_kernels_of_a_base_that_floats_are_those_of_the_robot_that_is_held(tmp_path):
    path = written(tmp_path, "robot.urdf")
    free, held = armdyn.load(path), armdyn.load(path, fix_root=True)
    base = free.free_base.standing
    q, qd, tau = np.array([[0.3], [0.7], [-0.2]])
    pose = base.pose, base.twist, q, qd, tau, np.zeros(6)
    found = free.kernel("free_forward_dynamics")(*pose)
    np.testing.assert_array_equal(
        found, np.concatenate(free.free_base.forward_dynamics(base, *pose[2:]))
    )
    assert np.array_equal(free.friction_torque(qd), held.friction_torque(qd))


FREE_BALL = f'<body name="ball"><freejoint name="other"/>{BALL}</body>'


@pytest.mark.parametrize(
    "text",
    [
        MJCF.format(FREE_BALL, BALL, ARM.format(""), ""),
        MJCF.format(ARM.format("").replace("arm", "wall").replace("hinge", "x"), BALL, "", ""),
        MJCF.format(
            "", BALL, ARM.format(""), '<equality><weld body1="arm" body2="world"/></equality>'
        ),
    ],
    ids=["two free bodies", "another arm", "tied to the world"],
)
def test_a_free_joint_that_is_not_the_root_of_all_is_refused(tmp_path, text):
    message = r"robot\.xml: joint '(free|other)' of body .* of type 'free'.*fix_root=True"
    with pytest.raises(UnsupportedJointError, match=message):
        armdyn.load(written(tmp_path, "robot.xml", text))


def test_what_a_free_joint_feels_in_mujoco_is_told(tmp_path):
    text = FILES["robot.xml"].replace(
        '<freejoint name="free"/>', '<joint type="free" name="free" damping="1"/>'
    )
    with pytest.warns(ArmdynWarning, match="the free joint 'free' has armature, damping or"):
        armdyn.load(written(tmp_path, "robot.xml", text))


def test_scenery_is_no_part_of_a_robot_that_floats(tmp_path):
    table = f'<body name="table">{BALL}</body>'
    text = MJCF.format(table, BALL, ARM.format(""), "")
    assert armdyn.load(written(tmp_path, "robot.xml", text)).free_base.total_mass == 6.0


@pytest.mark.parametrize(
    "word",
    [
        "<static>true</static>",
        '<joint name="weld" type="fixed"><parent>world</parent><child>bus</child></joint>',
    ],
    ids=["static", "welded"],
)
def test_a_model_of_sdf_that_the_world_holds_does_not_float(tmp_path, word):
    assert not read_model(written(tmp_path, "robot.sdf", SDF.format(word)))[0].floating


def test_loops_on_a_base_that_floats_are_refused_by_name(tmp_path):
    path = tmp_path / "loop.toml"
    armdyn.load("four_bar").save(path)
    path.write_text(path.read_text().replace("flange", "floating = true\nflange", 1))
    robot = armdyn.load(path)
    with pytest.raises(ModelError, match="a base that floats under closed loops is not computed"):
        _ = robot.free_base
    with pytest.raises(ModelError, match="nothing holds the base"):
        robot.mass_matrix([0.1])
