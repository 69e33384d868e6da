"""Compiled kernels for C: object files for a platform, and functions of whole batches."""

from math import prod

from armdyn.errors import check_known
from armdyn.export.c.export import CSources
from armdyn.export.export_comments import file_lines, function_lines
from armdyn.export.options import Function
from armdyn.export.targets.target import ExportTarget, Package, filled, this_platform
from armdyn.kernels.llvm.objects import PLATFORMS, kernel_object

ENDS = {"ELF": ".o", "Mach-O": ".o", "COFF": ".obj"}


def _package(made: CSources) -> Package:
    name = made.options.platform or this_platform()
    check_known("platform", name, PLATFORMS)
    platform, prefix = PLATFORMS[name], made.prefix
    end, dtype = ENDS[platform.format], "float32" if made.options.single else "float64"
    words = {
        "PREFIX": prefix,
        "GUARD": f"{prefix.upper()}_KERNELS_H",
        "PLATFORM": f"{name}, {platform.triple}, {platform.cpu}",
        "ABOUT": "\n".join(f" * {line}".rstrip() for line in file_lines(made.model, made.options)),
        "DECLARATIONS": "\n".join(line for f in made.functions for line in _declared(made, f)),
        "FUNCTIONS": "\n".join(line for f in made.functions for line in _function(made, f)),
    }
    files: dict[str, str | bytes] = {
        f"{prefix}_kernels.h": filled("kernels/kernels.h", words),
        f"{prefix}_kernels.c": filled("kernels/kernels.c", words),
    }
    for f in made.functions:
        made.options.progress(f"compiling {f.name} for {name}")
        loop = kernel_object(f.program, f"{prefix}_{f.name}_loop", platform, dtype)
        files[f"{prefix}_{f.name}{end}"] = loop
    try_it = f"cc -std=c99 -O2 -shared -fPIC {prefix}_kernels.c {prefix}_*{end} -o lib{prefix}.so"
    return Package(files, try_it)


def _head(made: CSources, f: Function) -> list[str]:
    """A function of whole batches, up to its last parenthesis."""
    names = [f"const {made.real} *{i.name}" for i in f.program.inputs]
    names += [f"{made.real} *{f.quantity.symbol or 'result'}"]
    ends = [*(f"{name}," for name in names[:-1]), f"{names[-1]})"]
    return [f"void {made.prefix}_{f.name}_batch(size_t states,", *(f"    {end}" for end in ends)]


def _declared(made: CSources, f: Function) -> list[str]:
    about = ["/*", *(f" * {line}".rstrip() for line in function_lines(made.model, f)), " */"]
    *head, last = _head(made, f)
    return [*about, *head, f"{last};", ""]


def _function(made: CSources, f: Function) -> list[str]:
    """The call of a loop as NumPy would call it: places, a count and strides in bytes."""
    inputs, shape, real = f.program.inputs, f.program.shape, made.real
    arrays = [*(f"(char *){i.name}" for i in inputs), f"(char *){f.quantity.symbol or 'result'}"]
    outer = [i.size or 1 for i in inputs] + [len(f.program.outputs)]
    inner = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    steps = [*outer, *(1 for _ in inputs), *inner]
    strides = ", ".join(f"{step} * (intptr_t)sizeof({real})" for step in steps)
    loop = f"{made.prefix}_{f.name}_loop"
    return [
        f"void {loop}(char **arrays, const intptr_t *count, const intptr_t *strides, void *data);",
        "",
        *_head(made, f),
        "{",
        f"    char *arrays[] = {{{', '.join(arrays)}}};",
        "    const intptr_t count[] = {(intptr_t)states};",
        f"    static const intptr_t strides[] = {{{strides}}};",
        f"    {loop}(arrays, count, strides, NULL);",
        "}",
        "",
    ]


KERNELS = ExportTarget(
    "kernels", "compiled kernels for a platform, and C that calls them", _package
)
