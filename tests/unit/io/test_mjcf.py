"""MJCF in: what is read, what is warned of, what is refused with which words."""

import os
import re
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import mujoco
import numpy as np
import pytest

import armdyn
from armdyn.errors import (
    ArmdynWarning,
    MjcfError,
    TopologyError,
    UnknownNameError,
)
from armdyn.formulations.newton_euler import newton_euler
from armdyn.io.mjcf.read import Couplings, read_drives
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import FrictionLaw, Limits, Mimic, Rotor
from armdyn.model.transform import transform
from support.pages import page, table
from support.paths import ROBOTS
from support.reading import model_from_mjcf

BALL = '<geom size="0.1" mass="1" pos="0.1 0 0"/>'


def save(folder: Path, body: str, rest: str = "") -> Path:
    path = folder / "robot.xml"
    path.write_text(f"<mujoco><worldbody>{body}</worldbody>{rest}</mujoco>", encoding="utf-8")
    return path


def arm(joint: str = '<joint name="j"/>', inside: str = "", attributes: str = "") -> str:
    return f'<body name="arm" {attributes}>{joint}{BALL}{inside}</body>'


def two(rest: str) -> str:
    inner = f'<body name="fore"><joint name="k" axis="0 1 0"/>{BALL}</body>'
    return arm(inside=inner) + rest


def test_names_drives_and_limits():
    model = model_from_mjcf(ROBOTS / "arm.xml")
    joints = {joint.name: joint for joint in model.joints}
    assert model.name == "test arm"
    assert list(joints) == ["pan", "tilt", "turn", "reach", "balance"]
    assert [j.kind for j in model.joints] == ["revolute"] * 3 + ["prismatic", "revolute"]
    assert joints["pan"].limits == Limits(-2.0, 2.5, effort=50.0)
    assert joints["tilt"].limits == Limits()
    assert joints["pan"].friction == FrictionLaw(0.7, 0.4, 0.4)
    assert joints["pan"].rotor == Rotor(0.2, 1.0)
    np.testing.assert_array_equal(model.gravity, (0.5, -1.0, -9.6))
    assert model.flange.name == "hand"


def test_bodies_are_kept_with_the_links_that_carry_them():
    model = model_from_mjcf(ROBOTS / "arm.xml")
    assert [body.name for body in model.base_link.bodies] == ["world", "pedestal"]
    assert [body.name for body in model.links[3].bodies] == ["wrist", "hand"]
    assert model.links[1].inertia.is_zero
    assert model.frame("hand").link == 3


def test_options():
    base = transform(position=(0.0, 0.0, 1.0))
    model = model_from_mjcf(
        ROBOTS / "arm.xml", locked={"reach": 0.1}, tool="wrist", gravity=(1, 2, 3), base=base
    )
    assert len(model.joints) == 4
    assert model.flange.name == "wrist"
    np.testing.assert_array_equal(model.gravity, (1.0, 2.0, 3.0))
    np.testing.assert_array_equal(model.base, base)


def test_unknown_tool():
    with pytest.raises(UnknownNameError, match=r"body or site .* named 'tpc'\. Did you mean 'tcp'"):
        model_from_mjcf(ROBOTS / "arm.xml", tool="tpc")


def test_disabled_features_are_left_out(tmp_path):
    joint = '<joint name="j" damping="1" frictionloss="2"/>'
    off = '<option><flag gravity="disable" frictionloss="disable" damper="disable"/></option>'
    model = model_from_mjcf(save(tmp_path, arm(joint), off))
    assert model.joints[0].friction.is_zero
    assert not model.gravity.any()


def test_unnamed_bodies_and_joints_get_names(tmp_path):
    model = model_from_mjcf(save(tmp_path, f"<body><joint/>{BALL}</body>"))
    assert model.joints[0].name == "body1_joint0"
    assert model.links[0].name == "body1"


def test_free_root(tmp_path):
    free = f'<body name="cart" pos="1 2 3"><freejoint name="float"/>{BALL}{arm()}</body>'
    path = save(tmp_path, free)
    model = model_from_mjcf(path, fix_root=True)
    fixed = model_from_mjcf(save(tmp_path, free.replace('<freejoint name="float"/>', "")))
    q, qd, qdd = np.array([[0.3], [0.7], [-0.2]])
    np.testing.assert_array_equal(
        newton_euler(model, q, qd, qdd).tau, newton_euler(fixed, q, qd, qdd).tau
    )
    np.testing.assert_array_equal(model.frame("cart").placement[:3, 3], (1.0, 2.0, 3.0))


