"""A robot whose numbers are symbols and whose angles are angles of a ring.

Fed to a formulation, it gives that formulation's result as trigonometric polynomials. Along axes
that stay parallel the angles of the ring are sums, φ3 = q1 + q2 + q3, because these are the angles
of the links; so C1 C2 - S1 S2 becomes C12 by itself.
"""

import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn.algebra.ring import Ring, Trig
from armdyn.arrays import Array, frozen
from armdyn.canonical.frames import (
    CanonicalLink,
    CanonicalRobot,
    canonical,
    canonical_frames,
    is_quarter,
)
from armdyn.equations.letters import Letters, fitting
from armdyn.equations.symbolic_robot import Angle
from armdyn.equations.symbolic_robot import Sum as Sum
from armdyn.equations.symbolic_robot import SymbolicRobot as SymbolicRobot
from armdyn.errors import ArmdynWarning
from armdyn.model import RobotModel
from armdyn.model.transform import inverse
from armdyn.quantities.symbolic import joins
from armdyn.quantities.symbolic_model import branches, model_from_canonical
from armdyn.structure.parameters import ENTRIES, parameters

TOOL = ("xt", "yt", "zt")
"""The position of the tool in the canonical frame of the link that carries it [m]."""
_NOTHING = 1e-12
"""A position of the tool that is rounding [m]."""


def write(
    model: RobotModel, letters: Mapping[str, str] | None = None, free: Collection[str] = ()
) -> SymbolicRobot:
    """The robot in symbols: zeros and quarter turns stay numbers, everything else gets a name.

    Args:
        model: The robot.
        letters: Expressions for some of the parameters, see `Letters`; None: those of the model,
            as far as they still fit it, with a warning about the others.
        free: Parameters that are symbols although they are zero.
    """
    robot = canonical(model)
    known = {symbol: p.value for symbol, p in parameters(model, robot).items()}
    gravity = dict(_gravity(robot))
    known |= {name: abs(value) for name, value in gravity.values() if value}
    known |= _tool(model)
    if letters is None:
        spoken, reasons = fitting(model.letters, known, free)
        if reasons:
            warnings.warn(
                f"robot {model.name!r}: some of its letters do not fit it any more and are left "
                f"out: {'; '.join(reasons)}",
                ArmdynWarning,
                stacklevel=2,
            )
    else:
        spoken = Letters(letters, known, free)
    return _Writer(model, robot, spoken, known, frozenset(free), gravity).written()


def _tool(model: RobotModel) -> dict[str, float]:
    """Where the tool is, if a moving link carries it."""
    tool = model.tool_frame
    if tool.link < 0:
        return {}
    position = (inverse(canonical_frames(model)[tool.link]) @ tool.placement)[:3, 3]
    return {n: 0.0 if abs(p) < _NOTHING else float(p) for n, p in zip(TOOL, position, strict=True)}


def _gravity(robot: CanonicalRobot) -> Iterator[tuple[tuple[int, int], tuple[str, float]]]:
    """For each joint on the base and each axis the name and the value of gravity."""
    roots = [i for i, link in enumerate(robot.links) if link.parent < 0]
    alone = all(np.count_nonzero(robot.links[i].gravity) <= 1 for i in roots)
    for i in roots:
        for axis, value in enumerate(robot.links[i].gravity):
            name = f"g{'xyz'[axis]}" + (str(i + 1) if len(roots) > 1 else "")
            yield (i, axis), ("g" if alone else name, float(value))


