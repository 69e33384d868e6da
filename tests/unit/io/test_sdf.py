"""SDF files: trees and loops by the graph of their joints, and what is refused."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynWarning, LoopError, ModelError, SdfError, UnsupportedJointError
from armdyn.io.sdf.read import read_sdf
from armdyn.loops.rows import residuals

BODY = (
    "<inertial><pose>{x} 0 0 0 0 0</pose><mass>{m}</mass><inertia><ixx>0.001</ixx>"
    "<iyy>0.02</iyy><izz>0.02</izz></inertia></inertial>"
)
CRANK, COUPLER, ROCKER = (BODY.format(x=x, m=m) for x, m in ((0.1, 1.0), (0.2, 2.0), (0.15, 1.5)))
TURN = "<axis><xyz>0 1 0</xyz></axis>"
FOUR_BAR = f"""<?xml version="1.0"?>
<sdf version="1.7"><world name="w"><gravity>0 0 -9.8</gravity><model name="bars">
 <pose>0 0 0.1 0 0 0.2</pose>
 <link name="crank"><pose>0 0 0 0 -1.2 0</pose>{CRANK}</link>
 <frame name="elbow" attached_to="crank"><pose>0.2 0 0 0 40 0</pose></frame>
 <link name="coupler"><pose relative_to="elbow"/>{COUPLER}</link>
 <link name="rocker"><pose>0.5 0 0 0 -1.4 0</pose>{ROCKER}</link>
 <joint name="j1" type="revolute"><parent>world</parent><child>crank</child>
  <axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>1e16</upper><effort>-1</effort></limit>
  <dynamics><damping>0.1</damping></dynamics></axis></joint>
 <joint name="j2" type="revolute"><parent>crank</parent><child>coupler</child>{TURN}</joint>
 <joint name="j3" type="revolute"><parent>world</parent><child>rocker</child>{TURN}</joint>
 <joint name="j4" type="revolute"><pose relative_to="coupler">0.4 0 0 0 0 0</pose>
  <parent>rocker</parent><child>coupler</child>{TURN}</joint>
</model></world></sdf>
""".replace("0 40 0", "0 0.7 0")
URDF = """<robot name="bars">
 <link name="world"/>
 <link name="crank"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
  <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>
 <link name="coupler"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
  <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>
 <joint name="j1" type="continuous"><parent link="world"/><child link="crank"/><axis xyz="0 1 0"/>
  <origin xyz="0 0 0.1" rpy="0 -1.2 0.2"/></joint>
 <joint name="j2" type="continuous"><parent link="crank"/><child link="coupler"/>
  <axis xyz="0 1 0"/><origin xyz="0.2 0 0" rpy="0 0.7 0"/></joint>
