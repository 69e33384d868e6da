"""The name of this machine, as FMI writes it."""

import platform
import sys

MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
SYSTEMS = {"win32": "windows"}
ENDS = {"windows": ".dll", "darwin": ".dylib"}


def this_platform() -> str:
    """Machine and system: "x86_64-linux"."""
    machine = platform.machine().lower()
    return f"{MACHINES.get(machine, machine)}-{SYSTEMS.get(sys.platform, sys.platform)}"


def library_end(name: str) -> str:
    """How the name of a shared library ends on a platform."""
    return ENDS.get(name.rpartition("-")[2], ".so")
