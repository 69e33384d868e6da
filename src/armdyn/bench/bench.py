"""The speed of armdyn, measured beside that of other libraries in the same process."""

from collections.abc import Callable, Sequence

from armdyn.bench.cases import CASES, Setting
from armdyn.bench.report import PEERS, BenchReport, Machine
from armdyn.operations.count import check_name

SECONDS, QUICK_SECONDS = 1.5, 0.2
STATES, QUICK_STATES = 100_000, 10_000
CHAINS, QUICK_CHAINS = (10, 20, 50, 100), (10, 20, 40)
NOTES = {
    "inverse_dynamics": "Pinocchio's batch functions run on one thread, in blocks of which the "
    "fastest counts; its loops are loops in Python, as there is no batch function",
    "derivatives": "computeRNEADerivatives gives the mass matrix as well",
    "peak": "the peak is that of fused multiply-adds; an operation that has no partner to be fused "
    "with takes as long as two that have",
    "mujoco": "mj_inverse also prepares what a simulation needs, as tendons, the mass matrix and "
    "its factors; contacts, limits and other constraints are off",
    "robotics_toolbox": "rne of the Robotics Toolbox, in C, takes arrays of states; rotors are in "
    "both results, friction in neither",
}
"""What a reader should know, by the end of the names of the cases it is about."""


def bench(
    only: Sequence[str] = (),
    seconds: float | None = None,
    quick: bool = False,
    tell: Callable[[str], None] | None = None,
) -> BenchReport:
    """Measure the speed of kernels, and of peers where they are installed.

    Args:
        only: Names of `CASES`; none: all.
        seconds: How long to measure a row; None: 1.5, or 0.2 if quick.
        quick: Whether to use smaller batches and shorter chains.
        tell: Called with what is measured next.

    Raises:
        UnknownNameError: There is no such case.
        BenchmarkError: A peer computes something else.
    """
    for name in only:
        check_name("benchmark", name, CASES)
    chosen = [name for name in CASES if not only or name in only]
    say = tell or (lambda _: None)
    setting = Setting(
        seconds=seconds if seconds is not None else QUICK_SECONDS if quick else SECONDS,
        states=QUICK_STATES if quick else STATES,
        chains=QUICK_CHAINS if quick else CHAINS,
        tell=say,
    )
    machine, rows = Machine.here(), []
    for name in chosen:
        say(name.replace("_", " "))
        rows += list(CASES[name](name, setting))
    return BenchReport(machine, rows, _notes(machine, chosen, setting))


def _notes(machine: Machine, chosen: list[str], setting: Setting) -> list[str]:
    notes = [f"batches have {setting.states} states; all times are of one state on one thread"]
    notes += [text for end, text in NOTES.items() if any(name.endswith(end) for name in chosen)]
    absent = [title for name, title in PEERS.items() if machine.versions[name] is None]
    if absent:
        notes.append(f"not installed, so not compared with: {', '.join(absent)}")
    return notes
