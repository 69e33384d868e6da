"""Which elements of the equations of motion vanish, which are constant, and what the others need.

With τ_i = Σ D_ij q̈_j + Σ h_ikm q̇_k q̇_m + g_i, each element is zero, constant, or depends on certain
joints, for every value of the numbers of the robot that are not zero: these are symbols, while
zeros and quarter turns in the canonical frames are kept. Exact evaluation over a finite field
decides: an element depends on q_k if another random q_k changes it. A link that carries several
joints has the frame of the first one. The angle of another joint is then a sum with an angle of
that frame, and counts as special only if both are. Statements about axes and inertias are decided
over the field, too.
"""

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any, Literal, get_args

import numpy as np

from armdyn.arrays import Array
from armdyn.closed_forms.document import index
from armdyn.errors import LoopError, ModelError, counted
from armdyn.formulations.augmented_body import augmented_body
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.coriolis import christoffel
from armdyn.formulations.rotors import rotor_matrix
from armdyn.model import RobotModel
from armdyn.report.figures import GREY, INK, PALE
from armdyn.report.panels import key_row, sheet
from armdyn.report.result import DrawnResult, Section, parts_of
from armdyn.robot import Robot, check_robot
from armdyn.study.structure.probe import Trunk, awakened, joint_axes, patterns, trunks

WHATEVER = "whatever the inertias"
THESE = "with the inertias as they are"
CANCELS = "what varies cancels in the numbers of this robot, up to rounding"
BRANCHES = "joints on different branches move no link together"
MOST_LISTED = 8
"""The most parameters that a sentence names; the element keeps all of them."""

Reason = tuple[str, tuple[str, ...]]
"""A sentence, and the parameters that are zero and would change it."""


