"""Programs on the numbers of other libraries: arrays of JAX and PyTorch, symbols of CasADi.

A library is a table of functions, one for each operation; the table of `expr.operations` is that of
NumPy. Nothing of a library is imported here.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from armdyn.arrays import RELATIVE_PIVOT
from armdyn.graph.operations import FAR_ANGLE
from armdyn.graph.program import Program


def evaluated(
    program: Program,
    entries: Sequence[Any],
    functions: Mapping[str, Callable[..., Any]],
) -> list[Any]:
    """The outputs of a program, in C order, for the entries of its arguments one after the other.

    A value is forgotten after its last use.
    """
    values: dict[int, Any] = dict(enumerate([*entries, *(c.value for c in program.constants)]))
    left = Counter(k for i in program.instructions for k in i.args) + Counter(program.outputs)
    for place, instruction in enumerate(program.instructions, start=len(values)):
        values[place] = functions[instruction.op](*(values[k] for k in instruction.args))
        for k in instruction.args:
            left[k] -= 1
            if not left[k]:
                del values[k]
    return [values[k] for k in program.outputs]


def array_functions(xp: Any) -> dict[str, Callable[..., Any]]:
    """The table of a library of arrays that has the names of NumPy."""

    def without_turns(angle: Any) -> Any:
        return xp.arctan2(xp.sin(angle), xp.cos(angle)) if hasattr(angle, "shape") else angle

    def angle_sum(a: Any, b: Any) -> Any:
        total = a + b
        return xp.where(abs(total) > FAR_ANGLE, without_turns(a) + without_turns(b), total)

    def guard(pivot: Any, scale: Any) -> Any:
        return xp.where(abs(pivot) > RELATIVE_PIVOT * abs(scale), pivot, float("nan"))

    def signed_power(x: Any, exponent: float) -> Any:
        return xp.sign(x) * xp.where(x == 0, 1.0, abs(x)) ** exponent

    named = {name: getattr(xp, name) for name in ("sin", "cos", "sqrt", "exp", "tanh", "sign")}
    own = {"angle_sum": angle_sum, "guard": guard, "signed_power": signed_power}
    return ARITHMETIC | named | own


ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
}
"""The operators, which every library has."""
