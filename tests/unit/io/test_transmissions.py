"""Transmissions that give, and springs of joints, in files and as keys."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, ModelError, UrdfError, WriteError
from armdyn.io.describe import describe
from armdyn.model import Transmission

GEARED = armdyn.load("two_link").with_joint("joint1", rotor_inertia=2e-4, gear_ratio=60.0)
SOFT = GEARED.with_joint(
    "joint1", transmission_stiffness=8000.0, transmission_damping=3.0, friction_side="link"
)


@pytest.mark.parametrize("ending", ["toml", "urdf"])
def test_files_keep_what_gives(tmp_path, ending):
    path = tmp_path / f"arm.{ending}"
    SOFT.save(path)
    again = armdyn.load(path).model.joints
    assert again[0].transmission == Transmission(8000.0, 3.0, "link")
    assert again[1].transmission == Transmission()
    assert "friction_side" not in (tmp_path / f"arm.{ending}").read_text().split("joint2")[1]


def test_rows_of_tables_and_arms_take_it_by_its_keys():
    row = dict(joint="revolute", a=0.3, mass=1.0, rotor_inertia=1e-4, gear_ratio=50.0)
    arm = armdyn.from_dh([row | {"transmission_stiffness": 2e3}, row])
    assert [joint.transmission.gives for joint in arm.model.joints] == [True, False]
    assert SOFT.with_elasticity({"joint1": 9e3}).model.joints[0].transmission == Transmission(
        9e3, 3.0, "link"
    )
    both = arm.with_elasticity(5e3, [1.0, 2.0], friction_side="link").model.joints
    assert [joint.transmission for joint in both] == [
        Transmission(5e3, 1.0, "link"),
        Transmission(5e3, 2.0, "link"),
    ]
    told = describe(SOFT.model)["joints"]
    assert told[0]["transmission"]["transmission_stiffness"] == 8000.0
    assert told[1]["transmission"] == {}


def test_the_rigid_arm_is_what_it_was():
    state = np.random.default_rng(0).normal(size=(3, 5, 2))
    rigid, given = GEARED.inverse_dynamics(*state), SOFT.inverse_dynamics(*state)
    np.testing.assert_array_equal(rigid, given)
    assert SOFT != GEARED


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"transmission_stiffness": -1.0}, "transmission_stiffness must be positive, got -1.0"),
        ({"transmission_damping": 1.0}, "of a transmission that gives; give its transmission_st"),
        ({"transmission_stiffness": 1.0, "transmission_damping": -1.0}, "damping cannot be nega"),
        ({"transmission_stiffness": 1.0, "friction_side": "gear"}, "friction_side.*motor"),
        ({"transmission_stiffness": 1.0, "rotor_inertia": 0.0}, "no inertia; give it a rotor_in"),
    ],
)
def test_what_no_transmission_can_be_is_refused(keys, message):
    with pytest.raises(ArmdynError, match=message):
        GEARED.with_joint("joint1", **keys)


def test_files_with_motors_without_inertia_are_refused(tmp_path):
    path = tmp_path / "arm.urdf"
    SOFT.save(path)
    text = path.read_text()
    path.write_text(text.replace('rotor_inertia="0.0002"', 'rotor_inertia="0"'))
    with pytest.raises(UrdfError, match=r"the motor has no inertia; give it a rotor_inertia"):
        armdyn.load(path)


def test_springs_of_joints_survive_a_file_and_locking(tmp_path):
    arm = armdyn.load("saha_3r")
    names = arm.joint_names
    keys = {"name": "wrap", "joints": {names[0]: 1.0, names[2]: -0.5}, "stiffness": 40.0,
            "free_length": 0.2}  # fmt: skip
    sprung = arm.with_springs([keys])
    q = np.array([0.3, -0.4, 0.9])
    wound = 0.3 - 0.45 - 0.2
    added = sprung.potential_energy(q) - arm.potential_energy(q)
    np.testing.assert_allclose(added, 20.0 * wound**2, rtol=1e-10)
    torque = sprung.gravity_vector(q) - arm.gravity_vector(q)
    np.testing.assert_allclose(torque, 40.0 * wound * np.array([1.0, 0.0, -0.5]), atol=1e-10)
    sprung.save(tmp_path / "arm.toml")
    assert armdyn.load(tmp_path / "arm.toml").model.springs == sprung.model.springs
    held = sprung.with_locked({names[2]: 0.9})
    left = held.gravity_vector(q[:2]) - arm.with_locked({names[2]: 0.9}).gravity_vector(q[:2])
    np.testing.assert_allclose(left, [40.0 * wound, 0.0], atol=1e-10)
    Y = sprung.regressor(q, q, q)
    np.testing.assert_allclose(Y @ sprung.parameters(), sprung.inverse_dynamics(q, q, q))
    with pytest.raises(WriteError, match="URDF has no springs"):
        sprung.save(tmp_path / "arm.urdf")
    for wrong, message in (
        ({"joints": {"elbow": 1.0}}, "moving joint named 'elbow'"),
        ({"joints": {names[0]: 0.0}}, "finite ratios other than 0"),
        ({"link": "link1"}, "give joints or link, not both"),
    ):
        with pytest.raises(ArmdynError, match=message):
            arm.with_springs([keys | wrong])
    with pytest.raises(ModelError, match="'stiffness' is missing"):
        arm.with_springs([{"joints": {names[0]: 1.0}}])
