"""What a benchmark measured, and on which machine."""

import os
import platform
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from armdyn.errors import counted
from armdyn.kernels.llvm.target import Target
from armdyn.report.result import Result, Section
from armdyn.study.compare.peers import version
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
