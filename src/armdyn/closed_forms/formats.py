"""The equations of motion as people get them: in every format by name, and as plain data."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armdyn.closed_forms import html as html_format
from armdyn.closed_forms import latex as latex_format
from armdyn.closed_forms import python_source, sympy_source
from armdyn.closed_forms import text as text_format
from armdyn.closed_forms.document import Block, Document
from armdyn.closed_forms.notation import angle_call, angle_identifier
from armdyn.closed_forms.printer import Notation
from armdyn.closed_forms.sympy_source import notation
from armdyn.errors import UnknownNameError, WriteError
from armdyn.io.atomic import ending, write_text

FORMATS = ("text", "latex", "markdown", "sympy", "python")
_SUFFIXES = {".txt": "text", ".tex": "latex", ".md": "markdown", ".py": "python"}


@dataclass(frozen=True, slots=True, repr=False)
class Equations(Document):
    """The equations of motion of a robot in a form for reading."""

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        shapes = (f"{b.symbol}{list(b.shape) if b.shape else ''}" for b in self.blocks if b.symbol)
        return f"<Equations of {self.robot}, {self.form} form: {', '.join(shapes)}>"

    def _repr_html_(self) -> str:
        return html_format.html(self)

    def _repr_latex_(self) -> str:
        return latex_format.displayed(self)

    def _repr_markdown_(self) -> str:
        return self.markdown()

    text = text_format.text
    latex = latex_format.latex
    markdown = latex_format.markdown
    sympy = sympy_source.sympy
    python = python_source.python

    def to(self, format: str) -> str:
        """The equations in one of `FORMATS`."""
        written: str = getattr(self, format_of(format, None))()
        return written

    def save(self, path: str | Path, format: str | None = None) -> None:
        """Write a file, whole or not at all.

        The format is one of `FORMATS`; None: by the ending, .txt, .tex, .md or .py (functions).
        """
        write_text(path, self.to(format_of(format, path)))

    def data(self) -> dict[str, Any]:
        """The equations as plain data, entries in the notation of SymPy, with flags and notes."""
        source = notation({})
        return {
            "robot": self.robot,
            "title": self.title,
            "form": self.form,
            "law": self.law[0],
            "joints": list(self.joints),
            "notes": list(self.notes),
            "operations": None
            if self.operations is None
            else dict(zip(("multiplications", "additions"), self.operations, strict=True)),
            "angles": {
                angle_identifier(f): source.write(angle_call(f, self.offsets))
                for f in sorted(self.angle_functions, key=angle_identifier)
            },
            "values": self.values,
            "blocks": [_block(block, source) for block in self.blocks],
        }


def format_of(format: str | None, path: str | Path | None) -> str:
    """The format that was named, or that of a file by its ending, or text."""
    if format is not None:
        if format not in FORMATS:
            raise UnknownNameError("format of equations", format, FORMATS)
        return format
    suffix = "" if path is None else ending(path, ".txt")
    if path is not None and suffix not in _SUFFIXES:
        raise WriteError(
            f"cannot tell the format of {str(path)!r}; let it end in {', '.join(_SUFFIXES)}, "
            f"or name one of {', '.join(FORMATS)}"
        )
    return _SUFFIXES.get(suffix, "text")


def _block(block: Block, source: Notation) -> dict[str, Any]:
    return {
        "symbol": block.symbol,
        "title": block.title,
        "shape": list(block.shape),
        "arguments": list(block.arguments),
        "remarks": list(block.remarks),
        "symmetric_axes": None if block.swap is None else list(block.swap),
        "entries": [
            {
                "name": line.name,
                "place": [k + 1 for k in line.place],
                "value": source.write(line.value),
                "zero": line.zero,
                "constant": line.constant,
            }
            for line in block.lines
        ],
    }
