"""XML files as small frozen trees that know their lines, read without trusting them.

Attributes are read with their types, and every problem of a file is gathered before it is refused.
`elements.toml` has what becomes of every element and attribute of URDF and SDF, and of what other
programs add. Elements that are read are looked into; what is in another one has its treatment.
"""

import math
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache, lru_cache, partial
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Literal
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import DescriptionError, ModelError
from armdyn.io.regular import read_regular
from armdyn.model import Rotor
from armdyn.model.transform import rotation_from_rpy, transform
from armdyn.model.validate import Finding, Level

MAX_DEPTH = 100
"""Deepest nesting of elements."""
MAX_ELEMENTS = 200_000
"""Most elements in one file."""

_ENTITY = re.compile(rb"<!ENTITY\s+(?:%\s+)?([^\s>]{1,80})")
_LATE_DECLARATION = re.compile(rb"\A(\xef\xbb\xbf)?(\s+)(<\?xml\s[^>]*\?>)")
"""<?xml ...?> behind empty lines, which most readers accept."""
_VALUE = re.compile(rb"""=\s*("[^"<]*"|'[^'<]*')""")
_NOT_XML = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


@dataclass(frozen=True, slots=True)
class XmlElement:
    """An element of an XML file."""

    tag: str
    attributes: Mapping[str, str]
    children: tuple["XmlElement", ...]
    line: int = 0
    """The line of its opening tag, counted from 1; 0 in a tree that was not read."""
    text: str = ""
    """What it says between its tags, without spaces around; that is not written."""
    file: Path | None = field(default=None, compare=False)
    """The file that it was read from."""

    def refusal(self, error: type[DescriptionError], message: str) -> DescriptionError:
        """An error at this element, to be raised by the caller."""
        return error(message, file=self.file, line=self.line)

    def all(self, tag: str) -> tuple["XmlElement", ...]:
        """The children of that name."""
        return tuple(child for child in self.children if child.tag == tag)

    def says_same(self, other: "XmlElement") -> bool:
        """Whether another element is equal but for lines and spaces."""
        one, another = (
            [(x.tag, {key: value.split() for key, value in x.attributes.items()}, x.text.split(),
              len(x.children)) for x in element.walk()]
            for element in (self, other)
        )  # fmt: skip
        return one == another

    def walk(self) -> Iterator["XmlElement"]:
        """The element and everything in it, in the order of the file."""
        yield self
        for child in self.children:
            yield from child.walk()


def text_from_element(root: XmlElement) -> str:
    """The text of an XML document, indented."""
    lines = ['<?xml version="1.0" encoding="utf-8"?>']

    def write(element: XmlElement, indent: str) -> None:
        words = [element.tag, *(f"{k}={_quoted(v)}" for k, v in element.attributes.items())]
        opening = f"{indent}<{' '.join(words)}"
        if not element.children:
            lines.append(f"{opening}/>")
            return
        lines.append(f"{opening}>")
        for child in element.children:
            write(child, indent + "  ")
        lines.append(f"{indent}</{element.tag}>")

    write(root, "")
    return "\n".join(lines) + "\n"


def _quoted(value: str) -> str:
    if _NOT_XML.search(value):
        raise ModelError(f"{value!r} has a character that XML cannot hold; choose another name")
    return quoteattr(value)


def read_xml(
    path: str | Path, error: type[DescriptionError], line_breaks: bool = False
) -> XmlElement:
    """The root element of an XML file, if wanted with the line breaks and tabs in attributes.

    Refuses what no robot description needs and an attacker might use: declarations in a DOCTYPE,
    external documents, huge files, deep nesting. Errors are of the given class, with file and line.
    """
    path = Path(path)
    data = read_regular(path, partial(error, file=path))
    if not data.strip():
        raise error("the file is empty; expected XML", file=path)
    return parse_xml(path, error, _VALUE.sub(_with_breaks, data) if line_breaks else data)


def _with_breaks(value: re.Match[bytes]) -> bytes:
    """A value in which line breaks and tabs stand for themselves; XML reads them as spaces."""
    kept = value[1].replace(b"\r\n", b"&#10;").replace(b"\n", b"&#10;").replace(b"\t", b"&#9;")
    return b"=" + kept


