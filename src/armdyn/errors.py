"""Every error and warning of armdyn: what is wrong, where, what was found, what to do."""

import difflib
import importlib.util
from collections.abc import Callable, Container, Iterable
from pathlib import Path

LONGEST_SHOWN = 200
"""Most characters of something that was given in a message."""


def shown(value: object) -> str:
    """What was given, for a message: cut if it is long, its type if it has no words."""
    try:
        text = repr(value)
    except Exception:  # an integer of many digits, an object that is not complete
        text = f"<{type(value).__name__}>"
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."


def counted(number: int, noun: str, separator: str = "") -> str:
    """A number of things: "1 joint", "2 joints"; with the separator "," "2,000 states"."""
    return f"{number:{separator}} {noun}{'s' * (number != 1)}"


class ArmdynError(Exception):
    """The base of every error raised by armdyn."""


class ArmdynWarning(UserWarning):
    """Something odd but legal in a robot, a file or a request."""


class ModelError(ArmdynError, ValueError):
    """A robot that cannot be built from what was given."""


class LettersError(ModelError):
    """A parameter, whose symbol is `parameter`, written in letters that it is not equal to."""

    def __init__(self, message: str, *, parameter: str):
        self.parameter = parameter
        super().__init__(message)


class DescriptionError(ModelError):
    """A robot description that cannot be read, with its `file` and the `line` in it, if known."""

    def __init__(self, message: str, *, file: str | Path | None = None, line: int | None = None):
        self.file = None if file is None else Path(file)
        self.line = line
        where = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
        super().__init__(where + message)


class UrdfError(DescriptionError):
    """A URDF file with something missing, contradictory or hostile in it."""


class SdfError(DescriptionError):
    """An SDF file that cannot be read."""


class MjcfError(DescriptionError):
    """An MJCF file that MuJoCo or armdyn cannot take."""


class TomlError(DescriptionError):
    """A robot file in armdyn's own format with something missing or misspelt."""


class MeshError(DescriptionError):
    """A mesh that cannot be read, or whose triangles bound no volume."""


class UnsupportedJointError(DescriptionError):
    """A joint of a type that armdyn does not handle, such as a floating one."""


class InertiaError(ModelError):
    """An inertia that no rigid body can have, of the link named `link` if it is of one."""

    def __init__(self, message: str, *, link: str = ""):
        self.link = link
        super().__init__(message)


class TopologyError(ModelError):
    """Links and joints that do not form one tree, or a chain where one is needed."""


class LoopError(ModelError):
    """A loop that cannot be closed, cannot move or says too much, named `loop` if it is one."""

    def __init__(self, message: str, *, loop: str = ""):
        self.loop = loop
        super().__init__(message)


class UnknownNameError(ArmdynError, LookupError):
    """A name that does not exist: the one `given`, those `available`, the `closest` of them."""

    def __init__(self, what: str, given: object, available: Iterable[str], advice: str = ""):
        self.given = given if isinstance(given, str) else shown(given)
        self.available = tuple(dict.fromkeys(available))
        folded = {name.casefold(): name for name in self.available}
        close = difflib.get_close_matches(self.given.casefold(), folded, n=3, cutoff=0.5)
        self.closest = tuple(folded[name] for name in close)
        guess = f" Did you mean {' or '.join(map(repr, self.closest))}?" if self.closest else ""
        names = ", ".join(self.available[:40]) + (", ..." if len(self.available) > 40 else "")
        text = f"there is no {what} {shown(given)}.{guess} Available: {names or 'none'}. {advice}"
        super().__init__(text.rstrip())


def check_known(what: str, given: object, available: Iterable[str]) -> None:
    """Raise an `UnknownNameError` unless a name is among those that exist."""
    available = tuple(available)
    if not is_one_of(given, available):
        raise UnknownNameError(what, given, available)


def check_all_known(what: str, given: Iterable[object], available: Iterable[str]) -> None:
    """Raise an `UnknownNameError` unless all names are among those that exist."""
    names = tuple(available)
    for name in given:
        check_known(what, name, names)


def is_one_of(given: object, names: Container[str]) -> bool:
    """Whether something is a text and among these names; arrays have no other truth."""
    return isinstance(given, str) and given in names


class ShapeError(ArmdynError, ValueError):
    """An array whose shape or type does not fit the robot."""


class TraceError(ArmdynError, TypeError):
    """An expression node used as if it were a number, or with nodes of another graph."""


class GraphError(ArmdynError):
    """A graph or program that breaks its own rules; raised by the verifier."""


class SingularityError(ArmdynError, ArithmeticError):
    """A mass matrix or a Jacobian that cannot be inverted at the given configuration."""


class UnreachableError(ArmdynError, ValueError):
    """A pose that an arm cannot take.

    `index` is its place in the batch, `q` the configuration that comes nearest to it, `distance`
    [m] and `angle` [rad] what is missing there.
    """

    def __init__(
        self, message: str, *, index: tuple[int, ...], q: object, distance: float, angle: float
    ):
        self.index, self.q, self.distance, self.angle = index, q, distance, angle
        super().__init__(message)


class TrajectoryError(ArmdynError, ValueError):
    """A trajectory, or a file of one, that cannot be made or cannot be used for this robot."""


class LogError(ArmdynError, ValueError):
    """A log of an arm that cannot be read, or whose columns do not fit the robot."""


class IdentificationError(ArmdynError, ValueError):
    """Data, or settings, from which no model can be identified."""


class WriteError(ArmdynError, OSError):
    """A file that cannot be written."""


class CompilerError(ArmdynError):
    """A C compiler that is not there, or that does not compile what it should."""


class CacheError(ArmdynError, OSError):
    """A place to keep things on disk, or a name in it, that cannot be used."""


class BenchmarkError(ArmdynError):
    """Two libraries that are timed against each other and do not compute the same."""


class PeerError(ArmdynError):
    """Another library that cannot compute what it is asked for, with its reason."""


class BridgeError(ArmdynError):
    """Another library whose version or settings do not allow what is asked of it."""


class ExcitationError(ArmdynError, ValueError):
    """A motion that identifies parameters cannot be designed from what was given."""


class SizingError(ArmdynError, ValueError):
    """A joint that no motor of a list can drive along a motion."""


class SweepError(ArmdynError, ValueError):
    """A sweep that cannot be made, or a store that is not of this one."""


class SimulationError(ArmdynError):
    """A simulation that cannot start, or a torque or wrench that cannot be used in it."""


class ObserverError(ArmdynError, ValueError):
    """Settings or samples that an observer cannot use."""


class StudioError(ArmdynError):
    """A studio that cannot open."""


class MissingExtraError(ArmdynError, ImportError):
    """An optional package that is not installed, with the command that installs it."""

    def __init__(self, package: str, extra: str, purpose: str):
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed. "
            f"Install it with: pip install {package} (it is in the extra {extra!r} of armdyn)",
            name=package,
        )


def require(
    sound: object, what: str, expected: str, value: object, error: Callable[[str], ArmdynError]
) -> None:
    """Raise an error that says what was expected and what was given, unless that is sound."""
    if not sound:
        raise error(f"{what}: expected {expected}, got {shown(value)}")


def check_installed(package: str, extra: str, purpose: str) -> None:
    """Raise a `MissingExtraError` unless a package is installed that something needs."""
    if importlib.util.find_spec(package) is None:
        raise MissingExtraError(package, extra, purpose)
