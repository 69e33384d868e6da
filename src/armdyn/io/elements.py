"""What becomes of every element and attribute of URDF and SDF, and of what other programs add.

The tables are in `elements.toml`. Elements that are read are looked into; what is in another one
has its treatment.
"""

import tomllib
from collections.abc import Collection
from dataclasses import dataclass, replace
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
    """Values that say nothing."""

    def concerns(self, element: XmlElement) -> bool:
        """Whether there is anything to say about an element, with what is in it."""
        texts = (text for x in element.walk() for text in (x.text, *x.attributes.values()))
        words = (word for text in texts for word in text.split())
        says_something = any(_plain(word) not in self.usual.split() for word in words)
        return says_something and self.treatment in ("warned of", "refused")


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


def note_elements(
    root: XmlElement, form: Format, problems: Problems, but: Collection[str] = ()
) -> None:
    """Warn of what is left out, refuse what cannot be, and note what is in no table.

    What is there several times is said once, with the links or joints that have it. Elements of
    the names `but` are passed over.
    """
    noted: dict[tuple[str, Treatment | None], list[tuple[XmlElement, str]]] = {}
    waiting = [(root, f"<{root.tag}>")]
    for element, where in waiting:
        bare = replace(element, attributes={}, children=())
        attributes = (replace(bare, tag=f"@{k}", text=v) for k, v in element.attributes.items())
        for part in (*attributes, *element.children):
            name = f"{element.tag}/{part.tag}".replace("/@", "@")
            owner = part.attributes.get("name") or part.attributes.get("reference")
            inside = f"{part.tag} {owner!r}" if owner and part.tag in OWNERS else where
            row = treatment_of(name, form)
            if row is not None and row.treatment == "read":
                waiting += [] if name in but else [(part, inside)]
            elif row is None or row.concerns(part):
                noted.setdefault((name, row), []).append((part, inside))
    for (name, row), ((element, where), *others) in noted.items():
        names = ", ".join(dict.fromkeys(other for _, other in others[:MOST_NAMED]))
        more = ", ..." if len(others) > MOST_NAMED else ""
        also = f" (also of {names}{more})" if others else ""
        if row is None:
            _note_unknown(name, element, form, problems)
        elif row.treatment == "refused":
            problems.add(element, f"{where}: {_shown(name)} is not read{also}: {row.what}")
        else:
            problems.warn(element, where, f"{_shown(name)} is left out{also}: {row.what}")


def _note_unknown(name: str, element: XmlElement, form: Format, problems: Problems) -> None:
    """Note something that is in no table; a warning if it is much like something that is."""
    kind, sign = ("attribute", "@") if "@" in name else ("element", "/")
    start, own = name.split(sign, 1)
    names = (x.split(sign, 1) for row in treatments(form) for x in row.names.split() if sign in x)
    others = [other for parent, other in names if parent == start]
    meant = get_close_matches(own, others, n=1, cutoff=0.8)
    text = f"{_shown(name)} is no {kind} of {form} and is skipped"
    text += f"; is {_shown(start + sign + meant[0])} meant?" if meant else ""
    problems.warn(element, f"<{start}>", text, "warning" if meant else "note")


def _shown(name: str) -> str:
    parent, _, key = name.partition("@")
    return f"{key!r} of <{parent}>" if key else f"<{name.rpartition('/')[2]}>"
