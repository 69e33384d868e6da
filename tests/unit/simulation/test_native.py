"""Compiled rollouts by Runge-Kutta: the method of the books, the same bits, what may be given."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import armdyn
from armdyn.errors import ModelError, SimulationError, UnknownNameError
from armdyn.kernels import build, stepper
from armdyn.kernels.threads import set_threads
from armdyn.simulation.controllers import ComputedTorque, GravityPD
from armdyn.simulation.fixed import rollout
from support.compiled_programs import targets
from support.peers import close
from support.rollout_arms import ARMS, Swing, no_torque, runge_kutta, states

pytestmark = pytest.mark.slow

H = 2e-3
ARM = ARMS["chain"]
SMALL = ARMS["viscous"]
METHODS = {"rk4": {"method": "rk4"}, "symplectic": {"method": "symplectic", "iterations": 3}}


@pytest.fixture(autouse=True)
def _threads():
    yield
    set_threads(None)


def follows_the_book(robot, **options):
    q, qd = states(robot, 5)
    table = np.random.default_rng(1).normal(size=(5, 41, robot.n))

    def torque(t, q, qd):
        place = t / H
        k = min(int(place), 39)
        return table[:, k] + (place - k) * (table[:, k + 1] - table[:, k])

    found = rollout(robot, q, qd, H, 40, torque=table, **options)
    expected = runge_kutta(robot, q, qd, H, 40, torque, **options)
    close(found.q, expected[0], 1e-13)
    close(found.qd, expected[1], 1e-12)
    assert np.allclose(found.t, H * np.arange(41), rtol=1e-15)
    assert found.diverged is None
    assert found.residual is None


@pytest.mark.arms(compiled=True)
def test_it_is_the_method_of_the_books(arm):
    follows_the_book(armdyn.Robot(arm.model), friction=False)


@pytest.mark.parametrize("name", ["viscous", "smooth"])
def test_friction_that_does_not_jump_is_in_it(name):
    follows_the_book(ARMS[name])


def test_friction_is_left_out_on_request():
    robot = ARMS["smooth"]
    q, qd = states(robot)
    expected = runge_kutta(robot, q, qd, H, 20, no_torque, friction=False)
    found = rollout(robot, q, qd, H, 20, friction=False)
    close(found.q, expected[0], 1e-13)
    assert np.abs(rollout(robot, q, qd, H, 20).q - found.q).max() > 1e-6


def exact(robot, q, qd, times):
    def slope(_, x):
        return np.concatenate(
            [x[robot.n :], robot.forward_dynamics(*np.split(x, 2), [0] * robot.n)]
        )

    start = np.concatenate([q, qd])
    run = solve_ivp(slope, (0, times[-1]), start, "DOP853", times, rtol=1e-13, atol=1e-14)
    return np.split(run.y.T, 2, -1)


def test_global_error_is_of_order_four():
    q, qd = states(ARM, seed=2)
    true = exact(ARM, q, qd, [0.4])[0][-1]
    error = [
        np.linalg.norm(rollout(ARM, q, qd, 0.4 / k, k, every=k).q[-1] - true) for k in (40, 80, 160)
    ]
    ratios = np.divide(error[:-1], error[1:])
    assert np.all((ratios > 14.5) & (ratios < 17.5))


def test_panda_agrees_with_an_adaptive_method():
    robot = armdyn.load("panda")
    q, qd = states(robot, seed=3)
    found = rollout(robot, q, qd, 5e-4, 400, every=40)
    expected = exact(robot, q, qd, found.t)
    assert np.abs(found.q - expected[0]).max() < 1e-9
    assert np.abs(found.qd - expected[1]).max() < 1e-9


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("arms", [1, 3, 8, 9, 150])
def test_an_arm_has_the_same_bits_alone_and_among_others(method, arms):
    q, qd = states(SMALL, arms)
    together = rollout(SMALL, q, qd, H, 30, torque=0.1 * q[:, None], **method)
    for k in {0, arms // 2, arms - 1}:
        alone = rollout(SMALL, q[k], qd[k], H, 30, torque=0.1 * q[k, None], **method)
        assert alone.q.shape == (31, SMALL.n)
        assert np.array_equal(alone.q, together.q[k])
        assert np.array_equal(alone.qd, together.qd[k])


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_threads_and_pauses_change_no_bit(method, monkeypatch):
    q, qd = states(SMALL, 3, 67)
    set_threads(1)
    expected = rollout(SMALL, q, qd, H, 30, every=4, **method)
    assert expected.q.shape == (3, 67, 8, SMALL.n)
    set_threads(3)
    for name, value in {"FIRST_STEPS": 1, "LEAST_STEPS": 1, "RETURN_PERIOD": 0.0}.items():
        monkeypatch.setattr(f"armdyn.simulation.fixed.{name}", value)
    taken = []
    found = rollout(SMALL, q, qd, H, 30, every=4, progress=taken.append, **method)
    assert taken == list(range(1, 31))
    assert np.array_equal(found.q, expected.q)
    assert np.array_equal(found.qd, expected.qd)


def test_records_are_every_so_many_steps_of_all():
    q, qd = states(ARM, 4)
    every = rollout(ARM, q, qd, H, 20)
    some = rollout(ARM, q, qd, H, 20, every=7)
    assert np.array_equal(some.q, every.q[:, ::7])
    assert np.array_equal(some.t, every.t[::7])
    assert np.array_equal(every.q[:, 0], q)
    assert rollout(ARM, q[:0], qd[:0], H, 20).q.shape == (0, 21, ARM.n)


def test_torques_of_each_arm_or_of_all_held_or_a_row_for_each_step():
    q, qd = states(ARM, 4)
    tau = np.array([1.0, -2.0, 0.5])
    held = rollout(ARM, q, qd, H, 10, torque=tau[None])
    for lead in ((11,), (1, 11), (4, 1), (4, 11)):
        same = np.tile(tau, (*lead, 1))
        assert np.array_equal(rollout(ARM, q, qd, H, 10, torque=same).q, held.q)
    table = np.random.default_rng(2).normal(size=(4, 3))
    ramps = rollout(ARM, q, qd, H, 3, torque=table)
    assert np.array_equal(rollout(ARM, q[1], qd[1], H, 3, torque=table).q, ramps.q[1])
    assert np.abs(rollout(ARM, q, qd, H, 10).q - held.q).max() > 1e-5
    each = np.arange(12.0).reshape(4, 1, 3)
    assert np.array_equal(
        rollout(ARM, q, qd, H, 3, torque=each).q[2],
        rollout(ARM, q[2], qd[2], H, 3, torque=each[2]).q,
    )


@pytest.mark.parametrize("law", [GravityPD, ComputedTorque])
@pytest.mark.parametrize("friction", [True, False])
def test_controllers_are_those_in_python(law, friction):
    robot = ARMS["smooth"]
    controller = law(robot, Swing(robot.n), [40.0, 60.0, 8.0], [9.0, 8.0, 0.5], friction=friction)
    q, qd = states(robot, 3)
    found = rollout(robot, q, qd, H, 50, controller=controller)
    expected = runge_kutta(robot, q, qd, H, 50, controller)
    close(found.q, expected[0], 1e-12)
    close(found.qd, expected[1], 1e-12)
    other = rollout(robot, q, qd, H, 50, controller=controller, **METHODS["symplectic"])
    close(other.q, expected[0], 1e-4)


def test_a_position_can_be_held():
    controller = GravityPD(ARM, [0.3, -0.2, 0.5], 400.0, 60.0)
    found = rollout(ARM, np.zeros(3), np.zeros(3), H, 20, controller=controller)
    close(found.q, runge_kutta(ARM, *np.zeros((2, 3)), H, 20, controller)[0], 1e-12)


def test_a_rollout_stops_before_the_first_arm_that_diverges():
    q, qd = states(ARM, 2, 50)
    torque = np.zeros((2, 50, 3))
    torque[1, 7], torque[0, 30] = 3000.0, 2500.0
    whole = rollout(ARM, q, qd, H, 60, torque=torque[..., None, :])
    size = np.sqrt((whole.q**2).sum(-1) + (whole.qd**2).sum(-1))
    limit = 0.5 * size[1, 7].max()
    first = np.flatnonzero((size > limit).any((0, 1)))[0]
    arm = tuple(np.argwhere(size[..., first] > limit)[0].tolist())
    for count in (1, 3):
        set_threads(count)
        found = rollout(ARM, q, qd, H, 60, torque=torque[..., None, :], limit=limit)
        assert found.diverged == (arm, first)
        assert np.array_equal(found.q, whole.q[..., :first, :])
    wild = rollout(ARM, q[0, 0], qd[0, 0], 1.0, 2000, torque=np.array([[1e12, 0, 0]]))
    assert wild.diverged is not None
    assert wild.diverged.arm == ()
    assert np.isfinite(wild.q).all()


def test_an_interruption_keeps_what_was_computed(monkeypatch):
    monkeypatch.setattr("armdyn.simulation.fixed.FIRST_STEPS", 80)
    q, qd = states(ARM, 4)

    def stop(done):
        raise KeyboardInterrupt

    found = rollout(ARM, q, qd, H, 50, progress=stop)
    assert found.interrupted
    assert np.array_equal(found.q, rollout(ARM, q, qd, H, 20).q)


def test_code_is_kept_on_disk(monkeypatch):
    q, qd = states(ARM)
    expected = rollout(ARM, q, qd, H, 5).q
    stepper._stepper.cache_clear()
    monkeypatch.setattr(build, "_alive", {})
    monkeypatch.setattr(build, "_compiled", None)
    assert np.array_equal(rollout(ARM, q, qd, H, 5).q, expected)


def test_what_cannot_be_rolled_out():
    start = np.zeros((2, 3))
    dry = armdyn.load("puma560")
    with pytest.raises(SimulationError, match="dry friction that jumps.*smooth_velocity"):
        rollout(dry, *np.zeros((2, 6)), H, 10)
    with pytest.raises(SimulationError, match="records of 1 arms take .* GB.*larger `every`"):
        rollout(ARM, *start, H, 10**15)
    with pytest.raises(UnknownNameError, match="no compiled method 'rk5'.*rk4"):
        rollout(ARM, *start, H, 10, method="rk5")
    with pytest.raises(ModelError, match="iterations must be from 1"):
        rollout(ARM, *start, H, 10, method="symplectic", iterations=0)


@pytest.mark.parametrize("name", [name for name, target in targets().items() if target.fma])
def test_the_width_of_vectors_changes_no_bit(name, monkeypatch):
    q, qd = states(SMALL, 21)
    expected = rollout(SMALL, q, qd, H, 30)
    monkeypatch.setattr(stepper.Target, "host", lambda: targets()[name])
    assert np.array_equal(rollout(SMALL, q, qd, H, 30).q, expected.q)