class Why:
    """The reasons for the elements of one trunk; indices count from 0 within it."""

    def __init__(self, trunk: Trunk):
        self.trunk = trunk
        self.absent = tuple(name for name, (_, value) in trunk.inertial.items() if not value)
        """Inertial parameters that are zero."""
        each = [frozenset([q]) for q in trunk.q]
        self.D, self.h, self.g = patterns(trunk, frozenset(self.absent), each)
        # those of every robot of this geometry
        always = patterns(trunk, frozenset(), [frozenset(trunk.q)])
        self.always_D, self.always_h, self.always_g = always
        self.D_wakes, self.D_stirs = awakened(trunk, self.absent, trunk.D)
        self.g_wakes, self.g_stirs = awakened(trunk, self.absent, trunk.g)
        self.cosines, self.parallel, self.level, self.upright = joint_axes(trunk)

    # the mass matrix

    def mass(self, i: int, j: int) -> Reason:
        """Why D_ij is zero or constant; nothing where it varies."""
        if self.D.zero[i, j]:
            return self._no_mass(i, j)
        return self._constant_mass(i, j) if self.D.constant[i, j] else ("", ())

    def _no_mass(self, i: int, j: int) -> Reason:
        slides = self.trunk.slides[i] + self.trunk.slides[j]
        if self._apart(i, j):
            return BRANCHES, ()
        if self._bare(i, j):
            return "the links that both joints move have no inertia", ()
        if self.always_D.zero[i, j]:
            if slides == 2:
                return f"both slide, along axes that are always perpendicular, {WHATEVER}", ()
            return f"one slides parallel to the axis the other turns about, {WHATEVER}", ()
        missing = self._named(self.D_wakes[i, j])
        angle = self._angle(i, j)
        if not missing:
            return f"{angle}, and more than one inertial parameter that would couple is zero", ()
        return f"{angle}; {_but(missing, 'would couple the joints')}", missing

    def _constant_mass(self, i: int, j: int) -> Reason:
        own = i == j
        slides = self.trunk.slides[i] + self.trunk.slides[j]
        if self.always_D.constant[i, j]:
            if own and slides:
                return f"a joint that slides feels the mass it moves, {WHATEVER}", ()
            if own and not self.trunk.beyond(i):
                return f"no joint beyond it moves the inertia about its axis, {WHATEVER}", ()
            if own:
                return f"the joints beyond leave the inertia about its axis alone, {WHATEVER}", ()
            both = "both slide, " if slides == 2 else ""
            return f"{both}{self._angle(i, j)}, {WHATEVER}", ()
        if self._bare(i, j):
            return "its rotor alone: the links it moves have no inertia", ()
        return self._balance(self.D_stirs[i, j], "would make it vary")

    # velocities

    def velocity(self, i: int, k: int, m: int) -> Reason:
        """Why h_ikm is zero or constant; nothing where it varies."""
        D, zero = self.D.on, self.h.zero[i, k, m]
        if not self.h.constant[i, k, m]:
            return "", ()
        held = self.always_h.zero if zero else self.always_h.constant
        how = WHATEVER if held[i, k, m] else THESE
        if not zero:
            return f"the derivatives of D it is made of are constant, {how}", ()
        if any(self._apart(a, b) for a, b in ((i, k), (i, m), (k, m))):
            return BRANCHES, ()
        if i == k == m:
            text = "h_iii = ½ ∂D_ii/∂q_i, and no joint changes the inertia about itself"
        elif i in (k, m):
            text = "h_iki = ½ ∂D_ii/∂q_k, and D_ii does not depend on q_k"
        elif not (D[i, k, m] or D[i, m, k] or D[k, m, i]):
            text = "D_ik does not depend on q_m, D_im not on q_k, D_km not on q_i"
        else:
            text = "the derivatives of D it is made of cancel"
        return f"{text}, {how}", ()

    # gravity

    def weight(self, i: int) -> Reason:
        """Why g_i is zero or constant; nothing where it varies."""
        if not self.g.constant[i]:
            return "", ()
        slides = self.trunk.slides[i]
        level = self.level[i]
        upright = self.upright[i]
        if self.g.zero[i]:
            if level and upright:
                return "there is no gravity", ()
            if upright and not slides and self.always_g.zero[i]:
                return f"its axis is always vertical, {WHATEVER}", ()
            if level and slides:
                return f"it slides along an axis that is always horizontal, {WHATEVER}", ()
            if self._bare(i, i):
                return "the links it moves have no inertia", ()
            return self._balance(self.g_wakes[i], "would load it")
        if self.always_g.constant[i]:
            way = "straight up or down" if upright else "at a constant angle to gravity"
            return f"it slides {way}, {WHATEVER}", ()
        return self._balance(self.g_stirs[i], "would make it vary")

    # what they share

    def _balance(self, which: Array, effect: str) -> Reason:
        """That the parameters which would have an effect are zero."""
        missing = self._named(which)
        if not missing:
            return f"{THESE}: more than one parameter that {effect} is zero", ()
        return f"{THESE}: {_but(missing, effect)}", missing

    def _apart(self, i: int, j: int) -> bool:
        return i not in self.trunk.paths[j] and j not in self.trunk.paths[i]

    def _bare(self, i: int, j: int) -> bool:
        """Whether no link that both joints move has any inertia."""
        outer = i if j in self.trunk.paths[i] else j
        moved = {outer, *self.trunk.beyond(outer)}
        return not any(value for link, value in self.trunk.inertial.values() if link in moved)

    def _angle(self, i: int, j: int) -> str:
        if self.cosines.zero[i, j]:
            return "axes always perpendicular"
        if self.parallel[i, j]:
            return "axes always parallel"
        if self.cosines.constant[i, j]:
            return "axes always at the same angle"
        return "axes at an angle that changes"

    def _named(self, which: Array) -> tuple[str, ...]:
        return tuple(self.absent[k] for k in np.flatnonzero(which))


