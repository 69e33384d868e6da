"""The report of a design: both arms compared, what to build, text, data and picture."""

import json
from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.errors import TrajectoryError, WriteError
from armdyn.model import Body, Inertia, Limits, Link
from armdyn.shorten.constant import product
from armdyn.study.simplify.comparison import compare_designs
from armdyn.study.simplify.design_variables import parse_design_variables
from armdyn.study.simplify.simplify import simplify
from armdyn.study.states import reference_trajectory, workspace
from support.peers import close

pytestmark = pytest.mark.slow

WRIST = {"joint4": 0.0, "joint5": 0.0, "joint6": 0.0}


@pytest.fixture(scope="module")
def saha():
    return simplify(armdyn.load("saha_3r"), symbolic=False)


@pytest.fixture(scope="module")
def puma():
    """The first three joints, with rotors and friction, balanced as well."""
    robot = armdyn.load("puma560", locked=WRIST)
    return simplify(robot, goal="constant + gravity-balanced", symbolic=False)


@pytest.fixture(scope="module")
def polar():
    """Turning and sliding across: the inertia grows with the square of the slide."""
    rows = [
        {"joint": "revolute", "theta": 0.0, "d": 0.0, "a": 0.0, "alpha": np.pi / 2,
         "mass": 2.0, "com": [0.0, 0.0, 0.1], "inertia": [0.02, 0.02, 0.02]},
        {"joint": "prismatic", "theta": 0.0, "d": 0.3, "a": 0.0, "alpha": 0.0, "mass": 1.5,
         "com": [0.0, 0.0, -0.1], "inertia": [0.01, 0.01, 0.01]},
    ]  # fmt: skip
    return simplify(armdyn.from_dh(rows, convention="standard", name="polar"))


@pytest.fixture(scope="module")
def report(saha):
    return saha


def varying(comparison, which):
    return [e.element for e in comparison.elements if getattr(e, which).variation > 1e-9 * e.scale]


# the reference motion


@pytest.mark.parametrize("name", ["ur5e", "scara", "stanford", "craig_two_link"])
def test_the_motion_rests_at_corners_and_keeps_the_limits(name):
    model = armdyn.load(name).model
    motion = reference_trajectory(model)
    limits = [joint.limits for joint in model.joints]
    assert np.all(np.diff(motion.t) > 0)
    for rates in (motion.qd, motion.qdd):
        np.testing.assert_allclose(rates[[0, -1]], 0.0, atol=1e-9)
    np.testing.assert_array_equal(motion.q[0], motion.q[-1])
    for i, limit in enumerate(limits):
        assert limit.lower - 1e-9 <= motion.q[:, i].min() < motion.q[:, i].max()
        assert motion.q[:, i].max() <= limit.upper + 1e-9
        assert np.abs(motion.qd[:, i]).max() <= limit.velocity * (1 + 1e-9)
    # what is called a rate is one
    step = np.diff(motion.t)[:, None]
    for values, rates in ((motion.q, motion.qd), (motion.qd, motion.qdd)):
        mean = 0.5 * (rates[1:] + rates[:-1])
        error = np.abs(np.diff(values, axis=0) / step - mean).max()
        assert error < 1e-3 * np.abs(rates).max()


def test_a_slow_joint_makes_moves_slow_and_a_speed_of_zero_is_unknown():
    model = armdyn.load("saha_3r").model

    def limited(speed):
        joint = replace(model.joints[1], limits=Limits(-1.0, 1.0, speed))
        return replace(model, joints=(model.joints[0], joint, model.joints[2]))

    slow = reference_trajectory(limited(0.1))
    assert np.abs(slow.qd[:, 1]).max() == pytest.approx(0.1, rel=1e-3)
    assert reference_trajectory(limited(0.0)).t[-1] == pytest.approx(8.0)


def test_the_workspace_is_within_the_limits_and_fills_them():
    model = armdyn.load("scara").model
    q = workspace(model)
    for i, joint in enumerate(model.joints):
        low = joint.limits.lower if np.isfinite(joint.limits.lower) else -np.pi
        high = joint.limits.upper if np.isfinite(joint.limits.upper) else np.pi
        assert low <= q[:, i].min()
        assert q[:, i].max() <= high
        assert np.ptp(q[:, i]) > 0.98 * (high - low)


# the comparison


