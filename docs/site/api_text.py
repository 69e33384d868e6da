"""Every public name with its signature, a line each: docs/api.txt, by which a change is seen."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import armdyn

FILE = Path(__file__).parents[1] / "api.txt"


def api_text() -> str:
    """The text of the file."""
    return "\n".join(sorted(set(_names("armdyn", armdyn)))) + "\n"


def _names(name: str, thing: Any) -> Iterator[str]:
    """A line for a function or number, and one for each name in a module or a class."""
    if inspect.ismodule(thing):
        own = [key for key, value in vars(thing).items() if _module(value) == thing.__name__]
        for key in getattr(thing, "__all__", own):
            yield from _names(f"{name}.{key}", getattr(thing, key))
    elif inspect.isclass(thing):
        yield name if issubclass(thing, BaseException) else f"{name}{_signature(thing)}"
        for key in dir(thing):
            owner = next((base for base in thing.__mro__ if key in vars(base)), thing)
            if not key.startswith("_") and owner.__module__.startswith("armdyn"):
                value = getattr(thing, key)
                yield f"{name}.{key}{_signature(value) if callable(value) else ''}"
    else:
        yield f"{name}{_signature(thing) if callable(thing) else ''}"


def _module(thing: Any) -> str:
    return getattr(thing, "__module__", "")


def _signature(function: Any) -> str:
    parts, star = [], False
    for p in inspect.signature(function).parameters.values():
        if p.name == "self":
            continue
        if p.kind is p.KEYWORD_ONLY and not star:
            parts.append("*")
        star |= p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        sign = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        kind = p.annotation if isinstance(p.annotation, str) else _shown(p.annotation)
        text = f"{sign}{p.name}{'' if p.annotation is p.empty else f': {kind}'}"
        parts.append(text if p.default is p.empty else f"{text} = {_shown(p.default)}")
    return f"({', '.join(parts)})"


def _shown(value: Any) -> str:
    """A default or a type, without the modules of names and without addresses."""
    text = (
        value.__name__
        if inspect.isclass(value) or (callable(value) and hasattr(value, "__name__"))
        else repr(value)
    )
    return re.sub(r"\b(?:\w+\.)+(?=[A-Za-z_])", "", re.sub(r" at 0x\w+", "", text))


if __name__ == "__main__":
    FILE.write_text(api_text(), encoding="utf-8")
