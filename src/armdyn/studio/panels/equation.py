"""The equation of one joint, live: typeset, its terms in the colours of the bars, with numbers.

The closed form comes in symbols and with numbers, with the reason of each zero; a window over the
page has every formulation side by side.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.closed_forms import pages
from armdyn.closed_forms.document import Line, index
from armdyn.closed_forms.forms import Equations, equations
from armdyn.closed_forms.pages import formula, from_latex, left_side, mathml, name
from armdyn.errors import ArmdynError
from armdyn.quantities.formulations import FORMULATIONS
from armdyn.report.figures import COLOURS as TERMS
from armdyn.robot import Robot
from armdyn.studio import marks
from armdyn.studio.arm import Arm, Snapshot, holding
from armdyn.studio.background import Latest, Tell
from armdyn.studio.session import Panel, Session
from armdyn.studio.style import WORDS
from armdyn.study.operations.count import count_operations
from armdyn.study.structure.structure import Structure, structure

MAX_SUBSTITUTED = 9000
"""Characters of a formula beyond which its numbers are not written out."""
BLOCKS = {"M": "inertial", "V": "coriolis", "G": "gravity", "F": "viscous"}
"""The term of the ledger whose colour each block of a closed form has."""


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """What is known of the equations of an arm."""

    closed: Equations
    """In closed form, or the program where that is too long to be read."""
    structure: Structure

    @property
    def readable(self) -> bool:
        """Whether there is a closed form."""
        return self.closed.form == "state"


def indexed(letter: str, *places: int) -> str:
    """A letter with numbers of joints below it, from 0."""
    return from_latex(f"{letter}_{{{index(*(k + 1 for k in places))}}}")


def symbols_html(written: Written, i: int) -> str:
    """The closed form of a joint's terms, and for each element that is zero the reason."""
    parts = []
    if written.readable:
        for block, line in _lines(written.closed, i):
            drawn = formula(f"{from_latex(left_side(line))}<mo>=</mo>{mathml(line.value)}")
            parts.append(_coloured(BLOCKS[block], f"<div style='overflow-x:auto'>{drawn}</div>"))
    else:
        notes = " ".join(written.closed.notes)
        parts.append(f"<div style='opacity:.8'>{escape(notes)}</div>")
    parts += [
        f"<details class='armdyn-why'><summary style='cursor:pointer'>{formula(symbol)} "
        f"<b>= 0</b>: why is this zero?</summary><div style='padding:2px 0 6px 14px'>"
        f"{escape(reason)}</div></details>"
        for symbol, reason in _zeros(written.structure, i)
    ]
    return "".join(parts) + (pages.where_html(written.closed) if written.readable else "")


def _lines(closed: Equations, i: int) -> list[tuple[str, Line]]:
    """The lines of the blocks that are in the torque of a joint, those that are zero left out."""
    found = []
    for block in closed.blocks:
        if block.symbol in BLOCKS:
            for line in block.shown:
                if (i in line.place) if block.symbol == "M" else line.place[:1] == (i,):
                    found.append((block.symbol, line))
    return found


def _coloured(term: str, content: str) -> str:
    line = f"border-left:4px solid {TERMS[term]};padding:2px 0 2px 8px;margin:4px 0"
    return f"<div style='{line}'>{content}</div>"


def _zeros(found: Structure, i: int) -> list[tuple[str, str]]:
    """The elements of the equation of a joint that vanish for every pose, with the reasons."""
    if i >= len(found.g):
        return []
    elements = [(indexed("M", i, j), element) for j, element in enumerate(found.D[i])]
    elements.append((indexed("G", i), found.g[i]))
    elements += [(indexed("h", i, k, k), found.h[i][k][k]) for k in range(len(found.D))]
    return [(symbol, e.reason) for symbol, e in elements if e.status == "zero" and e.reason]


def numbers_html(closed: Equations, i: int, at: Mapping[str, float], payload: float) -> str:
    """The closed form of a joint's terms with numbers in place of every symbol, and its values."""
    if payload:
        return (
            "<div style='opacity:.75'>The equations are those of the arm that holds nothing.</div>"
        )
    parts = []
    values = {**closed.values, **at}
    for block, line in _lines(closed, i):
        written = pages.substituted(closed, line.value, values, marks.number)
        value = pages.evaluated(closed, line.value, values)
        shown = f"<mo>=</mo>{written}" if len(written) < MAX_SUBSTITUTED else ""
        content = formula(
            f"{from_latex(left_side(line))}{shown}<mo>=</mo><mn>{marks.number(value, 4)}</mn>"
        )
        data = f"<div data-line='{escape(line.name)}' data-value='{value!r}'"
        parts.append(_coloured(BLOCKS[block], f"{data} style='overflow-x:auto'>{content}</div>"))
    return "".join(parts)


