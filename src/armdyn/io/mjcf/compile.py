"""An MJCF file compiled by MuJoCo, after a look at every file that MuJoCo will open for it."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import mujoco

from armdyn.errors import MjcfError
from armdyn.io.regular import check_regular
from armdyn.io.xml import XmlElement, read_xml

MAX_BODIES = 5000
"""Most bodies in one robot."""
MAX_ASSET_BYTES = 512 * 2**20
"""Largest mesh, texture or height field that MuJoCo is let read [bytes]."""
_DOCUMENTS = ("include", "model")
_FOLDERS = ("assetdir", "meshdir", "texturedir")


def compiled(path: Path) -> tuple[Any, list[str]]:
    """The compiled model, and what MuJoCo warns of."""
    _check_files(path)
    with mujoco_warnings() as said:
        try:
            m = mujoco.MjModel.from_xml_path(str(path))
        except (ValueError, RuntimeError, mujoco.FatalError) as reason:
            message = " ".join(str(reason).split())
            raise MjcfError(f"MuJoCo cannot compile it: {message}", file=path) from reason
    try:
        m.names.decode()
    except UnicodeDecodeError:
        raise MjcfError(
            "a name in it is not UTF-8 text; save the file as UTF-8", file=path
        ) from None
    return m, said


@contextmanager
def mujoco_warnings() -> Iterator[list[str]]:
    """Collect what MuJoCo warns of, which it would print and write to a file MUJOCO_LOG.TXT."""
    said: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(said.append)
    try:
        yield said
    finally:
        mujoco.set_mju_user_warning(before)


def _check_files(path: Path) -> None:
    """Refuse documents that are no trustworthy XML, and assets that are no regular files."""
    documents = _documents(path)
    beside = list(dict.fromkeys(file.parent for file in documents))
    elements = [element for root in documents.values() for element in root.walk()]
    if sum(element.tag == "body" for element in elements) > MAX_BODIES:
        raise MjcfError(f"there are more than {MAX_BODIES} bodies", file=path)
    for element in elements:
        if element.tag == "connect" and not element.attributes.get("anchor", "0").strip():
            text = "anchor of <connect> is empty; expected 3 numbers"  # MuJoCo would stall
            raise element.refusal(MjcfError, text)
    inner = _values(elements, lambda tag, key: tag == "compiler" and key in _FOLDERS)
    folders = beside + [folder / name for folder in beside for name in inner]
    assets = _values(elements, lambda tag, key: tag not in _DOCUMENTS and key.startswith("file"))
    for name in assets:
        for asset in (folder / n for folder in folders for n in (name, Path(name).name)):
            check_regular(asset, partial(MjcfError, file=asset), MAX_ASSET_BYTES)


def _values(elements: list[XmlElement], wanted: Callable[[str, str], bool]) -> list[str]:
    """The values of attributes, each once, by the tag of the element and the key."""
    every = ((e.tag, key, value) for e in elements for key, value in e.attributes.items())
    return list(dict.fromkeys(value for tag, key, value in every if wanted(tag, key)))


def _documents(path: Path) -> dict[Path, XmlElement]:
    """The main document and those that it names, looked for beside it and beside one another."""
    found: dict[Path, XmlElement] = {}
    waiting: list[tuple[Path, tuple[Path, ...]]] = [(path, ())]
    while waiting:
        file, above = waiting.pop()
        if file.resolve() in above:  # MuJoCo would attach it for ever
            raise MjcfError("it names itself, directly or through another document", file=file)
        if file.resolve() in (other.resolve() for other in found):
            continue
        found[file] = root = read_xml(file, MjcfError)
        inner = list(root.walk())
        names = _values(inner, lambda tag, key: tag in _DOCUMENTS and key == "file")
        beside = [folder / name for folder in (path.parent, file.parent) for name in names]
        here = *above, file.resolve()
        waiting += [(document, here) for document in beside if os.path.exists(document)]
    root = found[path]
    if root.tag != "mujoco":
        text = f"expected <mujoco> as the outermost element, got <{root.tag}>"
        raise root.refusal(MjcfError, text)
    return found
