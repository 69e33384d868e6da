"""The XML reader: what it keeps, and what it refuses before it can do harm."""

import os
import time
import tracemalloc
from pathlib import Path
from xml.etree import ElementTree

import pytest

from armdyn.errors import MjcfError, ModelError, UrdfError
from armdyn.io import xml
from armdyn.io.xml import XmlElement, read_xml, text_from_element


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "robot.urdf"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_tree_is_that_of_the_standard_library(tmp_path: Path) -> None:
    text = '<?xml version="1.0"?>\n<a x="1">\n  <b/><!-- c -->\n  <b y="&lt;é"><c/>text</b>\n</a>'

    def shape(element: XmlElement | ElementTree.Element) -> tuple:
        attributes = element.attributes if isinstance(element, XmlElement) else element.attrib
        children = element.children if isinstance(element, XmlElement) else element
        return element.tag, dict(attributes), [shape(child) for child in children]

    root = read_xml(write(tmp_path, text), UrdfError)
    assert shape(root) == shape(ElementTree.fromstring(text))
    assert [element.line for element in root.walk()] == [2, 3, 4, 4]
    assert [b.attributes for b in root.all("b")] == [{}, {"y": "<é"}]


def test_tree_cannot_be_changed(tmp_path: Path) -> None:
    root = read_xml(write(tmp_path, '<a x="1"/>'), UrdfError)
    with pytest.raises(TypeError):
        root.attributes["x"] = "2"


def test_text_survives_the_round_trip(tmp_path: Path) -> None:
    value = "\"quoted\" & 'both' <tag>\n\ttab, é, 机器人"
    root = XmlElement("a", {"x": value}, (XmlElement("b", {}, ()), XmlElement("c", {"y": "1"}, ())))
    back = read_xml(write(tmp_path, text_from_element(root)), UrdfError)
    assert back.attributes == {"x": value}
    assert [child.tag for child in back.children] == ["b", "c"]


@pytest.mark.parametrize("value", ["a\x00b", "\x0b", "\ud800"])
def test_characters_that_xml_cannot_hold_are_not_written(value: str) -> None:
    with pytest.raises(ModelError, match="character that XML cannot hold"):
        text_from_element(XmlElement("a", {"name": value}, ()))


def test_entity_expansion_is_refused_at_once(tmp_path: Path) -> None:
    lines = ['<!ENTITY e0 "lol">']
    lines += [f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 10)]
    text = f"<!DOCTYPE a [\n{chr(10).join(lines)}\n]>\n<a>&e9;</a>"
    start = time.perf_counter()
    with pytest.raises(UrdfError, match=r"^\S*robot.urdf:2: it declares the entity 'e0'.*refused"):
        read_xml(write(tmp_path, text), UrdfError)
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize(
    "declaration",
    ['<!ENTITY x SYSTEM "secret.txt">', '<!ENTITY % x SYSTEM "secret.txt"> %x;'],
    ids=["general", "parameter"],
)
def test_external_entities_are_refused(tmp_path: Path, declaration: str) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    with pytest.raises(UrdfError, match="declares the entity 'x'"):
        read_xml(write(tmp_path, f"<!DOCTYPE a [{declaration}]><a>&x;</a>"), UrdfError)


def test_external_dtd_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UrdfError, match=r"external document 'http://x.org/a.dtd'.*remove"):
        read_xml(write(tmp_path, '<!DOCTYPE a SYSTEM "http://x.org/a.dtd"><a/>'), UrdfError)


def test_plain_doctype_is_harmless(tmp_path: Path) -> None:
    assert read_xml(write(tmp_path, "<!DOCTYPE robot><robot/>"), UrdfError).tag == "robot"


def test_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.urdf"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    start = time.perf_counter()
    with pytest.raises(UrdfError, match="more than the 20 MB"):
        read_xml(path, UrdfError)
    assert time.perf_counter() - start < 0.1


