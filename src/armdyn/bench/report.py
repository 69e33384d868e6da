"""What a benchmark measured, and on which machine."""

import importlib.metadata
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from armdyn.backends.llvm.target import Target
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
    """All that was measured."""

    machine: Machine
    rows: list[Speed]
    notes: list[str]

    def data(self) -> dict[str, Any]:
        """The report as plain data."""
        rows = [asdict(row) | {"ratio": row.ratio} for row in self.rows]
        return {"machine": asdict(self.machine), "rows": rows, "notes": self.notes}


def _cpu() -> str:
    """The name of the processor, and LLVM's name for it: a virtual machine may hide the first."""
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
