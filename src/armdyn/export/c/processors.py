"""C compilers of this machine, and the bytes of code and stack that exported C takes by them."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from armdyn.arrays import record
from armdyn.errors import CompilerError, check_known
from armdyn.export.options import write_all

FLAGS = ("-std=c99", "-O2", "-ffunction-sections", "-fstack-usage")
_ARM = ("arm-none-eabi-gcc", "gcc-arm-none-eabi libnewlib-arm-none-eabi")
_HARD = ("-mthumb", "-mfloat-abi=hard")
USUAL = ("cc", "gcc", "clang")
"""Names of compilers that are looked for, if the variable CC names none."""
LONGEST_COMPILATION = 600
"""Seconds after which a compiler is stopped."""


@record
class Processor:
    """A processor, and the compiler that makes code for it."""

    name: str
    title: str
    compiler: str
    """Name of the program; "" for the C compiler of this machine."""
    package: str
    """What to install on Debian."""
    flags: tuple[str, ...] = ()


PROCESSORS = {
    p.name: p
    for p in (
        Processor(
            "cortex-m4f", "Cortex-M4F", *_ARM, ("-mcpu=cortex-m4", *_HARD, "-mfpu=fpv4-sp-d16")
        ),
        Processor("cortex-m7", "Cortex-M7", *_ARM, ("-mcpu=cortex-m7", *_HARD, "-mfpu=fpv5-d16")),
        Processor("aarch64", "AArch64", "aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
        Processor("host", "this machine", "", "gcc"),
    )
}


@record
class Footprint:
    """What a function takes on a processor."""

    processor: str
    made_by: str
    """The compiler, its version and its level."""
    code: int
    """Bytes of code."""
    numbers: int
    """Bytes of numbers apart from code, of all functions together."""
    stack: int
    """Bytes of stack, without those of functions of the library."""

    @property
    def text(self) -> str:
        """In a sentence."""
        apart = f" ({self.numbers} of numbers for all functions)" if self.numbers else ""
        return (
            f"{self.processor}, {self.made_by}: {self.code} bytes of code{apart}, "
            f"{self.stack} of stack."
        )


def footprints(
    texts: dict[str, str], prefix: str, names: Sequence[str], functions: Sequence[str]
) -> dict[str, list[Footprint]]:
    """For each function what it takes on each of the processors with these names."""
    for name in names:
        check_known("processor", name, PROCESSORS)
    measured = [_measured(texts, prefix, PROCESSORS[name], functions) for name in names]
    return {function: [each[function] for each in measured] for function in functions}


def _measured(
    texts: dict[str, str], prefix: str, processor: Processor, functions: Sequence[str]
) -> dict[str, Footprint]:
    cc = _compiler(processor)
    with tempfile.TemporaryDirectory(prefix="armdyn-size-") as name:
        folder = Path(name)
        write_all(folder, texts)
        compiled([cc, *FLAGS, *processor.flags, "-c", f"{prefix}.c", "-o", "made.o"], folder)
        version = compiled([cc, "-dumpfullversion", "-dumpversion"], folder).strip()
        usage = next(folder.glob("*.su"), None)
        if usage is None:
            raise CompilerError(f"{cc} wrote no stack usage; the sizes need GCC")
        # lines as "panda.c:12:6:panda_jacobian 448 static", with tabs
        rows = (line.split("\t") for line in usage.read_text(encoding="utf-8").splitlines())
        stacks = {place.rpartition(":")[2]: int(size) for place, size, *_ in rows}
        size = compiled([cc, "-print-prog-name=size"], folder).strip()
        listed = compiled([size, "-A", "-d", "made.o"], folder)
        by_name = re.findall(r"^(\.\S+)\s+(\d+)", listed, re.MULTILINE)
        sections = {name: int(count) for name, count in by_name}
    ours = {f"{prefix}_{function}" for function in functions}
    helper = max((stack for name, stack in stacks.items() if name not in ours), default=0)
    numbers = sum(size for name, size in sections.items() if name.startswith(".rodata"))
    made_by = f"{processor.compiler or 'cc'} {version} -O2"
    return {
        function: Footprint(
            processor.title,
            made_by,
            sections[f".text.{prefix}_{function}"],
            numbers,
            stacks[f"{prefix}_{function}"] + helper,
        )
        for function in functions
    }


def _compiler(processor: Processor) -> str:
    need = f"measuring what functions take on {processor.title}"
    if not processor.compiler:
        return compiler(need)
    found = shutil.which(processor.compiler)
    if found is None:
        raise CompilerError(
            f"{need} needs {processor.compiler}, which is not installed; on Debian: "
            f"apt-get install {processor.package}"
        )
    return found


def compiler(need: str) -> str:
    """The path of a C compiler; an error that says for what there is `need` if there is none."""
    wanted = os.environ.get("CC", "").strip()
    for name in (wanted,) if wanted else USUAL:
        found = shutil.which(name)
        if found:
            return found
    where = f"the variable CC names {wanted!r}, which is no program" if wanted else "found none"
    raise CompilerError(
        f"{need} needs a C compiler: {where}; install one ({', '.join(USUAL)}), or name its path "
        "in the variable CC"
    )


def compiled(words: list[str], folder: Path) -> str:
    """Run a compiler in a folder; what it prints, or an error with that."""
    try:
        done = subprocess.run(
            words,
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=LONGEST_COMPILATION,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CompilerError(f"{words[0]} could not be run: {error}") from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise CompilerError(f"{' '.join(words)} failed: {' / '.join(said[:5]) or 'no message'}")
    return done.stdout
