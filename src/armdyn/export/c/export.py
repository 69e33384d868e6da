"""Programs as C99: one source and one header, no allocation, no library but that of maths."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from armdyn.arrays import RELATIVE_PIVOT, SINGLE_PIVOT
from armdyn.errors import ModelError
from armdyn.export.body import Body, ConstantTable, Statements
from armdyn.export.c.accuracy import STATES, float_error, rounded_up
from armdyn.export.c.processors import Footprint, footprints
from armdyn.export.c.selftest import selftest
from armdyn.export.export_comments import file_lines, function_lines, operations
from armdyn.export.names import comment, prefix_of
from armdyn.export.options import Exported, ExportOptions, Function, functions_of, write_all
from armdyn.graph.operations import FAR_ANGLE
from armdyn.graph.program import Program
from armdyn.model import RobotModel

COLUMNS = 96
LIBRARY = ("sin", "cos", "sqrt", "exp", "tanh")
"""Operations that are functions of the C library; the others are operators or written out."""
HELPERS = ("sign", "angle_sum", "signed_power", "guard")
"""Operations that are written out as functions; all but the first need the header of maths."""


@dataclass(frozen=True, eq=False)
class CSources:
    """Functions of a robot as the texts of a source and a header."""

    model: RobotModel
    options: ExportOptions
    prefix: str
    """Start of the names of files and functions."""
    functions: tuple[Function, ...]
    texts: dict[str, str]
    """The texts by the name of their file."""

    @property
    def programs(self) -> dict[str, Program]:
        """The program of each function."""
        return {f.name: f.program for f in self.functions}

    @property
    def real(self) -> str:
        """The type of numbers."""
        return "float" if self.options.single else "double"

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
    functions = functions_of(model, options)
    texts = {
        f"{prefix}.c": source(model, functions, prefix, options),
        f"{prefix}.h": header(model, functions, prefix, options),
    }
    if options.processors:  # the header is written again with what was measured by it
        names = [f.name for f in functions]
        sizes = footprints(texts, prefix, options.processors, names)
        texts[f"{prefix}.h"] = header(model, functions, prefix, options, sizes)
    return CSources(model, options, prefix, functions, texts)


def header(
    model: RobotModel,
    functions: Sequence[Function],
    prefix: str,
    options: ExportOptions,
    sizes: Mapping[str, Sequence[Footprint]] | None = None,
) -> str:
    """The header: what every function computes, its units, conventions and operations."""
    guard, n = f"{prefix.upper()}_H", len(model.independent)
    used = _used(functions)
    called = [op for op in LIBRARY if op in used] + ["pow"] * ("signed_power" in used)
    called += ["fabs", "atan2"] * ("angle_sum" in used)
    library = [f"Of the C library they call {', '.join(called) or 'nothing'}."]
    library += _FAR if "angle_sum" in used else []
    lines = [
        *_block([*file_lines(model, options), "", *_ALIASING, *library]),
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        f"#define {prefix.upper()}_JOINTS {n}",
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
    ]
    for function in functions:
        measured = [size.text for size in (sizes or {}).get(function.name, ())]
        measured += [_accuracy(model, function)] if options.single else []
        lines += _block([*function_lines(model, function), *measured])
        lines += [*_signature(function, prefix, options, ";"), ""]
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


def _accuracy(model: RobotModel, function: Function) -> str:
    error = rounded_up(float_error(model, function))
    return f"In float off by at most {error} of the largest entry, or of 1, in {STATES} states."


def _used(functions: Sequence[Function]) -> set[str]:
    return {i.op for f in functions for i in f.program.instructions}


def source(
    model: RobotModel, functions: Sequence[Function], prefix: str, options: ExportOptions
) -> str:
    """The source: the numbers of the robot, the functions, and a self-test if it is asked for."""
    real, language, table = _real(options), _language(options), ConstantTable()
    written: list[str] = []
    for function in functions:
        text = Body(function.program, language, table)
        written += _block([operations(function.program)])
        written += [*_signature(function, prefix, options, ""), "{"]
        unused = [f"(void){i.name};" for i in function.program.inputs if i.name not in text.used]
        body = [f"    {statement}" for statement in (*unused, *text.statements)]
        written += [*body, ""] if body else []
        written += [*_results(function, text.outputs), "}", ""]
    title = f"Dynamics of {comment(model.title or model.name)}; {prefix}.h says what is computed."
    lines = [*_block([title]), f'#include "{prefix}.h"', ""]
    used = _used(functions)
    if used & {*LIBRARY, *HELPERS[1:]}:
        lines += ["#include <math.h>", ""]
    lines += _numbers(table, real, language)
    lines += [line for op in HELPERS if op in used for line in _helper(op, options)]
    lines += [*written, *selftest(model, functions, prefix, real, language.number)]
    return "\n".join(lines) + "\n"


def _numbers(table: ConstantTable, real: str, language: Statements) -> list[str]:
    if not table.values:
        return []
    what = (
        "Numbers of the robot, of link i in its frame: J second moments about the origin, M mass,",
        "MX, MY, MZ first moments, a and r offsets, g gravity; k what is made of these, and other",
        "numbers of joints and frames.",
    )
    values = [f"static const {real} {k} = {language.number(v)};" for k, v in table.values.items()]
    return [*_block(list(what)), *values, ""]


def _helper(op: str, options: ExportOptions) -> list[str]:
    real, number = _real(options), _language(options).number
    zero, one = number(0.0), number(1.0)
    if op == "sign":
        value = f"x > {zero} ? {one} : x < {zero} ? -{one} : x"
        return [f"static {real} sign({real} x)", "{", f"    return {value};", "}", ""]
    if op == "angle_sum":
        f = "f" if options.single else ""
        near = " + ".join(f"atan2{f}(sin{f}({x}), cos{f}({x}))" for x in "ab")
        return [
            *_block(["a + b; far from zero less whole turns, so that it is not rounded."]),
            f"static {real} angle_sum({real} a, {real} b)",
            "{",
            f"    const {real} total = a + b;",
            f"    return fabs{f}(total) > {number(FAR_ANGLE)} ? {near} : total;",
            "}",
            "",
        ]
    if op == "signed_power":
        power = "powf" if options.single else "pow"
        value = f"x > {zero} ? {power}(x, a) : x < {zero} ? -{power}(-x, a) : x"
        head = f"static {real} signed_power({real} x, {real} a)"
        return [head, "{", f"    return {value};", "}", ""]
    least = number(SINGLE_PIVOT if options.single else RELATIVE_PIVOT)
    return [
        *_block(["A pivot that is more than rounding of the inertia it comes from, else NaN."]),
        f"static {real} guard({real} pivot, {real} scale)",
        "{",
        f"    const {real} least = {least} * (scale < {zero} ? -scale : scale);",
        f"    return pivot > least || -pivot > least ? pivot : ({real})NAN;",
        "}",
        "",
    ]


def _signature(function: Function, prefix: str, options: ExportOptions, end: str) -> list[str]:
    real, shape = _real(options), function.program.shape
    arguments = [f"const {real} {i.name}[{i.size}]" for i in function.program.inputs]
    if shape:
        arguments.append(f"{real} {function.quantity.symbol}[{math.prod(shape)}]")
    start = f"{'void' if shape else real} {prefix}_{function.name}("
    line = start + ", ".join(arguments) + ")" + end
    if len(line) <= COLUMNS:
        return [line]
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


def _block(lines: list[str]) -> list[str]:
    if len(lines) == 1:
        return [f"/* {lines[0]} */"]
    return ["/*", *(f" * {line}".rstrip() for line in lines), " */"]


def _real(options: ExportOptions) -> str:
    return "float" if options.single else "double"


def _language(options: ExportOptions) -> Statements:
    return Statements(
        number=_single if options.single else _double,
        entry=lambda name, i: f"{name}[{i}]",
        functions={op: f"{op}f(" for op in LIBRARY} if options.single else {},
        declare=f"const {_real(options)} {{name}} = {{value}};",
    )


def _double(value: float) -> str:
    """The shortest number that reads back the same."""
    if not math.isfinite(value):
        raise ModelError(f"a number of the robot comes out as {value}, which C cannot be given")
    return repr(float(value))


def _single(value: float) -> str:
    if abs(value) > float(np.finfo(np.float32).max):
        raise ModelError(f"the number {value!r} of the robot is too large for float; use double")
    return str(np.float32(value)) + "f"
