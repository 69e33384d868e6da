"""Motions that are designed: they keep their limits and show what they say they show."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import ExcitationError, ShapeError, TrajectoryError, UnknownNameError
from armdyn.identification.excitation.limits import motion_limits
from armdyn.identification.excitation.problem import Problem, RestBasis, aim_at
from armdyn.identification.excitation.search import _start
from armdyn.io.csv.trajectory import trajectory_from_csv
from support.paths import ROBOTS

PANDA_ACCELERATION = [15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0]
FRICTION = {
    "joint1.viscous": 0.3,
    "joint1.coulomb_positive": 0.4,
    "joint2.viscous": 0.2,
    "joint2.rotor": 0.1,
}
ARM = {"position": [(-2.0, 1.5), (-1.5, 2.0)], "speed": [2.0, 3.0], "acceleration": 12.0}


@pytest.fixture(scope="module")
def robot():
    return armdyn.load("two_link").with_parameters(FRICTION)


def gripper():
    return armdyn.load(ROBOTS / "gripper.urdf")


def one_joint():
    row = {"joint": "revolute", "a": 0.5, "alpha": 0.0, "d": 0.0, "theta": 0.0, "mass": 2.0}
    body = {"com": (-0.2, 0.0, 0.0), "inertia": np.diag([0.01, 0.02, 0.02]), "limits": (-1.0, 1.0)}
    return armdyn.from_dh([row | body], gravity=(0.0, -9.81, 0.0), name="door")


def stacked(robot, found, links=False):
    """The base regressor along a whole motion, at instants of its own."""
    s = found.samples(0.0137)
    return np.concatenate(robot.base_regressor(s.q, s.qd, s.qdd, links=links))


def keeps_limits(found, position, speed, acceleration, torque=np.inf):
    s = found.samples(found.trajectory.duration / 7919)
    low, high = np.array(position).T
    tau = found.robot.inverse_dynamics(s.q, s.qd, s.qdd)
    at_rest = np.abs([s.qd[[0, -1]], s.qdd[[0, -1]]]).max() < 1e-9
    assert at_rest
    assert np.abs(s.q[0] - s.q[-1]).max() < 1e-9
    return (
        ((s.q >= low) & (s.q <= high)).all()
        and (np.abs(s.qd) <= speed).all()
        and (np.abs(s.qdd) <= acceleration).all()
        and (np.abs(tau) <= torque).all()
    )


@pytest.mark.slow
def test_the_panda_is_shown_within_its_published_limits():
    robot = armdyn.load("panda")
    found = armdyn.excite(robot, 20, acceleration=PANDA_ACCELERATION, parameters="links")
    speed = [joint.limits.velocity for joint in robot.model.joints]
    effort = [joint.limits.effort for joint in robot.model.joints]
    assert keeps_limits(found, robot.limits, speed, PANDA_ACCELERATION, effort)
    condition = np.linalg.cond(stacked(robot, found, links=True))
    assert condition <= 15
    assert found.condition == pytest.approx(condition, rel=0.01)
    assert len(found.trajectory.a) == 5
    assert found.parameters == robot.base_parameters(links=True).names


@pytest.mark.slow
def test_the_slope_of_the_cost_is_that_of_differences():
    robot = armdyn.load("saha_3r").with_parameters(FRICTION)
    ranges = [(-2.0, 1.5), (-1.5, 2.0), (-1.0, 2.0)]
    limits = motion_limits(robot, ranges, 3.0, 12.0, torque=[60.0, 90.0, 30.0]).within(0.95)
    for criterion, start in (("condition", None), ("d-optimal", np.array([0.1, 0.2, 0.3]))):
        problem = Problem(
            *(robot, aim_at(robot, "all"), criterion, RestBasis.of(0.2, 3), limits, start, None),
            power=3.0,
            barrier=0.1,
        )
        rng = np.random.default_rng(1)
        z = _start(problem, rng)
        way = rng.standard_normal(len(z))
        step = 1e-6 * way
        difference = (problem(z + step)[0] - problem(z - step)[0]) / 2e-6
        assert problem(z)[1] @ way == pytest.approx(difference, rel=1e-5)
        assert np.isinf(problem(50 * z)[0])
        far = problem.coefficients(z)
        far[1:] *= 50
        assert problem.shrunk(far.copy(), 0.5, 1) is None
        inside = problem.shrunk(far.copy(), 0.5, 12)
        assert np.isfinite(problem(inside)[0])
        assert np.allclose(problem.coefficients(inside)[0], far[0], rtol=1e-14)


@pytest.mark.slow
def test_each_criterion_is_better_at_its_own(robot):
    found = {c: armdyn.excite(robot, 10, criterion=c, **ARM) for c in ("condition", "d-optimal")}
    value = {c: np.linalg.svd(stacked(robot, found[c]), compute_uv=False) for c in found}
    condition = {c: s[0] / s[-1] for c, s in value.items()}
    assert condition["condition"] < 0.9 * condition["d-optimal"]
    assert np.log(value["d-optimal"]).sum() > np.log(value["condition"]).sum() + 0.5
    for c, design in found.items():
        assert design.condition == pytest.approx(condition[c], rel=0.05)
        assert keeps_limits(design, *ARM.values())


@pytest.mark.slow
def test_a_seed_gives_one_motion(robot):
    options = ARM | {"harmonics": 3, "starts": 1}
    one, same, other = (armdyn.excite(robot, 6, **options, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(one.trajectory.a, same.trajectory.a)
    assert np.array_equal(one.trajectory.base, same.trajectory.base)
    assert not np.allclose(one.trajectory.a, other.trajectory.a)


@pytest.mark.slow
def test_torques_of_the_model_are_limited(robot):
    free = armdyn.excite(robot, 6, **ARM, starts=2)
    most = np.abs(free.dense.tau).max(0)
    found = armdyn.excite(robot, 6, **ARM, starts=2, torque=0.7 * most, start=(-1.5, 0.0))
    assert keeps_limits(found, *ARM.values(), 0.7 * most)
    assert found.samples().q[0] == pytest.approx([-1.5, 0.0])
    assert found.shares["torque"].max() > 0.8  # the limit decides


def test_a_start_that_cannot_be_held_is_refused_with_its_weight(robot):
    pose = np.array([0.3, 0.8])
    weight = np.abs(robot.gravity_vector(pose))
    assert armdyn.excite(robot, 6, **ARM, starts=1, torque=[99, 99], start=pose, harmonics=3)
    with pytest.raises(ExcitationError, match=f"start: joint1 needs {weight[0]:.4g} of .* to rest"):
        armdyn.excite(robot, 6, **ARM, torque=[0.9 * weight[0], 99], start=pose)


@pytest.mark.slow
def test_a_second_design_begins_with_the_first(robot):
    first = armdyn.excite(robot, 6, **ARM, starts=2)
    better = robot.with_parameters({"joint1.viscous": 0.9})
    second = armdyn.excite(better, 6, **ARM, starts=1, seed=9, initial=first)
    assert second.condition < 1.02 * first.condition


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "options"),
    [
        (gripper, {"harmonics": 4}),
        (one_joint, {"speed": 2.0}),
        (lambda: armdyn.load("scara"), {"speed": [1.0, 1.0, 0.2, 2.0], "harmonics": 3}),
    ],
    ids=["tree with a follower", "one joint", "slides"],
)
def test_other_arms(robot, options):
    robot = robot()
    found = armdyn.excite(robot, 8, starts=1, **options)
    s = found.samples()
    speed = found.limits.speed
    low, high = found.limits.lower, found.limits.upper
    assert ((s.q > low) & (s.q < high) & (np.abs(s.qd) < speed)).all()
    assert found.condition == pytest.approx(np.linalg.cond(stacked(robot, found)), rel=0.05)
    assert found.condition < 300
    assert (np.ptp(s.q, axis=0) > 0.02 * (high - low)).all()
    if robot.name == "gripper":  # -1.25 q + 0.003 of the follower is between -0.05 and 0
        assert low[1] == pytest.approx(0.003 / 1.25)
        follower = -1.25 * s.q[:, 1] + 0.003
        assert ((follower > -0.05) & (follower < 0)).all()


def test_chosen_parameters_are_shown_with_the_others_known(robot):
    table = [p.name for p in robot.parameter_table if p.linear]
    found = armdyn.excite(robot, 6, **ARM, starts=1, parameters=["link2", "joint1.viscous"])
    assert {name.partition(".")[0] for name in found.parameters} == {"link2", "joint1"}
    assert "joint1.viscous" in found.parameters
    s = found.samples()
    columns = [table.index(name) for name in found.parameters]
    Y = np.concatenate(robot.regressor(s.q, s.qd, s.qdd)[..., columns])
    assert np.linalg.cond(Y) == pytest.approx(found.condition, rel=0.05)
    # what is left out is a combination of what is kept
    whole = robot.regressor(s.q, s.qd, s.qdd)
    asked = [k for k, name in enumerate(table) if name.startswith("link2.")]
    both = np.concatenate(whole[..., sorted({*asked, *columns})])
    assert np.linalg.matrix_rank(both) == len(columns)


def test_the_search_tells_how_far_it_is_and_can_be_stopped(robot):
    told = []

    def progress(share, condition):
        told.append((share, condition))
        return len(told) >= 30

    found = armdyn.excite(robot, 6, **ARM, starts=3, progress=progress)
    assert found.stopped
    assert "stopped before it had finished" in found.report()
    assert len(told) == 30
    assert all(0 < share <= 1 for share, _ in told)
    assert keeps_limits(found, *ARM.values())


@pytest.mark.slow
def test_files_report_and_picture(robot, tmp_path):
    found = armdyn.excite(robot, 6, **ARM, starts=1)
    found.save(tmp_path / "motion.csv", dt=0.02)
    read = trajectory_from_csv(tmp_path / "motion.csv", 2)
    assert read.t[-1] == pytest.approx(6.0)
    assert len(read) == 301
    assert read.qdd == pytest.approx(found.trajectory(read.t).qdd, abs=1e-9)
    found.plot(tmp_path / "motion.png")
    assert (tmp_path / "motion.png").stat().st_size > 10_000
    text = found.report()
    assert f"condition number {found.condition:.4g}" in text
    assert "joint2" in text
    assert found.data()["condition"] == found.condition
    assert "two_link" in repr(found)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"duration": 0}, TrajectoryError, "duration: expected a positive number"),
        ({"duration": "long"}, TrajectoryError, "duration: expected a positive number"),
        ({"harmonics": 0}, ExcitationError, "harmonics .*: expected a whole number from 2"),
        ({"harmonics": True}, ExcitationError, "harmonics"),
        ({"starts": 0}, ExcitationError, "starts: expected a whole number from 1"),
        ({"seed": -1}, ExcitationError, "seed"),
        ({"periods": 0}, ExcitationError, "periods"),
        ({"margin": 1.0}, ExcitationError, "margin: expected a share from 0 to below 1"),
        ({"margin": 0.0, "radius": 0.1}, ExcitationError, "radius: .* give clearance="),
        ({"margin": -0.01}, ExcitationError, "margin: expected a share from 0 to below 1"),
        ({"criterion": "best"}, UnknownNameError, "criterion"),
        ({"position": None}, ExcitationError, "no limits of position of joint1, joint2"),
        ({"speed": None}, ExcitationError, r"no limit of speed of joint1.*--speed joint1="),
        ({"speed": {"joint1": 1.0}}, ExcitationError, "no limit of speed of joint2"),
        ({"speed": {"elbow": 1.0}}, UnknownNameError, "speed: joint of 'two_link' named 'elbow'"),
        ({"speed": -1.0}, ExcitationError, "speed: a limit must be positive"),
        ({"speed": [1.0, 2.0, 3.0]}, ShapeError, "speed"),
        ({"position": [(1.0, 1.0), (0.0, 1.0)]}, ExcitationError, "'joint1'.*cannot move"),
        ({"position": [(0.0, 1.0)]}, ExcitationError, r"position: expected .* shape \(2, 2\)"),
        ({"position": {"joint1": "all"}}, ExcitationError, "position: expected"),
        ({"parameters": "link9"}, UnknownNameError, "parameter of 'two_link' named 'link9'"),
        ({"parameters": ["link1.m"]}, ExcitationError, "nothing to identify"),
        ({"parameters": 3}, armdyn.errors.ArmdynError, "parameters"),
        ({"start": (9.0, 0.0)}, ExcitationError, "start: joint1 is at 9, not between"),
        ({"start": (0.0,)}, ShapeError, "start"),
        ({"torque": 0.01}, ExcitationError, "no motion .* joint1 needs .* to rest"),
        ({"torque": 0.01, "start": (0.0, 0.0)}, ExcitationError, "start: joint1 needs"),
        ({"radius": 0.1}, ExcitationError, "radius: .* give clearance="),
        ({"initial": 3}, ExcitationError, "initial: expected an earlier result"),
    ],
)
def test_bad_input_is_refused(robot, options, error, words):
    given = {"duration": 6.0, "starts": 1, "harmonics": 2} | ARM | options
    with pytest.raises(error, match=words):
        armdyn.excite(robot, given.pop("duration"), **given)


def test_very_long_arms_are_refused():
    row = {"joint": "revolute", "a": 0.1, "alpha": 1.0, "d": 0.0, "theta": 0.0, "mass": 1.0}
    robot = armdyn.from_dh([row | {"limits": (-1.0, 1.0), "com": (0, 0, 0)}] * 25, name="snake")
    with pytest.raises(ExcitationError, match=r"'snake' has 25 joints; .* at most 24.*--lock"):
        armdyn.excite(robot, 8, speed=1.0)


@pytest.mark.slow
def test_the_command_line_writes_a_motion(command, tmp_path):
    options = ["--position", "joint1=-2:1.5,joint2=-1.5:2", "--speed", "2,3", "--acceleration"]
    options += ["joint1=9,joint2=12", "--starts", "1", "--harmonics", "3"]
    file, picture = tmp_path / "m.csv", tmp_path / "m.svg"
    words = ["excite", "two_link", "--duration", "4", *options, "-o", str(file), "--plot"]
    code, out, err = command(*words, str(picture))
    assert (code, err) == (0, "")
    assert "condition number" in out
    assert len(trajectory_from_csv(file, 2)) == 401
    assert picture.stat().st_size > 10_000
    for more, text in (
        (["--duration", "0"], "duration"),
        (["--speed", "fast"], "--speed: expected a number"),
        (["--position", "joint1=3"], "expected LOW:HIGH"),
        (["--position", "-1:1"], "expected JOINT=LOW:HIGH"),
        (["--rate", "0"], "--rate: expected a positive number"),
        (["--start", "1"], "start: expected shape (..., 2)"),
    ):
        code, _, err = command("excite", "two_link", "--duration", "4", *options, *more)
        assert code == 2
        assert text in err.replace("\n", " ")
