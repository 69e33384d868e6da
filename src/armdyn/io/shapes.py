"""Shapes in a description: the inertia of a link made of one or several of them.

A shape is an `Inertia`, or a mapping with its `type` and lengths ("mesh": `file`, `scale`, `units`,
`hull`), its `mass` or `density`, its `axis`, its place in the frame of the link (`position`, `rpy`
or `rotation`) and `hole` if it is cut out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path
from typing import Any

from armdyn.arrays import Array, check_constant, check_truth
from armdyn.errors import ArmdynError, ModelError, check_known, shown
from armdyn.io.regular import check_path
from armdyn.model import Inertia
from armdyn.model.shapes import SHAPES, given_mass
from armdyn.model.transform import check_transform, rotation_from_rpy, transform
from armdyn.model.validate import Finding

MESH_KEYS = ("file", "scale", "units", "hull")
SUBSTANCE = ("mass", "density")
PLACEMENT = ("position", "rpy", "rotation")


@dataclass(frozen=True, slots=True, eq=False)
class ShapeReader:
    """Reads the shapes of one description."""

    folder: Path = Path()
    """Where the files of meshes are."""
    density: float | None = None
    """Density of shapes that say neither mass nor density [kg/m³]."""
    meshes: bool = True
    """Whether files of meshes may be read."""
    filled: list[str] = field(default_factory=list)
    """The places where that density was used, with the mass that it gave."""

    def inertia(self, where: str, given: Any, mass: Any = None) -> Inertia:
        """The body of one shape or several, in the frame of the link.

        `mass` is that of all shapes together, which then have the same density.
        """
        shapes = [given] if isinstance(given, Mapping | Inertia) else given
        if not isinstance(shapes, Sequence) or isinstance(shapes, str) or not shapes:
            raise ModelError(
                f"{where}: shape: expected a table such as {{type = 'box', size = [...]}}, an "
                f"Inertia, or a list of them, got {shown(given)}"
            )
        number = "" if shapes is not given else " {}"
        bodies: dict[bool, list[Inertia]] = {False: [], True: []}
        lone = len(shapes) == 1
        for i, shape in enumerate(shapes, start=1):
            place = f"{where}: shape{number.format(i)}"
            bodies[_is_hole(place, shape)].append(self._body(place, shape, mass, lone))
        if not bodies[False]:
            raise ModelError(f"{where}: shape: every shape is a hole; there is nothing to cut")
        try:
            total = sum(bodies[False], Inertia.zero())
            total = total - sum(bodies[True], Inertia.zero()) if bodies[True] else total
        except ModelError as error:
            raise ModelError(f"{where}: shape: {error}") from error
        if mass is not None and not lone:
            whole = given_mass(f"{where}: shape", mass, None, total.mass)
            total = Inertia.from_pseudo(whole / total.mass * total.pseudo)
        if mass is None and self.density is not None and any(map(_without_mass, shapes)):
            self.filled.append(f"{where} ({total.mass:.4g} kg)")
        return total

    def _body(self, where: str, shape: Any, mass: Any, lone: bool) -> Inertia:
        """One shape, as a body of its own mass or density, or of those of the link."""
        if mass is not None and not _without_mass(shape):
            raise ModelError(
                f"{where}: give the mass of the whole link, or the mass or density of each shape, "
                "not both"
            )
        if isinstance(shape, Inertia):
            return shape
        known = {key: value for key, value in shape.items() if key in SUBSTANCE}
        if mass is not None:
            known = {"mass": mass} if lone else {"density": 1.0}
        elif not known and self.density is not None:
            known = {"density": self.density}
        try:
            solid = self._solid(shape, known)
        except ArmdynError as error:
            raise ModelError(f"{where}: {error}") from error
        placed = any(key in shape for key in PLACEMENT)
        return solid.moved(placement_from_keys(where, shape)) if placed else solid

    def _solid(self, shape: Mapping[str, Any], known: dict[str, Any]) -> Inertia:
        kind = shape.get("type")
        check_known("type of shape", kind, (*SHAPES, "mesh"))
        lengths = MESH_KEYS if kind == "mesh" else tuple(signature(SHAPES[str(kind)]).parameters)
        axis = ("axis",) if "length" in lengths else ()
        for key in shape:
            known_keys = ("type", *lengths, *axis, *SUBSTANCE, *PLACEMENT, "hole")
            check_known(f"key of a {kind}", key, known_keys)
        for key in lengths if kind != "mesh" else ("file",):
            if key not in shape:
                raise ModelError(f"a {kind} needs the key {key!r}")
        given = {key: shape[key] for key in (*lengths, *axis) if key in shape}
        if kind != "mesh":
            return getattr(Inertia, str(kind))(**given, **known)
        if not self.meshes:
            raise ModelError("files of meshes are not read here; give another shape")
        return Inertia.mesh(self.folder / check_path(given.pop("file")), **given, **known)


def density_findings(
    source: str, density: float | None, filled: Sequence[str]
) -> Iterator[Finding]:
    """Which links got their inertia from their shapes and the density that was asked for."""
    if density is None:
        return
    text = "changes nothing: no link has a shape and lacks its inertia"
    if filled:
        text = f"gives {', '.join(filled)} the inertia of uniform bodies of their shapes"
    text = f"density = {float(density):g} kg/m³ {text}"
    yield Finding("warning", source, f"{source}: {text}")


def _is_hole(where: str, shape: Any) -> bool:
    if isinstance(shape, Inertia):
        return False
    if not isinstance(shape, Mapping):
        raise ModelError(f"{where}: expected a table or an Inertia, got {shown(shape)}")
    return check_truth(f"{where}: hole", shape.get("hole", False))


def _without_mass(shape: Any) -> bool:
    return isinstance(shape, Mapping) and not any(key in shape for key in SUBSTANCE)


def rotation_from_keys(where: str, given: Mapping[str, Any], prefix: str = "") -> Array:
    """The rotation under `rpy` (angles about the fixed x, y, z axes) or `rotation` (3x3)."""
    rpy, rotation = f"{prefix}rpy", f"{prefix}rotation"
    if rpy in given and rotation in given:
        raise ModelError(f"{where}: give {rpy} or {rotation}, not both")
    if rotation not in given:
        return rotation_from_rpy(check_constant(f"{where}: {rpy}", given.get(rpy, (0, 0, 0)), (3,)))
    R = check_constant(f"{where}: {rotation}", given[rotation], (3, 3))
    return check_transform(f"{where}: {rotation}", transform(R))[:3, :3]


def placement_from_keys(where: str, given: Mapping[str, Any]) -> Array:
    """The 4x4 transform under `position` [m] and `rpy` [rad] or `rotation`."""
    place = check_constant(f"{where}: position", given.get("position", (0, 0, 0)), (3,))
    return transform(rotation_from_keys(where, given), place)