LAWS = {
    "newton_euler": (
        "F_i = m_i v̇_C , N_i = I_i ω̇_i + ω_i × I_i ω_i",
        "f_i = F_i + f_k , n_i = N_i + n_k + P_C × F_i + P × f_k , τ_i = n_i · z_i",
    ),
    "newton_euler_base": ("the same outward and inward, all vectors in axes of the base", ""),
    "newton_euler_link": ("the same outward and inward, vectors in axes of the links", ""),
    "lagrange_euler": (
        "τ_i = Σ_k D_ik q̈_k + Σ_km h_ikm q̇_k q̇_m + c_i",
        'D_ik = Σ_j "Tr" ( U_jk J_j U_ji^ᵀ ) , U_ij = ∂ A_i / ∂ q_j',
    ),
    "dalembert": (
        "τ = ( D_rot + D_tran ) q̈ + h_rot + h_tran + c",
        "D_tran = Σ_s m_s J_v · J_v , c = − g · Σ_s m_s J_v",
    ),
    "denoc": (
        "τ = N_d^ᵀ N_l^ᵀ ( M ṫ + Ω M t − w ) , t = N_l N_d q̇",
        "",
    ),
    "denoc_recursive": ("the same complement, link by link outward and inward", ""),
    "augmented_body": (
        "m_i^* = m_i + Σ m_k^* , u_i^* = m_i d_i + Σ m_k^* p_k",
        "τ_i = z_i · Σ ( u_i^* × α_i + K_i^* ω̇_i + ω_i × K_i^* ω_i )",
    ),
    "augmented_body_intrinsic": ("the same augmented bodies, in axes of the world", ""),
    "minimal": ("base parameters alone, in the fewest operations that were found", ""),
}
"""How each formulation writes the torque, in one or two lines; those without = are words."""


def formulations_html(robot: Robot, joint: int, q: Array, qd: Array, qdd: Array, tell: Tell) -> str:
    """A table of every formulation: equation, operations as written, torque of a joint now."""
    rows = []
    for method in FORMULATIONS:
        tell(f"computing by {method.replace('_', ' ')}")
        try:
            tau = robot.inverse_dynamics(q, qd, qdd, formulation=method, friction=False)
            stage = "minimal" if method == "minimal" else "written"
            counts = count_operations(robot, stage=stage, formulation=method)
            operations = f"{counts.mul} mul + {counts.add} add"
            value = f"<b data-formulation='{method}' data-value='{float(tau[joint])!r}'>"
            value += f"{float(tau[joint]):.9g}</b>"
        except ArmdynError as error:
            operations = ""
            value = f"<span style='opacity:.7'>{escape(str(error))}</span>"
        rows.append(
            f"<tr style='border-top:1px solid rgba(128,128,128,.3);vertical-align:top'>"
            f"<td style='padding:6px 12px 6px 0;font-weight:650'>{method.replace('_', ' ')}</td>"
            f"<td style='padding:6px 12px 6px 0'>{_law(method)}</td>"
            f"<td style='padding:6px 12px 6px 0;white-space:nowrap'>{operations}</td>"
            f"<td style='padding:6px 0'>{value}</td></tr>"
        )
    unit = robot.model.joints[robot.model.independent[joint]].type.torque_unit
    return (
        "<div class='armdyn-formulations' style='max-height:70vh;overflow:auto;font-size:13px'>"
        "<table style='border-collapse:collapse;width:100%'><tr style='opacity:.7'>"
        "<td>formulation</td><td>its equations</td><td>operations as written</td>"
        f"<td>{escape(robot.joint_names[joint])} now, links and rotors [{unit}]</td></tr>"
        f"{''.join(rows)}</table></div>"
    )


def _law(method: str) -> str:
    first, second = LAWS.get(method, ("", ""))
    if "=" not in first:
        return escape(first)
    return "".join(f"<div>{formula(from_latex(line))}</div>" for line in (first, second) if line)


SLOW_PERIOD = 0.2
"""The shortest time between two pictures of the closed form with numbers [s]."""
FEW_SUMMANDS = 3
"""Summands that are written beside the other terms; more are a sum there."""
ZERO_ELEMENT = 1e-9
"""An element of the mass matrix below this part of the largest is zero."""


