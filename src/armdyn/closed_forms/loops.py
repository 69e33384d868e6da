"""How the passive joints of loops follow from the others: in words, and written out.

The closure of a planar loop is Σ R(θ) v = 0 over vectors that turn with its links (`loops.plane`).
With the columns A of its derivatives by the joints, D the determinant of those of the two passive
ones:

    q̇_p = W q̇,   W = -adj(A_p) A / D         q̈_p = W q̈ - adj(A_p) b / D

b has the squares and products of rates. Torques are τ = Wᵀ (M q̈ + V + G) with M, V, G of the tree.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from armdyn.closed_forms.blocks import BlockWriter
from armdyn.closed_forms.closed_form import factored
from armdyn.closed_forms.document import Block, Line, index
from armdyn.closed_forms.pages import TEXT
from armdyn.closed_forms.recursive import Recursive
from armdyn.closed_forms.symbolic_robot import SymbolicRobot
from armdyn.closed_forms.tree import ZERO, Call, Expr, Number, Symbol, power, product, total
from armdyn.errors import LoopError
from armdyn.graph.evaluate import settle
from armdyn.graph.nodes import Graph, node_array
from armdyn.graph.program import Program
from armdyn.graph.ring import Ring, Trig
from armdyn.loops.closure import Closure, closure_of
from armdyn.loops.loop_coordinates import LoopCoordinates
from armdyn.loops.plane import LoopVector, PlanarLoop
from armdyn.loops.steps import Follower, LinearDyad, LinearStep, Step
from armdyn.model import RobotModel


def check_loops(model: RobotModel, form: str) -> None:
    """Refuse a form that is not written for the loops of a robot."""
    if not model.loops:
        return
    loop, closure = model.loops[0], closure_of(model)
    if closure.iteration is not None:
        raise LoopError(
            f"the loops of {model.name!r} are solved by iteration, so there are no equations in "
            "closed form; evaluate the methods of the robot instead",
            loop=loop.name,
        )
    curved = [step for step in closure.steps if isinstance(step, Follower)]
    if form != "recursive" and curved:
        names = [model.joints[i].name for i in (curved[0].joint, curved[0].leader)]
        raise LoopError(
            f"joint {names[0]!r} of {model.name!r} follows {names[1]!r} along a curve, for which "
            f"the {form} form is not written; take the form recursive",
            loop=loop.name,
        )
    if form not in ("state", "recursive") and closure.linear is None:
        raise LoopError(
            f"the {form} form is not written for robots with loops that are not parallelograms, "
            f"as {loop.where} of {model.name!r}; take the form state or recursive",
            loop=loop.name,
        )


def notes_on_loops(model: RobotModel) -> Iterator[str]:
    """Which joints are passive, and the closures that they follow from."""
    if not model.loops:
        return
    passive = ", ".join(f"q{i + 1}" for i in model.passive)
    active = ", ".join(f"q{i + 1}" for i in model.independent)
    yield (
        f"the coordinates are the actuated joints {active}; {passive} are passive and follow from "
        "the loops. Numbers are those of joints and links"
    )
    for step in closure_of(model).steps:
        if isinstance(step, LinearDyad):
            yield f"loop {step.dyad.plane.loop.name}, a parallelogram: {_linear(step)}"
        elif isinstance(step, LinearStep):
            yield f"a coupling: {_linear(step)}"
        elif isinstance(step, Follower):
            yield f"a coupling: {_curve(step)}"
        else:
            x, y = _closure(step.plane)
            yield f"loop {step.plane.loop.name}: {x} = 0 and {y} = 0"


def _curve(step: Follower) -> str:
    leader = Symbol(f"q{step.leader + 1}")
    powers = (Number(1.0) if k == 0 else power(leader, k) for k in range(len(step.coefficients)))
    return f"q{step.joint + 1} = {TEXT.write(total(map(_term, step.coefficients, powers)))}"


def _linear(step: LinearStep) -> str:
    equations = []
    for joint, ratios, offset in zip(step.unknown, step.ratios, step.offsets, strict=True):
        terms = (_term(ratio, Symbol(f"q{j + 1}")) for j, ratio in ratios)
        equations.append(f"q{joint + 1} = {TEXT.write(total([*terms, _term(offset)]))}")
    return ", ".join(equations)


def _closure(plane: PlanarLoop) -> tuple[str, str]:
    """Both components of the closure."""
    x, y = [], []
    for segment in plane.segments:
        angle = total(_term(sign, Symbol(f"q{j + 1}")) for j, sign in segment.path)
        turned = Call("cos", (angle,)), Call("sin", (angle,))
        cosine, sine = turned if segment.path else (Number(1.0), ZERO)
        slide = [Symbol(f"q{segment.slide + 1}")] if segment.slide >= 0 else []
        vx, vy = segment.v
        x += [_term(vx, cosine, *slide), _term(-vy, sine, *slide)]
        y += [_term(vx, sine, *slide), _term(vy, cosine, *slide)]
    return TEXT.write(total(x)), TEXT.write(total(y))


def _term(number: float, *factors: Expr) -> Expr:
    return product([Number(float(f"{number:.6g}")), *factors])


SAME_LENGTH = 1e-12
"""Largest difference of lengths that have one name [m]."""
FLOAT_DIGITS = 15
"""Digits of a decimal that a float keeps; more would show how numbers were rounded."""


def passive_joints(
    tree: SymbolicRobot, model: RobotModel, digits: int | None
) -> tuple[list[Block], Block, dict[str, float]]:
    """Lines that give positions, rates and accelerations of passive joints, added to a tree.

    Then the torques at the coordinates from T, those at all joints of the tree, and the lengths of
    the loops by symbol [m].
    """
    closure = closure_of(model)
    writer = _Writer(tree, closure, digits)
    for step in closure.steps:
        writer.add(step)
    given = ("q", "qd", "qdd")
    positions = _positions(model, closure, digits)
    parts = {
        "Sines and cosines of the coordinates": positions.angles,
        "Passive joints": [*positions.variables, *positions.torques],
        "Rates of passive joints": writer.rates,
        "Accelerations of passive joints": writer.changes,
    }
    blocks = [Block("", title, tuple(lines), (), given) for title, lines in parts.items() if lines]
    return blocks, writer.torques(), writer.values


def _positions(model: RobotModel, closure: Closure, digits: int | None) -> Recursive:
    """The closed forms of positions as lines; their last lines are the joints themselves."""
    graph = Graph()
    numbers = [i + 1 for i in model.independent]
    q = LoopCoordinates(closure).at(graph.inputs("q", len(numbers))).q
    passive = node_array(settle([q[i] for i in model.passive]), (len(model.passive),))
    program = Program.from_outputs(passive, {"q": len(numbers)})
    lines = Recursive(program, digits if digits is not None else FLOAT_DIGITS, numbers)
    ends = zip(model.passive, lines.torques, strict=True)
    lines.torques = [Line(f"q{i + 1}", "", line.value) for i, line in ends]
    return lines


@dataclass
class _Writer:
    tree: SymbolicRobot
    closure: Closure
    digits: int | None
    rates: list[Line] = field(default_factory=list)
    changes: list[Line] = field(default_factory=list)
    values: dict[str, float] = field(default_factory=dict)
    rows: dict[int, dict[int, Expr]] = field(default_factory=dict)
    """W of each passive joint by coordinate."""

    def suffix(self, plane: PlanarLoop) -> str:
        """What is behind the lengths of a loop if there are several."""
        names = [loop.name for loop in self.closure.model.loops]
        return f"_{names.index(plane.loop.name) + 1}" if len(self.closure.order) > 1 else ""

    def add(self, dyad: Step) -> None:
        """The lines of the joints of a step more."""
        assert not isinstance(dyad, Follower)  # refused before
        if isinstance(dyad, LinearStep):
            for joint, ratios in zip(dyad.unknown, dyad.ratios, strict=True):
                self._joint(joint, {j: Number(Fraction(r)) for j, r in ratios}, ZERO)
            return
        loop = _Loop(self, dyad.plane)
        closure = loop.closure()
        A = {
            joint: tuple(loop.robot.slope(c, joint) for c in closure) for joint in dyad.plane.joints
        }
        p, r = dyad.unknown
        D = A[p][0] * A[r][1] - A[r][0] * A[p][1]
        parts = factored(loop.robot, D)
        b = loop.rate(loop.rate(closure))
        write = BlockWriter(loop.robot, self.digits)

        def solved(v: Sequence[Trig], first: bool) -> Expr:
            """A row of -adj(A_p) v / D."""
            minor = A[r][1] * v[0] - A[r][0] * v[1] if first else A[p][0] * v[1] - A[p][1] * v[0]
            return write.sum_of(parts.quotients(-minor, 1))

        for joint in (p, r):
            first = joint == p
            known = {j: solved(A[j], first) for j in A if j not in (p, r)}
            self._joint(joint, known, solved(b, first))

    def _joint(self, joint: int, known: Mapping[int, Expr], rest: Expr) -> None:
        """Rate and acceleration of a passive joint from those of joints that are known."""
        columns: dict[int, list[Expr]] = {}
        factors: dict[int, Symbol] = {}
        for j, factor in known.items():
            factors[j] = Symbol(f"W{index(joint + 1, j + 1)}".replace(",", "_"))
            self.rates.append(Line(factors[j].name, "", factor))
            for a, more in self.rows.get(j, {j: Number(Fraction(1))}).items():
                columns.setdefault(a, []).append(product([factors[j], more]))
        self.rows[joint] = {a: total(columns[a]) for a in sorted(columns)}
        self.rates.append(Line(f"qd{joint + 1}", "", _combined(factors, "qd")))
        change = total([_combined(factors, "qdd"), rest])
        self.changes.append(Line(f"qdd{joint + 1}", "", change))

    def torques(self) -> Block:
        """τ = Wᵀ T."""
        lines = []
        for k, a in enumerate(self.closure.model.independent):
            terms: list[Expr] = [Symbol(f"T{a + 1}")]
            for joint, row in self.rows.items():
                if a in row:
                    terms.append(product([row[a], Symbol(f"T{joint + 1}")]))
            lines.append(Line("tau", index(a + 1), total(terms), (k,)))
        return Block("tau", "Torques", tuple(lines), (len(lines),), ("q", "qd", "qdd"))


def _combined(row: Mapping[int, Expr], rate: str) -> Expr:
    return total(product([factor, Symbol(f"{rate}{j + 1}")]) for j, factor in row.items())


class _Loop:
    """The closure of one loop in symbols: a pair of polynomials."""

    def __init__(self, made: _Writer, plane: PlanarLoop):
        self.made, self.plane = made, plane
        self.suffix = made.suffix(plane)
        paths = list(dict.fromkeys(s.path for s in plane.segments if s.path))
        self.places = {path: place for place, path in enumerate(paths)}
        self.lengths = [self._length(segment) for segment in plane.segments]
        symbols = dict.fromkeys(name for pair in self.lengths for name, _ in pair if name)
        joints = range(1, len(made.closure.model.joints) + 1)
        moving = [f"{rate}{j}" for rate in ("q", "qd") for j in joints]
        self.ring = Ring([f"phi{k + 1}" for k in range(len(paths))], [*symbols, *moving])
        sums = {
            k: tuple((j + 1, round(sign)) for j, sign in path) for path, k in self.places.items()
        }
        numbers = tuple(joints)
        values = made.tree.values | made.values
        self.robot = replace(
            made.tree, ring=self.ring, parts=[], sums=sums, values=values, numbers=numbers
        )

    def _length(self, segment: LoopVector) -> list[tuple[str, int]]:
        """Names and signs of both components of a vector; no name: zero."""
        offsets = self.made.tree.offsets
        angle = sum(sign * offsets.get(j + 1, 0.0) for j, sign in segment.path)
        c, s = np.cos(-angle), np.sin(-angle)
        vx, vy = segment.v
        v = float(c * vx - s * vy), float(s * vx + c * vy)
        number = segment.path[-1][0] + 1 if segment.path else 0
        letters = ("l", "h")
        if segment.slide >= 0:
            number, letters = segment.slide + 1, ("ux", "uy")
        return [self._name(letter, number, x) for letter, x in zip(letters, v, strict=True)]

    def _name(self, letter: str, number: int, value: float) -> tuple[str, int]:
        if abs(value) < SAME_LENGTH:
            return "", 0
        sign = 1 if value > 0 else -1
        if letter in ("ux", "uy") and abs(abs(value) - 1) < SAME_LENGTH:
            return "1", sign
        same = self.made.tree.values.get(f"a{number}", 0.0)
        if letter == "l" and abs(same - abs(value)) < SAME_LENGTH:
            return f"a{number}", sign
        name = f"{letter}{number}{self.suffix}"
        while name in self.made.tree.values:  # a letter of the robot's own
            name = f"{letter}{number}_" + name.partition("_")[2] + "0"
        self.made.values[name] = abs(value)
        return name, sign

    def closure(self) -> list[Trig]:
        """Both components of Σ R(θ) v, each v as long as its slide is out."""
        x = y = self.ring.number(0)
        for segment, named in zip(self.plane.segments, self.lengths, strict=True):
            vx, vy = (self._symbol(name) * sign for name, sign in named)
            if segment.slide >= 0:
                slide = self.ring.symbol(f"q{segment.slide + 1}")
                vx, vy = vx * slide, vy * slide
            turn = {self.places[segment.path]: 1} if segment.path else {}
            c, s = self.ring.cos(turn), self.ring.sin(turn)
            x, y = x + c * vx - s * vy, y + s * vx + c * vy
        return [x, y]

    def _symbol(self, name: str) -> Trig:
        if name in ("", "1"):
            return self.ring.number(1 if name else 0)
        return self.ring.symbol(name)

    def rate(self, values: list[Trig]) -> list[Trig]:
        """How fast polynomials change with the rates of the joints, which stay as they are."""
        rates = [(j, self.ring.symbol(f"qd{j + 1}")) for j in self.plane.joints]
        zero = self.ring.number(0)
        return [sum((self.robot.slope(v, j) * qd for j, qd in rates), zero) for v in values]
