"""Batches of states: beside the peak of the processor, on threads, in sweeps and in JAX."""

import ctypes
from collections.abc import Callable, Iterator
from functools import lru_cache, partial, reduce
from importlib.util import find_spec
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.bench.report import Speed
from armdyn.bench.timing import Contender, alternate
from armdyn.graph.operations import OPERATIONS
from armdyn.kernels.kernel import Kernel
from armdyn.kernels.llvm.backend import Linked, object_code
from armdyn.kernels.llvm.fuse import FUSED
from armdyn.kernels.llvm.segments import Segment, SineCosine, best_plan
from armdyn.kernels.llvm.target import Target
from armdyn.kernels.llvm.trig import FLOPS
from armdyn.kernels.llvm.vectors import IrWriter, Vectors
from armdyn.kernels.threads import set_threads, threads
from armdyn.loops.coordinates import coordinates_of
from armdyn.robot import Robot
from armdyn.sweeping.grid import Grid
from armdyn.sweeping.samples import Random, Sobol
from armdyn.sweeping.sweep import sweep

CHAINS = 12
"""Independent sums: enough for two units with a latency of five, few enough for the registers."""
UNROLLED = 4
"""Steps of each in one pass of the loop."""
PASSES = 20_000
"""Passes in one run: about a tenth of a millisecond a chain."""


@lru_cache(maxsize=1)
def peak_loop() -> Contender:
    """Fused multiply-adds of this processor, each a state: its time is that of one operation."""
    target = Target.host()
    vectors = Vectors(target.lanes("float64"), "float64", target.fma)
    code = Linked(object_code(_text(vectors), target), ("peak",))
    call = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)(code["peak"])
    out = (ctypes.c_double * vectors.lanes)()

    def run() -> object:
        call(PASSES, ctypes.addressof(out))
        return code, out  # which must live as long

    return Contender("fused", run, 2 * vectors.lanes * CHAINS * UNROLLED * PASSES)


