"""Which elements of the equations of motion vanish, which are constant, and what the others need.

With τ_i = Σ D_ij q̈_j + Σ h_ikm q̇_k q̇_m + g_i, each element is zero, constant, or depends on certain
joints, for every value of the numbers of the robot that are not zero: these are symbols, while
zeros and quarter turns in the canonical frames are kept. Exact evaluation over a finite field
decides: an element depends on q_k if another random q_k changes it. A link that carries several
joints has the frame of the first one. The angle of another joint is then a sum with an angle of
that frame, and counts as special only if both are.
"""

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import LoopError, ModelError, counted, shown
from armdyn.formulations.augmented_body import augmented_body
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.coriolis import christoffel
from armdyn.formulations.rotors import rotor_matrix
from armdyn.model import RobotModel
from armdyn.robot import Robot
from armdyn.study.structure.probe import Probe, Trunk, trunks
from armdyn.study.structure.why import BRANCHES, CANCELS, Reason, Why

Status = Literal["zero", "constant", "varies"]


@dataclass(frozen=True, slots=True)
class StructureElement:
    """One element of D, h or g."""

    status: Status
    joints: tuple[int, ...] = ()
    """The joints it depends on, counted from 1."""
    reason: str = ""
    """Why it is zero, constant, or constant up to rounding."""
    low: float = 0.0
    """Lowest value over random configurations within the limits."""
    high: float = 0.0
    rounding: bool = False
    """Whether it varies in symbols, but only by rounding with the numbers of this robot."""
    parameters: tuple[str, ...] = ()
    """Inertial parameters that are zero, each of which would undo the status."""


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """The elements of D, h and g of a robot, over all its moving joints."""

    robot: str
    title: str
    """What people call the robot."""
    joints: tuple[str, ...]
    mimics: tuple[str, ...]
    """Joints that follow another one; here they count as joints of their own."""
    D: Array
    """Mass matrix with rotors, (n, n)."""
    h: Array
    """Christoffel symbols h[i, k, m] = h[i, m, k], (n, n, n)."""
    g: Array
    """Torques of gravity, (n,)."""

    def __repr__(self) -> str:
        parts = (f"{k}: {c['zero']} of {sum(c.values())} zero" for k, c in self.counts.items())
        return f"<Structure of {self.robot!r}, {', '.join(parts)}>"

    def different(self) -> Iterator[tuple[str, tuple[int, ...], StructureElement]]:
        """Each different element with its letter and its place, counted from 1."""
        for letter, table in (("D", self.D), ("h", self.h), ("g", self.g)):
            for place, element in np.ndenumerate(table):
                if not is_mirror(place):
                    yield letter, tuple(i + 1 for i in place), element

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """How many different elements of D, h and g are zero, constant or vary."""
        counts = {letter: dict.fromkeys(get_args(Status), 0) for letter in "Dhg"}
        for letter, _, element in self.different():
            counts[letter][element.status] += 1
        return counts


def is_mirror(place: tuple[int, ...]) -> bool:
    """Whether the element is equal to another one by symmetry: D_ji = D_ij, h_imk = h_ikm."""
    return len(place) > 1 and place[-2] > place[-1]


MOST_JOINTS_WITH_H = 10
"""Every h_i is printed up to this number of joints."""
MOST_NAMED = 12
"""The most elements that are named before one reason."""
_INDENT: Any = {"initial_indent": " " * 6, "subsequent_indent": " " * 6}


