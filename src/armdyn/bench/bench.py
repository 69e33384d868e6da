"""The speed of armdyn, measured beside that of other libraries in the same process."""

import gc
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from armdyn.bench.batches import (
    batch_contender,
    jax_rates,
    peak_share,
    random_states,
    sweep_rates,
    thread_share,
)
from armdyn.bench.peers import PEERS, MeasuredArm
from armdyn.bench.report import BenchReport, Machine, Speed
from armdyn.bench.timing import LOOP, Contender, alternate, check_agreement, loop
from armdyn.errors import ArmdynWarning, PeerError, check_all_known
from armdyn.io.files import save_model
from armdyn.kernels.cache import ObjectCache
from armdyn.loading import load
from armdyn.model import FrictionLaw, Rotor
from armdyn.quantities.program import QUANTITIES
from armdyn.robot import Robot
from armdyn.study.compare.peers import installed

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
