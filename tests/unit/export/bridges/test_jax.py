"""Functions of JAX: the bits of NumPy, derivatives by the kernels, programs for other devices."""

import sys
import tomllib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import armdyn
from armdyn.errors import BridgeError, MissingExtraError, ShapeError, UnknownNameError
from armdyn.export.jax.function import MOST_UNROLLED, program_function, tape
from armdyn.export.jax.handler import HEADER
from armdyn.export.library import LEAST, check_library
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request
from support.paths import ROOT
from support.random_robots import random_model

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def x64():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.fixture(scope="module")
def robot():
    """Three joints with friction of every term and rotors."""
    return armdyn.Robot(random_model("RPR", 5, rotors=True, friction=True))


@pytest.fixture(scope="module")
def torque(robot):
    return robot.jax("inverse_dynamics")


@pytest.fixture(scope="module")
def states():
    return np.random.default_rng(1).uniform(0.2, 1, (3, 6, 3))


def test_one_state_a_batch_and_a_mapped_batch_have_the_bits_of_numpy(robot, torque, states):
    expected = robot.inverse_dynamics(*states)
    given = [jnp.asarray(x) for x in states]
    jitted = jax.jit(torque)
    assert np.array_equal(torque(*given), expected)
    assert np.array_equal(jitted(*given), expected)
    assert np.array_equal(jitted(*(x[2] for x in given)), expected[2])
    assert np.array_equal(jax.vmap(torque)(*given), expected)
    # broadcasting, axes of a map, and a map in a map
    mixed = jax.vmap(torque, in_axes=(0, None, 1), out_axes=1)
    by_numpy = robot.inverse_dynamics(states[0], states[1, 0], states[2])
    assert np.array_equal(mixed(given[0], given[1][0], given[2].T).T, by_numpy)
    assert np.array_equal(torque(given[0], given[1][0], given[2]), by_numpy)
    folded = [x.reshape(2, 3, 3) for x in given]
    assert np.array_equal(jax.vmap(jax.vmap(torque))(*folded), expected.reshape(2, 3, 3))
    assert torque(*(x[:0] for x in given)).shape == (0, 3)


def test_both_modes_of_differentiation_give_the_derivatives(robot, torque, states):
    q, qd, qdd = (jnp.asarray(x[0]) for x in states)
    known = robot.inverse_dynamics_derivatives(q, qd, qdd)
    expected = known.dq, known.dqd, robot.mass_matrix(q)
    for jacobian in (jax.jacrev, jax.jacfwd):
        found = jax.jit(jacobian(torque, (0, 1, 2)))(q, qd, qdd)
        for mine, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_parts_of_a_gradient_have_the_bits_of_numpy_over_many_blocks(robot, dtype):
    """The result of the kernel is cut into one array an argument, block by block."""
    rng, sizes = np.random.default_rng(5), (3, 3, 3, 10, 3)
    function = robot.jax("inverse_dynamics", payload=True, dtype=dtype)
    kernel = robot.kernel("inverse_dynamics", payload=True, derivative="vjp", dtype=dtype)
    pull = jax.jit(lambda w, *x: jax.vjp(function, *x)[1](w))
    for states in (0, 1, 127, 128, 129, 1000):
        *given, weights = (rng.uniform(0.2, 1, (states, n)).astype(dtype) for n in sizes)
        found = pull(weights, *given)
        assert [x.shape for x in found] == [x.shape for x in given]
        assert np.array_equal(np.concatenate(found, -1), kernel(*given, weights))


def test_the_gradient_of_a_mapped_loss_is_its_slope(torque, states):
    given = [jnp.asarray(x) for x in states]

    def loss(q):
        return (jax.vmap(torque)(q, *given[1:]) ** 2).sum()

    slope, step = jax.jit(jax.grad(loss))(given[0]), 1e-6
    along = np.random.default_rng(2).uniform(-1, 1, given[0].shape)
    numeric = (loss(given[0] + step * along) - loss(given[0] - step * along)) / (2 * step)
    np.testing.assert_allclose((slope * along).sum(), numeric, rtol=1e-6)


def test_second_derivatives_come_from_the_programs(robot, states):
    weight, q = robot.jax("gravity_vector"), jnp.asarray(states[0, 0])
    curvature = jax.jit(jax.jacfwd(jax.jacrev(weight)))(q)  # (τ, q, q)
    step = 1e-3
    g = lambda *away: robot.gravity_vector(q + step * np.array([*away, 0]))  # noqa: E731
    mixed = (g(1, 1) - g(1, -1) - g(-1, 1) + g(-1, -1)) / (4 * step**2)
    twice = (g(1, 0) - 2 * g(0, 0) + g(-1, 0)) / step**2
    np.testing.assert_allclose(curvature[:, 0, 1], mixed, atol=1e-4)
    np.testing.assert_allclose(curvature[:, 0, 0], twice, atol=1e-4)
    np.testing.assert_allclose(curvature, np.swapaxes(curvature, -1, -2), atol=1e-12)
    assert np.abs(curvature).max() > 0.1


def test_a_rollout_in_a_scan_can_be_differentiated(robot):
    acceleration = robot.jax("forward_dynamics", friction=False)

    def step(state, tau):
        q, qd = state
        qd = qd + 0.01 * acceleration(q, qd, tau)
        return (q + 0.01 * qd, qd), q

    def end(taus):
        return jax.lax.scan(step, (jnp.ones(3), jnp.zeros(3)), taus)[0][0]

    taus = jnp.asarray(np.random.default_rng(3).uniform(-1, 1, (20, 3)))
    both = [jax.jit(jacobian(end))(taus) for jacobian in (jax.jacrev, jax.jacfwd)]
    np.testing.assert_allclose(*both, rtol=1e-9, atol=1e-15)
    assert np.abs(both[0]).max() > 1e-6


