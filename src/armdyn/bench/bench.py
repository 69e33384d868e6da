"""The speed of armdyn, measured beside that of other libraries in the same process.

Batches of states are measured beside the peak of the processor, on threads, in sweeps and in JAX.
"""

import ctypes
import gc
import os
import platform
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial, reduce
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.bench.peers import LOOP, PEERS, Contender, MeasuredArm, alternate, check_agreement, loop
from armdyn.errors import ArmdynWarning, PeerError, check_all_known, counted
from armdyn.graph.operations import OPERATIONS
from armdyn.io.files import save_model
from armdyn.kernels.cache import ObjectCache
from armdyn.kernels.kernel import Kernel
from armdyn.kernels.llvm.backend import Linked, object_code
from armdyn.kernels.llvm.fuse import FUSED
from armdyn.kernels.llvm.segments import Segment, SineCosine, best_plan
from armdyn.kernels.llvm.target import Target
from armdyn.kernels.llvm.trig import FLOPS
from armdyn.kernels.llvm.vectors import IrWriter, Vectors
from armdyn.kernels.threads import set_threads, threads
from armdyn.loading import load
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import FrictionLaw, Rotor
from armdyn.quantities.program import QUANTITIES
from armdyn.report.result import Result, Section
from armdyn.robot import Robot
from armdyn.study.compare.peers import installed, version
from armdyn.sweeping.grid import Grid
from armdyn.sweeping.samples import Random, Sobol
from armdyn.sweeping.sweep import sweep
from armdyn.version import __version__

LIBRARIES = ("numpy", "llvmlite", "pin", "mujoco", "roboticstoolbox-python")
"""Packages whose versions are reported."""


@dataclass(frozen=True, slots=True)
class Speed:
    """The time of one computation, beside that of one other library."""

    robot: str
    case: str
    """The name by which it is asked for."""
    what: str
    ours: float
    """Seconds a state, or seconds of compiling or loading."""
    against: str | None = None
    """The function of the other library; None if there is none."""
    theirs: float | None = None
    """Seconds a state."""

    @property
    def ratio(self) -> float | None:
        """How many times as fast armdyn is."""
        return None if self.theirs is None else self.theirs / self.ours


@dataclass(frozen=True)
class Machine:
    """Where it was measured."""

    cpu: str
    """The name of the processor, and LLVM's name for it: a virtual machine may hide the first."""
    cores: int
    load: tuple[float, ...]
    """Average number of running processes over 1, 5 and 15 minutes; empty if unknown."""
    vector_bits: int
    python: str
    armdyn: str
    versions: dict[str, str | None]
    """Of the libraries; None for those that are not installed."""

    @staticmethod
    def here() -> "Machine":
        """This machine, now."""
        info = Path("/proc/cpuinfo")
        text = info.read_text(encoding="utf-8", errors="replace") if info.is_file() else ""
        names = re.findall(r"^model name\s*:\s*(.*\S)", text, re.MULTILINE)
        name = names[0] if names else platform.processor() or platform.machine()
        return Machine(
            cpu=f"{name} ({Target.host().cpu})",
            cores=os.cpu_count() or 1,
            load=os.getloadavg() if hasattr(os, "getloadavg") else (),
            vector_bits=Target.host().bits,
            python=platform.python_version(),
            armdyn=__version__,
            versions={package: version(package) for package in LIBRARIES},
        )

    @property
    def lines(self) -> tuple[str, str]:
        """The processor and its load, and the versions of the libraries."""
        load = " ".join(f"{value:.2f}" for value in self.load) or "unknown"
        cores = f"{counted(self.cores, 'core')}, vectors of {self.vector_bits} bits"
        versions = {"armdyn": self.armdyn, "Python": self.python} | self.versions
        found = (f"{name} {which or 'not installed'}" for name, which in versions.items())
        return f"{self.cpu}, {cores}, load average {load}", ", ".join(found)


@dataclass(frozen=True)
class BenchReport(Result):
    """All that was measured."""

    machine: Machine
    rows: list[Speed]
    notes: list[str]

    def sections(self) -> tuple[Section, ...]:
        """The table below the machine and the notes."""
        table = [
            (
                *(row.robot, row.what, row.against or "", duration(row.ours)),
                *("" if row.case == "compile" else f"{1 / row.ours:.3g}", duration(row.theirs)),
                "" if row.ratio is None else f"{row.ratio:.3g}",
            )
            for row in self.rows
        ]
        columns = ("robot", "what", "against", "armdyn", "states/s", "there", "times as fast")
        lines = (*self.machine.lines, *(f"note: {note}" for note in self.notes))
        rows = [asdict(row) | {"ratio": row.ratio} for row in self.rows]
        data = {"machine": asdict(self.machine), "rows": rows, "notes": self.notes}
        return (Section("Speed beside other libraries", lines, columns, table, 3, data),)


def duration(seconds: float | None) -> str:
    """A time with the unit that fits it."""
    if seconds is None:
        return ""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


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


FORMS = ("configuration_space", "christoffel", "cartesian")
"""Methods with large results, which are measured with the allocation of these, too."""
QUANTITY = {"derivatives": "inverse_dynamics_derivatives", "one_state": "inverse_dynamics"}
"""The quantities of cases that are called otherwise."""
SETTINGS = {False: (1.5, 100_000), True: (0.2, 10_000)}
"""Seconds for a case and states in a batch; True: quick."""
COMPILED_BATCH = 64
"""States whose computing time is negligible beside that of compiling."""
FEWEST_COMPILED = 3
"""At least as many robots are compiled."""


