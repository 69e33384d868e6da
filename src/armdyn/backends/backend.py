"""What every backend is; LLVM is one, and another one is a package beside it with such a class."""

from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeVar

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

    name: ClassVar[str]
    capabilities: ClassVar[Capabilities]

    def compile(self, program: Program, target: Target_contra) -> Kernel_co:
        """A program, ready to be called on a target."""
