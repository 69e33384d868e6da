"""The arrays of the equations of motion as blocks to print."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.closed_forms.arrange import arrange
from armdyn.closed_forms.cartesian import CartesianForm, Quotient
from armdyn.closed_forms.closed_form import ClosedForm
from armdyn.closed_forms.document import Block, Line, Place, index
from armdyn.closed_forms.readable import readable
from armdyn.closed_forms.symbolic_robot import SymbolicRobot
from armdyn.closed_forms.tree import Expr, Number, power, product, total
from armdyn.graph.ring import Trig


@dataclass(frozen=True, eq=False)
class BlockWriter:
    """Makes blocks of a robot in symbols, or in numbers with so many digits."""

    robot: SymbolicRobot
    digits: int | None = None

    def _label(self, place: Place) -> str:
        """The numbers of the joints behind a symbol."""
        return index(*(self.robot.coordinates[p] for p in place))

    def terms(self, value: Trig) -> int:
        """How many terms an entry has before it is factored."""
        return sum(len(term.coefficient) for term in readable(self.robot, self._known(value)))

    def entry(self, value: Trig) -> Expr:
        """An entry as it is printed."""
        return arrange(self.robot, self._known(value), self.digits)

    def _known(self, value: Trig) -> Trig:
        return value if self.digits is None else self.robot.numeric(value)

    def block(
        self,
        symbol: str,
        title: str,
        values: Array | Trig,
        label: Callable[[Place], str] | None = None,
        **facts: Any,
    ) -> Block:
        """An array with its entries, half of them where two axes may be exchanged."""
        array: Any = np.asarray(values, dtype=object)
        label, lines = label or self._label, []
        for at in _upper(array.shape) if "swap" in facts else np.ndindex(array.shape):
            known = self._known(array[at])
            entry = arrange(self.robot, known, self.digits)
            lines.append(Line(symbol, label(at), entry, at, _constant(known)))
        return Block(symbol, title, tuple(lines), array.shape, **facts)

    def blocks(self, form: str, closed: ClosedForm) -> list[Block]:
        """The arrays of a closed form."""
        moving, n = ("q", "qd"), self.robot.n
        if form == "energy":
            potential = "Potential energy, without its constant part"
            kinetic = self.block("T", "Kinetic energy", closed.T, arguments=moving)
            return [kinetic, self.block("U", potential, closed.U)]
        if form == "christoffel":
            own = "h_iii = 0: no joint's own velocity loads it"
            remarks = "h_ikm = h_imk, so k ≤ m is enough", own
            hidden = frozenset((i, i, i) for i in range(n))
            title, swap = "Christoffel symbols", (1, 2)
            return [self.block("h", title, closed.h, swap=swap, remarks=remarks, hidden=hidden)]
        symmetric = ("M is symmetric, M_ij = M_ji",) if n > 1 else ()
        mass = self.block("M", "Mass matrix", closed.M, swap=(0, 1), remarks=symmetric)
        gravity = self.block("G", "Gravity", closed.G)
        if form == "state":
            title = "Coriolis and centrifugal torques"
            return [mass, self.block("V", title, closed.V, arguments=moving), gravity]
        return [mass, *self._velocity_products(closed), gravity]

    def _velocity_products(self, closed: ClosedForm) -> list[Block]:
        """Coefficients of products of two velocities, and of squared velocities."""
        n = self.robot.n
        joints = self.robot.coordinates
        pairs = [index(*pair) for pair in combinations(joints, 2)]
        coriolis = self.block(
            "B",
            "Coriolis coefficients",
            closed.B,
            lambda at: f"{joints[at[0]]},{pairs[at[1]]}",
            remarks=("column jk, j < k, belongs to qd_j qd_k",),
        )
        centrifugal = self.block(
            "C",
            "Centrifugal coefficients",
            closed.C,
            remarks=("column j belongs to qd_j², C_ii = 0",),
            hidden=frozenset((i, i) for i in range(n)),
        )
        return [coriolis, centrifugal]

    # of the tool

    def sum_of(self, quotients: list[Quotient]) -> Expr:
        """A sum of quotients as it is printed."""
        return total(
            product([self.entry(q.numerator), *(power(self.entry(f), -e) for f, e in q.divisors)])
            for q in quotients
        )

    def quotients(self, symbol: str, value: list[Quotient], place: Place) -> Line:
        """A sum of quotients as an entry of an array."""
        parts = [part for q in value for part in (q.numerator, *(f for f, _ in q.divisors))]
        constant = all(map(_constant, parts))
        return Line(symbol, self._label(place), self.sum_of(value), place, constant)

    def task(self, form: CartesianForm) -> list[Block]:
        """Mass matrix, velocity and gravity forces of the tool, written out."""
        n, names, turned = self.robot.n, ", ".join(form.task), form.R is not None
        M, V, G = ("Mt", "Vt", "Gt") if turned else ("Mx", "Vx", "Gx")
        where = "" if form.link is None else f" in axes of link {form.link + 1}"
        mass = tuple(self.quotients(M, form.mass[i][j], (i, j)) for i, j in _upper((n, n)))
        remarks = (f"{M} is symmetric",) if n > 1 else ()
        factors = [power(self.entry(factor), e) for factor, e in form.factors.factors]
        value = product([Number(form.factors.number), *factors])
        determinant = Line("detJ", "", value, (), _constant(form.determinant))

        def forces(symbol: str, title: str, values: list[list[Quotient]], *given: str) -> Block:
            lines = tuple(self.quotients(symbol, value, (i,)) for i, value in enumerate(values))
            return Block(symbol, f"{title} of the tool{where}", lines, (n,), given)

        turn = "Turn from axes of the link to those of the world"
        return [
            Block("detJ", f"Determinant of J for ({names})", (determinant,)),
            *([self.block("R", turn, form.R)] if form.R is not None else []),
            Block(M, f"Mass matrix of the tool{where}", mass, (n, n), swap=(0, 1), remarks=remarks),
            forces(V, "Velocity forces", form.velocity, "q", "qd"),
            forces(G, "Gravity forces", form.gravity, "q"),
        ]

    def jacobian(self, form: CartesianForm) -> list[Block]:
        """J and J̇ q̇ of the task."""
        rate, given = "The derivative of J, times qd", ("q", "qd")
        return [
            self.block("J", f"Jacobian of ({', '.join(form.task)})", form.J),
            self.block("Jdqd", rate, form.Jd_qd, arguments=given),
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


def _constant(value: Trig) -> bool:
    """Whether an entry depends on no joint and no rate."""
    return value.constant and not any(name[0] == "q" for name in value.symbols())
