"""Special cases: friction alone, payloads, gains of drives, poses at rest, little data."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import IdentificationError
from support.measured_arms import guessed, measured, worn

LOAD = armdyn.Inertia.box((0.1, 0.1, 0.1), mass=2.0).moved((0.02, 0.0, 0.05))


@pytest.fixture(scope="module")
def robot():
    return worn(armdyn.load("saha_3r"))


@pytest.mark.slow
def test_friction_alone_leaves_the_links_as_they_are(robot):
    bare = guessed(robot, spread=0.0)
    found = armdyn.identify_friction(bare, measured(robot))
    np.testing.assert_array_equal(found.robot.parameters()[:30], bare.parameters()[:30])
    links = found.parameters[:30]
    assert {p.why for p in links} == {"links were not to be found"}
    assert {p.error for p in links} == {0.0}
    assert not any("links" in p.why for p in found.parameters[30:])
    speeds = np.linspace(-1, 1, 12)[:, None] * np.ones(robot.n)
    true = robot.friction_torque(speeds)
    error = found.robot.friction_torque(speeds) - true
    assert np.abs(error).max() < 0.05 * np.abs(true).max()


@pytest.mark.slow
def test_a_payload_is_found_with_and_without_an_unloaded_run(robot):
    loaded = measured(robot.with_payload(LOAD), seed=3)
    payload = armdyn.identify_payload(robot, loaded)
    assert payload.mass == pytest.approx(2.0, abs=5 * payload.errors[0] + 1e-3)
    np.testing.assert_allclose(payload.com, LOAD.com, atol=0.01)
    assert payload.body.fault is None
    assert payload.relative_error < 0.1 * payload.without
    rough = armdyn.identify_payload(guessed(robot), loaded, measured(robot, seed=2))
    assert rough.mass == pytest.approx(2.0, rel=0.02)
    assert "mass" in payload.report()
    assert abs(rough.mass - 2.0) < 3 * rough.errors[0]
    gripping = worn(robot, seed=4)  # friction of another day, of which residuals tell
    other = armdyn.identify_payload(gripping, loaded)
    assert abs(other.mass - 2.0) < 3 * other.errors[0]
    assert other.errors[0] > 3 * payload.errors[0]
    with pytest.raises(IdentificationError, match="no payload is seen"):
        armdyn.identify_payload(robot.with_payload(LOAD), measured(robot))


@pytest.mark.slow
def test_without_noise_a_payload_is_found_to_a_fraction_of_a_gram(robot):
    """What is assumed of bodies gives way to data that leave no doubt."""
    loaded = robot.with_payload(LOAD)
    clean = measured(loaded, seed=3, seconds=8.0, noise=0.0, jitter=0.0, step=1e-12)
    payload = armdyn.identify_payload(robot, clean)
    assert payload.mass == pytest.approx(2.0, abs=1e-4)
    np.testing.assert_allclose(payload.com, LOAD.com, atol=1e-3)


def test_a_known_load_shows_the_gains_of_the_drives(robot):
    gains = np.array([5.0, 7.5, 10.0])
    runs = [measured(r, seed=1) for r in (robot, robot.with_payload(LOAD))]
    runs = [run | {"tau": run["tau"] / gains} for run in runs]
    found = armdyn.identify_drive_gains(guessed(robot), *runs, LOAD)
    np.testing.assert_allclose(found.values, gains, rtol=0.01)
    assert np.all(np.abs(found.values - gains) < 5 * found.errors)
    assert "joint3: " in found.report()
    weighed = armdyn.identify_drive_gains(guessed(robot), *runs, LOAD.mass)  # its mass alone
    np.testing.assert_allclose(weighed.values, gains, rtol=0.01)
    assert np.all(np.abs(weighed.values - gains) < 5 * weighed.errors)
    double = armdyn.identify_drive_gains(guessed(robot), *runs, 2 * LOAD.mass)
    np.testing.assert_allclose(double.values, 2 * weighed.values, rtol=1e-4)
    for load in (-1.0, float("nan"), "two"):
        with pytest.raises(armdyn.errors.ArmdynError, match="load|number"):
            armdyn.identify_drive_gains(robot, *runs, load)
    runs = [run | {"tau": 1000 * run["tau"]} for run in runs]  # currents in mA
    again = armdyn.identify_drive_gains(guessed(robot), *runs, LOAD)
    np.testing.assert_allclose(1000 * again.values, found.values, rtol=1e-6)
    np.testing.assert_allclose(1000 * again.errors, found.errors, rtol=1e-6)


@pytest.mark.slow
def test_errors_of_payloads_and_gains_are_in_proportion_to_the_noise(robot):
    def runs(noise, **options):
        arms = robot, robot.with_payload(LOAD)
        return [measured(r, seed=1, noise=noise, **options) for r in arms]

    few, many = ({"seconds": x} for x in (8.0, 32.0))
    payloads = [
        armdyn.identify_payload(robot, runs(noise, **long)[1], cutoff=4.0)
        for noise, long in ((0.01, few), (0.03, few), (0.01, many))
    ]
    ratios = [np.exp(np.mean(np.log(p.errors / payloads[0].errors))) for p in payloads[1:]]
    assert ratios == pytest.approx([3.0, 0.5], rel=0.25)
    assert payloads[1].relative_error == pytest.approx(3 * payloads[0].relative_error, rel=0.1)
    # what a filter leaves of white noise of 3 %: the share of the frequencies that it lets pass
    passed = np.sqrt(0.95 * 4.0 / 100)
    assert payloads[1].relative_error == pytest.approx(0.03 * passed, rel=0.25)
    gains = [
        armdyn.identify_drive_gains(guessed(robot), *runs(noise), LOAD) for noise in (0.01, 0.03)
    ]
    np.testing.assert_allclose(gains[1].errors, 3 * gains[0].errors, rtol=0.3)


@pytest.mark.slow
def test_poses_at_rest_show_gravity(robot):
    draw = np.random.default_rng(0)
    q = draw.uniform(-2, 2, (40, robot.n))
    poses = {
        "q": q[:30],
        "tau": robot.gravity_vector(q[:30]) + 0.01 * draw.normal(size=(30, robot.n)),
    }
    others = {"q": q[30:], "tau": robot.gravity_vector(q[30:])}
    found = armdyn.identify_gravity(guessed(robot), poses, others)
    assert found.validation.relative_error < 0.003
    error = found.robot.gravity_vector(q) - robot.gravity_vector(q)
    assert np.abs(error).max() < 0.05
    with pytest.raises(IdentificationError, match="poses are too few"):
        armdyn.identify_gravity(robot, {"q": q[:3], "tau": q[:3]})


@pytest.mark.slow
def test_friction_of_another_day_is_adapted_only_where_that_is_sure(robot):
    """Links and rotors stay, as does all on the same day or where a minute shows too little."""
    state = np.random.default_rng(1).uniform(-1, 1, (3, 100, robot.n))

    def error(model, day):
        true = day.inverse_dynamics(*state)
        return np.linalg.norm(model.inverse_dynamics(*state) - true) / np.linalg.norm(true)

    def on(day, seconds=20.0):
        return armdyn.update_model(robot, measured(day, seed=11, seconds=seconds), False).robot

    with pytest.warns(armdyn.errors.ArmdynWarning, match="too short"):
        brief = on(worn(robot, seed=4), seconds=3.0)
    for seed in (4, 5):
        day = worn(robot, seed=seed)
        rotors = {
            f"{name}.rotor": known
            for name, known in zip(
                robot.joint_names, [j.rotor.inertia for j in robot.model.joints], strict=True
            )
        }
        day = day.with_parameters(rotors)
        found = on(day)
        np.testing.assert_array_equal(found.parameters()[:30], robot.parameters()[:30])
        for joint, old in zip(found.model.joints, robot.model.joints, strict=True):
            assert joint.rotor.reflected == pytest.approx(old.rotor.reflected)
        assert error(found, day) < 0.5 * error(robot, day)
    for same in (on(robot), brief):
        close = same.inverse_dynamics(*state), robot.inverse_dynamics(*state)
        np.testing.assert_allclose(*close, rtol=1e-9, atol=1e-9)


def test_keywords_that_do_not_exist_are_refused(robot):
    log = measured(robot, seconds=2.0)
    for call in (
        lambda **wrong: armdyn.identify(robot, log, **wrong),
        lambda **wrong: armdyn.identify_friction(robot, log, **wrong),
        lambda **wrong: armdyn.update_model(robot, log, **wrong),
        lambda **wrong: armdyn.identify_gravity(robot, log, **wrong),
        lambda **wrong: armdyn.identify_payload(robot, log, **wrong),
        lambda **wrong: armdyn.identify_drive_gains(robot, log, log, LOAD, **wrong),
    ):
        with pytest.raises(TypeError, match="degress"):
            call(degress=True)
    with pytest.raises(TypeError, match="links"):
        armdyn.identify_friction(robot, log, links=True)


def test_base_parameters_become_the_nearest_robot(robot):
    other = guessed(robot, seed=3)
    base = other.base_parameters(links=True)
    found = robot.with_base_parameters(base.values, links=True)
    np.testing.assert_allclose(found.base_parameters(links=True).values, base.values, atol=1e-8)
    assert all(np.linalg.eigvalsh(link.inertia.pseudo).min() > 0 for link in found.model.links)
    same = robot.with_base_parameters(robot.base_parameters().values)
    np.testing.assert_allclose(same.parameters(), robot.parameters(), atol=1e-7)
    with pytest.warns(armdyn.errors.ArmdynWarning, match="no bodies have these base parameters"):
        robot.with_base_parameters(-base.values, links=True)
