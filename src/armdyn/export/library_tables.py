"""The tables of operations of other libraries: arrays of JAX and PyTorch, symbols of CasADi.

Nothing of a library is imported here.
"""

from collections.abc import Callable
from typing import Any

from armdyn.arrays import RELATIVE_PIVOT
from armdyn.graph.operations import FAR_ANGLE


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
