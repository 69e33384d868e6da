"""How things are called: C23 in text, c_{23} in LaTeX, and what each parameter means."""

import re
from collections.abc import Mapping

from armdyn.analysis.equations.readable import Angle
from armdyn.analysis.equations.tree import ZERO, Expr, Number, Symbol, Turn, product, total
from armdyn.errors import ModelError

RESERVED = re.compile(
    r"([CS](\w*\d\w*|alpha\w*|gamma\w*|phi\w*)|q|qd|qdd|(q|qd|qdd|tau|phi|alpha|gamma|theta)\d+\w*"
    r"|[MVGBCThUFKt]\d*|F[cuvsw]\d+|v[sw]\d+|[MVG]x\d*|J\d*|np|sp|n|sin|cos|tan|exp|sgn|sign|sqrt"
    r"|tanh|pi|[ISNOEQ]|Matrix|Rational|symbols|values|inverse_dynamics|detJ)"
)
"""Names that equations and the sources made from them use themselves."""
_LETTER = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)?")
_ACROSS = {
    "mass": ("mass of link {i}", "kg"),
    "rotor": ("inertia of rotor {i} at its joint", "kg m² or kg"),
    "offset": ("offset along axis {i}", "m"),
}
_GREEK = ("alpha", "beta", "gamma", "delta", "theta", "lambda", "mu", "rho", "phi", "psi", "omega")
_SPLIT = re.compile(r"([A-Za-z]+?)(\d+)(?:_(\d+))?")


def check_letter(name: str) -> None:
    """Refuse a letter that would be mistaken for something else."""
    if not _LETTER.fullmatch(name):
        raise ModelError(
            f"{name!r} cannot be a letter of an equation; use letters and digits, as l1 or l_1"
        )
    if RESERVED.fullmatch(name):
        raise ModelError(
            f"the letter {name!r} has a meaning of its own in the equations; use another one, as l1"
        )


def angle_name(angle: Angle) -> str:
    """What stands behind C and S: 23 for q2 + q3, 2-3 for q2 - q3, alpha1 for a constant."""
    if isinstance(angle, str):
        return angle
    plain = all(sign > 0 for _, sign in angle)
    long = any(joint > 9 for joint, _ in angle)
    if plain:
        return ("," if long else "").join(str(joint) for joint, _ in angle)
    signed = "".join(f"{'+' if sign > 0 else '-'}{joint}" for joint, sign in angle)
    return signed.removeprefix("+")


def turn_name(turn: Turn) -> str:
    """A cosine or sine in text."""
    return turn.function + angle_name(turn.angle)


def turn_identifier(turn: Turn) -> str:
    """A cosine or sine as a name of a program."""
    name = angle_name(turn.angle)
    return turn.function + name.replace(",", "_").replace("-", "m").replace("+", "p")


def angle_sum(angle: Angle, offsets: Mapping[int, float]) -> Expr:
    """What an angle adds up, with the offset of each joint by its number."""
    if isinstance(angle, str):
        return Symbol(angle)
    terms: list[Expr] = [product([Number(sign), Symbol(f"q{joint}")]) for joint, sign in angle]
    constant = sum(sign * offsets.get(joint, 0.0) for joint, sign in angle)
    return total([*terms, Number(constant) if constant else ZERO])


def latex_name(name: str) -> str:
    """A symbol in LaTeX: m_{2}, I_{xx,3}, \\dot{q}_{1}."""
    match = re.fullmatch(r"(qdd|qd|q)(\d+)", name)
    if match:
        head = {"q": "q", "qd": r"\dot{q}", "qdd": r"\ddot{q}"}[match[1]]
        return f"{head}_{{{match[2]}}}"
    match = _SPLIT.fullmatch(name)
    if match:
        word, number = match[1], match[2] + (f",{match[3]}" if match[3] else "")
        if word == "tau":
            return rf"\tau_{{{number}}}"
        return _word(word, number)
    head, _, tail = name.partition("_")
    return _word(head, tail)


def _word(word: str, number: str) -> str:
    if word in _GREEK:
        head, index = f"\\{word}", ""
    elif len(word) > 1 and word[0] in "IJFaegv" and word[1:].islower():
        head, index = word[0], word[1:]
    else:
        head, index = word if len(word) == 1 else rf"\mathit{{{word}}}", ""
    below = ",".join(part for part in (index, number) if part)
    return f"{head}_{{{below}}}" if below else head


def latex_angle(angle: Angle) -> str:
    """What stands below c and s in LaTeX."""
    return latex_name(angle) if isinstance(angle, str) else angle_name(angle)


def meaning(symbol: str, word: str) -> tuple[str, str]:
    """What a parameter is, and its unit.

    Args:
        symbol: As "Ixx2".
        word: As "link2.inertia.xx".
    """
    owner, _, part = word.partition(".")
    i = owner.removeprefix("link")
    if part in _ACROSS:
        text, unit = _ACROSS[part]
        return text.format(i=i), unit
    kind, _, axis = part.partition(".")
    if kind == "com":
        return f"{axis} of the centre of mass of link {i}", "m"
    if kind == "moment":
        return f"first moment of link {i} along {axis}", "kg m"
    if kind == "inertia":
        return f"inertia {axis} of link {i} about its centre of mass", "kg m²"
    child = kind.partition("_")[2]
    to = f" to axis {child}" if child else ""
    return f"length of link {i}{to}" + (f", along {axis}" if axis else ""), "m"
