"""The fast entry: one state without NumPy, anything else as a kernel takes it, no object lost."""

import gc
import inspect
import pickle
import sys
import threading
import weakref

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynWarning, ShapeError, SingularityError
from armdyn.kernels import numpy_api
from armdyn.kernels.quick import QuickMethod
from armdyn.quantities.program import QUANTITIES
from armdyn.robot import Robot

ROBOT = armdyn.load("scara")
NAMES = ["inverse_dynamics", "mass_matrix", "kinetic_energy", "jacobian"]


@pytest.fixture(params=[(name, dtype) for name in NAMES for dtype in ("float64", "float32")])
def call(request):
    return ROBOT.kernel(request.param[0], dtype=request.param[1])


def state(kernel, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-2, 2, size).astype(kernel.dtype) for size in kernel.inputs.values()]


class Marked(np.ndarray):
    """An array of another class."""


def test_the_layout_of_arrays_is_known():
    assert numpy_api.arrays_are_as_expected()
    assert (
        ROBOT.kernel("mass_matrix").__self__.call.__self__ is ROBOT.kernel("mass_matrix").__self__
    )


@pytest.mark.slow
def test_it_gives_what_the_kernel_gives(call):
    kernel = call.__self__
    for seed in range(5):
        given = state(kernel, seed)
        found = call(*given)
        assert type(found) is np.ndarray
        assert (found.shape, found.dtype) == (kernel.shape, np.dtype(kernel.dtype))
        assert found.flags.c_contiguous
        assert found.flags.owndata
        assert found.flags.writeable
        assert np.array_equal(found, kernel(*given))
        assert np.array_equal(found, kernel.gufunc(*given))
        assert not np.shares_memory(found, call(*given))


@pytest.mark.slow
def test_the_output_can_be_given(call):
    kernel = call.__self__
    given = state(kernel)
    out = np.full(kernel.shape, np.nan, kernel.dtype)
    assert call(*given, out=out) is out
    assert np.array_equal(out, kernel(*given))
    assert np.array_equal(call(*given, out=None), out)
    fresh = np.full(kernel.shape, np.nan, kernel.dtype)
    name = "".join(["o", "u", "t"])  # not the interned word
    assert call(*given, **{name: fresh}) is fresh
    assert np.array_equal(fresh, out)


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "mass_matrix"])
def test_the_output_may_be_an_argument_or_lie_in_one(quantity):
    call = ROBOT.kernel(quantity)
    given = state(call.__self__)
    expected = call(*given)
    if quantity == "inverse_dynamics":
        for which in range(3):
            taken = [x.copy() for x in given]
            assert np.array_equal(call(*taken, out=taken[which]), expected)
    buffer = np.empty(16)
    buffer[6:10] = given[0]
    out = buffer.reshape(4, 4) if quantity == "mass_matrix" else buffer[7:11]
    call(buffer[6:10], *given[1:], out=out)
    assert np.array_equal(out, expected)


def other_forms(x):
    """Vectors that are not plain ones, with the same numbers."""
    yield x.tolist()
    yield tuple(x.tolist())
    yield x.view(Marked)
    yield np.ma.masked_array(x)
    yield x[::-1].copy()[::-1]
    yield np.repeat(x, 3)[::3]
    yield np.repeat(x[:, None], 2, 1)[:, 0]
    yield x.astype(x.dtype.newbyteorder())
    yield np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].copy()[: x.nbytes].view(x.dtype)
    unaligned = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype)
    unaligned[:] = x
    yield unaligned
    yield x.astype("f8")
    yield x.astype(object).astype(x.dtype)
    yield memoryview(x)


@pytest.mark.slow
def test_other_forms_of_vectors_take_the_other_way(call):
    kernel = call.__self__
    given = state(kernel)
    expected = kernel(*given)
    for which, x in enumerate(given):
        for form in other_forms(x):
            mixed = [*given[:which], form, *given[which + 1 :]]
            assert np.array_equal(call(*mixed), expected)
    batch = [np.stack([x, x]) for x in given]
    assert np.array_equal(call(*batch), np.stack([expected, expected]))
    assert np.array_equal(call(given[0][None], *given[1:]), expected[None])


