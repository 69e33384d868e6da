"""Compilers and emulators of other processors, and programs for them."""

import shutil
import subprocess

import numpy as np

from support.paths import ROOT

STRICT = ("-std=c99", "-O2", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wdouble-promotion", "-Werror")  # fmt: skip
"""Every warning is an error."""
BARE = ROOT / "tests" / "targets" / "cortex_m"


def run(*words, cwd=None, timeout=300):
    """What a program prints; it must succeed and not complain."""
    assert shutil.which(words[0]), f"{words[0]} is missing; make test-targets installs it"
    done = subprocess.run(
        [*map(str, words)], cwd=cwd, capture_output=True, text=True, check=False, timeout=timeout
    )
    assert done.returncode == 0, f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}"
    return done.stdout


def numbers(text):
    """The numbers that a program printed, one a line."""
    return np.array([float(line) for line in text.split()])


def driver(functions, prefix, real, states):
    """A main that calls every function in every state and prints all results."""
    lines = [f'#include "{prefix}.h"', "#include <stdio.h>", ""]
    used = {i.name for f in functions for i in f.program.inputs}
    for name, values in ((k, v) for k, v in states.items() if k in used):
        rows = ", ".join("{" + ", ".join(_literal(x, real) for x in row) + "}" for row in values)
        lines += [f"static const {real} {name}[{len(values)}][{values.shape[1]}] = {{{rows}}};"]
    count = len(next(iter(states.values())))
    lines += ["int main(void)", "{", f"    for (int s = 0; s < {count}; s++) {{"]
    for f in functions:
        given = [f"{i.name}[s]" for i in f.program.inputs]
        size = len(f.program.outputs)
        lines += [f"        {real} {f.name}[{size}];"]
        call = f"{prefix}_{f.name}({', '.join([*given, f.name])});"
        lines += [f"        {call}", f"        for (int k = 0; k < {size}; k++)"]
        lines += [f'            printf("%.17g\\n", (double){f.name}[k]);']
    return "\n".join([*lines, "    }", "    return 0;", "}"]) + "\n"


def _literal(x, real):
    return f"{np.float32(x)!s}f" if real == "float" else repr(float(x))


def expected(functions, states):
    """The results of all functions in every state, in the order of the driver."""
    results = [f.program(*(states[i.name] for i in f.program.inputs)) for f in functions]
    count = len(next(iter(states.values())))
    return [[result[s].ravel() for result in results] for s in range(count)]


def worst(got, wanted):
    """The largest error, relative to the largest entry of each result, or to 1."""
    errors, place = [], 0
    for state in wanted:
        for result in state:
            part = got[place : place + result.size]
            errors.append(np.abs(part - result).max() / max(1.0, np.abs(result).max()))
            place += result.size
    assert place == got.size
    return max(errors)
