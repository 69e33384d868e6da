"""Code that runs in a process of its own."""

import os
import subprocess
import sys


def printed(code: str, **environment: str) -> str:
    """What code prints in a new process that finds the same packages."""
    given = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment
    run = subprocess.run(
        [sys.executable, "-c", code], env=given, capture_output=True, text=True, check=True
    )
    return run.stdout


def printed_with_two_orders_of_hashes(code: str) -> list[str]:
    """What code prints in two processes that order the entries of sets differently."""
    return [printed(code, PYTHONHASHSEED=seed) for seed in ("1", "2")]
