"""How far results in float are off those in double."""

import math
from collections import Counter
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.export.options import Function
from armdyn.formulations.coupling import drawn_in_ranges
from armdyn.graph.operations import FUNCTIONS, OPERATIONS
from armdyn.graph.program import Program
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
        return drawn_in_ranges(model, rng, STATES)
    if name == "payload":
        return np.outer(rng.uniform(0.0, 2.0, STATES), [1, 0, 0, 0.1, 0.02, 0, 0.02, 0, 0, 0.01])
    if name == "h":
        return np.full((STATES, size), 1e-3)
    scale = {"qdd": 5.0, "tau": 10.0, "gravity": 9.81, "gain": 50.0}.get(name, 2.0)
    least = 0.0 if name == "gain" else -scale
    return rng.uniform(least, scale, (STATES, size))


def _in_float(program: Program, vectors: list[Array]) -> Array:
    """The outputs in float; functions of the library as one that rounds rightly gives them."""
    known: list[Any] = [vector[:, k] for vector in vectors for k in range(vector.shape[1])]
    known += [np.float32(constant.value) for constant in program.constants]
    values = dict(enumerate(known))
    left = Counter(k for i in program.instructions for k in i.args) + Counter(program.outputs)
    with np.errstate(all="ignore"):
        for place, instruction in enumerate(program.instructions, start=len(values)):
            args = [values[k] for k in instruction.args]
            if instruction.op in FUNCTIONS:
                args = [arg.astype(float) for arg in args]
            values[place] = np.asarray(OPERATIONS[instruction.op].value(*args), np.float32)
            left.subtract(instruction.args)
            for k in instruction.args:
                if not left[k]:
                    values.pop(k, None)
    made = [np.broadcast_to(values[k], STATES) for k in program.outputs]
    return np.stack(made, axis=1).astype(float)


def rounded_up(x: float) -> str:
    """A number with one digit that is not less: 4e-07."""
    if x <= 0.0:
        return "0"
    power = math.floor(math.log10(x))
    return f"{math.ceil(x / 10.0**power)}e{power:03d}"