def _but(names: Sequence[str], effect: str) -> str:
    """That each of the parameters would have an effect, but is zero."""
    if len(names) == 1:
        return f"{names[0]} {effect}, but is zero"
    more = len(names) - MOST_LISTED
    last = f"{more} more" if more > 1 else names[-1]
    shown = names[:MOST_LISTED] if more > 1 else names[:-1]
    return f"any of {', '.join(shown)} and {last} {effect}, but they are zero"


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
class Structure(DrawnResult):
    """The elements of D, h and g of a robot, over all its moving joints."""

    model: RobotModel = field(repr=False)
    D: Array
    """Mass matrix with rotors, (n, n)."""
    h: Array
    """Christoffel symbols h[i, k, m] = h[i, m, k], (n, n, n)."""
    g: Array
    """Torques of gravity, (n,)."""

    def __repr__(self) -> str:
        parts = (f"{k}: {c['zero']} of {sum(c.values())} zero" for k, c in self.counts.items())
        return f"<Structure of {self.model.name!r}, {', '.join(parts)}>"

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints."""
        return tuple(joint.name for joint in self.model.joints)

    @property
    def mimics(self) -> tuple[str, ...]:
        """Joints that follow another one; here they count as joints of their own."""
        return tuple(joint.name for joint in self.model.joints if joint.mimic is not None)

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

    def sections(self) -> tuple[Section, ...]:
        """Tables of D, h and g, then the reasons, equal ones told once; each element as data."""
        maps = [_map("D", self.D), _map("g", self.g[None])]
        every = len(self.joints)
        if every <= MOST_JOINTS_WITH_H:
            maps += [_map(f"h{i}", grid) for i, grid in enumerate(self.h, 1)]
            note = "h_ikm = h_imk, so the lower half mirrors the upper one."
        else:
            most = f"h is printed for up to {MOST_JOINTS_WITH_H} joints"
            note = f"{most}; the data and the picture have it all."
        lines = [
            f"{letter}: {counted(sum(count.values()), 'element')}, {count['zero']} zero, "
            f"{count['constant']} constant, {count['varies']} vary"
            for letter, count in self.counts.items()
        ]
        why = [
            line
            for _, elements, reason in reasons(self)
            for line in (f"{elements}:", *textwrap.wrap(reason, 92, **_INDENT))
        ]
        told = Section("Elements", (note, *lines))
        return self._head(), *maps, told, Section("Why" if why else "", why)

    def _head(self) -> Section:
        """What the tables mean, the joints, and each element as data."""
        lines = [
            "tau_i = sum_j D_ij qdd_j + sum_km h_ikm qd_k qd_m + g_i",
            "0 zero, c constant, otherwise the joints it depends on; exact, for every value of the",
            "parameters that are not zero.",
        ]
        if any(element.rounding for *_, element in self.different()):
            lines.append(
                "* varies in general, but with the numbers of this robot by rounding only."
            )
        if self.mimics:
            lines.append(f"Counted as joints of their own: {', '.join(self.mimics)} (followers).")
        lines += [f"joint {i}: {name}" for i, name in enumerate(self.joints, 1)]
        data = {
            "robot": self.model.name,
            **parts_of(self, "joints", "mimics", "counts"),
            "symmetry": ["D_ij = D_ji", "h_ikm = h_imk"],
            **{letter: list[dict[str, Any]]() for letter in "Dhg"},
        }
        for letter, place, element in self.different():
            data[letter].append({"place": place, **asdict(element)})
        return Section(
            f"{self.model.title or self.model.name}: structure of D, h and g in", lines, data=data
        )

    def figure(self) -> Any:
        """What the elements of D, h and g depend on."""
        n = len(self.joints)
        columns = n if n <= 3 else int(np.ceil(np.sqrt(n)))
        rows = -(-n // columns)
        big, small = next((sides for most, sides in CELLS if n <= most), (4.2 / n, 2.4 / n))
        big, small = max(big, 0.1), max(small, 0.045)
        beside = LEFT + (n + 1) * big + BESIDE + 2 * BETWEEN
        width = max(beside + columns * (n * small + BETWEEN) - BETWEEN + RIGHT, 7.6)
        notes = _notes(self, (beside if n > 3 else width) - 2 * BETWEEN)
        left_side = n * big + NOTE_HEIGHT * (len(notes) + 2)
        height = HEAD + max(left_side, rows * (n * small + ABOVE) - ABOVE) + FOOT
        counts = []
        for name, count in self.counts.items():
            constant = f", {count['constant']} constant" if count["constant"] else ""
            counts.append(f"{name}: {count['zero']} of {sum(count.values())} zero{constant}")
        title = f"{self.model.title or self.model.name}: structure of the dynamics"
        figure = sheet(width, height, title, f"{EQUATION}      {'  ·  '.join(counts)}", 0.2 / width)
        key_row(figure, 0.2 / width, 0.88, _colours(self), edgecolor=PALE, linewidth=0.8)

        def place(left: float, top: float, across: float, down: float) -> Any:
            return figure.add_axes(
                (left / width, 1 - (top + down) / height, across / width, down / height)
            )

        axes = place(LEFT, HEAD, n * big, n * big)
        _draw(axes, self.D, big, n, "D  mass matrix")
        axes = place(LEFT + n * big + BESIDE, HEAD, big, n * big)
        _draw(axes, self.g[:, None], big, n, "g  gravity")
        for i, grid in enumerate(self.h):
            row, column = divmod(i, columns)
            left = beside + column * (n * small + BETWEEN)
            axes = place(left, HEAD + row * (n * small + ABOVE), n * small, n * small)
            half = grid.copy()
            half[np.tril_indices(n, -1)] = None
            title = f"h$_{{{i + 1}}}$" + ("  velocities" if i == 0 else "")
            _draw(axes, half, small, n, title)
        below = 1 - (HEAD + n * big + 1.5 * NOTE_HEIGHT) / height
        look = dict(color=INK, fontsize=8, va="top", linespacing=1.3)
        figure.text(0.2 / width, below, "\n".join(notes), **look)
        return figure


def is_mirror(place: tuple[int, ...]) -> bool:
    """Whether the element is equal to another one by symmetry: D_ji = D_ij, h_imk = h_ikm."""
    return len(place) > 1 and place[-2] > place[-1]


MOST_JOINTS_WITH_H = 10
"""Every h_i is printed up to this number of joints."""
MOST_NAMED = 12
"""The most elements that are named before one reason."""
_INDENT: Any = {"initial_indent": " " * 4, "subsequent_indent": " " * 4}


def cell(element: StructureElement) -> str:
    """An element in a table: 0, c, or joints such as 2,4-6, with * where only rounding is left."""
    if element.status != "varies":
        return {"zero": "0", "constant": "c"}[element.status]
    return spans(element.joints) + ("*" if element.rounding else "")


def spans(joints: tuple[int, ...]) -> str:
    """Joints such as 2,4-6."""
    runs = [
        [joint for _, joint in run]
        for _, run in groupby(enumerate(joints), lambda pair: pair[1] - pair[0])
    ]
    return ",".join(
        ",".join(map(str, run)) if len(run) < 3 else f"{run[0]}-{run[-1]}" for run in runs
    )


def _map(name: str, elements: Array) -> Section:
    """The elements as a table, those that are equal to others by symmetry left out of h."""
    n, square = elements.shape[1], len(elements) > 1
    rows = [
        (
            str(i + 1) if square else "",
            *("" if name[0] == "h" and j < i else cell(element) for j, element in enumerate(row)),
        )
        for i, row in enumerate(elements)
    ]
    return Section(name, (), ("", *map(str, range(1, n + 1))), rows)


def reasons(structure: Structure) -> Iterator[tuple[str, str, str]]:
    """Each reason once: "D", "h" or "g", the elements as in "D12 = D13 = 0", and the reason."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for letter, place, element in structure.different():
        if element.reason:
            names = groups.setdefault((letter, element.status, element.reason), [])
            names.append(letter + index(*place))
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

