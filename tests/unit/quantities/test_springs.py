"""Springs between links as a part of a robot: torques, energy, parameters, files."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import ModelError, TomlError, UnknownNameError, WriteError
from armdyn.quantities.proof import proved_program
from armdyn.quantities.request import Request
from armdyn.study.structure.structure import structure

ARM = armdyn.load("saha_3r")
SPRINGS = [
    {"name": "balance", "link": "link2", "point": [0.1, 0.02, 0.03], "other": "base",
     "anchor": [0.1, 0.2, 0.3], "stiffness": 500.0, "free_length": 0.1},
    {"link": "link3", "point": [0.1, 0.0, 0.0], "other": "link1", "anchor": [0.0, 0.1, 0.3],
     "stiffness": 200.0},
]  # fmt: skip
SPRUNG = ARM.with_springs(SPRINGS)
STATE = np.random.default_rng(0).normal(size=(3, 20, 3))


def slope(function, q, h=1e-6):
    return np.stack([(function(q + h * e) - function(q - h * e)) / (2 * h) for e in np.eye(3)], -1)


@pytest.mark.slow
def test_torques_are_linear_in_stiffness_and_its_product_with_the_free_length():
    tau = SPRUNG.inverse_dynamics(*STATE)
    names = ("balance.stiffness", "balance.stiffness_length", "spring2.stiffness")
    assert SPRUNG.parameter_names[30:] == names
    assert [p.unit for p in SPRUNG.parameter_table[30:]] == ["N/m", "N", "N/m"]
    np.testing.assert_allclose(SPRUNG.regressor(*STATE) @ SPRUNG.parameters(), tau, atol=1e-11)
    base = SPRUNG.base_parameters()
    np.testing.assert_allclose(SPRUNG.base_regressor(*STATE) @ base.values, tau, atol=1e-11)
    heavier = SPRUNG.with_parameters(1.3 * SPRUNG.parameters())
    np.testing.assert_allclose(heavier.inverse_dynamics(*STATE), 1.3 * tau, atol=1e-11)


@pytest.mark.slow
def test_springs_add_the_slope_of_their_energy_to_every_torque():
    q, qd, qdd = STATE
    g = slope(SPRUNG.potential_energy, q)
    np.testing.assert_allclose(SPRUNG.gravity_vector(q), g, atol=1e-6)
    # ½ k (|p - a| - l)² of the first spring, by hand
    T = SPRUNG.forward_kinematics(q, link="link2")
    p = T[:, :3, :3] @ [0.1, 0.02, 0.03] + T[:, :3, 3]
    alone = ARM.with_springs(SPRINGS[:1]).potential_energy(q) - ARM.potential_energy(q)
    energy = 250.0 * (np.linalg.norm(p - [0.1, 0.2, 0.3], axis=-1) - 0.1) ** 2
    np.testing.assert_allclose(alone, energy, rtol=1e-10)
    tau = SPRUNG.inverse_dynamics(*STATE)
    added = SPRUNG.gravity_vector(q) - ARM.gravity_vector(q)
    np.testing.assert_allclose(tau - ARM.inverse_dynamics(*STATE), added, atol=1e-11)
    np.testing.assert_allclose(SPRUNG.ledger(*STATE).total, tau, atol=1e-11)
    np.testing.assert_allclose(SPRUNG.bias(q, qd) - ARM.bias(q, qd), added, atol=1e-11)
    for formulation in ("newton_euler", "lagrange_euler", "denoc"):
        again = SPRUNG.inverse_dynamics(*STATE, formulation=formulation)
        np.testing.assert_allclose(again, tau, atol=1e-10)
    for method in (None, "composite_body", "articulated_body", "denoc"):
        options = {} if method is None else {"method": method}
        np.testing.assert_allclose(SPRUNG.forward_dynamics(q, qd, tau, **options), qdd, atol=1e-8)
    slopes = SPRUNG.inverse_dynamics_derivatives(*STATE)
    numeric = slope(lambda x: SPRUNG.inverse_dynamics(x, qd, qdd), q)
    np.testing.assert_allclose(slopes.dq, numeric, atol=1e-5)


@pytest.mark.slow
def test_reactions_have_the_pull_of_springs_and_the_ground_has_not():
    given = SPRUNG.reactions(*STATE, base_wrench=True)
    plain = ARM.reactions(*STATE, base_wrench=True)
    np.testing.assert_allclose(given[:, 0], plain[:, 0], atol=1e-10)
    own = SPRUNG.reactions(*STATE, frame="joint")
    axes = [joint.axis for joint in SPRUNG.model.joints]
    along = np.einsum("nij,ij->ni", own[..., 3:], axes)
    np.testing.assert_allclose(along, SPRUNG.inverse_dynamics(*STATE), atol=1e-10)


def test_springs_of_a_balance_hold_the_arm():
    found = armdyn.spring_balance(ARM)
    held = ARM.with_springs(found.springs)
    assert np.abs(held.gravity_vector(STATE[0])).max() < 1e-10


def test_a_locked_joint_carries_the_end_of_a_spring():
    q = STATE[0].copy()
    q[:, 1] = 0.3
    held = SPRUNG.with_locked({"joint2": 0.3})
    wanted = SPRUNG.gravity_vector(q)[:, [0, 2]]
    np.testing.assert_allclose(held.gravity_vector(q[:, [0, 2]]), wanted, atol=1e-11)
    assert not SPRUNG.with_locked({"joint1": 0.0, "joint2": 0.0}).with_springs([]).model.springs


def test_toml_keeps_springs_and_urdf_refuses_them(tmp_path):
    SPRUNG.save(tmp_path / "arm.toml")
    again = armdyn.load(tmp_path / "arm.toml")
    wanted = SPRUNG.inverse_dynamics(*STATE)
    np.testing.assert_allclose(again.inverse_dynamics(*STATE), wanted, atol=1e-12)
    assert again.parameter_names == SPRUNG.parameter_names
    with pytest.raises(WriteError, match=r"'balance' cannot be written: URDF has no springs"):
        SPRUNG.save(tmp_path / "arm.urdf")
    text = (tmp_path / "arm.toml").read_text().replace("stiffness ", "stifness ", 1)
    (tmp_path / "bad.toml").write_text(text)
    with pytest.raises(TomlError, match="Did you mean 'stiffness'"):
        armdyn.load(tmp_path / "bad.toml")


def test_a_program_with_springs_is_proved():
    for quantity in ("inverse_dynamics", "forward_dynamics"):
        program, proof = proved_program(SPRUNG.model, Request(quantity))
        assert proof == "field"
        assert program.inputs[0].name == "q"


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"link": "elbow"}, UnknownNameError, "link of 'saha_3r' named 'elbow'"),
        ({"stiffness": -1.0}, ModelError, "stiffness must be finite and not negative, got -1.0"),
        ({"free_length": np.inf}, ModelError, "free_length"),
        ({"other": "link2"}, ModelError, "both ends are on one link"),
        ({"name": "joint1"}, ModelError, "a joint, drive, link or spring has this name"),
        ({"name": ""}, ModelError, "expected a name, got ''"),
        ({"length": 1.0}, UnknownNameError, "key"),
        ({"point": [1.0, 2.0]}, Exception, "point"),
    ],
)
def test_springs_that_cannot_be_are_refused(change, error, said):
    with pytest.raises(error, match=said):
        ARM.with_springs([SPRINGS[0] | change])


def test_what_knows_no_springs_says_so():
    with pytest.raises(ModelError, match=r"has springs.*with_springs\(\[\]\)"):
        structure(SPRUNG)
    with pytest.raises(ModelError, match="springs: expected a list of mappings"):
        ARM.with_springs({"link": "link1"})
    with pytest.raises(ModelError, match="'stiffness' is missing"):
        ARM.with_springs([{"link": "link1"}])
    with pytest.raises(ModelError, match="a spring without stiffness has no stiffness_length"):
        SPRUNG.with_parameters({"balance.stiffness": 0.0, "balance.stiffness_length": 3.0})


def test_springs_pull_on_a_base_that_floats_and_change_no_momentum():
    body, (q, qd) = armdyn.Inertia.box((0.5, 0.4, 0.3), mass=20.0), STATE[:2, 0]
    free, rigid = (robot.with_link("base", body).free_base for robot in (SPRUNG, ARM))
    base = free.standing
    pull = free.bias(base, q, qd) - rigid.bias(base, q, qd)
    np.testing.assert_allclose(pull[:6], 0.0, atol=1e-12)
    np.testing.assert_allclose(pull[6:], SPRUNG.bias(q, qd) - ARM.bias(q, qd), atol=1e-10)
    energy = free.potential_energy(base, q) - rigid.potential_energy(base, q)
    expected = SPRUNG.potential_energy(q) - ARM.potential_energy(q)
    np.testing.assert_allclose(energy, expected, atol=1e-12)
    a, qdd = free.forward_dynamics(base, q, qd, np.zeros(3))
    np.testing.assert_allclose(free.inverse_dynamics(base, q, qd, qdd)[0], a, atol=1e-9)
