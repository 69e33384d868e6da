"""The reference of the public names, on the pages that ask for them."""

import re
from types import ModuleType

from sphinx.application import Sphinx

import armdyn

MARK = re.compile(r"<!-- reference: ([\w ]+) -->")
"""Where a page wants the reference of some names."""


def _directive(name: str, found: object) -> str:
    if not isinstance(found, type):
        return f"```{{eval-rst}}\n.. autofunction:: {name}\n```\n\n"
    return f"```{{eval-rst}}\n.. autoclass:: {name}\n   :members:\n```\n\n"


def _reference(names: re.Match[str]) -> str:
    text = ""
    for name in names[1].split():
        found = getattr(armdyn, name)
        if not isinstance(found, ModuleType):
            text += f"## {name}\n\n" + _directive(f"armdyn.{name}", found)
            continue
        for part, value in sorted(vars(found).items()):
            public = not part.startswith("_") and callable(value)
            if public and value.__module__.startswith("armdyn."):
                text += f"## {name}.{part}\n\n" + _directive(f"armdyn.{name}.{part}", value)
    return text


def _readable(
    app: Sphinx,
    what: str,
    name: str,
    found: object,
    options: object,
    signature: str | None,
    result: str | None,
) -> tuple[str | None, str | None]:
    """A signature in which a default that a function makes is three dots, which are Python."""
    return signature and signature.replace("<factory>", "..."), result


def setup(app: Sphinx) -> dict[str, bool]:
    """Put the reference in the place that a page keeps for it."""

    def filled(app: Sphinx, page: str, source: list[str]) -> None:
        source[0] = MARK.sub(_reference, source[0])

    kept: list[str] = []

    def put_by(app: Sphinx, what: str, name: str, found: object, options: object, lines: list[str]):
        kept[:], lines[:] = lines, lines if what != "attribute" else []

    def put_back(
        app: Sphinx, what: str, name: str, found: object, options: object, lines: list[str]
    ):
        lines[:] = kept if what == "attribute" else lines

    app.connect("autodoc-process-signature", _readable)
    # a colon in the sentence on an attribute is no type, for which napoleon would take it
    app.connect("autodoc-process-docstring", put_by, priority=400)
    app.connect("autodoc-process-docstring", put_back, priority=600)
    app.connect("source-read", filled)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
