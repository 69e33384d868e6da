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
from armdyn.equations.quotients import Quotient
from armdyn.equations.readable import readable
from armdyn.equations.symbolic_robot import SymbolicRobot
from armdyn.equations.tree import Expr, Number, power, product, total

SYMMETRIC = "M is symmetric, M_ij = M_ji"


@dataclass(frozen=True, eq=False)
class BlockWriter:
    """Makes blocks of a robot in symbols, or in numbers with so many digits."""

    robot: SymbolicRobot
    digits: int | None = None

    def terms(self, value: Trig) -> int:
        """How many terms an entry has before it is factored."""
        return sum(len(term.coefficient) for term in readable(self.robot, self._known(value)))

    def entry(self, value: Trig) -> Expr:
        """An entry as it is printed."""
        return arrange(self.robot, self._known(value), self.digits)

    def _known(self, value: Trig) -> Trig:
        return value if self.digits is None else self.robot.numeric(value)

    def line(self, symbol: str, label: str, value: Trig, place: Place) -> Line:
        """An entry with its name and place."""
        known = self._known(value)
        return Line(symbol, label, arrange(self.robot, known, self.digits), place, _constant(known))

    def _lines(self, symbol: str, values: Array, places: Iterable[Place]) -> tuple[Line, ...]:
        """Entries of an array, labelled by their indices from 1."""
        return tuple(self.line(symbol, _label(at), values[*at], at) for at in places)

    # blocks

    def mass(self, M: Array) -> Block:
        """The mass matrix, upper triangle."""
        lines = self._lines("M", M, _upper(M.shape))
        remarks = (SYMMETRIC,) if len(M) > 1 else ()
        return Block("M", "Mass matrix", lines, M.shape, swap=(0, 1), remarks=remarks)

    def vector(self, symbol: str, title: str, values: Array, *arguments: str) -> Block:
        """A torque or force of each joint."""
        lines = self._lines(symbol, values, np.ndindex(values.shape))
        return Block(symbol, title, lines, values.shape, arguments)

    def scalar(self, symbol: str, title: str, value: Trig, *arguments: str) -> Block:
        """An energy."""
        return Block(symbol, title, (self.line(symbol, "", value, ()),), (), arguments)

    def coriolis(self, B: Array) -> Block:
        """Coefficients of products of two velocities."""
        pairs = list(enumerate(combinations(range(1, len(B) + 1), 2)))
        lines = tuple(
            self.line("B", f"{i + 1},{index(j, k)}", B[i, column], (i, column))
            for i in range(len(B))
            for column, (j, k) in pairs
        )
        remarks = ("column jk, j < k, belongs to qd_j qd_k",)
        return Block("B", "Coriolis coefficients", lines, B.shape, remarks=remarks)

    def centrifugal(self, C: Array) -> Block:
        """Coefficients of squared velocities."""
        lines = self._lines("C", C, np.ndindex(C.shape))
        remarks = ("column j belongs to qd_j², C_ii = 0",)
        own = frozenset((i, i) for i in range(len(C)))
        return Block("C", "Centrifugal coefficients", lines, C.shape, remarks=remarks, hidden=own)

    def christoffel(self, h: Array) -> Block:
        """Christoffel symbols of the first kind."""
        return Block(
            "h",
            "Christoffel symbols",
            self._lines("h", h, _upper(h.shape)),
            h.shape,
            swap=(1, 2),
            remarks=(
                "h_ikm = h_imk, so k ≤ m is enough",
                "h_iii = 0: no joint's own velocity loads it",
            ),
            hidden=frozenset((i, i, i) for i in range(len(h))),
        )

    # of the tool

    def quotients(self, symbol: str, value: list[Quotient], place: Place) -> Line:
        """A sum of quotients."""
        terms = [
            product([self.entry(q.numerator), *(power(self.entry(f), -e) for f, e in q.divisors)])
            for q in value
        ]
        parts = [part for q in value for part in (q.numerator, *(f for f, _ in q.divisors))]
        return Line(symbol, _label(place), total(terms), place, all(map(_constant, parts)))

    def task(self, form: CartesianForm) -> list[Block]:
        """Mass matrix, velocity and gravity forces of the tool, written out."""
        n, names = self.robot.n, ", ".join(form.task)
        mass = tuple(self.quotients("Mx", form.mass[i][j], (i, j)) for i, j in _upper((n, n)))
        remarks = ("Mx is symmetric",) if n > 1 else ()
        factors = [power(self.entry(factor), e) for factor, e in form.factors.factors]
        value = product([Number(form.factors.number), *factors])
        determinant = Line("detJ", "", value, (), _constant(form.determinant))

        def forces(symbol: str, title: str, values: list[list[Quotient]], *given: str) -> Block:
            lines = tuple(self.quotients(symbol, value, (i,)) for i, value in enumerate(values))
            return Block(symbol, title, lines, (n,), given)

        return [
            Block("detJ", f"Determinant of J for ({names})", (determinant,)),
            Block("Mx", "Mass matrix of the tool", mass, (n, n), swap=(0, 1), remarks=remarks),
            forces("Vx", "Velocity forces of the tool", form.velocity, "q", "qd"),
            forces("Gx", "Gravity forces of the tool", form.gravity, "q"),
        ]

    def jacobian(self, form: CartesianForm) -> list[Block]:
        """J and J̇ q̇ of the task."""
        lines, names = self._lines("J", form.J, np.ndindex(form.J.shape)), ", ".join(form.task)
        return [
            Block("J", f"Jacobian of ({names})", lines, form.J.shape),
            self.vector("Jdqd", "The derivative of J, times qd", form.Jd_qd, "q", "qd"),
        ]


def entries(form: str, closed: ClosedForm) -> Iterator[Trig]:
    """The different entries that a form consists of, cheapest first."""
    if form == "energy":
        yield closed.U
        yield closed.T
        return
    if form != "christoffel":
        yield from (closed.M[*at] for at in _upper(closed.M.shape))
        yield from closed.G
    if form == "state":
        yield from closed.V
    else:
        yield from (closed.h[*at] for at in _upper(closed.h.shape))


def _upper(shape: tuple[int, ...]) -> Iterator[Place]:
    """The places of an array that is symmetric in its last two indices."""
    return (at for at in np.ndindex(shape) if at[-2] <= at[-1])


def _label(place: Place) -> str:
    return index(*(p + 1 for p in place))


def _constant(value: Trig) -> bool:
    """Whether an entry depends on no joint and no rate."""
    return value.constant and not any(name[0] == "q" for name in value.symbols())
