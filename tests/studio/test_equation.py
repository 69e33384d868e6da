"""The equation of a joint with numbers, and the arrows of velocities, without a browser."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

pytest.importorskip("viser")

import armdyn
from armdyn.closed_forms.pages import evaluated
from armdyn.quantities.formulations import FORMULATIONS
from armdyn.studio.arm import Evaluator, State
from armdyn.studio.panels.equation import (
    LAWS,
    Written,
    equation_html,
    formulations_html,
    numbers_html,
    symbols_html,
)
from armdyn.studio.scene import effects
from armdyn.study.structure.structure import structure


@pytest.fixture(scope="module")
def saha():
    return armdyn.load("saha_3r")


@pytest.fixture(scope="module")
def written(saha):
    return Written(armdyn.equations(saha), structure(saha))


def formulas(html):
    found = re.findall(r"<math.*?</math>", html, re.DOTALL)
    return [ET.fromstring(text) for text in found]


def test_closed_forms_with_numbers_are_the_terms_of_the_torque(saha, written):
    rng = np.random.default_rng(4)
    q, qd = rng.uniform(-2, 2, (2, 3))
    at = {f"q{k + 1}": q[k] for k in range(3)} | {f"qd{k + 1}": qd[k] for k in range(3)}
    values = {**written.closed.values, **at}
    wanted = {
        "M": saha.mass_matrix(q), "V": saha.coriolis_vector(q, qd), "G": saha.gravity_vector(q),
    }  # fmt: skip
    for block in written.closed.blocks:
        for line in block.lines:
            found = evaluated(written.closed, line.value, values)
            assert found == pytest.approx(wanted[block.symbol][line.place], abs=1e-9)
    html = numbers_html(written.closed, 1, at, 0.0)
    shown = dict(re.findall(r"data-line='(\w+)' data-value='([^']+)'", html))
    assert float(shown["G2"]) == pytest.approx(wanted["G"][1])
    assert set(shown) == {"M22", "M23", "V2", "G2"}
    assert formulas(html)


def test_each_formula_is_well_formed_and_what_is_zero_is_explained(written):
    for joint in range(3):
        html = symbols_html(written, joint)
        assert formulas(html)
    html = symbols_html(written, 0)
    zeros = re.findall(r"<details class='armdyn-why'>.*?</details>", html, re.DOTALL)
    assert len([z for z in zeros if "<mi>M</mi>" in z]) == 2  # M12, M13
    reasons = [element.reason for element in written.structure.D[0] if element.status == "zero"]
    assert all(any(reason in zero for zero in zeros) for reason in reasons)


def test_the_equation_adds_up_to_the_torque_in_numbers_and_colours(saha):
    rng = np.random.default_rng(1)
    shot = Evaluator(saha)(State(*rng.uniform(-1, 1, (3, 3)), payload=0.5))
    html = equation_html(1, shot, "N·m")
    assert formulas(html)
    assert float(re.search(r"armdyn-sum' data-value='([^']+)'", html)[1]) == shot.ledger.total[1]
    terms = re.findall(r"data-term='(\w+)'>(\S+)", html)
    values = [float(value.replace("\N{MINUS SIGN}", "-")) for _, value in terms]
    assert sum(values) == pytest.approx(shot.ledger.total[1], rel=2e-3, abs=2e-3)


def test_every_formulation_gives_the_same_torque_beside_its_law(saha):
    q, qd, qdd = np.random.default_rng(2).uniform(-1, 1, (3, 3))
    html = formulations_html(saha, 2, q, qd, qdd, lambda _: None)
    found = dict(re.findall(r"data-formulation='(\w+)' data-value='([^']+)'", html))
    wanted = saha.inverse_dynamics(q, qd, qdd, friction=False)[2]
    assert set(found) == set(FORMULATIONS) == set(LAWS)
    for value in found.values():
        assert float(value) == pytest.approx(wanted, rel=1e-9)
    assert formulas(html)


def test_arrows_of_velocities_have_the_torque_of_coriolis_and_centrifugal_forces():
    model = armdyn.load("two_link").model
    robot = armdyn.load("two_link")
    q, qd = np.array([0.4, -0.7]), np.array([1.1, 0.6])
    found = effects(model, q, qd)
    J = np.stack([effects(model, q, rate).velocities for rate in np.eye(2)], -1)
    np.testing.assert_allclose(found.velocities, J @ qd, atol=1e-7)
    # links in a plane: nothing but these forces is in the torque
    acting = -np.einsum("lxj,lx->j", J, found.centrifugal + found.coriolis)
    np.testing.assert_allclose(acting, robot.coriolis_vector(q, qd), atol=1e-5)
    alone = effects(model, q, qd * [1, 0])
    np.testing.assert_allclose(alone.coriolis, 0, atol=1e-6)
    assert np.linalg.norm(found.coriolis[1]) > 0.1
    assert not effects(model, q, 0 * qd).velocities.any()