MOST_JOINTS_WITH_TEXT = 7
"""Cells have text up to this number of joints."""
CELLS = (3, (0.8, 0.62)), (5, (0.66, 0.5)), (MOST_JOINTS_WITH_TEXT, (0.58, 0.44))
"""Sides of a cell of D and of h [inch] up to so many joints."""
ZERO, CONSTANT, ROUNDED, MIRROR = "#FFFFFF", "#F1EBD8", "#F6C98A", "#ECECEC"
ONE_JOINT, ALL_JOINTS = "#CFE3F2", "#08487F"
"""Colours of an element that depends on one joint and on all."""
EQUATION = r"$\tau_i = \sum_j D_{ij}\,\ddot q_j + \sum_{km} h_{ikm}\,\dot q_k \dot q_m + g_i$"
LEFT = 0.45
RIGHT = 0.3
HEAD = 1.75
FOOT = 0.3
BESIDE = 0.28
BETWEEN = 0.42
ABOVE = 0.55
"""Room between D and g, between maps, and above a map [inch]."""

NOTE_HEIGHT, MOST_NOTES = 0.15, 24
"""Height of a line of the reasons [inch], and the largest number of lines."""

Ranges = tuple[Array, Array, Array]
"""Lowest and highest values of elements, and where they differ by no more than rounding."""


