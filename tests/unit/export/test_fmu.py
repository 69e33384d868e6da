import shutil
import subprocess
import zipfile

import fmpy
import numpy as np
import pytest
from fmpy.fmi3 import FMU3Slave
from fmpy.validation import validate_fmu

import armdyn
from armdyn.simulation.simulator import simulate

CC = shutil.which("cc")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CC is None, reason="needs a C compiler")]
Q0, TAU = np.array([0.3, -0.2, 0.5, 0.1, 0.4, -0.3]), np.array([2.0, -5.0, 20.0, 0.1, 0.2, 0.05])


@pytest.fixture(scope="module")
def fmu(tmp_path_factory):
    """The FMU of an arm with five joints that turn and one that slides."""
    exported = armdyn.load("stanford").export(tmp_path_factory.mktemp("fmu"), target="fmu")
    return exported.files[0]


def entries(name, values):
    return {f"{name}[{k}]": float(x) for k, x in enumerate(values, start=1)}


def simulated(path, names=("q",), **options):
    outputs = [f"{name}[{k}]" for name in names for k in range(1, 7)]
    result = fmpy.simulate_fmu(str(path), output=outputs, validate=True, **options)
    return np.array([[row[k] for k in range(1, 1 + len(outputs))] for row in result])


def test_it_is_valid_and_moves_as_the_arm_does(fmu):
    assert validate_fmu(str(fmu)) == []
    starts = entries("q", Q0) | entries("tau", TAU)
    got = simulated(
        fmu, ("q", "qd", "qdd"), stop_time=0.5, output_interval=0.01, start_values=starts
    )
    arm = armdyn.load("stanford")
    same = simulate(arm, Q0, duration=0.5, torque=TAU, method="rk4", dt=0.01, step=1e-3)
    motion = np.hstack([same.q, same.qd])
    assert np.abs(motion[-1] - motion[0]).max() > 0.5
    np.testing.assert_allclose(got[:, :12], motion, rtol=1e-9, atol=1e-10)
    exact = simulate(arm, Q0, duration=0.5, torque=TAU, dt=0.01)
    np.testing.assert_allclose(got[:, :6], exact.q, atol=1e-7)
    qdd = arm.forward_dynamics(got[-1, :6], got[-1, 6:12], TAU)
    np.testing.assert_allclose(got[-1, 12:], qdd, atol=1e-9)


def test_torques_may_change_and_steps_may_differ(fmu):
    """Inputs hold during a step of the simulation; its length divides the step of the arm."""
    dt, steps = 0.004, 25
    times = dt * np.arange(steps + 1)
    tau = TAU * np.cos(10 * times)[:, None]
    names = [("time", float), *((f"tau[{k}]", float) for k in range(1, 7))]
    signals = np.array([(t, *row) for t, row in zip(times, tau, strict=True)], dtype=names)
    starts = entries("q", Q0) | {"step": 0.002}
    got = simulated(fmu, stop_time=times[-1], step_size=dt, output_interval=dt, input=signals, start_values=starts)  # fmt: skip
    arm, q, qd = armdyn.load("stanford"), Q0, np.zeros(6)
    for k in range(steps):
        made = simulate(arm, q, qd, dt, torque=tau[k], method="rk4", dt=dt, step=0.002)
        q, qd = made.q[-1], made.qd[-1]
    np.testing.assert_allclose(got[-1], q, rtol=1e-9, atol=1e-10)


def test_payload_and_gravity_are_parameters(tmp_path):
    arm, com = armdyn.load("saha_3r"), (0.1, 0.0, 0.0)
    path = arm.export(tmp_path, target="fmu", payload=True, gravity=True).files[0]
    heavy = arm.with_payload(2.0, com=com).with_gravity((0.0, -3.0, 0.0))
    payload = [2.0, 0.2, 0, 0, 0, 0, 0.02, 0, 0, 0.02]
    starts = entries("payload", payload) | entries("gravity", (0.0, -3.0, 0.0))
    result = fmpy.simulate_fmu(str(path), stop_time=0.2, output_interval=0.1, start_values=starts, output=["q[1]", "q[2]", "q[3]"])  # fmt: skip
    same = simulate(heavy, [0, 0, 0], duration=0.2, method="rk4", dt=0.1, step=1e-3)
    np.testing.assert_allclose(list(result[-1])[1:], same.q[-1], rtol=1e-9)
    assert validate_fmu(str(path)) == []


