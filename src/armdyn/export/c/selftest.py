"""The self-test of exported C: states, what the functions give there, and a main that compares."""

import math
from collections.abc import Callable, Sequence
from importlib.resources import files

import numpy as np

from armdyn.arrays import Array
from armdyn.export.options import Function
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel

STATES = 3
RESULT_TOLERANCE = {"double": 1e-12, "float": 1e-4}
"""Of a result, relative to its largest entry or 1."""
SOLVED_TOLERANCE = {"double": 1e-10, "float": 1e-2}
"""The same where a mass matrix is solved for, which magnifies rounding."""
DIGITS = {"double": 15, "float": 9}


def selftest(
    model: RobotModel,
    functions: Sequence[Function],
    prefix: str,
    real: str,
    number: Callable[[float], str],
) -> list[str]:
    """A main for the end of the source."""
    states, expected = expectations(model, functions, real)
    tables = {f"test_{name}": values for name, values in states.items()}
    tables |= {f"expected_{name}": values for name, values in expected.items()}
    lines = [f"#ifdef {prefix.upper()}_SELFTEST", "", "#include <stdio.h>", ""]
    for name, values in tables.items():
        lines += [*_table(name, values, real, number), ""]
    check = (files("armdyn.export.c") / "check.c").read_text(encoding="utf-8")
    lines += check.replace("REAL", real).replace("ZERO", number(0.0)).splitlines()
    lines += ["int main(void)", "{", "    int s, failures = 0;"]
    lines += [f"    for (s = 0; s < {STATES}; s++) {{"]
    lines += [line for f in functions for line in _call(f, prefix, real, number)]
    lines += ["    }", "    if (!failures)", '        printf("ok\\n");']
    return [*lines, "    return failures != 0;", "}", "", "#endif"]


def expectations(
    model: RobotModel, functions: Sequence[Function], real: str
) -> tuple[dict[str, Array], dict[str, Array]]:
    """States by the name of the argument, and what each function gives there, a row a state."""
    rng = np.random.default_rng(0)
    sizes = {i.name: i.size or 1 for f in functions for i in f.program.inputs}
    states = {k: np.round(drawn_values(model, k, n, STATES, rng), 6) for k, n in sizes.items()}
    if real == "float":
        states = {k: v.astype(np.float32).astype(float) for k, v in states.items()}
    expected = {}
    for f in functions:
        values = f.program(*(states[i.name] for i in f.program.inputs)).reshape(STATES, -1)
        noise = np.abs(values) < 1e-14 * np.abs(values).max(initial=0.0)
        expected[f.name] = np.where(noise, 0.0, values)
    return states, expected


def drawn_values(
    model: RobotModel, name: str, size: int, count: int, rng: np.random.Generator
) -> Array:
    """Ordinary values of an argument, (count, size); positions are between the limits of joints."""
    if name == "q":
        return coordinates_of(model).drawn_in_ranges(rng, count)
    if name == "payload":
        tensor = 0.0165, 0.0015, 0.0149, -0.003, 0.005, 0.0074  # of a ball beside the tool
        return np.outer(rng.uniform(0.0, 2.0, count), [1, 0.03, -0.05, 0.1, *tensor])
    if name == "h":
        return np.full((count, size), 1e-3)
    scale = {"qdd": 5.0, "tau": 10.0, "gravity": 9.81, "gain": 50.0}.get(name, 2.0)
    least = 0.0 if name == "gain" else -scale
    return rng.uniform(least, scale, (count, size))


def tolerance(f: Function, real: str) -> float:
    """How far a result may be off, relative to its largest entry or 1."""
    return (SOLVED_TOLERANCE if f.quantity.solves else RESULT_TOLERANCE)[real]


def _call(f: Function, prefix: str, real: str, number: Callable[[float], str]) -> list[str]:
    size = math.prod(f.program.shape)
    given = ", ".join(f"test_{i.name}[s]" for i in f.program.inputs)
    made = [f"const {real} result[1] = {{{prefix}_{f.name}({given})}};"]
    if f.program.shape:
        made = [f"{real} result[{size}];", f"{prefix}_{f.name}({given}, result);"]
    made += [f'failures += check("{f.name}", s, {size}, {number(tolerance(f, real))}, result,']
    made += [f"    expected_{f.name}[s]);"]
    return ["        {", *(f"            {line}" for line in made), "        }"]


def _table(name: str, values: Array, real: str, number: Callable[[float], str]) -> list[str]:
    lines = [f"static const {real} {name}[{len(values)}][{values.shape[1]}] = {{"]
    for row in values:
        lines.append("    {")
        for value in row:
            rounded = float(f"{value:.{DIGITS[real]}g}")
            entry = f"({real})NAN" if math.isnan(value) else number(rounded)
            if len(lines[-1]) + len(entry) > 94:
                lines.append("     ")
            lines[-1] += ("" if lines[-1].strip() in ("", "{") else " ") + entry + ","
        lines[-1] = lines[-1][:-1] + "},"
    return [*lines[:-1], lines[-1][:-1], "};"]