def kernel_flops(kernel: Kernel) -> tuple[int, int]:
    """Operations that one state takes, sines and cosines included, and the products among them.

    As they are executed: a product that is fused into two sums is computed twice, and counts twice.
    """
    steps = best_plan(kernel.program, Target.host()).steps
    cost = {op.name: int(op.cost in ("add", "mul", "div")) for op in OPERATIONS.values()}
    cost |= dict.fromkeys(FUSED, 2)
    ops = [op for step in steps if isinstance(step, Segment) for _, op, _ in step.operations]
    angles = sum(step.count for step in steps if isinstance(step, SineCosine))
    each = FLOPS[kernel.dtype]  # of which all but a sum and two products are fused
    products = sum(op in FUSED or op == "mul" for op in ops) + angles * (each // 2 + 1)
    return sum(cost[op] for op in ops) + angles * each, products


def _text(v: Vectors) -> str:
    """x ← x/2 + 1/4 in every chain, which stays near 1/2 and so meets no slow number."""
    t = IrWriter(v, "define void @peak(i64 %n, ptr %out) nounwind {")
    t.label("entry")
    t.jump("loop", begin="loop")
    t.let("phi i64 [0, %entry], [%next, %loop]", "%i")
    chains = [
        t.let(f"phi {v.type} [{v.splat(1.0 + k)}, %entry], [%end{k}, %loop]", f"%start{k}")
        for k in range(CHAINS)
    ]
    for _ in range(UNROLLED):
        chains = [t.fused(x, v.splat(0.5), v.splat(0.25)) for x in chains]
    for k, x in enumerate(chains):
        t.let(f"bitcast {v.type} {x} to {v.type}", f"%end{k}")
    t.let("add i64 %i, 1", "%next")
    t.branch(t.let("icmp slt i64 %next, %n"), "loop", "exit", begin="exit")
    t.store(reduce(partial(t.binary, "add"), chains), "%out", align=8)
    return "\n".join([*v.declarations(), *t.ended()]) + "\n"


CACHED_STATES = 2048
"""States that stay in the caches."""
MANY_STATES = 10
"""Times as many states as in a batch, on one thread and on all."""


def random_states(robot: Robot, count: int) -> list[Array]:
    """Positions, velocities and accelerations (or torques), each (count, n)."""
    rng = np.random.default_rng(count)
    q = coordinates_of(robot.model).drawn(rng, count)
    return [q, *rng.uniform(-1.0, 1.0, (2, count, robot.n))]


def batch_contender(robot: Robot, quantity: str, states: list[Array]) -> Contender:
    """The kernel of a quantity on a whole batch."""
    kernel = robot.kernel(quantity, friction=False)
    out = kernel(*states)

    def run() -> Array:
        return kernel(*states, out=out)

    name = f"{quantity} of {robot.name!r} by armdyn"
    return Contender(name, run, states[0][..., 0].size, run)


def peak_share(robot: Robot, seconds: float, count: int) -> Iterator[Speed]:
    """Inverse dynamics beside the shortest times for its operations, and for its products alone."""
    kernel: Any = robot.kernel("inverse_dynamics", friction=False)
    flops, products = kernel_flops(kernel := kernel.__self__)
    for states in (CACHED_STATES, count):
        rows = random_states(robot, states // kernel.lanes * kernel.lanes)
        wide = np.reshape(rows, (3, -1, kernel.lanes, robot.n))
        blocks = wide.swapaxes(2, 3).copy().swapaxes(2, 3)
        ours = [batch_contender(robot, "inverse_dynamics", [*given]) for given in (rows, blocks)]
        *times, operation = alternate([*ours, peak_loop()], seconds)
        for how, time in zip(("states", "states in blocks"), times, strict=True):
            what = f"operations of inverse dynamics, {states} {how}"
            peak = f"peak of {1e-9 / operation:.1f} GFLOP/s", flops * operation
            bound = "multipliers", 2 * products * operation  # a product takes one for a turn
            yield Speed(robot.name, "peak", f"{flops} {what}", time, *peak)
            yield Speed(robot.name, "peak", f"{products} {what}", time, *bound)


def thread_share(robot: Robot, seconds: float, count: int) -> Iterator[Speed]:
    """Inverse dynamics of many states on all threads beside one."""
    many, count = threads(), MANY_STATES * count
    alone = batch_contender(robot, "inverse_dynamics", random_states(robot, count))

    def together() -> None:
        set_threads(many)
        alone.run()
        set_threads(1)

    times = alternate([Contender("", together, count), alone], seconds)
    what = f"batch inverse dynamics, {count} states, {many} threads"
    yield Speed(robot.name, "threads", what, times[0], "one thread", times[1])


SWEPT = 20
"""Times as many states as in a batch."""


def sweep_rates(robot: Robot, seconds: float, count: int) -> Iterator[Speed]:
    """States made, evaluated and reduced to extremes in one loop, beside evaluated alone."""
    points = max(2, round((SWEPT * count) ** (1 / min(robot.n, 6))))
    moving = {f"q{k + 1}": (-1.0, 1.0, points) for k in range(min(robot.n, 6))}
    states, size = SWEPT * count, points ** len(moving)
    ways = (
        (f"grid of {size} states", Grid(qd=0.5, qdd=1.0, **moving), size),
        (f"{states} random states", Random(states, q=(-1, 1), qd=(-1, 1)), states),
        (f"{states} points of Sobol", Sobol(states, q=(-1, 1), qd=(-1, 1)), states),
    )
    alone = batch_contender(robot, "inverse_dynamics", random_states(robot, count))

    def batches() -> None:
        for _ in range(SWEPT):
            alone.run()

    kernel = Contender("kernel", batches, states)  # as long, so that both are disturbed as often
    for what, over, size in ways:
        run: Callable[[], object] = partial(
            sweep, robot, "inverse_dynamics", over, "extremes", friction=False
        )
        times = alternate([Contender(what, run, size), kernel], seconds)
        told = f"sweep with extremes, {what}"
        yield Speed(robot.name, "sweep", told, times[0], "the kernel on a batch", times[1])


JAX_STATES = 2000, 20_000
"""States in a batch that stays in the caches, as those of learning do, and in one that does not."""
JAX_QUANTITIES = "inverse_dynamics", "forward_dynamics"


def jax_rates(robot: Robot, seconds: float, _: int) -> Iterator[Speed]:
    """Dynamics and their gradients inside `jit`, if JAX is installed."""
    if find_spec("jax") is None:
        return
    import jax  # noqa: PLC0415 (an extra)

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        for quantity in JAX_QUANTITIES:
            for count in JAX_STATES:
                yield from _rates(jax, robot, quantity, count, seconds)
    finally:
        jax.config.update("jax_enable_x64", before)


def _rates(jax: Any, robot: Robot, quantity: str, count: int, seconds: float) -> Iterator[Speed]:
    """The function beside the kernel in NumPy, and its gradient beside the function."""
    function = robot.jax(quantity, friction=False)
    states = random_states(robot, count)
    given = [jax.device_put(x) for x in states]
    value = jax.jit(function)
    pulled = jax.jit(lambda w, *x: jax.vjp(function, *x)[1](w))
    contenders = [
        Contender("jit", lambda: jax.block_until_ready(value(*given)), count),
        Contender("gradient", lambda: jax.block_until_ready(pulled(given[0], *given)), count),
        batch_contender(robot, quantity, states),
    ]
    for contender in contenders:
        contender.run()  # which compiles
    own, slope, kernel = alternate(contenders, seconds)
    name, told = quantity.replace("_", " "), f"in JAX, {count} states"
    yield Speed(robot.name, "jax", f"{name} {told}", own, "the kernel in NumPy", kernel)
    what = f"gradient of {name} {told}"
    yield Speed(robot.name, "jax", what, slope, "the function in JAX", own)
