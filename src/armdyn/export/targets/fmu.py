"""An arm as an FMU for co-simulation, by FMI 3.0: torques in, motion out.

The FMU is an archive with a description, the sources and, unless it is one of sources alone, a
library for this machine.
"""

import hashlib
import io
import tempfile
import zipfile
from functools import partial
from pathlib import Path
from uuid import UUID
from xml.etree import ElementTree as ET

from armdyn.arrays import record
from armdyn.export.c.export import CSources
from armdyn.export.c.processors import compiled, compiler
from armdyn.export.names import comment
from armdyn.export.options import write_all
from armdyn.export.targets.target import (
    ExportTarget,
    Package,
    filled,
    library_end,
    this_platform,
)
from armdyn.version import __version__

STEP = 1e-3
"""Longest step of the integrator that an FMU starts with [s]."""
UNITS = {
    "rad": {"rad": 1},
    "rad/s": {"rad": 1, "s": -1},
    "rad/s2": {"rad": 1, "s": -2},
    "N.m": {"kg": 1, "m": 2, "s": -2},
    "m": {"m": 1},
    "m/s": {"m": 1, "s": -1},
    "m/s2": {"m": 1, "s": -2},
    "N": {"kg": 1, "m": 1, "s": -2},
    "s": {"s": 1},
    "kg": {"kg": 1},
    "kg.m": {"kg": 1, "m": 1},
    "kg.m2": {"kg": 1, "m": 2},
}
"""Exponents of the base units."""
PAYLOAD_UNITS = ("kg", *("kg.m",) * 3, *("kg.m2",) * 6)
FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-fvisibility=hidden")


@record
class Variable:
    """A number of an FMU; its reference is its place among all."""

    name: str
    causality: str
    about: str
    unit: str
    variability: str = "continuous"
    initial: str = ""
    start: float | None = None


_OF_JOINTS = (
    ("tau", "input", "torque of the actuator of", "", 0.0),
    ("q", "output", "position of", "exact", 0.0),
    ("qd", "output", "velocity of", "exact", 0.0),
    ("qdd", "output", "acceleration of", "calculated", None),
)
"""Name, causality, meaning, initial and start of the variables that each joint has."""


def variables(made: CSources) -> tuple[Variable, ...]:
    """All variables, in the order in which the source of the FMU keeps them."""
    model = made.model
    found = [Variable("time", "independent", "time", "s")]
    for name, causality, about, initial, start in _OF_JOINTS:
        for k, i in enumerate(model.independent, start=1):
            kind = model.joints[i].type
            said = f"{about} {comment(model.joints[i].name)}"
            units = {"tau": kind.torque_unit.replace("·", "."), "q": kind.unit}
            unit = (units | {"qd": f"{kind.unit}/s", "qdd": f"{kind.unit}/s2"})[name]
            place = f"{name}[{k}]"
            found += [Variable(place, causality, said, unit, "continuous", initial, start)]
    about = "longest step of the integrator"
    found += [Variable("step", "parameter", about, "s", "fixed", "exact", STEP)]
    field = model.gravity.tolist()
    body = "body at the tool: m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz"
    rest = {
        "payload": (body, zip(PAYLOAD_UNITS, [0.0] * 10, strict=True)),
        "gravity": ("field of gravity, pointing down, world axes", (("m/s2", x) for x in field)),
    }
    for name in (i.name for i in made.functions[0].program.inputs if i.name in rest):
        about, entries = rest[name]
        found += [
            Variable(f"{name}[{k}]", "parameter", about, unit, "tunable", "exact", start)
            for k, (unit, start) in enumerate(entries, start=1)
        ]
    return tuple(found)


def token(made: CSources) -> str:
    """What tells this FMU from others: the same for the same functions."""
    text = "".join(made.texts.values()) + __version__
    return f"{{{UUID(bytes=hashlib.sha256(text.encode()).digest()[:16])}}}"


