"""The choice of motors: the best of all pairs, by what each would really do."""

import json
from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, SizingError
from armdyn.model import Rotor
from armdyn.simulation.trajectories.piecewise import Samples
from armdyn.study.sizing.size import Choice, Load, motor_list
from support.drives import bar, motor, swing

ARM = [
    bar(a=0.4, alpha=0.0, viscous=0.1, rotor_inertia=1e-4, gear_ratio=-50.0),
    bar(a=0.4, alpha=np.pi / 2),
    bar(),
]
LIST = {
    "motor": [motor(f"M{k}", 1.7**k, price=100.0 - 9 * k) for k in range(6)],
    "gear": [{"ratios": [20.0, 40.0, 70.0]}, {"name": "fine", "ratios": 110.0, "mass": 0.2}],
}


@pytest.fixture(scope="module")
def robot():
    return armdyn.from_dh(ARM, gravity=(0, -9.81, 0))


def driven(robot, i, inertia, ratio):
    joints = list(robot.model.joints)
    joints[i] = replace(joints[i], rotor=Rotor(inertia, ratio))
    return armdyn.Robot(replace(robot.model, joints=tuple(joints)))


@pytest.mark.parametrize("minimise", ["mass", "price", "inertia", "power"])
def test_no_pair_that_fits_is_better_than_the_chosen_one(robot, minimise):
    move, margin = swing(3), 1.3
    found = armdyn.size(robot, move, LIST, minimise=minimise, margin=margin)
    load = robot.inverse_dynamics(move.q, move.qd, move.qdd)
    for i, choice in enumerate(found.choices):
        best = np.inf
        own = load[:, i] - robot.model.joints[i].rotor.reflected * move.qdd[:, i]
        for m, gear in motor_list(LIST).pairs(turns=True):
            torque = own / gear.ratio + m.rotor_inertia * gear.ratio * move.qdd[:, i]
            speed = gear.ratio * move.qd[:, i]
            fits = (
                margin * np.abs(torque).max() <= m.peak_torque
                and margin * np.sqrt(move.shares @ torque**2) <= m.rated_torque
                and margin * np.abs(speed).max() <= m.max_speed
            )
            costs = {
                "mass": m.mass + gear.mass,
                "price": m.price,
                "inertia": m.rotor_inertia * gear.ratio**2,
                "power": move.shares @ np.maximum(torque * speed, 0.0),
            }
            best = min(best, costs[minimise] if fits else np.inf)
        values = (choice.mass, choice.price, choice.reflected, choice.power)
        assert dict(zip(costs, values, strict=True))[minimise] == pytest.approx(best, rel=1e-5)


def test_the_new_robot_asks_of_its_motors_what_was_found(robot, tmp_path):
    found = armdyn.size(robot, swing(3), LIST)
    found.robot.save(tmp_path / "new.toml")
    report = armdyn.motors(armdyn.load(tmp_path / "new.toml"), swing(3))
    assert report.excesses == ()
    assert np.sign(report.ratio[0]) == -1  # the sense of rotation stays
    for i, choice in enumerate(found.choices):
        sign = np.sign(report.ratio[i])
        np.testing.assert_allclose(sign * report.torque[:, i], choice.torque, atol=1e-12)
        assert report.rms[i] == pytest.approx(choice.rms)
        assert report.torque_limit[i] == pytest.approx(choice.motor.peak_torque)
        assert report.rating[i] == pytest.approx(choice.motor.rated_torque)
        assert report.speed_limit[i] == pytest.approx(choice.motor.max_speed)


def test_peaks_and_means_of_all_pairs_are_those_of_the_torque_itself():
    rng = np.random.default_rng(3)
    move = swing(1, 200)
    listed = {"motor": LIST["motor"], "gear": [{"ratios": [3.0, 60.0], "efficiency": 0.7}]}
    pairs = motor_list(listed).pairs(turns=True)
    for torque in (rng.normal(size=200), 2.0 * move.qdd[:, 0], np.zeros(200), np.ones(200)):
        load = Load(torque, move.qd[:, 0], move.qdd[:, 0], move.shares)
        for m, gear in pairs:
            demands = Choice("joint1", load, m, gear).demands
            # τ_m = τ_e/N + J N q̈, whose mean square is a/N² + 2 b J + c J² N²
            behind, bend = load.behind(0.7), move.qdd[:, 0]
            a, b, c = (move.shares @ x for x in (behind**2, behind * bend, bend**2))
            J, N = m.rotor_inertia, gear.ratio
            square = a / N**2 + 2 * b * J + c * (J * N) ** 2
            assert demands["RMS torque"] == (pytest.approx(np.sqrt(square)), m.rated_torque)
            peak = np.abs(behind + J * N**2 * bend).max() / N
            assert demands["peak torque"] == (pytest.approx(peak), m.peak_torque)


def test_the_matched_ratio_of_an_inertia_is_the_root_of_the_ratio_of_inertias():
    flywheel = armdyn.from_dh(
        [dict(joint="revolute", inertia=(0, 0, 0.5))], gravity=(0, 0, 0), physical="ignore"
    )
    listed = {"motor": [motor(rotor_inertia=2e-4)], "gear": [{"ratios": [30.0]}]}
    (choice,) = armdyn.size(flywheel, swing(1), listed).choices
    assert choice.matched_ratio == pytest.approx(np.sqrt(0.5 / 2e-4))
    # there the rotor takes half of the torque
    assert choice.inertia * choice.matched_ratio**2 == pytest.approx(0.5)


