"""From a name or a path to a RobotModel, and back to a file."""

from collections.abc import Mapping
from pathlib import Path

import numpy.typing as npt

from armdyn.errors import DescriptionError, ModelError, UnknownNameError
from armdyn.io.atomic import write_text
from armdyn.io.catalog import catalog_names, catalog_path
from armdyn.io.toml.read import model_from_toml
from armdyn.io.toml.write import toml_from_model
from armdyn.io.urdf.read import model_from_urdf
from armdyn.io.urdf.write import urdf_from_model
from armdyn.io.xml import read_xml
from armdyn.model import RobotModel
from armdyn.model.validate import Physical

READABLE = (".urdf", ".xml", ".mjcf", ".toml")
WRITABLE = {".toml": toml_from_model, ".urdf": urdf_from_model}


def load_model(
    source: str | Path,
    *,
    locked: Mapping[str, float] | None = None,
    tool: str | None = None,
    gravity: npt.ArrayLike | None = None,
    base: npt.ArrayLike | None = None,
    physical: Physical = "error",
    fix_root: bool = False,
) -> RobotModel:
    """A robot from the catalog or from a file; arguments as in `armdyn.load`."""
    if not isinstance(source, str | Path):
        raise ModelError(f"a robot is loaded by its name or path, got {source!r}")
    path = Path(source)
    if path.is_dir():
        raise DescriptionError("this is a directory; give the file in it", file=path)
    if path.suffix.lower() not in READABLE:
        if str(source) in catalog_names() or not path.exists():
            path = _catalog(str(source))
        else:
            raise DescriptionError(
                f"cannot tell the format from the ending {path.suffix!r}; "
                f"expected one of {', '.join(READABLE)}",
                file=path,
            )
    if path.suffix.lower() == ".toml":
        return model_from_toml(
            path, locked=locked, tool=tool, gravity=gravity, base=base, physical=physical
        )
    if path.suffix.lower() == ".urdf" or read_xml(path, DescriptionError).tag == "robot":
        reader = model_from_urdf
    else:
        from armdyn.io.mjcf.read import model_from_mjcf as reader  # noqa: PLC0415  (mujoco is an extra)
    return reader(
        path,
        locked=locked,
        tool=tool,
        gravity=gravity,
        base=base,
        physical=physical,
        fix_root=fix_root,
    )


def _catalog(name: str) -> Path:
    try:
        return catalog_path(name)
    except UnknownNameError as error:
        raise UnknownNameError(
            "robot",
            name,
            error.available,
            f"A path to a file ending in {', '.join(READABLE)} works too.",
        ) from None


def save_model(model: RobotModel, path: str | Path) -> None:
    """Write a robot as .toml or .urdf; the file appears whole or not at all."""
    if not isinstance(path, str | Path):
        raise ModelError(f"a robot is saved to a path such as 'arm.toml', got {path!r}")
    path = Path(path)
    writer = WRITABLE.get(path.suffix.lower())
    if writer is None:
        raise ModelError(
            f"cannot write {str(path)!r}: the ending must be one of {', '.join(WRITABLE)}"
        )
    write_text(path, writer(model))
