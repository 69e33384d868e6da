"""Numbers of a robot whose products are beyond the floats are refused."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, ArmdynWarning, InertiaError, ModelError

ROW = {"joint": "revolute", "a": 1.0, "mass": 1.0, "inertia": (1, 1, 1)}


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("com", (1e200, 0, 0)),
        ("com", (-1e160, 1e160, 0)),
        ("mass", np.inf),
        ("inertia", (np.inf, 1, 1)),
        ("gear_ratio", 1e200),
        ("a", np.zeros((2, 3))),
        ("theta", [1, 2]),
        ("offset", ["x"]),
        ("mass", [10**5000]),
        ("name", ["unhashable"]),
        ("joint", {}),
        ("inertia_about", []),
        ("limits", "ab"),
    ],
)
@pytest.mark.parametrize("physical", ["error", "ignore"])
def test_a_table_is_refused_with_an_error_of_ours(column, value, physical):
    with pytest.raises(ModelError):
        armdyn.from_dh([ROW | {"rotor_inertia": 1.0, column: value}], physical=physical)


def test_moments_that_are_infinite_are_said_to_be():
    with pytest.raises(InertiaError, match=r"link 'link1'.* not a finite .*1e\+200.*units") as told:
        armdyn.from_dh([ROW | {"com": (1e200, 0, 0)}])
    assert told.value.link == "link1"
    with pytest.raises(ModelError, match=r"gear_ratio² · rotor_inertia is infinite.*1e\+200"):
        armdyn.from_dh([ROW | {"rotor_inertia": 1.0, "gear_ratio": 1e200}])


def test_payloads_and_places_stay_finite():
    robot = armdyn.load("two_link")
    with pytest.raises(InertiaError, match="link 'payload'"):
        robot.with_payload(1.0, (1e200, 0, 0))
    with pytest.warns(ArmdynWarning, match=r"payload: .*150.* m from the tool; is it in metres"):
        robot.with_payload(1.0, (0, 0, 150))
    far = np.eye(4)
    far[0, 3] = 1.7e308
    with pytest.raises(ArmdynError):
        robot.with_tool(far).with_payload(1.0)


@pytest.mark.parametrize("name", ["a.urdf", "a.toml"])
def test_names_that_read_as_macros_come_back(tmp_path, name):
    robot = armdyn.from_dh([ROW | {"name": "${x}"}], name="$(y)")
    robot.save(tmp_path / name)
    assert armdyn.load(tmp_path / name).joint_names == ("${x}",)
