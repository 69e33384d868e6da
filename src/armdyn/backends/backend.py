"""What every backend is: a way to run programs.

LLVM is one (`armdyn.backends.llvm.backend`); another stands beside it as a package of its own with
a class that has these members.
"""

from dataclasses import dataclass
from typing import Protocol, TypeVar

from armdyn.compiler.program import Program

Target_contra = TypeVar("Target_contra", contravariant=True)
Kernel_co = TypeVar("Kernel_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the kernels of a backend can do."""

    dtypes: tuple[str, ...]
    """The types of numbers that they compute in."""
    kept_on_disk: bool
    """Whether compiled code can be loaded again by another process."""
    rollouts: bool
    """Whether many steps of an integrator can be one call."""


class Backend(Protocol[Target_contra, Kernel_co]):
    """A way to run programs."""

    @property
    def name(self) -> str:
        """For messages."""

    @property
    def capabilities(self) -> Capabilities:
        """What its kernels can do."""

    def compile(self, program: Program, target: Target_contra) -> Kernel_co:
        """A program, ready to be called on a target."""