class EquationPanel(Panel):
    """The equation of the joint that is chosen."""

    def __init__(self, session: Session):
        super().__init__(session)
        gui = self._gui
        self._choice: Any = gui.add_dropdown("joint", ("joint1",))
        self._now = gui.add_html("")
        self._button("Write out its terms and zeros", self._write)
        self._symbols = gui.add_html("")
        self._numbers = gui.add_html("")
        self._button("Formulations side by side", self._compare)
        guarded = session.guard(self._substitute)
        self._slow = Latest(lambda: guarded(None), SLOW_PERIOD)
        self._written: Written | None = None
        self._last: Snapshot | None = None
        self._choice.on_update(session.guard(lambda _: self._again()))

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
        model = self._session.robot.model
        unit = model.joints[model.independent[i]].type.torque_unit
        self._now.content = marks.framed(equation_html(i, snapshot, unit), "equation")
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
        drawn = marks.framed(numbers_html(written.closed, self.joint, at, state.payload), "numbers")
        if written is self._written:  # no other robot came meanwhile
            self._numbers.content = drawn

    @property
    def joint(self) -> int:
        """The joint that is chosen, from 0."""
        names = self._session.robot.joint_names
        return names.index(self._choice.value) if self._choice.value in names else 0

    def select(self, joint: int) -> None:
        """Choose a joint."""
        self._choice.value = self._session.robot.joint_names[joint]
        self._again()

    def _again(self) -> None:
        if self._written is not None:
            self._symbols.content = marks.framed(symbols_html(self._written, self.joint), "symbols")
        if self._last is not None and len(self._last.total) == self._session.robot.n:
            self.show(self._last)

    def _write(self) -> None:
        def work(robot: Robot, tell: Tell) -> Written:
            tell("looking for zeros")
            found = structure(robot.model)
            tell("writing the equations")
            return Written(equations(robot), found)

        def done(written: Written) -> None:
            self._written = written
            self._again()

        self._session.study("writing the equations", work, done)

    def _compare(self) -> None:
        state, joint = self._session.state, self.joint

        def work(robot: Robot, tell: Tell) -> str:
            held = holding(robot, state.payload)
            return formulations_html(held, joint, *state.motion, tell)

        show = partial(self._session.lay_over, "One torque, by every formulation")
        self._session.study("comparing formulations", work, show)


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
        f"data-value='{value!r}'>{marks.number(value, 4, largest)} {unit}</b></div>"
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
        return from_latex(f"Σ_j M_{{{self.joint + 1}j}} q̈_j")


def _rows(i: int, snapshot: Snapshot) -> list[_Row]:
    """The terms of the equation of a joint; those of friction where they act."""
    ledger, M = snapshot.ledger, snapshot.mass_matrix
    inertial, coriolis = float(ledger.inertial[i] + ledger.rotor[i]), float(ledger.coriolis[i])
    if spin := float(ledger.spin[i]):  # a part of it is of accelerations
        part = spin if M is None else float(M[i] @ snapshot.state.qdd) - inertial
        inertial, coriolis = inertial + part, coriolis + spin - part
    sums, values = _inertial(i, M, snapshot.state.qdd) if M is not None else (("(M q̈)",), "")
    rows = [
        _Row("inertial", inertial, sums, values, i),
        _Row("coriolis", coriolis, (indexed("V", i),)),
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
        f"{marks.number(float(M[i, j]))}·{_bracketed(float(qdd[j]))}" for j in acting
    )
    return symbols or ("<mn>0</mn>",), numbers


def _line(row: _Row, largest: float, unit: str) -> str:
    """A term with its value; summands stay whole where the line breaks."""
    signed = (f"<mo>+</mo>{symbols}" if k else symbols for k, symbols in enumerate(row.symbols))
    summands = " ".join(map(formula, signed))
    word = WORDS.get(row.term, row.term)
    named = "" if word in row.symbols[0] else f"<div class='ad-small'>{word}</div>"
    numbers = f"<div class='ad-small'>{escape(row.numbers)}</div>" if row.numbers else ""
    value = f"{marks.number(row.value, 4, largest)} {unit}"
    return (
        f"<div style='border-left:4px solid {TERMS[row.term]};padding:2px 0 2px 8px;margin:3px 0;"
        f"display:flex;gap:8px'><div style='flex:1;min-width:0'>{summands}{named}{numbers}</div>"
        f"<div style='white-space:nowrap' data-term='{row.term}'>{value}</div></div>"
    )


def _bracketed(value: float) -> str:
    words = marks.number(value)
    return f"({words})" if value < 0 else words
