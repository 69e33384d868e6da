"""Random bad input for the readers, the functions and the commands of armdyn.

A try is made by its kind and its number alone, so that each can be made again. It ends well, with
an error of armdyn, or with a fault: another exception, no end, a file that armdyn wrote and does
not read, or JSON that is none.
"""

import io
import json
import os
import random
import re
import signal
import string
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import patch

import numpy as np
from fuzz_calls import calls
from fuzz_seeds import (
    COMMANDS,
    FILES,
    MOTION,
    ODD_NUMBERS,
    ODD_TEXTS,
    ODD_VALUES,
    TORQUES,
    TheirError,
)

import armdyn
from armdyn.cli import main
from armdyn.errors import ArmdynError
from armdyn.formulations.newton_euler import newton_euler
from armdyn.io.csv.trajectory import torques_from_csv, trajectory_from_csv
from armdyn.io.describe import describe
from armdyn.io.dh import COLUMNS
from armdyn.io.files import read_model, save_model
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel
from armdyn.study.check.check import check

PATIENCE = 30.0
"""Seconds after which a try counts as one without end."""
KINDS = ("file", "call", "command")

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
_TEXT = re.compile(r'(?<=")[^"\n]*(?=")')


def mutated(text: str, rng: random.Random) -> bytes:
    """The text with one to three faults in it."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        text = rng.choice(_MUTATORS)(text, rng)
    data = text.encode(rng.choice(["utf-8"] * 18 + ["utf-16", "latin-1"]), "replace")
    if rng.random() < 0.1 and data:
        at = rng.randrange(len(data))
        data = data[:at] + rng.randbytes(rng.choice((1, 1, 4))) + data[at + rng.choice((0, 1)) :]
    return data


def _replaced(pattern: re.Pattern[str], odd: list[str]) -> Callable[[str, random.Random], str]:
    def replaced(text: str, rng: random.Random) -> str:
        found = list(pattern.finditer(text))
        if not found:
            return text
        one = rng.choice(found)
        other = rng.choice(odd) if rng.random() < 0.8 else rng.choice(found)[0]
        return text[: one.start()] + other + text[one.end() :]

    return replaced


def _lines(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            del lines[a]
        case 1:
            lines.insert(a, lines[b])
        case 2:
            lines[a], lines[b] = lines[b], lines[a]
        case 3:
            lines = lines[:a]
    return "\n".join(lines)


def _span(text: str, rng: random.Random) -> str:
    a = rng.randrange(len(text) + 1)
    b = min(len(text), a + rng.choice((0, 1, 3, 30)))
    words = ["", *string.punctuation, "\n", '"""', "<!DOCTYPE a [", "<!-- ", text[b : b + 40]]
    new = rng.choice(words)
    return text[:a] + new + text[b:]


def _element(text: str, rng: random.Random) -> str:
    """An element of XML left out, or put in once more."""
    found = list(re.finditer(r"<(\w++)[^<>]*+(?:(?<=/)>|>.*?</\1>)", text, re.DOTALL))
    if not found:
        return text
    one, other = rng.choice(found), rng.choice(found)
    again = rng.random() < 0.5
    return text[: one.start()] + (one[0] + other[0] if again else "") + text[one.end() :]


_MUTATORS = (
    *[_element] * 2,
    *[_replaced(_NUMBER, ODD_NUMBERS)] * 4,
    *[_replaced(_TEXT, [*ODD_TEXTS, *ODD_NUMBERS])] * 3,
    _replaced(re.compile(r"\w+"), [*ODD_TEXTS, *ODD_NUMBERS]),
    _lines,
    _span,
)


class NoEndError(Exception):
    """A try that takes too long."""


class NotReadBackError(Exception):
    """A file that armdyn wrote and refuses, or JSON that is none."""


@dataclass(frozen=True)
class Fault:
    """A try that ended as none should."""

    kind: str
    number: int
    doing: str
    error: BaseException

    @property
    def place(self) -> str:
        """The innermost line of armdyn."""
        found, trace = "", self.error.__traceback__
        while trace is not None:
            file = trace.tb_frame.f_code.co_filename.replace(os.sep, "/")
            if "/armdyn/" in file:
                found = f"{file.rpartition('/armdyn/')[2]}:{trace.tb_lineno}"
            trace = trace.tb_next
        return found

    def __str__(self) -> str:
        error, words = type(self.error).__name__, " ".join(str(self.error).split())
        return f"{self.kind} {self.number}, {self.doing:.150}: {error} {self.place}: {words:.200}"


