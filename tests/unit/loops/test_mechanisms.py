"""Loops as files of others have them, in tests/robots/loops: they load, close and have torques.

Torques at rest are those of MuJoCo, whose Jacobian of its constraints tells how all joints move;
those in motion are those of an elimination.
"""

import warnings
from dataclasses import replace
from functools import cache

import mujoco
import numpy as np
import pytest

from armdyn.errors import ArmdynWarning, LoopError
from armdyn.formulations.newton_euler import newton_euler
from armdyn.formulations.rotors import rotor_matrix
from armdyn.formulations.springs import spring_energy, spring_torques
from armdyn.io.files import read_model
from armdyn.loops.closure import closure_of
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import JointSpring
from support.elimination import eliminated
from support.paths import ROOT
from support.programs import EvaluatedRobot

FOLDER = ROOT / "tests" / "robots" / "loops"
COORDINATES = {
    "achilles_leg": "hip rod_ball_x knee shin_spring heel_spring foot_crank",
    "differential": "left_motor left_ball_z right_motor right_ball_z",
    "geared_knee": "hip knee_motor",
    "parallel_jaw": "drive",
    "rounded_neck": "drive",
    "tendon_fingers": "right_spring left_driver left_spring",
    "weld_slider": "motor",
}
"""Motors and springs are among them, in every file."""
BALLS = ("achilles_leg", "differential")
ROUNDED = "rounded_neck"


@cache
def mechanism(name):
    model, findings = read_model(FOLDER / f"{name}.xml")
    assert [f.message for f in findings if f.level == "warning"] == []
    return model


@pytest.fixture(params=COORDINATES)
def name(request):
    return request.param


def states(model, count=20, reach=0.1):
    """Coordinates near the assembly."""
    start = coordinates_of(model).assembly[list(model.independent)]
    return start + reach * np.random.default_rng(0).uniform(-1, 1, (count, len(start)))


def test_files_are_all_tried():
    assert {file.stem for file in FOLDER.glob("*.xml")} == set(COORDINATES)


def test_motors_and_springs_are_coordinates_and_every_state_near_the_assembly_closes(name):
    model = mechanism(name)
    assert [joint.name.replace(" ", "_") for joint in model.coordinate_joints] == (
        COORDINATES[name].split()
    )
    positions = coordinates_of(model).positions(states(model))
    assert np.isfinite(positions).all()
    assert "Coordinates around loops: " in model.note
    assert bool(closure_of(model).gap) == (name == ROUNDED)


