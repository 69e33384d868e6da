"""The reference of the public names, in the order in which the package lists them."""

from sphinx.application import Sphinx

import armdyn

SECTIONS = {"simulation": armdyn.simulation, "errors": armdyn.errors}
MARK = "<!-- reference -->"


def _directive(name: str, found: object) -> str:
    if not isinstance(found, type):
        return f"```{{eval-rst}}\n.. autofunction:: {name}\n```\n\n"
    return f"```{{eval-rst}}\n.. autoclass:: {name}\n   :members:\n```\n\n"


def _reference() -> str:
    text = ""
    for name in (each for each in armdyn.__all__ if each not in SECTIONS):
        text += f"## {name}\n\n" + _directive(f"armdyn.{name}", getattr(armdyn, name))
    for title, module in SECTIONS.items():
        text += f"## armdyn.{title}\n\n"
        for name, found in sorted(vars(module).items()):
            public = not name.startswith("_") and callable(found)
            if public and found.__module__.startswith("armdyn."):
                text += f"### {title}.{name}\n\n" + _directive(f"armdyn.{title}.{name}", found)
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
        if MARK in source[0]:
            source[0] = source[0].replace(MARK, _reference())

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
