"""Simplification: a new arm with simpler dynamics, seen beside the old one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import check_known
from armdyn.html import html_table
from armdyn.model import Link, RobotModel, edit
from armdyn.robot import Robot
from armdyn.studio import marks
from armdyn.studio.arm import Arm, Evaluator, Snapshot
from armdyn.studio.background import Tell
from armdyn.studio.drawing import Other
from armdyn.studio.marks import paired_bars
from armdyn.studio.panels.study import result_page
from armdyn.studio.session import Panel, Session
from armdyn.studio.style import BAD, GOOD

if TYPE_CHECKING:
    from armdyn.study.simplify.result import Simplification

GOALS = ("constant", "diagonal", "gravity-balanced", "constant+gravity-balanced")
CHANGES: dict[str, tuple[str | None, bool]] = {
    "centres of mass, inertias": (None, False),
    "masses too": ("*.mass,*.com,*.inertia", False),
    "only add counterweights": ("*.mass,*.com,*.inertia", True),
}
"""What may change, and whether material may only be added."""
WORDS = (
    "The smallest change of the arm that makes its dynamics simple, for what is held now: a mass "
    "matrix that is <b>constant</b> or <b>diagonal</b>, or gravity that needs no torque "
    "(<b>gravity-balanced</b>). Where that is impossible, it says why."
)
HELD = "held in the studio"
"""Name of the body that is held while a design is searched."""


@dataclass(frozen=True, slots=True, eq=False)
class FoundDesign:
    """A design, a page about it, and the new arm without what was held."""

    design: Simplification
    page: str
    other: Other
    payload: float
    """What was held [kg]."""


class DesignPanel(Panel):
    """The design, when it is asked for."""

    def __init__(self, session: Session):
        super().__init__(session)
        gui = self._gui
        gui.add_html(marks.framed(WORDS, "design-words"))
        self._goal = gui.add_dropdown("goal", GOALS)
        self._free = gui.add_dropdown("may change", tuple(CHANGES))
        self._button("Find a design", self._find)
        self._html = gui.add_html("")
        self._bars = gui.add_html("", visible=False)
        self._beside = gui.add_checkbox(
            "compare", True, hint="Show the new arm beside the old one", visible=False
        )
        self._more = self._button("Picture and report", self._open, visible=False)
        self._use = self._button("Go on with the new arm", self._go_on, visible=False)
        self._found: FoundDesign | None = None
        self._beside.on_update(session.guard(lambda _: self._compare()))

    def enter(self, arm: Arm) -> None:
        """There is no design yet."""
        self._found, self._html.content = None, ""
        self._offer(False)

    def show(self, snapshot: Snapshot) -> None:
        """Compare the torques of both arms now, with what is held now."""
        other, found = self._session.scene.beside, self._found
        self._bars.visible = found is not None and other is not None
        if found is None or other is None:
            return
        held, then = snapshot.state.payload, found.payload
        note = f"both arms in this state, holding {held:g} kg"
        if held != then:
            note += f"; the design was made for {then:g} kg"
        bars = paired_bars(self._session.robot.model, snapshot.ledger, other.ledger)
        self._bars.content = marks.framed(f"<div style='opacity:.75'>{note}</div>{bars}")

    def _offer(self, there: bool) -> None:
        for handle in (self._beside, self._more, self._use):
            handle.visible = there

    def _find(self) -> None:
        check_known("change", self._free.value, CHANGES)
        goal, (free, add_only) = self._goal.value, CHANGES[self._free.value]
        payload = self._session.state.payload

        def work(robot: Robot, tell: Tell) -> FoundDesign:
            from armdyn.study.simplify.simplify import simplify  # noqa: PLC0415 (slow to import)

            tell("designing")
            if payload > 0:
                robot = Robot(edit.with_payload(robot.model, payload, name=HELD, add=True))
            found = simplify(
                robot, free, goal, add_only=add_only, symbolic=robot.n <= 3,
                progress=lambda done, steps: tell(f"searching lengths, {done} of {steps}"),
            )  # fmt: skip
            tell("comparing both arms")
            found.sections()
            tell("drawing both arms")
            report = result_page(found)
            tell("compiling the new arm")
            new = Robot(put_down(found.model))
            return FoundDesign(found, report, Other(new, Evaluator(new), found.changes), payload)

        def done(found: FoundDesign) -> None:
            self._found = found
            self._html.content = design_html(found.design, found.payload)
            reached = found.design.feasible
            self._use.label = "Go on with the new arm" if reached else NEAREST
            self._offer(True)
            if not found.design.changes:  # there is no other arm to show
                self._beside.visible = self._use.visible = False
            self._compare()

        self._session.study("designing", work, done)

    def _compare(self) -> None:
        found = self._found
        changed = found is not None and found.design.changes
        shown = found if changed and self._beside.value else None
        self._session.compare(shown.other if shown else None)

    def _open(self) -> None:
        if self._found is not None:
            title = f"{self._session.arm.title}: {self._found.design.goals}"
            self._session.lay_over(title, self._found.page)

    def _go_on(self) -> None:
        if self._found is not None:
            session, other = self._session, self._found.other
            arm = Arm(other.robot, other.evaluator, source=f"a new design of {session.arm.title}")
            session.enter(arm, replace(session.state, terms=None), variant=True)


NEAREST = "Try the nearest design, which misses the goal"


def put_down(model: RobotModel) -> RobotModel:
    """A robot without what it held while its design was searched."""
    links = (
        Link(link.name, tuple(body for body in link.bodies if body.name != HELD))
        for link in model.links
    )
    return replace(model, links=tuple(links))


def cost(found: Simplification) -> str:
    """What a design costs in kilograms, in a sentence."""
    changes = found.changes
    added = [(change.name, change.after.mass - change.before.mass) for change in changes]
    total = sum(mass for _, mass in added)
    least = 1e-6 * sum(c.before.mass for c in changes)
    heavier = [f"{name} {mass:+.3g} kg" for name, mass in added if abs(mass) > least]
    if heavier:
        sign = "heavier" if total > 0 else "lighter"
        words = escape("; ".join(heavier).replace("-", "\N{MINUS SIGN}"))
        return f"The arm gets <b>{abs(total):.3g} kg</b> {sign} ({words})."
    moves = [(np.linalg.norm(c.after.com - c.before.com), c) for c in changes]
    far, most = max(moves, key=lambda move: float(move[0]))
    return (
        f"It costs <b>0 kg</b>: masses stay, and centres of mass move, most that of "
        f"{escape(most.name)} ({most.before.mass:.3g} kg) by {far:.3g} m."
    )


def design_html(found: Simplification, payload: float = 0.0) -> str:
    """What was found in a few lines, and what changes link by link."""
    before, after = found.comparison.operations
    colour = GOOD if found.feasible else BAD
    changed = bool(found.changes)
    nearest = "; what is shown comes nearest" if changed else ", and no change comes nearer"
    word = "reached" if found.feasible else f"not reached{nearest}"
    reason = "" if found.feasible else f"<div>{escape(found.reason)}</div>"
    held = f"<div>Found for an arm that holds {payload:g} kg.</div>" if payload else ""
    price = f"<div style='margin:4px 0'>{cost(found)}</div>" if changed else ""
    peaks = zip(found.comparison.joints, *found.comparison.peaks, strict=True)
    most = "; ".join(f"{name} {old:.3g} → {new:.3g}" for name, old, new in peaks)
    heads = ("link", "mass [kg]", "centre of mass [m]") if changed else ()
    rows = [
        (
            change.name,
            f"{change.before.mass:.3g} → {change.after.mass:.3g}",
            f"{_vector(change.before.com)} → {_vector(change.after.com)}",
        )
        for change in found.changes
    ]
    return marks.framed(
        f"<div style='color:{colour};font-weight:650'>{escape(str(found.goals))}: {word}</div>"
        f"{reason}{held}{price}"
        f"<div style='margin:4px 0'>operations of the torque: <b>{before.total}</b> → "
        f"<b>{after.total}</b></div>"
        f"<div>largest torques on the trial motion: {escape(most)}</div>"
        f"<div style='font-size:11px'>{html_table(heads, rows, texts=3)}</div>",
        "design",
    )


def _vector(values: Array) -> str:
    return f"({', '.join(marks.number(float(v)) for v in values)})"
