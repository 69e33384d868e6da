"""URDF out: a robot survives the way to the file and back, and others can read it."""

import math
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from armdyn.errors import ArmdynWarning, UrdfError
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.newton_euler import newton_euler
from armdyn.io.urdf.write import urdf_from_model
from armdyn.io.xml import read_xml
from armdyn.model import Connection, FrictionLaw, Inertia, Limits, RobotModel, Rotor, assemble
from armdyn.model.edit import lock, with_payload, without_payload
from armdyn.model.transform import rotation_from_rpy, rpy_from_rotation, transform
from support.paths import ROBOTS
from support.random_robots import (
    random_inertia,
    random_model,
    random_states,
    random_transform,
)
from support.reading import model_from_dh, model_from_urdf

TOLERANCE = 1e-12


def there_and_back(model: RobotModel, physical: str = "error") -> RobotModel:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(urdf_from_model(model), encoding="utf-8")
        return model_from_urdf(path, physical=physical)


def check_same_torques(back: RobotModel, model: RobotModel, seed: int = 0) -> None:
    q, qd, qdd = random_states(model, seed, (3,))
    ours, before = newton_euler(back, q, qd, qdd).tau, newton_euler(model, q, qd, qdd).tau
    np.testing.assert_allclose(ours, before, rtol=0, atol=TOLERANCE * np.abs(before).max())
    M, M_before = mass_matrix(back, q), mass_matrix(model, q)
    np.testing.assert_allclose(M, M_before, rtol=0, atol=TOLERANCE * np.abs(M_before).max())


def check_same_description(back: RobotModel, model: RobotModel) -> None:
    for key in ("name", "title", "source", "note", "reduced", "drives"):
        assert getattr(back, key) == getattr(model, key)
    assert [link.name for link in back.links] == [link.name for link in model.links]
    for ours, before in zip(back.joints, model.joints, strict=True):
        for part in ("name", "kind", "parent", "limits", "friction", "rotor", "mimic"):
            assert getattr(ours, part) == getattr(before, part)
    np.testing.assert_array_equal(back.gravity, model.gravity)
    np.testing.assert_allclose(back.base, model.base, atol=TOLERANCE)
    np.testing.assert_allclose(back.tool, model.tool, atol=TOLERANCE)
    assert (back.flange.name, back.flange.link) == (model.flange.name, model.flange.link)
    frames = {frame.name: frame for frame in back.frames}
    assert set(frames) == {frame.name for frame in model.frames}
    for frame in (*model.frames, model.tool_frame):
        ours = back.frame(frame.name)
        assert ours.link == frame.link
        np.testing.assert_allclose(ours.placement, frame.placement, atol=TOLERANCE)
    for link, before in zip(back.links, model.links, strict=True):
        assert sorted(b.name for b in link.bodies) == sorted(b.name for b in before.bodies)
        assert [b.name for b in link.bodies if b.payload] == [
            b.name for b in before.bodies if b.payload
        ]


def check_survives(model: RobotModel, physical: str = "error") -> RobotModel:
    back = there_and_back(model, physical)
    check_same_description(back, model)
    check_same_torques(back, model)
    return back


def dh_robot() -> RobotModel:
    rng = np.random.default_rng(5)
    rows = [
        dict(
            joint=kind,
            a=rng.uniform(0.1, 0.5),
            alpha=alpha,
            d=rng.uniform(0.1, 0.5),
            theta=0.3,
            mass=rng.uniform(1, 5),
            com=rng.uniform(-0.2, 0.2, 3),
            inertia=(0.03, 0.04, 0.05),
            coulomb=(0.4, 0.3),
            viscous=0.1,
            rotor_inertia=2e-4,
            gear_ratio=-60,
        )
        for kind, alpha in (("revolute", math.pi / 2), ("prismatic", -1.0), ("revolute", math.pi))
    ]
    return model_from_dh(rows, "standard", tool=random_transform(rng), name="arm & <tool>")


IN_URDF = pytest.mark.arms(where=lambda arm: "H" not in arm.kinds and not arm.drives)
"""The format has no screws, and no motors that joints share."""


@IN_URDF
def test_any_robot_survives(arm) -> None:
    check_survives(arm.model, "ignore" if arm.model.reduced else "error")


@pytest.mark.arms(where=lambda arm: "H" not in arm.kinds and not arm.mimics and not arm.drives)
def test_locked_robot_survives(arm) -> None:
    model = arm.model
    held = model.joints[arm.seed % len(model.joints)].name
    back = check_survives(lock(model, {held: 0.7}), "ignore" if model.reduced else "error")
    assert sum(len(link.bodies) for link in (back.base_link, *back.links)) == len(arm.kinds) + 1