@pytest.fixture
def unit(fmu, tmp_path):
    """A unit after its initialization, with the messages it logs."""
    description = fmpy.read_model_description(str(fmu))
    folder = fmpy.extract(str(fmu), unzipdir=str(tmp_path))
    made = FMU3Slave(
        guid=description.guid, unzipDirectory=folder, instanceName="arm",
        modelIdentifier=description.coSimulation.modelIdentifier,
    )  # fmt: skip
    made.instantiate(loggingOn=True)
    made.references = {v.name: v.valueReference for v in description.modelVariables}
    yield made
    made.freeInstance()


def test_a_saved_state_gives_the_same_motion_again(unit):
    unit.enterInitializationMode()
    unit.exitInitializationMode()
    wanted = [unit.references[f"q[{k}]"] for k in range(1, 7)]
    unit.doStep(0.0, 0.01)
    saved = unit.getFMUState()
    kept = unit.serializeFMUState(saved)
    unit.doStep(0.01, 0.02)
    first = unit.getFloat64(wanted)
    unit.setFMUState(saved)
    unit.freeFMUState(saved)
    unit.doStep(0.01, 0.02)
    assert unit.getFloat64(wanted) == first
    again = unit.deserializeFMUState(kept)
    unit.setFMUState(again)
    unit.freeFMUState(again)
    unit.doStep(0.01, 0.02)
    assert unit.getFloat64(wanted) == first
    unit.reset()
    assert unit.getFloat64(wanted) == [0.0] * 6


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda u: u.doStep(0.0, 0.01), "fmi3DoStep: the unit is not initialized"),
        (lambda u: u.setFloat64([10_000], [0.0]), "no variable with this reference"),
        (lambda u: u.setFloat64([0], [0.0]), "time and accelerations are computed"),
        (lambda u: u.setFloat64([u.references["step"]], [0.0]), "step must be a positive time"),
        (lambda u: u.getInt32([1]), "all variables are Float64"),
        (lambda u: started(u).setFloat64([u.references["q[1]"]], [0.0]), "before the simulation"),
        (lambda u: started(u).doStep(0.0, -1.0), "must be a positive, finite time"),
        (lambda u: started(u, tau=np.nan).doStep(0.0, 0.01), "the motion diverges"),
    ],
)
def test_what_cannot_be_is_logged_and_an_error(unit, act, message, capfd):
    with pytest.raises(fmpy.fmi1.FMICallException):
        act(unit)
    assert message in capfd.readouterr().out


def started(unit, tau=0.0):
    unit.enterInitializationMode()
    unit.exitInitializationMode()
    unit.setFloat64([unit.references["tau[1]"]], [tau])
    return unit


def test_an_fmu_of_sources_has_what_a_compiler_needs(fmu, tmp_path):
    """Its files, compiled as its description says, are the binary that a whole FMU holds."""
    path = armdyn.load("stanford").export(tmp_path, target="fmu-source").files[0]
    assert validate_fmu(str(path)) == []
    whole, sources = zipfile.ZipFile(fmu), zipfile.ZipFile(path)
    binary = set(whole.namelist()) - set(sources.namelist())
    assert [name.split("/")[0] for name in binary] == ["binaries"]
    assert all(whole.read(name) == sources.read(name) for name in sources.namelist())
    sources.extractall(tmp_path)
    described = fmpy.read_model_description(str(path)).buildConfigurations[0]
    files = [file for kind in described.sourceFileSets for file in kind.sourceFiles]
    warnings = "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror"
    words = ["cc", *warnings, "-shared", "-fPIC", *files, "-lm", "-o", "made.so"]
    subprocess.run(words, cwd=tmp_path / "sources", check=True)
