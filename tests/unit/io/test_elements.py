"""What becomes of each element of URDF and SDF: one table, for programs and people."""

import importlib.metadata
import re
from collections import Counter
from pathlib import Path

import pytest

import armdyn
from armdyn.errors import ArmdynWarning, DescriptionError, SdfError, UrdfError
from armdyn.io.xml import Problems, note_elements, read_xml, treatment_of, treatments
from support.pages import page, table
from support.reading import model_from_urdf
from support.urdf_files import joint, link, one_joint, save

SPECIFICATIONS = {
    # sdformat.org, 1.3 to 1.11, and Drake's elements
    "SDF": """
    sdf: @version world model actor light
    world: @name audio wind include gravity magnetic_field atmosphere gui physics scene light frame joint model actor
     plugin road spherical_coordinates state population
    model: @name @namespace @canonical_link @placement_frame static self_collide allow_auto_disable frame pose link
     joint plugin gripper include model enable_wind drake:joint drake:linear_bushing_rpy drake:collision_filter_group
     drake:ball_constraint drake:tendon_constraint
    include: @merge uri name namespace static pose plugin placement_frame
    link: @name gravity enable_wind self_collide kinematic must_be_base_link velocity_decay pose inertial collision
     visual sensor projector audio_sink audio_source battery light particle_emitter
    inertial: @auto mass density auto_inertia_params pose inertia fluid_added_mass
    inertia: ixx ixy ixz iyy iyz izz
    frame: @name @attached_to pose
    pose: @relative_to @rotation_format @degrees @frame
    joint: @name @type parent child gearbox_ratio gearbox_reference_body thread_pitch screw_thread_pitch axis axis2
     physics pose sensor drake:rotor_inertia drake:gear_ratio drake:controller_gains drake:mimic
    axis: xyz dynamics limit mimic use_parent_model_frame
    axis2: xyz dynamics limit mimic use_parent_model_frame
    xyz: @expressed_in
    dynamics: damping friction spring_reference spring_stiffness
    limit: lower upper effort velocity stiffness dissipation drake:acceleration
    mimic: @joint @axis multiplier offset reference
    """,
    # wiki.ros.org/urdf/XML, with what Drake, Gazebo and MuJoCo add to it
    "URDF": """
    robot: @name @version link joint transmission gazebo sensor material ros2_control mujoco drake:joint
     drake:linear_bushing_rpy drake:collision_filter_group drake:ball_constraint drake:tendon_constraint
    link: @name @type inertial visual collision
    inertial: origin mass inertia
    mass: @value
    inertia: @ixx @ixy @ixz @iyy @iyz @izz
    origin: @xyz @rpy
    joint: @name @type origin parent child axis calibration dynamics limit mimic safety_controller hardwareInterface
     mechanicalReduction
    parent: @link
    child: @link
    axis: @xyz
    dynamics: @damping @friction
    limit: @lower @upper @effort @velocity @drake:acceleration
    mimic: @joint @multiplier @offset
    transmission: @name @type type joint actuator mechanicalReduction flexJoint gap_joint leftActuator passive_joint
     rightActuator rollJoint use_simulated_gripper_joint
    actuator: @name hardwareInterface mechanicalReduction motorTorqueConstant drake:rotor_inertia drake:gear_ratio
     drake:controller_gains
    gazebo: @reference material turnGravityOff dampingFactor maxVel minDepth mu1 mu2 fdir1 kp kd selfCollide
     maxContacts laserRetro stopCfm stopErp stopKp stopKd provideFeedback implicitSpringDamper springStiffness
     springReference cfmDamping fudgeFactor preserveFixedJoint disableFixedJointLumping static plugin sensor visual
     collision joint link gravity kinematic
    mujoco: compiler size option
    compiler: @boundmass @boundinertia @settotalmass @balanceinertia @strippath @coordinate @angle @fitaabb @eulerseq
     @meshdir @texturedir @discardvisual @usethread @fusestatic @inertiafromgeom @inertiagrouprange @autolimits
    """,
}


@pytest.mark.parametrize("form", ["URDF", "SDF"])
def test_every_name_of_the_specifications_is_in_a_table(form):
    for lines in SPECIFICATIONS[form].replace("\n     ", " ").strip().splitlines():
        parent, _, parts = lines.strip().partition(":")
        names = [parent + (x if x[0] == "@" else f"/{x}") for x in parts.split()]
        assert [name for name in names if treatment_of(name, form) is None] == []


