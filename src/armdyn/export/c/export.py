"""Programs as C99: one source and one header, no allocation, no library but that of maths."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from armdyn.arrays import RELATIVE_PIVOT, SINGLE_PIVOT
from armdyn.errors import ModelError
from armdyn.export.body import ConstantTable, FunctionBody, Statements, exact_constant
from armdyn.export.c.processors import Footprint, footprints
from armdyn.export.c.selftest import drawn_values, selftest
from armdyn.export.export_comments import file_lines, function_lines, operations
from armdyn.export.names import comment, prefix_of
from armdyn.export.options import Exported, ExportOptions, Function, functions_of, write_all
from armdyn.forks import cached_property
from armdyn.graph.evaluate import Table
from armdyn.graph.operations import FAR_ANGLE, FUNCTIONS, OPERATIONS
from armdyn.graph.program import Program
from armdyn.model import RobotModel

COLUMNS = 96
STATES = 1000
"""States that are drawn to see how far results in float are off those in double."""
LIBRARY = ("sin", "cos", "sqrt", "exp", "tanh")
"""Operations that are functions of the C library; the others are operators or written out."""
_HELPERS_TEXT = (files("armdyn.export.c") / "helpers.c").read_text(encoding="utf-8")
HELPERS = {
    re.findall(r" (\w+)\(\$real", text)[0]: Template(text) for text in _HELPERS_TEXT.split("\n\n")
}
"""Operations that are written out as functions; all but the first need the header of maths."""


@dataclass(frozen=True, eq=False)
class CSources:
    """Functions of a robot as the texts of a source and a header."""

    model: RobotModel
    options: ExportOptions
    prefix: str
    """Start of the names of files and functions."""
    functions: tuple[Function, ...]

    @cached_property
    def texts(self) -> dict[str, str]:
        """The texts by the name of their file."""
        texts = {f"{self.prefix}.c": _source(self), f"{self.prefix}.h": _header(self, {})}
        if self.options.processors:  # the header is written again with what was measured by it
            sizes = footprints(texts, self.prefix, self.options.processors, [*self.programs])
            texts[f"{self.prefix}.h"] = _header(self, sizes)
        return texts

    @property
    def programs(self) -> dict[str, Program]:
        """The program of each function."""
        return {f.name: f.program for f in self.functions}

    def each(self, write: Callable[["CSources", Function], list[str]]) -> str:
        """What is written for every function, one after the other."""
        return "\n".join(line for function in self.functions for line in write(self, function))

    @property
    def used(self) -> set[str]:
        """The operations of all functions."""
        return {i.op for f in self.functions for i in f.program.instructions}

    @property
    def real(self) -> str:
        """The type of numbers."""
        return "float" if self.options.single else "double"

    @property
    def language(self) -> Statements:
        """How expressions are written."""
        single = self.options.single
        return Statements(
            number=_single if single else exact_constant,
            entry=lambda name, i: f"{name}[{i}]",
            functions={op: f"{op}f(" for op in LIBRARY} if single else {},
            declare=f"const {self.real} {{name}} = {{value}};",
        )

    @property
    def selftest(self) -> str:
        """The macro with which the source is a program that tests itself."""
        return f"{self.prefix.upper()}_SELFTEST"

    @property
    def try_it(self) -> str:
        """A command line that compiles and runs the self-test."""
        test = f"{self.prefix}_selftest"
        return f"cc -std=c99 -O2 -D{self.selftest} {self.prefix}.c -lm -o {test} && ./{test}"


def export_c(
    model: RobotModel, directory: str | Path, options: ExportOptions | None = None
) -> Exported:
    """Write functions of a robot as prefix.c and prefix.h.

    With PREFIX_SELFTEST defined the source is a program that compares every function with vectors
    computed here.
    """
    made = c_sources(model, options)
    return Exported(write_all(directory, made.texts), made.programs, made.try_it)


def c_sources(model: RobotModel, options: ExportOptions | None = None) -> CSources:
    """The source and the header of functions of a robot."""
    options = options or ExportOptions()
    prefix = prefix_of(model.name, options.prefix)
    return CSources(model, options, prefix, functions_of(model, options))


def _header(made: CSources, sizes: Mapping[str, Sequence[Footprint]]) -> str:
    """The header: what every function computes, its units, conventions and operations."""
    upper, used = made.prefix.upper(), made.used
    called = [op for op in LIBRARY if op in used] + ["pow"] * ("signed_power" in used)
    called += ["fabs", "atan2"] * ("angle_sum" in used)
    library = [f"Of the C library they call {', '.join(called) or 'nothing'}."]
    library += _FAR if "angle_sum" in used else []
    lines = [
        *comment_block([*file_lines(made.model, made.options), "", *_ALIASING, *library]),
        f"#ifndef {upper}_H",
        f"#define {upper}_H",
        "",
        f"#define {upper}_JOINTS {len(made.model.independent)}",
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
    ]
    for function in made.functions:
        measured = [size.text for size in sizes.get(function.name, ())]
        if made.options.single:
            off = f"In float off by at most {rounded_up(float_error(made.model, function))}"
            measured += [f"{off} of the largest entry, or of 1, in {STATES} states."]
        lines += comment_block([*function_lines(made.model, function), *measured])
        lines += [*_signature(made, function, ";"), ""]
    lines += ["#ifdef __cplusplus", "}", "#endif", "", "#endif"]
    return "\n".join(lines) + "\n"


_ALIASING = (
    "Functions keep no state and use no memory but the stack. Results are written after all",
    "arguments have been read, so a result may take the place of an argument.",
)

_FAR = (
    f"Sums of angles beyond {FAR_ANGLE:g} rad take longer: fabs finds them, and atan2 takes whole",
    "turns off. Within that steps differ in the library, signs of friction and pivots alone.",
)


def _source(made: CSources) -> str:
    """The source: the numbers of the robot, the functions, and a self-test if it is asked for."""
    language, table = made.language, ConstantTable()
    written: list[str] = []
    for function in made.functions:
        text = FunctionBody(function.program, language, table)
        written += comment_block([operations(function.program)])
        written += [*_signature(made, function, ""), "{"]
        unused = [f"(void){i.name};" for i in function.program.inputs if i.name not in text.used]
        body = [f"    {statement}" for statement in (*unused, *text.statements)]
        written += [*body, ""] if body else []
        written += [*_results(function, text.outputs), "}", ""]
    name, prefix = comment(made.model.title or made.model.name), made.prefix
    lines = comment_block([f"Dynamics of {name}; {prefix}.h says what is computed."])
    lines += [f'#include "{prefix}.h"', ""]
    if made.used & {*LIBRARY, *HELPERS} - {"sign"}:
        lines += ["#include <math.h>", ""]
    if table.values:
        values = table.values.items()
        lines += comment_block(_NUMBERS)
        lines += [f"static const {made.real} {k} = {language.number(v)};" for k, v in values]
        lines += [""]
    words = {
        "real": made.real,
        "zero": language.number(0.0),
        "one": language.number(1.0),
        "far": language.number(FAR_ANGLE),
        "least": language.number(SINGLE_PIVOT if made.options.single else RELATIVE_PIVOT),
        "f": "f" if made.options.single else "",
    }
    helpers = (text.substitute(words) for op, text in HELPERS.items() if op in made.used)
    lines += [line for text in helpers for line in (*text.splitlines(), "")]
    test = selftest(made.model, made.functions, prefix, made.real, language.number)
    return "\n".join([*lines, *written, *test]) + "\n"


_NUMBERS = [
    "Numbers of the robot, of link i in its frame: J second moments about the origin, M mass,",
    "MX, MY, MZ first moments, a and r offsets, g gravity; k what is made of these, and other",
    "numbers of joints and frames.",
]


def _signature(made: CSources, function: Function, end: str) -> list[str]:
    real, shape = made.real, function.program.shape
    arguments = [f"const {real} {i.name}[{i.size}]" for i in function.program.inputs]
    if shape:
        arguments.append(f"{real} {function.quantity.symbol}[{math.prod(shape)}]")
    start = f"{'void' if shape else real} {made.prefix}_{function.name}("
    line = start + ", ".join(arguments) + ")" + end
    if len(line) <= COLUMNS:
        return [line]
    return head_by_lines(start, arguments, end)


def head_by_lines(start: str, arguments: Sequence[str], end: str = "") -> list[str]:
    """The head of a function with an argument a line."""
    return [start, *(f"    {a}," for a in arguments[:-1]), f"    {arguments[-1]}){end}"]


def _results(function: Function, outputs: list[str]) -> list[str]:
    """The outputs, the entries of a row on as few lines as they need."""
    shape, name = function.program.shape, function.quantity.symbol
    if not shape:
        return [f"    return {outputs[0]};"]
    lines = ["   "]
    for i, value in enumerate(outputs):
        entry = f" {name}[{i}] = {value};"
        if lines[-1].strip() and (i % shape[-1] == 0 or len(lines[-1] + entry) > COLUMNS):
            lines.append("   ")
        lines[-1] += entry
    return lines


def comment_block(lines: Sequence[str], begin: str = "/*") -> list[str]:
    """Lines as a comment of C; one of them stays one."""
    if len(lines) == 1:
        return [f"/* {lines[0]} */"]
    return [begin, *(f" * {line}".rstrip() for line in lines), " */"]


def _single(value: float) -> str:
    if abs(value) > float(np.finfo(np.float32).max):
        raise ModelError(f"the number {value!r} of the robot is too large for float; use double")
    return str(np.float32(value)) + "f"


# how far results in float are off those in double


def float_error(model: RobotModel, f: Function) -> float:
    """The largest error in float, relative to the largest entry of a result, or to 1 (unit).

    States are as `drawn_values` gives them.
    """
    rng = np.random.default_rng(0)
    states = [drawn_values(model, i.name, i.size or 1, STATES, rng) for i in f.program.inputs]
    single = [values.astype(np.float32) for values in states]
    exact = f.program(*(values.astype(float) for values in single)).reshape(STATES, -1)
    entries = [vector[:, k] for vector in single for k in range(vector.shape[1])]
    with np.errstate(
        all="ignore"
    ):  # functions of the library as one gives them that rounds rightly
        outputs = f.program.evaluated(entries, _SINGLE)
    found = np.stack([np.broadcast_to(y, STATES) for y in outputs], axis=1).astype(float)
    error = np.abs(found - exact)
    error = error.max(axis=1, initial=0.0) / np.maximum(1.0, np.abs(exact).max(axis=1, initial=0.0))
    return float(np.max(error[np.isfinite(error)], initial=0.0))


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
