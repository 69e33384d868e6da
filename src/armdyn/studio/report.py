"""A report on a robot as one HTML page that needs nothing else: pictures, equations, code."""

import base64
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from datetime import date
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.closed_forms import pages
from armdyn.closed_forms.forms import equations
from armdyn.html import html_table
from armdyn.model.validate import Finding
from armdyn.report.portrait import draw_portrait, figure_html
from armdyn.robot import Robot
from armdyn.studio.arm import Arm, State, holding
from armdyn.studio.background import Tell
from armdyn.study.sizing.worst_case import worst_case
from armdyn.version import __version__


def report_html(arm: Arm, state: State, view: bytes | None, folder: Path, tell: Tell) -> str:
    """The page; `view` is a PNG of what is seen, files are made in a folder and removed."""
    look = (files("armdyn.studio") / "report.css").read_text(encoding="utf-8")
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        f"<title>{escape(arm.title)}: report</title><style>{look}</style></head><body>",
        *_head(arm, state),
        *_pictures(arm, state, view, tell),
        *_state(arm, state),
        *_limits(arm.robot),
        *_worst(arm.robot, state.payload, tell),
        *_equations(arm.robot, tell),
        *_findings(arm.findings),
        *_links(arm.robot),
        *_code(holding(arm.robot, state.payload), folder, tell),
        "</body></html>\n",
    ]
    return "\n".join(parts)


def _head(arm: Arm, state: State) -> Iterator[str]:
    model = arm.robot.model
    yield f"<h1>{escape(arm.title)}</h1>"
    yield (
        f"<p class='sub'>armdyn {__version__}, {date.today().isoformat()}; {arm.robot.n} joints, "
        f"{arm.mass:.4g} kg moving, {state.payload:g} kg held</p>"
    )
    if arm.faults:
        yield f"<p class='banner'>This robot is not valid: {escape(arm.faults[0].message)}</p>"
    for word, text in (("Source", model.source), ("Note", model.note)):
        if text:
            yield f"<p>{word}: {escape(text)}</p>"


def _pictures(arm: Arm, state: State, view: bytes | None, tell: Tell) -> Iterator[str]:
    tell("drawing the arm")
    code = "" if view is None else base64.b64encode(view).decode()
    shown = f"<img alt='what the studio shows' src='data:image/png;base64,{code}'>" if code else ""
    drawn = figure_html(lambda: draw_portrait(arm.robot.model, state.q), "svg")
    yield f"<div class='pair'>{shown}{drawn}</div>"


def _state(arm: Arm, state: State) -> Iterator[str]:
    seen, model = arm.evaluator(state), arm.robot.model
    acting = {name: values for name, values in seen.terms.items() if values.any()}
    rows = []
    for i, joint in enumerate(model.coordinate_joints):
        limit = joint.limits.effort
        use = f"{100 * abs(seen.total[i]) / limit:.0f} %" if 0 < limit < np.inf else "-"
        terms = (f"{values[i]:.4g}" for values in (*state.motion, *acting.values()))
        rows.append((joint.name, *terms, f"{seen.total[i]:.5g} {joint.type.torque_unit}", use))
    columns = ("joint", "q", "q̇", "q̈", *acting, "torque", "of the limit")
    yield _table("This state", columns, rows)


def _limits(robot: Robot) -> Iterator[str]:
    rows = [
        (j.name, j.type.name, *map(_number, astuple(j.limits)[:4] + astuple(j.rotor)[:2]))
        for j in robot.model.joints
    ]
    columns = ("joint", "type", "lowest", "highest", "velocity", "effort", "rotor [kg m²]", "gear")
    yield _table("Limits", columns, rows, 2)


def _worst(robot: Robot, payload: float, tell: Tell) -> Iterator[str]:
    if robot.model.loops:
        return
    tell("finding the worst case")
    found = worst_case(robot, lift=payload)
    section = found.sections()[0]
    yield "<h2>The worst case of each motor</h2>"
    yield "".join(f"<p>{escape(line)}</p>" for line in section.lines)
    yield figure_html(found.figure, "svg")
    yield _table("", section.columns, section.rows)


def _equations(robot: Robot, tell: Tell) -> Iterator[str]:
    tell("writing the equations")
    written = equations(robot)
    yield "<h2>Equations of motion</h2>"
    closed = written.form == "state"
    yield pages.html(written) if closed else f"<pre>{escape(written.text())}</pre>"


def _findings(findings: Sequence[Finding]) -> Iterator[str]:
    yield "<h2>Check</h2>"
    if not findings:
        yield "<p>Nothing to report.</p>"
    items = (
        f"<li><span class='{found.level}'>{found.level}</span> <b>{escape(found.where)}</b>: "
        f"{escape(found.message)}</li>"
        for found in findings
    )
    yield f"<ul>{''.join(items)}</ul>"


def _links(robot: Robot) -> Iterator[str]:
    rows = []
    for link in robot.model.links:
        body = link.inertia
        tensor = np.asarray(body.moment_about_com) if body.mass > 0 else np.zeros((3, 3))
        moments = (tensor[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
        rows.append((link.name, *map(_number, (body.mass, *body.com, *moments))))
    columns = ("link", "mass [kg]", "x", "y", "z [m]", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
    yield _table("Links", columns, rows)


def _table(title: str, columns: Sequence[str], rows: Sequence[Any], texts: int = 1) -> str:
    head = f"<h2>{title}</h2>\n" if title else ""
    return f"{head}<div class='wide'>{html_table(columns, rows, texts=texts)}</div>"


def _code(robot: Robot, folder: Path, tell: Tell) -> Iterator[str]:
    tell("writing C code")
    yield "<h2>C code</h2><p>The functions of this robot as C99, with what it holds.</p>"
    with tempfile.TemporaryDirectory(dir=folder) as place:
        for path in robot.export(place, "c").files:
            text = escape(path.read_text(encoding="utf-8"))
            yield f"<details><summary>{escape(path.name)}</summary><pre>{text}</pre></details>"


def _number(value: float) -> str:
    return f"{value:.6g}" if np.isfinite(value) else "-"