def test_other_forms_of_outputs(call):
    kernel = call.__self__
    given = state(kernel)
    expected = kernel(*given)
    wide = np.zeros((*kernel.shape, 2), kernel.dtype)
    forms = [
        np.zeros(kernel.shape[::-1], kernel.dtype).T,
        wide[..., 1],
        np.zeros(kernel.shape, "f4"),
        np.zeros(kernel.shape, ">f8"),
        np.zeros(kernel.shape, kernel.dtype).view(Marked),
    ]
    for out in forms:
        assert call(*given, out=out) is out
        np.testing.assert_array_equal(out, expected.astype(out.dtype))
    assert not wide[..., 0].any()


def test_what_cannot_be_taken_is_named():
    call, kernel = ROBOT.kernel("mass_matrix"), ROBOT.kernel("mass_matrix").__self__
    q, out = np.zeros(4), np.zeros((4, 4))
    fixed = np.zeros((4, 4))
    fixed.flags.writeable = False
    wrong = [
        ((), {}, r"mass_matrix takes 1 array \(q\), got 0"),
        ((q, out), {}, r"mass_matrix takes 1 array \(q\), got 2"),
        ((q, q, q), {}, "got 3"),
        ((np.zeros(3),), {}, r"q: expected shape \(..., 4\).*got shape \(3,\)"),
        ((np.zeros(5),), {"out": out}, r"q: expected shape \(..., 4\).*got shape \(5,\)"),
        ((np.array(1.0),), {}, r"got shape \(\)"),
        ((None,), {}, "q: expected real numbers"),
        ((q.astype(complex),), {}, "q: expected real numbers"),
        ((q,), {"out": np.zeros(4)}, r"out: expected an array of shape \(4, 4\), got shape \(4,\)"),
        ((q,), {"out": np.zeros(16)}, r"out: expected .* got shape \(16,\)"),
        ((q,), {"out": out[None]}, r"got shape \(1, 4, 4\)"),
        ((q,), {"out": out.tolist()}, r"out: expected an array of shape \(4, 4\), got \[\["),
        (
            (q,),
            {"out": np.zeros((4, 4), int)},
            "out: expected an array of float64, got one of int64",
        ),
        ((q,), {"out": fixed}, "out: expected an array that can be written to"),
    ]
    for args, names, message in wrong:
        for function in (call, kernel):
            with pytest.raises(ShapeError, match=message):
                function(*args, **names)
    assert not fixed.any()
    for names in ({"where": q}, {"out": out, "dtype": float}, {"q": q}, {"": out}):
        with pytest.raises(TypeError, match="unexpected keyword"):
            call(q, **names)


def test_it_can_be_looked_at():
    call = ROBOT.kernel("inverse_dynamics")
    assert call.__doc__ == "inverse_dynamics of 'scara', (4),(4),(4)->(4)"
    assert callable(call)
    assert repr(call.__self__) == "<Kernel inverse_dynamics of 'scara', (4),(4),(4)->(4)>"


@pytest.mark.slow
def test_methods_give_way_to_the_entry_and_take_what_it_does_not():
    """From the first binding on `robot.inverse_dynamics` is a builtin that looks like the method."""
    robot = armdyn.load("scara")
    q, qd, qdd = np.random.default_rng(3).uniform(-1, 1, (3, 4))
    quick = robot.inverse_dynamics
    expected = quick(q, qd, qdd)
    assert robot.inverse_dynamics is quick
    assert inspect.isbuiltin(quick)
    assert inspect.isfunction(Robot.inverse_dynamics)
    assert (quick.__name__, quick.__doc__) == ("inverse_dynamics", Robot.inverse_dynamics.__doc__)
    whole = inspect.signature(Robot.inverse_dynamics).parameters
    assert ["self", *inspect.signature(quick).parameters] == list(whole)
    states = np.tile(q, (9, 1)), qd, qdd.tolist()
    assert np.array_equal(quick(*states), np.tile(expected, (9, 1)))
    for options in ({"friction": False}, {"external_wrench": np.ones(6)}):
        assert np.array_equal(
            quick(q, qd, qdd, **options),
            armdyn.load("scara").inverse_dynamics(q, qd, qdd, **options),
        )
    with pytest.raises(TypeError, match="out"):
        quick(q, qd, qdd, out=np.empty(4))
    with pytest.raises(ShapeError, match="qd"):
        quick(q, qd[:3], qdd)
    copied = pickle.loads(pickle.dumps(robot))
    assert np.array_equal(copied.inverse_dynamics(q, qd, qdd), expected)
    gone = weakref.ref(robot)
    del robot
    gc.collect()
    assert np.array_equal(quick(q, qd, qdd), expected)  # it keeps the robot
    del quick
    gc.collect()
    assert gone() is None


