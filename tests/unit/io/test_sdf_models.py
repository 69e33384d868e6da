"""SDF files with several models, nested, included, static ones, and of older versions."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynWarning, ModelError, SdfError, UnknownNameError
from armdyn.io.files import read_model
from armdyn.io.sdf.read import read_sdf

BODY = (
    "<inertial><pose>0.1 0.02 0 0.3 0 0</pose><mass>{}</mass><inertia><ixx>0.01</ixx>"
    "<iyy>0.02</iyy><izz>0.025</izz></inertia></inertial>"
)
UPPER, HAND = BODY.format(2), BODY.format(0.5)
AXIS = "<axis><xyz>0 1 0</xyz></axis>"
FLAT = f"""<sdf version="1.9"><model name="arm"><pose>0.3 0 1 0 0 0.4</pose>
 <link name="upper"><pose>0 0 0.2 0 0.1 0</pose>{UPPER}</link>
 <link name="hand"><pose relative_to="upper">0.4 0 0.1 0.2 0 0.5</pose>{HAND}</link>
 <joint name="shoulder" type="revolute"><parent>world</parent><child>upper</child>{AXIS}</joint>
 <joint name="wrist" type="revolute"><parent>upper</parent><child>hand</child>{AXIS}</joint>
</model></sdf>"""
HAND_MODEL = f"""<model name="gripper"{{}}>{{}}
 <link name="hand"><pose>0.05 0 0 0 0 0.7</pose>{HAND}</link>
 <frame name="mount" attached_to="hand"><pose>-0.1 0 0.02 0 0.3 0</pose></frame></model>"""
GROUND = """<model name="ground"><static>true</static><pose>0 0 0.5 0 0 0</pose>
 <link name="plate"><pose>0 0 0.1 0 0 0</pose></link></model>"""


def written(tmp_path, text, name="robot.sdf"):
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def flat(tmp_path):
    return read_sdf(written(tmp_path, FLAT, "flat.sdf"))[0]


def assert_same_arm(model, other):
    """Two robots are the same but for the names of links and joints."""
    assert model.parents == other.parents
    np.testing.assert_allclose(model.base, other.base, atol=1e-12)
    for a, b in zip(model.joints, other.joints, strict=True):
        np.testing.assert_allclose(a.placement, b.placement, atol=1e-12)
        np.testing.assert_allclose(a.axis, b.axis, atol=1e-12)
    for a, b in zip(model.links, other.links, strict=True):
        np.testing.assert_allclose(a.inertia.pseudo, b.inertia.pseudo, atol=1e-12)


def nested(
    inside="", pose='<pose relative_to="upper">0.4 0 0.1 0.2 0 0.5</pose>', wrist="gripper::hand"
):
    """The arm whose hand is the link of a model in it."""
    text = FLAT.replace(
        f'<link name="hand"><pose relative_to="upper">0.4 0 0.1 0.2 0 0.5</pose>{HAND}</link>',
        HAND_MODEL.format(inside, pose),
    )
    return text.replace("<child>hand</child>", f"<child>{wrist}</child>")


MOUNTED = 'placement_frame="mount"'


def test_the_pose_of_a_model_is_that_of_its_frame(tmp_path):
    model, _ = read_sdf(written(tmp_path, nested()))
    assert [link.name for link in model.links] == ["upper", "gripper::hand"]
    by_hand = (
        FLAT.replace("0.4 0 0.1 0.2 0 0.5</pose>", "0 0 0 0 0 0</pose>")
        .replace(
            '<pose relative_to="upper">0 0 0 0 0 0</pose>',
            '<pose relative_to="in_gripper"/>',
        )
        .replace(
            '<link name="hand">',
            '<frame name="g" attached_to="upper"><pose>0.4 0 0.1 0.2 0 0.5</pose></frame>'
            '<frame name="in_gripper" attached_to="g"><pose>0.05 0 0 0 0 0.7</pose></frame>'
            '<link name="hand">',
        )
    )
    assert_same_arm(model, read_sdf(written(tmp_path, by_hand))[0])


def test_or_of_its_placement_frame(tmp_path):
    """The frame `mount` is where the pose says, and the hand is behind it as in the gripper."""
    model, _ = read_sdf(written(tmp_path, nested(f" {MOUNTED}")))
    by_hand = FLAT.replace(
        '<link name="hand"><pose relative_to="upper">0.4 0 0.1 0.2 0 0.5</pose>',
        '<frame name="mount" attached_to="upper"><pose>0.4 0 0.1 0.2 0 0.5</pose></frame>'
        '<frame name="back" attached_to="mount"><pose>{} {} {} 0 -0.3 0</pose></frame>'
        '<link name="hand"><pose relative_to="back"/>',
    )
    turn = np.array([[np.cos(0.3), 0, np.sin(0.3)], [0, 1, 0], [-np.sin(0.3), 0, np.cos(0.3)]])
    by_hand = by_hand.format(*(-turn.T @ [-0.1, 0, 0.02]))
    assert_same_arm(model, read_sdf(written(tmp_path, by_hand))[0])


@pytest.mark.parametrize(
    "end", ["gripper::hand", "gripper::mount", "gripper", "gripper::__model__"]
)
def test_joints_across_models_name_links_frames_and_models(tmp_path, end):
    """Every frame of the gripper is on its hand, and the joint stands in the frame it names."""
    text = nested(wrist=end).replace(
        '<joint name="wrist" type="revolute">',
        '<joint name="wrist" type="revolute"><pose relative_to="gripper::hand"/>',
    )
    straight, _ = read_sdf(written(tmp_path, nested()))
    assert_same_arm(read_sdf(written(tmp_path, text))[0], straight)


@pytest.mark.parametrize("uri", ["parts/gripper.sdf", "model://hand", "file://parts/gripper.sdf"])
def test_models_are_included_from_files_beside(tmp_path, uri):
    """<name>, <pose> and <placement_frame> of the <include> go before those of the file."""
    model = HAND_MODEL.format("", "<pose>9 9 9 0 0 0</pose>").replace('"gripper"', '"hand_of_wood"')
    written(tmp_path, f'<sdf version="1.9">{model}</sdf>', "parts/gripper.sdf")
    written(tmp_path, f'<sdf version="1.9">{model}</sdf>', "hand/new.sdf")
    config = '<model><sdf version="1.4">old.sdf</sdf><sdf version="1.9">new.sdf</sdf></model>'
    written(tmp_path, config, "hand/model.config")
    start, end = nested(f" {MOUNTED}").index('<model name="gripper'), "</frame></model>"
    text = nested(f" {MOUNTED}")
    inner = text[start : text.index(end) + len(end)]
    include = (
        f"<include><uri>{uri}</uri><name>gripper</name><placement_frame>mount</placement_frame>"
        '<pose relative_to="upper">0.4 0 0.1 0.2 0 0.5</pose></include>'
    )
    model, findings = read_sdf(written(tmp_path, text.replace(inner, include)))
    assert not findings
    assert_same_arm(model, read_sdf(written(tmp_path, text))[0])
    merged = include.replace("<include>", '<include merge="true">')
    loose = text.replace(inner, merged).replace("gripper::hand", "hand")
    assert_same_arm(read_sdf(written(tmp_path, loose))[0], model)


def test_faults_of_included_files_name_them(tmp_path):
    part = HAND_MODEL.format("", "").replace("<mass>0.5<", "<mass>-2<")
    written(tmp_path, f'<sdf version="1.9">{part}</sdf>', "part.sdf")
    text = FLAT.replace("</model>", "<include><uri>part.sdf</uri></include></model>")
    with pytest.raises(SdfError, match=r"part\.sdf:2: link 'gripper::hand': <mass> cannot be neg"):
        read_sdf(written(tmp_path, text))
    written(tmp_path, text, "part.sdf")
    with pytest.raises(SdfError, match="it includes itself"):
        read_sdf(written(tmp_path, text))
    with pytest.raises(SdfError, match="other files are not read here"):
        read_model(written(tmp_path, text), trusted=False)


def test_files_that_include_files_without_end_are_refused(tmp_path):
    for i in range(12):
        twice = f"<include><uri>{i + 1}.sdf</uri></include>" * 2
        written(tmp_path, f'<sdf version="1.9"><model name="m">{twice}</model></sdf>', f"{i}.sdf")
    written(tmp_path, f'<sdf version="1.9">{GROUND}</sdf>', "12.sdf")
    with pytest.raises(SdfError, match="more than 500 files"):
        read_sdf(tmp_path / "0.sdf")


def in_world(*parts):
    model = FLAT[FLAT.index("<model") : FLAT.index("</sdf>")]
    return f'<sdf version="1.9"><world name="w">{"".join((model, *parts))}</world></sdf>'


def test_static_models_are_a_part_of_the_world(tmp_path):
    model, findings = read_sdf(written(tmp_path, in_world(GROUND)))
    assert [(f.level, "'ground': it is static" in f.message) for f in findings] == [("note", True)]
    assert_same_arm(model, flat(tmp_path))
    weld = (
        '<joint name="shoulder" type="revolute"><parent>ground::plate</parent>'
        f"<child>arm::upper</child>{AXIS}</joint>"
    )
    own = FLAT[FLAT.index('<joint name="shoulder"') : FLAT.index(' <joint name="wrist"')]
    assert_same_arm(read_sdf(written(tmp_path, in_world(GROUND, weld).replace(own, "")))[0], model)


def test_a_sun_that_is_not_there_is_warned_of(tmp_path):
    sun = "<include><uri>model://sun</uri></include>"
    with pytest.warns(ArmdynWarning, match="there is no file 'model://sun' to include"):
        robot = armdyn.load(written(tmp_path, in_world(sun)))
    assert robot.n == 2


BOX = f'<model name="box"><link name="b">{UPPER}</link></model>'


def test_one_of_several_models_is_named(tmp_path, command):
    file = written(tmp_path, in_world(BOX, GROUND))
    with pytest.raises(SdfError, match=r"found 2: 'arm', 'box'; name one of them: model="):
        armdyn.load(file)
    assert_same_arm(armdyn.load(file, model="arm").model, flat(tmp_path))
    with pytest.raises(UnknownNameError, match=r"robot\.sdf named 'arms'.*arm, box, ground"):
        armdyn.load(file, model="arms")
    with pytest.raises(ModelError, match="model names one of several in an SDF file"):
        armdyn.load("panda", model="arm")
    assert command("info", file, "--model", "arm")[0] == 0
    code, _, wrong = command("info", file, "--model", "arms")
    assert (code, "'arms'" in wrong, "Traceback" in wrong) == (2, True, False)
    joint = '<joint name="j" type="fixed"><parent>box::b</parent><child>arm::hand</child></joint>'
    with pytest.raises(SdfError, match="'j' joins the robot with 'box::b', which is in another"):
        armdyn.load(written(tmp_path, in_world(BOX, joint)), model="arm")


def test_a_model_in_a_model_is_a_robot_of_its_own(tmp_path):
    inner = FLAT[FLAT.index("<model") : FLAT.index("</sdf>")]
    cell = f'<model name="cell"><pose>1 0 0 0 0 0</pose>{inner}{BOX}</model>'
    file = written(tmp_path, f'<sdf version="1.9">{cell}</sdf>')
    model, _ = read_model(file, model="cell::arm")
    there, alone = (x.joints[0].placement for x in (model, flat(tmp_path)))
    np.testing.assert_allclose(there[:3, 3], alone[:3, 3] + [1, 0, 0])


def test_a_model_without_links_is_no_robot(tmp_path):
    with pytest.raises(SdfError, match="the model 'm' has no <link>"):
        read_sdf(written(tmp_path, '<sdf version="1.7"><model name="m"/></sdf>'))


IN_MODEL = AXIS.replace("<xyz>", '<xyz expressed_in="__model__">')


@pytest.mark.parametrize("version", ["1.3", "1.4", "1.5", "1.6"])
def test_axes_of_old_files_are_in_the_frame_of_the_model(tmp_path, version):
    """Before 1.5 always, in 1.5 and 1.6 where they say so."""
    plain = FLAT.replace('<pose relative_to="upper">', "<pose>")
    told = plain.replace(
        AXIS, AXIS.replace("</xyz>", "</xyz><use_parent_model_frame>1</use_parent_model_frame>")
    )
    old = (plain if version < "1.5" else told).replace('"1.9"', f'"{version}"')
    today = plain.replace(AXIS, IN_MODEL)
    model, findings = read_sdf(written(tmp_path, old))
    assert not findings
    assert_same_arm(model, read_sdf(written(tmp_path, today, "today.sdf"))[0])
    assert not np.allclose(model.joints[1].axis, [0, 1, 0])
    if version > "1.4":
        later = read_sdf(written(tmp_path, plain.replace('"1.9"', f'"{version}"')))[0]
        np.testing.assert_allclose(later.joints[1].axis, [0, 1, 0], atol=1e-15)


def test_gravity_and_frames_of_poses_stood_elsewhere(tmp_path):
    old = in_world("<physics><gravity>0 0 -1.62</gravity></physics>")
    old = old.replace('"1.9"', '"1.5"').replace("relative_to=", "frame=")
    model, _ = read_sdf(written(tmp_path, old))
    assert model.gravity.tolist() == [0, 0, -1.62]
    assert_same_arm(model, flat(tmp_path))
    assert read_sdf(written(tmp_path, old.replace('"1.5"', '"1.6"')))[0].gravity[2] == -9.81


ROTOR = "<drake:rotor_inertia>{}</drake:rotor_inertia><drake:gear_ratio>{}</drake:gear_ratio>"


def with_rotor(text, joint="shoulder"):
    """The arm with something more in a joint, or another axis of the first."""
    start = f'<joint name="{joint}" type="revolute">'
    return FLAT.replace(AXIS, "", "<axis>" in text).replace(start, start + text)


def test_rotors_of_drake_turn_with_the_joints(tmp_path):
    """The inertia at the joint is gear_ratio² · rotor_inertia."""
    model, findings = read_sdf(written(tmp_path, with_rotor(ROTOR.format(1e-4, 120))))
    assert not findings
    assert model.joints[0].rotor.reflected == pytest.approx(1.44)
    assert model.joints[1].rotor.reflected == 0
    alone = "<drake:rotor_inertia>0.2</drake:rotor_inertia>"
    assert read_sdf(written(tmp_path, with_rotor(alone)))[0].joints[0].rotor.reflected == 0.2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<drake:gear_ratio>3</drake:gear_ratio>", "'shoulder': <drake:gear_ratio> has no effect"),
        (
            ROTOR.format(1e-4, 120)
            + AXIS.replace("</axis>", "<limit><effort>0</effort></limit></axis>"),
            "a joint whose effort is 0 has no actuator",
        ),
    ],
)
def test_rotors_without_effect_are_warned_of(tmp_path, text, message):
    with pytest.warns(ArmdynWarning, match=message):
        robot = armdyn.load(written(tmp_path, with_rotor(text)))
    assert robot.model.joints[0].rotor.reflected == 0


def test_rotors_that_cannot_be_are_refused(tmp_path):
    with pytest.raises(SdfError, match="'shoulder': rotor_inertia cannot be negative"):
        read_sdf(written(tmp_path, with_rotor(ROTOR.format(-1, 2))))
