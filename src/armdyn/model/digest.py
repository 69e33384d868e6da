"""A digest of everything in a model that its equations depend on."""

import hashlib
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

DESCRIPTIVE = ("title", "source", "note", "letters")
"""Fields that describe a robot to people and are no part of its equations."""


def digest(model: Any) -> str:
    """SHA-256 in hex: the same for equal models in every process, another for any other number.

    A model with expression nodes has a digest too, but only within this process.
    """
    pieces: list[bytes] = []
    _collect(model, pieces)
    return hashlib.sha256(b"\0".join(pieces)).hexdigest()


def _collect(value: Any, pieces: list[bytes]) -> None:
    if is_dataclass(value):
        pieces.append(type(value).__name__.encode())
        for entry in fields(value):
            if entry.name not in DESCRIPTIVE:
                pieces.append(entry.name.encode())
                _collect(getattr(value, entry.name), pieces)
    elif isinstance(value, np.ndarray):
        pieces.append(str(value.shape).encode())
        if value.dtype == object:
            _collect(value.ravel().tolist(), pieces)
        else:
            pieces.append(np.asarray(value, dtype="<f8").tobytes())
    elif isinstance(value, tuple | list):
        pieces.append(str(len(value)).encode())
        for entry in value:
            _collect(entry, pieces)
    elif value is None or isinstance(value, str | int | float):
        pieces.append(repr(value).encode())
    else:  # a node is itself and no other
        pieces.append(str(id(value)).encode())
