"""Friction of the joints, written out."""

from collections.abc import Callable
from math import isfinite

from armdyn.equations.document import Block, Line, index
from armdyn.equations.tree import Call, Expr, Number, Power, Symbol, product, total
from armdyn.model import Friction, RobotModel


def friction(model: RobotModel, digits: int | None) -> tuple[Block, dict[str, float]] | None:
    """Friction of each joint as it is written, with the values of its symbols; None without."""
    if all(joint.friction.is_zero for joint in model.joints):
        return None
    values: dict[str, float] = {}

    def number(name: str, value: float) -> Expr:
        values[name] = value
        return Symbol(name) if digits is None else Number(float(f"{value:.{digits}g}"))

    lines = tuple(
        Line("F", index(i), _law(i, joint.friction, number), (i - 1,))
        for i, joint in enumerate(model.joints, 1)
    )
    return Block("F", "Friction", lines, (len(lines),), ("qd",)), values


def _law(i: int, law: Friction, number: Callable[[str, float], Expr]) -> Expr:
    """The law of `armdyn.formulations.friction`."""
    qd = Symbol(f"qd{i}")
    way: Expr = Call("sgn", qd)
    smooth: Expr = way
    if law.smooth_velocity:
        scaled = product([qd, Power(number(f"vt{i}", law.smooth_velocity), -1)])
        smooth = Call("tanh", scaled)
    mean = (law.coulomb_positive + law.coulomb_negative) / 2
    uneven = (law.coulomb_positive - law.coulomb_negative) / 2
    terms: list[Expr] = [product([number(f"Fv{i}", law.viscous), qd])] if law.viscous else []
    if mean:
        terms.append(product([number(f"Fc{i}", mean), smooth]))
    if uneven:
        both = [Power(way, 2)] if smooth == way else [way, smooth]
        terms.append(product([number(f"Fu{i}", uneven), *both]))
    if law.stribeck:
        factors = [number(f"Fs{i}", law.stribeck), smooth]
        if isfinite(law.stribeck_velocity):
            ratio = product([qd, Power(number(f"vs{i}", law.stribeck_velocity), -1)])
            dying = Call("exp", product([Number(-1), Power(ratio, 2)]))
            factors.append(dying)
        terms.append(product(factors))
    return total(terms)