@pytest.mark.slow
def test_every_quick_method_gives_the_bits_of_its_kernel(monkeypatch):
    """A binding from before the first call does not run the method once there is a kernel."""
    robot = armdyn.load("scara")
    quick = {name: found for name, found in vars(Robot).items() if isinstance(found, QuickMethod)}
    assert {"forward_dynamics", "mass_matrix", "jacobian", "bias", "regressor"} < set(quick)
    assert {name for name in quick if quick[name].record} > {"ledger", "configuration_space"}
    states = np.random.default_rng(4).uniform(0.1, 1, (5, 4))
    for name, method in quick.items():
        bound, given = getattr(robot, name), states[: len(QUANTITIES[name].arguments)]
        if method.record:
            made, bound = bound(*given), bound.rows
            rows = method.record(bound(*given))
            for entry in made.__slots__:
                assert np.array_equal(getattr(made, entry), getattr(rows, entry))
        expected = bound(*given)
        kernel = robot.kernel(name, **({"friction": False} if name == "bias" else {}))
        assert np.array_equal(expected, kernel(*given))
        named = dict(zip(QUANTITIES[name].arguments, given, strict=True))
        with monkeypatch.context() as without_python:
            without_python.setattr(Robot, "_run", None)
            assert np.array_equal(bound(*given), expected)
            assert np.array_equal(bound(**named), expected)
        assert np.array_equal(bound(**dict(reversed(named.items()))), expected)
        with pytest.raises(TypeError, match=rf"Robot\.{name}\(\) "):
            bound(*given[:-1], elsewhere=given[-1])
        copied = pickle.loads(pickle.dumps(getattr(robot, name)))
        copied = copied.rows if method.record else copied
        assert np.array_equal(copied(*given), expected)
        with pytest.raises(TypeError, match=rf"Robot\.{name}\(\) got an unexpected keyword"):
            bound(*given, out=expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["reactions", "link_energies"])
def test_reduced_inertias_are_warned_of_at_every_call(name):
    """And where the call is, whether there is a kernel that could do without the method or not."""
    robot, states = armdyn.load("puma560"), np.random.default_rng(6).uniform(0.1, 1, (3, 6))
    assert robot.model.reduced
    for _ in range(3):
        with pytest.warns(ArmdynWarning, match="reduced set") as caught:
            getattr(robot, name)(*states[: len(QUANTITIES[name].arguments)])
        assert [warning.filename for warning in caught] == [__file__]


