"""What a simulation tells of itself: energies, the end of the motion, works and tracking."""

from dataclasses import replace

import numpy as np
import pytest

from armdyn.simulation.result import MAX_LISTED_EVENTS, Simulation
from armdyn.simulation.system import WORK, Event
from support.programs import EvaluatedRobot
from support.simulation_laws import planar

ROBOT = EvaluatedRobot(planar({}, {}).model)
RECORDS = 6


def recorded(*arms):
    """Arbitrary numbers in the place of a motion: all is different, nothing is zero."""
    rng = np.random.default_rng(len(arms))
    t = np.cumsum(rng.uniform(0.1, 0.2, RECORDS))
    vectors = rng.normal(size=(8, *arms, RECORDS, 2))
    work = np.cumsum(rng.uniform(0.1, 1, (*arms, RECORDS, 4)), axis=-2)
    return Simulation(ROBOT, "rk4", t - t[0], *vectors, work, reference=rng.normal(size=2))


@pytest.fixture(params=[(), (3,), (2, 3)], ids=["one", "three", "two by three"])
def motion(request):
    return recorded(*request.param)


def tables(motion):
    """The rows of each section by what they begin with."""
    return {
        part.title.partition(" [")[0]: {row[0]: row[1:] for row in part.rows}
        for part in motion.sections()
    }


def test_the_balance_is_what_energies_and_works_leave(motion):
    states = zip(motion.q.reshape(-1, 2), motion.qd.reshape(-1, 2), strict=True)
    energy = [ROBOT.kinetic_energy(*x) + ROBOT.potential_energy(x[0]) for x in states]
    gained = np.reshape(energy, motion.q.shape[:-1])
    gained = gained - gained[..., :1]
    actuators, friction, environment, impacts = np.moveaxis(motion.work, -1, 0)
    np.testing.assert_allclose(
        motion.balance, gained - actuators + friction - environment + impacts, atol=1e-12
    )
    np.testing.assert_allclose(
        motion.power,
        motion.tau[..., 0] * motion.qd[..., 0] + motion.tau[..., 1] * motion.qd[..., 1],
    )


def test_the_drift_is_the_worst_share_of_what_an_arm_exchanged(motion):
    swing = motion.potential.max(-1) - motion.potential.min(-1) + motion.kinetic.max(-1)
    exchanged = swing + np.abs(motion.work).max((-1, -2))
    worst = (np.abs(motion.balance).max(-1) / exchanged).max()
    assert motion.energy_drift == pytest.approx(worst)
    # an arm at rest has exchanged rounding alone: a millionth of its energy counts
    still = replace(motion, q=0 * motion.q + 0.3, qd=0 * motion.qd, work=0 * motion.work)
    lost = 1e-9 * abs(still.potential.max())
    still.work[..., -1, 3] = lost
    assert still.energy_drift == pytest.approx(1e-3, rel=1e-2)
    assert replace(motion, t=motion.t[:0]).energy_drift == 0


def test_data_and_table_have_the_end_of_the_motion(motion):
    data = motion.data()
    for name in ("q", "qd"):
        np.testing.assert_array_equal(data[name], getattr(motion, name)[..., -1, :])
    for name, values in (("kinetic", motion.kinetic), ("unaccounted", motion.balance)):
        np.testing.assert_array_equal(data[name], values[..., -1])
    for k, name in enumerate(WORK):
        np.testing.assert_array_equal(data["work"][name], motion.work[..., -1, k])
    assert (data["duration"], data["arms"]) == (motion.t[-1], motion.arms)
    assert motion.arms == motion.q.size // (2 * RECORDS)
    rows = tables(motion)["At the end"]
    for i, joint in enumerate(ROBOT.joint_names):
        if motion.arms == 1:
            told = [getattr(motion, name)[-1, i] for name in ("q", "qd", "qdd", "tau")]
        else:
            ends = [getattr(motion, name)[..., -1, i].ravel() for name in ("q", "qd")]
            told = [np.quantile(x, share) for x in ends for share in (0.05, 0.5, 0.95)]
        np.testing.assert_allclose(np.array(rows[joint][1:], dtype=float), told, rtol=1e-5)


def test_the_table_of_energies_goes_from_start_to_end(motion):
    rows = tables(motion)["Energy"]
    for name, values in (("kinetic", motion.kinetic), ("sum", motion.energy)):
        first, last = values[..., 0].mean(), values[..., -1].mean()
        told = np.array(rows[name], dtype=float)
        np.testing.assert_allclose(told, [first, last, last - first], rtol=1e-5)
    sources = ("from actuators", "to friction", "from the environment and the base", "to impacts")
    for k, source in enumerate(sources):
        flow = motion.work[..., -1, k].mean() * (-1 if source.startswith("to") else 1)
        assert float(rows[source][2]) == pytest.approx(flow, rel=1e-5)
    left = motion.balance[..., -1].mean()
    assert float(rows["unaccounted for"][2]) == pytest.approx(left, rel=1e-3)
    changes = sum(float(rows[source][2]) for source in sources) + left
    assert float(rows["sum"][2]) == pytest.approx(changes, abs=1e-4)


def test_the_error_of_tracking_is_over_all_arms_and_instants(motion):
    error = (motion.reference - motion.q).reshape(-1, 2)
    np.testing.assert_array_equal(motion.tracking_error.reshape(-1, 2), error)
    told = motion.data()["tracking"]
    np.testing.assert_allclose(told["largest"], np.abs(error).max(0))
    np.testing.assert_allclose(told["rms"], np.linalg.norm(error, axis=0) / len(error) ** 0.5)
    rows = tables(motion)["Error of tracking"]
    for i, joint in enumerate(ROBOT.joint_names):
        numbers = np.array(rows[joint][1:], dtype=float)
        np.testing.assert_allclose(numbers, [told["largest"][i], told["rms"][i]], rtol=1e-5)
    assert replace(motion, reference=None).data()["tracking"] is None


def test_columns_are_arm_by_arm_and_name_what_acts(motion):
    columns = replace(motion, stop=0 * motion.stop).columns()
    assert not any(name.startswith("stop") for name in columns)
    for name, values in (("q2", motion.q[..., 1]), ("base1", motion.base[..., 0])):
        np.testing.assert_array_equal(columns[name], values.ravel())
    np.testing.assert_array_equal(columns["t"], np.tile(motion.t, motion.arms))
    np.testing.assert_array_equal(columns["kinetic"], motion.kinetic.ravel())
    many = motion.q.ndim > 2
    assert ("arm" in columns) == many
    if many:
        np.testing.assert_array_equal(columns["arm"], np.repeat(np.arange(motion.arms), RECORDS))


def test_events_are_listed_until_there_are_too_many():
    for count in (0, 1, MAX_LISTED_EVENTS, MAX_LISTED_EVENTS + 3):
        events = tuple(Event(0.1 * k, "hits", "joint1") for k in range(count))
        told = replace(recorded(), events=events)
        assert len(told.data()["events"]) == count
        report = told.report()
        assert report.count("joint1 hits a stop") == min(count, MAX_LISTED_EVENTS)
        assert ("and 3 more" in report) == (count > MAX_LISTED_EVENTS)
        assert (f"Events: {count}" in report) == (count > 0)
