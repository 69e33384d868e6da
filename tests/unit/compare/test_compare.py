"""What each library makes of a file, and that the difference is put down to the right cause."""

import importlib.util
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import armdyn
from armdyn.io.files import read_model
from armdyn.model import Frame
from armdyn.robot import Robot
from armdyn.study.compare.peers import Answer, pinocchio
from support.comparison_robots import INERTIAL, ONE_JOINT, fixed_link, two_joints
from support.paths import ROBOTS
from support.peers import pin_model


def causes(source, library, **options):
    row = armdyn.compare(source, [library], **options)[library]
    return row.status, [cause.name for cause in row.causes]


def explained(*names):
    return "explained", list(names)


# the finding: one joint, four torques

TORQUES = {
    "pinocchio": (0.42, explained("viscous", "coulomb")),
    "mujoco": (1.42, ("agrees", [])),
    "drake": (0.72, explained("coulomb")),
    "rtb": (1.12, explained("friction as viscous")),
}


@pytest.mark.parametrize("library", TORQUES)
def test_one_joint_has_the_torques_of_the_readme_and_the_reasons(file, library):
    row = armdyn.compare(file(ONE_JOINT), [library], ([0.0], [1.0], [1.0]))[library]
    if library == "drake" and importlib.util.find_spec("pydrake") is None:
        assert (row.status, row.there) == ("not installed", None)
        return
    torque, finding = TORQUES[library]
    assert row.here == pytest.approx(1.42, abs=1e-12)
    assert row.there == pytest.approx(torque, abs=1e-12)
    assert row.difference == pytest.approx(torque - 1.42, abs=1e-12)
    assert (row.status, [cause.name for cause in row.causes]) == finding
    assert row.residual < 1e-12


def test_a_cause_has_the_size_of_its_term(file):
    row = armdyn.compare(file(ONE_JOINT), ["pinocchio"], ([0.0], [1.0], [1.0]))["pinocchio"]
    assert [cause.largest for cause in row.causes] == pytest.approx([0.3, 0.7])
    assert row.explanation == (
        "Pinocchio ignores damping (the viscous term); ignores dry friction (the Coulomb term)"
    )


# one perturbation at a time, by what the libraries do

DAMPING, FRICTION = '<dynamics damping="0.4"/>', '<dynamics friction="0.5"/>'
PERTURBED = [
    ("pinocchio", two_joints(), ("agrees", [])),
    ("rtb", two_joints(), ("agrees", [])),
    ("mujoco", two_joints(), ("agrees", [])),
    ("pinocchio", two_joints(first=DAMPING), explained("viscous")),
    ("pinocchio", two_joints(second=FRICTION), explained("coulomb")),
    ("mujoco", two_joints(first=DAMPING, second=FRICTION), ("agrees", [])),
    ("rtb", two_joints(first=DAMPING), explained("viscous")),
    ("rtb", two_joints(second=FRICTION), explained("friction as viscous")),
    ("pinocchio", two_joints(second='<armdyn rotor_inertia="2e-4" gear_ratio="50"/>'), explained("rotors")),
    ("mujoco", two_joints(words='<armdyn gravity="0 0 -1.62"/>'), explained("gravity")),
    ("pinocchio", two_joints(words='<armdyn><base rpy="0.5 0.2 0"/></armdyn>'), explained("base")),
    ("mujoco", two_joints(second='<dynamics friction="0.5"/><armdyn coulomb_negative="0.2"/>'), explained("even coulomb")),
    ("mujoco", two_joints(second='<dynamics friction="0.5"/><armdyn stribeck="0.3" stribeck_velocity="2"/>'), explained("stribeck")),
    ("mujoco", two_joints(second='<dynamics friction="0.5"/><armdyn smooth_velocity="2"/>'), explained("sharp sign")),
    ("mujoco", two_joints(second='<armdyn offset="-0.4"/>'), explained("offset")),
    ("mujoco", two_joints(second='<armdyn power="0.4" power_exponent="0.5"/>'), explained("power")),
    ("mujoco", two_joints(second='<dynamics damping="0.4"/><armdyn viscous_negative="0.1"/>'), explained("even viscous")),
    ("pinocchio", two_joints(second='<dynamics damping="0.4"/><armdyn viscous_negative="0.1"/>'), explained("asymmetric_viscous")),
    ("pinocchio", two_joints(first=DAMPING, second='<dynamics damping="0.4" friction="0.2"/><armdyn viscous_negative="0.1" power="1" power_exponent="2" offset="1"/>'), explained("viscous", "coulomb", "offset", "asymmetric_viscous", "power")),
    ("rtb", two_joints(second='<dynamics damping="0.4" friction="0.2"/><armdyn viscous_negative="0.1"/>'), explained("friction as viscous")),
    ("pinocchio", two_joints(rpy="0.5 0.3 -0.7"), ("agrees", [])),
    ("rtb", two_joints(axis="0 -1 0"), explained("negative axes")),
    ("rtb", two_joints(axis="0.6 0 0.8"), explained("oblique axes")),
    ("rtb", two_joints(between=fixed_link("middle", "upper", "0.1 0.2 0")), explained("fixed joints")),
    ("rtb", two_joints(between=fixed_link("middle", "upper", "0 0 0").replace("0 0.4 0.2", "0 0 0") + fixed_link("left", "fore", "0 0.1 0") + fixed_link("right", "fore", "0 -0.1 0")), explained("fixed links")),
    *(("pinocchio", two_joints().replace(number, f'{number[:-1]}{space}"'), explained("spaces in numbers")) for number in ('xyz="0.1 0.02 -0.03"', 'value="2"', 'izz="0.04"') for space in "\n\t"),
    ("pinocchio", two_joints().replace('"2"', '"2 "', 1), explained("spaces in numbers")),
    ("pinocchio", two_joints().replace('"0.1 0.02', '"\n0.1 0.02'), ("agrees", [])),
    ("pinocchio", two_joints(axis="0.6 0 0.8", between=fixed_link("middle", "upper", "0.1 0.2 0")), ("agrees", [])),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("library", "text", "finding"), PERTURBED)
