"""Kernel: a quantity of a robot as a compiled function of arrays."""

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard, cast

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, broadcast, check_joint_vector
from armdyn.errors import ShapeError, check_known, counted
from armdyn.forks import cached_property
from armdyn.graph.count import Operations
from armdyn.graph.program import Program
from armdyn.kernels import numpy_api
from armdyn.kernels.build import machine_code
from armdyn.kernels.cache import ObjectCache
from armdyn.kernels.llvm.backend import Linked, LlvmTarget, MachineCode
from armdyn.kernels.llvm.target import Target
from armdyn.kernels.quick import MethodDef
from armdyn.kernels.threads import SMALLEST, run
from armdyn.model import RobotModel
from armdyn.quantities.program import QUANTITIES, checked, quantity_program
from armdyn.quantities.quantity import noun_of
from armdyn.quantities.request import Request


class Kernel:
    """A compiled function of vectors with any leading batch shape.

    `call` is the same function as Python calls it fastest, a builtin whose `__self__` is the
    kernel; `gufunc` is NumPy's own. All give a state the same bits, alone or in any batch, and each
    is compiled when it is first used. A state in which the mass matrix is singular gives NaN where
    that is inverted.
    """

    def __init__(
        self,
        model: RobotModel,
        request: Request,
        dtype: npt.DTypeLike = "float64",
        cache: ObjectCache | None = None,
        program: Program | None = None,
    ):
        checked(request, model)
        self.model = model
        self.request = request
        self.dtype = type_name(dtype)
        self.cache = cache
        self.given_program = program
        """A program in the place of the one that the quantity has, if there is one."""

    @cached_property
    def _wide(self) -> MachineCode:
        """For batches."""
        return self._build()

    @cached_property
    def _single(self) -> MachineCode:
        """For one state."""
        return self._build(entry=numpy_api.arrays_are_as_expected())

    def _build(self, entry: bool = False, blocks: bool = False) -> MachineCode:
        code_for = LlvmTarget(Target.host(), self.dtype, entry=entry, blocks=blocks)
        return machine_code(self.model, self.request, code_for, self.cache, self.given_program)

    @property
    def _built(self) -> MachineCode:
        """Either, for what both have in common."""
        return self._single if "_single" in self.__dict__ else self._wide

    def __repr__(self) -> str:
        return f"<Kernel {self.request.quantity} of {self.model.name!r}, {self.signature}>"

    @property
    def __name__(self) -> str:
        """The quantity, which dask names its tasks after."""
        return self.request.quantity

    def __reduce__(self) -> tuple[Any, ...]:
        return Kernel, (self.model, self.request, self.dtype, self.cache, self.given_program)

    @property
    def inputs(self) -> dict[str, int]:
        """Length of each argument by name, in order."""
        return dict(self._built.inputs)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the result for one state."""
        return self._built.shape

    @property
    def signature(self) -> str:
        """As NumPy writes it: "(7),(7)->(7,7)"."""
        given = ",".join(f"({size})" for size in self.inputs.values())
        return f"{given}->({','.join(map(str, self.shape))})"

    def axes(self, joint: str = "joint") -> tuple[str, ...]:
        """Names of the axes of a result: "joint", "joint2", ... along joints, others its own."""
        name = self.request.quantity
        derivative = self.request.derivative
        shape = QUANTITIES[name].shape if derivative != "vjp" else self.shape
        along = iter((joint, *(f"{joint}{k}" for k in range(2, len(shape) + 1))))
        return tuple(
            next(along) if size == "n" else f"{name}_axis{k}" for k, size in enumerate(shape, 1)
        )

    @cached_property
    def program(self) -> Program:
        """The straight-line program it was made from."""
        return self.given_program or quantity_program(self.model, self.request)

    @property
    def operations(self) -> Operations:
        """What one state takes."""
        return self.program.operations

    @cached_property
    def gufunc(self) -> np.ufunc:
        """The kernel as a generalized ufunc of NumPy."""
        return self._as_gufunc(self._wide, self.signature)

    @cached_property
    def _of_blocks(self) -> np.ufunc:
        """The same for arrays (..., n, lanes)."""
        signature = self.signature.replace(")", f",{self.lanes})").replace("(,", "(")
        return self._as_gufunc(self._build(blocks=True), signature)

    def _as_gufunc(self, built: MachineCode, signature: str) -> np.ufunc:
        name = self.request.quantity
        form = self.dtype, signature, len(built.inputs)
        doc = f"{name} of {self.model.name!r}"
        return numpy_api.gufunc(built.code["loop"], *form, name, doc, built)

    @cached_property
    def lanes(self) -> int:
        """States that a vector of the processor holds.

        A batch (..., lanes, n) whose memory is (..., n, lanes) is computed where it lies.
        """
        return Target.host().lanes(self.dtype)

    @cached_property
    def _steps(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Strides of the last axes of arguments, and of results, that lie in blocks."""
        *along, size = np.empty((*self.shape, self.lanes), self.dtype).strides
        return (size, size * self.lanes), (size, *along)

    def _lies_in_blocks(self, array: Array, result: bool = False) -> bool:
        """Whether an argument or a result is dense as (..., n, lanes)."""
        steps = self._steps[result]
        count = len(steps)
        dense = array.strides[-count:] == steps and array.shape[-count] == self.lanes
        dense = dense and array.ndim > count and array.flags.aligned
        return dense and array.dtype == np.dtype(self.dtype)

    def _evaluate(self, *arrays: Array, out: Array) -> None:
        """Blocks where they lie, if all arrays are such and none shares memory with the result."""
        apart = all(self._lies_in_blocks(a) and not np.may_share_memory(a, out) for a in arrays)
        if apart and self._lies_in_blocks(out, True):
            blocks = [array.swapaxes(-1, -2) for array in arrays]
            first = out.ndim - len(self.shape) - 1
            axes = *range(first), *range(first + 1, out.ndim), first
            self._of_blocks(*blocks, out=out.transpose(axes))
        else:
            self.gufunc(*arrays, out=out)

    def _fresh(self, vectors: Sequence[Array], batch: tuple[int, ...]) -> Array:
        """Room for the results, in blocks if all arguments are."""
        if all(map(self._lies_in_blocks, vectors)):
            blocks = np.empty((*batch[:-1], *self.shape, self.lanes), self.dtype)
            first = len(batch) - 1
            return blocks.transpose(*range(first), -1, *range(first, blocks.ndim - 1))
        return np.empty(batch + self.shape, self.dtype)

    @property
    def address(self) -> int:
        """Of the loop that NumPy calls, for other programs; it is there as long as the kernel.

        It takes pointers to the arrays, to the number of states, to the strides in bytes as a
        gufunc has them, and to nothing.
        """
        return self._wide.code["loop"]

    def __call__(self, *arrays: npt.ArrayLike, out: Array | None = None) -> Array:
        """The quantity (..., *shape) for vectors (..., n) in the order of `inputs`.

        Their leading shapes are broadcast; the result is written to `out`, or to a fresh array.
        """
        if self._are_few(arrays, out):
            try:
                if arrays[0].ndim == 2 or not self._lies_in_blocks(arrays[0]):
                    return cast(Array, self.gufunc(*arrays, out=out))
                result = self._fresh(arrays, arrays[0].shape[:-1]) if out is None else out
                self._evaluate(*arrays, out=result)
                return result
            except (TypeError, ValueError):  # whose reason is named below
                pass
        if any(hasattr(array, "dims") for array in arrays):
            return cast(Array, self._labelled(arrays))
        tried = _dask_trial(arrays)
        if tried is not None and self.model.independent[1:]:
            return np.full(tried + self.shape, np.nan, self.dtype)
        vectors, batch = self._vectors(arrays)
        shape = batch + self.shape
        result = self._fresh(vectors, batch) if out is None else self._checked(out, shape)
        run(self._evaluate, vectors, result, batch)
        return result

    def _are_few(self, arrays: tuple[Any, ...], out: Any) -> TypeGuard[tuple[Array, ...]]:
        """Whether these are plain arrays of one small batch, which NumPy has checked soonest."""
        if not arrays or type(arrays[0]) is not np.ndarray or arrays[0].ndim < 2:
            return False
        batch = arrays[0].shape[:-1]
        if out is not None and (type(out) is not np.ndarray or out.shape != batch + self.shape):
            return False
        dtype = np.dtype(self.dtype)
        for array in arrays:
            plain = type(array) is np.ndarray and array.dtype is dtype
            if not plain or array.shape[:-1] != batch:
                return False
        return math.prod(batch) < 2 * SMALLEST

    def _labelled(self, arrays: Sequence[Any]) -> Any:
        """The result for arrays of xarray, of which it keeps the labels; what is lazy stays so."""
        import xarray  # noqa: PLC0415 (an extra)

        joints = next(array.dims[-1] for array in arrays if hasattr(array, "dims"))
        axes = self.axes(str(joints))
        return xarray.apply_ufunc(
            self,
            *arrays,
            input_core_dims=[[a.dims[-1] if hasattr(a, "dims") else joints] for a in arrays],
            output_core_dims=[axes],
            dask="parallelized",
            output_dtypes=[self.dtype],
            dask_gufunc_kwargs={"output_sizes": dict(zip(axes, self.shape, strict=True))},
        )

    def _checked(self, out: Any, shape: tuple[int, ...]) -> Array:
        """The output if the result can be written there."""
        if not isinstance(out, np.ndarray) or out.shape != shape:
            found = f"shape {out.shape}" if isinstance(out, np.ndarray) else repr(out)
            raise ShapeError(f"out: expected an array of shape {shape}, got {found}")
        if not np.can_cast(self.dtype, out.dtype, "same_kind"):
            raise ShapeError(f"out: expected an array of {self.dtype}, got one of {out.dtype}")
        if not out.flags.writeable:
            raise ShapeError("out: expected an array that can be written to, got a read-only one")
        return out

    def _vectors(self, arrays: tuple[Any, ...]) -> tuple[list[Array], tuple[int, ...]]:
        """The arguments as arrays of the kernel's type, and the batch shape of all."""
        expected = self._built.inputs
        if len(arrays) != len(expected):
            names = ", ".join(name for name, _ in expected)
            raise ShapeError(
                f"{self.request.quantity} takes {counted(len(expected), 'array')} ({names}), "
                f"got {len(arrays)}"
            )
        vectors = {
            name: check_joint_vector(name, given, size, noun_of(name), self.dtype)
            for (name, size), given in zip(expected, arrays, strict=True)
        }
        batches = {v.shape[:-1] for v in vectors.values()}
        batch = broadcast(**vectors)[0].shape[:-1] if len(batches) > 1 else batches.pop()
        return list(vectors.values()), batch

    @property
    def __self__(self) -> "Kernel":
        """The kernel, as of the builtin: large ones have none and are called themselves."""
        return self

    @property
    def call(self) -> Callable[..., Array]:
        """The builtin for tight loops: kernel.call(q, qd, qdd) or kernel.call(..., out=tau)."""
        return self._definition.builtin(self) if self.one_state else self

    @property
    def one_state(self) -> Linked | None:
        """Machine code for one state; large kernels have none."""
        return self._single.code if self._single.entry else None

    @cached_property
    def _definition(self) -> MethodDef:
        doc = f"{self.request.quantity} of {self.model.name!r}, {self.signature}"
        return MethodDef.new(b"call", self._single.code["entry"], doc.encode())


def _dask_trial(arrays: tuple[Any, ...]) -> tuple[int, ...] | None:
    """The batch shape of what dask tries functions with, to see of which type their results are.

    These arrays are empty along all axes, or hold a single zero.
    """
    shapes = {array.shape if isinstance(array, np.ndarray) else () for array in arrays}
    if "dask.array" not in sys.modules or len(shapes) != 1:
        return None
    shape = shapes.pop()
    alike = len(shape) > 1 and shape in ((0,) * len(shape), (1,) * len(shape))
    return shape[:-1] if alike and not any(map(np.any, arrays)) else None


def type_name(dtype: npt.DTypeLike) -> str:
    """Either "float64" or "float32"."""
    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = str(dtype)
    check_known("type of a kernel", name, numpy_api.TYPE_NUMBERS)
    return name
