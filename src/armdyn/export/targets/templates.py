"""Texts with names in them that are replaced."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files


@cache
def template(name: str) -> str:
    """The text of a template of this room."""
    return (files("armdyn.export.targets") / "templates" / name).read_text(encoding="utf-8")


def filled(text: str, words: Mapping[str, object]) -> str:
    """A text in which every @NAME@ is replaced by its word; each must have one."""
    return re.sub(r"@([A-Z_]+)@", lambda found: str(words[found[1]]), text)