def text(structure: Structure) -> str:
    """Tables of D, h and g, then the reasons, equal ones told once."""
    n = len(structure.joints)
    lines = [
        f"{structure.title}: structure of D, h and g in",
        "tau_i = sum_j D_ij qdd_j + sum_km h_ikm qd_k qd_m + g_i",
        "",
        "0 zero, c constant, otherwise the joints it depends on; exact, for every value of the",
        "parameters that are not zero.",
    ]
    if any(element.rounding for *_, element in structure.different()):
        lines.append("* varies in general, but with the numbers of this robot by rounding only.")
    if structure.mimics:
        lines.append(f"Counted as joints of their own: {', '.join(structure.mimics)} (followers).")
    lines += ["", *(f"joint {i}: {name}" for i, name in enumerate(structure.joints, 1))]
    lines += ["", *_table("D", [[cell(e) for e in row] for row in structure.D])]
    lines += ["", *_table("g", [[cell(e) for e in structure.g]], rows=False)]
    if n <= MOST_JOINTS_WITH_H:
        for i, grid in enumerate(structure.h, 1):
            upper = [
                ["" if m < k else cell(e) for m, e in enumerate(r)] for k, r in enumerate(grid)
            ]
            lines += ["", *_table(f"h{i}", upper)]
        lines += ["", "h_ikm = h_imk, so the lower half mirrors the upper one."]
    else:
        most = f"h is printed for up to {MOST_JOINTS_WITH_H} joints"
        lines += ["", f"{most}; the data and the picture have it all."]
    lines.append("")
    for letter, count in structure.counts.items():
        zero, constant, varies = count.values()
        total = counted(zero + constant + varies, "element")
        lines.append(f"{letter}: {total}, {zero} zero, {constant} constant, {varies} vary")
    lines.append("")
    for k, (_, elements, reason) in enumerate(reasons(structure)):
        lines += ["Why:"] * (k == 0) + [f"  {elements}:", *textwrap.wrap(reason, 92, **_INDENT)]
    return "\n".join(lines) + "\n"


def cell(element: StructureElement) -> str:
    """An element in a table: 0, c, or joints such as 2,4-6, with * where only rounding is left."""
    if element.status != "varies":
        return {"zero": "0", "constant": "c"}[element.status]
    return spans(element.joints) + ("*" if element.rounding else "")


def spans(joints: tuple[int, ...]) -> str:
    """Joints such as 2,4-6."""
    runs: list[list[int]] = []
    for joint in joints:
        if runs and joint == runs[-1][-1] + 1:
            runs[-1].append(joint)
        else:
            runs.append([joint])
    return ",".join(
        ",".join(map(str, run)) if len(run) < 3 else f"{run[0]}-{run[-1]}" for run in runs
    )


def data(structure: Structure) -> dict[str, Any]:
    """The structure as plain data: each different element once, with its place from 1."""
    tables: dict[str, list[dict[str, Any]]] = {letter: [] for letter in "Dhg"}
    for letter, place, element in structure.different():
        plain = asdict(element) | {"joints": [*element.joints], "parameters": [*element.parameters]}
        tables[letter].append({"place": list(place), **plain})
    return {
        "robot": structure.robot,
        "joints": list(structure.joints),
        "mimics": list(structure.mimics),
        "symmetry": ["D_ij = D_ji", "h_ikm = h_imk"],
        "counts": structure.counts,
        **tables,
    }


def _table(head: str, cells: list[list[str]], rows: bool = True) -> list[str]:
    n = len(cells[0]) if cells else 0
    width = 2 + max(len(text) for text in (str(n), *(c for row in cells for c in row)))
    lines = [f"{head:<5}" + "".join(f"{j:>{width}}" for j in range(1, n + 1))]
    for i, row in enumerate(cells, 1):
        lines.append(f"{i if rows else '':<5}" + "".join(f"{c:>{width}}" for c in row))
    return [line.rstrip() for line in lines]


