"""Choices found by a search, kept on disk by the zeros of the robot they were found for."""

import hashlib
import json
import os
import sys
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from armdyn.errors import WriteError
from armdyn.formulations.minimal_choices import Choices, LinkChoice
from armdyn.formulations.minimal_options import options
from armdyn.io.atomic import write_text
from armdyn.model.canonical import CanonicalRobot, is_quarter

FORMAT = 1
"""Changes with the meaning of the choices, so that old files are not taken for new ones."""


def default_folder() -> Path:
    """Where this user's programs keep what can be computed again."""
    if sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches"
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "armdyn" / "choices"


@dataclass(frozen=True, slots=True)
class Kept:
    """A folder of small JSON files; a damaged or foreign one is as good as none."""

    folder: Path

    def find(self, robot: CanonicalRobot, quantity: str) -> Choices | None:
        """The choices kept for a robot with these zeros, or None."""
        try:
            data = json.loads(self._path(robot, quantity).read_text(encoding="utf-8"))
            choices = _choices(data)
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return choices if _possible(robot, choices) else None

    def store(self, robot: CanonicalRobot, quantity: str, choices: Choices) -> None:
        """Keep choices; a folder that cannot be written is no error."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_text(self._path(robot, quantity), json.dumps(asdict(choices)))
        except (OSError, WriteError):
            return

    def _path(self, robot: CanonicalRobot, quantity: str) -> Path:
        text = json.dumps([FORMAT, quantity, pattern(robot)])
        return self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"


def pattern(robot: CanonicalRobot) -> list[Any]:
    """What the count depends on: the tree, quarter turns, and which numbers are 0 or ±1."""

    def number(value: float) -> float | str:
        return float(value) if value in (0.0, 1.0, -1.0) else "x"

    def angle(value: float) -> float | str:
        return float(value) if is_quarter(value) else "x"

    return [
        [
            link.parent,
            link.prismatic,
            link.sign,
            *map(angle, (link.alpha, link.gamma, link.theta)),
            *map(number, (link.r, link.M, *link.across, *link.J.flat, *link.u, *link.gravity)),
        ]
        for link in robot.links
    ]


def _choices(data: dict[str, Any]) -> Choices:
    links = tuple(LinkChoice(**link) for link in data.pop("links"))
    units = {key: data[key] and tuple(data[key]) for key in ("length", "force")}
    return Choices(links, **{**data, **units})


def _possible(robot: CanonicalRobot, choices: Choices) -> bool:
    """Whether these are choices that the robot has, and the default where it has none."""
    space = options(robot, wide=True)
    return (
        len(choices.links) == len(robot.links)
        and all(map(_default_elsewhere, choices.links, space.start.links, space.links))
        and all(choices in space.vary(choices, place) for place in range(space.size))
    )


def _default_elsewhere(mine: LinkChoice, start: LinkChoice, offered: Collection[str]) -> bool:
    """Whether a link has the default of every choice that is not offered."""
    return all(
        value == getattr(start, name) for name, value in asdict(mine).items() if name not in offered
    )
