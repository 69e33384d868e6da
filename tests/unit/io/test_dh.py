import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynWarning, ModelError, UnknownNameError
from support.peers import close


def Rx(a):
    return np.array([[1, 0, 0, 0], [0, np.cos(a), -np.sin(a), 0], [0, np.sin(a), np.cos(a), 0], [0, 0, 0, 1]])  # fmt: skip


def Rz(a):
    return np.array([[np.cos(a), -np.sin(a), 0, 0], [np.sin(a), np.cos(a), 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])  # fmt: skip


def T(x=0.0, z=0.0):
    M = np.eye(4)
    M[0, 3], M[2, 3] = x, z
    return M


ROWS = [
    dict(joint="revolute", a=0.1, alpha=0.4, d=0.2, theta=0.3, mass=1, inertia=(1, 1, 1)),
    dict(joint="prismatic", a=-0.2, alpha=-1.2, d=0.1, theta=-0.6, mass=1, inertia=(1, 1, 1)),
    dict(joint="revolute", a=0.3, alpha=2.2, d=-0.4, theta=1.3, mass=1, inertia=(1, 1, 1)),
]
Q = np.array([0.7, 0.2, -1.1])


def test_standard_convention_is_joint_first_then_link():
    tool = T(0.05, 0.07)
    expected = np.eye(4)
    for row, q in zip(ROWS, Q, strict=True):
        prismatic = row["joint"] == "prismatic"
        theta, d = row["theta"] + (not prismatic) * q, row["d"] + prismatic * q
        expected = expected @ Rz(theta) @ T(z=d) @ T(row["a"]) @ Rx(row["alpha"])
    robot = armdyn.from_dh(ROWS, convention="standard", tool=tool)
    close(robot.forward_kinematics(Q), expected @ tool, 1e-13)
    close(robot.forward_kinematics(Q, "link3"), expected, 1e-13)


def test_modified_convention_is_link_first_then_joint():
    base = Rz(0.4) @ T(1.0, 2.0)
    expected = base
    for row, q in zip(ROWS, Q, strict=True):
        prismatic = row["joint"] == "prismatic"
        theta, d = row["theta"] + (not prismatic) * q, row["d"] + prismatic * q
        expected = expected @ Rx(row["alpha"]) @ T(row["a"]) @ Rz(theta) @ T(z=d)
    robot = armdyn.from_dh(ROWS, convention="modified", base=base)
    close(robot.forward_kinematics(Q), expected, 1e-13)


@pytest.mark.slow
def test_one_arm_in_both_conventions_gives_one_torque():
    """Links carry their inertia in different frames, so it is moved along the table."""
    shift = T(0.3)
    com = np.array([0.15, 0.02, -0.01])
    tensor = np.diag([0.01, 0.02, 0.025])
    standard = [
        dict(joint="revolute", a=0.3, mass=2, com=com - shift[:3, 3], inertia=tensor) for _ in "ab"
    ]
    modified = [
        dict(joint="revolute", a=0.3 * i, mass=2, com=com, inertia=tensor) for i in range(2)
    ]
    g = (0, -9.81, 0)
    one = armdyn.from_dh(standard, gravity=g)
    other = armdyn.from_dh(modified, convention="modified", gravity=g, tool=shift)
    state = ([0.3, 1.0], [0.5, -0.2], [1.0, 2.0])
    close(one.inverse_dynamics(*state), other.inverse_dynamics(*state), 1e-13)
    close(one.forward_kinematics(state[0]), other.forward_kinematics(state[0]), 1e-13)


def test_tensor_about_the_origin_and_about_the_centre_of_mass_agree():
    m, c, I = 2.0, np.array([0.1, -0.2, 0.3]), np.diag([0.3, 0.2, 0.25])
    about_origin = I + m * (c @ c * np.eye(3) - np.outer(c, c))
    common = dict(joint="revolute", mass=m, com=c)
    one = armdyn.from_dh([dict(common, inertia=I)])
    other = armdyn.from_dh([dict(common, inertia=about_origin, inertia_about="origin")])
    close(one.model.links[0].inertia.pseudo, other.model.links[0].inertia.pseudo, 1e-13)


def test_names_limits_friction_and_rotor_arrive():
    row = dict(
        joint="revolute", name="shoulder", link="arm", mass=1, inertia=(1, 1, 1), limits=(-1, 2),
        velocity_limit=3, effort_limit=40, viscous=0.1, coulomb=(0.2, 0.3), stribeck=0.4,
        stribeck_velocity=0.05, smooth_velocity=0.0, rotor_inertia=1e-4, gear_ratio=-100,
    )  # fmt: skip
    robot = armdyn.from_dh([row], name="my arm")
    joint = robot.model.joints[0]
    assert (robot.name, robot.joint_names, robot.link_names[1]) == ("my arm", ("shoulder",), "arm")
    close(robot.limits, [[-1, 2]])
    assert (joint.limits.velocity, joint.limits.effort) == (3, 40)
    assert (joint.friction.coulomb_positive, joint.friction.coulomb_negative) == (0.2, 0.3)
    assert joint.rotor.reflected == pytest.approx(1.0)
    close(robot.mass_matrix([0.0]), [[2.0]])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            dict(joint="ball"),
            r"DH row 1: joint must be 'revolute', 'prismatic' or 'helical', got 'ball'",
        ),
        (dict(), r"DH row 1: joint must be .* got None"),
        (dict(joint="revolute", d=float("nan")), r"DH row 1: d: expected finite numbers"),
        (dict(joint="revolute", a="long"), r"DH row 1: a: expected a number, got 'long'"),
        (dict(joint="revolute", com=(1, 2)), r"DH row 1: com: expected numbers of shape \(3,\)"),
        (dict(joint="revolute", inertia=[1, 2]), r"DH row 1: inertia: .*\(3, 3\)"),
        (dict(joint="revolute", inertia_about="tip"), r"inertia_about must be 'com' or 'origin'"),
        (dict(joint="revolute", viscous=-1), r"viscous is a magnitude and cannot be negative"),
        (dict(joint="revolute", coulomb=(1, -1)), r"coulomb is a magnitude"),
        (dict(joint="revolute", stribeck=1), r"stribeck needs a positive stribeck_velocity"),
        (
            dict(joint="revolute", stribeck=1, stribeck_velocity=0),
            r"DH row 1: stribeck = 1.0 needs a positive stribeck_velocity .* got 0.0",
        ),
        (dict(joint="revolute", rotor_inertia=-1), r"DH row 1: rotor_inertia .* got -1.0"),
        (dict(joint="revolute", rotor_inertia=1, gear_ratio=0), r"DH row 1: gear_ratio is 0.0"),
        (dict(joint="revolute", coulomb=(1, 2, 3)), r"DH row 1: coulomb .*got shape \(3,\)"),
        (dict(joint="revolute", coulomb="1"), r"DH row 1: coulomb .*got '1'"),
        (dict(joint="revolute", limits=(1, 2, 3)), r"DH row 1: limits must .*\(1, 2, 3\)"),
        (dict(joint="revolute", limits=1), r"DH row 1: limits must .*got 1"),
        (dict(joint="revolute", limits=("a", "b")), r"DH row 1: limits must .*'a'"),
        (dict(joint="revolute", velocity_limit="1"), r"DH row 1: velocity_limit: .* got '1'"),
        (
            dict(joint="revolute", effort_limit=-1),
            r"DH row 1: effort_limit: .* magnitudes .* got -1",
        ),
        (dict(joint="revolute", mass="1"), r"DH row 1: mass: expected a number, got '1'"),
        (dict(joint="revolute", mass=True), r"DH row 1: mass: expected a number, got True"),
        (dict(joint="revolute", name=""), r"DH row 1: name: a name is a string .* got ''"),
        (dict(joint="revolute", name=3), r"DH row 1: name: a name is a string .* got 3"),
        (dict(joint="revolute", link=["a"]), r"DH row 1: link: a name is a string .* got \['a'\]"),
        (dict(joint="revolute", limits=(2, 1)), r"limits must be \(lower, upper\), got \(2, 1\)"),
        ([1, 2], r"DH row 1: expected a mapping"),
    ],
)
def test_bad_rows_are_named(row, message):
    with pytest.raises(ModelError, match=message):
        armdyn.from_dh([row])


