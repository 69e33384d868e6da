"""Files to take away: a report, a film, C code, the description, tables, pictures.

Those of a robot that cannot exist say so: in a comment or a red stripe, and in their names.
"""

import base64
import io
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple
from datetime import date
from functools import partial
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.closed_forms import pages
from armdyn.closed_forms.forms import equations
from armdyn.errors import StudioError
from armdyn.export.names import identifier
from armdyn.html import html_table
from armdyn.io.csv.table import csv_from_columns
from armdyn.io.toml.write import toml_from_model
from armdyn.model.validate import Finding
from armdyn.report.portrait import draw_portrait, figure_html
from armdyn.robot import Robot
from armdyn.studio.arm import Arm, State, holding
from armdyn.studio.background import Tell
from armdyn.studio.panels.timeline import TimelinePanel
from armdyn.studio.recording import Recording, film
from armdyn.studio.session import Panel, Session
from armdyn.studio.style import DARK, LIGHT
from armdyn.study.sizing.worst_case import worst_case
from armdyn.version import __version__


def report_html(arm: Arm, state: State, view: bytes | None, folder: Path, tell: Tell) -> str:
    """A report as one page that needs nothing else: pictures, equations, code.

    `view` is a PNG of what is seen; files are made in a folder and removed.
    """
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


ALARM = (180, 35, 24)
"""The stripe on a picture of a robot that cannot exist."""
STRIPE = 0.05
"""Its height, relative to that of the picture."""


def warning(arm: Arm) -> str:
    """What the exports of a robot must say; nothing for a robot that can exist."""
    if not arm.faults:
        return ""
    causes = "; ".join(f"{fault.where}: {fault.message}" for fault in arm.faults)
    words = f"WARNING: this robot cannot exist as it is described. {causes}"
    return " ".join(words.split())


def named(robot: Robot, what: str, warned: str) -> str:
    """The name of a file."""
    return f"{identifier(robot.name)}{'_INVALID' if warned else ''}{what}"


def c_code(robot: Robot, folder: Path, warned: str = "") -> tuple[str, bytes]:
    """Name and content of a ZIP file with the functions of a robot as C99."""
    head = f"/* {warned.replace('*/', '* /')} */\n".encode() if warned else b""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        files = robot.export(place, "c").files
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in files:
                archive.writestr(path.name, head + path.read_bytes())
            if warned:
                archive.writestr("WARNING.txt", f"{warned}\n")
    return named(robot, "_c.zip", warned), packed.getvalue()


def toml(robot: Robot, warned: str = "") -> tuple[str, bytes]:
    """Name and content of a robot in armdyn's own format."""
    head = f"# {warned}\n" if warned else ""
    return named(robot, ".toml", warned), (head + toml_from_model(robot.model)).encode()


def csv(arm: Arm, state: State, recording: Recording | None) -> tuple[str, bytes]:
    """Name and content of a table: the motion that was played last, or the state alone."""
    name = "motion"
    if recording is None:
        seen = arm.evaluator(state)
        q, qd, qdd, total = (row[None] for row in (*state.motion, seen.total))
        terms = {term: row[None] for term, row in seen.terms.items()}
        recording = Recording("", np.zeros(1), q, qd, qdd, total, terms)
        name = "state"
    blocks = (text for _, text in csv_from_columns(recording.columns()))
    return named(arm.robot, f"_{name}.csv", warning(arm)), "".join(blocks).encode()


def png(
    robot: Robot, image: Array, ground: tuple[int, int, int], warned: str = ""
) -> tuple[str, bytes]:
    """Name and content of a picture.

    The image is red, green, blue and opacity, (h, w, 4), from 0 to 255, on the colour `ground`.
    """
    from matplotlib.image import imsave  # noqa: PLC0415 (slow to import)

    cover = image[..., 3:].astype(float) / 255
    mixed = image[..., :3] * cover + np.array(ground) * (1 - cover)
    if warned:
        mixed[: max(int(STRIPE * len(mixed)), 1)] = ALARM
    drawn = io.BytesIO()
    # the words are in the file too, for whoever opens it elsewhere
    imsave(drawn, mixed.round().astype(np.uint8), format="png", metadata={"Comment": warned})
    return named(robot, ".png", warned), drawn.getvalue()


RENDER_TIMEOUT = 20.0
"""Time that a browser may take to draw a picture [s]."""


class ExportsPanel(Panel):
    """A report, a film, and a button a kind of file; files have the payload that is held."""

    def __init__(self, session: Session, timeline: TimelinePanel):
        super().__init__(session)
        self._timeline = timeline
        hint = "Pictures, equations, limits, check and C code in one file"
        self._button("Report (HTML)", self._report, hint=hint)
        hint = "The motion that was played last"
        self._button("Film of the motion (GIF)", self._film, hint=hint)
        buttons: dict[str, Callable[[], tuple[str, bytes]]] = {
            "C code (zip)": lambda: c_code(self._held(), session.folder, warning(session.arm)),
            "Robot (TOML)": lambda: toml(self._held(), warning(session.arm)),
            "Motion or state (CSV)": self._table,
            "Picture (PNG)": self._png,
        }
        for label, made in buttons.items():
            self._button(label, partial(self._start, f"exporting {label}", made))

    def _start(self, name: str, made: Callable[[], tuple[str, bytes]]) -> None:
        self._session.study(name, lambda *_: made(), self._send)

    def _send(self, file: tuple[str, bytes]) -> None:
        self._session.client.send_file_download(*file, save_immediately=True)

    def _held(self) -> Robot:
        """The robot with what it holds."""
        return holding(self._session.robot, self._session.state.payload)

    def _table(self) -> tuple[str, bytes]:
        return csv(self._session.arm, self._session.state, self._timeline.recording)

    def _png(self) -> tuple[str, bytes]:
        """What is seen now."""
        client, arm = self._session.client, self._session.arm
        height, width = client.camera.image_height, client.camera.image_width
        image = client.get_render(height, width, transport_format="png", timeout=RENDER_TIMEOUT)
        ground = (DARK if self._session.dark else LIGHT)["ground"]
        return png(arm.robot, image, ground, warning(arm))

    def _report(self) -> None:
        session = self._session
        arm, state = session.arm, session.state
        name = named(arm.robot, "_report.html", warning(arm))

        def work(_: Robot, tell: Tell) -> tuple[str, bytes]:
            tell("taking a picture")
            try:
                view = self._png()[1]
            except (TimeoutError, RuntimeError):  # the browser does not draw it in time
                view = None
            return name, report_html(arm, state, view, session.folder, tell).encode()

        session.study("writing a report", work, self._send)

    def _film(self) -> None:
        recording = self._timeline.recording
        if recording is None:
            raise StudioError("there is no motion yet: choose or compute one in the tab Play")
        name = named(self._session.robot, ".gif", warning(self._session.arm))

        def work(robot: Robot, tell: Tell) -> tuple[str, bytes]:
            return name, film(robot, recording, tell)

        self._session.study("making a film", work, self._send)