def test_an_arm_compared_with_itself_is_the_same():
    model = armdyn.load("two_link").model
    same = compare_designs(armdyn.Robot(model), armdyn.Robot(model))
    assert all(e.before == e.after for e in same.elements)
    for pair in (same.gravity, same.peaks):
        np.testing.assert_array_equal(*pair)
    assert same.operations[0] == same.operations[1]


def test_the_elements_are_those_of_the_mass_matrix(saha, report):
    robot, comparison = saha.before, report.comparison
    M = robot.mass_matrix(np.random.default_rng(9).uniform(-np.pi, np.pi, (500, 3)))
    places = [(i, j) for i in range(3) for j in range(i, 3)]
    for (i, j), element in zip(places, comparison.elements, strict=True):
        assert element.element == f"D{i + 1}{j + 1}"
        slack = 0.05 * max(element.before.variation, 1e-12)
        assert element.before.low - slack <= M[:, i, j].min()
        assert M[:, i, j].max() <= element.before.high + slack
    # D23 and D22 vary with cos q3, D11 with everything beyond joint 1; D33 is I3zz + m3 d3²
    assert varying(comparison, "before") == ["D11", "D22", "D23"]
    assert varying(comparison, "after") == []


def test_gravity_and_torques_are_those_of_the_arms(puma):
    comparison = puma.comparison
    q = np.random.default_rng(3).uniform(-np.pi, np.pi, (4000, 3))
    most = np.abs(puma.before.gravity_vector(q)).max(axis=0)
    assert np.all(comparison.gravity[0] <= most * 1.01)
    assert comparison.gravity[0][1] > 0.9 * most[1]
    np.testing.assert_allclose(comparison.gravity[1], 0.0, atol=1e-9 * most.max())
    # a constant mass matrix, no gravity: what is left is D q̈ and friction
    after = comparison.torques[1]
    motion = after.trajectory
    D = puma.robot.mass_matrix(np.zeros(3))
    expected = motion.qdd @ D.T + puma.robot.friction_torque(motion.qd)
    close(after.total, expected, 1e-9)


# the count


def test_a_constant_mass_matrix_is_counted_as_one(saha, puma):
    for found in (saha, puma):
        M = found.robot.mass_matrix(np.zeros(3))
        rotors = np.diag([joint.rotor.reflected for joint in found.before.model.joints])
        entries = np.count_nonzero(np.abs(M - rotors) > 1e-9)
        size = found.comparison.operations[1]
        assert size == armdyn.count_operations(found.robot)
        assert size.trig == 0
        assert size.mul <= entries
        assert size.add <= entries - 3
        assert size.total < found.comparison.operations[0].total / 5


def test_gravity_that_is_left_is_counted():
    robot = armdyn.load("two_link")
    found = simplify(robot, symbolic=False)
    assert varying(found.comparison, "after") == []
    assert np.abs(found.robot.gravity_vector([0.3, 0.2])).max() > 1.0
    assert found.comparison.operations[1].trig == 1


@pytest.mark.parametrize("seed", range(10))
def test_what_is_counted_is_the_product(seed):
    rng = np.random.default_rng(seed)
    # few numbers, so that some entries are equal and some rows share a part
    A = rng.integers(0, 3, (4, 4))
    D, qdd = (A @ A.T).astype(float) / 7, rng.normal(size=4)
    np.testing.assert_allclose(product(D)(qdd), D @ qdd, atol=1e-12)


# what to build


def test_counterweights_bolted_to_the_arm_make_it_the_designed_one():
    robot = armdyn.load("saha_3r")
    found = simplify(robot, "*.mass, *.com, *.inertia", add_only=True, symbolic=False)
    report = found
    links = list(robot.model.links)
    for build in report.changes:
        assert 1 <= len(build.weights) <= 4
        bolted = tuple(
            Body("weight", Inertia.from_com(w.mass, build.in_model(w.position), np.zeros((3, 3))))
            for w in build.weights
        )
        links[build.link] = Link(build.name, (*links[build.link].bodies, *bolted))
    built = armdyn.Robot(replace(robot.model, links=tuple(links)))
    M = built.mass_matrix(workspace(robot.model, 200))
    close(M, found.robot.mass_matrix(np.zeros((200, 3))), 1e-5)
    assert "Counterweights" in report.report()