@pytest.mark.parametrize("form", ["URDF", "SDF"])
def test_a_name_is_in_one_row(form):
    names = Counter(name for row in treatments(form) for name in row.names.split())
    assert [name for name, count in names.items() if count > 1] == []
    kinds = {row.treatment for row in treatments(form)}
    assert kinds == {"read", "warned of", "refused", "without effect"}


def test_every_name_in_published_files_is_in_a_table():
    listed = importlib.metadata.files("example-robot-data") or []
    files = [Path(x.locate()) for x in listed if x.suffix in (".urdf", ".sdf")]
    assert len(files) > 50
    for path in files:
        problems = Problems(path, DescriptionError)
        form = "SDF" if path.suffix == ".sdf" else "URDF"
        note_elements(read_xml(path, DescriptionError), form, problems)
        assert [f.message for f in problems.findings if "is no" in f.message] == []


@pytest.mark.parametrize("form", ["URDF", "SDF"])
def test_the_page_shows_the_table(form):
    rows = ["| | what | elements and attributes |", "|---|---|---|"]
    for row in treatments(form):
        what = re.sub("<.*?>", r"`\g<0>`", row.what)
        names = ", ".join(f"`{name}`" for name in row.names.split())
        rows.append(f"| {row.treatment} | {what} | {names} |")
    assert table(page("formats"), form).strip() == "\n".join(rows)


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        (
            '<gazebo reference="b"><turnGravityOff>true</turnGravityOff></gazebo>',
            "<turnGravityOff> is",
        ),
        (
            '<gazebo reference="b"><gravity>0</gravity></gazebo>',
            "'b': <gravity> is left out: Gazebo",
        ),
        (
            '<mujoco><compiler boundmass="0.1"/></mujoco>',
            "'boundmass' of <compiler> is left out: MuJ",
        ),
        ('<drake:linear_bushing_rpy name="x"/>', "<drake:linear_bushing_rpy> is left out"),
        ('<links name="x"/>', "<links> is no element of URDF and is skipped; is <link> meant"),
        ('<link name="c" nam="x"/>', "'nam' of <link> is no attribute of URDF.* is 'name' of"),
        ('<Link name="d"/>', "<Link> is no element of URDF and is skipped; is <link> meant"),
        ('<transmission><drake:rotor_inertia value="1"/></transmission>', "rotor_inertia> is left"),
    ],
)
def test_what_is_left_out_of_urdf_is_warned_of(tmp_path, inside, message):
    parts = link("a"), link("b"), joint("a", "b"), joint("b", "c", name="k", kind="fixed")
    path = save(tmp_path, *parts, inside, "" if 'name="c"' in inside else link("c"))
    with pytest.warns(ArmdynWarning, match=message):
        armdyn.load(path)


@pytest.mark.parametrize(
    "inside",
    [
        '<gazebo reference="b"><turnGravityOff>false</turnGravityOff><gravity>1</gravity></gazebo>',
        '<gazebo><plugin name="p" filename="x.so"/></gazebo><gazebo><springStiffness>0.0</springStiffness></gazebo>',
        '<mujoco><compiler fusestatic="true" balanceinertia="false" boundmass="0"/></mujoco>',
        '<transmission name="t"><joint name="j"/><actuator name="m"><mechanicalReduction>9'
        "</mechanicalReduction></actuator></transmission>",
    ],
)
def test_what_says_nothing_is_no_matter(tmp_path, inside):
    armdyn.load(save(tmp_path, link("a"), link("b"), joint("a", "b"), inside))


def test_joints_of_drake_are_refused(tmp_path):
    path = save(tmp_path, link("a"), link("b"), joint("a", "b"), '<drake:joint name="x"/>')
    with pytest.raises(
        UrdfError, match=r"robot\.urdf:5: <robot>: <drake:joint> is not read: write"
    ):
        armdyn.load(path)


SDF = """<sdf version="1.7"><model name="m">
 <link name="a"><inertial/>{link}</link>
 <joint name="j" type="revolute"><parent>world</parent><child>a</child>
  <axis><xyz>0 0 1</xyz><dynamics>{dynamics}</dynamics></axis>{joint}</joint>{model}</model></sdf>"""
