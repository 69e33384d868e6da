import math
import re
from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.io.catalog import catalog_names, remark
from armdyn.io.files import read_model
from armdyn.model.validate import Finding
from armdyn.study.check.check import Check

LENGTH, WIDTH, MASS = 0.4, 0.08, 3.0
NOTHING = dict(mass=0.0, com=(0, 0, 0), inertia=(0, 0, 0))


def box(about: str) -> tuple[float, ...]:
    """Principal moments of a box that reaches from the joint to the far end, along -x."""
    square = np.array([2 * WIDTH**2, LENGTH**2 + WIDTH**2, LENGTH**2 + WIDTH**2]) / 12
    shift = {"com": 0.0, "origin": LENGTH**2 / 4}[about] * np.array([0, 1, 1])
    return tuple(MASS * (square + shift))


def row(**columns) -> dict:
    usual = dict(joint="revolute", a=LENGTH, mass=MASS, com=(-LENGTH / 2, 0, 0), inertia=box("com"))
    drive = dict(limits=(-2.0, 2.0), velocity_limit=3.0, effort_limit=100.0, viscous=0.1)
    return {**usual, **drive, **columns}


def arm(*rows: dict, **options) -> armdyn.Robot:
    return armdyn.from_dh(list(rows), physical="ignore", **options)


def texts(robot, level: str) -> str:
    return "\n".join(
        f"{f.where}: {f.message}" for f in armdyn.check(robot).findings if f.level == level
    )


def test_a_sound_arm_has_nothing_to_report():
    assert armdyn.check(arm(row(), row(name="elbow"))).findings == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*catalog_names()} - {"puma560"}))
def test_what_the_check_warns_of_in_the_catalog_is_said_by_load(name):
    model, found = read_model(name)
    own = armdyn.check(model)
    assert own.exit_code == bool(remark(model.note)), own.report()
    assert [f.message for f in found] == [
        f"{name}: {text}" for text in [remark(model.note)] if text
    ]


def test_wrists_of_half_a_metre_on_short_links_are_a_warning(command):
    code, out, _ = command("check", "ur5")
    assert code == 1
    assert "warning: link 'wrist_3_link': its mass of 0.1879 kg and its tensor give a" in out
    with pytest.warns(armdyn.errors.ArmdynWarning, match="ur5: the wrists have radii of gyration"):
        armdyn.load("ur5")
    assert "Implausible: the wrists have" in " ".join(command("robots")[1].split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "level", "message"),
    [
        ([row(inertia=(1, 0.1, 0.1))], "error", "link 'link1': the triangle inequality"),
        ([row(mass=-1.0)], "error", "link 'link1': the mass is -1 kg"),
        ([row(**NOTHING)], "error", "no moving link has a mass or an inertia"),
        (
            [row(), row(**NOTHING)],
            "warning",
            "'link2': it is the last of its branch",
        ),
        (
            [row(), row(**NOTHING)],
            "error",
            "'joint2' moves nothing that has inertia",
        ),
        ([row(mass=3000.0)], "warning", "a mass of 3000 kg; was it given in grams?"),
        ([row(inertia=box("origin"))], "warning", "looks as if it were about the origin"),
        ([row(com=(-2.0, 0, 0)), row()], "warning", r"centre of mass \(-2, 0, 0\) m lies"),
        ([row(inertia=(90, 90, 90))], "warning", "radius of gyration of 6.71 m, more than"),
        (
            [row(inertia=(0.5, 0.5, 0.5)), row()],
            "note",
            "of 0.5 m, much for a link that extends 0.4 m",
        ),
        ([row(inertia=(1e-7, 1e-7, 1e-7))], "warning", "radius of gyration of 0.224 mm"),
        (
            [row(limits=(-170, 170))],
            "warning",
            "limits -170 to 170 rad are 27 turns; are these deg",
        ),
        ([row(velocity_limit=180)], "warning", "velocity limit of 180 rad/s; are these degrees"),
        ([row(velocity_limit=0.0)], "warning", "the velocity limit is 0, which forbids all motion"),
        ([row(effort_limit=0.0)], "warning", "the effort limit is 0, which forbids all motion"),
        ([row(limits=(1.0, 1.0))], "warning", "both limits are 1 rad, so the joint cannot move"),
        ([row(joint="prismatic", limits=(0, 500))], "warning", "are these millimetres"),
        ([row(joint="prismatic", limits=None)], "warning", "a sliding joint without limits"),
        ([row(coulomb=200.0)], "warning", "dry friction of 200 exceeds the effort limit 100"),
        ([row(stribeck_velocity=0.1)], "warning", "a Stribeck velocity without a Stribeck torque"),
        ([row(smooth_velocity=0.1)], "warning", "a smoothing velocity without dry friction"),
        ([row(power_exponent=0.5)], "warning", "an exponent without the coefficient of a power"),
        ([row(power=0.1, power_exponent=4)], "warning", "the speed to the power of 4; a power law"),
        ([row(viscous=(0.0, 0.1))], "warning", "viscous friction acts in one direction only"),
        (
            [row(coulomb=60.0, offset=-50.0)],
            "warning",
            "dry friction with the offset of 110 exceeds the effort limit 100",
        ),
        (
            [row(rotor_inertia=1e-4, gear_ratio=0.01)],
            "warning",
            "the gear ratio 0.01 makes the motor",
        ),
        ([row(gear_ratio=50)], "note", "the gear ratio 50 has no effect without rotor inertia"),
        ([row(limits=None)], "note", "no range of positions is given for any joint"),
        ([row(), row(velocity_limit=math.inf)], "note", "no velocity limit is given for joint2"),
        ([row(effort_limit=math.inf)], "note", "no effort limit is given for any joint"),
        ([row(viscous=0.0)], "note", "no joint has friction; torques are those of a frictionless"),
    ],
)
@pytest.mark.filterwarnings("ignore:robot .* no row has a mass")
def test_each_fault_is_found_and_named(rows, level, message):
    assert re.search(message, texts(arm(*rows), level)), armdyn.check(arm(*rows)).findings


