"""Typed attributes of XML elements, with every problem of a file gathered before it is refused."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import DescriptionError
from armdyn.io.xml import XmlElement
from armdyn.model import Rotor
from armdyn.model.transform import rotation_from_rpy, transform
from armdyn.model.validate import Finding, Level

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
