"""The table of operation counts: what is printed, what is counted, and what reduction leaves.

The literature prints counts for a general arm of n revolute joints (Table 3), and Renaud those of
the augmented-body method step by step.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from itertools import groupby
from typing import Any

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.errors import check_known
from armdyn.formulations.augmented_body import augmented_body
from armdyn.graph.count import NO_OPERATIONS, Operations, count, count_nodes
from armdyn.graph.nodes import Graph, Node
from armdyn.graph.visit import reachable
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel
from armdyn.model.joint_types import REVOLUTE
from armdyn.quantities.proof import Proof, proved_program
from armdyn.quantities.request import EFFORTS, Request
from armdyn.report.figures import INK
from armdyn.report.panels import key_row, sheet
from armdyn.report.result import DrawnResult, Result, Section, parts_of
from armdyn.shorten.canonical.frames import ZERO_TOLERANCE, CanonicalLink, CanonicalRobot, canonical
from armdyn.shorten.canonical.model import COMPARED_STATES, branches, model_from_canonical
from armdyn.shorten.canonical.regroup import axis_in_parent
from armdyn.shorten.search import Progress
from armdyn.shorten.symbolic import symbolic
from armdyn.study.operations.count import (
    COMPARED,
    METHODS,
    QUANTITIES,
    STAGES,
    MethodCounts,
    count_operations,
    stage_count,
    traced,
)


@dataclass(frozen=True, slots=True)
class Published:
    """A printed formula for the numbers of multiplications and additions."""

    mul: str
    """Coefficients of the polynomial in n, the highest power first."""
    add: str

    @property
    def formula(self) -> str:
        """Both polynomials as they are printed."""
        powers = ("", " n", " n²", " n³", " n⁴")
        terms = (zip(x.split()[::-1], powers, strict=False) for x in (self.mul, self.add))
        sums = (" + ".join([c + n for c, n in each if c != "0"][::-1]) for each in terms)
        return ", ".join(sums).replace("+ -", "- ")

    def count(self, n: int) -> Operations:
        """The number of operations for n joints."""
        coefficients = (np.array([*map(Fraction, x.split())]) for x in (self.mul, self.add))
        return Operations(*(int(np.polyval(numbers, n)) for numbers in coefficients))


SOURCE = "K. Fu, R. Gonzalez, C. Lee, Robotics, 1987, as Table 3 of Milićević, Golubović, Slavković"
PUBLISHED = {
    "lagrange_euler": Published("128/3 512/3 739/3 160/3 0", "98/3 781/6 559/3 245/6 0"),
    "newton_euler_link": Published("132 0", "111 -4"),
    "dalembert": Published("13/6 105/2 268/3 69", "4/3 44 146/3 45"),
}
"""By formulation; the Lagrange-Euler formulas leave out gravity."""


def general_arm(n: int) -> CanonicalRobot:
    """An arm of n revolute joints without any zero in its geometry or its inertias."""
    full, links = frozen(np.full((3, 3), 0.5)), []
    for i in range(n):
        length = 0.5 if i else 0.0
        links.append(
            CanonicalLink(
                f"joint{i + 1}",
                i - 1,
                type=REVOLUTE,
                alpha=length,
                across=frozen([length, 0.0, 0.0]),
                theta=0.0,
                r=length,
                J=full,
                u=full[0],
                M=0.5,
                gravity=frozen([0.0, 0.0, 0.0 if i else -9.81]),
            )
        )
    return CanonicalRobot("general arm", tuple(links))


@dataclass(frozen=True, slots=True)
class ProgramCounts:
    """The program of a quantity that is compiled and exported."""

    quantity: str
    operations: Operations
    rotors: Operations
    """What the inertia of rotors takes on top."""
    friction: Operations
    """What friction takes on top."""
    proved: Proof


@dataclass(frozen=True, slots=True)
class OperationReport(DrawnResult):
    """The counts of one robot."""

    model: RobotModel = field(repr=False)
    rows: list[MethodCounts]
    """Quantities that textbooks compute, method by method."""
    programs: list[ProgramCounts]
    notes: list[str]

    def __repr__(self) -> str:
        return f"<OperationReport of {self.model.name!r}, {len(self.rows)} methods>"

    def sections(self) -> tuple[Section, ...]:
        """A table for each quantity of textbooks, that of the programs, and notes."""
        groups = groupby(self.rows, lambda row: row.quantity)
        programs = [
            (
                *(program.quantity, PROVED[program.proved], _cell(program.operations)),
                str(program.operations.trig),
                *(
                    _cell(c if c.total or c.other else None)
                    for c in (program.rotors, program.friction)
                ),
            )
            for program in self.programs
        ]
        data = {
            "robot": self.model.name,
            "rows": [
                parts_of(row, "quantity", "method")
                | {"published": _plain(row.published), "general_arm": _plain(row.general)}
                | {stage: _plain(row.stages.get(stage)) for stage in STAGES}
                for row in self.rows
            ],
            "programs": [
                parts_of(program, "quantity", "proved")
                | {k: _plain(getattr(program, k)) for k in ("operations", "rotors", "friction")}
                for program in self.programs
            ],
            "notes": self.notes,
        }
        return (
            *(_of_quantity(quantity, list(rows)) for quantity, rows in groups),
            Section(
                "programs that are compiled and exported: multiplications + additions",
                (),
                ("quantity", "proved", "links", "sin/cos", "rotors", "friction"),
                programs,
                2,
                data,
            ),
            Section("Notes" if self.notes else "", self.notes),
        )

    def figure(self) -> Any:
        """The counts of every method, one bar a stage; the rows of one quantity stand together."""
        lines: list[MethodCounts | str] = []
        places: list[int] = []
        for quantity, group in groupby(self.rows, lambda row: row.quantity):
            lines += [quantity.replace("_", " "), *group]
        height = HEAD + FOOT + INCH_A_ROW * len(lines)
        subtitle = "of one evaluation, sines and cosines not counted"
        figure = sheet(
            9.8, height, f"{self.model.title or self.model.name}: operations", subtitle, 0.017
        )
        key_row(figure, 0.017, 0.84, dict(BARS.values()))
        axes = figure.add_axes((0.22, FOOT / height, 0.70, 1 - (HEAD + FOOT) / height))
        for place, line in enumerate(lines):
            if isinstance(line, str):
                axes.text(
                    -0.29, place, line, weight="bold", color=INK, va="center",
                    transform=axes.get_yaxis_transform(),
                )  # fmt: skip
            else:
                _draw(axes, place, line)
                places.append(place)
        axes.set_yticks(places, [row.method.replace("_", " ") for row in self.rows])
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.spines["left"].set_visible(False)
        axes.set_ylim(len(lines) - 0.3, -0.7)
        axes.set_xscale("log")
        totals = [c.total for row in self.rows for c in row.stages.values() if c is not None]
        axes.set_xlim(left=min((t for t in totals if t > 0), default=2) / 2)
        axes.set_xlabel("multiplications and additions, logarithmic scale")
        return figure


PROVED = {"field": "exactly", "random": "at random states"}


def _of_quantity(quantity: str, rows: list[MethodCounts]) -> Section:
    """The methods of one quantity, stage by stage."""
    printed = any(row.published for row in rows)
    cells = []
    for row in rows:
        counts = [row.published, row.general] * printed
        counts += [row.stages.get(stage) for stage in STAGES]
        trig = "-" if counts[-1] is None else str(counts[-1].trig)
        cells.append((row.method, *map(_cell, counts), trig))
    columns = ("method", *("published", "general arm") * printed, *STAGES, "sin/cos")
    title = f"{quantity.replace('_', ' ')}: multiplications + additions"
    return Section(title, (), columns, cells)


def _cell(operations: Operations | None) -> str:
    return "-" if operations is None else f"{operations.mul} + {operations.add}"


def operation_report(
    model: RobotModel,
    quantities: tuple[str, ...] = (),
    *,
    effort: str = EFFORTS[0],
    snap: float = ZERO_TOLERANCE,
    textbooks: bool = True,
    progress: Callable[[str], None] = lambda what: None,
    search_progress: Progress | None = None,
) -> OperationReport:
    """The counts of every method at every stage beside the literature, and of every program.

    Args:
        model: The robot.
        quantities: What is counted; none are all of a base that is held, or that floats.
        effort: How hard short programs are looked for.
        snap: What counts as an exact zero or quarter turn, see `count_operations`.
        textbooks: Whether formulations of textbooks are counted beside the programs.
        progress: Called with what is counted next.
        search_progress: Told of a deep search.
    """
    for quantity in quantities:
        check_known("quantity", quantity, QUANTITIES)
    usual = [m for m in METHODS if ("pose" in m.record.arguments) == model.floating]
    chosen = [m for m in METHODS if m.quantity in quantities]
    chosen = chosen or [m for m in usual if not m.record.refused(model)]
    chosen = [m for m in chosen if textbooks or m.function is None]
    rows = list[MethodCounts]()
    programs = list[ProgramCounts]()
    notes = list[str]()
    if model.loops and not coordinates_of(model).is_linear and not model.is_frictionless:
        # it is no function of the rates alone, and counted with the torques
        chosen = [m for m in chosen if m.record.name != "friction_torque"]
        notes.append("friction of passive joints depends on q: it is counted with the torques")
    if model.loops and textbooks:
        notes.append(
            "methods of textbooks are counted for the open tree, without what its loops take; "
            "minimal is the closed robot"
        )
    n = len(model.joints)
    turning = all(joint.type is REVOLUTE for joint in model.joints)
    for method in chosen:
        progress(f"{method.quantity} by {method.name}")
        published = general = None
        if method.function is None:
            request = Request(method.record.name, effort=effort)
            program, proved = proved_program(model, request, search_progress, snap)
            parts = program.operations, program.rotors, program.friction
            programs.append(ProgramCounts(method.record.name, *parts, proved))
            stages = dict.fromkeys(STAGES) | {"minimal": program.operations}
        else:
            stages = {stage: stage_count(model, method, stage, snap=snap) for stage in STAGES}
            formula = PUBLISHED.get(method.name) if turning and any(stages.values()) else None
            if formula and method.quantity == METHOD.quantity:
                published = formula.count(n)
                general = count(traced(general_arm(n), method).ravel())
        if method.quantity in COMPARED and textbooks:
            row = MethodCounts(method.quantity, method.name, stages, published, general)
            rows.append(row)
    notes += _notes(rows, n)
    snapped = canonical(model, snap).snapped
    if snapped > 0:
        notes.append(
            f"numbers up to {snap:g} were taken for exact zeros and quarter turns; over "
            f"{COMPARED_STATES} random states this moves a torque by up to {snapped:.1e} of the "
            "largest of its joint"
        )
    return OperationReport(model, rows, programs, notes)


def _notes(rows: list[MethodCounts], n: int) -> list[str]:
    apart = [row for row in rows if row.published != row.general]
    notes = []
    if apart:
        texts = [f"{row.method} {PUBLISHED[row.method].formula}" for row in apart]
        notes.append(
            f"published: the formulas of {SOURCE} for a general arm of n = {n} revolute joints "
            f"({'; '.join(texts)}; Lagrange-Euler without gravity). They count each equation as it "
            "is printed; the next column counts the same equations with every value computed once"
        )
    if any(all(count is None for count in row.stages.values()) for row in rows):
        notes.append("methods without numbers are written for chains, and this robot branches")
    return notes


def _plain(operations: Operations | None) -> dict[str, int] | None:
    return None if operations is None else asdict(operations) | {"total": operations.total}


STEPS = {
    "1a, 1b": ("angular velocity ω", Operations(18, 12)),
    "2": ("its products ω ωᵀ", Operations(25, 0)),
    "3a, 3b": ("angular acceleration a", Operations(28, 22)),
    "4": ("b = S(a) + S(ω)²", Operations(0, 15)),
    "5, 6": ("acceleration α of the origins", Operations(22, 12)),
    "7, 8": ("forces e", Operations(26, 16)),
    "9, 10": ("moments n and torques", Operations(62, 50)),
}
"""The steps of the method, what each computes, and what the paper prints for its 6R arm."""
PAPER = {name: printed for name, (_, printed) in STEPS.items()}
"""What the paper prints; its total is 181 + 127."""
PAPER_MERGED = Operations(164, 115)
"""What it prints after y5 and z6, which act only as y5 - z6, are merged by hand."""
METHOD = next(method for method in METHODS if method.name == "augmented_body")


def augmented_body_steps(model: RobotModel) -> dict[str, Operations]:
    """The operations of each step that reach the torques, every one counted where it is first made.

    A product that two steps use belongs to the first of them.
    """
    made: dict[str, list[Node]] = {name: [] for name in STEPS}
    for part in branches(canonical(model)).values():
        graph = Graph()
        symbols = model_from_canonical(symbolic(part, graph))
        q, qd, qdd = (graph.inputs(name, len(symbols.joints)) for name in ("q", "qd", "qdd"))
        bodies = augmented_body(symbols, q, qd, qdd)
        live = {node.index for node in reachable(_nodes(graph, bodies.tau))}
        products = [w[:, None] * w[None, :] for w in bodies.w]
        stages = bodies.w, products, bodies.a, bodies.b, bodies.alpha, bodies.e, [bodies.tau]
        for name, arrays in zip(STEPS, stages, strict=True):
            for node in reachable(node for array in arrays for node in _nodes(graph, array)):
                if node.index in live:
                    live.remove(node.index)
                    made[name].append(node)
    return {name: count_nodes(nodes) for name, nodes in made.items()}


def _nodes(graph: Graph, array: Array) -> list[Node]:
    found = (graph.node(value) for value in np.ravel(np.asarray(array, dtype=object)))
    return [node for node in found if node is not None]


@dataclass(frozen=True, slots=True)
class StepsReport(Result):
    """The steps of the method for one robot, beside the paper's where it is the paper's robot."""

    steps: dict[str, Operations]
    paper: dict[str, Operations] | None
    notes: list[str]

    def sections(self) -> tuple[Section, ...]:
        """The table of steps, and what comes of them."""
        paper = self.paper or {}
        data = [
            {"step": name, "quantity": STEPS[name][0], "counted": x, "printed": paper.get(name)}
            for name, x in self.steps.items()
        ]
        rows = [tuple("" if x is None else str(x) for x in row.values()) for row in data]
        columns = ("step", "quantity", "counted", "printed" if paper else "")
        steps = {"steps": data, "notes": self.notes}
        return (
            Section("The augmented-body method", (), columns, rows, 2, steps),
            Section("In all", self.notes),
        )


def steps_report(model: RobotModel) -> StepsReport:
    """The steps with their totals, and what regrouping makes of them."""
    steps = augmented_body_steps(model)
    total = sum(steps.values(), NO_OPERATIONS)
    notes = [f"counted {total}"]
    paper = PAPER if model.name == "renaud_6r" else None
    if paper:
        notes = [
            f"counted {total}, printed {sum(PAPER.values(), NO_OPERATIONS)}: two products of "
            "step 3 are products of step 2 as well, and are counted there once",
            f"with y5 and z6 merged into y5 - z6: counted {_merged_count(model)}, printed "
            f"{PAPER_MERGED}",
        ]
    regrouped, reduced = (stage_count(model, METHOD, stage) for stage in ("regrouped", "minimal"))
    notes += [
        f"on base parameters, gathered by machine: {regrouped}; after all passes {reduced}",
        f"by the minimal formulation: {count_operations(model)}",
    ]
    return StepsReport(steps, paper, notes)


def _merged_count(model: RobotModel) -> Operations:
    """The count with the first moment along the last axis handed to link 5, as the paper does."""
    robot = canonical(model)
    *first, fifth, sixth = robot.links
    axis, _ = axis_in_parent(sixth)
    fifth = replace(fifth, u=frozen(fifth.u + sixth.u[2] * axis))
    sixth = replace(sixth, u=frozen([sixth.u[0], sixth.u[1], 0.0]))
    return count(traced(replace(robot, links=(*first, fifth, sixth)), METHOD))


BARS = {
    "written": ("as written", "#E3E8EE"),
    "customised": ("customised to the robot", "#A9CBE4"),
    "regrouped": ("on base parameters", "#56A0D0"),
    "minimal": ("minimal", "#0B5A94"),
}
"""Name and colour of the bar of each stage."""
INCH_A_ROW = 0.30
HEAD = 1.15
FOOT = 0.55


def _draw(axes: Any, place: float, row: MethodCounts) -> None:
    """The bars of one method over each other, the longest behind, with the last number."""
    best = None
    for stage, (_, colour) in BARS.items():
        operations = row.stages.get(stage)
        if operations is not None:
            axes.barh(place, operations.total, height=0.72, color=colour)
            best = operations.total
    if best is None:
        return
    inside = best > 0
    axes.annotate(
        f"{best}", (best if inside else 0, place), xytext=(-4 if inside else 4, 0),
        xycoords="data" if inside else axes.get_yaxis_transform(), textcoords="offset points",
        ha="right" if inside else "left", va="center", color="white" if inside else INK,
        fontsize=7.5, weight="bold",
    )  # fmt: skip