def reasons(structure: Structure) -> Iterator[tuple[str, str, str]]:
    """Each reason once: "D", "h" or "g", the elements as in "D12 = D13 = 0", and the reason."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for letter, place, element in structure.different():
        if element.reason:
            digits = map(str, place)
            name = letter + ("".join(digits) if max(place) < 10 else "_" + ",".join(digits))
            groups.setdefault((letter, element.status, element.reason), []).append(name)
    for (letter, status, reason), names in groups.items():
        if len(names) > MOST_NAMED:
            names[MOST_NAMED:] = [f"{len(names) - MOST_NAMED} more"]
        if status == "zero":
            yield letter, " = ".join([*names, "0"]), reason
        else:
            word = "constant" if status == "constant" else "as good as constant"
            yield letter, f"{', '.join(names)} {word}", reason


CONFIGURATIONS = 256
"""Random configurations over which ranges are measured."""
CANCELLATION = 1e-12
"""Largest variation, relative to the size of an element, that counts as rounding."""

SHARED = "a drive turns with both joints"

Ranges = tuple[Array, Array, Array]
"""Lowest and highest values of elements, and where they differ by no more than rounding."""


def structure(robot: Robot | RobotModel) -> Structure:
    """Which elements of mass matrix, Christoffel symbols and gravity are zero or constant, and why.

    A joint that follows another one counts as a joint of its own; robots with loops are refused.
    """
    if not isinstance(robot, Robot | RobotModel):
        raise ModelError(f"the structure is that of a Robot, got {shown(robot)}; load it first")
    model = robot.model if isinstance(robot, Robot) else robot
    if model.springs:
        raise ModelError(
            f"robot {model.name!r} has springs, which have no structure of this sort; ask for that "
            "of with_springs([])"
        )
    if model.loops:
        raise LoopError(
            f"robot {model.name!r} has the loop {model.loops[0].name!r}; why elements vanish is "
            "told of robots without loops only. Their equations show what is constant: armdyn "
            "equations",
            loop=model.loops[0].name,
        )
    n, apart = len(model.joints), StructureElement("zero", reason=BRANCHES)
    tables = [np.full((n,) * rank, apart, dtype=object) for rank in (2, 3, 1)]
    numbers = _ranges(model)
    for trunk in trunks(model):
        _fill(trunk, numbers, tables)
    _share_drives(model, tables[0])
    return Structure(
        model.name,
        model.title or model.name,
        tuple(joint.name for joint in model.joints),
        tuple(j.name for j in model.joints if j.mimic is not None),
        *tables,
    )


def _fill(trunk: Trunk, numbers: Sequence[Ranges], tables: Sequence[Array]) -> None:
    """Put the elements of a trunk in their places in D, h and g."""
    probe = Probe(trunk)
    patterns = probe.patterns()
    why = Why(probe, *patterns)
    reasons: list[Callable[..., Reason]] = [why.mass, why.velocity, why.weight]
    for table, pattern, (low, high, rounding), reason in zip(
        tables, patterns, numbers, reasons, strict=True
    ):
        for place in np.ndindex(pattern.zero.shape):
            if is_mirror(place):
                continue
            at = tuple(trunk.members[i] for i in place)
            text, parameters = reason(*place)
            joints = tuple(trunk.members[k] + 1 for k in pattern.on[place].nonzero()[0])
            if pattern.zero[place]:
                element = StructureElement("zero", (), text, parameters=parameters)
            else:
                span, cancels = (float(low[at]), float(high[at])), bool(joints and rounding[at])
                status: Status = "varies" if joints else "constant"
                text = CANCELS if cancels else text
                element = StructureElement(status, joints, text, *span, cancels, parameters)
            table[at] = table[*at[:-2], *reversed(at[-2:])] = element


def _share_drives(model: RobotModel, D: Array) -> None:
    """Couple joints that nothing couples but a drive."""
    shared = rotor_matrix(model)
    for i, j in zip(*np.nonzero(shared), strict=True):
        if D[i, j].status == "zero":
            value = float(shared[i, j])
            D[i, j] = StructureElement("constant", (), SHARED, value, value)


def _ranges(model: RobotModel) -> list[Ranges]:
    """The ranges of D, h and g over random configurations within the limits."""
    lower, upper = np.transpose([joint.range for joint in model.joints])
    q = np.random.default_rng(0).uniform(lower, upper, (CONFIGURATIONS, len(lower)))
    rest = np.zeros_like(q)
    D = mass_matrix(model, q) + rotor_matrix(model)
    root = np.sqrt(np.abs(np.einsum("pii->pi", D)).max(0))
    mass = sum(abs(link.inertia.mass) for link in model.links)
    sizes = (
        root[:, None] * root,
        root[:, None, None] * np.maximum(root[:, None], root),
        # by Cauchy and Schwarz no g_i is larger
        np.linalg.norm(model.gravity) * np.sqrt(mass) * root,
    )
    tables = D, christoffel(model, q), augmented_body(model, q, rest, rest).tau
    spans = [(table.min(0), table.max(0)) for table in tables]
    return [
        (low, high, np.less_equal(high - low, CANCELLATION * size))
        for (low, high), size in zip(spans, sizes, strict=True)
    ]
