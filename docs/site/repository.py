"""How pages that are read in the repository become a site: where links lead, and the menu.

The first page lists every other one with a sentence under headings; that list is the menu too.
"""

import re

from sphinx.application import Sphinx

PLACES = {
    "(../README.md": "(index.md",
    "(../CONTRIBUTING.md": "(project/contributing.md",
    "(../CHANGELOG.md": "(project/changelog.md",
    # pages that are included are written for the top folder
    "(docs/": "(../",
    "(CONTRIBUTING.md": "(contributing.md",
    "(CHANGELOG.md": "(changelog.md",
    "(README.md": "(../index.md",
}


def _moved(app: Sphinx, page: str, source: list[str]) -> None:
    for written, place in PLACES.items():
        source[0] = source[0].replace(written, place)
    if page == "index":
        source[0] += _menu(source[0])


def _menu(text: str) -> str:
    menu = ""
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        pages = dict.fromkeys(re.findall(r"\]\(([\w/-]+)\.md\)", section))
        menu += f"\n```{{toctree}}\n:hidden:\n:caption: {section.splitlines()[0]}\n\n"
        menu += "\n".join(pages) + "\n```\n"
    return menu


def setup(app: Sphinx) -> dict[str, bool]:
    """Change pages when they are read."""
    app.connect("source-read", _moved)
    app.connect("include-read", lambda app, path, page, source: _moved(app, "", source))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
