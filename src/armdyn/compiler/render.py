"""A program as text: a listing to read, and the Python function that evaluates it."""

from typing import TYPE_CHECKING

from armdyn.expr.node import FUNCTIONS
from armdyn.expr.show import SIGN

if TYPE_CHECKING:
    from armdyn.compiler.program import Program


def listing(program: "Program") -> str:
    """What the program takes, what is worked out beforehand, its instructions and its outputs."""
    names = list(program.symbols)
    lines = ["inputs"]
    lines += [f"  {a.name}" + ("" if a.size is None else f"({a.size})") for a in program.inputs]
    beforehand: list[str] = []
    made = 0
    for constant in program.constants:
        if constant.op == "number":
            names.append(constant.name)
            continue
        known = "" if constant.value is None else f"  # {constant.value!r}"
        if constant.op == "parameter":
            names.append(constant.name)
            beforehand.append(f"{constant.name}{known}")
        else:
            made += 1
            names.append(f"c{made}")
            written = operation(constant.op, [names[k] for k in constant.args])
            beforehand.append(f"c{made} = {written}{known}")
    lines += ["beforehand", *(f"  {line}" for line in beforehand)] if beforehand else []
    lines.append(f"instructions  # {program.operations}")
    for place, instruction in enumerate(program.instructions, start=1):
        names.append(f"v{place}")
        written = operation(instruction.op, [names[k] for k in instruction.args])
        lines.append(f"  v{place} = {written}")
    lines.append(f"outputs {program.shape}")
    lines += [f"  [{i}] = {names[k]}" for i, k in enumerate(program.outputs)]
    return "\n".join(lines) + "\n"


def operation(op: str, args: list[str]) -> str:
    """An operation on names, as in the languages that look like C."""
    if op in FUNCTIONS or op == "guard":
        return f"{op}({', '.join(args)})"
    return f"-{args[0]}" if op == "neg" else f"{args[0]} {SIGN[op]} {args[1]}"


def python_source(program: "Program") -> str:
    """A Python function of the input arrays; a variable is used again once its value is not needed.

    Symbols keep no name of their own in it, so no text of a user is ever executed.
    """
    arrays = [f"a{i}" for i in range(len(program.inputs))]
    lines = [f"def program({', '.join(arrays)}):"]
    for array, given in zip(arrays, program.inputs, strict=True):
        for k in range(len(given.symbols)):
            lines.append(f"    s{len(lines) - 1} = {array}[..., {k}]")
    inputs, constants = len(program.symbols), len(program.constants)
    names = [f"s{i}" for i in range(inputs)] + [f"k{inputs + i}" for i in range(constants)]
    start = len(names)
    last = _last_uses(program)
    free: list[str] = []
    made = 0
    for place, instruction in enumerate(program.instructions):
        args = [names[k] for k in instruction.args]
        free += [names[k] for k in sorted(set(instruction.args)) if k >= start and last[k] == place]
        if not free:
            free.append(f"r{made}")
            made += 1
        names.append(free.pop())
        lines.append(f"    {names[-1]} = {operation(instruction.op, args)}")
        if start + place not in last:
            free.append(names[-1])
    results = "".join(f"{names[k]}, " for k in program.outputs)
    return "\n".join([*lines, f"    return ({results})"])


def _last_uses(program: "Program") -> dict[int, int]:
    """The instruction after which each value is not needed any more."""
    last: dict[int, int] = {}
    for place, instruction in enumerate(program.instructions):
        last |= dict.fromkeys(instruction.args, place)
    return last | dict.fromkeys(program.outputs, len(program.instructions))