@dataclass(frozen=True, eq=False)
class _Writer:
    model: RobotModel
    robot: CanonicalRobot
    letters: Letters
    known: dict[str, float]
    free: frozenset[str]
    gravity: dict[tuple[int, int], tuple[str, float]]

    def written(self) -> SymbolicRobot:
        links, ups = self.robot.links, joins(self.robot)
        sums = self._sums()
        constant = {
            name: float(angle)
            for i, (link, up) in enumerate(zip(links, ups, strict=True))
            for name, angle in (
                (f"alpha{up}", link.alpha),
                (f"gamma{up}", link.gamma),
                (f"phi{i + 1}", link.theta if link.prismatic else 0.0),
            )
            if not is_quarter(angle)
        }
        moving = [i for i, link in enumerate(links) if not link.prismatic]
        places = {i: k for k, i in enumerate(moving)}
        names = [f"phi{i + 1}" for i in moving] + list(constant)
        ring = Ring(names, self._symbols())
        angles = {name: Angle(ring, {names.index(name): 1}) for name in constant}
        symbolic = replace(
            self.robot,
            links=tuple(
                self._link(ring, i, link, up, angles)
                for i, (link, up) in enumerate(zip(links, ups, strict=True))
            ),
        )
        values = self.letters.values | constant
        return SymbolicRobot(
            ring,
            self._parts(symbolic),
            [self._position(ring, i, places) for i in range(len(links))],
            {places[i]: sums[i] for i in moving},
            [self._number(ring, f"Ia{i + 1}") for i in range(len(links))],
            {name: values[name] for name in (*ring.symbols, *constant) if name in values},
            {i: float(links[i].theta) for i in moving if not is_quarter(links[i].theta)},
            _vector(self._number(ring, name) for name in TOOL),
        )

    def _sums(self) -> list[Sum]:
        """For each joint the sum of joints on parallel axes that ends with it."""
        sums: list[Sum] = []
        for i, link in enumerate(self.robot.links):
            before = sums[link.parent] if self._continues(link) else ()
            sums.append(before if link.prismatic else (*before, (i + 1, link.sign)))
        return sums

    @staticmethod
    def _continues(link: CanonicalLink) -> bool:
        """Whether angles go on from the parent: parallel axes, and no turn between by a number."""
        turned = link.prismatic and not is_quarter(link.theta)
        return link.parent >= 0 and link.alpha == 0 and link.gamma == 0 and not turned

    def _symbols(self) -> list[str]:
        """Every symbol of the ring: parameters that are not zero, gravity, sliding positions."""
        wanted = [s for s, v in self.known.items() if v or s in self.free]
        names = {name: None for s in wanted for name in self.letters.symbols(s)}
        slides = [f"q{i + 1}" for i, link in enumerate(self.robot.links) if link.prismatic]
        n = range(1, len(self.robot.links) + 1)
        rates = [f"{name}{i}" for name in ("qd", "qdd") for i in n]
        return [*names, *slides, *rates]

    def _position(self, ring: Ring, i: int, places: dict[int, int]) -> Any:
        link = self.robot.links[i]
        if link.prismatic:
            return ring.symbol(f"q{i + 1}")
        before = link.parent
        while self._continues(link) and self.robot.links[before].prismatic:
            link = self.robot.links[before]
            before = link.parent
        sign = self.robot.links[i].sign
        minus = {places[before]: -sign} if self._continues(link) and before >= 0 else {}
        return Angle(ring, {places[i]: sign, **minus})

    def _link(
        self, ring: Ring, i: int, link: CanonicalLink, up: str, angles: dict[str, Angle]
    ) -> CanonicalLink:
        def number(name: str) -> Any:
            return self._number(ring, name)

        n = i + 1
        m = number(f"m{n}")
        inertia = _symmetric({key: number(f"I{key}{n}") for key, _, _ in ENTRIES})
        moments = f"mx{n}" in self.known
        com = _vector(number(f"{'m' * moments}{axis}{n}") for axis in "xyz")
        trace = inertia[0, 0] + inertia[1, 1] + inertia[2, 2]
        J = trace / 2 * np.eye(3, dtype=int) - inertia
        turned = f"phi{n}" in angles
        lies_in_angle = not link.prismatic and not is_quarter(link.theta)
        return replace(
            link,
            alpha=angles.get(f"alpha{up}", link.alpha),
            gamma=angles.get(f"gamma{up}", link.gamma),
            theta=angles[f"phi{n}"] if turned else 0.0 if lies_in_angle else link.theta,
            across=_vector(number(f"{a}{up}") for a in ("a", "ay", "az"))
            if link.parent >= 0
            else link.across,
            r=number(f"d{n}"),
            J=frozen(J if moments else J + m * np.outer(com, com)),
            u=frozen(com if moments else m * com),
            M=m,
            gravity=_vector(self._weight(ring, i, axis) for axis in range(3)),
        )

    def _weight(self, ring: Ring, i: int, axis: int) -> Trig:
        name, value = self.gravity.get((i, axis), ("g", 0.0))
        if not value:
            return ring.number(0)
        return self._number(ring, name) * (1 if value > 0 else -1)

    def _number(self, ring: Ring, symbol: str) -> Trig:
        zero = not self.known.get(symbol) and symbol not in self.free
        return ring.number(0) if zero else self.letters.write(ring, symbol)

    def _parts(self, robot: CanonicalRobot) -> list[tuple[list[int], RobotModel]]:
        names = [link.name for link in robot.links]
        return [
            ([names.index(link.name) for link in part.links], model_from_canonical(part))
            for part in branches(robot)
        ]


def _vector(values: Iterator[Trig]) -> Array:
    result = np.empty(3, dtype=object)
    result[:] = list(values)
    return frozen(result)


def _symmetric(entries: Mapping[str, Trig]) -> Array:
    result = np.empty((3, 3), dtype=object)
    for key, a, b in ENTRIES:
        result[a, b] = result[b, a] = entries[key]
    return result