def parse_xml(path: Path, error: type[DescriptionError], data: bytes) -> XmlElement:
    """The root element of an XML document; errors name the path as its file."""
    data = _LATE_DECLARATION.sub(rb"\1\3\2", data, count=1)
    parser, counter = expat.ParserCreate(), count(1)
    # tag, attributes, children, line and text of each element that is open; below them the root
    open_elements: list[tuple[str, Mapping[str, str], list[XmlElement], int, list[str]]]
    open_elements = [("", {}, [], 0, [])]

    def refusal(message: str, line: int | None = None) -> DescriptionError:
        return error(message, file=path, line=line or parser.CurrentLineNumber)

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(open_elements) > MAX_DEPTH:
            raise refusal(f"elements are nested more than {MAX_DEPTH} deep")
        if next(counter) > MAX_ELEMENTS:
            raise refusal(f"there are more than {MAX_ELEMENTS} elements")
        frozen = MappingProxyType(attributes)
        open_elements.append((tag, frozen, [], parser.CurrentLineNumber, []))

    def say(text: str) -> None:
        if not text.isspace():
            open_elements[-1][4].append(text)

    def end(_tag: str) -> None:
        tag, attributes, children, line, said = open_elements.pop()
        text = "".join(said).strip()
        element = XmlElement(tag, attributes, tuple(children), line, text, path)
        open_elements[-1][2].append(element)

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = say
    parser.StartDoctypeDeclHandler = partial(_refuse_doctype, refusal, data)
    try:
        parser.Parse(data, True)
    except expat.ExpatError as reason:
        hint = "" if _is_text(data) else "; the file does not look like UTF-8 text"
        if reason.code == expat.errors.codes[expat.errors.XML_ERROR_MISPLACED_XML_PI]:
            hint = "; delete what stands before <?xml, or the <?xml ...?> itself"
        words = expat.errors.messages[reason.code]
        text = f"not well-formed XML: {words}, column {reason.offset + 1}{hint}"
        raise refusal(text, reason.lineno) from None
    except DescriptionError:
        raise
    except (LookupError, ValueError) as reason:  # an encoding that Python does not know
        raise refusal(f"unreadable encoding: {reason}; save it as UTF-8") from None
    return open_elements[0][2][0]


def _refuse_doctype(
    refusal: Callable[..., DescriptionError],
    data: bytes,
    _name: str,
    system: str | None,
    public: str | None,
    inner: bool,
) -> None:
    """Refuse a DOCTYPE that refers to anything or declares something."""
    if system or public:
        raise refusal(
            f"its DOCTYPE refers to the external document {system or public!r}, which is "
            "refused; remove the DOCTYPE line"
        )
    if inner and (entity := _ENTITY.search(data)):
        raise refusal(
            f"it declares the entity {entity[1].decode(errors='replace')!r}; entities are "
            "refused because they can expand without end or read other files. Write its text "
            "out where it is used",
            data.count(b"\n", 0, entity.start()) + 1,
        )
    if inner:
        raise refusal(
            "there are declarations in its DOCTYPE, which are refused because a few bytes of "
            "them can take much memory; remove the DOCTYPE"
        )


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode("utf-8")
    except UnicodeDecodeError:
        return False


_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(slots=True)
class Problems:
    """What is wrong with a file, gathered while it is read."""

    file: Path
    error: type[DescriptionError]
    """The class that is raised, unless every problem is of one other class."""
    found: list[tuple[str, int, str, type[DescriptionError]]] = field(default_factory=list)
    """File, line, text and class of each problem."""
    findings: list[Finding] = field(default_factory=list)
    """What is odd but no problem."""

    def add(
        self, element: XmlElement, message: str, error: type[DescriptionError] | None = None
    ) -> None:
        """Note a problem at an element."""
        where = str(element.file or self.file), element.line
        self.found.append((*where, message, error or self.error))

    def warn(self, element: XmlElement, where: str, message: str, level: Level = "warning") -> None:
        """Note something odd at an element."""
        text = f"{element.file or self.file}:{element.line}: {where}: {message}"
        self.findings.append(Finding(level, where, text))

    def raise_if_any(self) -> None:
        """Raise one error that lists every problem, in the order of the file."""
        if not self.found:
            return
        own = str(self.file)
        found = sorted(dict.fromkeys(self.found), key=lambda p: (p[0] != own, *p[:2]))
        kinds = {error for *_, error in found}
        error = kinds.pop() if len(kinds) == 1 else self.error
        (file, line, message, _), *rest = found
        if rest:
            listed = "".join(
                f"\n  {'' if name == own else name + ', '}line {n}: {text}"
                for name, n, text, _ in rest[:50]
            )
            message += f"\nand {len(rest)} more:{listed}" + ("\n  ..." if len(rest) > 50 else "")
        raise error(message, file=Path(file), line=line)