def structure(robot: Robot | RobotModel) -> Structure:
    """Which elements of mass matrix, Christoffel symbols and gravity are zero or constant, and why.

    A joint that follows another one counts as a joint of its own; robots with loops are refused.
    """
    model = check_robot(robot).model
    if model.springs:
        raise ModelError(
            f"robot {model.name!r} has springs, which have no structure of this sort; ask for that "
            "of with_springs([])"
        )
    if model.spins:
        name = next(owner.name for owner in model.driven if owner.rotor.spins)
        raise ModelError(
            f"robot {model.name!r} has rotors that spin, that of {name!r} among them, which couple "
            "joints and have no structure of this sort; ask for that of with_rotor(name) for each"
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
    shared, D = rotor_matrix(model), tables[0]
    for i, j in zip(*np.nonzero(shared), strict=True):
        if D[i, j].status == "zero":  # nothing couples these joints but a drive
            value = float(shared[i, j])
            D[i, j] = StructureElement("constant", (), SHARED, value, value)
    return Structure(model, *tables)


def _fill(trunk: Trunk, numbers: Sequence[Ranges], tables: Sequence[Array]) -> None:
    """Put the elements of a trunk in their places in D, h and g."""
    why = Why(trunk)
    reasons: list[Callable[..., Reason]] = [why.mass, why.velocity, why.weight]
    for table, pattern, (low, high, rounding), reason in zip(
        tables, (why.D, why.h, why.g), numbers, reasons, strict=True
    ):
        for place in np.ndindex(pattern.zero.shape):
            if is_mirror(place):
                continue
            at = tuple(trunk.members[i] for i in place)
            text, parameters = reason(*place)
            joints = tuple(trunk.members[k] + 1 for k in pattern.on[place].nonzero()[0])
            zero, cancels = pattern.zero[place], bool(joints and rounding[at])
            status: Status = "zero" if zero else "varies" if joints else "constant"
            span = (0.0, 0.0) if zero else (float(low[at]), float(high[at]))
            text = CANCELS if cancels else text
            element = StructureElement(status, joints, text, *span, cancels, parameters)
            table[at] = table[*at[:-2], *reversed(at[-2:])] = element


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


def _notes(structure: Structure, width: float) -> list[str]:
    """Why elements of D and g are zero or constant, in lines of a width [inch]."""
    lines: list[str] = []
    for owner, elements, reason in reasons(structure):
        if owner != "h":
            lines += textwrap.wrap(
                f"{elements}: {reason}", int(width / 0.068), subsequent_indent="    "
            )
    return lines if len(lines) <= MOST_NOTES else [*lines[: MOST_NOTES - 1], "and other reasons"]


def _colour(element: StructureElement | None, n: int) -> Any:
    if element is None:
        return MIRROR
    if element.rounding:
        return ROUNDED
    if element.status != "varies":
        return ZERO if element.status == "zero" else CONSTANT
    return _shade(len(element.joints), n)


def _shade(joints: int, n: int) -> Any:
    """The colour of an element that depends on so many joints."""
    from matplotlib.colors import to_rgb  # noqa: PLC0415 (an extra)

    few, many = np.array([to_rgb(ONE_JOINT), to_rgb(ALL_JOINTS)])
    return few + (joints - 1) / max(n - 1, 1) * (many - few)


def _draw(axes: Any, cells: Array, side: float, n: int, title: str) -> None:
    """One map of cells, with joint numbers at its edges."""
    from matplotlib.colors import to_rgb  # noqa: PLC0415 (an extra)

    rows, columns = cells.shape
    colours = np.array([[to_rgb(_colour(element, n)) for element in row] for row in cells])
    axes.imshow(colours, interpolation="nearest", aspect="auto", extent=(0, columns, rows, 0))
    few = n <= MOST_JOINTS_WITH_TEXT
    line = dict(color=PALE, linewidth=0.6 if few else 0.25, clip_on=False)
    axes.hlines(range(rows + 1), 0, columns, **line)
    axes.vlines(range(columns + 1), 0, rows, **line)
    for (i, j), element in np.ndenumerate(cells) if few else ():
        if element is not None:
            short, text = side < 0.5, cell(element)
            if element.status == "varies":
                runs = spans(element.joints).replace("-", "–")
                text = runs if short else " ".join(f"q{run}" for run in runs.split(","))
            elif element.status == "constant" and not short:
                text = "const"
            dark = sum(colours[i, j]) < 1.75
            ink = "white" if dark else GREY if element.status == "zero" else INK
            size = min(9.5, 72 * side * 0.88 / (0.56 * max(len(text), 3)))
            place = dict(ha="center", va="center", fontsize=size, color=ink)
            axes.text(j + 0.5, i + 0.5, text, **place)
    shown = range(0, n) if n <= 12 else range(4, n, 5)
    places = [k + 0.5 for k in shown]
    labels = [str(k + 1) for k in shown]
    axes.set_yticks(places, labels)
    axes.set_xticks(places if columns > 1 else [], labels if columns > 1 else [])
    axes.tick_params(
        length=0, pad=2, labelsize=8 if n <= 12 else 6, top=True, labeltop=True, labelbottom=False
    )
    axes.spines[:].set_visible(False)
    axes.set_title(title, fontsize=10, weight="bold", color=INK, pad=6 if columns > 1 else 16.5)


def _colours(structure: Structure) -> dict[str, Any]:
    """The colours of the maps by what they mean."""
    every = [element for *_, element in structure.different()]
    counts = sorted({len(e.joints) for e in every if e.status == "varies" and not e.rounding})
    if len(counts) > 7:
        counts = [counts[round(k)] for k in np.linspace(0, len(counts) - 1, 5)]
    names: dict[str, Any] = {"zero": ZERO, "constant": CONSTANT}
    for k, count in enumerate(counts):
        word = ("depends on " if k == 0 else "") + counted(count, "joint")
        names[word] = _shade(count, len(structure.joints))
    if any(e.rounding for e in every):
        names["cancels in these numbers"] = ROUNDED
    names["by symmetry"] = MIRROR
    return names
