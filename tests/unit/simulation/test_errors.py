"""What cannot be simulated, and what is kept of a run that ends early."""

import numpy as np
import pytest

from armdyn import from_dh
from armdyn.errors import ModelError, ShapeError, SimulationError, TrajectoryError, UnknownNameError
from armdyn.simulation.adaptive import MAX_VELOCITY, METHODS
from armdyn.simulation.forces import _said
from armdyn.simulation.simulator import simulate
from support.simulation_laws import ROD, gantry, pendulum, planar, slider

NEVER = [0.0, 0.0]


@pytest.fixture(scope="module")
def robot():
    return planar({"limits": [-1, 1]}, {"limits": [-2, 2]})


def after(time, act):
    """A torque function that is well until a time."""

    def torque(t, q, qd):
        return act() if t > time else np.zeros_like(q)

    return torque


def fail(error):
    raise error


def refuses(robot, message, error=SimulationError, q0=NEVER, qd0=None, duration=1.0, **options):
    with pytest.raises(error, match=message):
        simulate(robot, q0, qd0, duration, **options)


STATE = r"q = \[.+, .+\], qd = \[.+, .+\]"


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (
            lambda: 1 / 0,
            r"torque raised ZeroDivisionError at t = 0\.[3-9].*: division by zero; .*" + STATE,
        ),
        (lambda: [1, 2, 3], r"gave an array of shape \(3,\) at t = 0\.[3-9].*; expected 2 torques"),
        (
            lambda: [1, np.nan],
            r"gave \[ ?1\.?, nan\] at t = 0\.[3-9].* no finite torques; .*" + STATE,
        ),
        (lambda: "much", r"gave 'much' at t = 0\.[3-9].*; expected 2 torques"),
        (lambda: None, r"at t = 0\.[3-9].*; expected 2 torques"),
    ],
)
def test_a_torque_function_that_fails_tells_when_and_where(robot, act, message):
    refuses(robot, message, torque=after(0.3, act))


def test_a_state_of_more_than_twenty_joints_is_told_by_its_ends():
    for n in (1, 7, 20, 21, 40):
        told = _said(np.arange(n) / 8).strip("[]").split(",")
        if n <= 20:
            assert [float(x) for x in told] == (np.arange(n) / 8).tolist()
        else:
            assert [x.strip() == "..." for x in told].count(True) == 1
            assert (float(told[0]), float(told[-1])) == (0.0, (n - 1) / 8)


@pytest.mark.parametrize("torque", [[1, 2, 3], [1, np.inf], {"joint1": 2}])
def test_torques_that_do_not_fit(robot, torque):
    refuses(robot, "torque: expected 2 finite numbers, a function", torque=torque)


@pytest.mark.parametrize("duration", [0, -1.0, np.nan, np.inf, "2", None])
def test_a_duration_that_is_none(robot, duration):
    refuses(robot, "duration must be a positive number of seconds", duration=duration)


@pytest.mark.parametrize("duration", [1, np.int64(1), np.float32(1)])
def test_any_kind_of_number_is_a_duration(robot, duration):
    assert simulate(robot, NEVER, None, duration, dt=np.float32(0.5)).t[-1] == 1


@pytest.mark.parametrize("dt", [0, -0.1, np.nan, "fine"])
def test_a_time_between_records_that_is_none(robot, dt):
    refuses(robot, "dt must be a positive number of seconds", dt=dt)


@pytest.mark.parametrize("bounce", [-0.1, 1.1, np.nan, "high"])
def test_a_bounce_that_cannot_be(robot, bounce):
    refuses(robot, "bounce: expected a number from 0 to 1", bounce=bounce)


def test_an_unknown_method_comes_with_suggestions(robot):
    refuses(robot, "Did you mean 'DOP853'", UnknownNameError, method="DOP835")


def test_a_step_is_for_methods_with_a_fixed_one(robot):
    refuses(robot, "DOP853 chooses its own steps", step=1e-3)


def test_torque_and_controller_exclude_each_other(robot):
    refuses(
        robot, "a torque or a controller, not both", torque=[0, 0], controller=lambda t, q, v: q
    )


def test_many_arms_need_a_compiled_method(robot):
    refuses(robot, r"DOP853 simulates one arm, got states of shape \(5, 2\)", q0=np.zeros((5, 2)))


