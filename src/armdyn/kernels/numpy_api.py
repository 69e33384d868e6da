"""NumPy and Python seen from machine code: addresses, the layout of arrays, generalized ufuncs.

NumPy's C functions stand in a table behind a capsule, at places that never change.
"""

import ctypes
import ctypes.util
import sys
from functools import lru_cache
from typing import Any

import numpy as np

from armdyn.kernels.llvm.vectors import LIBRARY

UFUNC_FROM_SIGNATURE = 31
"""Place of PyUFunc_FromFuncAndDataAndSignature among the functions for ufuncs."""
ARRAY_EMPTY = 184
"""Place of PyArray_Empty among those for arrays."""

TYPE_NUMBERS = {"float32": 11, "float64": 12}
"""NumPy's numbers of the types."""

DATA = 16
NDIM = 24
DIMENSIONS = 32
STRIDES = 40
DESCR = 56
FLAGS = 64
"""Where an array object has its fields."""
ALIGNED = 0x100
WRITEABLE = 0x400
STRUCTURE = 16
"""Where a structure of ctypes has its address."""
KEEPS = 88
"""Where a ufunc has the object that it keeps alive."""

PYTHON = (
    *("PyObject_Vectorcall", "Py_IncRef", "Py_DecRef", "PyErr_NoMemory", "PyErr_Clear"),
    *("PyGILState_Ensure", "PyGILState_Release"),
)
"""Functions of Python that compiled code calls."""
WORDS = {word: sys.intern(word) for word in ("out", "q", "qd", "qdd", "qddd", "qdddd", "tau")}
"""Names of arguments that compiled code knows."""


@lru_cache(maxsize=1)
def symbols() -> dict[str, int]:
    """Addresses of what compiled code refers to, by name."""
    of_c = ("malloc", "free", *(f"{name}{f}" for name in LIBRARY for f in ("", "f")))
    known = {name: _of_c(name) for name in of_c}
    known |= {name: _address(getattr(ctypes.pythonapi, name)) for name in PYTHON}
    known["array_empty"] = _table("_ARRAY_API")[ARRAY_EMPTY]
    known["array_type"] = id(np.ndarray)
    known |= {f"name_{word}": id(interned) for word, interned in WORDS.items()}
    known |= {f"descr_{name}": id(np.dtype(name)) for name in TYPE_NUMBERS}
    return known


@lru_cache(maxsize=1)
def arrays_are_as_expected() -> bool:
    """Whether array objects have the layout that the fast entry reads; others get no fast entry."""
    if sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return False
    if object.__basicsize__ != 16 or np.ndarray.__basicsize__ <= FLAGS:
        return False
    array = np.zeros((3, 5))[1:, 2]
    at = id(array)
    number = ctypes.c_int()

    def word(offset: int) -> int:
        return ctypes.c_size_t.from_address(at + offset).value

    def whole(offset: int) -> int:
        return ctypes.c_int.from_address(at + offset).value

    return (
        word(8) == id(np.ndarray)
        and word(DATA) == array.ctypes.data
        and whole(NDIM) == 1
        and ctypes.c_ssize_t.from_address(word(DIMENSIONS)).value == 2
        and ctypes.c_ssize_t.from_address(word(STRIDES)).value == 40
        and word(DESCR) == id(np.dtype(float))
        and whole(FLAGS) == array.flags.num
        and array.flags.num & (ALIGNED | WRITEABLE) == ALIGNED | WRITEABLE
        and ctypes.c_size_t.from_address(id(number) + STRUCTURE).value == ctypes.addressof(number)
    )


def gufunc(
    loop: int, dtype: str, signature: str, arguments: int, name: str, doc: str, keep: Any
) -> np.ufunc:
    """A generalized ufunc of so many arguments and one output, from the address of its loop.

    The signature is as "(7),(7)->(7,7)"; `keep` lives as long as the ufunc.
    """
    make = ctypes.PYFUNCTYPE(
        ctypes.py_object,
        *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p),
        *(ctypes.c_int,) * 4,
        *(ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p),
    )(_table("_UFUNC_API")[UFUNC_FROM_SIGNATURE])
    functions = (ctypes.c_void_p * 1)(loop)
    data = (ctypes.c_void_p * 1)(None)
    types = bytes([TYPE_NUMBERS[dtype]] * (arguments + 1))
    text = name.encode(), doc.encode(), signature.encode()
    made: np.ufunc = make(functions, data, types, 1, arguments, 1, -1, text[0], text[1], 0, text[2])
    owned = (keep, functions, data, types, text)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(owned))
    place = ctypes.c_void_p.from_address(id(made) + KEEPS)
    if place.value is None and arrays_are_as_expected():
        place.value = id(owned)  # the ufunc owns it; if the place looks unfamiliar, nobody frees it
    return made


@lru_cache(maxsize=2)
def _table(name: str) -> Any:
    """NumPy's table of C functions."""
    core = getattr(np, "_core", None) or np.core  # NumPy 1 has no _core
    capsule = getattr(core._multiarray_umath, name)
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype = ctypes.c_void_p
    pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
    return (ctypes.c_void_p * 400).from_address(pointer(capsule, None))


def _of_c(name: str) -> int:
    for library in _c_libraries():
        if hasattr(library, name):
            return _address(getattr(library, name))
    raise OSError(f"the C library has no function {name!r}")


@lru_cache(maxsize=1)
def _c_libraries() -> list[Any]:
    if sys.platform == "win32":
        return [ctypes.CDLL("ucrtbase")]
    found = ctypes.util.find_library("m")
    return [ctypes.CDLL(None), *([ctypes.CDLL(found)] if found else [])]


def _address(function: Any) -> int:
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)