def test_a_perturbation_is_named(file, library, text, finding):
    assert causes(file(text), library, over=6) == finding


@pytest.mark.slow
def test_causes_come_together(file):
    text = two_joints(
        axis="0 -1 0",
        words='<armdyn gravity="0 0 -1.62"/>',
        first='<dynamics damping="0.3" friction="0.7"/><armdyn rotor_inertia="0.1"/>',
    )
    found = explained("negative axes", "gravity", "friction as viscous", "rotors")
    assert causes(file(text), "rtb") == found


def test_the_armature_of_an_mjcf_is_in_mujoco_and_in_no_urdf(file):
    text = """<mujoco><worldbody><body name="arm"><joint name="a" axis="0 1 0" armature="0.3"/>
      <inertial pos="0.1 0 0.2" mass="2" diaginertia="0.1 0.1 0.05"/></body></worldbody></mujoco>"""
    path = file(text, "arm.xml")
    assert causes(path, "mujoco") == ("agrees", [])
    assert causes(path, "pinocchio") == explained("rotors")


@pytest.mark.parametrize("stiffness", ["3", "0 2 1"])
def test_springs_are_in_mujoco_and_in_no_urdf(file, stiffness):
    text = f"""<mujoco><worldbody><body name="arm"><joint name="a" axis="0 1 0" springref="0.4"
      stiffness="{stiffness}"/>
      <inertial pos="0.1 0 0.2" mass="2" diaginertia="0.1 0.1 0.05"/></body></worldbody></mujoco>"""
    path = file(text, "arm.xml")
    if stiffness == "3":
        assert causes(path, "mujoco") == ("agrees", [])
        assert causes(path, "pinocchio") == explained("springs")
        return
    with pytest.warns(armdyn.errors.ArmdynWarning, match="has a spring that is not linear"):
        assert causes(path, "mujoco") == explained("spring")


def test_dry_friction_on_a_light_link_is_soft_in_mujoco(file):
    text = ONE_JOINT.replace("0.42", "1e-4").replace('damping="0.3"', "")
    assert causes(file(text), "mujoco") == explained("soft dry friction")


@pytest.mark.parametrize("library", ["pinocchio", "mujoco", "rtb"])
def test_what_a_follower_needs_is_not_in_the_leader(library):
    assert causes(ROBOTS / "gripper.urdf", library) == explained("mimic")


# one perturbation at a time, by libraries that are not there: Pinocchio on other numbers


def changed(change):
    """Pinocchio, on a file that is changed first."""

    def solve(_, case):
        text = change(case.file.read_text())
        other = case.file.with_name("changed.urdf")
        other.write_text(text)
        return pinocchio(pin, replace(case, file=other))

    return solve


def in_field(gravity):
    class Heavy:
        def __getattr__(self, name):
            return getattr(pin, name)

        def buildModelFromUrdf(self, path):
            model = pin.buildModelFromUrdf(path)
            model.gravity.linear = np.array(gravity)
            return model

    return lambda _, case: pinocchio(Heavy(), case)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("solve", "name", "words"),
    [
        (in_field((0, 0, -9.80665)), "gravity 9.80665", "computes with gravity 9.80665 m/s²"),
        (in_field((0, 0, 0)), "no gravity", "has no gravity"),
        (in_field((0, 0, 9.81)), "gravity upwards", "takes gravity the other way round"),
        (
            changed(lambda text: re.sub('rpy="0.5 0.3 -0.7"', "", text)),
            "inertial rpy",
            "loses the rotation of the inertial frame (rpy of <inertial>)",
        ),
    ],
)
def test_a_library_that_reads_a_number_otherwise_is_found_out(file, fake, solve, name, words):
    fake(solve)
    path = file(two_joints(rpy="0.5 0.3 -0.7"))
    row = armdyn.compare(path, ["fake"])["fake"]
    assert (row.status, [cause.name for cause in row.causes]) == explained(name)
    assert row.explanation == f"Fake {words}"