def test_states_that_do_not_fit(robot):
    refuses(robot, "q0", ShapeError, q0=[0, 0, 0])
    refuses(robot, "q0: expected finite numbers", q0=[0, np.nan])
    refuses(robot, "qd0: expected finite numbers", qd0=[0, np.inf])


def test_a_start_outside_the_stops(robot):
    refuses(robot, "'joint2' starts outside its limits, -2 to 2", q0=[0, 2.5], stops=True)
    assert simulate(robot, [0, 2.5], None, 0.1).status == "finished"


def test_stops_that_leave_no_room():
    refuses(slider(limits=[0.5, 0.5]), "both 0.5, .*with_locked", q0=[0.5], stops=True)


def test_something_that_is_no_robot():
    refuses("two_link", "expected a Robot, got 'two_link'; load it first", ModelError)


def test_a_table_that_is_shorter_than_the_simulation(robot, tmp_path):
    path = tmp_path / "short.csv"
    path.write_text("t,tau1,tau2\n0,1,2\n0.3,1,2\n")
    refuses(robot, r"short.csv: its torques are for 0 to 0.3 s, but .* 0 to 1 s", torque=path)
    refuses(robot, "its torques are for 0 to 0.3 s", torque=str(path))
    assert simulate(robot, NEVER, None, 0.1 + 0.2, torque=path).status == "finished"


