"""A robot whose masses, lengths, inertias, rotors and gears are arguments: no design is compiled.

The numbers are those of `armdyn.shorten.canonical.parameters` in canonical frames (m2, x2, Ixx2,
a2, d3, Ia2) and the gear ratios N2. A mass changes while the centre of mass and the tensor about it
stay; a length moves the links behind it as they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.errors import ModelError, check_known
from armdyn.forks import cached_property
from armdyn.graph.program import Program
from armdyn.model import RobotModel
from armdyn.quantities.program import checked, shortest_nodes
from armdyn.quantities.request import Request
from armdyn.quantities.traced_robot import TracedRobot
from armdyn.shorten.canonical.frames import CanonicalLink, CanonicalRobot, canonical
from armdyn.shorten.canonical.parameters import (
    ENTRIES,
    LENGTHS,
    about_com,
    link_numbers,
    parameters,
)
from armdyn.shorten.run_time import loaded
from armdyn.shorten.symbolic import symbolic

DESIGN = "design"
"""The name of the argument."""
DESIGNED = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity_vector", "coriolis_vector",
    "bias",
)  # fmt: skip
"""Quantities that are functions of a design: those of the links and rotors alone."""
OPTIONS = ("friction", "payload")
"""The options that they have then."""


def design_values(model: RobotModel) -> dict[str, float]:
    """Every number that a design can change, by its name, with its value."""
    found = {name: x for name, x in parameters(model).items() if not name.startswith("p")}
    for i, joint in enumerate(model.joints):
        if joint.rotor.inertia:
            found[f"N{i + 1}"] = joint.rotor.gear_ratio
    return found


def design_program(model: RobotModel, request: Request, names: Sequence[str]) -> Program:
    """The program of a quantity whose last argument are the numbers named, in this order."""
    quantity = checked(request, model)
    check_known("quantity of a design", request.quantity, DESIGNED)
    if model.springs:
        raise ModelError(
            f"the springs of {model.name!r} do not follow a design; leave them out, "
            "with_springs([])"
        )
    plain = Request(request.quantity, effort=request.effort)
    if replace(request, **{name: getattr(plain, name) for name in OPTIONS}) != plain:
        raise ModelError(
            f"a design has the options {' and '.join(OPTIONS)} alone; leave the others out"
        )
    known = design_values(model)
    for name in names:
        check_known("number of a design", name, known)
        if name.startswith("N") and f"Ia{name[1:]}" in names:
            raise ModelError(f"{name} and Ia{name[1:]} are one rotor; give one of them")
    robot = DesignedRobot(model, request, quantity.arguments, names=tuple(names))
    return robot.program(quantity.name, shortest_nodes(robot, quantity), robot.inputs)


@dataclass(eq=False)
class DesignedRobot(TracedRobot):
    """The robot with some numbers as arguments."""

    names: tuple[str, ...] = field(default=())

    @cached_property
    def inputs(self) -> dict[str, int]:
        """Length of each argument, in order."""
        return {**super().inputs, DESIGN: len(self.names)}

    @cached_property
    def design(self) -> Mapping[str, Any]:
        """The numbers as nodes."""
        return dict(zip(self.names, self.vector(DESIGN), strict=True))

    @cached_property
    def runtime(self) -> CanonicalRobot:
        """The robot with nodes for what the design has."""
        numbers = canonical(self.model)
        robot = symbolic(numbers, self.graph)
        links = [
            self._link(link, known, i, up)
            for i, (link, known, up) in enumerate(
                zip(robot.links, numbers.links, link_numbers(robot), strict=True), start=1
            )
        ]
        robot = replace(robot, links=tuple(links))
        return loaded(self.model, robot, self.vector("payload")) if self.request.payload else robot

    def _link(self, link: CanonicalLink, known: CanonicalLink, i: int, up: str) -> CanonicalLink:
        lengths = zip(LENGTHS, link.across, strict=True)
        across = [self.design.get(name + up, value) for name, value in lengths]
        link = replace(
            link, across=frozen(np.array(across, dtype=object)), r=self.design.get(f"d{i}", link.r)
        )
        mass, com, tensor = about_com(known.J, known.u, known.M)
        own = [
            f"m{i}",
            *(f"{axis}{i}" for axis in "xyz"),
            *(f"I{name}{i}" for name, _, _ in ENTRIES),
        ]
        if not set(own) & set(self.names):
            return link
        m = self.design.get(f"m{i}", mass)
        c = np.array(com, dtype=object)
        about = np.array(tensor, dtype=object)
        for k, axis in enumerate("xyz"):
            c[k] = self.design.get(f"{axis}{i}", c[k])
        for name, a, b in ENTRIES:
            about[a, b] = about[b, a] = self.design.get(f"I{name}{i}", about[a, b])
        # the second moment about the centre of mass is half the trace less the tensor
        half = 0.5 * (about[0, 0] + about[1, 1] + about[2, 2])
        second = half * np.eye(3) - about + m * np.outer(c, c)
        return replace(link, M=m, u=frozen(m * c), J=frozen(second))

    @cached_property
    def rotors(self) -> Array:
        """Inertias felt behind the gears, those of the design as nodes."""
        nodes = np.array(super().rotors)
        for i, joint in enumerate(self.model.joints):
            if f"Ia{i + 1}" in self.design:
                nodes[i] = self.design[f"Ia{i + 1}"]
            elif f"N{i + 1}" in self.design:
                ratio = self.design[f"N{i + 1}"]
                nodes[i] = ratio * ratio * joint.rotor.inertia
        return nodes

    @cached_property
    def momenta(self) -> Array:
        """Angular momenta of rotors that spin, those of the design as nodes."""
        nodes = np.array(super().momenta)
        for i, joint in enumerate(self.model.joints):
            if joint.rotor.spins and f"N{i + 1}" in self.design:
                nodes[i] = self.design[f"N{i + 1}"] * joint.rotor.inertia
        return nodes
