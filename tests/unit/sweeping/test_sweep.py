"""Sweeps against the same states in one array, and against other libraries' samples."""

import warnings
from itertools import product

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, SweepError
from armdyn.sweeping import Exceeded, Extremes, Histogram, Moments, Quantiles
from armdyn.sweeping import space as blocks
from armdyn.sweeping.columns import columns_of
from armdyn.sweeping.reductions import REDUCTIONS

ALL = [Extremes(), Moments(), Histogram(20), Quantiles(), Exceeded(limits=[4.0, 15.0, 3.0])]


@pytest.fixture(scope="module")
def robot():
    return armdyn.load("saha_3r")


@pytest.fixture(autouse=True, scope="module")
def small_blocks():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "SMALLEST_BLOCK", 2**12)
        yield


@pytest.fixture(scope="module")
def random_sweep(robot):
    over = armdyn.Random(30_000, seed=3, q=(-2, 2), qd=(-3, 3), qdd=[1.0, (0, 4), 0.5])
    return armdyn.sweep(robot, "inverse_dynamics", over, ALL)


def torques(result):
    states = result.states(np.arange(result.count))
    return states, result.subject.robot.inverse_dynamics(**states)


def test_a_grid_has_every_combination_and_finds_its_extremes(robot):
    axes = np.linspace(-1, 2, 9), np.array([0.1, -0.4, 0.9]), np.linspace(0, 3, 4)
    over = armdyn.Grid(q1=(-1, 2, 9), q2=axes[1].tolist(), qd2=(0, 3, 4), qdd=0.5)
    result = armdyn.sweep(robot, "inverse_dynamics", over)
    states, tau = torques(result)
    expected = np.array([*product(*axes)])
    np.testing.assert_array_equal(
        np.column_stack([states["q"][:, :2], states["qd"][:, 1]]), expected
    )
    assert (states["qdd"] == 0.5).all()
    assert (states["qd"][:, 0] == 0).all()
    np.testing.assert_array_equal(result.extremes.max, tau.max(axis=0))
    np.testing.assert_array_equal(result.extremes.argmin, tau.argmin(axis=0))
    worst = result.state(int(result.extremes.argworst[0]))
    assert abs(robot.inverse_dynamics(**worst)[0]) == result.extremes.worst[0]


