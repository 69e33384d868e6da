"""Laws of the observer: what it must find in logs whose external torques are known."""

import ctypes
import pickle
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError
from armdyn.model import Mimic
from support.random_robots import random_model

GAIN = np.array([20.0, 60.0, 35.0])


def mimic():
    model = random_model("RPRR", 8, tree=True, rotors=True, friction=True)
    joints = list(model.joints)
    joints[2] = replace(joints[2], mimic=Mimic("joint1", -0.7, 0.3))
    return armdyn.Robot(replace(model, joints=tuple(joints)))


def driven():
    both = {"name": "m", "joints": {"joint2": 1.0, "joint3": -0.5}, "viscous": 0.3}
    robot = armdyn.Robot(random_model("RRR", 6))
    return robot.with_drives([both | {"rotor_inertia": 1e-3, "gear_ratio": 20.0}])


ROBOTS = {
    "tree": lambda: armdyn.Robot(random_model("RPH", 4, tree=True, rotors=True, friction=True)),
    "mimic": mimic,
    "driven": driven,
}


def log(robot, h, wrench=None, duration=0.8, jitter=0.0):
    """A motion, the torques that cause it under a wrench at the tool, and those of the wrench."""
    rows = round(duration / h) + 1
    t = np.linspace(0.0, duration, rows)
    t[1:-1] += jitter * h * np.random.default_rng(1).uniform(-1, 1, rows - 2)
    rate = np.linspace(2.0, 4.0, robot.n)
    angle = t[:, None] * rate + np.arange(robot.n)
    q, qd, qdd = np.sin(angle), rate * np.cos(angle), -(rate**2) * np.sin(angle)
    tau, free = (  # nothing is compiled for a formulation
        robot.inverse_dynamics(q, qd, qdd, w, formulation="newton_euler") for w in (wrench, None)
    )
    external = free - tau
    return t, q, qd, tau, external


def filtered(t, external, gain):
    """The exact solution of dr/dt = K (τ - r) for the mean of τ in each step."""
    r = [np.zeros(external.shape[-1])]
    for h, mean in zip(np.diff(t), 0.5 * (external[1:] + external[:-1]), strict=True):
        r.append(mean + (r[-1] - mean) * np.exp(-gain * h))
    return np.array(r)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_the_estimate_is_the_filtered_external_torque_to_second_order(name):
    robot = ROBOTS[name]()
    observer = armdyn.Observer(robot, GAIN)
    wrench = np.array([10.0, -20.0, 5.0, 1.0, 2.0, -3.0])
    errors = []
    for h in (4e-3, 2e-3):
        for pushed in (None, wrench):
            t, *sample, external = log(robot, h, pushed, jitter=0.3)
            found = observer.run(t, *sample).torque
            errors.append(np.abs(found - filtered(t, external, GAIN)).max())
    free, pushed, free_fine, pushed_fine = errors
    assert free < 0.05
    assert free_fine < 0.35 * free
    assert pushed_fine < 0.35 * pushed
    assert np.abs(external).max() > 10


@pytest.mark.slow
def test_a_push_is_seen_with_the_time_constant_of_the_gain():
    slide = armdyn.from_dh([dict(joint="prismatic", mass=2.0, viscous=4.0, coulomb=0.5)])
    held = {"torque": slide.gravity_vector([0.0]), "external_wrench": (0, 0, 7.0, 0, 0, 0)}
    push = armdyn.simulate(slide, [0.0], [1.0], 0.5, dt=1e-3, **held)
    for gain in (10.0, 40.0):
        seen = armdyn.Observer(slide, gain).run(push.t, push.q, push.qd, push.tau).torque
        law = 7.0 * (1 - np.exp(-gain * push.t))
        np.testing.assert_allclose(seen[:, 0], law, atol=1e-5)


def test_a_simulated_push_is_found_with_its_wrench_and_its_time():
    robot = armdyn.load("saha_3r")
    held = np.array([0.3, 0.5, -0.7])

    def hold(t, q, qd):
        return robot.gravity_vector(q) - 400.0 * (q - held) - 30.0 * qd

    wrench = np.array([6.0, -9.0, 4.0, 0, 0, 0])
    motion = armdyn.simulate(
        robot, held, duration=1.0, dt=1e-3, torque=hold,
        external_wrench=lambda t: wrench if t > 0.5 else 0 * wrench,
    )  # fmt: skip
    observer = armdyn.Observer(robot, 40.0, noise=0.05)
    seen = observer.run(motion.t, motion.q, motion.qd, motion.tau)
    assert np.abs(seen.torque[motion.t < 0.5]).max() < 1e-3
    np.testing.assert_allclose(seen.torque[-1], motion.external[-1], rtol=1e-3)
    found = observer.wrench(motion.q[-1], seen.torque[-1], task=("x", "y", "z"))
    np.testing.assert_allclose(found.wrench, wrench, rtol=2e-3, atol=1e-9)
    assert found.observable.tolist() == [True, True, True, False, False, False]
    (contact,) = seen.contacts
    assert 0.5 < contact.start < 0.51
    assert contact.end == motion.t[-1]
    assert contact.joints == robot.joint_names


