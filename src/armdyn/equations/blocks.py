"""The arrays of the equations of motion as blocks to print."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from armdyn.algebra.ring import Trig
from armdyn.arrays import Array
from armdyn.equations.arrange import arrange
from armdyn.equations.cartesian import CartesianForm
from armdyn.equations.closed_form import ClosedForm
from armdyn.equations.document import Block, Line, Place, index
from armdyn.equations.numeric import numeric
from armdyn.equations.quotients import Quotient, factored
from armdyn.equations.readable import readable
from armdyn.equations.symbolic_robot import SymbolicRobot
from armdyn.equations.tree import (
    Expr,
    Number,
    power,
    product,
    total,
)

SYMMETRIC = "M is symmetric, M_ij = M_ji"


@dataclass(frozen=True, eq=False)
class Writer:
    """Makes blocks of a robot in symbols, or in numbers of so many digits."""

    robot: SymbolicRobot
    digits: int | None = None

    def terms(self, values: Iterable[Trig]) -> int:
        """How many terms entries have before they are factored."""
        found = (readable(self.robot, self._known(value)) for value in values)
        return sum(len(term.coefficient) for terms in found for term in terms)

    def entry(self, value: Trig) -> Expr:
        """An entry as it is printed."""
        return arrange(self.robot, self._known(value), self.digits)

    def _known(self, value: Trig) -> Trig:
        return value if self.digits is None else numeric(self.robot, value)

    def line(self, symbol: str, label: str, value: Trig, place: Place) -> Line:
        """An entry with its name and place."""
        known = self._known(value)
        return Line(symbol, label, arrange(self.robot, known, self.digits), place, _constant(known))

    # blocks

    def mass(self, M: Array) -> Block:
        """The mass matrix, upper triangle."""
        n = len(M)
        lines = [
            self.line("M", index(i + 1, j + 1), M[i, j], (i, j))
            for i in range(n)
            for j in range(i, n)
        ]
        remarks = (SYMMETRIC,) if n > 1 else ()
        return Block("M", "Mass matrix", tuple(lines), (n, n), swap=(0, 1), remarks=remarks)

    def vector(self, symbol: str, title: str, values: Array, *arguments: str) -> Block:
        """A torque or force of each joint."""
        lines = (self.line(symbol, index(i + 1), v, (i,)) for i, v in enumerate(values))
        return Block(symbol, title, tuple(lines), (len(values),), arguments)

    def scalar(self, symbol: str, title: str, value: Trig, *arguments: str) -> Block:
        """An energy."""
        return Block(symbol, title, (self.line(symbol, "", value, ()),), (), arguments)

    def coriolis(self, B: Array) -> Block:
        """Coefficients of products of two velocities."""
        n = len(B)
        pairs = list(enumerate(combinations(range(1, n + 1), 2)))
        lines = [
            self.line("B", f"{i + 1},{index(j, k)}", B[i, column], (i, column))
            for i in range(n)
            for column, (j, k) in pairs
        ]
        remarks = ("column jk, j < k, belongs to qd_j qd_k",)
        return Block("B", "Coriolis coefficients", tuple(lines), (n, len(pairs)), remarks=remarks)

    def centrifugal(self, C: Array) -> Block:
        """Coefficients of squared velocities."""
        n = len(C)
        lines = (self.line("C", index(*(p + 1 for p in at)), C[*at], at) for at in np.ndindex(n, n))
        remarks = ("column j belongs to qd_j², C_ii = 0",)
        own = frozenset((i, i) for i in range(n))
        return Block(
            "C", "Centrifugal coefficients", tuple(lines), (n, n), remarks=remarks, hidden=own
        )

    def christoffel(self, h: Array) -> Block:
        """Christoffel symbols of the first kind."""
        n = len(h)
        places = [at for at in np.ndindex(n, n, n) if at[1] <= at[2]]
        lines = (self.line("h", index(*(p + 1 for p in at)), h[*at], at) for at in places)
        remarks = (
            "h_ikm = h_imk, so k ≤ m is enough",
            "h_iii = 0: no joint's own velocity loads it",
        )
        own = frozenset((i, i, i) for i in range(n))
        return Block(
            "h",
            "Christoffel symbols",
            tuple(lines),
            (n, n, n),
            swap=(1, 2),
            remarks=remarks,
            hidden=own,
        )

    # of the tool

    def quotients(self, symbol: str, label: str, value: list[Quotient], place: Place) -> Line:
        """A sum of quotients."""
        terms = [
            product([self.entry(q.numerator), *(power(self.entry(f), -e) for f, e in q.divisors)])
            for q in value
        ]
        still = all(_constant(q.numerator) and not _moving(q) for q in value)
        return Line(symbol, label, total(terms), place, still)

    def task(self, form: CartesianForm) -> list[Block]:
        """Mass matrix, velocity and gravity forces of the tool, written out."""
        n, names = self.robot.n, ", ".join(form.task)
        mass = tuple(
            self.quotients("Mx", index(i + 1, j + 1), form.mass[i][j], (i, j))
            for i in range(n)
            for j in range(i, n)
        )
        both = (("Vx", "Velocity forces", form.velocity), ("Gx", "Gravity forces", form.gravity))
        remarks = ("Mx is symmetric",) if n > 1 else ()
        blocks = [
            Block("detJ", f"Determinant of J for ({names})", (self._determinant(form),)),
            Block("Mx", "Mass matrix of the tool", mass, (n, n), swap=(0, 1), remarks=remarks),
        ]
        for symbol, title, values in both:
            lines = (self.quotients(symbol, index(i + 1), v, (i,)) for i, v in enumerate(values))
            arguments = ("q", "qd") if symbol == "Vx" else ("q",)
            blocks.append(Block(symbol, f"{title} of the tool", tuple(lines), (n,), arguments))
        return blocks

    def _determinant(self, form: CartesianForm) -> Line:
        """The determinant of J in factors."""
        found = factored(self.robot, form.determinant)
        factors = [power(self.entry(factor), e) for factor, e in found.factors]
        still = _constant(form.determinant)
        return Line("detJ", "", product([Number(found.number), *factors]), (), still)

    def jacobian(self, form: CartesianForm) -> list[Block]:
        """J and J̇ q̇ of the task."""
        n, names = self.robot.n, ", ".join(form.task)
        lines = (
            self.line("J", index(*(p + 1 for p in at)), form.J[*at], at) for at in np.ndindex(n, n)
        )
        return [
            Block("J", f"Jacobian of ({names})", tuple(lines), (n, n)),
            self.vector("Jdqd", "The derivative of J, times qd", form.Jd_qd, "q", "qd"),
        ]


def entries(form: str, closed: ClosedForm) -> Iterator[Trig]:
    """The different entries that a form consists of, cheapest first."""
    n = closed.robot.n
    if form == "energy":
        yield closed.U
        yield closed.T
        return
    if form != "christoffel":
        yield from (closed.M[i, j] for i in range(n) for j in range(i, n))
        yield from closed.G
    if form == "state":
        yield from closed.V
    else:
        yield from (closed.h[*at] for at in np.ndindex(n, n, n) if at[1] <= at[2])


def _constant(value: Trig) -> bool:
    """Whether an entry depends on no joint and no rate."""
    return value.constant and not any(name[0] == "q" for name in value.symbols())


def _moving(quotient: Quotient) -> bool:
    return any(not _constant(factor) for factor, _ in quotient.divisors)
