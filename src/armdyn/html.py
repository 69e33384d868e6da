"""Tables for notebooks: plain HTML, everything in it escaped."""

from collections.abc import Iterable, Sequence
from html import escape

_CELL = "padding:2px 10px 2px 0;text-align:{}"


def html_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "", texts: int = 1
) -> str:
    """A table whose first `texts` columns hold text and the others numbers."""
    head = "".join(_cell("th", name, k < texts) for k, name in enumerate(columns))
    body = "".join(
        "<tr>" + "".join(_cell("td", cell, k < texts) for k, cell in enumerate(row)) + "</tr>"
        for row in rows
    )
    above = f"<div><b>{escape(title)}</b></div>" if title else ""
    return f"{above}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_text(text: str) -> str:
    """Text as it is, line by line."""
    return f"<pre>{escape(text)}</pre>"


def _cell(tag: str, content: object, text: bool) -> str:
    style = _CELL.format("left" if text else "right")
    return f'<{tag} style="{style}">{escape(str(content))}</{tag}>'
