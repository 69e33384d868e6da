"""What every backend is; LLVM is one, and another one is a package beside it with such a class."""

from typing import ClassVar, Protocol, TypeVar

from armdyn.graph.program import Program

Target_contra = TypeVar("Target_contra", contravariant=True)
Kernel_co = TypeVar("Kernel_co", covariant=True)


class Backend(Protocol[Target_contra, Kernel_co]):
    """A way to run programs."""

    dtypes: ClassVar[tuple[str, ...]]
    """The types of numbers that its kernels compute in."""

    def compile(self, program: Program, target: Target_contra) -> Kernel_co:
        """A program, ready to be called on a target."""
