"""The rows of the benchmark: who computes what, and how fast it should be."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.backends.kernel import Kernel
from armdyn.bench.compile import compile_and_load
from armdyn.bench.growth import chain_times, random_states
from armdyn.bench.peak import kernel_flops, peak_loop
from armdyn.bench.peers import Pinocchio, mujoco_inverse, toolbox_rne
from armdyn.bench.report import Goal, Row
from armdyn.bench.robots import PACKAGE, SOURCES, Arm, arm
from armdyn.bench.timing import Contender, alternate, check_agreement
from armdyn.compare.peers import installed
from armdyn.dynamics import Robot
from armdyn.loading import load
from armdyn.quantities.request import OPTIONS, Request

FASTER, SHARE = "times as fast", "of its time"
CALLS = 1000
"""Calls of one state in one run."""
BATCH = 64
"""States whose time is nothing beside that of compiling."""


@dataclass(frozen=True)
class Setting:
    """How thoroughly to measure."""

    seconds: float
    """Time for a row."""
    states: int
    """In a batch."""
    chains: tuple[int, ...]
    """Joints of the chains."""
    tell: Callable[[str], None]
    """Called with what is done next."""


Case = Callable[[str, Setting], Iterator[Row]]
"""Name and setting to rows."""


def _batch(robot: Robot, quantity: str, states: list[Array]) -> Contender:
    """Our kernel on a whole batch."""
    states = states[: len(OPTIONS[quantity][0])]
    kernel = Kernel(robot.model, Request(quantity, friction=False))
    out = np.empty((len(states[0]), *kernel.shape))
    name = f"{quantity} of {robot.name!r} by armdyn"
    return Contender(name, lambda: kernel(*states, out=out), len(out), lambda: out)


def _compared(
    case: str, what: str, ours: Contender, peer: Contender | None, goal: Goal | None, s: Setting
) -> Row:
    """A row of ours against a peer, who may be absent."""
    if peer is None:
        (time,) = alternate([ours], s.seconds)
        return Row(case, what, time, "not installed", None, None, FASTER, goal)
    check_agreement([ours, peer])
    time, theirs = alternate([ours, peer], s.seconds)
    return Row(case, what, time, peer.name, theirs, theirs / time, FASTER, goal)


def _pinocchio(
    robot: str, quantity: str, call: Callable[[Pinocchio, list[Array]], Contender], goal: float
) -> Case:
    def rows(case: str, s: Setting) -> Iterator[Row]:
        found, what = arm(robot), f"batch {quantity.replace('_', ' ')}, "
        if found is None:
            missing = f"{PACKAGE} not installed"
            what += SOURCES[robot].title
            yield Row(case, what, None, missing, None, None, FASTER, Goal("≥", goal))
            return
        states, pin = random_states(found.robot.n, s.states), installed("pinocchio")
        ours = _batch(found.robot, quantity, states)
        peer = None if pin is None else call(Pinocchio(pin, found), states)
        yield _compared(case, what + found.title, ours, peer, Goal("≥", goal), s)

    return rows


def _rnea(pin: Pinocchio, states: list[Array]) -> Contender:
    return pin.batch("rneaInParallel", states)


def _aba(pin: Pinocchio, states: list[Array]) -> Contender:
    return pin.batch("abaInParallel", states)


def _crba(pin: Pinocchio, states: list[Array]) -> Contender:
    return pin.loop("crba", states[:1])


def _slopes(pin: Pinocchio, states: list[Array]) -> Contender:
    return pin.loop("computeRNEADerivatives", states, parts=2)


def _panda() -> Arm:
    found = arm("panda")
    assert found is not None, "the catalog stands in for the Panda"
    return found


def _one_state(case: str, s: Setting) -> Iterator[Row]:
    """Two ways to ask for one torque from Python."""
    panda, pin = _panda(), installed("pinocchio")
    robot, kernel = panda.robot, panda.robot.kernel("inverse_dynamics", friction=False)
    q, qd, qdd = (v[0].copy() for v in random_states(robot.n, 1))

    def by_method() -> None:
        for _ in range(CALLS):
            robot.inverse_dynamics(q, qd, qdd, friction=False)

    def by_kernel() -> None:
        for _ in range(CALLS):
            kernel(q, qd, qdd)

    def by_method_once() -> Array:
        return robot.inverse_dynamics(q, qd, qdd, friction=False)[None]

    ways = [
        Contender("robot.inverse_dynamics", by_method, CALLS, by_method_once),
        Contender("robot.kernel", by_kernel, CALLS, lambda: kernel(q, qd, qdd)[None]),
    ]
    peer = None if pin is None else Pinocchio(pin, panda).single(q, qd, qdd, CALLS)
    everyone = [*ways, *([] if peer is None else [peer])]
    check_agreement(everyone)
    times = alternate(everyone, s.seconds)
    against = "not installed" if peer is None else peer.name
    theirs = None if peer is None else times[-1]
    goals = (Goal("≤", 1.0), Goal("≤", 0.7))
    for way, time, goal in zip(ways, times, goals, strict=False):
        value = None if theirs is None else time / theirs
        what = f"one state from Python, {panda.title}: {way.name}"
        yield Row(case, what, time, against, theirs, value, SHARE, goal)


def _compile(case: str, s: Setting) -> Iterator[Row]:
    panda = _panda()
    for use, batch in (("one state", ()), ("a batch", (BATCH,))):
        made, loaded = compile_and_load(panda, batch, s.seconds)
        what = f"inverse dynamics, {panda.title}, until the first torques of {use}"
        yield Row(case, f"compile {what}", made, "-", None, 1e3 * made, "ms", Goal("≤", 150))
        yield Row(case, f"load {what}", loaded, "-", None, 1e3 * loaded, "ms", Goal("≤", 15))


def _peak(case: str, s: Setting) -> Iterator[Row]:
    panda = _panda()
    kernel = Kernel(panda.robot.model, Request("inverse_dynamics", friction=False))
    flops = kernel_flops(kernel)
    ours = _batch(panda.robot, "inverse_dynamics", random_states(panda.robot.n, s.states))
    time, operation = alternate([ours, peak_loop().contender()], s.seconds)
    what = f"{flops} operations of batch inverse dynamics, {panda.title}"
    against = f"peak of {1e-9 / operation:.1f} GFLOP/s"
    share = flops * operation / time
    goal = Goal("≥", 0.5)
    yield Row(case, what, time, against, flops * operation, share, "of the peak", goal)


def _chain(case: str, s: Setting) -> Iterator[Row]:
    times, power = chain_times(s.chains, s.seconds, s.tell)
    what = f"time per state of chains, {s.chains[0]} to {s.chains[-1]} joints"
    each = ", ".join(f"{n}: {1e9 * t:.0f} ns" for n, t in zip(s.chains, times, strict=True))
    yield Row(case, what, times[-1], each, None, power, "exponent", Goal("≤", 1.1))


def _mujoco(case: str, s: Setting) -> Iterator[Row]:
    panda, mujoco = _panda(), installed("mujoco")
    states = random_states(panda.robot.n, s.states)
    peer = None if mujoco is None else mujoco_inverse(mujoco, panda, states)
    ours = _batch(panda.robot, "inverse_dynamics", states)
    yield _compared(case, f"batch inverse dynamics, {panda.title}", ours, peer, None, s)


def _toolbox(case: str, s: Setting) -> Iterator[Row]:
    puma, toolbox = load("puma560"), installed("roboticstoolbox")
    states = random_states(puma.n, s.states)
    peer = None if toolbox is None else toolbox_rne(toolbox, states)
    ours = _batch(puma, "inverse_dynamics", states)
    yield _compared(case, "batch inverse dynamics, Puma 560, 6 joints", ours, peer, None, s)


CASES: dict[str, Case] = {
    "panda_inverse_dynamics": _pinocchio("panda", "inverse_dynamics", _rnea, 35),
    "ur5_inverse_dynamics": _pinocchio("ur5", "inverse_dynamics", _rnea, 35),
    "panda_forward_dynamics": _pinocchio("panda", "forward_dynamics", _aba, 28),
    "ur5_forward_dynamics": _pinocchio("ur5", "forward_dynamics", _aba, 28),
    "panda_mass_matrix": _pinocchio("panda", "mass_matrix", _crba, 20),
    "talos_inverse_dynamics": _pinocchio("talos", "inverse_dynamics", _rnea, 25),
    "panda_derivatives": _pinocchio("panda", "inverse_dynamics_derivatives", _slopes, 15),
    "one_state": _one_state,
    "compile": _compile,
    "peak": _peak,
    "chain": _chain,
    "mujoco": _mujoco,
    "robotics_toolbox": _toolbox,
}
"""Every measurement by the name it is asked for with."""