@pytest.mark.slow
def test_a_table_read_in_the_other_convention_is_found_out(fake, tmp_path):
    text = (Path(armdyn.__file__).parent / "io" / "catalog" / "stanford.toml").read_text()
    [given] = re.findall(r'^convention = "(\w+)"', text, re.MULTILINE)
    other = {"standard": "modified", "modified": "standard"}[given]
    path = tmp_path / "arm.toml"
    path.write_text(text.replace(f'convention = "{given}"', f'convention = "{other}"'))
    model, data = pin_model(read_model(path, physical="ignore")[0])
    fake(lambda _, case: Answer(np.array([pin.rnea(model, data, *row) for row in case.rows])))
    row = armdyn.compare("stanford", ["fake"])["fake"]
    assert row.explanation == f"Fake reads the {given} DH table as {other}"


@pytest.mark.slow
def test_a_payload_that_is_left_out_is_found_out(fake, file):
    robot = armdyn.load(file(two_joints())).with_payload(
        1.5, (0.1, 0, 0.2), np.diag((0.01, 0.02, 0.02))
    )
    assert causes(robot, "mujoco") == ("agrees", [])
    load = re.compile('<link name="payload">.*?</link>', re.DOTALL)
    fake(changed(lambda text: load.sub('<link name="payload"/>', text)))
    assert causes(robot, "fake") == explained("payload")


def test_inertias_that_no_body_has_are_lost_on_the_way(file):
    words = (
        '<armdyn><inertia mass="2" first_moment="0.1 0 0.3" moment="1 0 0 0 2 0 0 0 1"/></armdyn>'
    )
    text = two_joints().replace(
        '</inertial></link><link name="fore">', f'</inertial>{words}</link><link name="fore">'
    )
    assert causes(file(text), "pinocchio", physical="ignore") == explained("reduced inertias")


def test_what_nothing_explains_is_said_to_be_unexplained(file, fake):
    fake(lambda _, case: Answer(pinocchio(pin, case).torque + 1e-6 * np.sin(case.states.q)))
    report = armdyn.compare(file(two_joints()), ["fake"])
    row = report["fake"]
    assert (row.status, row.causes, report.exit_code) == ("unexplained", (), 1)
    assert re.fullmatch(r"unexplained, largest residual \d\.?\d*e-0[67]", row.explanation)
    assert row.residual == pytest.approx(max(row.differences), rel=0.5)


def test_what_remains_is_measured_with_the_nearest_causes(file, fake):
    fake(lambda _, case: Answer(pinocchio(pin, case).torque + 1e-6 * np.sin(case.states.q)))
    row = armdyn.compare(file(two_joints(first='<dynamics damping="5"/>')), ["fake"])["fake"]
    assert (row.status, [cause.name for cause in row.causes]) == ("unexplained", ["viscous"])
    assert row.residual < 1.1e-6 < max(row.differences)
    assert "if Fake ignores damping" in row.explanation


def test_causes_that_cannot_be_told_apart_are_all_named(file, fake):
    same = '<dynamics damping="0.4" friction="0.4"/>'
    path = file(two_joints(first=same, second=same))
    explanation = armdyn.compare(path, ["rtb"])["rtb"].explanation
    assert "ignores dry friction" in explanation
    assert ", or it takes friction" in explanation


# agreement


@pytest.mark.slow
def test_libraries_agree_on_arms_without_friction(tmp_path):
    for name in ("panda", "ur5"):
        path = tmp_path / f"{name}.urdf"
        armdyn.load(name).save(path)
        report = armdyn.compare(path, ["pinocchio", "mujoco", "rtb"], over=8)
        assert [row.status for row in report.rows] == ["agrees"] * 3
        assert report.exit_code == 0
        assert all(max(row.differences) < 1e-9 * abs(row.here) for row in report.rows)


@pytest.mark.slow
def test_all_that_armdyn_reads_in_mjcf_is_in_mujoco():
    report = armdyn.compare(ROBOTS / "arm.xml", ["mujoco"], over=40)
    assert report["mujoco"].status == "agrees"


def test_joints_are_matched_by_name_whatever_their_order(file):
    text = (
        two_joints().replace("</robot>", "")
        + f"""<link name="side">{INERTIAL.format(rpy="0 0 0")}</link>
      <joint name="three" type="prismatic"><origin xyz="0 0.4 0"/><parent link="base"/>
        <child link="side"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
      </joint></robot>"""
    )
    model = armdyn.load(file(text)).model
    assert model.parents == (-1, 0, -1)
    order = (0, 2, 1)
    swapped = replace(
        model,
        joints=tuple(model.joints[i] for i in order),
        links=tuple(model.links[i] for i in order),
        frames=(),
        flange=Frame("upper", 0),
    )
    report = armdyn.compare(Robot(swapped), ["pinocchio", "mujoco"])
    assert report.joints == ("one", "three", "two")
    assert report.exit_code == 0