def test_a_table_of_another_robot(robot, tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("t,tau1\n0,1\n2,1\n")
    refuses(robot, r"other.csv:1: the torques of joint2 are missing", TrajectoryError, torque=path)


@pytest.mark.parametrize(
    "wrench", [[1, 2], [np.nan] * 6, "pull", {"tool": [1, 2, 3]}, lambda t: np.zeros((2, 6))]
)
def test_a_wrench_that_is_none(robot, wrench):
    refuses(robot, "expected force and moment, 6 finite numbers", external_wrench=wrench)


@pytest.mark.slow
def test_a_wrench_function_that_raises(robot):
    def pull(t):
        return [1 / (0.5 - min(t, 0.5)), 0, 0, 0, 0, 0] if t > 0.5 else np.zeros(6)

    refuses(robot, r"wrench raised ZeroDivisionError at t = 0\.[5-9]", external_wrench=pull)


def test_a_wrench_on_a_link_that_is_none(robot):
    refuses(robot, "hand", UnknownNameError, external_wrench={"hand": np.zeros(6)})


@pytest.mark.parametrize(
    ("row", "options"),
    [
        ({}, {}),
        ({"coulomb": 1.0}, {"torque": [0, 2.0]}),
        ({"coulomb": 1.0}, {"torque": [5.0, 0.0]}),
        ({"limits": [0.0, 1.0]}, {"stops": True}),
    ],
)
def test_a_joint_that_moves_no_inertia(row, options):
    nothing = {"joint": "revolute", "mass": 0.0, "com": [0, 0, 0], "inertia": np.zeros(3)}
    robot = from_dh([ROD, nothing | row], physical="ignore")
    refuses(robot, r"at t = 0 s: .*singular.*rotor inertia", **options)


def test_a_motion_that_diverges_keeps_what_was_computed():
    """Negative damping, v = exp(10 t): beyond 1e6 after about 1.38 s."""
    s = simulate(slider(), [0], [1.0], 5.0, torque=lambda t, q, qd: 20 * qd)
    assert s.status == "diverged"
    assert "velocities grow without bound; the last state is q = [" in s.message
    assert "qd = [" in s.message
    said = float(s.message.split("t = ")[1].split(" s")[0])
    np.testing.assert_allclose(said, np.log(MAX_VELOCITY) / 10, atol=0.15)
    assert 1.2 < s.t[-1] <= said
    np.testing.assert_allclose(s.q[:, 0], (np.exp(10 * s.t) - 1) / 10, rtol=1e-6, atol=1e-6)
    assert len(s.t) == len(s.q) == len(s.tau) == len(s.work)


def test_a_motion_of_many_joints_that_diverges_tells_the_state_of_all():
    s = simulate(gantry({}, {}), [0.1, 0.2], [1.0, 0.5], 2.0, torque=lambda t, q, qd: 2 * qd**2)
    assert s.status == "diverged"
    said = s.message.partition("the last state is ")[2]
    state = [part.strip("[ ").split(", ") for part in said.replace("q = ", "").split("], qd = ")]
    assert [len(part) for part in state] == [2, 2]
    assert np.isfinite([float(x.strip("]")) for part in state for x in part]).all()


def test_a_motion_that_ends_in_finite_time_diverges():
    """v' = v² has a pole at t = 1, where steps become too small or velocities too large."""
    s = simulate(slider(), [0], [1.0], 2.0, torque=lambda t, q, qd: 2 * qd**2)
    assert s.status == "diverged"
    assert 0.99 < float(s.message.split("t = ")[1].split(" s")[0]) <= 1


def interrupt():
    raise KeyboardInterrupt


def test_an_interrupt_keeps_what_was_computed():
    robot = pendulum()
    s = simulate(robot, [1.0], None, 2.0, torque=after(0.7, interrupt))
    assert s.status == "interrupted"
    assert s.message.startswith("interrupted at t = 0.")
    assert 0.5 < s.t[-1] <= 0.7
    whole = simulate(robot, [1.0], None, 2.0)
    np.testing.assert_allclose(s.q, whole.q[: len(s.t)], atol=1e-7)


def test_an_interrupt_while_a_state_is_kept_leaves_no_half_of_it():
    """The torque is asked for once more for each record: some interrupts fall there."""
    robot = pendulum()
    for count in range(20, 60, 3):
        calls = iter(range(count))

        def torque(t, q, qd, calls=calls):
            if next(calls, None) is None:
                interrupt()
            return np.zeros(1)

        s = simulate(robot, [1.0], None, 0.2, torque=torque)
        assert s.status == "interrupted"
        assert len({len(x) for x in (s.t, s.q, s.qd, s.qdd, s.tau, s.friction, s.work)}) == 1


def test_an_interrupt_before_anything_was_computed_is_an_interrupt():
    with pytest.raises(KeyboardInterrupt):
        simulate(pendulum(), [1.0], None, 1.0, torque=lambda t, q, qd: interrupt())


def test_progress_tells_the_time():
    times = []
    simulate(pendulum(), [1.0], None, 1.0, progress=times.append)
    assert times == sorted(times)
    assert times[-1] == 1.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("torque", [1e200, 1e300])
def test_torques_beyond_all_bounds_end_every_method(method, torque):
    s = simulate(pendulum(), [1.0], None, 1.0, torque=[torque], method=method)
    assert s.status == "diverged"
    assert "the last state is q = [" in s.message


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_motion_that_blows_up_ends_every_method(method):
    s = simulate(slider(), [0.0], [1.0], 9.0, torque=lambda t, q, qd: 2 * qd**2, method=method)
    assert s.status == "diverged"
    assert s.t[-1] < 1.0  # v' = v² from v = 1: v = 1 / (1 - t)
    np.testing.assert_allclose(s.qd[:, 0], 1 / (1 - s.t), rtol=1e-5)


@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf, "1"])
@pytest.mark.parametrize("name", ["rtol", "atol"])
def test_a_tolerance_that_is_none(robot, name, value):
    refuses(robot, f"{name}: expected a", **{name: value})


def test_a_controller_that_is_none(robot):
    refuses(robot, r"controller: expected a function of \(t, q, qd\), got 'pd'", controller="pd")