</robot>"""


def written(tmp_path, text):
    file = tmp_path / "robot.sdf"
    file.write_text(text)
    return file


def test_a_joint_that_closes_the_graph_is_a_cut_joint(tmp_path):
    model, findings = read_sdf(written(tmp_path, FOUR_BAR))
    assert not [f for f in findings if f.level != "note"]
    assert [j.name for j in model.joints if j.actuated] == ["j1"]
    (loop,) = model.loops
    assert (loop.name, loop.cut.name) == ("j4", "revolute")
    assert np.abs(residuals(model, np.zeros(3))).max() < 1e-15
    assert model.gravity.tolist() == [0.0, 0.0, -9.8]
    first = model.joints[0]
    assert (first.limits.lower, first.limits.upper) == (-1.0, np.inf)
    assert first.limits.effort == np.inf
    assert first.friction.viscous == 0.1


def open_bars():
    """Crank and coupler alone."""
    lines = FOUR_BAR.splitlines()
    tree = "\n".join(line for line in lines if not any(x in line for x in ("j3", "rocker")))
    tree = tree.replace('<joint name="j4" type="revolute"><pose relative_to="coupler">', "<!-- ")
    return tree.replace("0.4 0 0 0 0 0</pose>", " -->")


@pytest.mark.slow
def test_a_tree_is_that_of_urdf(tmp_path):
    robot = armdyn.load(written(tmp_path, open_bars()), gravity=(0, 0, -9.81))
    other = tmp_path / "robot.urdf"
    other.write_text(URDF)
    motion = np.random.default_rng(0).normal(size=(3, 2))
    expected = armdyn.load(other).inverse_dynamics(*motion)
    np.testing.assert_allclose(robot.inverse_dynamics(*motion, friction=False), expected)
    tool = armdyn.load(written(tmp_path, open_bars()), tool="elbow").forward_kinematics([0.3, 0.0])
    np.testing.assert_allclose(tool, robot.link_frames([0.3, 0.0])[1], atol=1e-15)


def test_joints_are_passed_from_either_end(tmp_path):
    """A link that is a parent only hangs on its child: the joint turns it the other way round."""
    ends = "<parent>crank</parent><child>coupler</child>"
    place = '<pose relative_to="coupler"/><parent>coupler</parent><child>crank</child>'
    model, _ = read_sdf(written(tmp_path, open_bars().replace(ends, place)))
    straight, _ = read_sdf(written(tmp_path, open_bars()))
    assert model.parents == straight.parents == (-1, 0)
    np.testing.assert_allclose(model.joints[1].axis, -straight.joints[1].axis, atol=1e-15)
    np.testing.assert_allclose(model.joints[1].placement, straight.joints[1].placement, atol=1e-15)


ENTITY = '<!DOCTYPE sdf [<!ENTITY a "b">]><sdf version="1.7"/>'


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (ENTITY, SdfError, "declares the entity 'a'"),
        ('<sdf version="1.7"/>', SdfError, "a robot is one <model>, found 0: none"),
        ('<sdf version="1.2"/>', SdfError, "version '1.2' of SDF is not read; expected 1.3"),
        ("<robot/>", SdfError, "the root is <robot>; expected <sdf>"),
        (FOUR_BAR.replace("</model>", "<include/></model>"), SdfError, "there is no file ''"),
        (FOUR_BAR.replace("</model>", "<model/></model>"), SdfError, "a <model> has no name"),
        (FOUR_BAR.replace('type="revolute"', 'type="gearbox"', 1), UnsupportedJointError, "'gear"),
        (FOUR_BAR.replace("<child>rocker", "<child>rod"), SdfError, "frame 'rod' is not among"),
        (FOUR_BAR.replace('relative_to="elbow"', 'relative_to="coupler"'), SdfError, "itself"),
        (FOUR_BAR.replace("0.5 0 0 0 -1.4 0", "0.5 x 0 0 -1.4 0"), SdfError, "6 finite numbers"),
        (FOUR_BAR.replace("<xyz>0 1 0<", "<xyz>0 0 0<", 1), SdfError, "the axis has no length"),
        (FOUR_BAR.replace(TURN, "", 1), SdfError, "'j2' of type 'revolute' has no <axis>"),
        (FOUR_BAR.replace('name="rocker"', 'name="crank"'), SdfError, "is the name of a <link>"),
        (FOUR_BAR.replace("<mass>1.0<", "<mass>-1<"), SdfError, "<mass> cannot be negative"),
        (FOUR_BAR.replace("<mass>1.0<", "<mass>2</mass><mass>1<"), SdfError, "a second <mass>; th"),
        (
            FOUR_BAR.replace('name="j4" type="revolute"', 'name="j4" type="fixed"'),
            LoopError,
            "'j4' of 'bars' cannot move",
        ),
        (FOUR_BAR.replace("</model>", f'<link name="x">{CRANK}</link></model>'), SdfError, "noth"),
    ],
)
def test_what_is_no_robot_is_refused(tmp_path, text, error, message):
    with pytest.raises(error, match=message):
        armdyn.load(written(tmp_path, text))


def test_what_sdf_takes_for_granted_is_told(tmp_path):
    with pytest.warns(ArmdynWarning, match="'rocker': it has no <inertial>; SDF gives it 1 kg"):
        robot = armdyn.load(written(tmp_path, FOUR_BAR.replace(ROCKER, "")))
    assert robot.model.links[2].inertia.mass == 1.0
    with pytest.raises(ModelError, match="density is for URDF and TOML"):
        armdyn.load(written(tmp_path, FOUR_BAR), density=1000)
