"""What a target of an export is, and what several of them need."""

import platform
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files

from armdyn.errors import ModelError
from armdyn.export.c.export import CSources
from armdyn.export.options import DEFAULT_FUNCTIONS, ExportOptions
from armdyn.version import __version__

MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
SYSTEMS = {"win32": "windows"}
ENDS = {"windows": ".dll", "darwin": ".dylib"}


Package = tuple[Mapping[str, str | bytes], str]
"""What a target makes of exported C: contents by the path in the folder of the export, and a
command line that tries the result, in that folder."""


@dataclass(frozen=True, slots=True)
class ExportTarget:
    """A program for which exported C is wrapped."""

    name: str
    about: str
    """What is written, in a few words."""
    package: Callable[[CSources], Package]
    functions: tuple[str, ...] = ()
    """The functions it needs, if it does not take any."""
    fixed: tuple[str, ...] = ()
    """Options of an export that would be arguments, for which it has no place."""
    single: bool = True
    """Whether it can compute in float."""
    friction: bool = True
    """Whether friction is in the torques of its functions, unless that is left out."""

    def options(self, given: ExportOptions) -> ExportOptions:
        """The options with which the C for this target is made; an error if it cannot have them."""
        if given.single and not self.single:
            raise ModelError(f"the target {self.name} computes in double; leave out float")
        for argument in (name for name in self.fixed if getattr(given, name)):
            raise ModelError(
                f"the target {self.name} has no place for {argument} as an argument; leave it out, "
                "or give it to the robot before the export"
            )
        if not self.functions:
            return given
        if given.functions is not DEFAULT_FUNCTIONS:
            raise ModelError(
                f"the target {self.name} has functions of its own, {', '.join(self.functions)}; "
                "name no functions for it"
            )
        return replace(given, functions=self.functions, friction=given.friction and self.friction)


def filled(made: CSources, templates: Mapping[str, str], **words: object) -> dict[str, str]:
    """Templates of this room by the path that each is written to, every @NAME@ its word in them.

    Each must have one: of the words given here, or of those that several targets have.
    """
    words |= {"PREFIX": made.prefix, "UPPER": made.prefix.upper(), "REAL": made.real}
    words |= {"JOINTS": len(made.model.independent), "VERSION": __version__}
    folder = files("armdyn.export.targets") / "templates"
    texts = {path: (folder / name).read_text(encoding="utf-8") for path, name in templates.items()}
    word = partial(re.sub, r"@([A-Z_]+)@", lambda name: str(words[name[1]]))
    return {path: word(text) for path, text in texts.items()}


def this_platform() -> str:
    """This machine and system as FMI writes them: "x86_64-linux"."""
    machine = platform.machine().lower()
    return f"{MACHINES.get(machine, machine)}-{SYSTEMS.get(sys.platform, sys.platform)}"


def library_end(name: str) -> str:
    """How the name of a shared library ends on a platform."""
    return ENDS.get(name.rpartition("-")[2], ".so")