@dataclass(frozen=True, slots=True)
class Place:
    """An element of a file, what it is called in messages, and where its problems go."""

    element: XmlElement
    where: str
    problems: Problems

    @property
    def attributes(self) -> Mapping[str, str]:
        """Those of the element."""
        return self.element.attributes

    def add(self, message: str, error: type[DescriptionError] | None = None) -> None:
        """Note a problem here."""
        self.problems.add(self.element, message, error)

    def warn(self, message: str) -> None:
        """Note something odd here."""
        self.problems.warn(self.element, self.where, message)

    def only(self, tag: str) -> "Place | None":
        """The one child of that name, or None; another one is a problem unless it says the same."""
        found = [Place(child, self.where, self.problems) for child in self.element.all(tag)]
        for again in found[1:2]:
            if all(other.element.says_same(found[0].element) for other in found):
                again.warn(f"a second <{tag}> that says the same is left out")
            else:
                again.add(f"{self.where}: a second <{tag}>; there can be one")
        return found[0] if found else None

    def needed(self, tag: str) -> "Place | None":
        """The one child of that name, whose absence is a problem."""
        found = self.only(tag)
        if found is None:
            self.add(f"{self.where}: <{self.element.tag}> has no <{tag}> in it")
        return found

    def text(self, key: str) -> str | None:
        """The text of an attribute that must be there and not empty."""
        value = self.attributes.get(key)
        if not value:
            state = "has no" if value is None else "has an empty"
            self.add(f"{self.where}: <{self.element.tag}> {state} attribute {key!r}")
        return value or None

    def number(self, key: str, default: float | None = None, least: float = -math.inf) -> float:
        """A finite number of at least `least`; without a default the attribute must be there."""
        text, tag = self.attributes.get(key), self.element.tag
        if text is None and default is None:
            self.add(f"{self.where}: <{tag}> has no attribute {key!r}")
        numbers = None if text is None else self.parsed(f"{key} of <{tag}>", text, 1)
        if numbers is None:
            return default or 0.0
        if numbers[0] < least:
            self.add(f"{self.where}: {key} of <{tag}> is {text!r}; it must be at least {least:g}")
        return numbers[0]

    def vector(self, key: str, default: tuple[float, ...] = (0.0,) * 3) -> Array:
        """As many finite numbers as the default has, which holds where there are none."""
        text, what = self.attributes.get(key), f"{key} of <{self.element.tag}>"
        given = None if text is None else self.parsed(what, text, len(default))
        return np.array(default if given is None else given)

    def origin(self, tag: str = "origin") -> Array:
        """The transform in the child of that name, xyz [m] and rpy [rad]; none: the identity."""
        child = self.only(tag)
        if child is None:
            return np.eye(4)
        return transform(rotation_from_rpy(child.vector("rpy")), child.vector("xyz"))

    def parsed(self, what: str, text: str, count: int) -> list[float] | None:
        """That many finite numbers; None, and a problem, where there is anything else."""
        words = text.split()
        values = [float(word) for word in words if _NUMBER.fullmatch(word)]
        if len(words) == len(values) == count and all(map(math.isfinite, values)):
            return values
        expected = "a finite number" if count == 1 else f"{count} finite numbers"
        shown = text if len(text) <= 80 else text[:77] + "..."
        self.add(f"{self.where}: {what} is {shown!r}; expected {expected}")
        return None


def drake_rotor(joint: Place, inertia: float | None, ratio: float | None, effort: float) -> Rotor:
    """The rotor in Drake's elements of a joint; what of them has no effect is warned of."""
    if inertia is None or not effort:
        if inertia is not None:
            joint.warn("its rotor is left out: a joint whose effort is 0 has no actuator in Drake")
        elif ratio is not None:
            joint.warn("<drake:gear_ratio> has no effect without <drake:rotor_inertia>")
        return Rotor()
    rotor = Rotor(inertia, 1.0 if ratio is None else ratio)
    if rotor.fault:
        joint.add(f"{joint.where}: {rotor.fault}")
    return rotor


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
    others = {other.lower(): other for parent, other in names if parent == start}
    meant = [others[x] for x in get_close_matches(own.lower(), others, n=1, cutoff=0.8)]
    text = f"{_shown(name)} is no {kind} of {form} and is skipped"
    text += f"; is {_shown(start + sign + meant[0])} meant?" if meant else ""
    problems.warn(element, f"<{start}>", text, "warning" if meant else "note")


def _shown(name: str) -> str:
    parent, _, key = name.partition("@")
    return f"{key!r} of <{parent}>" if key else f"<{name.rpartition('/')[2]}>"
