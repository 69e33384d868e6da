"""Exported C on the processors of controllers, in an emulator."""

import re
from functools import cache

import numpy as np
import pytest

import armdyn
from armdyn.export.c.export import c_sources
from armdyn.export.c.processors import PROCESSORS
from armdyn.export.options import ExportOptions, functions_of
from support.toolchains import BARE, STRICT, driver, expected, numbers, run, worst

BOARDS = {"cortex-m4f": "mps2-an386", "cortex-m7": "mps2-an500"}
STATES = 8
ROBOTS = ("panda", "stanford", "puma560")
"""Seven turning joints; one that slides; friction that changes with the sign of a velocity."""
LARGEST_ERROR = {"double": 1e-12, "float": 1e-4}
SOLVED = "forward_dynamics"  # which multiplies rounding by the condition of the mass matrix


def compiled(folder, name, processor, *files, flags=()):
    """A program for a processor, without a warning; and the words that run it."""
    p, target = PROCESSORS[processor], folder / f"{name}.elf"
    if processor in BOARDS:
        files = *files, BARE / "startup.c"
        flags = *flags, "-T", BARE / "link.ld", "--specs=rdimon.specs"
        board = "-M", BOARDS[processor], "-nographic", "-monitor", "none", "-serial", "none"
        start = "qemu-system-arm", *board, "-semihosting", "-kernel", target
    else:
        flags, start = (*flags, "-static"), ("qemu-aarch64", target)
    run(p.compiler, *STRICT, *p.flags, *flags, *files, "-lm", "-o", target, cwd=folder)
    return start


@cache
def programs(robot):
    """The programs of a robot, which take longer to find than to export."""
    model = armdyn.load(robot).model
    return model, {f.name: f.program for f in functions_of(model, ExportOptions())}


def sources(robot, real, processor):
    model, known = programs(robot)
    options = ExportOptions(single=real == "float", processors=[processor], programs=known)
    return model, c_sources(model, options)


@pytest.mark.parametrize("processor", ["cortex-m4f", "cortex-m7", "aarch64"])
@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("real", ["double", "float"])
def test_exported_c_computes_the_same_numbers(processor, robot, real, tmp_path):
    model, made = sources(robot, real, processor)
    for name, text in made.texts.items():
        (tmp_path / name).write_text(text)
    start = compiled(tmp_path, "selftest", processor, f"{robot}.c", flags=[f"-D{made.selftest}"])
    assert run(*start) == "ok\n"

    rng, n = np.random.default_rng(1), len(model.independent)
    states = {name: rng.uniform(-2, 2, (STATES, n)) for name in ("q", "qd", "qdd", "tau")}
    if real == "float":
        states = {k: v.astype(np.float32).astype(float) for k, v in states.items()}
    direct = [f for f in made.functions if f.name != SOLVED]
    errors = {}
    for what, functions in (("others", direct), (SOLVED, [f for f in made.functions if f.name == SOLVED])):  # fmt: skip
        (tmp_path / f"{what}.c").write_text(driver(functions, robot, real, states))
        start = compiled(tmp_path, what, processor, f"{robot}.c", f"{what}.c")
        errors[what] = worst(numbers(run(*start)), expected(functions, states))
    assert errors["others"] < LARGEST_ERROR[real]
    assert errors[SOLVED] < 100 * LARGEST_ERROR[real]
    header = made.texts[f"{robot}.h"]
    sizes = re.findall(r": (\d+) bytes of code.*, (\d+) of stack", header)
    assert len(sizes) == len(made.functions)
    code, stack = sizes[0]
    print(
        f"{processor}, {robot}, {real}: no warnings; off by {errors['others']:.1e}, forward dynamics "
        f"{errors[SOLVED]:.1e}; inverse dynamics {code} bytes of code, {stack} of stack"
    )


@pytest.mark.parametrize("processor", ["cortex-m4f", "cortex-m7"])
def test_the_stack_in_the_header_is_what_is_used(processor, tmp_path):
    """A painted stack shows how deep a call goes: the header's bytes and those of the library."""
    _, made = sources("panda", "float", processor)
    for name, text in made.texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "depth.c").write_text(PAINTED)
    start = compiled(tmp_path, "depth", processor, "panda.c", "depth.c", flags=["-std=gnu99"])
    used = int(run(*start))
    said = int(re.search(r", (\d+) of stack", made.texts["panda.h"])[1])
    print(f"{processor}: inverse dynamics of panda in float uses {used} bytes of stack, {said} in the header")  # fmt: skip
    # what is said has room for a sum of far angles, which is not entered; the library is on top
    assert said - 64 <= used < said + 512


PAINTED = """\
#include "panda.h"
#include <stdint.h>
#include <stdio.h>

enum { DEPTH = 2048 };
static float q[7] = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f}, tau[7];

int main(void)
{
    volatile uint8_t *top;
    int k, used = 0;
    __asm__ volatile("mov %0, sp" : "=r"(top));
    top--; /* the first byte that a call can use */
    for (k = 0; k < DEPTH; k++)
        top[-k] = 0xA5;
    panda_inverse_dynamics(q, q, q, tau);
    for (k = 0; k < DEPTH; k++)
        if (top[-k] != 0xA5)
            used = k + 1;
    printf("%d\\n", used);
    return tau[1] == 0.0f;
}
"""