@pytest.fixture(scope="module")
def tree():
    return ROBOTS["tree"]()


@pytest.mark.slow
def test_batches_logs_and_single_steps_have_the_same_bits(tree):
    t, *sample, _ = log(tree, 0.02, np.ones(6), jitter=0.3)
    samples = [np.stack([v, 0.5 * v, -v]).reshape(3, 1, *v.shape) for v in sample]
    observer = armdyn.Observer(tree, GAIN)
    whole = observer.run(t, *samples).torque
    assert whole.shape == (3, 1, len(t), 3)
    periods = np.diff(t, prepend=0)
    for k, h in enumerate(periods):
        given = [v[..., k, :] for v in samples]
        assert np.array_equal(observer.step(*given, h or None), whole[..., k, :])
    for arm in range(3):
        one = [v[arm, 0] for v in samples]
        assert np.array_equal(observer.run(t, *one).torque, whole[arm, 0])
        observer.reset()
        rows = zip(*one, periods, strict=True)
        alone = [observer.step(q, qd, tau, h or None) for q, qd, tau, h in rows]
        assert np.array_equal(alone, whole[arm, 0])


@pytest.mark.slow
def test_an_observer_goes_on_in_another_process_as_here(tree):
    _, *sample, _ = log(tree, 0.02, np.ones(6))
    here = armdyn.Observer(tree, GAIN)
    here.step(*(v[0] for v in sample))
    there = pickle.loads(pickle.dumps(here))
    found = [each.step(*(v[1] for v in sample), 0.02) for each in (here, there)]
    assert found[0].any()
    assert np.array_equal(*found)


@pytest.mark.slow
def test_arms_of_a_batch_may_have_their_own_times(tree):
    _, *sample, _ = log(tree, 0.02)
    first, second = ([v[k] for v in sample] for k in (0, 1))
    observer, periods = armdyn.Observer(tree, GAIN), np.array([0.01, 0.02])
    observer.step(*([v, v] for v in first))
    both = observer.step(*([v, v] for v in second), periods)
    for h, found in zip(periods, both, strict=True):
        observer.reset()
        observer.step(*first)
        assert np.array_equal(observer.step(*second, h), found)


