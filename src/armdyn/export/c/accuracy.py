"""How far results in float are off those in double."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.export.options import Function
from armdyn.graph.evaluate import Table
from armdyn.graph.operations import FUNCTIONS, OPERATIONS
from armdyn.graph.program import Program
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel

STATES = 1000
"""States that are drawn."""


def float_error(model: RobotModel, f: Function) -> float:
    """The largest error in float, relative to the largest entry of a result, or to 1 (unit).

    Positions are drawn between the limits of the joints, all else within ordinary numbers.
    """
    rng = np.random.default_rng(0)
    given = [_states(model, i.name, i.size or 1, rng) for i in f.program.inputs]
    single = [values.astype(np.float32) for values in given]
    exact = f.program(*(values.astype(float) for values in single)).reshape(STATES, -1)
    error = np.abs(_in_float(f.program, single) - exact)
    error = error.max(axis=1, initial=0.0) / np.maximum(1.0, np.abs(exact).max(axis=1, initial=0.0))
    return float(np.max(error[np.isfinite(error)], initial=0.0))


def _states(model: RobotModel, name: str, size: int, rng: np.random.Generator) -> Array:
    if name == "q":
        return coordinates_of(model).drawn_in_ranges(rng, STATES)
    if name == "payload":
        return np.outer(rng.uniform(0.0, 2.0, STATES), [1, 0, 0, 0.1, 0.02, 0, 0.02, 0, 0, 0.01])
    if name == "h":
        return np.full((STATES, size), 1e-3)
    scale = {"qdd": 5.0, "tau": 10.0, "gravity": 9.81, "gain": 50.0}.get(name, 2.0)
    least = 0.0 if name == "gain" else -scale
    return rng.uniform(least, scale, (STATES, size))


def _in_float(program: Program, vectors: list[Array]) -> Array:
    """The outputs in float; functions of the library as one that rounds rightly gives them."""
    entries = [vector[:, k] for vector in vectors for k in range(vector.shape[1])]
    with np.errstate(all="ignore"):
        outputs = program.evaluated(entries, _SINGLE)
    return np.stack([np.broadcast_to(y, STATES) for y in outputs], axis=1).astype(float)


def _rounded(op: str) -> Callable[..., Any]:
    """An operation whose result is rounded to float; a function is computed in double."""
    value, wide = OPERATIONS[op].value, op in FUNCTIONS

    def operation(*operands: Any) -> Any:
        wider = [x.astype(float) for x in operands] if wide else operands
        return np.asarray(value(*wider), np.float32)

    return operation


_SINGLE: Table = {op: _rounded(op) for op in OPERATIONS} | {"number": np.float32}


def rounded_up(x: float) -> str:
    """A number with one digit that is not less: 4e-07."""
    if x <= 0.0:
        return "0"
    power = math.floor(math.log10(x))
    return f"{math.ceil(x / 10.0**power)}e{power:03d}"
