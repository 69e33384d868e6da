"""The self-test of exported C: states, what the functions give there, and a main that compares."""

import math
import random
from collections.abc import Callable, Sequence

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
    lines += _CHECK.replace("REAL", real).replace("ZERO", number(0.0)).splitlines()
    lines += ["int main(void)", "{", "    int s, failures = 0;"]
    lines += [f"    for (s = 0; s < {STATES}; s++) {{"]
    lines += [line for f in functions for line in _call(f, prefix, real, number)]
    lines += ["    }", "    if (!failures)", '        printf("ok\\n");']
    return [*lines, "    return failures != 0;", "}", "", "#endif"]


def expectations(
    model: RobotModel, functions: Sequence[Function], real: str
) -> tuple[dict[str, Array], dict[str, Array]]:
    """States by the name of the argument, and what each function gives there, a row a state."""
    sizes = {i.name: i.size or 1 for f in functions for i in f.program.inputs}
    states = {name: _states(name, size) for name, size in sizes.items()}
    if model.loops and "q" in states:  # where they can be closed
        drawn = coordinates_of(model).drawn(np.random.default_rng(0), STATES)
        states["q"] = np.round(drawn, 6)
    if real == "float":
        states = {k: v.astype(np.float32).astype(float) for k, v in states.items()}
    expected = {}
    for f in functions:
        values = f.program(*(states[i.name] for i in f.program.inputs)).reshape(STATES, -1)
        noise = np.abs(values) < 1e-14 * np.abs(values).max(initial=0.0)
        expected[f.name] = np.where(noise, 0.0, values)
    return states, expected


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


def _states(name: str, size: int) -> Array:
    """Three states with few digits, the same everywhere."""
    draw = random.Random(name)
    if name == "payload":
        return np.array([_payload(draw) for _ in range(STATES)])
    reach = 9.81 if name == "gravity" else 2.0
    entries = [round(draw.uniform(-reach, reach), 3) for _ in range(STATES * size)]
    return np.reshape(entries, (STATES, size))


def _payload(draw: random.Random) -> list[float]:
    """A ball beside the tool."""
    m = round(draw.uniform(0.5, 2.0), 2)
    x, y, z = (round(draw.uniform(-0.1, 0.1), 2) for _ in range(3))
    ball = 0.004 * m
    xx, yy, zz = (ball + m * (a * a + b * b) for a, b in ((y, z), (x, z), (x, y)))
    tensor = xx, -m * x * y, yy, -m * x * z, -m * y * z, zz
    return [round(value, 9) for value in (m, m * x, m * y, m * z, *tensor)]


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


_CHECK = """\
static REAL size_of(REAL x)
{
    return x < ZERO ? -x : x;
}

static int check(const char *function, int state, int count, REAL tolerance, const REAL *got,
    const REAL *expected)
{
    int i, failures = 0;
    REAL scale = tolerance;
    for (i = 0; i < count; i++)
        if (tolerance * size_of(expected[i]) > scale)
            scale = tolerance * size_of(expected[i]);
    for (i = 0; i < count; i++) {
        const int both_nan = got[i] != got[i] && expected[i] != expected[i];
        if (!both_nan && !(size_of(got[i] - expected[i]) <= scale)) {
            printf("%s, state %d, entry %d: got %.17g, expected %.17g\\n", function, state, i,
                (double)got[i], (double)expected[i]);
            failures++;
        }
    }
    return failures;
}

"""
