"""What the benchmark found, on which machine."""

import importlib.metadata
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from armdyn.backends.llvm.target import Target
from armdyn.version import __version__

PEERS = {
    "pin": "Pinocchio",
    "mujoco": "MuJoCo",
    "roboticstoolbox-python": "Robotics Toolbox",
}
"""The packages that are compared with, and what people call them."""
LIBRARIES = ("numpy", "llvmlite", *PEERS)


@dataclass(frozen=True, slots=True)
class Goal:
    """What a row should reach."""

    sense: str
    """"≥" or "≤"."""
    limit: float

    def met(self, value: float) -> bool:
        """Whether a value reaches it."""
        return value >= self.limit if self.sense == "≥" else value <= self.limit


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    case: str
    """The name by which it is asked for."""
    what: str
    ours: float | None
    """Seconds a state, or of the one thing that is timed."""
    against: str
    """Who or what it is compared with, or why that is not so."""
    theirs: float | None
    """Seconds a state."""
    value: float | None
    """What is judged."""
    unit: str
    """What the value is: "times as fast", "of its time", "ms", ..."""
    goal: Goal | None = None

    @property
    def met(self) -> bool | None:
        """Whether the goal is reached; None where there is none, or no value."""
        if self.goal is None or self.value is None:
            return None
        return self.goal.met(self.value)


@dataclass(frozen=True)
class Machine:
    """Where it was measured."""

    cpu: str
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
        return Machine(
            cpu=_cpu(),
            cores=os.cpu_count() or 1,
            load=os.getloadavg() if hasattr(os, "getloadavg") else (),
            vector_bits=Target.host().bits,
            python=platform.python_version(),
            armdyn=__version__,
            versions={name: _version(name) for name in LIBRARIES},
        )


@dataclass(frozen=True)
class BenchReport:
    """The table."""

    machine: Machine
    rows: list[Row]
    notes: list[str]

    def data(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "machine": asdict(self.machine),
            "rows": [asdict(row) | {"met": row.met} for row in self.rows],
            "notes": self.notes,
        }


def _cpu() -> str:
    """The name of the processor; a virtual one may say little, so LLVM's name for it is added."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                name = value.strip()
                break
    return f"{name} ({Target.host().cpu})"


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
