"""The attacks of `faults.py`, by what they are aimed at."""

import contextlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import fault_files as files
import fault_processes as processes
from fault_studio import enters
from fuzz_tries import Fuzzer

from armdyn.errors import ArmdynError


@dataclass(frozen=True)
class Attack:
    """Something that is tried several times."""

    title: str
    tries: int
    survives: Callable[[Path, int], bool]
    """Whether armdyn survives a try of this number, in an empty folder."""


def reading(title: str, hostile: Callable[[Path, int], Path]) -> Attack:
    """Descriptions that are read, or refused with our errors, in little time and memory."""

    def survives(folder: Path, number: int) -> bool:
        path = hostile(folder, number)
        with (
            processes.bounded(seconds=5.0, megabytes=300.0) as spent,
            contextlib.suppress(ArmdynError),
        ):
            files.read(path)
        return spent()

    return Attack(title, 40, survives)


def fuzzing(title: str, tries: int, kind: str) -> Attack:
    """Bad input of a kind, which ends well or with our errors."""
    fuzzer = lru_cache(maxsize=1)(Fuzzer)

    def survives(folder: Path, number: int) -> bool:
        fault = fuzzer(folder.parent).attempt(kind, number)
        if fault is not None:
            print(fault, file=sys.stderr)
        return fault is None

    return Attack(title, tries, survives)


def killing(title: str, signal: str) -> Attack:
    """A process that is ended by a signal while it writes."""
    return Attack(title, 20, lambda at, number: processes.killed_writer(at, number, signal))


ATTACKS = (
    reading("pipes, devices and endless files as descriptions", files.no_file),
    reading("XML with declarations, entities and deep nesting", files.xml_bomb),
    reading("TOML nested or dotted a hundred thousand deep", files.toml_bomb),
    reading("expressions in letters that grow without end", files.letters_bomb),
    reading("MJCF that includes pipes, devices and itself", files.mjcf_includes),
    fuzzing("damaged descriptions and tables", 2000, "file"),
    fuzzing("calls with arguments of any kind", 2000, "call"),
    fuzzing("command lines of any kind", 60, "command"),
    Attack("terminal sequences and markup in names and titles", 22, files.steers_no_terminal),
    Attack("links, pipes, sockets and devices as outputs", 210, files.leaves_what_is_there),
    Attack("modes of files while eight threads write", 20, files.keeps_modes),
    killing("SIGTERM while a file is written", "SIGTERM"),
    killing("kill -9 while a file is written, then another write", "SIGKILL"),
    Attack("kill -9 while kernels are kept, then a read", 30, processes.killed_cache),
    Attack("damaged and foreign files in the cache", 280, files.ignores_damage),
    Attack("cache folders that others can change", 60, files.distrusts_open_folders),
    Attack("forks while other threads compile", 20, processes.forked),
    Attack("kernels made and dropped: below 2 kB stay of each", 3, processes.forgets_kernels),
    Attack("simulations that cannot advance", 10, processes.simulation_ends),
    Attack("studio: foreign hosts, origins, tokens and rubbish", 60, enters),
)
