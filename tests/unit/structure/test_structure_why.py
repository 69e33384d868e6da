"""The reasons for zeros and constants, and the report, data and picture that tell them."""

import json
from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.errors import WriteError
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.newton_euler import newton_euler
from armdyn.graph.field import FiniteField
from armdyn.model import Body
from armdyn.study.structure.probe import Point, trunks, values_at
from armdyn.study.structure.structure import spans, structure
from support.random_robots import random_inertia, random_model

pytestmark = pytest.mark.slow

HALF = np.pi / 2
ENTRIES = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}


def upright_arm(changed="", value=0.02):
    """A vertical axis and two horizontal ones, centres of mass along x, with one number changed."""
    rows = []
    for i, (alpha, a) in enumerate(((0.0, 0.0), (HALF, 0.2), (0.0, 0.5)), start=1):
        com, inertia = np.array([0.1 * i, 0.0, 0.0]), np.diag([0.1, 0.2, 0.25])
        if changed and changed[-1] == str(i):
            name = changed[:-1]
            if name in "xyz":
                com["xyz".index(name)] += value
            else:
                b, c = ENTRIES[name[1:]]
                inertia[b, c] = inertia[c, b] = value
        rows.append(dict(joint="revolute", a=a, alpha=alpha, mass=2.0, com=com, inertia=inertia))
    return armdyn.from_dh(rows, "modified")


NAMES = [f"{name}{i}" for i in (1, 2, 3) for name in ("y", "z", "Ixy", "Ixz", "Iyz")]
Q = np.random.default_rng(0).uniform(-2, 2, (20, 3))


@pytest.mark.parametrize("name", NAMES)
def test_the_parameters_named_are_those_that_undo_a_zero(name):
    found, changed = structure(upright_arm()), upright_arm(name).model
    M = mass_matrix(changed, Q)
    for j in (1, 2):
        element = found.D[0][j]
        assert element.status == "zero"
        assert (name in element.parameters) == (np.abs(M[:, 0, j]).max() > 1e-9)
    load = np.abs(newton_euler(changed, Q, 0 * Q, 0 * Q).tau[:, 0]).max()
    assert "vertical" in found.g[0].reason
    assert load < 1e-12


def test_a_coupling_that_needs_a_product_of_inertia_says_so():
    element = structure(upright_arm()).D[0][2]
    assert "Ixz3" in element.reason
    assert "perpendicular" in element.reason
    assert structure(upright_arm("Ixz3")).D[0][2].joints == (2, 3)


def test_what_would_make_a_constant_vary():
    rows = [
        dict(joint="revolute", a=0.0, mass=2.0, com=[0.1, 0, 0], inertia=[0.1, 0.1, 0.1]),
        dict(joint="revolute", a=0.3, mass=1.0, inertia=[0.1, 0.1, 0.1]),
    ]
    balanced = structure(armdyn.from_dh(rows, "modified")).D[0][0]
    assert balanced.status == "constant"
    assert balanced.parameters == ("x2", "y2")
    rows[1]["com"] = [0.0, 0.2, 0.0]
    assert structure(armdyn.from_dh(rows, "modified")).D[0][0].joints == (2,)


def gantry(*axes):
    """Prismatic joints at right angles, or parallel."""
    rows = [dict(joint="prismatic", alpha=alpha, mass=1.0) for alpha in axes]
    return structure(armdyn.from_dh(rows, "modified"))


def test_geometry_alone():
    assert "perpendicular, whatever the inertias" in gantry(0.0, HALF).D[0][1].reason
    assert "always parallel, whatever the inertias" in gantry(0.0, 0.0).D[0][1].reason
    assert "same angle, whatever the inertias" in gantry(0.0, 0.7).D[0][1].reason
    scara = structure(armdyn.load("scara"))
    assert "slides parallel to the axis the other turns about" in scara.D[0][2].reason
    assert "slides straight up or down" in scara.g[2].reason


