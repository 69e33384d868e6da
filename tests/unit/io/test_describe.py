import json

import numpy as np
import pytest

import armdyn
from armdyn.io.catalog import catalog_names
from armdyn.io.describe import catalog, describe


@pytest.mark.parametrize("name", catalog_names())
def test_the_description_is_plain_data_that_adds_up(name):
    robot = armdyn.load(name)
    data = json.loads(json.dumps(describe(robot.model), allow_nan=False))
    masses = [body["mass"] for link in data["links"] for body in link["bodies"]]
    assert data["moving_mass"] == pytest.approx(sum(masses))
    assert len(data["joints"]) == len(data["links"]) == len(data["kinds"])
    assert data["coordinates"] == robot.n
    assert [j["name"] for j in data["joints"]] == [j.name for j in robot.model.joints]


def test_a_tensor_is_shown_about_the_point_it_was_given_about():
    tensor, com = np.diag([0.3, 0.4, 0.5]), (0.1, 0.2, 0.0)
    for about in ("com", "origin"):
        row = dict(joint="revolute", mass=1.0, com=com, inertia=tensor, inertia_about=about)
        (link,) = describe(armdyn.from_dh([row]).model)["links"]
        (body,) = link["bodies"]
        assert body["inertia_about"] == about
        np.testing.assert_allclose(body["inertia"], tensor, atol=1e-15)
        assert body["com"] == pytest.approx(com)


def test_what_is_unlimited_is_none():
    (joint,) = describe(armdyn.from_dh([dict(joint="revolute", mass=1.0)]).model)["joints"]
    names = ("lower", "upper", "velocity", "effort", "continuous_effort")
    assert joint["limits"] == dict.fromkeys(names)


def test_the_catalog_is_listed_with_joints_and_sources():
    entries = {entry["name"]: entry for entry in catalog()}
    assert tuple(entries) == catalog_names()
    assert entries["stanford"]["kinds"] == "RRPRRR"
    assert all(entry["source"] for entry in entries.values())