def test_a_torque_for_more_arms_than_there_are(robot):
    refuses(robot, r"got shape \(5, 2\); torques that change", torque=np.zeros((5, 2)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("q0", "qd0", "options", "error", "message"),
    [
        (np.zeros((0, 2)), None, {}, SimulationError, "there are no arms"),
        (np.zeros((3, 2)), np.zeros((4, 2)), {}, ShapeError, "do not fit together"),
        (NEVER, None, {"dt": "a"}, SimulationError, "dt: expected a positive time"),
        (NEVER, None, {"step": "a"}, SimulationError, "step: expected a positive time"),
        (NEVER, None, {"dt": 1e-12}, SimulationError, "more than can be kept"),
        (np.broadcast_to(0.0, (10**8, 2)), None, {}, SimulationError, "more than can be kept"),
    ],
)
def test_fixed_steps_refuse_what_they_cannot_do(robot, q0, qd0, options, error, message):
    refuses(robot, message, error, q0, qd0, method="rk4", **options)


def test_more_instants_than_can_be_kept(robot):
    refuses(robot, "more than can be kept", dt=1e-12)


@pytest.mark.parametrize("method", ["DOP853", "rk4"])
def test_the_end_is_reached_whatever_the_time_between_records(robot, method):
    s = simulate(robot, [0.5, 0.3], None, 1.0, method=method, dt=0.3)
    whole = simulate(robot, [0.5, 0.3], None, 1.0, method="DOP853")
    assert s.t[-1] == 1.0
    assert (np.diff(s.t) <= 0.3 + 1e-12).all()
    np.testing.assert_allclose(s.q[-1], whole.q[-1], rtol=0, atol=1e-7)


@pytest.mark.parametrize("method", [*METHODS, "rk4", "symplectic"])
def test_a_start_that_no_method_can_follow(robot, method):
    for name in ("q0", "qd0"):
        start = {"q0": [0.1, 0.2], "qd0": [0.3, 0.4], name: [0.5, -1e154]}
        with pytest.raises(SimulationError, match=f"{name}: joint 'joint2' .* size of 1e.154"):
            simulate(robot, **start, method=method)


@pytest.mark.parametrize("method", ["DOP853", "RK45", "RK23"])
def test_a_run_that_cannot_advance_ends(method, monkeypatch):
    monkeypatch.setattr("armdyn.simulation.adaptive.MAX_CRAWLING_STEPS", 50)
    rng = np.random.default_rng(0)
    s = simulate(pendulum(), [1.0], torque=lambda t, q, qd: 1e4 * rng.normal(size=1), method=method)
    assert s.status == "diverged"
    assert "get nowhere; the torque may be rough" in s.message


def test_a_run_whose_steps_are_all_refused_ends(monkeypatch):
    monkeypatch.setattr("armdyn.simulation.adaptive.MAX_EVALUATIONS", 30)
    rng = np.random.default_rng(0)
    s = simulate(pendulum(), [1.0], torque=lambda t, q, qd: 1e4 * rng.normal(size=1), method="RK45")
    assert s.status == "diverged"
    assert "no step is short enough" in s.message


@pytest.mark.parametrize("method", METHODS)
def test_a_first_step_that_is_not_a_number_ends_every_method(method):
    def torque(t, q, qd):
        return [1e308] if np.isfinite(q).all() else [0.0]

    light = from_dh([ROD | {"mass": 1e-3, "inertia": [1e-5] * 3}], physical="ignore")
    s = simulate(light, [1.0], [1e5], torque=torque, method=method)
    assert s.status == "diverged"


@pytest.mark.slow
def test_of_many_arms_the_one_that_diverges_is_named_with_its_last_state():
    """Negative damping, v = v₀ exp(10 t): beyond 1e6 after log(1e6/v₀)/10."""
    start = np.array([[[0.0], [1.0]], [[100.0], [0.0]]])
    told = []
    s = simulate(
        slider(), 0 * start, start, 5.0, torque=lambda t, q, qd: 20 * qd, method="rk4", step=0.01, dt=0.05, progress=told.append,
    )  # fmt: skip
    end = np.log(1e6 / 100) / 10
    assert s.status == "diverged"
    assert s.message.startswith("diverged arm 1, 0 at t = 0.9")
    said = float(s.message.split("t = ")[1].split(" s")[0])
    assert end <= said <= end + 0.02
    last = f"state is q = {s.q[1, 0, -1].round(6).tolist()}, qd = {s.qd[1, 0, -1].round(6).tolist()}; use"
    assert last in s.message
    assert s.t[-1] <= said
    assert said - s.t[-1] <= 0.06
    assert s.statistics["steps"] == pytest.approx(5 * (len(s.t) - 1))
    assert s.statistics["arms"] == 4
    assert (np.diff(told) > 0).all()
    np.testing.assert_allclose(s.qd[0, 1, :, 0], np.exp(10 * s.t), rtol=1e-4)
    work = s.kinetic - s.kinetic[..., :1]
    np.testing.assert_allclose(s.work[..., 0], work, rtol=2e-3, atol=1e-9)