@pytest.mark.parametrize("name", sorted(set(COORDINATES) - set(BALLS)))
def test_torques_at_rest_are_those_of_mujoco(name):
    model, m = mechanism(name), mujoco.MjModel.from_xml_path(str(FOLDER / f"{name}.xml"))
    data, rng = mujoco.MjData(m), np.random.default_rng(1)
    order = [m.joint(joint.name).id for joint in model.joints]
    active = list(model.independent)
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    miss = 1e-6 if name == ROUNDED else 1e-9
    for q in states(model, 4):
        here = coordinates_of(model).at(q)
        data.qpos[order], data.qvel[:] = here.q, 0.0
        mujoco.mj_forward(m, data)
        A = data.efc_J.reshape(-1, m.nv)[:, order]
        assert np.abs(data.efc_pos).max() < miss
        qdd = rng.normal(size=len(q))
        # the accelerations that the constraints of MuJoCo allow, as nothing moves yet
        _, values, Vt = np.linalg.svd(A)
        free = Vt[np.count_nonzero(values > 1e-4 * values[0]) :].T
        G = free @ np.linalg.inv(free[active])
        np.testing.assert_allclose(here.G, G, atol=1e3 * miss)
        m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_EQUALITY)
        data.qacc[order] = G @ qdd
        mujoco.mj_inverse(m, data)
        expected = G.T @ data.qfrc_inverse[order]
        m.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_EQUALITY)
        motion = here.q, 0.0 * here.q, here.accelerations(0.0 * q, qdd)
        tree = newton_euler(model, *motion).tau + rotor_matrix(model) @ motion[2]
        tau = here.torques(tree + spring_torques(model, model.springs, here.q))
        np.testing.assert_allclose(tau, expected, rtol=1e-9, atol=1e3 * miss * np.abs(tree).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tendon_fingers", "geared_knee", "rounded_neck", "achilles_leg"])
def test_programs_have_the_torques_of_an_elimination_and_of_springs(name):
    model = mechanism(name)
    robot, rng = EvaluatedRobot(model), np.random.default_rng(2)
    for q in states(model, 2):
        qd, qdd = rng.normal(size=(2, len(q)))
        full, _, _, tau, _ = eliminated(robot, q, qd, qdd, friction=True)
        np.testing.assert_allclose(robot.all_joints(q), full, atol=1e-6)
        springs = coordinates_of(model).at(q).torques(spring_torques(model, model.springs, full))
        close = 1e-6 if name == ROUNDED else 1e-9
        size = np.abs(tau).max() + np.abs(springs).max()
        given = robot.inverse_dynamics(q, qd, qdd)
        np.testing.assert_allclose(given, tau + springs, atol=close * size)


def test_a_rod_of_another_length_is_refused_where_all_fits_but_for_rounding(tmp_path):
    """A tenth of a millimetre is no rounding, seven micrometres are half of it."""
    text = (FOLDER / "parallel_jaw.xml").read_text()
    third = '<body name="third" pos="0 .0225 .0675"><joint name="third" axis="1 0 0"/>'
    third += '<inertial pos="0 .02 .02" mass=".02" diaginertia="5e-6 5e-6 4e-6"/></body>'
    pin = '<connect name="third" site1="on third" site2="on jaw"/>'

    def loaded(error):
        sited = third.replace(
            "</body>", f'<site name="on third" pos="0 {0.035 + error} .042"/></body>'
        )
        jaw = '<joint name="jaw" axis="1 0 0"/>'
        longer = text.replace("</worldbody>", f"{sited}</worldbody>")
        longer = longer.replace(jaw, f'{jaw}<site name="on jaw" pos="0 -.0075 .0075"/>')
        file = tmp_path / "jaw.xml"
        file.write_text(longer.replace("</equality>", f"{pin}</equality>"))
        return closure_of(read_model(file)[0]).gap

    assert loaded(0.0) == ""
    assert "closes to " in loaded(5e-7)
    with pytest.raises(LoopError, match="cannot"):
        loaded(1e-4)


def test_what_is_rounded_is_warned_of_where_a_robot_is_loaded():
    import armdyn

    with pytest.warns(ArmdynWarning, match="of 'rounded neck' closes to .* of its size only"):
        armdyn.load(FOLDER / "rounded_neck.xml")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        armdyn.load(FOLDER / "parallel_jaw.xml")


def test_a_spring_at_a_joint_that_follows_does_the_work_of_its_energy():
    """The turn of a passive joint is that nearest to the assembly, whatever turns were added."""
    model = mechanism("geared_knee")
    spring = JointSpring((("rod", 1.0), ("knee", -0.5)), 20.0, 0.3, "bent")
    at, rng = coordinates_of(model), np.random.default_rng(3)
    for q in states(model, 3, 0.3):
        full, along = at.positions(q), rng.normal(size=len(q))
        h = 1e-4
        ends = [spring_energy(model, [spring], at.positions(q + k * h * along)) for k in (1, -1)]
        torque = at.at(q).torques(spring_torques(model, [spring], full))
        assert torque @ along == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-6)
        turned = full + 2 * np.pi * np.array([0, 0, 1, -1, 0])
        again = spring_torques(model, [spring], turned)
        np.testing.assert_allclose(again, spring_torques(model, [spring], full), atol=1e-12)
    robot = EvaluatedRobot(replace(model, springs=(spring,)))
    plain = EvaluatedRobot(model).gravity_vector(q)
    np.testing.assert_allclose(robot.gravity_vector(q), plain + torque, atol=1e-11)
