"""`armdyn inertia`: the mass properties of a mesh file or a shape."""

from typing import TYPE_CHECKING, Any

import typer

from armdyn.cli.console import print_line, print_styled, printed_as_json
from armdyn.cli.options import argument, flag, one_or_each, option, optional

if TYPE_CHECKING:
    from armdyn.model import Inertia


def inertia(
    source: str = argument(
        "FILE|SHAPE",
        "A .stl, .obj, .ply, .off, .glb or .dae file, or box, cylinder, tube, sphere, capsule, "
        "cone, ellipsoid, rod or point.",
    ),
    lengths: list[float] | None = argument(
        "LENGTH", "Lengths of a shape, as in `box 0.1 0.2 0.3`.", None
    ),
    *,
    density: float | None = optional("Density in kg/m³; or else --mass.", "KG/M3"),
    mass: float | None = optional("Mass in kg; or else --density.", "KG"),
    units: str = option("m", "Unit of the lengths: m, dm, cm, mm, in or ft.", "UNIT"),
    scale: str = option("1", "A factor for the numbers of a mesh, or three.", "S[,S,S]"),
    hull: bool = flag("--hull", "Take the convex hull of a mesh."),
) -> None:
    """Compute volume, mass, centre of mass and inertia tensor, to paste into a robot file."""
    from armdyn.io.toml.write import toml_inertia
    from armdyn.io.urdf.write import urdf_inertial

    factors = one_or_each("--scale", scale, (1, 3))
    options = {"units": units, "hull": hull, "scale": factors}
    body, volume = _body(source, lengths or [], options, {"mass": mass, "density": density})
    body = _rounded(body)
    moments, axes = body.principal
    data = {
        "source": " ".join([source, *map(str, lengths or [])]),
        "volume": volume,
        "density": density or (body.mass / volume if volume else None),
        "mass": body.mass,
        "com": body.com.tolist(),
        "inertia": body.moment_about_com.tolist(),
        "inertia_about_origin": body.moment.tolist(),
        "principal_moments": moments.tolist(),
        "principal_axes": axes.tolist(),
        "urdf": urdf_inertial(body),
        "toml": toml_inertia(body),
    }
    if not printed_as_json(lambda: data):
        _show(data)


def _body(
    source: str, lengths: list[float], options: dict[str, Any], given: dict[str, Any]
) -> tuple["Inertia", float | None]:
    """The body and its volume [m³], None where it has none."""
    from armdyn.model import Inertia
    from armdyn.model.inertia import SHAPES, UNITS, VOLUMELESS, check_scale

    if source not in SHAPES:
        if lengths:
            raise typer.BadParameter(
                f"{source!r} is no shape; lengths go with one of {', '.join(SHAPES)}"
            )
        body = Inertia.mesh(source, **options, **given)
        return body, Inertia.mesh(source, **options, density=1.0).mass
    check_scale(1.0, options["units"])
    wanted = SHAPES[source]
    sizes: list[Any] = [UNITS[options["units"]] * length for length in lengths]
    if wanted in (("size",), ("radii",)):
        wanted, sizes = ("x", "y", "z"), [sizes] if len(sizes) == 3 else sizes
    if len(lengths) != len(wanted):
        raise typer.BadParameter(
            f"a {source} has {len(wanted)} lengths, {' '.join(wanted).upper() or 'none'}; got "
            f"{len(lengths)}"
        )
    make = getattr(Inertia, source)
    volume = None if source in VOLUMELESS else make(*sizes, density=1.0).mass
    return make(*sizes, **given), volume


def _rounded(body: "Inertia") -> "Inertia":
    """The body in ten digits, without what rounding left of zeros."""
    import numpy as np

    from armdyn.model import Inertia

    def digits(values: Any, size: float) -> Any:
        kept = np.where(np.abs(values) > 1e-12 * size, values, 0.0)
        return np.reshape([float(f"{value:.10g}") for value in kept.flat], kept.shape)

    tensor = body.moment_about_com
    largest = float(np.abs(tensor).max())
    com = digits(body.com, float(np.abs(body.com).max() + np.sqrt(largest / body.mass)))
    return Inertia.from_com(float(f"{body.mass:.10g}"), com, digits(tensor, largest))


def _show(data: dict[str, Any]) -> None:
    lines = {
        "volume [m³]": [data["volume"]],
        "density [kg/m³]": [data["density"]],
        "mass [kg]": [data["mass"]],
        "centre of mass [m]": data["com"],
    }
    print_line(data["source"])
    for name, values in lines.items():
        if values[0] is not None:
            print_line(f"  {name:22}{_row(values)}")
    tensors = {
        "inertia tensor about the centre of mass [kg m²]": data["inertia"],
        "inertia tensor about the origin [kg m²]": data["inertia_about_origin"],
        "principal moments [kg m²]": [data["principal_moments"]],
        "principal axes, a column each": data["principal_axes"],
    }
    for name, rows in tensors.items():
        print_line(f"  {name}")
        for row in rows:
            print_line(f"    {_row(row)}")
    for name, key in (("URDF", "urdf"), ("TOML", "toml")):
        print_line()
        print_styled((name, "bold"))
        print_line(data[key].rstrip())


def _row(values: Any) -> str:
    return "".join(f"{value + 0.0:>16.9g}" for value in values)