def bench(
    robots: Sequence[str | Robot] = ("panda",),
    only: Sequence[str] = (),
    seconds: float | None = None,
    quick: bool = False,
    tell: Callable[[str], None] | None = None,
) -> BenchReport:
    """Measure the speed of kernels, and of other libraries where they are installed.

    Friction and rotors are left out. `only` has names of `CASES`, `seconds` are those for a case,
    and `tell` is called with the name of each measurement before it starts.
    """
    check_all_known("benchmark", only, CASES)
    default, count = SETTINGS[quick]
    time = default if seconds is None else seconds
    machine, rows = Machine.here(), list[Speed]()
    notes = [f"batches have {count} states; all times are of one state on one thread"]
    try:
        for given in robots:
            with measured_arm(load(given) if isinstance(given, str) else given) as arm:
                for case in (case for case in CASES if not only or case in only):
                    if tell is not None:
                        tell(f"{case.replace('_', ' ')} of {arm.robot.name}")
                    if case in ALONE:
                        rows += ALONE[case](arm.robot, time, count)
                    else:
                        rows += _measured(case, arm, time, count, notes)
    except KeyboardInterrupt:
        notes.append("stopped from the keyboard: the rows after the last one are missing")
    return BenchReport(machine, rows, list(dict.fromkeys(notes)))


@contextmanager
def measured_arm(robot: Robot) -> Iterator[MeasuredArm]:
    """The robot without friction and rotors, and its file, which lasts as long as the block."""
    joints = tuple(replace(j, friction=FrictionLaw(), rotor=Rotor()) for j in robot.model.joints)
    model = replace(robot.model, joints=joints)
    with TemporaryDirectory(prefix="armdyn-bench-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ArmdynWarning)
        reason = "a URDF cannot hold a reduced parameter set" if model.reduced else ""
        reason = "a URDF cannot hold loops" if model.loops else reason
        file = None if reason else Path(folder) / "robot.urdf"
        if file is not None:
            save_model(model, file)
        yield MeasuredArm(Robot(model), file, reason)


def _measured(
    case: str, arm: MeasuredArm, seconds: float, count: int, notes: list[str]
) -> Iterator[Speed]:
    """A row for each peer, or one without; the notes tell which libraries are left out."""
    robot, quantity = arm.robot, QUANTITY.get(case, case)
    if case == "one_state":
        states = random_states(robot, 1)
        kernel = robot.kernel(quantity)
        rows = [[v[0].copy() for v in states]] * LOOP
        robot.inverse_dynamics(*rows[0])  # the first call compiles, and makes a builtin of it
        ways = {"robot.inverse_dynamics": robot.inverse_dynamics, "robot.kernel": kernel}
        ours = {f"one state, {way}": loop(way, call, rows) for way, call in ways.items()}
    else:
        states = random_states(robot, count)[: len(QUANTITIES[quantity].arguments)]
        name = case.replace("_", " ")
        ours = {f"batch {name}": batch_contender(robot, quantity, states)}
        if case in FORMS:
            call = partial(getattr(robot, quantity), *states)
            ours[f"batch {name}, fresh arrays"] = Contender(name, call, count)
    others: list[Contender] = []
    for name, contender in PEERS.items():
        if (module := installed(name)) is None:
            notes.append(f"not compared with {name}: it is not installed")
            continue
        try:
            others += filter(None, [contender(module, arm, case, states)])
        except PeerError as reason:
            notes.append(f"{robot.name} is not compared with {name}: {reason}")
    everyone = [*ours.values(), *others]
    check_agreement(everyone)
    times = alternate(everyone, seconds)
    for what, time in zip(ours, times, strict=False):
        row = Speed(robot.name, case, what, time)
        for peer, theirs in zip(others, times[len(ours) :], strict=True):
            yield replace(row, against=peer.name, theirs=theirs)
        if not others:
            yield row


def _compiling(robot: Robot, seconds: float, _: int) -> Iterator[Speed]:
    """Times to the first torques: with an empty cache, and with the kernel in the cache on disk.

    Each robot that is compiled has another payload, so it shares no kernel with the one before.
    """
    for use, batch in (("one state", ()), ("a batch", (COMPILED_BATCH,))):
        times: dict[str, list[float]] = {"compile": [], "load": []}
        with TemporaryDirectory(prefix="armdyn-bench-") as folder:
            cache = ObjectCache(Path(folder))
            _first_torques(Robot(robot.model, cache=cache), batch)  # LLVM itself is loaded here
            end = perf_counter() + seconds
            while len(times["load"]) < FEWEST_COMPILED or perf_counter() < end:
                mass = 1e-3 * (1 + len(times["load"]))
                model = robot.with_payload(mass, add=True, physical="ignore").model
                for found in times.values():
                    found.append(_first_torques(Robot(model, cache=cache), batch))
        for way, found in times.items():
            what = f"{way}, until the first torques of {use}"
            yield Speed(robot.name, "compile", what, min(found))


ALONE = {
    "peak": peak_share,
    "threads": thread_share,
    "sweep": sweep_rates,
    "jax": jax_rates,
    "compile": _compiling,
}
"""What is measured without other libraries."""
COMPARED = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "derivatives")
CASES = (*COMPARED, *FORMS, "one_state", *ALONE)
"""Everything that can be measured."""


def _first_torques(robot: Robot, batch: tuple[int, ...]) -> float:
    still = np.zeros((*batch, robot.n))
    gc.collect()
    start = perf_counter()
    robot.inverse_dynamics(still, still, still, friction=False)
    return perf_counter() - start
