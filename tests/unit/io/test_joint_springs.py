"""Springs of joints in MJCF and SDF."""

import mujoco
import numpy as np
import pytest

from armdyn.errors import SdfError
from armdyn.formulations.springs import spring_energy, spring_torques
from armdyn.io.files import read_model

HINGE = '<joint name="a" axis="0 1 0" ref="0.2" stiffness="3" springref="0.5" damping=".1"/>'
BODY = '<inertial pos="0.1 0 0.2" mass="2" diaginertia="0.1 0.1 0.05"/>'
ARM = f"""<mujoco><option/><compiler angle="radian"/><worldbody>
<body name="l1">{HINGE}{BODY}
 <body name="l2" pos=".3 0 0"><joint name="b" type="slide" axis="0 0 1" stiffness="40"/>{BODY}
  <body name="l3" pos=".3 0 0"><joint name="c" axis="1 0 0" springref="-0.3"/>{BODY}</body>
 </body></body></worldbody></mujoco>"""


def reading(tmp_path, text, name="arm.xml", **options):
    file = tmp_path / name
    file.write_text(text)
    model, findings = read_model(file, **options)
    return model, [f.message for f in findings if f.level == "warning"]


def test_springs_of_mjcf_are_those_of_mujoco(tmp_path):
    model, said = reading(tmp_path, ARM)
    assert said == []
    assert [(s.ratios, s.stiffness) for s in model.springs] == [
        ((("a", 1.0),), 3.0),
        ((("b", 1.0),), 40.0),
    ]
    m = mujoco.MjModel.from_xml_string(ARM)
    data = mujoco.MjData(m)
    for q in np.random.default_rng(0).normal(size=(5, 3)):
        data.qpos[:] = q
        mujoco.mj_forward(m, data)
        torque = spring_torques(model, model.springs, q)
        np.testing.assert_allclose(torque, -data.qfrc_spring, atol=1e-14)
        mujoco.mj_energyPos(m, data)
        held = data.energy[0] + m.body_mass @ data.xipos @ m.opt.gravity
        assert spring_energy(model, model.springs, q) == pytest.approx(held, rel=1e-9)


def test_springs_that_are_switched_off_or_on_joints_that_are_held_are_none(tmp_path):
    off = ARM.replace("<option/>", '<option><flag spring="disable"/></option>')
    assert reading(tmp_path, off)[0].springs == ()
    model, _ = reading(tmp_path, ARM, locked={"b": 0.1})
    assert [s.ratios[0][0] for s in model.springs] == ["a"]


SDF = """<sdf version="1.9"><model name="m"><link name="base"/><link name="l"/>
<joint name="fix" type="fixed"><parent>world</parent><child>base</child></joint>
<joint name="j" type="TYPE"><parent>ENDS</child>
  <axis><xyz>0 0 1</xyz><dynamics><spring_stiffness>3</spring_stiffness>
    <spring_reference>0.4</spring_reference></dynamics></axis>
  <axis2><xyz>0 1 0</xyz><dynamics><spring_stiffness>5</spring_stiffness></dynamics></axis2>
</joint></model></sdf>"""


def test_springs_of_sdf_are_on_the_axes_of_their_joints(tmp_path):
    text = SDF.replace("ENDS", "base</parent><child>l")
    for kind, names in (("revolute", ["j"]), ("universal", ["j_1", "j_2"])):
        model, said = reading(tmp_path, text.replace("TYPE", kind), "robot.sdf")
        assert not [word for word in said if "spring_" in word]
        assert [s.ratios[0][0] for s in model.springs] == names
        first = model.springs[0]
        assert (first.stiffness, first.free_length) == (3.0, 0.4)
    assert (model.springs[1].stiffness, model.springs[1].free_length) == (5.0, 0.0)
    with pytest.raises(SdfError, match="cannot be negative, got -3"):
        reading(tmp_path, text.replace("TYPE", "revolute").replace(">3<", ">-3<"), "robot.sdf")