class Fuzzer:
    """Makes tries in a folder of its own."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._calls = calls(folder)
        self._doing = ""

    def attempt(self, kind: str, number: int) -> Fault | None:
        """Make one try; None if it ended well."""
        rng = random.Random(f"{kind} {number}")
        make = {"file": self._read, "call": self._call, "command": self._run}[kind]
        try:
            # odd names of files and folders are written here and nowhere else
            with chdir(self.folder), _patience(PATIENCE), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                make(rng)
        except (ArmdynError, TheirError):
            return None
        except Exception as error:
            return Fault(kind, number, self._doing, error)
        return None

    def _read(self, rng: random.Random) -> None:
        """Read a file with faults; what is in it is described, computed, saved and read again."""
        name = rng.choice(list(FILES))
        path = self.folder / f"given.{name}"
        path.write_bytes(mutated(FILES[name], rng))
        self._doing = f"read {name}"
        if path.suffix == ".csv":
            (torques_from_csv if name == "torques.csv" else trajectory_from_csv)(path, 2)
            return
        physical = rng.choice(("error", "ignore"))
        model, _ = read_model(path, physical=physical, fix_root=rng.random() < 0.5)
        self._use(model)
        if rng.random() < 0.1:
            self._doing = f"check {name}"
            check(path)

    def _use(self, model: RobotModel) -> None:
        before = self._doing
        self._doing = f"{before}, describe it"
        json.dumps(describe(model), allow_nan=False)
        self._doing = f"{before}, compute with it"
        newton_euler(model, *np.zeros((3, len(model.joints))))
        coordinates_of(model)
        for suffix in (".toml", ".urdf"):
            self._doing = f"{before}, save it as {suffix}"
            saved = self.folder / f"saved{suffix}"
            try:
                save_model(model, saved)
            except ArmdynError:
                continue
            try:
                read_model(saved, physical="ignore")
            except ArmdynError as error:
                raise NotReadBackError(str(error)) from error

    def _call(self, rng: random.Random) -> None:
        """Call a function with one or two arguments that are odd."""
        call = rng.choice(self._calls)
        given = dict(call.given)
        for _ in range(rng.choice((1, 1, 2))):
            if not call.arguments:
                break
            key = rng.choice(call.arguments)
            given[key] = _odd(given.get(key), key, rng)
        self._doing = f"{call.name}({', '.join(given)})"
        with redirect_stdout(io.StringIO()):  # print is among the values
            result = call.function(**given)
        if isinstance(result, armdyn.Robot):
            self._use(result.model)

    def _run(self, rng: random.Random) -> None:
        """Run a command line with faults; what it prints as JSON must be JSON."""
        words = rng.choice(COMMANDS).split()
        robots = [name for name in FILES if not name.endswith("csv")]
        for name in (*robots, "move.csv", "torques.csv"):
            text = {"move.csv": MOTION, "torques.csv": TORQUES}.get(name) or FILES[name]
            content = mutated(text, rng) if rng.random() < 0.4 else text.encode()
            (self.folder / f"arm.{name}").write_bytes(content)
        words = [f"arm.{rng.choice(robots)}" if word == "ARM" else word for word in words]
        words += ["--json"] * (rng.random() < 0.5)
        for _ in range(rng.choice((0, 1, 1, 2))):
            at = rng.randrange(1, len(words) + 1)
            words[at : at + rng.choice((0, 1))] = [rng.choice([*ODD_TEXTS, *ODD_NUMBERS])]
        self._doing = " ".join(word[:40] for word in words)
        out, code = io.StringIO(), None
        here = Path.cwd()
        os.chdir(self.folder)
        try:
            with (
                patch.object(sys, "argv", ["armdyn", *words]),
                redirect_stdout(out),
                redirect_stderr(io.StringIO()),
            ):
                main()
        except SystemExit as end:
            code = end.code
        finally:
            os.chdir(here)
        if not code and "--json" in words and not {"--help", "-h", "--version", "-"} & {*words}:
            try:
                json.loads(out.getvalue(), parse_constant=_refuse)
            except ValueError as error:
                raise NotReadBackError(f"no JSON: {error}") from error


def _odd(right: Any, key: str, rng: random.Random) -> Any:
    """An odd value in place of an argument, or of a part of it."""
    value = rng.choice(ODD_VALUES)
    if key == "rows" and isinstance(right, list) and isinstance(right[0], dict):
        return [right[0] | {rng.choice(COLUMNS): value}, *right[1 : rng.choice((1, 2))]]
    return [value, *right[1:]] if isinstance(right, list) and rng.random() < 0.3 else value


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


@contextmanager
def _patience(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise NoEndError(f"took longer than {seconds:g} s")

    if not hasattr(signal, "SIGALRM"):  # Windows
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