def test_misspelt_column_names_the_nearest():
    with pytest.raises(UnknownNameError, match=r"'alfa'\. Did you mean 'alpha'"):
        armdyn.from_dh([dict(joint="revolute", alfa=0.0)])


def test_bad_tables():
    with pytest.raises(ModelError, match="at least one row"):
        armdyn.from_dh([])
    with pytest.raises(
        ModelError, match="convention must be 'standard' or 'modified', got 'craig'"
    ):
        armdyn.from_dh(ROWS, convention="craig")
    for name in (3, ""):
        with pytest.raises(ModelError, match="robot: a name is a string that is not empty"):
            armdyn.from_dh(ROWS, name=name)
    twice = [dict(joint="revolute", link="arm"), dict(joint="revolute", link="arm")]
    with pytest.raises(ModelError, match="DH row 2: the link name 'arm' is taken"):
        armdyn.from_dh(twice)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [("alpha", 90.0, "degrees"), ("theta", -45.0, "degrees"), ("a", 425.0, "millimetres")],
)
def test_suspicious_units_are_warned_of(column, value, message):
    row = {"joint": "revolute", "mass": 1, "inertia": (1, 1, 1), column: value}
    with pytest.warns(ArmdynWarning, match=f"DH row 1: {column} = {value:g}.*{message}"):
        armdyn.from_dh([row])


def test_a_centre_of_mass_without_mass_is_warned_of():
    with pytest.warns(ArmdynWarning, match=r"DH row 1: com = \[0.1, 0.0, 0.0\] has no effect"):
        armdyn.from_dh([dict(joint="revolute", com=(0.1, 0, 0))], physical="ignore")


def test_limits_may_be_infinite():
    row = dict(joint="revolute", limits=(-np.inf, 1), velocity_limit=np.inf, mass=1)
    robot = armdyn.from_dh([row], physical="ignore")
    assert robot.limits.tolist() == [[-np.inf, 1.0]]