@IN_URDF
def test_pinocchio_reads_the_same_robot(arm) -> None:
    model = arm.rigid
    peer = pin.buildModelFromXML(urdf_from_model(model))
    peer.gravity = pin.Motion(model.base[:3, :3].T @ model.gravity, np.zeros(3))
    state = random_states(model, arm.seed)
    place, theirs = np.zeros(peer.nq), np.zeros((2, peer.nv))
    rows = [peer.idx_vs[peer.getJointId(joint.name)] for joint in model.joints]
    theirs[:, rows] = state[1:]
    for joint, angle in zip(model.joints, state[0], strict=True):
        other = peer.joints[peer.getJointId(joint.name)]
        # a hinge without limits is a point of the circle
        own = [angle] if other.nq == 1 else [np.cos(angle), np.sin(angle)]
        place[other.idx_q : other.idx_q + other.nq] = own
    tau = pin.rnea(peer, peer.createData(), place, *theirs)[rows]
    ours = newton_euler(model, *state).tau
    np.testing.assert_allclose(ours, tau, rtol=0, atol=TOLERANCE * np.abs(tau).max())


@pytest.mark.parametrize("name", ["arm", "gripper"])
def test_file_survives(name: str) -> None:
    check_survives(model_from_urdf(ROBOTS / f"{name}.urdf"))


def test_coupling_of_mimicking_joints_survives() -> None:
    model = model_from_urdf(ROBOTS / "gripper.urdf")
    back = there_and_back(model)
    for ours, before in zip(back.coupling, model.coupling, strict=True):
        np.testing.assert_array_equal(ours, before)


def test_standard_dh_robot_survives_with_its_frames_at_the_far_ends() -> None:
    model = dh_robot()
    assert not np.allclose(model.frame("link1").placement, np.eye(4))
    check_survives(model)


def test_payloads_survive_and_can_be_put_down() -> None:
    empty = dh_robot()
    loaded = with_payload(with_payload(empty, 2.0, (0.1, 0, 0.2)), 0.5, (0, 0.3, 0), add=True)
    back = check_survives(loaded)
    assert [body.payload for body in back.links[-1].bodies] == [False, True, True]
    check_same_torques(without_payload(back), empty)


def test_payload_named_like_a_link_survives() -> None:
    check_survives(with_payload(dh_robot(), 2.0, name="link3"))


def test_everything_about_the_robot_survives() -> None:
    model = random_model("RPR", 3)
    check_survives(
        replace(model, source='Fu, "Robotics" (1987)\n<p. 103>', reduced=True, name="Ä & 'b'")
    )


@pytest.mark.parametrize(
    "limits",
    [
        Limits(),
        Limits(-math.inf, 1.0),
        Limits(-1.0, math.inf, 2.0),
        Limits(-math.inf, math.inf, 2.0, math.inf),
        Limits(0.0, 0.0, 0.0, 0.0),
        Limits(-1 / 3, 2 / 3, 1e-7, 12345.678901234567),
        Limits(continuous_effort=1.5),
        Limits(-1.0, 1.0, 2.0, 3.0, 1.5),
    ],
)
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize(
    ("friction", "rotor"),
    [
        (FrictionLaw(), Rotor()),
        (FrictionLaw(0.1, 0.2, 0.3), Rotor(1e-4)),
        (FrictionLaw(0.0, 0.0, 0.3), Rotor(0.0, 50.0)),
        (FrictionLaw(0.1, 0.2, 0.2, 0.4, 0.05), Rotor(1e-4, -100.0)),
        (FrictionLaw(stribeck=0.4), Rotor()),
        (FrictionLaw(offset=-0.4), Rotor()),
        (FrictionLaw(viscous_positive=0.1, viscous_negative=0.3), Rotor()),
        (FrictionLaw(viscous_positive=0.2, viscous_negative=0.2), Rotor()),
        (FrictionLaw(viscous_positive=0.2), Rotor()),
        (FrictionLaw(viscous_negative=0.2), Rotor()),
        (FrictionLaw(power=0.3), Rotor()),
        (FrictionLaw(0.1, power=0.3, power_exponent=0.4, offset=0.2), Rotor(1e-4)),
        (FrictionLaw(coulomb_positive=1.0, coulomb_negative=1.0, smooth_velocity=0.01), Rotor()),
    ],
)
def test_drive_survives(kind: str, limits: Limits, friction: FrictionLaw, rotor: Rotor) -> None:
    body = Inertia.from_com(1.0, (0.1, 0, 0), np.eye(3))
    joint = Connection("j", kind, "a", "b", limits=limits, friction=friction, rotor=rotor)
    back = there_and_back(assemble("r", {"a": Inertia.zero(), "b": body}, [joint]))
    assert back.joints[0].limits == limits
    assert back.joints[0].friction == friction
    assert back.joints[0].rotor == rotor


