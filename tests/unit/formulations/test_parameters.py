"""Links, rotors and friction in one vector of parameters."""

from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn import Robot
from armdyn.errors import InertiaError, ModelError, UnknownNameError
from armdyn.formulations.regressor import body_of, ten_parameters
from support.random_robots import random_model, random_states

MOTOR = {"name": "motor", "joints": {"joint2": 1.0, "joint3": -2.0}, "rotor_inertia": 0.3}
MODEL = random_model("RPR", 7, rotors=True, friction=True)
DRIVEN = Robot(MODEL).with_drives([MOTOR | {"viscous": 0.2, "offset": -0.4}])
STATES = random_states(MODEL, 8, batch=(4,))


def test_a_body_is_made_of_its_ten_numbers():
    ten = np.arange(1.0, 11.0)
    body = body_of(ten)
    assert np.array_equal(ten_parameters(body), ten)
    assert np.array_equal(body.moment, body.moment.T)


@pytest.mark.slow
def test_what_torques_are_linear_in_comes_first():
    linear = [parameter.linear for parameter in DRIVEN.parameter_table]
    assert linear == sorted(linear, reverse=True)
    assert sum(linear) == DRIVEN.regressor(*STATES).shape[-1] < len(linear)


@pytest.mark.slow
def test_the_links_come_first_and_are_the_links_alone():
    Y, links = (DRIVEN.regressor(*STATES, links=only) for only in (False, True))
    assert np.array_equal(Y[..., :30], links)
    assert DRIVEN.parameter_names[:2] == ("link1.m", "link1.mcx")
    assert {"joint1.rotor", "motor.viscous", "motor.offset"} < {*DRIVEN.parameter_names}


def test_the_rotor_of_the_first_joint_acts_with_its_link_as_one():
    base = armdyn.load("puma560").base_parameters()
    assert base.groupings[0].endswith("+ joint1.rotor")
    assert "joint1.rotor" not in base.names
    # 36 of the links, and 24 rotors and levels of friction, of which two rotors act with links
    assert base.rank == 36 + 24 - 2


def test_values_go_in_as_a_whole_and_come_out_again():
    values = DRIVEN.parameters() * np.linspace(0.9, 1.1, len(DRIVEN.parameters()))
    other = DRIVEN.with_parameters(values, physical="ignore")
    assert other.parameter_names == DRIVEN.parameter_names
    assert np.allclose(other.parameters(), values, rtol=1e-15, atol=0)
    same = DRIVEN.with_parameters(DRIVEN.parameters())
    assert np.array_equal(same.inverse_dynamics(*STATES), DRIVEN.inverse_dynamics(*STATES))


def test_by_name_a_robot_gets_what_it_had_not():
    arm = armdyn.load("two_link")
    new = arm.with_parameters({"joint1.viscous": 0.5, "joint2.rotor": 0.1, "link2.m": 2.0})
    assert new.model.joints[0].friction.viscous == 0.5
    assert new.model.joints[1].rotor.reflected == 0.1
    assert new.model.links[1].inertia.mass == 2.0
    assert len(new.parameters()) == len(arm.parameters()) + 2
    assert new.model.links[0] is arm.model.links[0]


def test_gears_stay_where_the_inertia_behind_them_changes():
    joints = [replace(j, rotor=replace(j.rotor, gear_ratio=-50.0)) for j in MODEL.joints]
    other = Robot(replace(MODEL, joints=tuple(joints))).with_parameters({"joint1.rotor": 5.0})
    assert other.model.joints[0].rotor.gear_ratio == -50.0
    assert other.mass_matrix(np.zeros(3))[0, 0] > 5.0


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"link1.mass": 1.0}, UnknownNameError, "link1.mass"),
        ({"joint1.viscous": -1.0}, ModelError, "viscous is a magnitude"),
        ({"joint1.rotor": -1.0}, ModelError, "rotor_inertia cannot be negative"),
        ({"link1.m": -1.0}, InertiaError, "link1"),
        ({"link1.m": "heavy"}, ModelError, "link1.m"),
        (np.ones(3), ModelError, "parameters: expected"),
    ],
)
def test_wrong_values_are_refused_by_name(values, error, message):
    with pytest.raises(error, match=message):
        Robot(MODEL).with_parameters(values)
