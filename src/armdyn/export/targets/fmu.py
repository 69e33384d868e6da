"""An arm as an FMU for co-simulation, by FMI 3.0: torques in, motion out.

The FMU is an archive with a description, the sources and, unless it is one of sources alone, a
library for this machine.
"""

import io
import tempfile
import zipfile
from functools import partial
from pathlib import Path

from armdyn.export.c.compilers import compiled, compiler
from armdyn.export.c.sources import CSources
from armdyn.export.targets.fmu_description import (
    build_description,
    model_description,
    token,
    variables,
)
from armdyn.export.targets.target import (
    ExportTarget,
    Package,
    filled,
    library_end,
    template,
    this_platform,
)

FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-fvisibility=hidden")


def _package(made: CSources, binary: bool) -> Package:
    sources = {**made.texts, "fmu_model.h": _model_header(made), "fmu.c": template("fmu/fmu.c")}
    contents: dict[str, str | bytes] = {"modelDescription.xml": model_description(made)}
    contents |= {f"sources/{name}": text for name, text in sources.items()}
    contents["sources/buildDescription.xml"] = build_description(made)
    if binary:
        contents |= _binary(made.prefix, sources)
    name = f"{made.prefix}.fmu"
    return Package({name: _archive(contents)}, f"fmpy validate {name} && fmpy simulate {name}")


def _model_header(made: CSources) -> str:
    """What the source of every FMU must know of this arm."""
    found, n = variables(made), len(made.model.independent)
    first = {v.name: place for place, v in reversed([*enumerate(found)])}
    given = [i.name for i in made.functions[0].program.inputs[3:]]
    more = "".join(f", (v) + {first[f'{name}[1]']}" for name in given)
    words = {
        "PREFIX": made.prefix,
        "TOKEN": token(made),
        "JOINTS": n,
        "VARIABLES": len(found),
        "MORE": more,
        "STARTS": ", ".join(repr(v.start or 0.0) for v in found),
    }
    return filled(template("fmu/fmu_model.h"), words)


def _binary(prefix: str, sources: dict[str, str]) -> dict[str, bytes]:
    """The library for this machine by its path in the archive."""
    need = "the target fmu, which holds a library for this machine (the target fmu-source does not)"
    cc = compiler(need)
    platform = this_platform()
    library = f"{prefix}{library_end(platform)}"
    with tempfile.TemporaryDirectory(prefix="armdyn-fmu-") as name:
        folder = Path(name)
        for file, text in sources.items():
            (folder / file).write_text(text, encoding="utf-8")
        compiled([cc, *FLAGS, f"{prefix}.c", "fmu.c", "-o", library, "-lm"], folder)
        return {f"binaries/{platform}/{library}": (folder / library).read_bytes()}


def _archive(contents: dict[str, str | bytes]) -> bytes:
    """An archive that is the same for the same contents."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in contents.items():
            archive.writestr(zipfile.ZipInfo(path), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


FMU, FMU_SOURCE = (
    ExportTarget(
        name,
        about,
        partial(_package, binary=binary),
        ("forward_dynamics",),
        fixed=("base_motion",),
        single=False,
    )
    for name, about, binary in (
        ("fmu", "an FMU of FMI 3.0 for co-simulation", True),
        ("fmu-source", "the same without a library, to be compiled where it is used", False),
    )
)