NOTHING = {"link": "", "dynamics": "", "joint": "", "model": ""}


@pytest.mark.parametrize(
    ("where", "text", "message"),
    [
        ("link", "<gravity>false</gravity>", "link 'a': <gravity> is left out"),
        ("link", "<velocity_decay><linear>1</linear></velocity_decay>", "<velocity_decay> is left"),
        ("joint", "<drake:new>1</drake:new>", "<drake:new> is left out"),
        ("joint", "<screw_thread_pich>1</screw_thread_pich>", "is <screw_thread_pitch> meant"),
        ("dynamics", "<drake:rotor_inertia>1</drake:rotor_inertia>", "rotor_inertia> is left out"),
    ],
)
def test_what_is_left_out_of_sdf_is_warned_of(tmp_path, where, text, message):
    file = tmp_path / "robot.sdf"
    file.write_text(SDF.format(**NOTHING | {where: text}))
    with pytest.warns(ArmdynWarning, match=message):
        armdyn.load(file)
    zero = text.replace(">3<", ">0<").replace(">1<", ">0.0<").replace("false", "true")
    file.write_text(SDF.format(**NOTHING | {where: zero}))
    if "pich" not in text:
        armdyn.load(file)


def test_inertia_from_geometry_is_refused_in_sdf(tmp_path):
    file = tmp_path / "robot.sdf"
    file.write_text(SDF.format(**NOTHING).replace("<inertial/>", '<inertial auto="true"/>'))
    with pytest.raises(SdfError, match="link 'a': 'auto' of <inertial> is not read: an inertia is"):
        armdyn.load(file)


ACTUATOR = (
    '<transmission><type>SimpleTransmission</type><joint name="{}"/><actuator name="m">'
    '{}<drake:gear_ratio value="{}"/></actuator></transmission>'
)
INERTIA = '<drake:rotor_inertia value="{}"/>'


def driven(tmp_path, *transmissions, inside=""):
    return save(tmp_path, link("a"), link("b"), joint("a", "b", inside), *transmissions)


def test_rotors_of_transmissions_turn_with_their_joints(tmp_path):
    """The inertia at the joint is gear_ratio² · rotor_inertia; those of several motors add up."""
    one = ACTUATOR.format("j", INERTIA.format(0.001), 30)
    assert model_from_urdf(driven(tmp_path, one)).joints[0].rotor.reflected == pytest.approx(0.9)
    with pytest.warns(ArmdynWarning, match="joint 'j': it has 2 rotors"):
        model = model_from_urdf(driven(tmp_path, one, one))
    assert model.joints[0].rotor.reflected == pytest.approx(1.8)
    own = '<armdyn rotor_inertia="0.01" gear_ratio="10"/>'
    with pytest.warns(ArmdynWarning, match="joint 'j': it has 2 rotors"):
        model = model_from_urdf(driven(tmp_path, one, inside=own))
    assert model.joints[0].rotor.reflected == pytest.approx(1.9)


@pytest.mark.parametrize(
    ("transmission", "inside", "message"),
    [
        (ACTUATOR.format("j", "", 3), "", "'j': <drake:gear_ratio> has no effect without"),
        (ACTUATOR.format("k", INERTIA.format(1), 3), "", "'k': it is no joint of this robot"),
        (
            ACTUATOR.format("j", INERTIA.format(1), 3),
            '<limit effort="0"/>',
            "effort is 0 has no act",
        ),
    ],
)
def test_rotors_without_effect_are_warned_of(tmp_path, transmission, inside, message):
    with pytest.warns(ArmdynWarning, match=message):
        model = model_from_urdf(driven(tmp_path, transmission, inside=inside))
    assert model.joints[0].rotor.reflected == 0


def test_rotors_that_cannot_be_are_refused(tmp_path):
    with pytest.raises(UrdfError, match="rotor_inertia cannot be negative"):
        model_from_urdf(driven(tmp_path, ACTUATOR.format("j", INERTIA.format(-1), 3)))
    fixed = one_joint(tmp_path, kind="planar")
    fixed.write_text(
        fixed.read_text().replace(
            "</robot>", ACTUATOR.format("j", INERTIA.format(1), 1) + "</robot>"
        )
    )
    with pytest.warns(ArmdynWarning, match="its rotor is left out: only a joint with one axis"):
        model_from_urdf(fixed)