@pytest.mark.arms(where=lambda arm: not arm.spins)
def test_what_holds_whatever_the_inertias_holds_for_other_inertias(arm):
    rng = np.random.default_rng(arm.seed)
    links = [
        replace(link, bodies=(Body(link.name, random_inertia(rng)),)) for link in arm.model.links
    ]
    before, after = structure(arm.model), structure(replace(arm.model, links=tuple(links)))
    for rows, others in ((before.D, after.D), *zip(before.h, after.h, strict=True)):
        for row, other in zip(rows, others, strict=True):
            for a, b in zip(row, other, strict=True):
                if "whatever the inertias" in a.reason:
                    assert a.status == b.status


def test_no_gravity_and_no_inertia():
    weightless = armdyn.load("two_link").with_gravity((0, 0, 0))
    assert {e.reason for e in structure(weightless).g} == {"there is no gravity"}
    bare = structure(
        armdyn.from_dh([dict(joint="revolute", a=0.3, rotor_inertia=0.1), dict(joint="revolute")])
    )
    assert "rotor alone" in bare.D[0][0].reason
    assert "no inertia" in bare.D[0][1].reason


def test_reasons_of_velocity_terms():
    found = structure(armdyn.load("saha_3r"))
    n = range(3)
    assert all("h_iii" in found.h[i][i][i].reason for i in n)
    assert all(found.h[i][k][m] is found.h[i][m][k] for i in n for k in n for m in n)
    assert "D_ii does not depend on q_k" in found.h[2][0][2].reason
    assert "D_ik does not depend on q_m" in found.h[1][0][2].reason
    puma = structure(armdyn.load("puma560"))
    assert "cancel, whatever the inertias" in puma.h[1][0][2].reason  # axes 2 and 3 are parallel


def test_everything_that_does_not_vary_has_a_reason_and_nothing_else():
    for name in ("puma560", "stanford", "scara"):
        found = structure(armdyn.load(name))
        for row in (*found.D, found.g, *(row for grid in found.h for row in grid)):
            for e in row:
                assert bool(e.reason) == (e.status != "varies" or e.rounding)
                assert bool(e.joints) == (e.status == "varies")


@pytest.mark.arms(where=lambda arm: len(arm.kinds) < 6 and not arm.spins)
def test_residues_at_many_points_are_those_at_each(arm):
    for trunk in trunks(arm.model):
        outputs = [*trunk.D.flat, *trunk.slopes.flat, *trunk.g]
        residues = values_at([Point(3), Point(4)], outputs)
        for k, seed in enumerate((3, 4)):
            assert residues[:, k].tolist() == FiniteField(seed).values(outputs)


def test_text_tells_equal_reasons_once():
    report = structure(armdyn.load("saha_3r")).report()
    assert ": structure of D, h and g in\n" in report
    assert "h111 = h222 = h333 = 0:" in report
    assert report.count("no joint changes the inertia about itself") == 1
    assert "D: 6 elements, 2 zero, 1 constant, 3 vary" in report
    assert max(map(len, report.splitlines())) <= 100


def test_data_is_plain_and_has_every_element_once():
    found = structure(armdyn.load("puma560"))
    plain = json.loads(json.dumps(found.data()))
    assert [len(plain[name]) for name in "Dhg"] == [21, 126, 6]
    assert {name: sum(count.values()) for name, count in plain["counts"].items()} == {
        "D": 21, "h": 126, "g": 6,
    }  # fmt: skip
    (element,) = (e for e in plain["D"] if e["place"] == [5, 6])
    assert element["status"] == found.D[4][5].status == "zero"


def test_joints_in_a_row_are_a_span():
    assert spans((2, 3, 5, 6, 7, 9)) == "2,3,5-7,9"


@pytest.mark.parametrize("kinds", ["R", "PR", "RRPR", "RRRRRRRR"])
def test_a_picture_has_a_map_of_d_and_g_and_one_of_h_a_joint(tmp_path, kinds):
    from matplotlib import rc_context

    found = structure(random_model(kinds, 1))
    with rc_context({"svg.fonttype": "none"}):
        found.plot(tmp_path / "structure.svg")
    picture = (tmp_path / "structure.svg").read_text()
    assert picture.count("<image") == len(kinds) + 2
    assert ("const<" in picture) == (len(kinds) < 8)
    with pytest.raises(WriteError, match="ending must be one of"):
        found.plot(tmp_path / "structure.txt")
