"""Choices found by a search, kept on disk by the zeros of the robot they were found for."""

import hashlib
import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from armdyn.canonical.frames import CanonicalRobot, is_quarter
from armdyn.errors import WriteError
from armdyn.io.atomic import write_text
from armdyn.io.folders import cache_folder
from armdyn.minimal.choices import Choices, LinkChoice
from armdyn.minimal.options import options

FORMAT = 1
"""Changes with the meaning of the choices, so that old files are not taken for new ones."""
FOLDER, SUFFIX = "choices", ".json"


@dataclass(frozen=True, slots=True)
class ChoiceStore:
    """A folder of small JSON files; a damaged or foreign one is as good as none."""

    folder: Path | None
    """None: nothing is kept."""

    def find(self, robot: CanonicalRobot, quantity: str) -> Choices | None:
        """The choices kept for a robot with these zeros, or None."""
        if self.folder is None:
            return None
        try:
            text = (self.folder / _name(robot, quantity)).read_text(encoding="utf-8")
            choices = _choices(json.loads(text))
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return choices if _possible(robot, choices) else None

    def store(self, robot: CanonicalRobot, quantity: str, choices: Choices) -> None:
        """Keep choices; a folder that cannot be written is no error."""
        if self.folder is not None:
            with suppress(OSError, WriteError):
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                write_text(self.folder / _name(robot, quantity), json.dumps(asdict(choices)))


def user_choices() -> ChoiceStore:
    """The choices kept for this user."""
    return ChoiceStore(cache_folder(FOLDER))


def _name(robot: CanonicalRobot, quantity: str) -> str:
    text = json.dumps([FORMAT, quantity, pattern(robot)])
    return hashlib.sha256(text.encode()).hexdigest()[:32] + SUFFIX


def pattern(robot: CanonicalRobot) -> list[Any]:
    """What the count depends on: the tree, quarter turns, and which numbers are 0 or ±1."""

    def number(value: float) -> float | str:
        return float(value) if value in (0.0, 1.0, -1.0) else "x"

    def angle(value: float) -> float | str:
        return float(value) if is_quarter(value) else "x"

    return [
        [
            link.parent,
            *map(number, (link.type.turn, link.type.slide)),
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
        and all(
            value == getattr(start, name)
            for mine, start, offered in zip(
                choices.links, space.start.links, space.links, strict=True
            )
            for name, value in asdict(mine).items()
            if name not in offered
        )
        and all(choices in space.vary(choices, place) for place in range(space.size))
    )