@pytest.mark.parametrize(
    ("gravity", "level", "message"),
    [
        ((0, 0, 9.81), "warning", "the field (0, 0, 9.81) m/s² points up in the world"),
        ((0, -9.81, 0), "note", "is not along world -z"),
        ((0, 0, 0), "note", "it is zero; torques do not hold the arm up"),
        ((0, 0, -1.62), "note", "its strength, 1.62 m/s², is not that of the Earth"),
    ],
)
def test_the_direction_and_strength_of_gravity_are_looked_at(gravity, level, message):
    found = armdyn.check(replace(arm(row()).model, gravity=np.array(gravity))).findings
    assert message in " ".join(f.message for f in found if f.level == level)


@pytest.mark.parametrize(
    "make",
    [
        lambda up: armdyn.load("ur5e", gravity=up),
        lambda up: armdyn.load("ur5e").with_gravity(up),
        lambda up: arm(row(), gravity=up),
    ],
)
def test_gravity_that_points_up_is_warned_of_in_python_too(make):
    with pytest.warns(armdyn.errors.ArmdynWarning, match="points up in the world"):
        make((0, 0, 9.81))


@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_a_tensor_about_the_origin_is_told_from_one_about_the_centre_of_mass(turn):
    # a rod, the least favourable shape, about its end (wrong) and about its centre (right)
    rod = MASS * LENGTH**2 * np.array([0, 1, 1])
    for share, suspicious in ((1 / 3, True), (1 / 12, False)):
        found = texts(arm(row(inertia=tuple(share * rod), theta=turn)), "warning")
        assert ("about the origin" in found) == suspicious


def test_the_stanford_arm_with_centres_of_mass_ten_times_too_far_is_caught():
    from roboticstoolbox.models.DH import Stanford  # it takes seconds to import

    table = [
        dict(
            joint="prismatic" if link.sigma else "revolute",
            a=float(link.a),
            alpha=float(link.alpha),
            d=float(link.offset if link.sigma else link.d),
            theta=float(link.theta if link.sigma else link.offset),
            mass=float(link.m),
            com=link.r.tolist(),
            inertia=link.I.tolist(),
            limits=tuple(map(float, link.qlim)),
        )
        for link in Stanford().links
    ]
    suspects = [
        f.where
        for f in armdyn.check(arm(*table)).findings
        if f.message.startswith("the centre of mass")
    ]
    assert suspects == ["link 'link2'", "link 'link3'", "link 'link5'", "link 'link6'"]
    for columns in table[1:3] + table[4:]:
        columns["com"] = [0.1 * x for x in columns["com"]]
    assert "the centre of mass (" not in texts(arm(*table), "warning")