@pytest.mark.parametrize("joint", ["", "<freejoint/>"])
def test_a_file_in_which_nothing_moves_is_refused(tmp_path, joint):
    with pytest.raises(TopologyError, match=r"robot\.xml: no joint moves"):
        model_from_mjcf(save(tmp_path, arm(joint)), fix_root=True)


def test_a_ball_is_three_hinges(tmp_path):
    path = save(tmp_path, arm('<joint name="hip" type="ball" pos="0 0 0.2"/>'))
    model = model_from_mjcf(path)
    assert [joint.name for joint in model.joints] == ["hip_x", "hip_y", "hip_z"]
    assert [link.name for link in model.links] == ["arm after hip_x", "arm after hip_y", "arm"]
    np.testing.assert_array_equal([joint.axis for joint in model.joints], np.eye(3))
    assert model.frame("arm").placement[2, 3] == -0.2


@pytest.mark.parametrize(
    ("drive", "message"),
    [
        ('armature="0.1"', "three hinges; its armature is that of each hinge.* middle hinge is 0"),
        ('damping="1" frictionloss="2"', "its damping and frictionloss is that of each hinge"),
        ('limited="true" range="0 1"', "three hinges; its range is left out"),
    ],
)
def test_what_three_hinges_cannot_say_of_a_ball_is_warned_of(tmp_path, drive, message):
    path = save(tmp_path, arm(f'<joint name="hip" type="ball" {drive}/>'))
    with pytest.warns(ArmdynWarning, match=f"joint 'hip' is a ball.*{message}"):
        model = model_from_mjcf(path)
    assert all(joint.limits == Limits() for joint in model.joints)


def test_linear_equality_is_a_mimic(tmp_path):
    rest = '<equality><joint joint1="k" joint2="j" polycoef="0.1 -2 0 0 0"/></equality>'
    model = model_from_mjcf(save(tmp_path, two(""), rest))
    assert model.joints[1].mimic == Mimic("j", -2.0, 0.1)


@pytest.mark.parametrize(
    "equalities",
    [
        [("k", "j", "0.1 -2")] * 2,
        [("k", "j", "0.1 -2"), ("j", "k", "0.05 -0.5")],
        [("k", "j", "0.1 -2"), ("k", "l", "0.1 -1"), ("l", "j", "0 2")],
    ],
)
def test_redundant_equalities_that_agree(tmp_path, equalities):
    inner = f'<body name="tip"><joint name="l" axis="0 1 0"/>{BALL}</body>'
    rest = "".join(
        f'<joint joint1="{one}" joint2="{other}" polycoef="{line} 0 0 0"/>'
        for one, other, line in equalities
    )
    path = save(
        tmp_path,
        arm(inside=f'<body><joint name="k"/>{BALL}{inner}</body>'),
        f"<equality>{rest}</equality>",
    )
    model = model_from_mjcf(path)
    positions = dict(
        zip(
            "jkl",
            coordinates_of(model).positions(np.array([0.3, 0.7])[: len(model.independent)]),
            strict=True,
        )
    )
    assert len(model.independent) == 3 - len({frozenset(pair[:2]) for pair in equalities[:2]})
    for one, other, line in equalities:
        offset, ratio = map(float, line.split())
        assert positions[one] == pytest.approx(offset + ratio * positions[other], abs=1e-15)


@pytest.mark.parametrize("order", [1, -1])
def test_a_follower_that_is_held_holds_its_leader(tmp_path, order):
    inner = f'<body name="tip"><joint name="l" axis="0 1 0"/>{BALL}</body>'
    whole = arm(inside=f'<body><joint name="k"/>{BALL}{inner}</body>')
    follows = '<joint joint1="k" joint2="j" polycoef="0.1 -2 0 0 0"/>'
    rest = "".join(['<joint joint1="k" polycoef="0.2 0 0 0 0"/>', follows][::order])
    held = model_from_mjcf(save(tmp_path, whole, f"<equality>{rest}</equality>"))
    same = armdyn.load(save(tmp_path, whole), locked={"j": -0.05, "k": 0.2}).model
    assert [joint.name for joint in held.joints] == ["l"]
    placements = (model.joints[0].placement for model in (held, same))
    np.testing.assert_allclose(*placements, atol=1e-15)


CORD = (
    '<tendon><fixed name="cord" {}><joint joint="j" coef="2"/><joint joint="k" coef="-3"/></fixed>'
    "</tendon>"
)
DRIVEN_CORD = '<actuator><motor tendon="cord" armature="0.1" damping="2" gear="5"/></actuator>'
TENDON = '<tendon><fixed name="cord" {}><joint joint="j" coef="1"/></fixed></tendon>'


