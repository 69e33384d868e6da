"""From a request to machine code: out of the cache on disk, or traced, reduced and compiled."""

import hashlib
import json
import logging
import platform
import struct
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path

import llvmlite
import numpy as np

from armdyn.errors import ModelError, counted
from armdyn.forks import lock_over_fork
from armdyn.graph.program import Program
from armdyn.kernels import numpy_api
from armdyn.kernels.cache import ObjectCache, user_cache
from armdyn.kernels.llvm.backend import LlvmTarget, MachineCode, build, linked
from armdyn.kernels.llvm.rollout_loop import StateRows
from armdyn.model import RobotModel
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request
from armdyn.quantities.steps import StepRequest, step_program
from armdyn.thresholds import MOST_OPERATIONS
from armdyn.version import __version__

PATIENCE = 1.0
"""Seconds of silence."""
_LOG = logging.getLogger("armdyn")
FORMAT = 2
"""Changes with what is kept beside the object code."""
SOURCES = (
    "arrays.py",
    "thresholds.py",
    "model",
    "graph",
    "formulations",
    "loops",
    "shorten",
    "quantities",
    "kernels",
)
"""What machine code is made by."""

_lock = lock_over_fork()
_alive: "weakref.WeakValueDictionary[str, MachineCode]" = weakref.WeakValueDictionary()


def machine_code(
    model: RobotModel,
    request: Request | StepRequest,
    target: LlvmTarget,
    cache: ObjectCache | None = None,
    program: Program | None = None,
) -> MachineCode:
    """The machine code of a request, shared by all who ask for the same.

    It is kept on disk in the cache, or in the one of the user, if there is one. A program that is
    given stands in the place of the one that the request would have.
    """
    key = _key(model, request, target, program)
    with _lock:
        found = _alive.get(key)
        if found is None:
            cache = cache or user_cache()
            kept = cache.get(key) if cache else None
            found = None if kept is None else _linked(kept)
            if found is None:
                found = _compiled(model, request, target, program)
                if cache:
                    cache.put(key, found.content)
            _alive[key] = found
        return found


def _linked(kept: bytes) -> MachineCode | None:
    """Machine code from what was kept; None if that is none."""
    try:
        return linked(kept)
    except (ValueError, TypeError, LookupError, RuntimeError, struct.error):
        return None


def _compiled(
    model: RobotModel, request: Request | StepRequest, target: LlvmTarget, program: Program | None
) -> MachineCode:
    name = f"{request.quantity} of {model.name!r}"
    with note(f"writing the equations for {name} ..."):
        if isinstance(request, StepRequest):
            program = step_program(model, request)
            rows = StateRows(request.width(len(model.independent)), request.extra)
            target = replace(target, rows=rows)
        else:
            program = program or quantity_program(model, request)
    size = len(program.instructions)
    if size > MOST_OPERATIONS.value:
        raise ModelError(
            f"{name} takes {size} operations, more than the {MOST_OPERATIONS.value} that can be "
            "compiled in sensible time; use another method, or evaluate it as it is written"
        )
    with note(
        f"compiling {counted(size, 'operation')} for {name}; the result is kept for the next "
        "time ..."
    ):
        return build(program, target)


def _key(
    model: RobotModel, request: Request | StepRequest, target: LlvmTarget, program: Program | None
) -> str:
    """A digest of everything that the code depends on."""
    parts = [FORMAT, model.digest, asdict(request), asdict(target), *_versions()]
    if program is not None:
        parts.append(repr((program.constants, program.instructions, program.outputs)))
    text = json.dumps(parts, default=bool)  # options may be truths of NumPy
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=1)
def _versions() -> tuple[str | bool, ...]:
    """Of armdyn, by what its files hold, and of everything that code refers to."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    numpy = numpy_api.arrays_are_as_expected()
    root = Path(__file__).parents[1]
    sources = hashlib.sha256()
    for name in SOURCES:
        for file in sorted((root / name).rglob("*.py")) or [root / name]:
            sources.update(file.relative_to(root).as_posix().encode())
            sources.update(file.read_bytes())
    versions = __version__, llvmlite.__version__, np.__version__
    return *versions, python, numpy, sources.hexdigest()


@contextmanager
def note(text: str) -> Iterator[None]:
    """Say what is going on if the block takes over a second: on a terminal, and in the log."""
    timer = threading.Timer(PATIENCE, _say, (text,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _say(text: str) -> None:
    _LOG.info(text)
    if sys.stderr is not None and sys.stderr.isatty():
        print(f"armdyn: {text}", file=sys.stderr, flush=True)