def test_what_is_the_same_for_several_joints_is_said_once():
    found = armdyn.check(arm(row(limits=(-170, 170)), row(limits=(-170, 170)))).findings
    assert [f.where for f in found] == ["joints 'joint1', 'joint2'"]


def test_a_massless_chain_that_only_rotors_hold_is_not_singular():
    rotor = dict(rotor_inertia=1e-4, gear_ratio=100.0)
    found = armdyn.check(arm(row(), row(**NOTHING, **rotor))).findings
    assert [f.level for f in found] == ["warning"]
    assert "moves nothing but its rotor" in found[0].message


def test_a_singular_mass_matrix_with_a_full_diagonal_is_found():
    # two parallel axes through one point: their joints can only be told apart by their inertia
    still = dict(NOTHING, a=0.0)
    assert "it is singular at 64 of 64" in texts(arm(row(**still), row()), "error")


@pytest.mark.parametrize(
    ("entries", "found"), [(8, "it is singular at 2 of 2"), (3, "not examined")]
)
def test_the_mass_matrix_of_a_long_robot_is_examined_at_fewer_configurations(
    monkeypatch, entries, found
):
    monkeypatch.setattr("armdyn.study.check.check.MASS_MATRIX_ENTRIES", entries)
    still = dict(NOTHING, a=0.0)
    assert found in " ".join(f.message for f in armdyn.check(arm(row(**still), row())).findings)


URDF = """<?xml version="1.0"?>
<robot name="pendulum">
  <link name="base"/>
  <link name="bob">
    <inertial><origin xyz="0 0 -0.3"/><mass value="{mass}"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="tip"/>
  <joint name="hinge" type="revolute">
    <parent link="base"/><child link="bob"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="2"/><dynamics damping="0.1"/>
  </joint>
  <joint name="weld" type="fixed">
    <parent link="bob"/><child link="tip"/><origin xyz="0 0 -0.6"/><dynamics damping="0.5"/>
  </joint>
</robot>
"""


def test_friction_on_a_fixed_joint_of_a_file_is_unused(tmp_path):
    path = tmp_path / "pendulum.urdf"
    path.write_text(URDF.format(mass=1.0))
    message = "line 13: damping 0.5 on a fixed joint has no effect"
    assert armdyn.check(path).findings == (Finding("warning", "joint 'weld'", message),)


def test_a_file_that_cannot_be_loaded_is_a_finding(tmp_path):
    path = tmp_path / "pendulum.urdf"
    path.write_text(URDF.format(mass="heavy"))
    (finding,) = armdyn.check(path).findings
    assert (finding.level, finding.where) == ("error", str(path))
    assert "heavy" in finding.message
    (missing,) = armdyn.check("pumma560").findings
    assert "Did you mean 'puma560'" in missing.message


def test_findings_of_reading_are_in_the_report(monkeypatch):
    found = Finding("warning", "joint 'a'", "a strange file")
    monkeypatch.setattr(
        "armdyn.study.check.check.read_model", lambda *_, **__: (arm(row()).model, (found,))
    )
    assert armdyn.check("arm").findings == (Finding("warning", "arm", "a strange file"),)


def test_the_exit_code_is_that_of_the_gravest_finding():
    of = [Finding(level, "", "") for level in ("note", "warning", "error")]
    assert [Check("arm", tuple(of[:k])).exit_code for k in range(4)] == [0, 0, 1, 2]
    levels = [
        f.level
        for f in armdyn.check(arm(row(mass=-1.0), row(limits=None, velocity_limit=0))).findings
    ]
    assert levels == sorted(levels, key=("error", "warning", "note").index)


def test_what_holds_for_several_links_is_said_of_several():
    heavy = row(mass=4000.0)
    findings = armdyn.check(arm(heavy, heavy)).findings
    said = [f"{f.where}: {f.message}" for f in findings if "4000" in f.message]
    assert "links 'link1', 'link2': masses of 4000 kg; were they given in grams?" in said
    assert not [text for text in said if re.search(r"\b(its|was it)\b", text)]
    alone = [f"{f.where}: {f.message}" for f in armdyn.check(arm(heavy, row())).findings]
    assert "link 'link1': a mass of 4000 kg; was it given in grams?" in alone
