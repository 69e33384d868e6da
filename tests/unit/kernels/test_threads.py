"""Large batches on several threads: the same bits, the errors of one thread, the GIL left alone."""

import threading
import time

import numpy as np
import pytest

import armdyn
from armdyn.errors import ModelError
from armdyn.kernels import threads as module
from armdyn.kernels.threads import SMALLEST, run, set_threads, threads

ROBOT = armdyn.load("two_link")
MANY = 5 * SMALLEST + 3


@pytest.fixture(autouse=True)
def _reset():
    yield
    set_threads(None)


@pytest.fixture(scope="module")
def kernel():
    return ROBOT.kernel("inverse_dynamics").__self__


def states(*batch, seed=1):
    return list(np.random.default_rng(seed).uniform(-2, 2, (3, *batch, 2)))


@pytest.mark.parametrize("count", [1, 2, 3, 8, None])
@pytest.mark.parametrize("batch", [(MANY,), (3, MANY // 2), (MANY // 2, 3), (1, MANY), (150, 151)])
def test_same_bits_for_any_number_of_threads(kernel, count, batch):
    given = states(*batch)
    expected = kernel.gufunc(*given)
    set_threads(count)
    assert np.array_equal(kernel(*given), expected)
    backwards = [x[::-1] for x in given]
    assert np.array_equal(kernel(*backwards), expected[::-1])
    out = np.full((*batch, 4), np.nan)[..., 1:3]
    assert kernel(*given, out=out) is out
    assert np.array_equal(out, expected)
    columns = np.asfortranarray(given[0])
    assert np.array_equal(kernel(columns, *given[1:]), expected)


def test_broadcast_arguments_are_not_cut(kernel):
    q, qd, qdd = states(MANY)
    set_threads(4)
    for given in ((q[0], qd, qdd), (q, qd[0], qdd[:1]), (q[None], qd[0], qdd)):
        assert np.array_equal(kernel(*given), kernel.gufunc(*given))
    table = q[:200, None], qd[:150], qdd[0]
    assert np.array_equal(kernel(*table), kernel.gufunc(*table))
    matrix = ROBOT.kernel("mass_matrix").__self__
    assert np.array_equal(matrix(q), matrix.gufunc(q))


def test_in_place_and_overlapping(kernel):
    given = states(MANY)
    expected = kernel.gufunc(*given)
    set_threads(4)
    taken = [x.copy() for x in given]
    kernel(*taken, out=taken[1])
    assert np.array_equal(taken[1], expected)
    for shift in (1, 1000):
        for ahead in (True, False):
            buffer = np.empty((MANY + shift, 2))
            here, there = buffer[shift:], buffer[:-shift]
            source, out = (here, there) if ahead else (there, here)
            source[...] = given[0]
            kernel(source, *given[1:], out=out)
            assert np.array_equal(out, expected)
    buffer = np.empty((MANY, 2))
    buffer[-1] = given[0][0]
    again = kernel(buffer[-1].copy(), *given[1:])
    kernel(buffer[-1], *given[1:], out=buffer)
    assert np.array_equal(buffer, again)


def test_small_batches_stay_on_one_thread_and_large_ones_do_not(kernel):
    names = []

    def watched(*arrays, out):
        names.append(threading.current_thread().name)
        return kernel.gufunc(*arrays, out=out)

    set_threads(3)
    for size, pieces in ((2 * SMALLEST - 1, 1), (2 * SMALLEST, 2), (MANY, 3)):
        names.clear()
        given = states(size)
        out = np.empty((size, 2))
        run(watched, given, out, (size,))
        assert len(names) == pieces
        assert len({name for name in names if name.startswith("armdyn")}) <= pieces - 1
        assert sum(not name.startswith("armdyn") for name in names) == 1
        assert np.array_equal(out, kernel.gufunc(*given))


def test_the_number_of_threads_is_a_setting():
    set_threads(5)
    assert threads() == 5
    set_threads(None)
    assert threads() >= 1
    for bad in (0, -1, 1.5, True, "2", np.nan):
        with pytest.raises(ModelError, match="threads: expected a whole number from 1 on, got"):
            set_threads(bad)
    assert threads() >= 1


@pytest.mark.parametrize("place", [0, MANY // 2, MANY - 1])
def test_floating_point_errors_are_handled_as_the_caller_wants(kernel, place):
    """Wherever the state is, and so in whichever thread."""
    q, qd, qdd = states(MANY)
    qd[place] = 1e200
    set_threads(3)
    with (
        np.errstate(over="raise", invalid="ignore"),
        pytest.raises(FloatingPointError, match="over"),
    ):
        kernel(q, qd, qdd)
    with np.errstate(over="ignore", invalid="ignore"):
        found = kernel(q, qd, qdd)
    assert not np.isfinite(found[place]).all()
    assert np.isfinite(np.delete(found, place, 0)).all()
    with np.errstate(over="warn", invalid="ignore"), pytest.warns(RuntimeWarning, match="overflow"):
        kernel(q, qd, qdd)
    told = []
    with np.errstate(over="call", invalid="ignore", call=lambda *about: told.append(about[0])):
        kernel(q, qd, qdd)
    assert told == ["overflow"]


@pytest.mark.parametrize("fails", [0, 1, 2])
def test_an_error_in_any_piece_surfaces_when_all_have_ended(fails):
    running, lock, order = [], threading.Lock(), []

    def work(array, out):
        with lock:
            running.append(1)
        if array[0, 0] == fails:
            raise KeyError(f"piece {fails}")
        time.sleep(0.05)
        with lock:
            order.append(array[0, 0])
            running.pop()

    set_threads(3)
    size = 3 * SMALLEST
    array = np.repeat(np.arange(3.0), SMALLEST)[:, None]
    with pytest.raises(KeyError, match=f"piece {fails}"):
        run(work, [array], np.empty((size, 1)), (size,))
    assert sorted(order) == [k for k in range(3) if k != fails]
    assert len(running) == 1


def test_the_pool_follows_the_setting(kernel):
    given = states(MANY)
    expected = kernel.gufunc(*given)
    for count in (2, 4, 2, 3):
        set_threads(count)
        assert np.array_equal(kernel(*given), expected)
        assert module._Settings.pool[1] == count


def test_callers_may_be_threads_themselves(kernel):
    given = [states(MANY, seed=k) for k in range(4)]
    expected = [kernel.gufunc(*x) for x in given]
    set_threads(2)
    found = [None] * 4

    def work(k):
        found[k] = kernel(*given[k])

    workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


@pytest.mark.slow
def test_others_run_while_a_batch_is_computed():
    """If the GIL were held, no other thread would move for as long as a call takes."""
    energy = armdyn.load("panda").kernel("kinetic_energy").__self__.gufunc
    rng = np.random.default_rng(2)
    q, qd = rng.normal(size=7), np.broadcast_to(rng.normal(size=7), (4_000_000, 7))
    stopped = threading.Event()
    gaps = []

    def spin():
        last = time.perf_counter()
        while not stopped.is_set():
            now = time.perf_counter()
            gaps.append(now - last)
            if len(gaps) > 100_000:
                gaps[:] = [max(gaps)]
            last = now

    spinner = threading.Thread(target=spin)
    spinner.start()
    try:
        for _ in range(8):
            gaps[:] = [0.0]
            start = time.perf_counter()
            energy(q, qd)
            took = time.perf_counter() - start
            longest = max(list(gaps))
            if longest < 0.5 * took and len(gaps) > 1:
                return
        raise AssertionError(f"another thread stood still for {longest} s of {took} s")
    finally:
        stopped.set()
        spinner.join()
