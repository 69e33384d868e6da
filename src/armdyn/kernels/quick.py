"""Methods of a robot that Python calls as quickly as the kernel of their quantity."""

import ctypes
import inspect
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, TypeVar, cast

from armdyn.quantities.request import Request

Function = TypeVar("Function", bound=Callable[..., Any])


class MethodDef(ctypes.Structure):
    """PyMethodDef, which is kept for good: Python looks there when it frees a builtin."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )

    def __init__(self, name: bytes, function: int | None, doc: bytes, **options: Any):
        super().__init__(name, function, _FASTCALL | _KEYWORDS, doc)
        self.options = options
        """Those of the kernel whose entry is the function, or will be."""
        _KEPT.append(self)

    def builtin(self, owner: Callable[..., Any]) -> Callable[..., Any]:
        """A builtin that gives its owner to the function, before the arguments."""
        made: Callable[..., Any] = _new_builtin(ctypes.addressof(self), owner, None)
        return made


_KEPT: list[MethodDef] = []
_FASTCALL, _KEYWORDS = 0x80, 0x02
_new_builtin: Any = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p
)(("PyCFunction_NewEx", ctypes.pythonapi))
_CALL_OWNER = ctypes.cast(ctypes.pythonapi.PyObject_Vectorcall, ctypes.c_void_p).value
"""The function of a builtin that calls its owner with what it is given."""


class QuickMethod:
    """A method whose result is that of a kernel: bound to a robot, it is a builtin.

    That is made at the first binding and calls the method. Once a kernel for one state is there, it
    is the entry of that, which calls the method with all but the plain vectors of one state, and
    where its result is no number.
    """

    def __init__(self, function: FunctionType):
        self.function, self.name, self.__doc__ = function, function.__name__, function.__doc__
        _, *parameters = inspect.signature(function).parameters.values()
        plain = inspect.Signature([p.replace(annotation=p.empty) for p in parameters])
        doc = f"{self.name}{plain}\n--\n\n{function.__doc__}"
        self.texts = self.name.encode(), doc.encode()
        self.options = {
            p.name: p.default
            for p in parameters
            if p.name in Request.__dataclass_fields__ and p.default not in (None, p.empty)
        }
        # pickled, a builtin is an attribute of its owner; so that is to be pickled as the robot
        code = function.__code__, function.__globals__, "_itself", function.__defaults__
        self.owner = FunctionType(*code, function.__closure__)
        self.owner.__kwdefaults__ = function.__kwdefaults__
        self.owner.__qualname__ = function.__qualname__

    def __get__(self, robot: Any, kind: type | None = None) -> Callable[..., Any]:
        if robot is None:
            return self.function
        if getattr(type(robot), self.name) is not self.function:  # that of a subclass asks for it
            return MethodType(self.function, robot)
        name, doc = self.texts
        definition = MethodDef(name, _CALL_OWNER, doc, **self.options)
        definition = robot._quick.setdefault(self.name, definition)  # of two threads, the first
        robot._hasten(self.name)
        builtin = definition.builtin(MethodType(self.owner, robot))
        return robot.__dict__.setdefault(self.name, builtin)


def quick(method: Function) -> Function:
    """A method whose result is that of the kernel of its name, as a `QuickMethod`."""
    return cast(Function, QuickMethod(cast(FunctionType, method)))
