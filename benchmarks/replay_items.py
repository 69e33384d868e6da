"""What a tree of armdyn computes of a robot, item by item, asked through the public face alone."""

import hashlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

import numpy as np

import armdyn

CORE = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
"""Quantities that are compiled for every robot."""
STATES = 3
VARIANTS: tuple[dict[str, Any], ...] = (
    {"friction": False},
    {"payload": True, "gravity": True},
    {"base_motion": True},
    {"link": "", "frame": "tool"},
    {"constraint": True, "base_wrench": True},
)
"""Options of which each quantity is given those that it has; the link is the first one."""
COMPILED_VARIANTS: tuple[dict[str, Any], ...] = ({"wrench": "tool"}, {"task": ("x",)})
"""The same for options that only kernels have."""
ROTATION = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])

Item = dict[str, Any]
"""Some of: texts by name, an operation count as text and its total, values, an error."""
Items = Iterator[tuple[str, Callable[[], Item]]]
"""Names, and what computes them."""


class Recorder:
    """A robot and what can be recorded of it, in parts."""

    def __init__(self, robot: armdyn.Robot, quantities: Mapping[str, Sequence[Sequence[str]]]):
        """Take a robot, and for each quantity the names of its arguments and of its options."""
        self.robot, self.quantities = robot, quantities
        self.programs: dict[str, Any] = {}
        """Those of quantities without options that were recorded."""

    def data(self) -> Items:
        """The robot itself, its base parameters, and the formulations as they are written."""
        robot, state = self.robot, [self._vector(name, self.robot.n) for name in ("q", "qd", "qdd")]
        yield "saved file", self._saved
        yield "parameters", lambda: values(robot.start, robot.parameters())
        yield "base parameters", self._base_parameters
        yield "exact rank", partial(called, robot.exact_rank)
        for name in available(lambda: robot.inverse_dynamics(*state, formulation="?")):
            item = f"inverse_dynamics, {name}"
            yield item, partial(called, robot.inverse_dynamics, *state, formulation=name)
        for name in available(lambda: robot.forward_dynamics(*state, method="?")):
            item = f"forward_dynamics, {name}"
            yield item, partial(called, robot.forward_dynamics, *state, method=name)
        yield "count, written", partial(self._count, "inverse_dynamics", "written", "newton_euler")

    def kernels(self) -> Items:
        """The core, compiled."""
        for name in CORE:
            if name in self.quantities:
                yield name, partial(self._quantity, name, compiled=True)

    def others(self) -> Items:
        """All other quantities, evaluated in NumPy."""
        for name in self.quantities:
            if name not in CORE:
                yield name, partial(self._quantity, name)

    def files(self) -> Items:
        """All exports of the programs that were recorded."""
        given: dict[str, Any] = {"functions": list(self.programs), "programs": self.programs}
        yield "C", partial(self._exported, **given)
        yield "C, single", partial(self._exported, **given, single=True)
        yield "Python", partial(self._exported, language="python", **given)
        for name in available(lambda: self._exported(target="?")):
            yield f"export, {name}", partial(self._exported, target=name, programs=self.programs)

    def options(self) -> Items:
        """Quantities with options, by methods of the robot and by formulations; counts."""
        for name, (arguments, offered) in self.quantities.items():
            for variants, compiled in ((VARIANTS, False), (COMPILED_VARIANTS, True)):
                for variant in ({k: v[k] for k in v if k in offered} for v in variants):
                    words = [name, *variant]
                    if variant:
                        yield ", ".join(words), partial(self._quantity, name, variant, compiled)
            for method in available(partial(self.robot.kernel, name, method="?")):
                given = {"method": method}
                yield f"{name}, compiled {method}", partial(self._quantity, name, given, True)
            for mode in ("vjp", "jvp") if name in CORE else ():
                yield f"{name}, {mode}", partial(self._quantity, name, {"derivative": mode}, True)
            if hasattr(self.robot, name):
                state = [self._vector(argument, self.robot.n) for argument in arguments]
                yield f"robot.{name}", partial(called, getattr(self.robot, name), *state)
        for name in available(partial(armdyn.count_operations, self.robot, "?")):
            methods = available(partial(self._count, name, "written", "?"))
            for method in set(methods) - {"minimal"}:  # that is the program, which has its count
                for stage in ("customised", "regrouped", "minimal"):
                    yield f"{name}, {stage} {method}", partial(self._count, name, stage, method)

    def verbs(self) -> Items:
        """Motions, equations and an identification."""
        for method in ("rk4", "symplectic", "DOP853"):
            yield f"simulate, {method}", lambda method=method: values(*self._motion(method))
        yield "identify", self._identified
        for form in available(lambda: armdyn.equations(self.robot, "?")):
            yield f"equations, {form}", partial(self._equations, form)

    def _vector(self, name: str, size: int) -> np.ndarray:
        """An argument of a quantity at a few states, (STATES, size)."""
        rng = np.random.default_rng(crc32(name.encode()))
        numbers = rng.uniform(-1.0, 1.0, (STATES, size))
        if name == "q":  # near to where loops are closed
            return self.robot.start + 0.4 * numbers
        if name == "payload":
            return np.tile(self.robot.payload_vector(1.3, (0.1, -0.2, 0.3), np.eye(3)), (STATES, 1))
        if name == "base_motion":
            turning = np.split(numbers[:, 9:], 3, axis=-1)
            return armdyn.BaseMotion(ROTATION, *turning).vector(ROTATION)
        return np.abs(numbers) if name in ("h", "gain") else numbers

    def _quantity(
        self, name: str, options: Mapping[str, Any] | None = None, compiled: bool = False
    ) -> Item:
        """The program, its count and values, and those of the kernel or the C that it becomes."""
        given = dict(options or {})
        if "link" in given:
            given["link"] = self.robot.link_names[0]
        texts: dict[str, str] = {}
        if compiled:
            kernel = self.robot.kernel(name, **given)
            program = kernel.__self__.program
        else:
            texts, programs = self._written(functions=[name], **given)
            program = programs[name]
        state = [self._vector(argument.name, argument.size) for argument in program.inputs]
        numbers = [program(*state)]
        if compiled:
            numbers += [kernel(*(vectors[k] for vectors in state)) for k in range(STATES)]
        if not options:
            self.programs[name] = program
        count = {"count": str(program.operations), "total": program.operations.total}
        return {"texts": {"program": program.text, **texts}, **count, **values(*numbers)}

    def _written(self, **options: Any) -> tuple[dict[str, str], dict[str, Any]]:
        """The files that an export writes, by name, and the programs that are in them."""
        with TemporaryDirectory() as folder:
            found = self.robot.export(folder, **options)
            return {str(p.relative_to(folder)): _text(p) for p in found.files}, found.programs

    def _exported(self, **options: Any) -> Item:
        return {"texts": self._written(**options)[0]}

    def _saved(self) -> Item:
        with TemporaryDirectory() as folder:
            path = Path(folder, "robot.toml")
            self.robot.save(path)
            return {"texts": {"file": _text(path)}}

    def _base_parameters(self) -> Item:
        found = self.robot.base_parameters()
        return {"texts": {"groupings": "\n".join(found.groupings)}, **values(found.matrix)}

    def _count(self, name: str, stage: str, method: str) -> Item:
        found = armdyn.count_operations(self.robot, name, stage, method)
        return {"count": str(found), "total": found.total}

    def _motion(self, method: str) -> tuple[np.ndarray, ...]:
        """Times, positions, velocities and torques of a short swing."""
        given = {"method": method, "friction": method == "DOP853"}  # dry friction has no fixed step
        start, torque = self.robot.start + 0.2, self.robot.gravity_vector(self.robot.start)
        found = armdyn.simulate(self.robot, start, duration=0.3, torque=torque, **given)
        return found.t, found.q, found.qd, found.tau

    def _identified(self) -> Item:
        t, q, _, tau = self._motion("rk4")
        return values(armdyn.identify(self.robot, {"t": t, "q": q, "tau": tau}).robot.parameters())

    def _equations(self, form: str) -> Item:
        return {"texts": {"equations": str(armdyn.equations(self.robot, form))}}