def test_exported_c_steps_in_place_as_python_does(tree, tmp_path):
    t, *sample, _ = log(tree, 0.02, np.ones(6))
    observer = armdyn.Observer(tree, GAIN)
    expected = observer.run(t, *sample).torque
    exported = observer.export(tmp_path, prefix="arm")
    shared = tmp_path / "arm.so"
    words = ["cc", "-std=c99", "-O1", "-shared", "-fPIC", str(exported.files[0])]
    subprocess.run([*words, "-lm", "-o", str(shared)], check=True)
    library, pointer = ctypes.CDLL(str(shared)), ctypes.POINTER(ctypes.c_double)

    def call(name, *arrays):
        given = [np.ascontiguousarray(a, dtype=float) for a in arrays[:-1]] + [arrays[-1]]
        getattr(library, f"arm_{name}")(*(a.ctypes.data_as(pointer) for a in given))

    state = np.full(9, np.nan)
    call("observer_start", *(v[0] for v in sample), state)
    for k, h in enumerate(np.diff(t), start=1):
        call("observer_step", state, *(v[k] for v in sample), [h], GAIN, state)
        np.testing.assert_allclose(state[:3], expected[k], rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_a_payload_may_change_on_the_way():
    robot = armdyn.load("saha_3r")
    body = (1.5, (0.1, 0.05, 0.0), 0.02 * np.eye(3))
    holding = robot.with_payload(*body)
    logs = [log(r, 2e-3) for r in (robot, holding)]
    observer = armdyn.Observer(robot, 30.0, payload=robot.payload_vector(0.0))
    t, q, qd, _, _ = logs[0]
    half = len(t) // 2
    worst = 0.0
    for k in range(len(t)):
        if k == half:
            # it holds the body from the last sample on: what it takes to move both counts there
            observer.payload = robot.payload_vector(*body)
        carried = logs[k >= half][3][k]
        found = observer.step(q[k], qd[k], carried, 2e-3)
        worst = max(worst, np.abs(found).max())
        if k == half:
            jump = np.abs(logs[1][3][k] - logs[0][3][k]).max()
            assert worst < jump  # the step takes half of the change for an external torque
    assert np.abs(found).max() < 1e-3


BAD = {
    "gain: expected a number that is positive": lambda r: armdyn.Observer(r, gain=-1.0),
    "gain: expected a number that is positive, or 3": lambda r: armdyn.Observer(r, gain=[1, 2]),
    "gain.*got 'fast'": lambda r: armdyn.Observer(r, gain="fast"),
    "gain.*got nan": lambda r: armdyn.Observer(r, gain=np.nan),
    "noise: expected": lambda r: armdyn.Observer(r, noise=0.0),
    "velocity_noise: expected": lambda r: armdyn.Observer(r, noise=1, velocity_noise=-1),
    "false_alarms: expected a share": lambda r: armdyn.Observer(r, false_alarms=0),
    "friction is True or False": lambda r: armdyn.Observer(r, friction="no"),
    "payload: expected numbers": lambda r: armdyn.Observer(r, payload=[1.0]),
    "expected a Robot": lambda r: armdyn.Observer("panda"),
    "no sample yet": lambda r: armdyn.Observer(r).torque,
    "need the noise": lambda r: armdyn.Observer(r).thresholds(1e-3),
    "depend on q": lambda r: armdyn.Observer(r, noise=1, velocity_noise=1).thresholds(1e-3),
    "h: expected a positive": lambda r: armdyn.Observer(r, noise=1).thresholds(0.0),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_settings_are_named(tree, message):
    with pytest.raises(ArmdynError, match=message):
        BAD[message](tree)


def test_bad_samples_are_named(tree):
    observer, zero = armdyn.Observer(tree), np.zeros(3)
    cases = {
        r"q: expected shape \(..., 3\)": (np.zeros(4), zero, zero),
        "tau: entry 1 is nan": (zero, zero, [0, np.nan, 0]),
        "qd: entry 2 is inf": (zero, [0, 0, np.inf], zero),
    }
    for message, sample in cases.items():
        with pytest.raises(ArmdynError, match=message):
            observer.step(*sample)
    observer.step(zero, zero, zero)
    for message, h in {
        "give the time": None, "positive": -1e-3, "got 0.0": 0.0, "positive time": "soon",
        "got shape": [1e-3, 2e-3],
    }.items():  # fmt: skip
        with pytest.raises(ArmdynError, match=message):
            observer.step(zero, zero, zero, h)
    with pytest.raises(ArmdynError, match="batch shape"):
        observer.step(np.zeros((2, 3)), zero, zero, 1e-3)
    with pytest.raises(ArmdynError, match="no payload that can change"):
        observer.payload = np.zeros(10)
    rows = np.zeros((3, 3))
    for message, t in {
        "goes backwards at row 2, from 1 to 0.5": [0, 1, 0.5], "stands still at row 1": [0, 0, 1],
        "expected finite times": [0, np.nan, 1], r"\(..., 2, 3\) for 2 times": [0, 1],
    }.items():  # fmt: skip
        with pytest.raises(ArmdynError, match=message):
            observer.run(t, rows, rows, rows)


def test_a_log_is_saved_and_drawn(tree, tmp_path):
    t, *sample, external = log(tree, 0.02, np.full(6, 40.0))
    seen = armdyn.Observer(tree, GAIN, noise=1.0).run(t, *sample)
    seen.save(tmp_path / "seen.csv")
    lines = (tmp_path / "seen.csv").read_text().splitlines()
    assert lines[0] == "t,tau_ext1,tau_ext2,tau_ext3,contact"
    assert len(lines) == len(t) + 1
    seen.plot(tmp_path / "seen.png", truth=external)
    assert (tmp_path / "seen.png").stat().st_size > 10_000
    with pytest.raises(ArmdynError, match="truth: expected"):
        seen.plot(tmp_path / "other.png", truth=external[:-1])
    many = armdyn.Observer(tree).run(t, *(np.stack([v, v]) for v in sample))
    with pytest.raises(ArmdynError, match="no thresholds"):
        _ = many.contact
    with pytest.raises(ArmdynError, match="one arm"):
        many.save(tmp_path / "many.csv")