def model_description(made: CSources) -> str:
    """The text of modelDescription.xml."""
    title = comment(made.model.title or made.model.name)
    root = ET.Element(
        "fmiModelDescription",
        fmiVersion="3.0",
        modelName=made.prefix,
        instantiationToken=token(made),
        description=f"Forward dynamics of {title}, integrated by Runge-Kutta steps",
        generationTool=f"armdyn {__version__}",
        variableNamingConvention="structured",
    )
    ET.SubElement(
        root,
        "CoSimulation",
        modelIdentifier=made.prefix,
        canHandleVariableCommunicationStepSize="true",
        canGetAndSetFMUState="true",
        canSerializeFMUState="true",
    )
    found = variables(made)
    units, used = ET.SubElement(root, "UnitDefinitions"), {v.unit for v in found}
    for name in (name for name in UNITS if name in used):
        unit = ET.SubElement(units, "Unit", name=name)
        ET.SubElement(unit, "BaseUnit", {k: str(power) for k, power in UNITS[name].items()})
    ET.SubElement(root, "DefaultExperiment", startTime="0", stopTime="1", stepSize="0.01")
    listed = ET.SubElement(root, "ModelVariables")
    structure = ET.SubElement(root, "ModelStructure")
    for reference, variable in enumerate(found):
        words = {
            "name": variable.name,
            "valueReference": str(reference),
            "description": variable.about,
            "causality": variable.causality,
            "variability": variable.variability,
            "unit": variable.unit,
        }
        words |= {"initial": variable.initial} if variable.initial else {}
        words |= {} if variable.start is None else {"start": repr(variable.start)}
        ET.SubElement(listed, "Float64", words)
    outputs = [(k, v) for k, v in enumerate(found) if v.causality == "output"]
    for reference, _ in outputs:
        ET.SubElement(structure, "Output", valueReference=str(reference))
    for reference, variable in outputs:
        if variable.initial == "calculated":
            ET.SubElement(structure, "InitialUnknown", valueReference=str(reference))
    return _text(root)


def build_description(made: CSources) -> str:
    """The text of buildDescription.xml: what is compiled to a binary."""
    root = ET.Element("fmiBuildDescription", fmiVersion="3.0")
    build = ET.SubElement(root, "BuildConfiguration", modelIdentifier=made.prefix)
    sources = ET.SubElement(build, "SourceFileSet", language="C99")
    for name in (f"{made.prefix}.c", "fmu.c"):
        ET.SubElement(sources, "SourceFile", name=name)
    return _text(root)


def _text(root: ET.Element) -> str:
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _package(made: CSources, binary: bool) -> Package:
    sources = made.texts | _own_sources(made)
    contents: dict[str, str | bytes] = {"modelDescription.xml": model_description(made)}
    contents |= {f"sources/{name}": text for name, text in sources.items()}
    contents["sources/buildDescription.xml"] = build_description(made)
    if binary:
        contents |= _binary(made.prefix, sources)
    name = f"{made.prefix}.fmu"
    return {name: _archive(contents)}, f"fmpy validate {name} && fmpy simulate {name}"


def _own_sources(made: CSources) -> dict[str, str]:
    """The source of every FMU, and what it must know of this arm."""
    found = variables(made)
    first = {v.name: place for place, v in reversed([*enumerate(found)])}
    given = [i.name for i in made.functions[0].program.inputs[3:]]
    more = "".join(f", (v) + {first[f'{name}[1]']}" for name in given)
    starts = ", ".join(repr(v.start or 0.0) for v in found)
    words = {"TOKEN": token(made), "VARIABLES": len(found), "MORE": more, "STARTS": starts}
    return filled(made, {name: f"fmu/{name}" for name in ("fmu_model.h", "fmu.c")}, **words)


def _binary(prefix: str, sources: dict[str, str]) -> dict[str, bytes]:
    """The library for this machine by its path in the archive."""
    need = "the target fmu, which holds a library for this machine (the target fmu-source does not)"
    cc = compiler(need)
    platform = this_platform()
    library = f"{prefix}{library_end(platform)}"
    with tempfile.TemporaryDirectory(prefix="armdyn-fmu-") as name:
        folder = Path(name)
        write_all(folder, sources)
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
