"""Plain text: m2 a1 x2 C2, squares as ², long equations in several lines."""

from textwrap import wrap

from armdyn.closed_forms.document import Block, Document, Line
from armdyn.closed_forms.notation import angle_name, angle_sum
from armdyn.closed_forms.printer import SIGNS, TEXT_OPERATORS, Notation, broken, exact_number

WIDTH = 96
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def _raised(base: str, exponent: int | str) -> str:
    """A small whole exponent, or any other behind a caret."""
    digits = str(exponent)
    whole = digits.removeprefix("-").isdigit()
    return base + (digits.translate(_RAISED) if whole else f"^{digits}")


TEXT = Notation(
    operators=TEXT_OPERATORS,
    number=lambda value: exact_number(value).removesuffix(".0"),
    angle_function=lambda f: f.name + angle_name(f.angle),
    power=_raised,
    bars=True,
)


def text(equations: Document) -> str:
    """The equations to read on a terminal."""
    found = [equations.title, "=" * len(equations.title), "", equations.law[0]]
    for note in equations.notes:
        found += wrap(f"Note: {note}.", WIDTH, subsequent_indent="      ")
    for block in equations.blocks:
        found += ["", block.title, "-" * len(block.title), *_block(block)]
    found += _where(equations)
    return "\n".join(found) + "\n"


def _block(block: Block) -> list[str]:
    found = [f"{remark}." for remark in block.remarks]
    for line in block.shown:
        found += _folded(f"{line.name} = ", TEXT.write(line.value))
    if block.zeros:  # M12 = M13 = 0, or V = 0 where nothing is left
        names = [line.name for line in block.zeros]
        all_zero = block.symbol and not block.shown
        found += _folded("", " = ".join([block.symbol] if all_zero else names) + " = 0", sign="=")
    if constant := constants(block):
        found += _folded("Constant: ", ", ".join(line.name for line in constant) + ".", sign=",")
    return found


def constants(block: Block) -> list[Line]:
    """Entries that are constant, where others are not."""
    if not block.shape or block.arguments == ("qd",):
        return []
    return [line for line in block.shown if line.constant]


def _where(equations: Document) -> list[str]:
    rows = []
    for angle in equations.angles:
        name, whole = angle_name(angle), TEXT.write(angle_sum(angle, equations.offsets, 6))
        rows.append((f"C{name}, S{name}", f"cosine and sine of {whole}"))
    for entry in equations.legend:
        value = f"{entry.value:.6g} {entry.unit}".rstrip()
        rows.append((entry.symbol, f"{value:<18} {entry.text}".rstrip()))
    for (i, name), unit in zip(equations.numbered, equations.units, strict=True):
        passive = ", a passive joint" if i in equations.passive else ""
        rows.append((f"q{i}", f"position of {printable(name)} [{unit}]{passive}"))
    width = max(len(left) for left, _ in rows)
    return ["", "Where", "-----", *(f"{left:<{width}}  {right}" for left, right in rows)]


def printable(name: str) -> str:
    """A name of a user in one line, without control characters."""
    return "".join(c if c.isprintable() else "?" for c in " ".join(name.split()))


def _folded(head: str, text: str, sign: str = "") -> list[str]:
    """Text behind a head, in several lines where it is long."""
    first, *others = broken(text, WIDTH - len(head), (sign,) if sign else SIGNS)
    return [head + first, *(" " * len(head) + row for row in others)]
