"""The equations of motion of a robot, in the form that was asked for, in every format by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from math import inf, isinf
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import check_truth, check_whole
from armdyn.closed_forms import pages, source
from armdyn.closed_forms.blocks import BlockWriter, entries
from armdyn.closed_forms.closed_form import ClosedForm, cartesian_form, in_axes_of_links
from armdyn.closed_forms.document import Block, Document, Line, index, legend, occurring
from armdyn.closed_forms.loops import check_loops, notes_on_loops, passive_joints
from armdyn.closed_forms.printer import Notation, angle_call, angle_identifier
from armdyn.closed_forms.recursive import recursive, with_friction
from armdyn.closed_forms.symbolic_robot import SymbolicRobot, symbolise
from armdyn.closed_forms.tree import Expr, expression, total
from armdyn.errors import ModelError, WriteError, check_known, counted
from armdyn.graph.nodes import Graph, Node
from armdyn.io.atomic import ending, write_text
from armdyn.loops.closure import closure_of
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import FrictionLaw, RobotModel
from armdyn.report.result import parts_of, plain_data
from armdyn.robot import Robot, check_robot
from armdyn.shorten.canonical.parameters import parameters

FORMATS = ("text", "latex", "markdown", "sympy", "python")
_SUFFIXES = {".txt": "text", ".tex": "latex", ".md": "markdown", ".py": "python"}


@dataclass(frozen=True, slots=True, repr=False)
class Equations(Document):
    """The equations of motion of a robot in a form for reading."""

    text = __str__ = pages.text
    latex = pages.latex
    markdown = _repr_markdown_ = pages.markdown
    sympy = source.sympy
    python = source.python
    _repr_html_ = pages.html
    _repr_latex_ = pages.displayed

    def __repr__(self) -> str:
        shapes = (f"{b.symbol}{list(b.shape) if b.shape else ''}" for b in self.blocks if b.symbol)
        return f"<Equations of {self.robot}, {self.form} form: {', '.join(shapes)}>"

    def to(self, format: str) -> str:
        """The equations in one of `FORMATS`."""
        written: str = getattr(self, format_of(format, None))()
        return written

    def save(self, path: str | Path, format: str | None = None) -> None:
        """Write a file, whole or not at all.

        The format is one of `FORMATS`; None: by the ending, .txt, .tex, .md or .py (functions).
        """
        write_text(path, self.to(format_of(format, path)))

    def data(self) -> dict[str, Any]:
        """The equations as plain data, entries in the notation of SymPy, with flags and notes."""
        printed = source.notation({})
        return {
            **parts_of(self, "robot", "title", "form"),
            "law": self.law[0],
            "joints": list(self.joints),
            "notes": list(self.notes),
            "operations": None
            if self.operations is None
            else dict(zip(("multiplications", "additions"), self.operations, strict=True)),
            "angles": {
                angle_identifier(f): printed.write(angle_call(f, self.offsets))
                for f in sorted(self.angle_functions, key=angle_identifier)
            },
            "values": self.values,
            "blocks": [_block(block, printed) for block in self.blocks],
        }


def format_of(format: str | None, path: str | Path | None) -> str:
    """The format that was named, or that of a file by its ending, or text."""
    if format is not None:
        check_known("format of equations", format, FORMATS)
        return format
    suffix = "" if path is None else ending(path, ".txt")
    if path is not None and suffix not in _SUFFIXES:
        raise WriteError(
            f"cannot tell the format of {str(path)!r}; let it end in {', '.join(_SUFFIXES)}, "
            f"or name one of {', '.join(FORMATS)}"
        )
    return _SUFFIXES.get(suffix, "text")


def _block(block: Block, printed: Notation) -> dict[str, Any]:
    parts = parts_of(block, "symbol", "title", "shape", "arguments", "remarks")
    entries = [
        {"name": line.name, "place": [k + 1 for k in line.place]}
        | {"value": printed.write(line.value), **parts_of(line, "zero", "constant")}
        for line in block.lines
    ]
    return plain_data(parts | {"symmetric_axes": block.swap, "entries": entries})


MOST_TERMS = 2000
"""A closed form with more terms is replaced by the recursive program."""
MOST_PRODUCTS = 400_000
"""A closed form is given up after this many products of terms, times angles."""
COUNTED_EXCESS = 2
"""Counting stops at this many times the terms that are allowed."""
MOST_DIGITS = 17

LAWS = {
    "state": ("tau = M qdd + V + G", r"\tau = M \ddot{q} + V + G"),
    "configuration": (
        "tau = M qdd + B [qd qd] + C [qd²] + G",
        r"\tau = M \ddot{q} + B [\dot{q} \dot{q}] + C [\dot{q}^{2}] + G",
    ),
    "christoffel": (
        "V_i = sum over k, m of h_ikm qd_k qd_m",
        r"V_{i} = \sum_{k,m} h_{ikm} \dot{q}_{k} \dot{q}_{m}",
    ),
    "energy": ("E = T + U", r"E = T + U"),
    "cartesian": ("F = Mx xdd + Vx + Gx", r"F = M_{x} \ddot{x} + V_{x} + G_{x}"),
    "recursive": (
        "tau = M qdd + V + G, as a program of few operations",
        r"\tau = M \ddot{q} + V + G",
    ),
}
FORMS = tuple(LAWS)
TURNED_LAW = ("F = R (Mt R^T xdd + Vt + Gt)", r"F = R (M_{t} R^{T} \ddot{x} + V_{t} + G_{t})")
"""The law of the Cartesian form that is written in axes of a link."""
WITH_FRICTION = ("state", "configuration", "recursive")


def equations(
    robot: Robot | RobotModel,
    form: str = "state",
    *,
    letters: Mapping[str, str] | None = None,
    values: bool = False,
    digits: int = 6,
    frame: str = "world",
    closed: bool = False,
) -> Equations:
    """The equations of motion of a robot, to be read or put into other programs.

    Args:
        robot: The robot; joints that follow others count as joints of their own.
        form: "state" (M, V, G), "configuration" (M, B, C, G), "christoffel", "energy",
            "cartesian" (of the tool) or "recursive" (the shortest program).
        letters: What parameters are called, {"a1": "l", "x1": "l/2"}; None: as in the robot's file.
        values: Whether numbers stand in place of parameters.
        digits: Significant digits of these, 1 to 17.
        frame: Axes of the Cartesian form, "world" or "tool".
        closed: Whether to write closed forms of any length, which may take minutes.

    Returns:
        The equations; `.text()`, `.latex()`, `.markdown()`, `.sympy()`, `.python()`, `.data()`,
        `.save(path)`. Where the closed form would have more than 2,000 terms it is the recursive
        program, and a note says so.

    Example:
        >>> print(equations(load("two_link")).text())  # doctest: +SKIP
    """
    model = _checked(robot, form, digits)
    shown = digits if check_truth("values", values) else None
    if form == "recursive":
        return _recursive(model, shown)
    symbolic = symbolise(model, letters)
    if not check_truth("closed", closed):
        symbolic.ring.budget = MOST_PRODUCTS // max(1, len(symbolic.ring.angles))
    made, writer = ClosedForm(symbolic), BlockWriter(symbolic, shown)
    letters = model.letters if letters is None else letters
    try:
        if form == "cartesian":
            law, blocks, notes = _cartesian(model, writer, frame, closed)
            written = _document(model, form, blocks, shown, notes, symbolic, letters)
            return replace(written, law=law)
        length = "" if closed else _too_long(form, made, writer)
    except OverflowError:
        length = f"more than {MOST_TERMS:,} terms"
    if length:
        return _recursive(model, shown, (form, length))
    if not coordinates_of(model).is_linear:
        return _looped(model, writer.blocks(form, made), shown, symbolic, letters)
    return _document(model, form, writer.blocks(form, made), shown, (), symbolic, letters)


def _checked(robot: Any, form: str, digits: int) -> RobotModel:
    model = check_robot(robot, floats=True).model
    if model.floating:
        raise ModelError(
            f"nothing holds the base {model.base_link.name!r} of {model.name!r}, and equations of "
            "that fill pages; robot.free_base has their numbers, armdyn.load(..., fix_root=True) "
            "(--fix-root) holds the base, and with_base_joints (--base-joints x,y,rz) lets it move "
            "in a plane"
        )
    check_known("form of the equations", form, FORMS)
    check_whole("digits", digits, 1, MOST_DIGITS)
    if not model.joints:
        raise ModelError(f"robot {model.name!r} has no moving joint, so no equations of motion")
    check_loops(model, form)
    return model


def _too_long(form: str, closed: ClosedForm, writer: BlockWriter) -> str:
    """How long the closed form is, if that is too long; told as soon as it is known."""
    count, left = 0, entries(form, closed)
    while part := list(islice(left, closed.robot.n)):
        if sum(map(len, part)) > COUNTED_EXCESS * MOST_TERMS:
            return f"more than {MOST_TERMS:,} terms"
        count += sum(map(writer.terms, part))
        if count > COUNTED_EXCESS * MOST_TERMS:
            return f"more than {count:,} terms"
    return f"{count:,} terms" if count > MOST_TERMS else ""


def _cartesian(
    model: RobotModel, writer: BlockWriter, frame: str, closed: bool
) -> tuple[tuple[str, str], list[Block], tuple[str, ...]]:
    """Law, blocks and notes of the form of the tool."""
    form, law = cartesian_form(writer.robot, model, frame), LAWS["cartesian"]
    notes: tuple[str, ...] = (f"X = ({', '.join(form.task)}) of the tool in axes of the {frame}",)
    if not form.closed:
        form = min([form, *in_axes_of_links(form, model)], key=lambda form: form.products)
    if form.closed or (closed and form.products < inf):
        writer.robot.ring.budget = inf  # the products are counted already
        if form.link is not None:
            law, link = TURNED_LAW, form.link + 1
            notes += (
                f"R turns axes of link {link} into those of the world, and Mx = R Mt R^T, "
                "Vx = R Vt, Gx = R Gt",
            )
        return law, writer.task(form), notes
    anyway = "; --closed (closed=True) writes it anyway" if form.products < inf else ""
    formulas = (
        "too long to write out: Mx = J^-T M J^-1, Vx = J^-T (V - M J^-1 Jd qd), Gx = J^-T G, with "
        f"M, V and G of the state form{anyway}"
    )
    return law, writer.jacobian(form), (*notes, formulas)


def _document(
    model: RobotModel,
    form: str,
    blocks: list[Block],
    digits: int | None,
    notes: tuple[str, ...],
    symbolic: SymbolicRobot | None = None,
    letters: Mapping[str, str] | None = None,
    values: Mapping[str, float] | None = None,
    operations: tuple[int, int] | None = None,
    whole_tree: bool = False,
) -> Equations:
    """The blocks with friction, legend and notes."""
    law, known = LAWS[form], dict(values or {})
    if symbolic is not None:
        known |= symbolic.values
    apart = form in WITH_FRICTION and not (form == "recursive" and with_friction(model))
    rubbing = _friction(model, digits, whole_tree) if apart else None
    if rubbing is not None:
        blocks = [*blocks, rubbing[0]]
        known |= rubbing[1]
        law = law[0].replace("+ G", "+ G + F"), f"{law[1]} + F"
    names = set() if digits is not None else occurring(blocks)
    every = whole_tree or not model.loops
    joints = range(len(model.joints)) if every else model.independent
    return Equations(
        robot=model.name,
        title=model.title or model.name,
        form=form,
        joints=tuple(model.joints[i].name for i in joints),
        units=tuple(model.joints[i].type.unit for i in joints),
        law=law,
        blocks=tuple(blocks),
        offsets={} if symbolic is None else symbolic.offsets,
        legend=legend(names, known, letters or {}, parameters(model)),
        notes=(*notes, *_notes_on_joints(model)),
        operations=operations,
        numbers=tuple(i + 1 for i in joints),
        passive=tuple(i + 1 for i in model.passive) if whole_tree else (),
    )


def _friction(
    model: RobotModel, digits: int | None, whole_tree: bool = False
) -> tuple[Block, dict[str, float]] | None:
    """Friction of each coordinate as it is written, with the values of its symbols; None without.

    With the whole tree it is that of every joint; else passive joints follow linearly.
    """
    if model.is_frictionless:
        return None
    values: dict[str, float] = {}
    n = len(model.joints)
    linear = None if whole_tree or not model.loops else closure_of(model).linear
    K = np.eye(n) if linear is None else linear[0]
    numbers = range(n) if linear is None else model.independent
    graph, laws = Graph(), [list[Expr]() for _ in numbers]
    rates = [graph.input(f"qd{k + 1}") for k in numbers]
    owners = zip(model.driven, np.concatenate([K, model.drive_ratios @ K]), strict=True)
    for number, (owner, ratios) in enumerate(owners, 1):
        turns = np.flatnonzero(ratios)
        rate = sum((rates[a] * float(ratios[a]) for a in turns), graph.number(0))
        for row in _law(graph, number, owner.friction, rate, digits, values):
            for a in turns:
                laws[a].append(expression(row * float(ratios[a])))
    sums = enumerate(map(total, laws))
    lines = tuple(Line("F", index(numbers[a] + 1), law, (a,)) for a, law in sums)
    return Block("F", "Friction", lines, (len(lines),), ("qd",)), values


def _law(
    graph: Graph, i: int, law: FrictionLaw, rate: Node, digits: int | None, values: dict[str, float]
) -> Iterable[Node]:
    """The law of joint or drive i, with symbols or rounded numbers; `values` gets their values."""

    def number(letter: str, value: float) -> Any:
        if not value or isinf(value):
            return value
        values[name := f"{letter}{i}"] = value
        return graph.parameter(name) if digits is None else float(f"{value:.{digits}g}")

    return law.rows(rate, rate.sign(), number).values()


def _looped(
    model: RobotModel,
    blocks: list[Block],
    digits: int | None,
    symbolic: SymbolicRobot,
    letters: Mapping[str, str] | None,
) -> Equations:
    """The equations of the tree with those of its passive joints."""
    passive, torques, values = passive_joints(symbolic, model, digits)
    every = [*passive, *blocks]
    tree = _document(model, "state", every, digits, (), symbolic, letters, values, whole_tree=True)
    friction = " + F" if tree.has("F") else ""
    torques = replace(torques, title=f"Torques, with T = M qdd + V + G{friction}")
    law = (
        f"tau = W^T (M qdd + V + G{friction}), qdd of all joints",
        rf"\tau = W^{{T}} (M \ddot{{q}} + V + G{friction})",
    )
    return replace(tree, law=law, blocks=(*tree.blocks, torques))


def _notes_on_joints(model: RobotModel) -> Iterator[str]:
    if followers := [joint.name for joint in model.joints if joint.mimic is not None]:
        yield (
            f"{', '.join(followers)} follow other joints in this robot; here every moving joint is "
            "a coordinate of its own"
        )
    names = [joint.name for joint in model.joints]
    for number, drive in enumerate(model.drives, len(names) + 1):
        terms = (f"{ratio:g} q{names.index(joint) + 1}" for joint, ratio in drive.ratios)
        yield f"number {number} is the drive {drive.name}, which turns with {' + '.join(terms)}"
    yield from notes_on_loops(model)
    for spring in model.springs:
        yield f"the spring {spring.name} is not in these equations; its torques are added to G"


def _recursive(model: RobotModel, digits: int | None, instead: tuple[str, ...] = ()) -> Equations:
    """The shortest program, with a note if it stands in for another form."""
    program = recursive(model, digits)
    done = program.operations
    notes = [
        f"{done.mul} multiplications and {done.add} additions for the links, "
        f"{program.rotors.total} more for rotors, and {done.trig} pairs of sine and cosine; "
        "what depends on constants alone is not counted"
    ]
    if with_friction(model):
        notes.append("friction is in the program, with numbers in place of its parameters")
    if digits is None:
        notes.append("parameters that are 0, 1 or -1 in this robot are written as these numbers")
    if instead:
        form, length = instead
        notes.insert(
            0,
            f"the {form} form would have {length}, so this is a program for the "
            f"joint torques, {counted(done.total, 'operation')}; --closed (closed=True) writes it "
            "anyway",
        )
    return _document(
        model,
        "recursive",
        list(program.blocks()),
        digits,
        tuple(notes),
        values=program.values,
        operations=(done.mul, done.add),
    )
