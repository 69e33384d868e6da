"""A digest of everything in a model that its equations depend on."""

import hashlib
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from armdyn.model.robot import RobotModel

TOLD = ("title", "source", "note", "letters")
"""What is told about a robot and is not part of it."""


def digest(model: RobotModel) -> str:
    """SHA-256 in hex: the same for equal models in every process, another for any other number."""
    pieces: list[bytes] = []
    _collect(model, pieces)
    return hashlib.sha256(b"\0".join(pieces)).hexdigest()


def _collect(value: Any, pieces: list[bytes]) -> None:
    if is_dataclass(value):
        pieces.append(type(value).__name__.encode())
        for entry in fields(value):
            if entry.name not in TOLD:
                pieces.append(entry.name.encode())
                _collect(getattr(value, entry.name), pieces)
    elif isinstance(value, np.ndarray):
        pieces += [str(value.shape).encode(), np.asarray(value, dtype="<f8").tobytes()]
    elif isinstance(value, tuple | list):
        pieces.append(str(len(value)).encode())
        for entry in value:
            _collect(entry, pieces)
    else:
        pieces.append(repr(value).encode())
