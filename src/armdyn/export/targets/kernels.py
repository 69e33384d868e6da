"""Compiled kernels for C: object files for a platform, and functions of whole batches."""

from math import prod

from armdyn.errors import check_known
from armdyn.export.c.export import CSources, comment_block, head_by_lines
from armdyn.export.export_comments import file_lines, function_lines
from armdyn.export.options import Function
from armdyn.export.targets.target import ExportTarget, Package, filled, this_platform
from armdyn.kernels.llvm.objects import PLATFORMS, kernel_object

ENDS = {"ELF": ".o", "Mach-O": ".o", "COFF": ".obj"}


def _package(made: CSources) -> Package:
    name = made.options.platform or this_platform()
    check_known("platform", name, PLATFORMS)
    platform, prefix = PLATFORMS[name], made.prefix
    end = ENDS[platform.format]
    dtype = "float32" if made.options.single else "float64"
    about = comment_block(file_lines(made.model, made.options))
    texts = filled(
        made,
        {f"{prefix}_kernels.{kind}": f"kernels/kernels.{kind}" for kind in "hc"},
        PLATFORM=f"{name}, {platform.triple}, {platform.cpu}",
        ABOUT="\n".join(about[1:-1]),
        DECLARATIONS=made.each(_declared),
        FUNCTIONS=made.each(_function),
    )
    files: dict[str, str | bytes] = {**texts}
    for f in made.functions:
        made.options.progress(f"compiling {f.name} for {name}")
        loop = kernel_object(f.program, f"{prefix}_{f.name}_loop", platform, dtype)
        files[f"{prefix}_{f.name}{end}"] = loop
    try_it = f"cc -std=c99 -O2 -shared -fPIC {prefix}_kernels.c {prefix}_*{end} -o lib{prefix}.so"
    return files, try_it


def _head(made: CSources, f: Function) -> list[str]:
    """A function of whole batches, up to its last parenthesis."""
    names = [f"const {made.real} *{i.name}" for i in f.program.inputs]
    names += [f"{made.real} *{f.quantity.symbol or 'result'}"]
    return head_by_lines(f"void {made.prefix}_{f.name}_batch(size_t states,", names)


def _declared(made: CSources, f: Function) -> list[str]:
    *head, last = _head(made, f)
    return [*comment_block(function_lines(made.model, f)), *head, f"{last};", ""]


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
