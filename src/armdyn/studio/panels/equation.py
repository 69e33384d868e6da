"""The equation of one joint, live: typeset, its terms in the colours of the bars, with numbers."""

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.closed_forms.forms import equations
from armdyn.closed_forms.mathml import formula, name
from armdyn.report.figures import COLOURS as TERMS
from armdyn.robot import Robot
from armdyn.studio import svg
from armdyn.studio.arm import Arm, Snapshot
from armdyn.studio.background import Latest, Tell
from armdyn.studio.panel import Panel
from armdyn.studio.panels.closed_form import Written, indexed, numbers_html, symbols_html
from armdyn.studio.panels.side_by_side import formulations_html
from armdyn.studio.session import Session
from armdyn.studio.style import WORDS
from armdyn.study.structure.structure import structure

SLOW_PERIOD = 0.2
"""The shortest time between two pictures of the closed form with numbers [s]."""
FEW_SUMMANDS = 3
"""Summands that are written beside the other terms; more are a sum there."""
ZERO_ELEMENT = 1e-9
"""An element of the mass matrix below this part of the largest is zero."""


class EquationPanel(Panel):
    """The equation of the joint that is chosen."""

    def __init__(self, session: Session):
        self._session = session
        gui = session.client.gui
        self._choice: Any = gui.add_dropdown("joint", ("joint1",))
        self._now = gui.add_html("")
        write = gui.add_button("Write out its terms and zeros")
        self._symbols = gui.add_html("")
        self._numbers = gui.add_html("")
        beside = gui.add_button("Formulations side by side")
        guarded = session.guard(self._substitute)
        self._slow = Latest(lambda: guarded(None), SLOW_PERIOD)
        self._written: Written | None = None
        self._last: Snapshot | None = None
        self._choice.on_update(session.guard(lambda _: self._again()))
        write.on_click(session.guard(self._write))
        beside.on_click(session.guard(self._compare))

    def enter(self, arm: Arm) -> None:
        """Begin with the second joint, which usually carries most."""
        names = arm.robot.joint_names
        self._written, self._symbols.content, self._numbers.content = None, "", ""
        self._last = None
        self._choice.options = names
        self._choice.value = names[min(1, len(names) - 1)]

    def show(self, snapshot: Snapshot) -> None:
        """Put the numbers of a state into the equation."""
        self._last, i = snapshot, self.joint
        unit = self._session.arm.robot.model.joints[
            self._session.arm.robot.model.independent[i]
        ].type.torque_unit
        self._now.content = svg.framed(equation_html(i, snapshot, unit), "equation")
        self._slow.ask()

    def close(self) -> None:
        """Write no more."""
        self._slow.stop()

    def _substitute(self, _: Any = None) -> None:
        """Write the numbers of the last state into the closed form, which may take a moment."""
        written, snapshot = self._written, self._last
        if written is None or snapshot is None or not written.readable:
            return
        state = snapshot.state
        at = {f"q{k + 1}": float(x) for k, x in enumerate(state.q)}
        at |= {f"qd{k + 1}": float(x) for k, x in enumerate(state.qd)}
        drawn = svg.framed(numbers_html(written.closed, self.joint, at, state.payload), "numbers")
        if written is self._written:  # no other robot came meanwhile
            self._numbers.content = drawn

    @property
    def joint(self) -> int:
        """The joint that is chosen, from 0."""
        names = self._session.arm.robot.joint_names
        return names.index(self._choice.value) if self._choice.value in names else 0

    def select(self, joint: int) -> None:
        """Choose a joint."""
        self._choice.value = self._session.arm.robot.joint_names[joint]
        self._again()

    def _again(self) -> None:
        if self._written is not None:
            self._symbols.content = svg.framed(symbols_html(self._written, self.joint), "symbols")
        if self._last is not None and len(self._last.total) == self._session.arm.robot.n:
            self.show(self._last)

    def _write(self, _: Any) -> None:
        def work(robot: Robot, tell: Tell) -> Written:
            tell("looking for zeros")
            found = structure(robot.model)
            tell("writing the equations")
            return Written(equations(robot), found)

        def done(written: Written) -> None:
            self._written = written
            self._again()

        self._session.study("writing the equations", work, done)

    def _compare(self, _: Any) -> None:
        state, joint = self._session.state, self.joint

        def work(robot: Robot, tell: Tell) -> str:
            held = robot.with_payload(state.payload) if state.payload else robot
            return formulations_html(held, joint, state.q, state.qd, state.qdd, tell)

        self._session.study("comparing formulations", work, self._open)

    def _open(self, html: str) -> None:
        gui = self._session.client.gui
        with gui.add_modal("One torque, by every formulation") as modal:
            gui.add_html(html)
            gui.add_button("Close").on_click(self._session.guard(lambda _: modal.close()))