def test_results_are_kept_for_each_value_of_some_columns(robot):
    over = armdyn.Grid(q1=(-1, 2, 9), q2=(None, None, 7), qd1=(0, 3, 5))
    result = armdyn.sweep(
        robot, "inverse_dynamics", over, ["extremes", "moments"], by=("qd1", "q2")
    )
    _, tau = torques(result)
    cells = tau.reshape(5, 7, 9, 3)
    np.testing.assert_array_equal(result.extremes.min, cells.min(axis=2))
    np.testing.assert_allclose(result.moments.mean, cells.mean(axis=2), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(result.kept["q2"], np.linspace(*robot.model.ranges[1], 7))
    at = result.states(result.extremes.argmax[..., 0])
    assert (at["q"][..., 1] == result.kept["q2"]).all()
    np.testing.assert_array_equal(robot.inverse_dynamics(**at)[..., 0], result.extremes.max[..., 0])


def test_reductions_are_those_of_all_results(random_sweep):
    _, tau = torques(random_sweep)
    found = random_sweep
    np.testing.assert_array_equal(found.extremes.min, tau.min(axis=0))
    np.testing.assert_array_equal(found.extremes.argmax, tau.argmax(axis=0))
    np.testing.assert_allclose(found.moments.mean, tau.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.moments.std, tau.std(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.moments.rms, np.sqrt((tau**2).mean(axis=0)), rtol=1e-12)
    for e in range(3):
        counts, _ = np.histogram(tau[:, e], found.histogram.edges[e])
        assert np.abs(counts - found.histogram.counts[e]).sum() <= 2  # an edge is rounded
    outside = found.histogram.below + found.histogram.above
    assert (found.histogram.counts.sum(axis=-1) + outside == len(tau)).all()
    exact = np.quantile(tau, found.quantiles.levels, axis=0, method="inverted_cdf").T
    np.testing.assert_allclose(found.quantiles.values, exact, rtol=2**-7.9)
    beyond = np.abs(tau) > found.exceeded.limits
    np.testing.assert_array_equal(found.exceeded.count, beyond.sum(axis=0))
    for e in range(3):
        np.testing.assert_array_equal(found.exceeded.states[e], np.flatnonzero(beyond[:, e])[:8])


def test_samples_are_uniform_and_each_is_made_alone(robot, random_sweep):
    space = random_sweep.space
    rows = space.rows(0, space.count)
    np.testing.assert_array_equal(space.rows(12_345, 12_400), rows[12_345:12_400])
    unit = (rows[:, space.varying] - space.low) / space.width
    assert ((unit >= 0) & (unit < 1)).all()
    counts = np.array([np.histogram(column, 32, (0, 1))[0] for column in unit.T])
    expected = len(rows) / 32
    assert (((counts - expected) ** 2 / expected).sum(axis=1) < 70).all()  # chi² of 31: 1 in 10^4
    assert np.abs(np.corrcoef(unit.T) - np.eye(7)).max() < 4 / np.sqrt(len(rows))
    other = armdyn.Random(100, seed=4, q=(-2, 2)).space(space.columns).rows(0, 100)
    assert not np.isin(other[:, 0], rows[:, 0]).any()


def test_sobol_points_are_those_of_scipy(robot):
    from scipy.stats import qmc  # it takes as long as all other tests of this file

    columns = columns_of(robot, {"q": 3, "qd": 3, "qdd": 3}, {})
    over = armdyn.Sobol(1000, seed=None, q=(0, 1), qd=(0, 2), qdd=3.0)
    rows = over.space(columns).rows(0, 1000)
    engine = qmc.Sobol(6, scramble=False, bits=52)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(rows[:, :6], engine.random(1000) * [1, 1, 1, 2, 2, 2])
    shifted = armdyn.Sobol(1024, seed=1, q=(0, 1)).space(columns).rows(0, 1024)[:, :3]
    for k in range(3):  # a shifted net is a net: one point in every strip
        assert sorted(np.floor(shifted[:, k] * 1024)) == [*range(1024)]


def test_the_number_of_threads_changes_no_bit(robot, random_sweep):
    over = armdyn.Random(30_000, seed=3, q=(-2, 2), qd=(-3, 3), qdd=[1.0, (0, 4), 0.5])
    armdyn.set_threads(1)
    try:
        alone = armdyn.sweep(robot, "inverse_dynamics", over, ALL)
    finally:
        armdyn.set_threads(None)
    same_bits(alone, random_sweep)


def same_bits(one, other):
    for name, values in one.arrays().items():
        assert values.tobytes() == other.arrays()[name].tobytes(), name


@pytest.mark.slow
def test_payload_and_gravity_are_columns(robot):
    over = armdyn.Grid(q=0.3, payload=(0, 2, 3), gravity2=[-9.81, 0.0])
    result = armdyn.sweep(robot, "gravity_vector", over, by=("payload1", "gravity2"))
    for i, mass in enumerate((0.0, 1.0, 2.0)):
        for j, g in enumerate((-9.81, 0.0)):
            field = [robot.gravity[0], g, robot.gravity[2]]
            other = robot.with_gravity(field).with_payload(mass, physical="ignore")
            expected = other.gravity_vector([0.3, 0.3, 0.3])
            np.testing.assert_allclose(result.extremes.max[i, j], expected, atol=1e-12)


def test_results_that_are_no_number_are_counted():
    still = dict(joint="revolute", a=0.5, alpha=0.0, d=0.0, theta=0.0, mass=1.0, com=(0.1, 0, 0))
    robot = armdyn.from_dh([still], gravity=(0, -9.81, 0))
    rows = {"q": np.array([[0.0], [np.nan], [1.0], [np.nan]])}
    result = armdyn.sweep(robot, "inverse_dynamics", rows, list(REDUCTIONS)[:4])
    assert result.extremes.lost.tolist() == [2]
    assert result.moments.count.tolist() == [2]
    assert result.histogram.lost.tolist() == [2]
    assert np.isfinite(result.quantiles.values).all()


GRID = armdyn.Grid(q1=(0, 1, 3))


@pytest.mark.parametrize(
    ("over", "options", "message"),
    [
        (armdyn.Grid(q4=1), {}, "no argument or column 'q4'. Did you mean"),
        (armdyn.Grid(q=(0, 1)), {}, r"q1: expected a number, a range \(lower, upper, points\)"),
        (armdyn.Grid(q=(1, 0, 3)), {}, "goes from 1 down to 0; swap them"),
        (armdyn.Grid(q=[1.0]), {}, "an entry for each of the 3 columns q1 to q3, got 1"),
        (armdyn.Grid(q1=float("nan")), {}, "q1: expected a finite number"),
        (armdyn.Grid(qdd=(None, 1, 2)), {}, "its lower limit is not known; give a number"),
        (armdyn.Grid(q=(0, 1, 0)), {}, "points of q1: expected a whole number from 1 on, got 0"),
        (armdyn.Grid(q=(0, 1, 1e9), qd=(0, 1, 1e9)), {}, "that can be numbered; give fewer points"),
        (armdyn.Random(9, q=(0, 1, 3)), {}, r"expected a number or a range \(lower, upper\), got"),
        (armdyn.Random(9), {"by": ("q1",)}, "only a grid has values to keep"),
        (GRID, {"by": ("q9",)}, "no column 'q9'"),
        (GRID, {"by": ("q1", "q1")}, "by: each column once, got q1, q1"),
        (GRID, {"by": 5}, "by"),
        ({"q": np.array([["a", "b", "c"]])}, {}, "arrays: states 0 to 0 of q are no numbers"),
        (GRID, {"reduce": "mean"}, "no reduction 'mean'"),
        (GRID, {"reduce": 3}, "reduce: expected names of reductions"),
        (GRID, {"reduce": ["moments", "moments"]}, "each reduction once"),
        (GRID, {"reduce": Quantiles(levels=(0.5,)), "by": ("q1",), "fiction": False}, "'fiction'"),
        (GRID, {"reduce": Histogram(0)}, "bins: expected a whole number"),
        (GRID, {"reduce": Histogram(low=1, high=0)}, "must be finite, with low below high"),
        (GRID, {"reduce": Exceeded(limits=-1)}, "expected one number from 0 on"),
        (GRID, {"reduce": Exceeded()}, "limits: none are known; give Exceeded"),
        (GRID, {"out": "a.txt"}, r"must be one of \.zarr, \.parquet"),
        (GRID, {"out": "no/such/a.zarr"}, "there is no folder"),
        (GRID, {"client": 3}, "expected a dask.distributed.Client or the address"),
        ({"q": np.zeros((3, 4))}, {}, r"q: expected an array of shape \(states, 3\), got \(3, 4\)"),
        ({"q": np.zeros((3, 3)), "qd": np.zeros((2, 3))}, {}, "as many states in every array"),
        ({"w": np.zeros((3, 2))}, {}, "no argument 'w' here"),
        ("states.txt", {}, "there is no file states.txt"),
        (7, {}, "over: expected a Grid, Random or Sobol"),
    ],
)  # fmt: skip
def test_what_cannot_be_swept_is_refused(robot, over, options, message):
    with pytest.raises(ArmdynError, match=message):
        armdyn.sweep(robot, "inverse_dynamics", over, **options)


@pytest.mark.slow
def test_numbers_and_options_with_names(robot):
    over = armdyn.Random(200, q=(-1, 1), qd=(-1, 1))
    energy = armdyn.sweep(robot, "kinetic_energy", over, ["extremes", "moments"])
    states = energy.states(np.arange(200))
    assert energy.extremes.max == robot.kinetic_energy(**states).max()
    assert "kinetic energy" in energy.report()
    still = armdyn.sweep(robot, "bias", over, base_motion=True)  # a base that stands
    np.testing.assert_allclose(still.extremes.max, robot.bias(**states).max(axis=0), atol=1e-12)
    pushed = armdyn.sweep(robot, "inverse_dynamics", over, wrench="tool")
    np.testing.assert_allclose(pushed.extremes.max, still.extremes.max, atol=1e-12)


def test_levels_are_shares():
    with pytest.raises(SweepError, match="expected shares between 0 and 1"):
        Quantiles(levels=(50,))


def test_what_is_kept_of_many_cells_must_fit(robot):
    over = armdyn.Grid(q=(0, 1, 1000))
    with pytest.raises(SweepError, match="keep fewer columns, or reduce to less"):
        armdyn.sweep(robot, "gravity_vector", over, Quantiles(), by=("q1", "q2"))
