"""The way from the assembly, of numbers and of nodes, and couplings of angles that a loop moves."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from armdyn.graph import Graph, evaluate
from armdyn.loops.closure import closure_of
from armdyn.loops.coordinates import coordinates_of
from armdyn.loops.iteration import LAST_MISSING, Iteration, _drawn, _way, loop_around
from armdyn.loops.newton import NEAR, nearby
from armdyn.loops.rows import closure_matrix, residuals
from armdyn.loops.values import entries, stacked
from support.elimination import eliminated
from support.random_loops import ROBOTS, lengthened, scaled, spatial


def iteration_of_model(model):
    found = closure_of(model).iteration
    assert isinstance(found, Iteration)
    return found


def test_nodes_take_the_way_that_numbers_take():
    """Evaluated, the graph of an iteration has the positions of the iteration of numbers."""
    model = ROBOTS["rod"](1).model()
    iteration = replace(iteration_of_model(model), parts=4)
    at = coordinates_of(model)
    start = at.assembly[list(model.independent)]
    for q in (start + 0.02, start + np.array([0.1, -0.15]), start - 0.05):
        graph = Graph()
        symbols = list(graph.inputs("q", len(q)))
        nodes = [graph.node(x) for x in iteration.positions(symbols)]
        values = {f"q{k}": v for k, v in enumerate(q.tolist(), 1)}
        numbers = np.array(iteration.positions(q.tolist()))
        found = np.array(evaluate(nodes, values))
        assert np.isfinite(numbers).all()
        np.testing.assert_allclose(np.exp(1j * found), np.exp(1j * numbers), atol=1e-13)
        assert np.abs(residuals(model, numbers)).max() < 1e-13


def test_a_step_squares_what_is_missing_and_refuses_what_it_cannot_mend():
    model = ROBOTS["RSSR"](0).model()
    iteration, at = iteration_of_model(model), coordinates_of(model)
    passive = list(model.passive)
    off = np.zeros(len(model.joints))
    off[passive] = np.random.default_rng(0).uniform(0.5, 1.0, len(passive))
    missing = []
    for size in (1e-2, 1e-3):
        away = at.assembly + size * off
        step = np.array(iteration.stepped(away.tolist(), 2.0))
        missing.append(np.abs(residuals(model, step)).max())
        assert missing[-1] < 20 * size**2
        assert missing[-1] < 0.1 * np.abs(residuals(model, away)).max()
    assert missing[0] / missing[1] > 50
    with np.errstate(invalid="ignore"):
        lost = iteration.stepped((at.assembly + 5e-6 * off).tolist(), LAST_MISSING)
    assert np.isnan(np.array(lost, dtype=float)[passive]).all()
    kept = iteration.stepped((at.assembly + 1e-9 * off).tolist(), LAST_MISSING)
    np.testing.assert_allclose(kept, at.assembly, atol=1e-14)


def test_residuals_are_weighed_so_that_the_size_of_a_robot_does_not_matter():
    for kind in ("rod", "RCCC"):
        small = ROBOTS[kind](0).model()
        loop = iteration_of_model(small).left.loops[0]
        large = scaled(small, 8.0)
        turned = loop.linearised(loop_positions(small, loop))[0]
        q = small.assembly + 0.01
        rows = [residuals(m, lengthened(m, q, k)) for m, k in ((small, 1.0), (large, 8.0))]
        weights = [loop.weights(k) for k in (1.0, 8.0)]
        np.testing.assert_allclose(rows[1] * weights[1], rows[0] * weights[0], rtol=1e-10)
        assert len(turned) == len(loop.rows)


def loop_positions(model, loop):
    return model.assembly[list(loop.members)]


def test_a_loop_is_the_same_where_the_joints_before_it_stand_elsewhere():
    model = ROBOTS["hanging"](0).model()
    at = coordinates_of(model)
    q = at.positions(at.assembly[list(model.independent)])
    for loop in model.loops:
        alone = loop_around(model, loop)
        own = q[list(alone.members)] + 0.01
        whole = q + 0.01
        r, A = alone.linearised(own)
        rows = [
            k for k, name in enumerate(x for x in model.loops for _ in x.cut.rows) if name is loop
        ]
        np.testing.assert_allclose(r, residuals(model, whole)[rows], atol=1e-13)
        full = closure_matrix(model, whole)[rows]
        np.testing.assert_allclose(A, full[:, list(alone.members)], atol=1e-13)
        others = [i for i in range(len(q)) if i not in alone.members]
        assert not np.abs(full[:, others]).max(initial=0.0) > 1e-13


@pytest.mark.parametrize("ratio", [2.0, -1.0])
def test_a_joint_follows_an_angle_that_an_iteration_finds(ratio):
    robot = spatial(1, "RRRR", (0,), "spherical", split=3)
    robot.add("finger", robot.connections[1].child, np.eye(4))
    leader = robot.passive[0]
    robot.follow("finger", leader, (ratio,))
    model = robot.model()
    at, qd, qdd = coordinates_of(model), np.array([0.7]), np.array([-0.4])
    q = at.assembly[list(model.independent)] + 0.03
    robot = SimpleNamespace(model=model, all_joints=at.positions)
    full, rates, changes, *_ = eliminated(robot, q, qd, qdd)
    here = at.at(q)
    np.testing.assert_allclose(np.exp(1j * here.q), np.exp(1j * full), atol=1e-12)
    np.testing.assert_allclose(here.rates(qd), rates, atol=1e-11)
    np.testing.assert_allclose(here.accelerations(qd, qdd), changes, atol=1e-9)


@pytest.mark.parametrize("kind", ["RSSR", "7 joints, held"])
def test_pivots_are_measured_by_the_columns_of_the_assembly(kind):
    model = ROBOTS[kind](0).model()
    whole, assembly = iteration_of_model(model).whole, coordinates_of(model).assembly
    A = closure_matrix(model, assembly)[:, list(whole.columns)]
    np.testing.assert_allclose(whole.usual, (A**2).sum(0), rtol=1e-6)


def test_several_configurations_near_the_assembly_are_closed():
    model = ROBOTS["RSSR"](0).model()
    assembly = coordinates_of(model).assembly
    found = list(nearby(model, assembly))
    assert len(found) == len(NEAR)
    moved = [q[list(model.independent)] - assembly[list(model.independent)] for q in found]
    for q, by, step in zip(found, moved, NEAR, strict=True):
        assert np.abs(residuals(model, q)).max() < 1e-10
        assert (by / step >= 0.5).all()
        assert (by / step <= 1.0).all()
    assert len({*np.concatenate(moved) / np.repeat(NEAR, len(moved[0]))}) > len(NEAR) - 1


@pytest.mark.parametrize("parts", [1, 2, 4, 8])
@pytest.mark.parametrize(("start", "end"), [(0.3, 1.1), (-2.9, 2.8), (2.0, -0.4), (0.5, 9.5)])
def test_a_way_has_steps_of_one_length_and_turns_the_shorter_way(parts, start, end):
    """Of slides from end to end; of angles up to whole turns, as numbers and as nodes."""
    shorter = np.angle(np.exp(1j * (end - start)))
    for turns, whole in ((False, end - start), (True, shorter)):
        graph = Graph()
        (x,) = graph.inputs("q", 1)
        nodes = _way(x, graph.number(start), turns, parts)
        for found in (_way(end, start, turns, parts), evaluate(nodes, {"q1": end})):
            off = found - (start + whole * np.arange(1, parts + 1) / parts)
            missing = np.angle(np.exp(1j * off)) if turns else off
            np.testing.assert_allclose(missing, 0, atol=4e-14)
            assert np.exp(1j * found[-1]) == pytest.approx(np.exp(1j * end), abs=1e-14)


@pytest.mark.parametrize("kind", ["RCCC", "cut slide", "RSSR"])
def test_states_are_drawn_on_both_sides_of_the_assembly_and_within_limits(kind):
    iteration = iteration_of_model(ROBOTS[kind](1).model())
    model = iteration.model
    start = iteration.assembly[list(model.independent)]
    turns = np.array([model.joints[i].type.turns for i in model.independent])
    reach = np.where(turns, np.pi, iteration.size)
    for low, high in ((np.inf, np.inf), (0.2, 0.1), (np.inf, 0.3), (0.4, 0.0), (0.4, -0.1)):
        at = dict(zip(model.independent, start.tolist(), strict=True))
        joints = tuple(
            replace(joint, limits=replace(joint.limits, lower=at[i] - low, upper=at[i] + high))
            if i in at
            else joint
            for i, joint in enumerate(model.joints)
        )
        limited = SimpleNamespace(
            model=replace(model, joints=joints), assembly=iteration.assembly, size=iteration.size
        )
        off = _drawn(limited) - start
        below, above = (np.minimum(reach, max(x, 0.0)) for x in (low, high))
        for column, least, most in zip(off.T, -below, above, strict=True):
            assert least <= column.min() <= 0.25 * least
            assert column.max() <= most
            assert not most or column.max() >= 0.25 * most
        far = np.abs(off) / np.where(off < 0, below, np.maximum(above, 1e-300))
        assert np.median(far) < 0.4  # more of them near the assembly


def test_a_way_has_as_many_parts_as_it_needs():
    """Wherever many more parts lead, those that were chosen lead as well."""
    model = ROBOTS["RCCC"](1).model()
    iteration = iteration_of_model(model)
    start = iteration.assembly[list(model.independent)]
    q = start + np.random.default_rng(7).uniform(-np.pi, np.pi, (40, len(start)))
    few, many = (
        stacked(replace(iteration, parts=parts).positions(entries(q)))
        for parts in (iteration.parts, 4 * iteration.parts)
    )
    closed = np.isfinite(many).all(-1)
    assert closed.mean() > 0.9
    np.testing.assert_allclose(np.exp(1j * few)[closed], np.exp(1j * many)[closed], atol=1e-12)
