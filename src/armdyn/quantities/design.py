"""A robot whose masses, lengths, inertias, rotors and gears are arguments: no design is compiled.

The numbers are those of `armdyn.shorten.canonical.parameters` in canonical frames (m2, x2, Ixx2,
a2, d3, Ia2) and the gear ratios N2. A mass changes while the centre of mass and the tensor about it
stay; a length moves the links behind it as they are.
"""

from dataclasses import replace

from armdyn.errors import ModelError, check_known
from armdyn.model import RobotModel
from armdyn.quantities.request import Request
from armdyn.shorten.canonical.parameters import parameters

DESIGNED = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity_vector", "coriolis_vector",
    "bias",
)  # fmt: skip
"""Quantities that are functions of a design: those of the links and rotors alone."""
OPTIONS = ("friction", "payload")
"""The options that they have then."""


def design_values(model: RobotModel) -> dict[str, float]:
    """Every number that a design can change, by its name, with its value."""
    values = {name: x for name, x in parameters(model).items() if not name.startswith("p")}
    for i, joint in enumerate(model.joints, start=1):
        if joint.rotor.inertia:
            values[f"N{i}"] = joint.rotor.gear_ratio
    return values


def check_design(model: RobotModel, request: Request) -> None:
    """A ModelError if the numbers of a request cannot be an argument of its quantity."""
    check_known("quantity of a design", request.quantity, DESIGNED)
    if model.springs:
        raise ModelError(
            f"the springs of {model.name!r} do not follow a design; leave them out, "
            "with_springs([])"
        )
    plain = Request(request.quantity, design=request.design, effort=request.effort)
    if replace(request, **{name: getattr(plain, name) for name in OPTIONS}) != plain:
        raise ModelError(
            f"a design has the options {' and '.join(OPTIONS)} alone; leave the others out"
        )
    values = design_values(model)
    for name in request.design:
        check_known("number of a design", name, values)
        if name.startswith("N") and f"Ia{name[1:]}" in request.design:
            raise ModelError(f"{name} and Ia{name[1:]} are one rotor; give one of them")
