"""Methods of a robot that Python calls as quickly as the kernel of their quantity."""

import ctypes
import inspect
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import update_wrapper
from operator import attrgetter
from types import FunctionType, MethodType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, cast

from armdyn.arrays import Array
from armdyn.quantities.request import Request

Function = TypeVar("Function", bound=Callable[..., Any])
Given = ParamSpec("Given")
Record = TypeVar("Record")
Method = Callable[Concatenate[Any, Given], Record]
MOST_VARIANTS = 8
"""Options, and none, that are told apart without Python."""


class MethodDef(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )

    @classmethod
    def new(cls, name: bytes, function: int | None, doc: bytes) -> Self:
        """One whose 32 bytes stay for good: Python reads the flags when it frees a builtin."""
        definition = cls.from_address(_allocate(ctypes.sizeof(cls)))
        definition.name, definition.function, definition.doc = name, function, doc
        definition.flags = _FASTCALL | _KEYWORDS
        return definition

    def builtin(self, owner: Callable[..., Any]) -> Callable[..., Any]:
        """A builtin that gives its owner to the function, before the arguments."""
        builtin: Callable[..., Any] = _new_builtin(ctypes.addressof(self), owner, None)
        return builtin


_allocate: Any = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(
    ("PyMem_RawMalloc", ctypes.pythonapi)
)
_FASTCALL = 0x80
_KEYWORDS = 0x02
_new_builtin: Any = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p
)(("PyCFunction_NewEx", ctypes.pythonapi))
_CALL_OWNER = ctypes.cast(ctypes.pythonapi.PyObject_Vectorcall, ctypes.c_void_p).value
"""The function of a builtin that calls its owner with what it is given."""


class BoundMethod(ctypes.Structure):
    """The owner of a builtin: a method of a robot, and machine code for options it was used with.

    Options are told from others by what they are, as True, False and names in a program text are
    the same objects whenever they are used.
    """

    _fields_ = (
        ("method", ctypes.py_object),
        ("variants", ctypes.c_void_p * (3 * MOST_VARIANTS + 3)),
    )
    __call__ = property(attrgetter("method"))

    def __init__(self, method: MethodType, definition: MethodDef, options: dict[str, Any]):
        super().__init__(method)
        self.definition = definition
        self.options = options
        self.kernels: dict[tuple[int, int], Any] = {}
        """By the option and its value that tell them from others; there may be none of both."""

    def __reduce__(self) -> tuple[Any, ...]:
        # pickled, a builtin is an attribute of its owner
        return attrgetter("_itself"), (self.method.__self__,)

    def add(self, request: Request, kernel: Any) -> None:
        """Let the kernel of a request serve one state, if at most one option tells it."""
        code = getattr(kernel, "one_state", None)
        plain = Request(request.quantity, effort=request.effort, **self.options)
        options = ((name, getattr(request, name)) for name in self.options)
        keys = [(id(k), id(v)) for k, v in options if replace(plain, **{k: v}) == request]
        for key in [(0, 0), *keys] if request == plain else keys:
            if code and key not in self.kernels and len(self.kernels) < MOST_VARIANTS:
                at = 3 * len(self.kernels)
                self.variants[at : at + 3] = *key, code["values"]
                self.kernels[key] = kernel, request
                self.definition.function = code["choose"]


class QuickMethod:
    """A method whose result is that of a kernel: bound to a robot, it is a builtin.

    That is made at the first binding and calls the method. Once a kernel for one state is there, it
    is compiled code, which calls the method with all but the plain vectors of one state, and where
    its result is no number.
    """

    def __init__(self, function: FunctionType, record: Callable[[Any], Any] | None = None):
        self.function, self.record = function, record
        self.name = function.__name__
        self.__doc__ = function.__doc__
        _, *parameters = inspect.signature(function).parameters.values()
        plain = inspect.Signature([p.replace(annotation=p.empty) for p in parameters])
        doc = f"{self.name}{plain}\n--\n\n{function.__doc__}"
        self.texts = self.name.encode(), doc.encode()
        self.options = {
            sys.intern(p.name): p.default
            for p in parameters
            if p.name in Request.__dataclass_fields__ and p.default not in (None, p.empty)
        }

    def __get__(self, robot: Any, kind: type | None = None) -> Callable[..., Any]:
        if robot is None:
            return self.function
        method = MethodType(self.function, robot)
        if getattr(type(robot), self.name) is not self.function:  # that of a subclass asks for it
            return self._recorded(method, method)
        name, doc = self.texts
        bound = BoundMethod(method, MethodDef.new(name, _CALL_OWNER, doc), self.options)
        bound = robot._quick.setdefault(self.name, bound)  # of two threads, the first
        robot._hasten(self.name)
        rows = bound.definition.builtin(bound)
        return robot.__dict__.setdefault(self.name, self._recorded(rows, method))

    def _recorded(self, rows: Callable[..., Any], method: MethodType) -> Callable[..., Any]:
        return QuickRecord(self.record, rows, method) if self.record else rows


class QuickRecord:
    """A method of a robot that makes a record of what another one computes."""

    def __init__(self, record: Callable[[Any], Any], rows: Callable[..., Any], method: MethodType):
        self.record, self.rows, self.method = record, rows, method
        update_wrapper(self, method)

    def __call__(self, *vectors: Any, **options: Any) -> Any:
        """The record."""
        return self.record(self.rows(*vectors, **options))

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self.method.__self__, self.method.__name__)


def quick(method: Function) -> Function:
    """A method whose result is that of the kernel of its name, as a `QuickMethod`."""
    return cast(Function, QuickMethod(cast(FunctionType, method)))


def quick_record(
    record: Callable[[Array], Record],
) -> Callable[[Method[Given, Array]], Method[Given, Record]]:
    """The same, for a method that returns a record of these rows."""

    def decorate(function: Any) -> Any:
        function.__annotations__["return"] = record.__self__  # type: ignore[attr-defined]
        return QuickMethod(function, record)

    return decorate