OPTIONS = [
    ("inverse_dynamics", {"friction": False}),
    ("forward_dynamics", {"friction": False}),
    ("bias", {"friction": True}),
    ("jacobian", {"frame": "tool"}),
    ("jacobian", {"link": "link3"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_an_option_is_told_from_others_without_python(monkeypatch, name, option):
    """It need not come after a call without it, and what has no code of its own still has a method."""
    robot, other = armdyn.load("puma560"), armdyn.load("puma560")
    ((word, value),) = option.items()
    states = np.random.default_rng(5).uniform(0.1, 1, (3, 6))
    given = states[: len(QUANTITIES[name].arguments)]
    bound = getattr(robot, name)
    plain, expected = (getattr(other, name)(*given, **o) for o in ({}, {word: value}))
    assert not np.array_equal(plain, expected)
    assert np.array_equal(bound(*given, **{word: value}), expected)
    with monkeypatch.context() as without_python:
        without_python.setattr(Robot, "_run", None)
        assert np.array_equal(bound(*given, **{word: value}), expected)
        named = dict(zip(QUANTITIES[name].arguments, given, strict=True))
        assert np.array_equal(bound(**named, **{word: value}), expected)
        with pytest.raises(TypeError):
            bound(*given)  # there is no code for it yet
    assert np.array_equal(bound(*given), plain)
    assert np.array_equal(bound(*given, **{word: value}), expected)
    backwards = dict(reversed(named.items()))
    assert np.array_equal(bound(**{word: value}, **backwards), expected)
    batch = [np.stack([x, x]) for x in given]
    assert np.array_equal(bound(*batch, **{word: value}), np.stack([expected, expected]))


@pytest.mark.slow
def test_a_state_whose_result_is_no_number_is_explained_with_its_option():
    robot = armdyn.load("two_link")
    heavy = robot.with_link("link2", mass=0.0, com=(0, 0, 0), inertia=np.zeros((3, 3)))
    q = np.zeros(2)
    for _ in range(2):
        with pytest.raises(SingularityError):
            heavy.forward_dynamics(q, q, q, friction=False)


@pytest.mark.slow
def test_methods_of_other_classes_stay():
    class Heavier(Robot):
        def inverse_dynamics(self, *given, **options):
            return 2.0 * super().inverse_dynamics(*given, **options)

    robot = armdyn.load("scara")
    given = np.random.default_rng(3).uniform(-1, 1, (3, 4))
    heavier = Heavier(robot.model)
    for _ in range(3):
        assert np.array_equal(
            heavier.inverse_dynamics(*given), 2.0 * robot.inverse_dynamics(*given)
        )


@pytest.mark.slow
def test_no_reference_is_kept_or_lost(call):
    kernel = call.__self__
    given = state(kernel)
    out = np.empty(kernel.shape, kernel.dtype)
    watched = [*given, out, kernel, np.dtype(kernel.dtype), np.ndarray, call]
    call(*given, out=out)
    gc.collect()  # robots of other tests
    before = [sys.getrefcount(x) for x in watched]
    for _ in range(5_000):
        call(*given)
        call(*given, out=out)
    for _ in range(100):
        call(*given[:-1], given[-1].tolist())
        with pytest.raises(ShapeError):
            call(*given, given[0])
        with pytest.raises(ShapeError):
            call(*given, out=given)
    after = [sys.getrefcount(x) for x in watched]
    assert all(abs(a - b) < 10 for a, b in zip(after, before, strict=True))


def test_results_are_freed(call):
    """Results are kept while they are used and no longer: addresses come again."""
    given = state(call.__self__)
    places = {call(*given).ctypes.data for _ in range(1000)}
    assert len(places) < 100
    kept = [call(*given) for _ in range(1000)]
    assert len({x.ctypes.data for x in kept}) == 1000


@pytest.mark.slow
def test_kernels_outlive_the_robot_and_gufuncs_the_kernel():
    robot = armdyn.load("saha_3r")
    call = robot.kernel("mass_matrix")
    gone = weakref.ref(robot)
    q = np.array([0.3, -1.2, 0.8])
    expected = call(q)
    del robot
    gc.collect()
    assert gone() is None
    assert np.array_equal(call(q), expected)
    gufunc, gone = call.__self__.gufunc, weakref.ref(call.__self__)
    del call
    gc.collect()
    assert gone() is None
    for _ in range(3):
        garbage = [np.empty(4096) for _ in range(50)]
        assert np.array_equal(gufunc(q), expected)
        del garbage


def test_many_threads_at_once():
    call = ROBOT.kernel("inverse_dynamics")
    given = [state(call.__self__, seed) for seed in range(4)]
    expected = [call(*x) for x in given]
    wrong = []

    def work(k):
        for _ in range(3000):
            if not np.array_equal(call(*given[k]), expected[k]):
                wrong.append(k)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []
