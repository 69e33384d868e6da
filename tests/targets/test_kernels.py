"""Compiled kernels for AArch64, in an emulator."""

import numpy as np
import pytest

import armdyn
from support.toolchains import STRICT, numbers, run

SIZES = (1, 2, 3, 5, 8, 13, 64, 257)
DRIVER = """\
#include "panda_kernels.h"
#include <stdio.h>
#include <string.h>

enum {{ N = 257, JOINTS = 7 }};
typedef {real} real;
static real q[N * JOINTS], qd[N * JOINTS], x[N * JOINTS], alone[N * JOINTS], together[N * JOINTS];

static void call(size_t states, size_t first, real *result)
{{
    const size_t at = first * JOINTS;
    panda_{function}_batch(states, q + at, qd + at, x + at, result + at);
}}

int main(int count, char **names)
{{
    FILE *const states = fopen(names[1], "rb");
    const size_t sizes[] = {{{sizes}}};
    size_t k, first;
    if (count != 2 || !states || fread(q, sizeof q, 1, states) != 1
        || fread(qd, sizeof qd, 1, states) != 1 || fread(x, sizeof x, 1, states) != 1)
        return 2;
    for (k = 0; k < N; k++)
        call(1, k, alone);
    for (k = 0; k < sizeof sizes / sizeof *sizes; k++) {{
        memset(together, 0, sizeof together);
        for (first = 0; first < N; first += sizes[k])
            call(first + sizes[k] < N ? sizes[k] : N - first, first, together);
        if (memcmp(alone, together, sizeof alone)) {{
            fprintf(stderr, "batches of %d states differ from single states\\n", (int)sizes[k]);
            return 1;
        }}
    }}
    for (k = 0; k < N * JOINTS; k++)
        printf("%.17g\\n", (double)alone[k]);
    return 0;
}}
"""


@pytest.mark.parametrize("function", ["inverse_dynamics", "forward_dynamics"])
@pytest.mark.parametrize("real", ["double", "float"])
def test_kernels_are_right_and_the_same_in_any_batch(function, real, tmp_path):
    robot, single = armdyn.load("panda"), real == "float"
    robot.export(tmp_path, target="kernels", platform="aarch64-linux", functions=[function], single=single)  # fmt: skip
    text = DRIVER.format(function=function, real=real, sizes=", ".join(map(str, SIZES)))
    (tmp_path / "driver.c").write_text(text)
    code = run("aarch64-linux-gnu-objdump", "-d", tmp_path / f"panda_{function}.o")
    lanes = "4s" if single else "2d"
    fused, plain = code.count("fmla\tv"), code.count("fmul\tv")
    assert f".{lanes}" in code
    assert fused > 50  # NEON, whole vectors, fused
    sources = "driver.c", "panda_kernels.c", f"panda_{function}.o"
    run("aarch64-linux-gnu-gcc", *STRICT, "-static", *sources, "-lm", "-o", "try", cwd=tmp_path)

    dtype = np.float32 if single else np.float64
    q, qd, x = np.random.default_rng(2).uniform(-2, 2, (3, max(SIZES), 7)).astype(dtype)
    q[3] += 40  # far angles take another way
    (tmp_path / "states").write_bytes(b"".join(a.tobytes() for a in (q, qd, x)))
    got = numbers(run("qemu-aarch64", tmp_path / "try", tmp_path / "states")).reshape(-1, 7)
    wanted = getattr(robot, function)(q.astype(float), qd.astype(float), x.astype(float))
    error = np.abs(got - wanted).max(axis=1) / np.maximum(1, np.abs(wanted).max(axis=1))
    assert error.max() < (1e-4 if single else 1e-12)
    print(
        f"kernels for aarch64-linux, panda, {function}, {real}: {fused} fused and {plain} plain multiplications of vectors (.{lanes}); "
        f"batches of {', '.join(map(str, SIZES))} give the same bits; off by {error.max():.1e}"
    )


def test_the_header_of_the_platform_is_clean_in_cpp(tmp_path):
    armdyn.load("two_link").export(tmp_path, target="kernels", platform="aarch64-linux")
    words = ("-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++")
    run("g++", *words, tmp_path / "two_link_kernels.h")