@pytest.mark.parametrize(
    ("body", "rest", "message"),
    [
        (arm('<joint name="j" stiffness="3 1"/>'), "", "joint 'j' has a spring that is not linear"),
        (
            arm('<joint name="j" type="ball" stiffness="3"/>'),
            "",
            r"joint 'j' has a spring \(stiffness 3\)",
        ),
        (arm('<joint name="j" damping="1 2"/>'), "", "joint 'j' has damping that is not linear"),
        (arm(attributes='gravcomp="1"'), "", "body 'arm' has its gravity compensated"),
        (
            f'{arm()}<body name="target" mocap="true"/>',
            "",
            r"body 'target' is moved from outside \(mocap\)",
        ),
        (arm(), '<option density="1000"/>', r"in a fluid \(density 1000"),
        (two(""), CORD.format('stiffness="2" damping="1"'), "'cord' has stiffness and damping"),
        (arm(), TENDON.format('stiffness="0 2"'), "'cord' has stiffness"),
        (arm(), TENDON.format('damping="0 2"'), "joint 'j' has damping that is not linear"),
        (two(""), CORD.format("") + DRIVEN_CORD, "'cord' has armature and damping"),
        (
            arm(),
            '<actuator><motor joint="j" damping="0 1"/></actuator>',
            "joint 'j' has damping that is not linear",
        ),
        (
            arm(),
            '<actuator><general name="prop" joint="j" gainprm="0" biastype="affine" '
            'biasprm="0 -3 0"/></actuator>',
            "actuator 'prop' acts without a control",
        ),
        (
            two(""),
            '<equality><joint joint1="k" joint2="j"/><joint joint1="k" joint2="j" '
            'polycoef="0.1 1 0 0 0"/></equality>',
            "equality constraint .* on joint 'k' that contradicts the equalities before it",
        ),
        (
            two(""),
            '<equality><joint joint1="k" polycoef="0.2"/><joint joint1="k" polycoef="0.3"/>'
            "</equality>",
            "equality constraint .* on joint 'k' that contradicts the equalities before it",
        ),
    ],
)
def test_what_is_left_out_is_warned_of(tmp_path, body, rest, message):
    with pytest.warns(ArmdynWarning, match=message) as caught:
        model_from_mjcf(save(tmp_path, body, rest))
    assert len(caught) == 1
    assert "torques differ from MuJoCo's" in str(caught[0].message)


@pytest.mark.parametrize(
    ("body", "rest"),
    [
        (arm(), TENDON.format("")),
        (two(""), '<equality><weld body1="fore" active="false"/></equality>'),
        (arm('<joint name="j" stiffness="3"/>'), '<option><flag spring="disable"/></option>'),
        (arm(), '<actuator><motor joint="j"/></actuator>'),
        (arm(), '<actuator><position joint="j" kp="3"/></actuator>'),
        (
            arm('<joint name="j" actuatorgravcomp="true"/>', attributes='gravcomp="1"'),
            "",
        ),
        (
            arm(attributes='gravcomp="1"'),
            '<option gravity="0 0 0"><flag gravity="disable"/></option>',
        ),
        (arm(), '<option density="9"><flag spring="disable" damper="disable"/></option>'),
        (two(""), CORD.format('damping="1"') + '<option><flag damper="disable"/></option>'),
    ],
)
def test_what_changes_no_torque_is_read_in_silence(tmp_path, body, rest):
    assert model_from_mjcf(save(tmp_path, body, rest)).joints[0].name == "j"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<mujoco><nonsense/></mujoco>", r"robot\.xml: MuJoCo cannot compile it: .*nonsense"),
        ("<mujoco><worldbody>", r"robot\.xml:1: not well-formed XML"),
        ("<robot name='r'/>", r"robot\.xml:1: expected <mujoco>.* got <robot>"),
        ('<!DOCTYPE m [<!ENTITY a "b">]><mujoco/>', "it declares the entity 'a'"),
        (101 * "<a>", "nested more than 100 deep"),
        (
            '<mujoco><worldbody><body name="a"><joint/><geom size="1"/></body></worldbody>'
            '<equality><connect body1="a" anchor="\n"/></equality></mujoco>',
            r"robot\.xml:1: anchor of <connect> is empty; expected 3 numbers",
        ),
    ],
)
def test_bad_files(tmp_path, text, message):
    path = tmp_path / "robot.xml"
    path.write_text(text)
    with pytest.raises(MjcfError, match=message):
        model_from_mjcf(path)


