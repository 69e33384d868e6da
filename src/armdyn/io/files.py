"""From a name or a path to a RobotModel, and back to a file."""

import os
from pathlib import Path
from typing import Any

from armdyn.errors import DescriptionError, ModelError, UnknownNameError, shown
from armdyn.forks import imported
from armdyn.io.atomic import ending, write_text
from armdyn.io.catalog import catalog_names, catalog_path, remark
from armdyn.io.options import LoadOptions, Reading
from armdyn.model import RobotModel
from armdyn.model.edit import check_locked, noted
from armdyn.model.validate import Finding

URDF, MJCF = "armdyn.io.urdf.read:read_urdf", "armdyn.io.mjcf.read:read_mjcf"
READABLE = {
    ".urdf": URDF,
    ".xacro": URDF,
    ".sdf": "armdyn.io.sdf.read:read_sdf",
    ".xml": MJCF,
    ".mjcf": MJCF,
    ".toml": "armdyn.io.toml.read:read_toml",
}
WRITABLE = {
    ".toml": "armdyn.io.toml.write:toml_from_model",
    ".urdf": "armdyn.io.urdf.write:urdf_from_model",
}
"""By the ending of a file, the function that reads or writes it, and its module."""


def read_model(source: str | Path, **wishes: Any) -> Reading:
    """A robot from the catalog or a file, with what is odd in it; the wishes are `LoadOptions`."""
    options = LoadOptions(**wishes)
    if not isinstance(source, str | Path):
        raise ModelError(f"a robot is loaded by its name or path, got {shown(source)}")
    path = Path(source)
    if os.path.isdir(path):
        raise DescriptionError("this is a directory; give the file in it", file=path)
    if (name := str(source).lower()) in catalog_names():
        path = catalog_path(name)
    elif path.suffix.lower() not in READABLE:
        endings = ", ".join(READABLE)
        if os.path.exists(path):
            text = f"cannot tell the format from the ending {path.suffix!r}"
            raise DescriptionError(f"{text}; expected one of {endings}", file=path)
        advice = f"A path to a file ending in {endings} works too."
        raise UnknownNameError("robot", str(source), catalog_names(), advice)
    reader = READABLE[path.suffix.lower()]
    if reader == MJCF and imported("armdyn.io.xml:read_xml")(path, DescriptionError).tag == "robot":
        reader = URDF
    if reader == MJCF and options.density is not None:
        raise ModelError(
            f"{path}: density is for URDF and TOML files. MuJoCo gives the bodies of an MJCF file "
            "their inertia from their geoms when it reads it: set density or mass there"
        )
    if options.loops is not None and reader != URDF:
        raise ModelError(f"{path}: loops stand beside URDF files; {path.suffix} has its own")
    if options.model is not None and path.suffix.lower() != ".sdf":
        raise ModelError(f"{path}: model names one of several in an SDF file; here there is one")
    model, findings = imported(reader)(path, options)
    if name in catalog_names() and (odd := remark(model.note)):
        findings = (*findings, Finding("warning", name, f"{name}: {odd}"))
    for name, value in check_locked(options.locked).items():
        model = noted(model, f"joint {name!r} locked at {value:g}")
    return model, findings


def save_model(model: RobotModel, path: str | Path) -> None:
    """Write a robot as .toml or .urdf; the file appears whole or not at all."""
    if not isinstance(path, str | Path):
        raise ModelError(f"a robot is saved to a path such as 'arm.toml', got {shown(path)}")
    writer = WRITABLE.get(ending(path, ".toml"))
    if writer is None:
        raise ModelError(
            f"cannot write {str(path)!r}: the ending must be one of {', '.join(WRITABLE)}"
        )
    write_text(path, imported(writer)(model))