@pytest.mark.parametrize(
    "inertia",
    [
        Inertia.from_origin(0.0, (0.0, 0.0, 0.0), np.diag([0.1, 0.2, 0.7])),
        Inertia.from_origin(0.0, (0.3, -0.1, 0.2), np.diag([0.1, 0.2, 0.7])),
        Inertia.from_origin(1e-9, (1.0, 2.0, 3.0), np.eye(3)),
        Inertia.from_com(1e3, (20.0, 0.0, 0.0), 1e-3 * np.eye(3)),
        Inertia.from_com(1.0, (0.0, 0.0, 0.0), np.zeros((3, 3))),
        Inertia.zero(),
    ],
    ids=["no mass", "first moment only", "far centre", "far body", "point", "nothing"],
)
def test_unusual_inertia_survives(inertia: Inertia) -> None:
    joint = Connection("j", "revolute", "a", "b")
    model = assemble("r", {"a": Inertia.zero(), "b": inertia}, [joint], reduced=True)
    back = there_and_back(model, physical="ignore").links[0].inertia
    assert back.mass == inertia.mass
    for ours, before in (
        (back.first_moment, inertia.first_moment),
        (back.moment, inertia.moment),
    ):
        np.testing.assert_allclose(ours, before, rtol=0, atol=1e-13 * np.abs(before).max())


def test_robot_without_inertia_survives() -> None:
    rows = [dict(joint="revolute", a=0.3), dict(joint="revolute", a=0.2)]
    with pytest.warns(ArmdynWarning, match="no row has a mass"):
        model = model_from_dh(rows)
    assert all(link.inertia.is_zero for link in there_and_back(model).links)


def test_tensor_is_written_in_the_axes_it_was_given_in() -> None:
    model = model_from_urdf(ROBOTS / "arm.urdf")
    back = there_and_back(model)
    for link, before in zip(back.links, model.links, strict=True):
        for ours, body in zip(link.bodies, before.bodies, strict=True):
            axes = ours.inertia.given_axes, body.inertia.given_axes
            np.testing.assert_allclose(*axes, atol=1e-15)
            tensors = ours.inertia.tensor_as_given, body.inertia.tensor_as_given
            np.testing.assert_allclose(*tensors, atol=1e-15)
    assert not np.allclose(back.links[0].bodies[0].inertia.given_axes, np.eye(3))


def test_plain_robot_needs_no_words_of_our_own(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(urdf_from_model(model_from_urdf(ROBOTS / "arm.urdf")))
    own = [element for element in read_xml(path, UrdfError).walk() if element.tag == "armdyn"]
    assert [dict(element.attributes) for element in own] == [{"flange": "tip"}]


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("off", [0.0, 1e-15, 1e-12, 1e-9, 1e-8, 1e-6, 1e-3])
def test_rotations_survive_near_the_vertical(sign: float, off: float) -> None:
    """Roll and yaw are lost one by one at a pitch of 90°, but not together."""
    rng = np.random.default_rng(4)
    for roll, yaw in rng.uniform(-3, 3, (20, 2)):
        R = rotation_from_rpy((roll, sign * (math.pi / 2 - off), yaw))
        noisy = R + 1e-16 * rng.normal(size=(3, 3))
        np.testing.assert_allclose(rotation_from_rpy(rpy_from_rotation(noisy)), R, atol=2e-15)


def test_body_under_a_vertical_pitch_survives() -> None:
    rng = np.random.default_rng(6)
    links = {name: random_inertia(rng) for name in "abc"}
    upright = transform(rotation_from_rpy((0.4, math.pi / 2 - 3e-9, 1.1)), (0.1, 0.2, 0.3))
    joints = [
        Connection("j", "revolute", "a", "b", upright, axis=(0.6, 0, 0.8)),
        Connection("k", "prismatic", "b", "c", upright, axis=(0, 0.6, 0.8)),
    ]
    check_survives(assemble("r", links, joints))