def test_missing_file(tmp_path):
    with pytest.raises(MjcfError, match="there is no such file"):
        model_from_mjcf(tmp_path / "none.xml")


def test_missing_mujoco_says_how_to_install_it():
    code = "import sys; sys.modules['mujoco'] = None; import armdyn.io.mjcf.read"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtraError: reading MJCF files needs the package 'mujoco'" in run.stderr
    assert "pip install mujoco (it is in the extra 'mjcf'" in run.stderr


def test_every_field_of_a_compiled_model_is_once_in_the_table_of_the_documentation():
    """A new MuJoCo with a field that is not in it must not change torques in silence."""
    rows = table(page("formats"), "fields").strip().splitlines()[2:]
    treatments = {row.split(" | ")[0].removeprefix("| ") for row in rows}
    assert treatments == {"read", "warned of", "refused", "without effect"}
    groups = [re.findall(r"`(\S+)`", row.split(" | ")[2]) for row in rows]
    m = mujoco.MjModel.from_xml_string("<mujoco/>")
    fields = [
        prefix + name
        for prefix, part in (("", m), ("opt.", m.opt))
        for name in dir(part)
        if name[0] != "_" and name != "opt" and not callable(getattr(part, name))
    ]
    assert len(fields) > 400
    rows_of = lambda name: sum(any(fnmatchcase(name, k) for k in group) for group in groups)  # noqa: E731
    assert [name for name in fields if rows_of(name) != 1] == []


def test_older_versions_of_mujoco_lack_fields(tmp_path):
    m = mujoco.MjModel.from_xml_path(str(save(tmp_path, two(""), CORD.format("") + DRIVEN_CORD)))

    class Older:
        def __getattr__(self, name):
            if name.startswith(("actuator_damping", "actuator_armature", "tendon_armature")):
                raise AttributeError(name)
            return getattr(m, name)

    drives = read_drives(Older(), Couplings())
    assert not drives.armature.any()
    assert drives.tendons_left == {0: []}


ASSETS = '<asset><mesh name="m" file="a.stl"/></asset>'


@pytest.mark.parametrize(
    ("rest", "fifo"),
    [
        ('<include file="a.xml"/>', "a.xml"),
        ('<include file="sub/b.xml"/>', "sub/c.xml"),
        ('<include file="sub/b.xml"/>', "c.xml"),
        ('<asset><model name="m" file="a.xml"/></asset>', "a.xml"),
        (ASSETS, "a.stl"),
        ('<include file="sub/b.xml"/>' + ASSETS, "sub/a.stl"),
        ('<compiler meshdir="sub"/>' + ASSETS, "sub/a.stl"),
        ('<asset><texture type="cube" name="t" fileright="sub/a.png"/></asset>', "sub/a.png"),
    ],
)
def test_no_pipe_is_waited_for(tmp_path: Path, rest: str, fifo: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/b.xml").write_text('<mujocoinclude><include file="c.xml"/></mujocoinclude>')
    os.mkfifo(tmp_path / fifo)
    with pytest.raises(MjcfError, match=rf"{fifo}: this is a device or a pipe"):
        model_from_mjcf(save(tmp_path, arm(), rest))


@pytest.mark.parametrize(
    "rest", ['<include file="a.xml"/>', '<asset><model file="a.xml"/></asset>']
)
def test_a_document_that_names_itself_is_refused(tmp_path: Path, rest: str) -> None:
    (tmp_path / "a.xml").write_text(f"<mujoco>{rest}</mujoco>")
    with pytest.raises(MjcfError, match=r"a\.xml: it names itself"):
        model_from_mjcf(save(tmp_path, arm(), rest))


def test_included_documents_are_read_as_the_main_one(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<!DOCTYPE a [<!ATTLIST a x CDATA '1'>]><a/>")
    with pytest.raises(MjcfError, match=r"a.xml:1: there are declarations in its DOCTYPE"):
        model_from_mjcf(save(tmp_path, arm(), '<include file="a.xml"/>'))


def test_mujoco_prints_and_writes_nothing(tmp_path: Path, monkeypatch, capfd) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.warns(ArmdynWarning, match="MuJoCo warns: XML contains a 'NaN'"):
        armdyn.load(save(tmp_path, arm() + '<site pos="nan 0 0"/>'))
    assert (capfd.readouterr().out, os.listdir(tmp_path)) == ("", ["robot.xml"])


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    path = save(tmp_path, arm('<joint name="gel\xe9"/>'))
    text = '<?xml version="1.0" encoding="latin-1"?>' + path.read_text()
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(MjcfError, match="a name in it is not UTF-8 text; save the file as UTF-8"):
        model_from_mjcf(path)
