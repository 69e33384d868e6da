"""Bad input ends with an error of armdyn: the first tries of `benchmarks/fuzz.py`."""

import json
from fractions import Fraction

import numpy as np
import pytest
from fuzz_tries import Fuzzer

import armdyn
from armdyn.cli.console import print_json
from armdyn.errors import ArmdynError, UnknownNameError

ROBOT = armdyn.load("two_link")
Q = [0.1, 0.2]
MOVE = armdyn.simulation.hold(Q, 1.0)


@pytest.fixture(scope="module")
def fuzzer(tmp_path_factory):
    return Fuzzer(tmp_path_factory.mktemp("fuzz"))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "tries"), [("file", 200), ("call", 150), ("command", 6)])
def test_nothing_but_our_errors(fuzzer, kind, tries, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    faults = filter(None, (fuzzer.attempt(kind, number) for number in range(tries)))
    assert [str(fault) for fault in faults] == []
    assert list(tmp_path.iterdir()) == []  # nothing is left where the tries were started


def test_a_fault_is_found_and_told(fuzzer, monkeypatch):
    monkeypatch.setattr("fuzz_tries.read_model", lambda *_, **__: 1 / 0)
    fault = next(filter(None, (fuzzer.attempt("file", number) for number in range(20))))
    assert "ZeroDivisionError" in str(fault)
    assert fuzzer.attempt("file", fault.number).doing == fault.doing


@pytest.mark.parametrize(
    "ask",
    [
        lambda: ROBOT.forward_dynamics(Q, Q, Q, method=""),
        lambda: ROBOT.forward_dynamics(Q, Q, Q, method=[]),
        lambda: ROBOT.forward_dynamics(Q, Q, Q, method="denoc", friction=np.ones(2)),
        lambda: ROBOT.inverse_dynamics(Q, Q, Q, friction={}),
        lambda: ROBOT.jacobian(Q, link=["tool"]),
        lambda: ROBOT.ledger(Q, Q, Q, external_wrench=np.zeros(6), wrench_link=[]),
        lambda: ROBOT.kernel("mass_matrix", link={}),
        lambda: ROBOT.kernel(1.5),
        lambda: armdyn.simulation.hold(Q, robot=-(10**5000)),
        lambda: ROBOT.kernel("mass_matrix", dtype="\ud800"),
        lambda: ROBOT.cartesian(Q, Q, task=3),
        lambda: ROBOT.with_locked(-(10**5000)),
        lambda: ROBOT.formulate(-(10**5000), Q, Q, Q, frame="joint"),
        lambda: ROBOT.with_payload(1.0, add=np.zeros(2)),
        lambda: armdyn.simplify(ROBOT, free="link2.com", reach=np.zeros(2)),
        lambda: ROBOT.save("a\0b.toml"),
        lambda: armdyn.load("a\0b.urdf"),
        lambda: armdyn.load("a" * 5000),
        lambda: armdyn.load("a" * 5000 + ".toml"),
        lambda: armdyn.simulate(ROBOT, Q, method="rk4", step=1e-320),
        lambda: armdyn.simulate(ROBOT, Q, method=""),
        lambda: armdyn.simulate(ROBOT, Q, duration=10**400),
        lambda: armdyn.simulation.trapezoid(Q, [1, 1], 1e308, 1e308),
        lambda: armdyn.simulation.from_csv(3, ROBOT),
        lambda: armdyn.simulation.ComputedTorque("panda", Q),
        lambda: armdyn.set_threads(-(10**5000)),
        lambda: armdyn.equations(ROBOT, letters=3),
        lambda: armdyn.Observer(ROBOT, gain=10**400),
        lambda: armdyn.check(-(10**5000)),
        lambda: armdyn.check("two_link", read="two_link"),
        lambda: armdyn.check("two_link", read=print),
        lambda: armdyn.check("two_link", read=np.zeros(2)),
        lambda: ROBOT.joint_frames([1, [2]]),
        lambda: armdyn.motors(ROBOT, MOVE, torque=np.zeros((4, 4))),
        lambda: armdyn.rank(np.array(1.0), MOVE),
        lambda: armdyn.size(ROBOT, MOVE, {}, margin=Fraction(1, 3)),
        lambda: armdyn.spring_balance(ROBOT, np.array(1.0)),
        lambda: armdyn.spring_balance(ROBOT, [np.ma.masked_array([1.0, 2.0], [True, False])]),
        lambda: armdyn.spring_balance(ROBOT, reach=1e-320),
        lambda: armdyn.spring_balance(ROBOT, reach=1e200),
        lambda: armdyn.simulate(ROBOT, Q, external_wrench=-(10**5000)),
        lambda: armdyn.sweep(ROBOT, "bias", "a" * 5000),
        lambda: armdyn.sweep(ROBOT, "bias", armdyn.Grid(q=0.0), reduce=[]),
        lambda: armdyn.sweep(ROBOT, "bias", armdyn.Grid(q=0.0), reduce=np.array(1.0)),
        lambda: armdyn.sweep(ROBOT, "bias", armdyn.Grid(q=0.0), by=np.zeros(2)),
        lambda: ROBOT.casadi(np.zeros(2)),
        lambda: ROBOT.casadi("bias", name=" "),
        lambda: ROBOT.casadi("bias", name=np.zeros(2)),
        lambda: ROBOT.dh_table(link=np.zeros(2)),
        lambda: ROBOT.formulate([], Q, Q, Q),
        lambda: ROBOT.plot([np.nan, 0.0]),
        lambda: ROBOT.with_base_parameters([1, [2]]),
    ],
)
def test_calls_that_once_raised_other_exceptions(ask):
    with pytest.raises(ArmdynError):
        ask()


def test_a_number_may_be_a_fraction():
    third = Fraction(1, 3)
    expected = ROBOT.cartesian(Q, Q, damping=1 / 3, task=("x", "y"))
    found = ROBOT.cartesian(Q, Q, damping=third, task=("x", "y"))
    np.testing.assert_array_equal(found.M, expected.M)
    assert armdyn.simulate(ROBOT, Q, duration=third, method="rk4", step=0.1).t[-1] == 1 / 3


def test_what_a_function_of_the_caller_raises_goes_through():
    def progress(*_):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        armdyn.sweep(ROBOT, "bias", armdyn.Grid(q=(-1.0, 1.0, 3)), tell=progress)


def test_a_method_without_a_name_is_unknown():
    with pytest.raises(UnknownNameError, match="there is no method of forward dynamics ''"):
        ROBOT.forward_dynamics(Q, Q, Q, method="")


def test_json_has_null_for_numbers_that_are_not_finite(capsys):
    print_json({"a": [np.nan, 1.0, (np.inf,)]})
    assert json.loads(capsys.readouterr().out) == {"a": [None, 1.0, [None]]}


def test_no_joint_may_be_named_to_be_locked():
    assert ROBOT.with_locked(None).model == ROBOT.model