def test_a_moved_centre_of_mass_is_told_as_bodies_not_as_counterweights(report):
    assert all(build.weights == () for build in report.changes)
    for build in report.changes:
        np.testing.assert_allclose(
            np.sort(build.after.principal), np.linalg.eigvalsh(build.after.tensor), atol=1e-9
        )
        # a uniform box with these sides has these moments
        square = build.after.sides**2
        box = build.after.mass / 12 * (square.sum() - square)
        np.testing.assert_allclose(box, build.after.principal, atol=1e-9)
    assert "material is taken away or moved" in report.report()


@pytest.mark.parametrize("ending", ["toml", "urdf"])
def test_a_saved_robot_has_the_designed_dynamics(puma, tmp_path, ending):
    path = tmp_path / f"new.{ending}"
    puma.robot.save(path)
    again = armdyn.load(path, physical="ignore")
    q = np.random.default_rng(0).uniform(-3, 3, (50, 3))
    close(again.mass_matrix(q), puma.robot.mass_matrix(q), 1e-9)
    close(again.friction_torque(q), puma.before.friction_torque(q), 1e-9)
    assert np.ptp(again.mass_matrix(q), axis=0).max() < 1e-9


# text, data, files


def test_the_text_has_every_part(report):
    text = report.report()
    parts = ("Saha 3R arm: the goal is reached", "goal: constant", "free: *.com, *.inertia",
             "Links", "Mass matrix", "Torques", "operations of the torque", "Time")  # fmt: skip
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert report.exit_code == 0


def test_what_is_not_reached_is_said_first(polar):
    report = polar
    first, *rest = report.report().splitlines()
    assert "not reached" in first
    assert "grows with the square of q2" in first
    assert any(line.startswith("  D11 varies by") for line in rest)
    assert "m̃2 |e1 × e2|² q2²" in report.report()
    data = report.data()
    assert (report.exit_code, data["exit_code"], data["feasible"]) == (1, 1, False)
    assert [item["element"] for item in data["remaining"]] == ["D11"]
    assert data["residual"] > 1e-3


def test_data_is_plain_and_says_what_the_text_says(report):
    data = json.loads(json.dumps(report.data(), allow_nan=False))
    assert (data["robot"], data["goal"], data["feasible"]) == ("saha_3r", ["constant"], True)
    assert [row["element"] for row in data["mass_matrix"]] == [
        e.element for e in report.comparison.elements
    ]
    assert f"= {data['operations']['after']['total']} after" in report.report()
    for link in data["links"]:
        T, com = np.array(link["canonical_frame"]), [*link["after"]["com"], 1.0]
        body = report.model.links[link["link"] - 1].inertia
        np.testing.assert_allclose((T @ com)[:3], body.com, atol=1e-12)
    assert set(data["seconds"]) >= {"design", "comparison"}


@pytest.mark.parametrize("words", ["*.com,*.inertia", "*.mass,x2,link3.inertia,Ixx1,link1.length"])
def test_what_is_free_is_told_in_words_that_mean_the_same(words):
    model = armdyn.load("saha_3r").model
    free = parse_design_variables(model, words)
    assert parse_design_variables(model, str(free)).symbols == free.symbols


def test_a_report_is_saved_by_its_ending(report, tmp_path):
    for ending, start in (
        (".txt", b"Saha"),
        (".json", b"{"),
        (".png", b"\x89PNG"),
        (".svg", b"<?"),
    ):
        path = tmp_path / f"report{ending}"
        report.save(path)
        assert path.read_bytes().startswith(start)
    with pytest.raises(WriteError, match=r"ending must be one of \.txt, \.json, \.png"):
        report.save(tmp_path / "report.docx")
    with pytest.raises(WriteError, match="cannot write"):
        report.save(tmp_path / "nowhere" / "report.png")
    assert len(list(tmp_path.iterdir())) == 4


def test_torques_follow_a_trajectory_of_the_user(saha, tmp_path):
    path = tmp_path / "move.csv"
    t = np.linspace(0, 1, 21)
    rows = np.column_stack([t, np.sin(t), np.cos(t), t**2])
    np.savetxt(path, rows, delimiter=",", header="t,q1,q2,q3", comments="")
    report = simplify(saha.before, symbolic=False, over=path)
    assert len(report.comparison.torques[0].trajectory) == 21
    assert f"peak: along {path}, 1 s" in report.report()
    assert report.data()["trajectory"] == {"file": str(path), "duration": 1.0}
    with pytest.raises(TrajectoryError, match="there is no file"):
        simplify(saha.before, over=tmp_path / "none.csv")
