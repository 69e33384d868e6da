"""Closed forms of planar loops: what was solved for, where it was drawn, and torques by nodes."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from armdyn.formulations.kinematics import world_frames
from armdyn.formulations.newton_euler import newton_euler
from armdyn.graph import Graph, evaluate, reachable
from armdyn.io.toml.read import read_toml
from armdyn.loops import loop_coordinates
from armdyn.loops.closure import closure_of
from armdyn.loops.coordinates import coordinates_of
from armdyn.loops.loop_coordinates import REACH, is_planar, planar_torques
from armdyn.loops.newton import closed_near, size
from armdyn.loops.plane import angle_of
from armdyn.loops.rows import cut_lines, end_frames, largest_residuals, residuals
from armdyn.loops.steps import Dyad, LinearDyad, StandingDyad
from armdyn.model.edit import with_turned_links
from support.arms import ARMS
from support.loops import FIVE_BAR, PARALLELOGRAM_ARM, SIX_BAR, dyad_arm, planar_file
from support.random_loops import ROBOTS, planar, six_bar

KINDS = ("RRR", "RPR", "RRP", "PRR", "one_branch", "PP")


@pytest.fixture
def read(tmp_path):
    def reading(text):
        file = tmp_path / "robot.toml"
        file.write_text(text)
        return read_toml(file)[0]

    return reading


def motion(model, seed=3):
    rng = np.random.default_rng(seed)
    n = len(model.independent)
    q = coordinates_of(model).assembly[list(model.independent)] + rng.uniform(-0.01, 0.01, n)
    return q, *rng.uniform(-2.0, 2.0, (2, n))


def robots(read):
    """Robots in planes: from files, and in planes that lie anywhere, axes this way and that."""
    alike = FIVE_BAR.replace("0.31", "0.35").replace("0.47", "0.52")  # links of equal lengths
    yield from (read(text) for text in (FIVE_BAR, SIX_BAR, alike))
    yield from (planar(seed).model() for seed in (2, 3))
    yield six_bar(3).model()
    turns = Rotation.random(5, random_state=2).as_matrix()  # frames on joints turned anyhow
    yield from (with_turned_links(read(text), turns) for text in (FIVE_BAR, SIX_BAR))


def test_vectors_that_turn_with_a_link_are_those_of_its_closure_or_turned_as_they_are(read):
    """Also where they point the other way, so that programs take no other sine for them."""
    seen = 0
    for model in robots(read):
        q, *_ = motion(model)
        graph = Graph()
        at = coordinates_of(model).at(np.array(graph.inputs("q", len(q))))
        values = {f"q{k}": x for k, x in enumerate(q.tolist(), 1)}

        def plane(pair, values=values):
            return complex(*evaluate(list(pair), values))

        for dyad in at._steps:
            for segment, V in getattr(dyad, "parts", ()):
                if not any(segment.v):
                    continue
                path, v = segment.path, complex(*segment.v)
                turn = plane(V) / v
                assert abs(turn) == pytest.approx(1)
                for sign in (1, -1):
                    same = at.vector(path, (sign * v.real, sign * v.imag))
                    assert [sign * x for x in V] == list(same)
                for u in (0.3 - 0.2j, 2 * v, -2 * v):
                    for turned in (
                        at.vector(path, (u.real, u.imag)),
                        at.along(path, (u.real, u.imag)),
                    ):
                        assert plane(turned) == pytest.approx(turn * u)
                seen += 1
    assert seen > 12


def test_torques_in_the_plane_are_those_of_newton_and_euler(read):
    for model in robots(read):
        assert is_planar(model)
        q, qd, qdd = motion(model)
        graph = Graph()
        symbols = [graph.inputs(name, len(q)) for name in ("q", "qd", "qdd")]
        here = coordinates_of(model).at(q)
        values = {
            f"{name}{k}": float(v)
            for name, row in zip(("q", "qd", "qdd"), (q, qd, qdd), strict=True)
            for k, v in enumerate(row, 1)
        }
        for weight in (True, False):
            at = coordinates_of(model).at(symbols[0])
            nodes = planar_torques(model, at, *symbols[1:], weight)
            field = model.gravity if weight else np.zeros(3)
            expected = newton_euler(replace(model, gravity=field), *here.motion(qd, qdd)).tau
            # vectors are those of the closure: sine and cosine of coordinates alone are called
            turned = [n.args[0] for n in reachable(nodes) if n.op in ("sin", "cos")]
            assert {n.op for angle in turned for n in reachable([angle])} <= {"input", "neg"}
            found = evaluate([graph.node(x) for x in nodes], values)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)


def test_robots_out_of_a_plane_are_not_planar():
    assert not is_planar(dyad_arm("RRR"))
    assert not is_planar(planar(0, kinds=("RP", "RR")).model())


@pytest.mark.parametrize("kind", [*KINDS, "a slide with a motor first", "slide on a crank"])
def test_what_is_solved_for_is_what_is_seen_at_the_positions_that_were_found(kind):
    model = dyad_arm(kind) if kind in KINDS else ROBOTS[kind](0).model()
    (dyad,) = closure_of(model).steps
    assert isinstance(dyad, Dyad)
    for seed in range(3):
        q = motion(model, seed)[0]
        values = list(coordinates_of(model).at(q).q)
        free = [x if i in model.independent else 0.0 for i, x in enumerate(values)]
        solving, seen = StandingDyad(dyad, free), StandingDyad(dyad, values, solved=True)
        np.testing.assert_allclose(free, values, atol=1e-14)
        np.testing.assert_allclose(solving.columns, seen.columns, atol=1e-14)
        assert abs(solving.root) == pytest.approx(abs(seen.determinant), abs=1e-14)
        for one in (solving, seen):
            assert one.inverse * one.determinant == pytest.approx(1.0)
            np.testing.assert_allclose(
                one.over, np.divide(one.columns, one.determinant), atol=1e-12
            )
        for (segment, vector), (_, again) in zip(solving.parts, seen.parts, strict=True):
            np.testing.assert_allclose(vector, again, atol=1e-14)
            angle = angle_of(values, segment.path)
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            np.testing.assert_allclose(vector, turn @ segment.v, atol=1e-14)


MOTOR_ON_THE_PIN = planar_file(
    "motor_on_the_pin",
    [("crank", 0.25), ("disk", 0.1), ("coupler", 0.6), ("rocker", 0.25)],
    [
        ("crank", "base", "crank", 0.0, 0.0, 0.0, True),
        ("disk", "crank", "disk", 0.25, 0.0, 0.0, False),
        ("coupler", "disk", "coupler", 0.0, 0.0, 0.0, True),
        ("rocker", "base", "rocker", 0.6, 0.0, 0.0, False),
    ],
    [("pin", "coupler", 0.6, "rocker", 0.25)],
    {"crank": 1.1, "disk": -1.5, "coupler": 0.4, "rocker": 1.1},
)
"""A parallelogram with a motor beside a passive joint, on the same axis."""


def test_a_motor_on_the_axis_of_a_passive_joint_turns_nothing_but_that(read):
    model = read(MOTOR_ON_THE_PIN)
    at = coordinates_of(model)
    for q in ([1.3, 0.9], [0.8, -0.3]):
        full = at.positions(np.array(q))
        assert np.abs(residuals(model, full)).max() < 1e-14
        np.testing.assert_allclose(full, [q[0], -q[0] - q[1], q[1], q[0]], atol=1e-12)


def test_parallelograms_follow_with_the_ratios_and_offsets_of_their_links(read):
    model = read(PARALLELOGRAM_ARM)
    (dyad,) = closure_of(model).steps
    assert isinstance(dyad, LinearDyad)
    at = coordinates_of(model)
    q = np.random.default_rng(0).uniform(-3, 3, (20, 2))
    full = at.positions(q)
    assert np.abs(residuals(model, full)).max() < 1e-14
    a, b = q.T
    np.testing.assert_allclose(full, np.stack([a, b - a, b, a - b], -1), atol=1e-14)
    np.testing.assert_allclose(at.positions(at.assembly[[0, 2]]), at.assembly, atol=1e-12)


@pytest.mark.parametrize("seed", [0, 4])
def test_coordinates_are_drawn_around_the_assembly_and_in_ranges(seed, monkeypatch):
    model = planar(seed, kinds=("PR", "RR")).model()
    at, rng = coordinates_of(model), np.random.default_rng(0)
    start = at.assembly[list(model.independent)]
    unit = [1.0 if joint.type.turns else size(model) for joint in model.coordinate_joints]
    drawn = at.drawn(rng, 300)
    assert drawn.shape == (300, len(start))
    share = np.abs(drawn - start) / unit
    assert (share <= REACH).all()
    assert (share.max(0) > 0.5 * REACH).all()
    low, high = model.ranges.T
    ranged = at.drawn_in_ranges(rng, 7)
    assert ranged.shape == (7, len(start))
    assert ((low <= ranged) & (ranged <= high)).all()
    assert (at.at(drawn).type2.min(0) < 0.3 * at.at(start).type2).all()
    monkeypatch.setattr(loop_coordinates, "DRAWS", 1)  # those that are missing: near the assembly
    some = at.drawn_in_ranges(rng, 60)
    assert some.shape == (60, len(start))
    for q in (drawn[:20], ranged, some):
        assert (at.at(q).type2 > 0.1 * at.at(start).type2).all()
        assert np.abs(residuals(model, at.positions(q))).max() < 1e-12


def test_positions_near_the_assembly_differ_by_whole_turns(read):
    model = planar(1, kinds=("RP", "RR")).model()
    at = coordinates_of(model)
    full = at.positions(motion(model)[0])
    turns = np.array([joint.type.turns for joint in model.joints])
    passive = np.array([i in model.passive for i in range(len(full))])
    away = full + 2 * np.pi * np.where(turns & passive, [3, -2, 5, 1], 0)
    near = at.near_assembly(away)
    np.testing.assert_allclose(np.where(turns, np.cos(near - full), 1.0), 1.0, atol=1e-13)
    np.testing.assert_allclose(near[~turns | ~passive], away[~turns | ~passive], atol=0)
    assert (np.abs(near - at.assembly)[turns & passive] <= np.pi).all()


def test_loops_are_closed_from_nearby_and_what_they_miss_is_told(read):
    model = read(SIX_BAR)
    at = coordinates_of(model)
    found, missing = closed_near(model, at.assembly + np.array([0.2, 0.1, -0.1, 0.1, 0.05]))
    assert missing < 1e-13
    assert found[0] == at.assembly[0] + 0.2
    np.testing.assert_allclose(found, at.positions(found[:1]), atol=1e-12)
    away = found + np.array([0.0, 0.01, 0.0, 0.0, 0.02])
    each = np.abs(residuals(model, away)).reshape(2, -1).max(-1)
    np.testing.assert_array_equal(largest_residuals(model, away), each)
    frames = world_frames(model, found)
    for loop, (own, other) in zip(
        model.loops, np.reshape(cut_lines(model, frames), (2, 2, 2, 3)), strict=True
    ):
        ends = [T[:3, 3] for T in end_frames(frames, loop)]
        for link, (start, end), expected in zip(
            (loop.link_a, loop.link_b), (own, other), ends, strict=True
        ):
            np.testing.assert_array_equal(start, frames.O[link])
            np.testing.assert_array_equal(end, expected)


def test_coordinates_of_one_robot_are_one():
    for model in (arm.model for arm in (ARMS["hand"], ARMS["elbow"])):
        at, other = coordinates_of(model), coordinates_of(model)
        assert at == other == at.at(np.ones(len(model.independent)))
        assert len({at, other}) == 1
        assert at != coordinates_of(ARMS["scara"].model)