def available(call: Callable[[], Any]) -> tuple[str, ...]:
    """The names that could stand in the place of one that does not exist."""
    try:
        call()
    except armdyn.errors.UnknownNameError as error:
        return error.available
    except armdyn.errors.ArmdynError:  # the robot has none of it
        pass
    return ()


def values(*found: Any) -> Item:
    """Everything that is a number."""
    return {"values": [number for part in found for number in _numbers(part)]}


def called(function: Callable[..., Any], *arguments: Any, **options: Any) -> Item:
    """The numbers that a function returns."""
    return values(function(*arguments, **options))


def _numbers(found: Any) -> list[float]:
    if is_dataclass(found):
        return [x for field in fields(found) for x in _numbers(getattr(found, field.name))]
    try:
        return np.asarray(found, dtype=float).ravel().tolist()
    except (TypeError, ValueError):  # names of a result
        return []


def _text(path: Path) -> str:
    content = path.read_bytes()
    try:
        return content.decode()
    except UnicodeDecodeError:
        return hashlib.sha256(content).hexdigest()


def attempt(compute: Callable[[], Item]) -> Item:
    """An item, or the error in its place."""
    try:
        return compute()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def record(items: dict[str, Item], source: str, parts: Sequence[str], quantities: Any) -> Item:
    """Add the items of some parts of a robot; an error ends that only between them."""
    recorder = Recorder(armdyn.load(source), quantities)
    for part in parts:
        for name, compute in getattr(recorder, part)():
            items[name] = attempt(compute)
    return {}


def main() -> None:
    """Print what the armdyn of a folder computes by a plan, one line of JSON a robot."""
    folder, plan = sys.argv[1], json.loads(sys.argv[2])
    if not Path(armdyn.__file__).is_relative_to(folder):
        sys.exit(f"armdyn was imported from {armdyn.__file__}, not from {folder}")
    warnings.simplefilter("ignore")
    for name, (source, parts) in plan["robots"].items():
        items: dict[str, Item] = {}
        whole = partial(record, items, source, parts, plan["quantities"])
        items["all"] = attempt(whole)
        print(json.dumps({name: items}), flush=True)


if __name__ == "__main__":
    main()
