"""The equations of motion of a robot, in the form that was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from math import inf
from typing import Any

from armdyn.arrays import check_truth
from armdyn.equations.blocks import BlockWriter, entries
from armdyn.equations.cartesian import cartesian_form, in_axes_of_links
from armdyn.equations.closed_form import ClosedForm
from armdyn.equations.document import Block, occurring
from armdyn.equations.dyad_form import passive_joints
from armdyn.equations.formats import Equations
from armdyn.equations.friction import friction
from armdyn.equations.loops import check_loops, notes_on_loops
from armdyn.equations.meaning import legend
from armdyn.equations.recursive import recursive, with_friction
from armdyn.equations.reduced_form import reduced_form
from armdyn.equations.symbolic_robot import SymbolicRobot
from armdyn.equations.symbolise import symbolise
from armdyn.errors import ModelError, check_known, counted, shown
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel
from armdyn.robot import Robot
from armdyn.shorten.canonical.parameters import parameters

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
    made = ClosedForm(symbolic)
    linear = coordinates_of(model).is_linear
    if model.loops and linear:
        made = reduced_form(symbolic, model)
        symbolic = made.robot
    writer = BlockWriter(symbolic, shown)
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
    if not linear:
        return _looped(model, writer.blocks(form, made), shown, symbolic, letters)
    return _document(model, form, writer.blocks(form, made), shown, (), symbolic, letters)


def _checked(robot: Any, form: str, digits: int) -> RobotModel:
    if not isinstance(robot, Robot | RobotModel):
        raise ModelError(f"equations are those of a Robot, got {shown(robot)}; load it first")
    check_known("form of the equations", form, FORMS)
    if isinstance(digits, bool) or not isinstance(digits, int) or not 1 <= digits <= MOST_DIGITS:
        raise ModelError(f"digits are a whole number from 1 to {MOST_DIGITS}, got {shown(digits)}")
    model = robot.model if isinstance(robot, Robot) else robot
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
    rubbing = friction(model, digits, whole_tree) if _has_friction_block(model, form) else None
    if rubbing is not None:
        blocks = [*blocks, rubbing[0]]
        known |= rubbing[1]
        law = law[0].replace("+ G", "+ G + F"), f"{law[1]} + F"
    names = set() if digits is not None else occurring(blocks)
    joints = _shown_joints(model, whole_tree)
    return Equations(
        robot=model.name,
        title=model.title or model.name,
        form=form,
        joints=tuple(model.joints[i].name for i in joints),
        units=tuple(model.joints[i].type.unit for i in joints),
        law=law,
        blocks=tuple(blocks),
        offsets={} if symbolic is None else symbolic.shifts,
        legend=legend(names, known, letters or {}, parameters(model)),
        notes=(*notes, *_notes_on_joints(model)),
        operations=operations,
        numbers=tuple(i + 1 for i in joints) if model.loops else (),
        passive=tuple(i + 1 for i in model.passive) if whole_tree else (),
    )


def _has_friction_block(model: RobotModel, form: str) -> bool:
    """Whether friction is written apart."""
    return form in WITH_FRICTION and not (form == "recursive" and with_friction(model))


def _shown_joints(model: RobotModel, whole_tree: bool) -> Sequence[int]:
    """The joints whose positions the equations have."""
    return range(len(model.joints)) if whole_tree or not model.loops else model.independent


def _looped(
    model: RobotModel,
    blocks: list[Block],
    digits: int | None,
    symbolic: SymbolicRobot,
    letters: Mapping[str, str] | None,
) -> Equations:
    """The equations of the tree with those of its passive joints."""
    tree = _document(model, "state", blocks, digits, (), symbolic, letters, whole_tree=True)
    found = passive_joints(symbolic, model, tree.offsets, digits)
    friction = " + F" if any(block.symbol == "F" for block in tree.blocks) else ""
    torques = replace(found.torques, title=f"Torques, with T = M qdd + V + G{friction}")
    known = symbolic.values | found.values | {x.symbol: x.value for x in tree.legend}
    every = (*found.blocks, *tree.blocks, torques)
    names = set() if digits is not None else occurring(every) & known.keys()
    return replace(
        tree,
        law=(
            f"tau = W^T (M qdd + V + G{friction}), qdd of all joints",
            rf"\tau = W^{{T}} (M \ddot{{q}} + V + G{friction})",
        ),
        blocks=every,
        legend=legend(names, known, letters or {}, parameters(model)),
    )


def _notes_on_joints(model: RobotModel) -> Iterator[str]:
    yield from _note_on_followers(model)
    yield from _notes_on_drives(model)
    yield from notes_on_loops(model)
    for spring in model.springs:
        yield f"the spring {spring.name} is not in these equations; its torques are added to G"


def _note_on_followers(model: RobotModel) -> tuple[str, ...]:
    followers = [joint.name for joint in model.joints if joint.mimic is not None]
    note = (
        f"{', '.join(followers)} follow other joints in this robot; here every moving joint is a "
        "coordinate of its own"
    )
    return (note,) if followers else ()


def _notes_on_drives(model: RobotModel) -> Iterator[str]:
    names = [joint.name for joint in model.joints]
    for number, drive in enumerate(model.drives, len(names) + 1):
        terms = (f"{ratio:g} q{names.index(joint) + 1}" for joint, ratio in drive.ratios)
        yield f"number {number} is the drive {drive.name}, which turns with {' + '.join(terms)}"


def _recursive(model: RobotModel, digits: int | None, instead: tuple[str, ...] = ()) -> Equations:
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
