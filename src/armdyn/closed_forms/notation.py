"""How things are called: C23 in text, c_{23} in LaTeX, S23 as a name of a program."""

import re
from collections.abc import Mapping

from armdyn.closed_forms.document import index
from armdyn.closed_forms.readable import Angle
from armdyn.closed_forms.tree import ZERO, AngleFunction, Call, Expr, Number, Symbol, product, total

_GREEK = ("alpha", "beta", "gamma", "delta", "theta", "lambda", "mu", "rho", "phi", "psi", "omega")
_HEADS = {"q": "q", "qd": r"\dot{q}", "qdd": r"\ddot{q}", "tau": r"\tau"}


def angle_name(angle: Angle) -> str:
    """What stands behind C and S: 23 for q2 + q3, 2-3 for q2 - q3, alpha1 for a constant."""
    if isinstance(angle, str):
        return angle
    if any(abs(sign) != 1 for _, sign in angle):
        return "".join(f"{sign:+d}q{joint}" for joint, sign in angle).removeprefix("+")
    if all(sign > 0 for _, sign in angle):
        return index(*(joint for joint, _ in angle))
    return "".join(f"{sign * joint:+d}" for joint, sign in angle).removeprefix("+")


def angle_identifier(function: AngleFunction) -> str:
    """A cosine or sine as a name of a program."""
    name = angle_name(function.angle)
    return function.name + name.replace(",", "_").replace("-", "m").replace("+", "p")


def angle_sum(angle: Angle, offsets: Mapping[int, float], digits: int = 17) -> Expr:
    """What an angle adds up, with the offset of each joint by its number."""
    if isinstance(angle, str):
        return Symbol(angle)
    terms: list[Expr] = [product([Number(sign), Symbol(f"q{joint}")]) for joint, sign in angle]
    exact = float(sum(sign * offsets.get(joint, 0.0) for joint, sign in angle))
    constant = float(f"{exact:.{digits}g}")
    return total([*terms, Number(constant) if constant else ZERO])


def angle_call(function: AngleFunction, offsets: Mapping[int, float]) -> Expr:
    """What a cosine or sine stands for: cos(q2 + q3)."""
    return Call({"C": "cos", "S": "sin"}[function.name], angle_sum(function.angle, offsets))


def latex_name(name: str) -> str:
    r"""A symbol in LaTeX: m_{2}, I_{xx,3}, \dot{q}_{1}."""
    if match := re.fullmatch(r"(qdd|qd|q|tau)(\d+)", name):
        return f"{_HEADS[match[1]]}_{{{match[2]}}}"
    if match := re.fullmatch(r"([CS])(\d\w*)", name):
        return f"{match[1].lower()}_{{{match[2].replace('_', ',')}}}"
    if match := re.fullmatch(r"([A-Za-z]+?)(\d+)(?:_(\d+))?", name):
        return _word(match[1], match[2] + (f",{match[3]}" if match[3] else ""))
    if match := re.fullmatch(r"([A-Za-z]+)(\d+[a-z]+)", name):
        return _word(match[1], match[2])
    head, _, tail = name.partition("_")
    return _word(head, tail.replace("_", ","))


def _word(word: str, number: str) -> str:
    if word in _GREEK:
        head, index = f"\\{word}", ""
    elif re.fullmatch(r"[IJFagvxyz][a-z]{1,2}", word):
        head, index = word[0], word[1:]
    else:
        head, index = word if len(word) == 1 else rf"\mathit{{{word}}}", ""
    below = ",".join(part for part in (index, number) if part)
    return f"{head}_{{{below}}}" if below else head


def latex_angle(angle: Angle) -> str:
    """What stands below c and s in LaTeX."""
    return latex_name(angle) if isinstance(angle, str) else angle_name(angle)
