"""Which elements of the equations of motion vanish, which are constant, and why."""

import base64
from html import escape
from pathlib import Path
from typing import Any

from armdyn.structure.elements import StructureElement
from armdyn.structure.report import cell, reasons
from armdyn.structure.structure import Structure, structure
from armdyn.studio import svg
from armdyn.studio.arm import Arm
from armdyn.studio.background import Tell
from armdyn.studio.session import Panel, Session
from armdyn.studio.style import POSITIVE

TALLEST = 30.0
"""Height of a row."""
WIDE = ".mantine-Modal-content{flex-basis:min(1060px,92vw)!important}"
"""A report needs more room than other windows over the page."""


class StructurePanel(Panel):
    """The structure, when it is asked for."""

    def __init__(self, session: Session):
        self._session = session
        gui = session.client.gui
        button = gui.add_button("Find the structure")
        self._html = gui.add_html("")
        self._more = gui.add_button("Whole picture and report", visible=False)
        self._found: tuple[Structure, Path] | None = None
        button.on_click(session.guard(self._find))
        self._more.on_click(session.guard(self._open))

    def enter(self, arm: Arm) -> None:
        """Nothing is known yet."""
        self._found, self._html.content, self._more.visible = None, "", False

    def _find(self, _: Any) -> None:
        model, folder = self._session.arm.robot.model, self._session.folder

        def work(tell: Tell) -> tuple[Any, Structure, Path]:
            found = structure(model)
            tell("drawing the structure")
            path = folder / "structure.svg"
            found.plot(path)
            return model, found, path

        def done(result: tuple[Any, Structure, Path]) -> None:
            if result[0] is self._session.arm.robot.model:
                self._found = result[1:]
                self._html.content = structure_html(result[1])
                self._more.visible = True

        self._session.jobs.start("finding the structure", work, done)

    def _open(self, _: Any) -> None:
        if self._found is not None:
            found, path = self._found
            report(self._session, f"{found.title}: structure", path, found.text())


def structure_html(found: Structure) -> str:
    """The maps of D and g with the reasons of their zeros and constants."""
    n = len(found.joints)
    wide, gap = svg.WIDTH / (n + 1.25), 0.25 * svg.WIDTH / (n + 1.25)
    tall, top = min(wide, TALLEST), 16.0
    parts = [
        svg.text(0, 10, "mass matrix", bold=True),
        svg.text(n * wide + gap, 10, "gravity", bold=True),
    ]
    for i in range(n):
        for j in range(n):
            parts += _cell(j * wide, top + i * tall, wide, tall, found.D[i][j], n)
        parts += _cell(n * wide + gap, top + i * tall, wide, tall, found.g[i], n)
    counts = "; ".join(
        f"{name}: {count['zero']} zero, {count['constant']} constant, {count['varies']} vary"
        for name, count in found.counts.items()
    )
    items = "".join(
        f"<li><b>{escape(elements)}</b>: {escape(reason)}</li>"
        for owner, elements, reason in reasons(found)
        if owner != "h"
    )
    return (
        "<div class='armdyn-structure' style='padding:4px 12px;font-size:11.5px'>"
        f"{svg.picture(top + n * tall + 4, parts, 'structure-map')}"
        "<div style='opacity:.65'>0 zero, c constant, else the joints it depends on. "
        f"{escape(counts)}</div><ul style='margin:4px 0;padding-left:16px'>{items}</ul></div>"
    )


def report(session: Session, title: str, image: Path, text: str) -> None:
    """A window over the page with a picture and the words of a report."""
    data = base64.b64encode(image.read_bytes()).decode()
    gui = session.client.gui
    with gui.add_modal(title) as modal:
        gui.add_html(
            f"<style>{WIDE}</style>"
            "<div class='armdyn-report' style='max-height:70vh;overflow:auto'>"
            f"<img alt='' style='width:100%;background:white;border-radius:6px' "
            f"src='data:image/svg+xml;base64,{data}'/>"
            f"<pre style='font-size:11px;white-space:pre-wrap'>{escape(text)}</pre></div>"
        )
        close = gui.add_button("Close")
        close.on_click(session.guard(lambda _: modal.close()))


def _cell(
    x: float, y: float, wide: float, tall: float, element: StructureElement, n: int
) -> list[str]:
    depth = 0.05 if element.status == "zero" else 0.16 if element.status == "constant" else (
        0.25 + 0.55 * len(element.joints) / n
    )  # fmt: skip
    parts = [
        svg.box(
            x + 0.75, y + 0.75, wide - 1.5, tall - 1.5,
            "currentColor" if element.status != "varies" else POSITIVE, opacity=depth, radius=3,
            hint=element.reason or f"depends on joints {cell(element)}",
            data={"status": element.status},
        )
    ]  # fmt: skip
    if n <= 7:
        words = (x + wide / 2, y + tall / 2 + 3.5, cell(element))
        parts.append(svg.text(*words, anchor="middle", size=9.5 if n > 5 else 10.5))
    return parts
