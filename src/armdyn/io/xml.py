"""XML files as small frozen trees that know their lines, read without trusting them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from armdyn.errors import DescriptionError, ModelError
from armdyn.io.regular import read_regular

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

    def all(self, tag: str) -> tuple["XmlElement", ...]:
        """The children of that name."""
        return tuple(child for child in self.children if child.tag == tag)

    def says_same(self, other: "XmlElement") -> bool:
        """Whether another element is equal but for lines and spaces."""
        one, another = (
            [(x.tag, {key: value.split() for key, value in x.attributes.items()}, len(x.children))
             for x in element.walk()]
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
    return _Tree(path, error, _LATE_DECLARATION.sub(rb"\1\3\2", data, count=1)).parse()


class _Tree:
    """One pass of expat over a document; `parse` gives the tree."""

    def __init__(self, path: Path, error: type[DescriptionError], data: bytes):
        self._path, self._error, self._data = path, error, data
        self._count = 0
        self._open: list[tuple[str, Mapping[str, str], list[XmlElement], int, list[str]]] = []
        self._root: XmlElement | None = None
        self._parser = parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._doctype
        parser.CharacterDataHandler = self._say

    def parse(self) -> XmlElement:
        try:
            self._parser.Parse(self._data, True)
        except expat.ExpatError as reason:
            hint = "" if _is_text(self._data) else "; the file does not look like UTF-8 text"
            if reason.code == expat.errors.codes[expat.errors.XML_ERROR_MISPLACED_XML_PI]:
                hint = "; delete what stands before <?xml, or the <?xml ...?> itself"
            words = expat.errors.messages[reason.code]
            raise self._error(
                f"not well-formed XML: {words}, column {reason.offset + 1}{hint}",
                file=self._path,
                line=reason.lineno,
            ) from None
        except DescriptionError:
            raise
        except (LookupError, ValueError) as reason:  # an encoding that Python does not know
            raise self._refusal(f"unreadable encoding: {reason}; save it as UTF-8") from None
        assert self._root is not None
        return self._root

    def _refusal(self, message: str) -> DescriptionError:
        return self._error(message, file=self._path, line=self._parser.CurrentLineNumber)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if len(self._open) >= MAX_DEPTH:
            raise self._refusal(f"elements are nested more than {MAX_DEPTH} deep")
        if self._count > MAX_ELEMENTS:
            raise self._refusal(f"there are more than {MAX_ELEMENTS} elements")
        frozen = MappingProxyType(attributes)
        self._open.append((tag, frozen, [], self._parser.CurrentLineNumber, []))

    def _say(self, text: str) -> None:
        if self._open and not text.isspace():
            self._open[-1][4].append(text)

    def _end(self, _tag: str) -> None:
        tag, attributes, children, line, said = self._open.pop()
        text = "".join(said).strip()
        element = XmlElement(tag, attributes, tuple(children), line, text, self._path)
        if self._open:
            self._open[-1][2].append(element)
        else:
            self._root = element

    def _doctype(self, _name: str, system: str | None, public: str | None, inner: bool) -> None:
        if system or public:
            raise self._refusal(
                f"its DOCTYPE refers to the external document {system or public!r}, which is "
                "refused; remove the DOCTYPE line"
            )
        if inner and (entity := _ENTITY.search(self._data)):
            raise self._error(
                f"it declares the entity {entity[1].decode(errors='replace')!r}; entities are "
                "refused because they can expand without end or read other files. Write its text "
                "out where it is used",
                file=self._path,
                line=self._data.count(b"\n", 0, entity.start()) + 1,
            )
        if inner:
            raise self._refusal(
                "there are declarations in its DOCTYPE, which are refused because a few bytes of "
                "them can take much memory; remove the DOCTYPE"
            )


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode("utf-8")
    except UnicodeDecodeError:
        return False