def test_matrices_and_arguments_at_run_time(robot, states):
    q = jnp.asarray(states[0])
    assert np.array_equal(jax.jit(robot.jax("mass_matrix"))(q), robot.mass_matrix(q))
    loaded = robot.jax("inverse_dynamics", payload=True)
    held = robot.payload_vector(2.0, (0.1, 0.0, 0.2))
    expected = robot.kernel("inverse_dynamics", payload=True)(*states, held)
    assert np.array_equal(loaded(*states, held), expected)
    # torques are linear in the payload, so their derivative times the payload is what it adds
    along = jax.jvp(lambda p: loaded(*states, p), (jnp.zeros(10),), (jnp.asarray(held),))[1]
    np.testing.assert_allclose(along, expected - robot.inverse_dynamics(*states), atol=1e-11)


def test_single_precision_has_the_bits_of_its_kernel_without_x64(robot, states):
    jax.config.update("jax_enable_x64", False)
    try:
        single = robot.jax("inverse_dynamics", dtype="float32")
        given = states.astype(np.float32)
        expected = robot.kernel("inverse_dynamics", dtype="float32")(*given)
        assert np.array_equal(jax.jit(single)(*given), expected)
        with pytest.raises(BridgeError, match=r'jax_enable_x64", True.*dtype="float32"'):
            robot.jax("inverse_dynamics")
    finally:
        jax.config.update("jax_enable_x64", True)


@pytest.mark.parametrize("mode", [None, "vjp"])
def test_the_program_for_other_devices_is_the_kernel_but_for_rounding(mode):
    robot = armdyn.load("panda")
    program = quantity_program(robot.model, Request("forward_dynamics", derivative=mode))
    assert len(program.instructions) > MOST_UNROLLED  # so it is a loop over a tape
    given = np.random.default_rng(4).uniform(-1, 1, (len(program.inputs), 5, 7))
    found = jax.jit(program_function(program))(*given)
    np.testing.assert_allclose(found, program(*given), rtol=1e-9, atol=1e-9)


def test_a_tape_computes_each_value_once_and_after_its_operands():
    program = quantity_program(armdyn.load("puma560").model, Request("forward_dynamics"))
    steps, lanes = tape(program, 4), 4
    starts = steps.first + lanes * np.arange(len(steps.codes))
    assert (steps.operands < starts[:, None, None]).all()
    assert len(steps.codes) * lanes >= len(program.instructions) > 2 * len(steps.codes)


def test_a_short_program_runs_where_there_is_no_handler(robot, torque, states):
    written = robot.jax("inverse_dynamics", program=True)
    np.testing.assert_allclose(jax.jit(written)(*states), torque(*states), rtol=1e-12, atol=1e-12)
    grads = [jax.grad(lambda q, f=f: f(q, *states[1:]).sum())(states[0]) for f in (written, torque)]
    np.testing.assert_allclose(*grads, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (
            "#define XLA_FFI_API_MAJOR 7\n#define XLA_FFI_API_MINOR 1\n",
            r"version 7\.1; known: 0\.3",
        ),
        ("nothing of this kind\n", "none that can be read"),
    ],
)
def test_an_unknown_interface_is_refused_with_the_way_around_it(
    robot, monkeypatch, tmp_path, header, found
):
    path = tmp_path / HEADER
    path.parent.mkdir(parents=True)
    path.write_text(header)
    monkeypatch.setattr(jax.ffi, "include_dir", lambda: str(tmp_path))
    with pytest.raises(BridgeError, match=rf"{found}.*program=True"):
        robot.jax("mass_matrix")
    robot.jax("mass_matrix", program=True)(np.zeros(3))


def test_a_missing_package_and_wrong_arguments_are_named(robot, torque, monkeypatch):
    with pytest.raises(ShapeError, match=r"qd: expected shape \(\.\.\., 3\), got \(4,\)"):
        torque(np.zeros(3), np.zeros(4), np.zeros(3))
    with pytest.raises(ShapeError, match=r"takes 3 arrays \(q, qd, qdd\), got 1"):
        torque(np.zeros(3))
    with pytest.raises(ShapeError, match="do not broadcast: q"):
        torque(np.zeros((3, 3)), np.zeros((4, 3)), np.zeros(3))
    with pytest.raises(ShapeError, match="expected real numbers, got complex"):
        torque(1j * np.zeros(3), np.zeros(3), np.zeros(3))
    with pytest.raises(UnknownNameError, match="quantity 'torque'"):
        robot.jax("torque")
    monkeypatch.setitem(sys.modules, "jax", None)
    monkeypatch.setattr("armdyn.export.library.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install jax .*extra 'jax'"):
        robot.jax("mass_matrix")


@pytest.mark.parametrize("name", LEAST)
def test_a_library_that_is_too_old_is_named_with_the_version_to_install(name, monkeypatch):
    least = ".".join(map(str, LEAST[name]))
    monkeypatch.setattr("armdyn.export.library.find_spec", lambda name: True)
    for found, good in ((f"{least}.0", True), ("99.1.0+cu1", True), ("0.9.2", False)):
        monkeypatch.setattr("armdyn.export.library.version", lambda name, found=found: found)
        if good:
            check_library(name, "a bridge")
            continue
        with pytest.raises(BridgeError, match=rf"{name} {least} or later, found 0\.9\.2.*pip"):
            check_library(name, "a bridge")


def test_the_extras_ask_for_the_versions_that_are_checked():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for name, least in LEAST.items():
        (listed,) = extras["optional-dependencies"][name]
        assert listed.partition(",")[0] == f"{name}>={'.'.join(map(str, least))}"