def test_losses_help_where_the_load_drives():
    load = Load(np.array([4.0, 4.0, 4.0]), np.array([1.0, -1.0, 0.0]), np.zeros(3), np.ones(3) / 3)
    np.testing.assert_allclose(load.behind(0.5), [8.0, 2.0, 4.0])


def test_screws_and_linear_motors_drive_joints_that_slide():
    slide = armdyn.from_dh([bar(joint="prismatic")])
    screw = {"motor": [motor()], "gear": [{"leads": [0.02]}, {"ratios": [10.0]}]}
    (choice,) = armdyn.size(slide, swing(1), screw).choices
    assert choice.gear.ratio == pytest.approx(2 * np.pi / 0.02)
    linear = {"motor": [motor(linear=True, peak_torque=90.0, rated_torque=40.0, rotor_inertia=0.3)]}
    found = armdyn.size(slide, swing(1), linear)
    assert armdyn.motors(found.robot, swing(1)).units(0) == ("N", "m/s")
    with pytest.raises(SizingError, match=r"joint1 slides, .* \[\[gear\]\] with leads"):
        armdyn.size(slide, swing(1), {"motor": [motor()]})
    with pytest.raises(SizingError, match="joint1 turns"):
        armdyn.size(armdyn.from_dh([bar()]), swing(1), linear)


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        ({}, r"no \[\[motor\]\] to choose from"),
        ({"motor": []}, r"no \[\[motor\]\] to choose from"),
        ({"motors": [motor()]}, "no key 'motors'.*'motor'"),
        ({"motor": [motor(torque=1.0)]}, "motor 1 'M': there is no key 'torque'"),
        ({"motor": [motor(), motor()]}, "two motors are named 'M'"),
        ({"motor": [motor(peak_torque=0.1)]}, "peak torque 0.1 is below the rated torque 0.2"),
        ({"motor": [motor(max_speed=0.0)]}, "max_speed: expected a positive number, got 0"),
        ({"motor": [motor(mass=-1.0)]}, "mass: expected a number that is not negative"),
        ({"motor": [motor(mass="heavy")]}, "mass: expected a number, got 'heavy'"),
        ({"motor": [{"name": "M"}]}, "the key 'rotor_inertia' is missing"),
        ({"motor": [motor()], "gear": [{}]}, "gear 1: give ratios"),
        ({"motor": [motor()], "gear": [{"ratios": []}]}, "at least one number"),
        ({"motor": [motor()], "gear": [{"ratios": [-3.0]}]}, "ratios: expected a positive number"),
        ({"motor": [motor()], "gear": [{"ratios": ["x"]}]}, "ratios: expected numbers"),
        ({"motor": [motor()], "gear": [{"ratios": 3.0, "efficiency": 1.2}]}, "efficiency"),
        (3, "expected a TOML file, a mapping or a MotorList, got 3"),
        ("none.toml", "none.toml"),
    ],
)
def test_lists_that_cannot_be_used(robot, listed, message):
    with pytest.raises(ArmdynError, match=message):
        armdyn.size(robot, swing(3), listed)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margin": 0.5}, "margin: expected a number of 1 or more, got 0.5"),
        ({"margin": "x"}, "margin: expected a number"),
        ({"minimise": "noise"}, "no goal of sizing 'noise'.*Available: mass, price"),
        ({"margin": 100.0}, r"joint1 asks for .* RMS and .* comes closest: its .* times too much"),
    ],
)
def test_what_cannot_be_asked_for(robot, options, message):
    with pytest.raises(ArmdynError, match=message):
        armdyn.size(robot, swing(3), LIST, **options)


def test_the_cheapest_needs_prices(robot):
    with pytest.raises(ArmdynError, match="the motors M have no price"):
        armdyn.size(robot, swing(3), {"motor": [motor()]}, minimise="price")


def test_the_command(command, tmp_path):
    robot, move, motors = (tmp_path / name for name in ("arm.toml", "move.csv", "motors.toml"))
    armdyn.from_dh([bar()]).save(robot)
    Samples(*(getattr(swing(1), name) for name in ("t", "q", "qd", "qdd"))).save(move)
    rows = (f"{key} = {json.dumps(value)}" for key, value in motor().items())
    motors.write_text("[[motor]]\n" + "\n".join(rows) + "\n[[gear]]\nratios = [30, 60]\n")
    new, plot = tmp_path / "new.toml", tmp_path / "new.svg"
    words = ("size", *map(str, (robot, move, motors)))
    code, out, err = command(*words, "-o", str(new), "--plot", str(plot), "--minimise", "inertia")
    assert (code, err) == (0, "")
    assert "inertia" in out
    assert plot.stat().st_size > 10_000
    data = json.loads(command(*words, "--json")[1])
    assert data["joints"][0]["gear_ratio"] == armdyn.load(new).model.joints[0].rotor.gear_ratio
    motors.write_text("")
    code, out, err = command(*words)
    assert (code, out) == (2, "")
    assert "motors.toml: there is no [[motor]] to choose from" in err
    assert command(*words, "-o", str(tmp_path / "new.xml"))[0] == 2
