"""A notebook of the examples as a page: its texts, its code and the outputs stored in it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MARK = re.compile(r"<!-- notebook (\w+) -->")
IMAGE = '<img alt="what this code draws" src="data:image/png;base64,{}">'


def _page(name: str) -> str:
    cells = json.loads((EXAMPLES / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    return "\n\n".join(part for cell in cells for part in _parts(cell))


def _parts(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        shown = {kind: "".join(lines) for kind, lines in output.get("data", {}).items()}
        if output.get("name") == "stdout":
            yield f"```text\n{''.join(output['text'])}```"
        elif "text/html" in shown:
            yield f"```{{raw}} html\n{shown['text/html']}\n```"
        elif "image/png" in shown:
            yield f"```{{raw}} html\n{IMAGE.format(shown['image/png'].strip())}\n```"


def _filled(app: Sphinx, page: str, source: list[str]) -> None:
    source[0] = MARK.sub(lambda match: _page(match[1]), source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Put a notebook in the place that a page keeps for it."""
    app.connect("source-read", _filled)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
