"""Friction of the joints, written out."""

import math
from typing import Any

import numpy as np

from armdyn.closed_forms.document import Block, Line, index
from armdyn.closed_forms.tree import ZERO, Arithmetic, Call, Expr, Number, Symbol, total
from armdyn.loops.closure import closure_of
from armdyn.model import FrictionLaw, RobotModel


def friction(
    model: RobotModel, digits: int | None, whole_tree: bool = False
) -> tuple[Block, dict[str, float]] | None:
    """Friction of each coordinate as it is written, with the values of its symbols; None without.

    With the whole tree it is that of every joint; else passive joints follow linearly.
    """
    if model.is_frictionless:
        return None
    values: dict[str, float] = {}
    n = len(model.joints)
    linear = None if whole_tree or not model.loops else closure_of(model).linear
    K = np.eye(n) if linear is None else linear[0]
    numbers = range(n) if linear is None else model.independent
    laws: list[Expr] = [ZERO] * len(numbers)
    owners = zip(model.driven, np.concatenate([K, model.drive_ratios @ K]), strict=True)
    for number, (owner, ratios) in enumerate(owners, 1):
        turns = np.flatnonzero(ratios)
        rates = [(Arithmetic(Symbol(f"qd{numbers[a] + 1}")) * float(ratios[a])).expr for a in turns]
        law = Arithmetic(_law(number, owner.friction, total(rates), digits, values))
        for a in turns:
            laws[a] = total([laws[a], (law * float(ratios[a])).expr])
    lines = tuple(Line("F", index(numbers[a] + 1), law, (a,)) for a, law in enumerate(laws))
    return Block("F", "Friction", lines, (len(lines),), ("qd",)), values


def _law(
    i: int, law: FrictionLaw, rate: Expr, digits: int | None, values: dict[str, float]
) -> Expr:
    """The law of joint or drive i, with symbols or rounded numbers; `values` gets their values."""

    def number(letter: str, value: float) -> Any:
        if not value or math.isinf(value):
            return value
        name = f"{letter}{i}"
        values[name] = value
        return Arithmetic(Symbol(name) if digits is None else Number(float(f"{value:.{digits}g}")))

    rows = law.rows(Arithmetic(rate), Arithmetic(Call("sgn", (rate,))), number)
    return total(row.expr for row in rows.values())
