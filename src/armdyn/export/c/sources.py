"""What an export in C consists of, for those who wrap it for another program."""

from dataclasses import dataclass

from armdyn.export.options import ExportOptions, Function
from armdyn.graph.program import Program
from armdyn.model import RobotModel


@dataclass(frozen=True, eq=False)
class CSources:
    """Functions of a robot as the texts of a source and a header."""

    model: RobotModel
    options: ExportOptions
    prefix: str
    """Start of the names of files and functions."""
    functions: tuple[Function, ...]
    texts: dict[str, str]
    """The texts by the name of their file."""

    @property
    def programs(self) -> dict[str, Program]:
        """The program of each function."""
        return {f.name: f.program for f in self.functions}

    @property
    def real(self) -> str:
        """The type of numbers."""
        return "float" if self.options.single else "double"

    @property
    def selftest(self) -> str:
        """The macro with which the source is a program that tests itself."""
        return f"{self.prefix.upper()}_SELFTEST"

    @property
    def try_it(self) -> str:
        """A command line that compiles and runs the self-test."""
        test = f"{self.prefix}_selftest"
        return f"cc -std=c99 -O2 -D{self.selftest} {self.prefix}.c -lm -o {test} && ./{test}"
