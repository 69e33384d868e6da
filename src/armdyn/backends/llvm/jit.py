"""Machine code for this process: made once, linked into one engine, dropped when nobody uses it."""

import ctypes
import itertools
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import llvmlite.binding as llvm

from armdyn.backends.llvm.target import Target
from armdyn.backends.numpy_api import symbols
from armdyn.backends.threads import lock_over_fork

_LOCK = lock_over_fork()
_NAMES = itertools.count()


def object_code(text: str, target: Target) -> bytes:
    """The object file of a module."""
    with _LOCK:
        module = llvm.parse_assembly(f'target triple = "{target.triple}"\n{text}')
        machine = target.machine()
        module.data_layout = str(machine.target_data)
        return bytes(machine.emit_object(module))


def link(content: bytes, exported: Iterable[str]) -> Any:
    """The addresses of functions by name, in memory as long as this object lives."""
    with _LOCK:
        builder = llvm.JITLibraryBuilder().add_object_img(content)
        for name, address in symbols().items():
            builder.import_symbol(name, address)
        for name in exported:
            builder.export_symbol(name)
        return builder.link(_engine(), f"armdyn{next(_NAMES)}")


@lru_cache(maxsize=1)
def _engine() -> Any:
    """The one engine of the process, never destroyed: code must not outlive it."""
    engine = llvm.create_lljit_compiler(Target.host().machine(), suppress_errors=True)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(engine))
    return engine