def test_nesting_up_to_the_limit_and_no_deeper(tmp_path: Path) -> None:
    def nested(depth: int) -> Path:
        return write(tmp_path, "<a>\n" * depth + "</a>" * depth)

    assert len(list(read_xml(nested(xml.MAX_DEPTH), UrdfError).walk())) == xml.MAX_DEPTH
    with pytest.raises(
        UrdfError, match=rf"^\S*robot.urdf:{xml.MAX_DEPTH + 1}: elements are nested more than 100"
    ):
        read_xml(nested(xml.MAX_DEPTH + 1), UrdfError)
    with pytest.raises(UrdfError, match="nested more than 100"):
        read_xml(nested(1_000_000), UrdfError)


@pytest.mark.slow
def test_number_of_elements_is_limited(tmp_path: Path) -> None:
    with pytest.raises(UrdfError, match="more than 200000 elements"):
        read_xml(write(tmp_path, f"<a>{'<b/>' * 200_000}</a>"), UrdfError)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b" \n\t ", "the file is empty"),
        (b"<a>\n<b>\n</a>", r":3: not well-formed XML: mismatched tag"),
        (b"<a>", "not well-formed XML: no element found"),
        (b"<a/><b/>", "junk after document element"),
        (b'<a x="1" x="2"/>', "duplicate attribute"),
        (b"\x7fELF\x00\x01\x02\xff", "does not look like UTF-8 text"),
        (b"<a x='\xff\xfe'/>", "does not look like UTF-8 text"),
        (b'<?xml version="1.0" encoding="klingon"?><a/>', "unknown encoding"),
        (b"mass = 3", "not well-formed XML: syntax error, column 1"),
    ],
)
def test_rubbish_is_refused_with_its_reason(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(UrdfError, match=message):
        read_xml(write(tmp_path, content), UrdfError)


def test_missing_file_directory_and_device(tmp_path: Path) -> None:
    with pytest.raises(UrdfError, match=r"nothing.urdf: there is no such file"):
        read_xml(tmp_path / "nothing.urdf", UrdfError)
    with pytest.raises(UrdfError, match="this is a directory"):
        read_xml(tmp_path, UrdfError)
    with pytest.raises(UrdfError, match=r"cannot be read: .*null byte"):
        read_xml("a\0b", UrdfError)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.urdf")
    with pytest.raises(UrdfError, match="a device or a pipe"):
        read_xml(tmp_path / "pipe.urdf", UrdfError)


def test_file_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = write(tmp_path, "<a/>")
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(UrdfError, match="no permission to read this file"):
        read_xml(path, UrdfError)


def test_error_is_of_the_class_that_was_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, "<a>\n</b>")
    with pytest.raises(MjcfError, match="mismatched tag") as caught:
        read_xml(path, MjcfError)
    assert (caught.value.file, caught.value.line) == (path, 2)


@pytest.mark.parametrize(
    "subset",
    [
        "<!ATTLIST a x CDATA '1'>",
        "<!ELEMENT a ANY>",
        "<!NOTATION n SYSTEM 'x'>",
        "<!-- c -->",
        "<?p?>",
        "",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_declarations_in_a_doctype_are_refused(tmp_path: Path, subset: str, encoding: str) -> None:
    text = f"<!DOCTYPE a [{subset}]><a/>".encode(encoding)
    with pytest.raises(UrdfError, match=r"robot.urdf:1: there are declarations in its DOCTYPE"):
        read_xml(write(tmp_path, text), UrdfError)


def test_default_attributes_cost_nothing(tmp_path: Path) -> None:
    defaults = "".join(f"<!ATTLIST b x{i} CDATA '{'9' * 50}'>" for i in range(1000))
    path = write(tmp_path, f"<!DOCTYPE a [{defaults}]><a>{'<b/>' * 20_000}</a>")
    tracemalloc.start()
    with pytest.raises(UrdfError, match="declarations in its DOCTYPE"):
        read_xml(path, UrdfError)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20