def equation_html(i: int, snapshot: Snapshot, unit: str) -> str:
    """τ_i as the sum of its terms, and the sum with the numbers of a state."""
    largest = float(np.abs(snapshot.ledger.total).max()) or 1.0
    rows = _rows(i, snapshot)
    whole = "<mo>+</mo>".join(
        f"<mrow style='border-bottom:3px solid {TERMS[row.term]}'>{row.short}</mrow>"
        for row in rows
    )
    value = float(snapshot.ledger.total[i])
    head = formula(f"<mrow>{name(f'tau{i + 1}')}<mo>=</mo>{whole}</mrow>")
    lines = "".join(_line(row, largest, unit) for row in rows)
    return (
        f"<div style='overflow-x:auto;padding:4px 0;font-size:14px'>{head}</div>{lines}"
        f"<div style='border-top:1px solid;padding-top:3px;display:flex'><b style='flex:1'>"
        f"{formula(name(f'tau{i + 1}'))}</b><b class='armdyn-sum' "
        f"data-value='{value!r}'>{svg.number(value, 4, largest)} {unit}</b></div>"
    )


@dataclass(frozen=True, slots=True)
class _Row:
    """A term of the equation of a joint."""

    term: str
    value: float
    symbols: tuple[str, ...]
    """Its summands as MathML."""
    numbers: str = ""
    """The same with the numbers of a state."""
    joint: int = 0

    @property
    def short(self) -> str:
        """Its symbols, or the sign of a sum where there are many."""
        if len(self.symbols) <= FEW_SUMMANDS:
            return "<mo>+</mo>".join(self.symbols)
        sum_ = "<munder><mo>∑</mo><mi>j</mi></munder>"
        index = f"<mrow><mn>{self.joint + 1}</mn><mi>j</mi></mrow>"
        speed = "<mover><mi>q</mi><mo>¨</mo></mover>"
        return f"{sum_}<msub><mi>M</mi>{index}</msub><msub>{speed}<mi>j</mi></msub>"


def _rows(i: int, snapshot: Snapshot) -> list[_Row]:
    """The terms of the equation of a joint; those of friction where they act."""
    ledger, M = snapshot.ledger, snapshot.mass_matrix
    inertial = float(ledger.inertial[i] + ledger.rotor[i])
    sums, values = _inertial(i, M, snapshot.state.qdd) if M is not None else (("(M q̈)",), "")
    rows = [
        _Row("inertial", inertial, sums, values, i),
        _Row("coriolis", float(ledger.coriolis[i]), (indexed("V", i),)),
        _Row("gravity", float(ledger.gravity[i]), (indexed("G", i),)),
    ]
    for term in ("viscous", "coulomb", "stribeck", "offset", "external"):
        value = float(getattr(ledger, term)[i])
        if value:
            rows.append(_Row(term, value, (f"<mtext>{WORDS[term]}</mtext>",)))
    return rows


def _inertial(i: int, M: Array, qdd: Array) -> tuple[tuple[str, ...], str]:
    """Σ M_ij q̈_j in symbols, and with numbers; elements that are zero now are left out."""
    largest = float(np.abs(M).max()) or 1.0
    acting = [j for j in range(len(M)) if abs(M[i, j]) > ZERO_ELEMENT * largest]
    symbols = tuple(indexed("M", i, j) + name(f"qdd{j + 1}") for j in acting)
    numbers = " + ".join(
        f"{svg.number(float(M[i, j]))}·{_bracketed(float(qdd[j]))}" for j in acting
    )
    return symbols or ("<mn>0</mn>",), numbers


def _line(row: _Row, largest: float, unit: str) -> str:
    """A term with its value; summands stay whole where the line breaks."""
    signed = (f"<mo>+</mo>{symbols}" if k else symbols for k, symbols in enumerate(row.symbols))
    summands = " ".join(map(formula, signed))
    word = WORDS.get(row.term, row.term)
    named = "" if word in row.symbols[0] else f"<div class='ad-small'>{word}</div>"
    numbers = f"<div class='ad-small'>{escape(row.numbers)}</div>" if row.numbers else ""
    value = f"{svg.number(row.value, 4, largest)} {unit}"
    return (
        f"<div style='border-left:4px solid {TERMS[row.term]};padding:2px 0 2px 8px;margin:3px 0;"
        f"display:flex;gap:8px'><div style='flex:1;min-width:0'>{summands}{named}{numbers}</div>"
        f"<div style='white-space:nowrap' data-term='{row.term}'>{value}</div></div>"
    )


def _bracketed(value: float) -> str:
    words = svg.number(value)
    return f"({words})" if value < 0 else words
