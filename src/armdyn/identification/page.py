"""An identification as one HTML page with its pictures in it."""

from collections.abc import Callable
from datetime import date
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any

from armdyn.errors import WriteError
from armdyn.identification.picture import error_figure, residual_figure, torque_figure
from armdyn.identification.record import Found
from armdyn.identification.report import sections
from armdyn.io.atomic import write_text
from armdyn.io.regular import check_path
from armdyn.report.figures import STYLE, check_plot
from armdyn.report.result import Section
from armdyn.version import __version__

_LOOK = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
p.sub { color: #6b6b6b; margin-top: 0; } table { border-collapse: collapse; font-size: .85rem; }
th, td { padding: .15rem .7rem; text-align: right; border-bottom: 1px solid #eee; }
th { border-bottom: 1px solid #6b6b6b; } td.text, th.text { text-align: left; }
div.wide { overflow-x: auto; } svg { max-width: 100%; height: auto; }
.figure { font-size: 2.6rem; font-weight: 600; } .figures { display: flex; gap: 3rem; }
.figures div { color: #6b6b6b; } .figures .figure { color: #0072b2; line-height: 1.1; }
li.severe { color: #b2182b; font-weight: 600; }
"""


def check_page(path: str | Path) -> None:
    """Refuse, before anything is computed, a page that could not be written."""
    if check_path(path).suffix.lower() not in (".html", ".htm"):
        raise WriteError(f"cannot write a report to {str(path)!r}: the ending must be .html")
    check_plot("pictures.svg")


def write_page(path: str | Path, found: Found) -> None:
    """Write the page, whole or not at all."""
    check_page(path)
    write_text(path, page(found))


def page(found: Found) -> str:
    """The page as text."""
    name = escape(found.given.model.title or found.given.name)
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        f"<title>Identification of {name}</title><style>{_LOOK}</style></head><body>",
        f"<h1>Identification of {name}</h1>",
        f"<p class='sub'>armdyn {__version__}, {date.today().isoformat()}; "
        f"{escape(', '.join(found.sources))}</p>",
        _figures(found),
    ]
    pictures: dict[str, Callable[[Any], Any]] = {
        "Identification": torque_figure,
        "Errors by joint": error_figure,
        "What the residuals still contain": residual_figure,
    }
    for section in sections(found):
        if section.title:
            parts.append(_section(section))
            if section.title in pictures:
                parts.append(f"<div class='wide'>{_svg(pictures[section.title], found)}</div>")
    return "\n".join([*parts, "</body></html>\n"])


def _figures(found: Found) -> str:
    shown = []
    if found.validation is not None:
        shown.append((f"{100 * found.validation.relative_error:.2f} %", f"held out: {found.split}"))
    shown.append((f"{100 * found.training.relative_error:.2f} %", "training"))
    excited = sum(p.excited for p in found.base)
    shown.append((f"{excited} of {len(found.base)}", "base parameters shown"))
    cells = (
        f"<div><div class='figure'>{number}</div>{escape(words)}</div>" for number, words in shown
    )
    return f"<div class='figures'>{''.join(cells)}</div>"


def _section(section: Section) -> str:
    lines = "".join(
        f"<li{' class=severe' if line.startswith('! ') else ''}>"
        f"{escape(line.removeprefix('! ').removeprefix('- '))}</li>"
        for line in section.lines
    )
    text = f"<h2>{escape(section.title)}</h2>" + (f"<ul>{lines}</ul>" if lines else "")
    if not section.rows:
        return text

    def row(cells: tuple[str, ...], tag: str) -> str:
        return "".join(
            f"<{tag}{' class=text' if k < section.texts else ''}>{escape(cell)}</{tag}>"
            for k, cell in enumerate(cells)
        )

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in section.rows)
    return (
        text + f"<div class='wide'><table><tr>{row(section.columns, 'th')}</tr>{body}</table></div>"
    )


def _svg(draw: Callable[[Any], Any], found: Found) -> str:
    import matplotlib as mpl  # noqa: PLC0415 (an extra)

    stream = BytesIO()
    with mpl.rc_context(STYLE):
        draw(found).savefig(stream, format="svg", metadata={"Date": None})
    text = stream.getvalue().decode("utf-8")
    return text[text.index("<svg") :]
