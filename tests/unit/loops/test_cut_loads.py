"""What cut joints carry holds every link, regrouped loops move alike, and how singular they are."""

from functools import cache

import numpy as np
import pytest

from armdyn.formulations.base_parameters import base_parameters
from armdyn.formulations.kinematics import world_frames
from armdyn.formulations.newton_euler import newton_euler
from armdyn.formulations.parameters import robot_parameters
from armdyn.io.toml.read import read_toml
from armdyn.loops.coordinates import coordinates_of
from armdyn.loops.loop_coordinates import LoopSingularity
from armdyn.loops.regroup import KEPT_FIRST, regrouped
from armdyn.loops.rows import cut_loads
from support.loops import FIVE_BAR, SIX_BAR, dyad_arm
from support.random_loops import ROBOTS

HELD = ("RSSR", "RCCC", "RRRR on a plane", "cut slide", "six-bar", "hanging", "rod")


@cache
def regular(kind):
    """The first robot of a kind whose assembly is not nearly singular, and a motion of it."""
    for seed in range(40):
        model = ROBOTS[kind](seed).model()
        at = coordinates_of(model)
        start = at.assembly[list(model.independent)]
        if np.all(at.at(start).type2 > 0.1):
            return model, at, start
    raise AssertionError(kind)


@pytest.mark.parametrize("kind", HELD)
def test_what_cut_joints_carry_leaves_nothing_to_passive_joints_and_to_the_ground(kind):
    """With these loads the open tree needs no torque at passive joints, and its weight is as it was."""
    model, at, start = regular(kind)
    rng = np.random.default_rng(1)
    q = start + rng.uniform(-0.02, 0.02, len(start))
    here = at.at(q)
    motion = here.motion(*rng.uniform(-1, 1, (2, len(q))))
    free, frames = newton_euler(model, *motion), world_frames(model, motion[0])
    wrenches = here.cut_wrenches(free.tau, frames)
    loads = cut_loads(model, frames, wrenches).astype(float)
    held = newton_euler(model, *motion, loads[:-1])
    size = np.abs(free.tau).max()
    assert np.abs(held.tau[list(model.passive)]).max() < 1e-9 * size
    expected = here.torques(free.tau)
    np.testing.assert_allclose(held.tau[list(model.independent)], expected, atol=1e-9 * size)
    for part, (there, alone) in enumerate(zip(held.base, free.base, strict=True)):
        total = there + loads[-1, 3 * part : 3 * part + 3]
        np.testing.assert_allclose(total, alone, atol=1e-9 * size)


@pytest.fixture
def read(tmp_path):
    def reading(text):
        file = tmp_path / "robot.toml"
        file.write_text(text)
        return read_toml(file)[0]

    return reading


def test_regrouped_loops_have_as_many_numbers_as_base_parameters_and_move_alike(read):
    assert sorted(KEPT_FIRST) == list(range(10))
    for model in (read(FIVE_BAR), dyad_arm("RRP")):
        other, at = regrouped(model), coordinates_of(model)
        count = 10 * len(model.links)
        numbers = np.array([p.value for p in robot_parameters(other)])[:count]
        before = np.array([p.value for p in robot_parameters(model)])[:count]
        rank = base_parameters(at, links=True).rank
        assert np.count_nonzero(numbers) <= rank < np.count_nonzero(before)
        assert np.count_nonzero(numbers[::10]) <= np.count_nonzero(before[::10])
        rng = np.random.default_rng(2)
        q = at.drawn(rng, 5)
        here = at.at(q)
        motion = here.motion(*rng.uniform(-1, 1, (2, *q.shape)))
        torques = [here.torques(newton_euler(m, *motion).tau) for m in (model, other)]
        np.testing.assert_allclose(*torques, rtol=0, atol=1e-11)
        assert [p.value for p in robot_parameters(other)][count:] == (
            [p.value for p in robot_parameters(model)][count:]
        )


def test_a_planar_loop_is_as_singular_as_the_sine_between_its_two_rods(read):
    for text, rods in ((FIVE_BAR, [(1, 3)]), (SIX_BAR, [(1, 2), (3, 4)])):
        model = read(text)
        at = coordinates_of(model)
        q = at.drawn(np.random.default_rng(0), 6)
        here = at.at(q)
        names = [joint.name for joint in model.joints]
        turned = [sum(here.q[..., j] for j in model.paths[i]) for i in range(len(names))]
        expected = []
        for a, b in rods:
            links = [names.index(planar_names(text)[k]) for k in (a, b)]
            ends = [turned[i] + offset(model, i) for i in links]
            expected.append(np.abs(np.sin(ends[0] - ends[1])))
        np.testing.assert_allclose(here.type2, np.stack(expected, -1), atol=1e-12)
        apart = (
            at.at(q[:1] * 0 + [[1.0068, 1.8752]]).type2 if text is FIVE_BAR else np.zeros((1, 1))
        )
        assert apart.tolist() == [[0.0]]


def planar_names(text):
    """Joints in the order of the file."""
    found = text.split("[[joint]]")[1:]
    return [part.split('name = "')[1].split('"')[0] for part in found]


def offset(model, link):
    """The angle of the vector that turns with a link from its joint to where a loop ends."""
    for loop in model.loops:
        for end, T in ((loop.link_a, loop.frame_a), (loop.link_b, loop.frame_b)):
            if end == link:
                return np.arctan2(T[1, 3], T[0, 3])
    (child,) = model.children[link]
    place = model.joints[child].placement[:3, 3]
    return np.arctan2(place[1], place[0])


def test_singular_configurations_are_of_type_one_two_or_both():
    measure = LoopSingularity(
        np.array([0.1, 1e-7, 0.1, 1e-7]),
        np.array([[0.2, 0.3], [0.2, 0.3], [0.2, 1e-7], [0.0, 0.3]]),
    )
    assert measure.kind.tolist() == [0, 1, 2, 3]
