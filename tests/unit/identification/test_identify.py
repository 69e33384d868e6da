"""Identification: parameters that are found are the true ones, and what is not known is said."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, IdentificationError
from armdyn.identification import identify, preparation, task
from armdyn.identification.estimate import METHODS
from armdyn.identification.result import _regular
from support.measured_arms import guessed, measured, worn
from support.random_robots import random_model


@pytest.fixture(scope="module")
def robot():
    return worn(armdyn.load("saha_3r"))


@pytest.fixture(scope="module")
def found(robot):
    return armdyn.identify(guessed(robot), measured(robot), measured(robot, seed=5))


def test_another_motion_is_explained_up_to_the_noise(found):
    assert found.validation.relative_error < 0.004  # noise of 1 % is filtered to a quarter
    assert found.training.relative_error < 0.004
    assert found.split == "another motion, another log"
    assert found.passes == 1
    assert {finding.kind for finding in found.findings} <= {"time stamps"}


@pytest.mark.slow
def test_the_robot_that_was_found_has_the_torques_of_the_true_one(found, robot):
    draw = np.random.default_rng(3)
    q, qd, qdd = draw.uniform(-1.5, 1.5, (3, 200, robot.n))
    true, guess = (r.inverse_dynamics(q, qd, qdd) for r in (robot, found.given))
    error = found.robot.inverse_dynamics(q, qd, qdd) - true
    assert np.linalg.norm(error) < 0.02 * np.linalg.norm(true)
    assert np.linalg.norm(error) < 0.1 * np.linalg.norm(guess - true)
    for link in found.robot.model.links:
        assert np.linalg.eigvalsh(link.inertia.pseudo).min() > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["chain", "tree"])
def test_intervals_hold_the_true_base_parameters_as_often_as_they_say(robot, kind):
    if kind == "tree":
        robot = worn(armdyn.Robot(random_model("RRR", 5, tree=True)))
        assert not robot.model.is_chain
    inside = []
    for seed in range(4):
        log = measured(robot, seed=20 + seed, noise=0.02, step=1e-5)
        found = armdyn.identify(guessed(robot), log, False, prior_weight=1.0)
        lows, highs = np.transpose([p.interval for p in found.base])
        true = np.array([p.of(robot) for p in found.base])
        some = np.array([p.excited for p in found.base])
        inside += ((lows < true) & (true < highs))[some].tolist()
    assert len(inside) > 80
    assert 0.88 < np.mean(inside) <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_robot(robot, method):
    log, other = measured(robot, seconds=12.0), measured(robot, seed=5, seconds=12.0)
    found = armdyn.identify(guessed(robot), log, other, method=method, project=True)
    assert found.validation.relative_error < 0.005
    assert not found.impossible
    draw = np.random.default_rng(3)
    state = draw.uniform(-1.5, 1.5, (3, 200, robot.n))
    true = robot.inverse_dynamics(*state)
    error = found.robot.inverse_dynamics(*state) - true
    assert np.linalg.norm(error) < 0.02 * np.linalg.norm(true)


@pytest.mark.parametrize("method", METHODS[1:])
def test_errors_are_those_of_what_the_report_names(robot, method):
    log, given = measured(robot, seconds=12.0), guessed(robot)
    options = {"friction": "keep", "cutoff": 5.0, "method": method}
    model = worn(given)
    bare, possible = (
        armdyn.identify(model, log, False, project=p, **options) for p in (False, True)
    )
    assert "base parameters as they are" in bare.report()
    assert "after its projection" in possible.report()
    assert bare.data()["scored"] == bare.scored != possible.scored
    if method == "least_squares":  # nothing is below what it makes least
        entropic = armdyn.identify(model, log, False, friction="keep", cutoff=5.0)
        weights = bare.noise.deviation**-2
        least, *others = (weights @ f.training.rms**2 for f in (bare, possible, entropic))
        assert least <= min(others) * (1 + 1e-6)
    values = bare.robot.base_parameters(links=True).values  # the robot is what was scored
    base = given.base_parameters(links=True)
    links = [p.value for p in bare.parameters[: 10 * len(given.model.links)]]
    np.testing.assert_allclose(base.matrix @ links, values, atol=1e-9 * np.abs(values).max())


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("still", [(2,), (0, 1, 2)])
@pytest.mark.filterwarnings("ignore::armdyn.errors.ArmdynWarning")  # that is what it is about
def test_every_method_answers_where_columns_do_not_move(robot, method, still):
    log = measured(robot, seconds=8.0, still=still)
    log["q"][:, list(still)] = 0.3
    for options in ({}, {"project": True, "friction": "none"}, {"links": False}):
        found = armdyn.identify(guessed(robot), log, False, method=method, **options)
        assert np.isfinite([p.value for p in found.parameters]).all()
        assert np.isfinite([p.error for p in found.parameters]).all()
        assert found.unexcited
        if options.get("friction") != "none":
            assert found.training.relative_error < 0.35


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::armdyn.errors.ArmdynWarning")  # few parameters are shown
def test_robust_estimates_stand_outliers(robot):
    log = measured(robot, seconds=12.0)
    for start in (400, 900, 1500):  # somebody pushes
        log["tau"][start : start + 60] += 20.0
    other = measured(robot, seed=5)
    errors = [
        armdyn.identify(guessed(robot), log, other, method=method).validation.relative_error
        for method in ("least_squares", "robust")
    ]
    assert errors[1] < 0.5 * errors[0]


def test_a_joint_that_does_not_move_is_named(robot):
    with pytest.warns(armdyn.errors.ArmdynWarning, match="not exciting.*joint3 hardly moved"):
        found = armdyn.identify(guessed(robot), measured(robot, still=(2,)), False)
    dull = {p.name: p.why for p in found.unexcited}
    assert any(name.startswith("joint3.viscous") for name in dull)
    assert "hardly moved" in dull["joint3.viscous"]
    assert not any(name.startswith("joint1.viscous") for name in dull)


def test_pieces_of_a_log_give_what_the_whole_gives(robot, found, monkeypatch):
    monkeypatch.setattr(preparation, "PIECE", 900)
    log = measured(robot)
    pieced = armdyn.identify(
        found.given, log, False, cutoff=found.cutoffs.equations, prior_weight=found.search.weight
    )
    values = [np.array([p.value for p in r.parameters[:30]]) for r in (found, pieced)]
    np.testing.assert_allclose(*values, atol=0.02 * np.abs(values[0]).max())
    assert pieced.training.relative_error < 1.2 * found.training.relative_error
    assert pieced.passes == 1


def test_damage_to_a_log_is_told_and_handled(robot):
    log = measured(robot, jitter=0.1)
    keep = np.ones(len(log["t"]), dtype=bool)
    keep[500:503] = keep[1500:1700] = False
    log = {name: np.concatenate([x[keep], x[-1:]]) for name, x in log.items()}
    log["q"][40, 1] = np.nan
    top = 0.8 * np.abs(log["tau"][:, 1]).max()
    log["tau"][:, 1] = np.clip(log["tau"][:, 1], -top, top)
    found = armdyn.identify(guessed(robot), log, measured(robot, seed=5))
    text = " ".join(map(str, found.findings))
    for words in ("rows with something missing", "gaps", "been there", "differ from the usual",
                  "samples missing in between", "largest value: joint2"):  # fmt: skip
        assert words in text
    clipped = (np.abs(log["tau"]) >= 0.999 * top)[:, 1].sum()
    assert found.health.saturated == pytest.approx([0, clipped, 0], rel=0.05)  # of all pieces
    assert found.validation.relative_error < 0.01


@pytest.mark.slow
def test_the_result_is_written_and_watched(found, tmp_path):
    found.save(tmp_path / "arm.toml")
    found.save(tmp_path / "arm.urdf")
    again = armdyn.load(tmp_path / "arm.toml")
    np.testing.assert_allclose(again.parameters(), found.robot.parameters())
    assert "identified from data by armdyn (entropic), 20" in again.model.source
    found.plot(tmp_path / "arm.png")
    found.save_report(tmp_path / "arm.html")
    page = (tmp_path / "arm.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 3
    assert "z²-inertia of link1 + …" in page
    assert "link1.Izz + " in page
    assert f"{100 * found.validation.relative_error:.2f} %" in page
    watch = found.observer()
    assert (watch.noise.torque >= found.training.rms).all()
    report = found.report()
    for title in ("Errors by joint", "Base parameters", "Rotors and friction", "How it was found"):
        assert title in report
    assert found.data()["validation"]["relative_error"] == found.validation.relative_error


def test_the_report_has_every_parameter_with_its_interval_and_what_was_before(found, robot):
    tables = {part.title: part.rows for part in found.sections()}
    shown = [p for p in found.base if p.excited]
    for rows, parameters in (
        (tables["Base parameters that the motion shows"], shown),
        (tables["Rotors and friction"], found.parameters[30:]),
    ):
        for (name, *numbers, unit), parameter in zip(rows, parameters, strict=True):
            assert name == parameter.title
            assert unit == parameter.unit
            half = 1.959964 * parameter.error
            value = parameter.value
            told = np.array(numbers, dtype=float)
            expected = [value, value - half, value + half, parameter.before]
            np.testing.assert_allclose(told, expected, rtol=1e-3, atol=1e-9)
    for (name, mass, before, centre), link, old in zip(
        tables["Links"], found.robot.model.links, found.given.model.links, strict=True
    ):
        assert name == link.name
        assert float(mass) == pytest.approx(link.inertia.mass, rel=5e-3)
        assert float(before) == pytest.approx(old.inertia.mass, rel=5e-3)
        assert centre == f"({', '.join(f'{x:.3f}' for x in link.inertia.com)})"
    for j, (name, *cells, noise) in enumerate(tables["Errors by joint"]):
        assert name == robot.joint_names[j]
        fits = found.training, found.validation
        numbers = [float(cell.split()[0]) for cell in (*cells, noise)]
        expected = [x for fit in fits for x in (100 * fit.per_joint[j], fit.rms[j])]
        np.testing.assert_allclose(numbers, [*expected, found.noise.deviation[j]], rtol=1e-2)
    data = found.data()
    assert data["cutoff"] == found.cutoffs.equations
    assert data["motion_cutoff"] == found.cutoffs.motion
    assert data["validation"]["rms"] == found.validation.rms.tolist()


def test_parameters_have_names_for_people_and_parts_for_programs(found):
    for p in (*found.parameters, *found.base):
        assert p.of(found.robot) == pytest.approx(p.value, rel=1e-6, abs=1e-9)
        assert p.title.endswith(" + …") == (len(p.parts) > 1)
        assert p.name.partition(" ")[0] in p.parts
    titles = [p.title for p in found.base]
    assert len(set(titles)) == len(titles)
    assert {"z²-inertia of link1 + …", "viscous of joint2", "x-moment of link3"} <= set(titles)
    assert found.data()["base_parameters"][0]["parts"] == dict(found.base[0].parts)


def test_errors_are_those_of_the_torques_that_were_kept(found):
    for fit in (found.training, found.validation):
        some = fit.series
        assert some.good.all()
        left, size = (np.linalg.norm(x, axis=0) for x in (some.residual, some.tau))
        np.testing.assert_allclose(fit.per_joint, left / size, rtol=1e-6)
        np.testing.assert_allclose(fit.rms, left / len(some.t) ** 0.5, rtol=1e-6)
        assert fit.relative_error == pytest.approx(np.linalg.norm(left) / np.linalg.norm(size))
        assert fit.samples == len(some.t)
        np.testing.assert_allclose(some.residual, some.tau - some.predicted)


def test_times_of_logs_one_after_the_other_go_on():
    t = np.array([5.0, 5.1, 5.2, 900.0, 900.1, 3.0, 3.1, 3.3])
    np.testing.assert_allclose(_regular(t), [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8])
    np.testing.assert_array_equal(_regular(t[:1]), [0])
    pause = np.cumsum([0.0, 1.0, 1.0, 49.5, 1.0, 50.5, 1.0])  # fifty samples long at most
    np.testing.assert_allclose(_regular(pause), [0, 1, 2, 51.5, 52.5, 53.5, 54.5])


def test_a_notebook_shows_verdict_errors_parameters_and_torques(found):
    page = found._repr_html_()
    assert f"{100 * found.validation.relative_error:.3g} %" in page
    for name in ("joint1", "joint3", "Base parameters", found.base[0].title):
        assert name in page
    assert 'src="data:image/png;base64,' in page
    assert "<script" not in page


def test_progress_is_told_with_a_total(robot):
    told = []
    log = measured(robot, seconds=10.0)
    armdyn.identify(guessed(robot), log, False, progress=lambda *step: told.append(step))
    counts = [(done, total) for what, done, total in told if what == "reading data"]
    assert counts[0] == (0, 2000)
    assert counts[-1] == (2000, 2000)
    assert any(what.startswith("friction") and total == 0 for what, _, total in told)


@pytest.mark.slow
def test_settings_that_cannot_be_are_refused(robot):
    log = measured(robot, seconds=2.0)
    for options, message in (
        (dict(method="magic"), "there is no method 'magic'"),
        (dict(cutoff=1e4), "cutoff: expected a frequency below"),
        (dict(prior_weight=-1.0), "prior_weight: expected"),
        (dict(prior_weight=[1.0, 2.0]), "prior_weight: expected a number"),
        (dict(project="yes"), "project is True or False"),
        (dict(validate=1.5), "validate: expected other data, a share"),
        (dict(friction="much"), "there is no friction 'much'"),
    ):
        with pytest.raises(ArmdynError, match=message):
            armdyn.identify(robot, log, **options)
    with pytest.raises(ArmdynError, match="there is no log"):
        armdyn.identify(robot, [])
    with pytest.raises(ArmdynError, match="too short|too few"):
        armdyn.identify(robot, {k: v[:30] for k, v in log.items()})


@pytest.mark.parametrize("place", ["choose_motion_cutoff", "check_enough", "choose_terms"])
def test_data_that_cannot_be_solved_say_what_to_do_wherever_that_shows(robot, place, monkeypatch):
    def singular(*_):
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr(task if place == "choose_motion_cutoff" else identify, place, singular)
    message = r"data: .* cannot be solved \(Singular matrix\); record at least ten seconds"
    with pytest.raises(IdentificationError, match=message):
        armdyn.identify(robot, measured(robot, seconds=2.0))
