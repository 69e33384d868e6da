"""What becomes of every element and attribute of URDF and SDF, and of what other programs add.

The tables are in `elements.toml`. Elements that are read are looked into; what is in another one
has its treatment.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal

from armdyn.io.attributes import Problems
from armdyn.io.xml import XmlElement

Format = Literal["URDF", "SDF"]
OWNERS = ("link", "joint", "model", "gazebo", "transmission")
"""Elements that messages name."""
MOST_NAMED = 6
"""Most further links or joints that a message names."""


@dataclass(frozen=True, slots=True)
class Treatment:
    """What becomes of some elements and attributes: a row of a table."""

    treatment: Literal["read", "warned of", "refused", "without effect"]
    what: str
    names: str
    """Such as "joint/axis joint@name", each with the element that it is in; * is any text."""
    usual: str = "0 false"
    """Values that say nothing, which need no warning."""

    def says_nothing(self, element: XmlElement) -> bool:
        """Whether there are usual values only in an element and all that is in it."""
        texts = (text for x in element.walk() for text in (x.text, *x.attributes.values()))
        return all(map(self.is_usual, texts))

    def is_usual(self, text: str) -> bool:
        """Whether a text is empty, or has only usual values in it."""
        return all(_plain(word) in self.usual.split() for word in text.split())


def _plain(word: str) -> str:
    """A number in its shortest form, any other word in small letters."""
    try:
        return f"{abs(float(word)):g}"
    except ValueError:
        return word.lower()


@cache
def treatments(form: Format) -> tuple[Treatment, ...]:
    """The table of a format."""
    table = Path(__file__).with_name("elements.toml").read_text(encoding="utf-8")
    return tuple(Treatment(**row) for row in tomllib.loads(table)[form])


@lru_cache(maxsize=4096)
def treatment_of(name: str, form: Format) -> Treatment | None:
    """The row of an element or attribute; None if there is none. Names go before patterns."""
    rows = [(row, row.names.split()) for row in treatments(form)]
    exact = (row for row, names in rows if name in names)
    alike = (row for row, names in rows if any(fnmatchcase(name, x) for x in names if "*" in x))
    return next(exact, None) or next(alike, None)


def note_elements(root: XmlElement, form: Format, problems: Problems) -> None:
    """Warn of what is left out, refuse what cannot be, and note what is in no table.

    What is left out several times is warned of once, with the links or joints that have it.
    """
    left_out: dict[str, list[tuple[XmlElement, str]]] = {}
    unknown: dict[str, XmlElement] = {}
    waiting = [(root, f"<{root.tag}>")]
    for element, where in waiting:
        parts = [(f"@{key}", element, value) for key, value in element.attributes.items()]
        parts += [(f"/{child.tag}", child, "") for child in element.children]
        for name, part, value in parts:
            row = treatment_of(element.tag + name, form)
            inside = where if part is element else _owner(part, where)
            if row is None and not name.startswith("@xmlns"):
                unknown.setdefault(element.tag + name, part)
            elif row is None or row.treatment == "without effect":
                continue
            elif row.treatment == "read":
                waiting += [(part, inside)] if part is not element else []
            elif not (row.is_usual(value) if part is element else row.says_nothing(part)):
                left_out.setdefault(element.tag + name, []).append((part, inside))
    for name, places in left_out.items():
        _note_left_out(name, places, treatment_of(name, form), problems)
    for name, element in unknown.items():
        _note_unknown(name, element, form, problems)


def _owner(element: XmlElement, where: str) -> str:
    """What messages call the place of an element, in one that they call `where`."""
    name = element.attributes.get("name") or element.attributes.get("reference")
    return f"{element.tag} {name!r}" if name and element.tag in OWNERS else where


def _shown(name: str) -> str:
    parent, _, key = name.partition("@")
    return f"{key!r} of <{parent}>" if key else f"<{name.rpartition('/')[2]}>"


def _note_left_out(
    name: str, places: Sequence[tuple[XmlElement, str]], row: Treatment | None, problems: Problems
) -> None:
    (element, where), *others = places
    names = ", ".join(dict.fromkeys(other for _, other in others[:MOST_NAMED]))
    also = f" (also of {names}{', ...' if len(others) > MOST_NAMED else ''})" if others else ""
    if row is not None and row.treatment == "warned of":
        problems.warn(element, where, f"{_shown(name)} is left out{also}: {row.what}")
    elif row is not None:
        problems.add(element, f"{where}: {_shown(name)} is not read{also}: {row.what}")


def _note_unknown(name: str, element: XmlElement, form: Format, problems: Problems) -> None:
    """Note something that is in no table; a warning if it is much like something that is."""
    kind, sign = ("attribute", "@") if "@" in name else ("element", "/")
    parent, _, own = name.partition(sign)
    start = parent + sign
    names = (x for row in treatments(form) for x in row.names.split() if "*" not in x)
    others = [x.removeprefix(start) for x in names if x.startswith(start)]
    meant = get_close_matches(own, others, n=1, cutoff=0.8)
    text = f"{_shown(name)} is no {kind} of {form} and is skipped"
    text += f"; is {_shown(start + meant[0])} meant?" if meant else ""
    problems.warn(element, f"<{parent}>", text, "warning" if meant else "note")
