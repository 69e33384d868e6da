"""What is suspicious about the robot."""

from collections.abc import Sequence
from html import escape

from armdyn.model.validate import Finding
from armdyn.studio.arm import Arm
from armdyn.studio.session import Panel, Session
from armdyn.studio.style import GOOD, LEVELS
from armdyn.studio.visuals import NotDrawn


class CheckPanel(Panel):
    """The report of the check, of the robot or of a file that is not shown."""

    def __init__(self, session: Session):
        super().__init__(session)
        self._html = self._gui.add_html("")

    def enter(self, arm: Arm) -> None:
        """Show what is suspicious about another robot."""
        self._html.content = check_html(arm.title, self._told(arm.findings), arm.missing)

    def refuse(self, name: str, findings: Sequence[Finding]) -> None:
        """Show why a file is not shown."""
        self._html.content = check_html(f"{name} (not loaded)", self._told(findings), ())

    def _told(self, findings: Sequence[Finding]) -> list[Finding]:
        plain = self._session.plain
        return [Finding(f.level, plain(f.where), plain(f.message)) for f in findings]


def check_html(title: str, findings: Sequence[Finding], missing: Sequence[NotDrawn]) -> str:
    """A check report as HTML, everything in it escaped."""
    items = "".join(
        f"<li style='margin:3px 0'><span style='color:{LEVELS[f.level]};font-weight:650'>{f.level}"
        f"</span> <b>{escape(f.where)}</b>: {escape(f.message)}</li>"
        for f in findings
    )
    for reason in dict.fromkeys(mesh.reason for mesh in missing):
        names = [mesh.name for mesh in missing if mesh.reason == reason]
        few = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
        items += (
            f"<li><span style='color:{LEVELS['note']};font-weight:650'>note</span> drawn without "
            f"<b>{escape(few)}</b>: {escape(reason)}</li>"
        )
    verdict = "" if items else f"<div style='color:{GOOD}'>nothing to report</div>"
    return (
        "<div class='armdyn-check' style='padding:2px 12px;font-size:12px;max-height:260px;"
        f"overflow:auto;overflow-wrap:anywhere'><b>{escape(title)}</b>{verdict}"
        f"<ul style='margin:2px 0;padding-left:16px'>{items}</ul></div>"
    )
