"""The result of a design: the goal, its conditions, the changes of links, both arms compared."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.forks import cached_property
from armdyn.io.csv.trajectory import SampledMotion
from armdyn.model import RobotModel
from armdyn.report.result import PRINTED_AS_ZERO, DrawnResult, Section, parts_of, zero
from armdyn.robot import Robot
from armdyn.study.simplify.comparison import Comparison, ValueRange, compare_designs, draw_design
from armdyn.study.simplify.conditions import Branch, Branches, Conditions, plain
from armdyn.study.simplify.counterweights import LinkChange, Shape, link_changes
from armdyn.study.simplify.design_variables import DesignVariables
from armdyn.study.simplify.goals import Goals, Obstacle
from armdyn.study.states import CONFIGURATIONS

_REACHED_TOLERANCE = 1e-9
"""An element that is larger, relative to its scale, does not reach its goal."""
MOST_LINES = 40
"""Conditions and obstacles that are printed; the data has all of them."""
_TILTED_COSINE = 0.996
"""A box whose axes are turned by more than this cosine, five degrees, is called tilted."""


@dataclass(frozen=True, slots=True)
class Variation:
    """An element that a goal is about, over many configurations.

    Its values are the range of an element that shall be constant, and the largest magnitude of one
    that shall be zero.
    """

    element: str
    """D12, g2."""
    constant: bool
    before: float
    after: float
    scale: float
    """The unit in which both are compared."""

    @property
    def remains(self) -> bool:
        """Whether the goal is not reached for this element."""
        return self.after > _REACHED_TOLERANCE * self.scale


@dataclass(frozen=True, eq=False)
class Simplification(DrawnResult):
    """The answer to the question how a robot can be simplified.

    Where the goals cannot be reached, the new robot is the one that comes nearest.
    """

    before: Robot = field(repr=False)
    model: RobotModel = field(repr=False)
    """The new robot."""
    goals: Goals = field(repr=False)
    variables: DesignVariables = field(repr=False)
    feasible: bool
    """Whether the goals are reached."""
    reason: str
    """The outcome in a sentence."""
    obstacles: tuple[Obstacle, ...] = field(repr=False)
    """Pairs of joints that forbid the goals for any masses of the links."""
    residual: float = field(repr=False)
    """Root mean square of everything that shall vanish, dimensionless."""
    rank: int = field(repr=False)
    """Number of independent conditions on the inertial numbers that the convex problem finds."""
    cost: float = field(repr=False)
    """Sum of the weighted squared changes, in the units of `design_variables`."""
    lengths: Mapping[str, tuple[float, float]] = field(repr=False)
    """Lengths that were free, before and after by symbol [m]."""
    variations: tuple[Variation, ...] = field(repr=False)
    seconds: Mapping[str, float] = field(repr=False)
    """How long each step took."""
    solved: Branches = field(default_factory=Branches, repr=False)
    """The conditions on the parameters, and their solutions."""
    motion: SampledMotion | None = field(default=None, repr=False)
    """On which torques are compared; None: moves between far corners of the workspace."""

    @property
    def conditions(self) -> Conditions:
        """The polynomials of the parameters that must vanish."""
        return self.solved.conditions

    @property
    def branches(self) -> tuple[Branch, ...]:
        """The ways to fulfil the conditions."""
        return self.solved.branches

    @cached_property
    def robot(self) -> Robot:
        """The new robot."""
        return Robot(self.model)

    @cached_property
    def changes(self) -> tuple[LinkChange, ...]:
        """The links that differ, and how to build them."""
        return link_changes(self.before.model, self.model)

    @cached_property
    def comparison(self) -> Comparison:
        """Both robots, compared when this is first asked for."""
        return compare_designs(self.before, self.robot, self.motion, shaking=self.goals.forceless)

    @property
    def exit_code(self) -> int:
        """0: the goal is reached; 1: it is not, and the report shows the nearest design."""
        return int(not self.feasible)

    def sections(self) -> tuple[Section, ...]:
        """The parts of the report."""
        compared = self.comparison
        seconds = {**self.seconds, "comparison": compared.seconds}
        times = ", ".join(f"{name} {time:.3g} s" for name, time in seconds.items())
        return (
            _headline(self),
            _obstacles(self.obstacles),
            *_conditions(self.solved),
            _lengths(self.lengths),
            _links(self.changes),
            *_weights(self.changes),
            *_rotors(self.before.model, self.model, self.variables),
            mass_matrix_section(compared),
            torques_section(compared),
            *shaking_section(compared),
            costs_section(compared),
            Section("Time", (times,), data={"seconds": seconds}),
        )

    def figure(self) -> Any:
        """Both arms, mass matrix, gravity and torques."""
        model = self.before.model
        state = "reached" if self.feasible else "not reached; the nearest design"
        title = f"{model.title or model.name}, goal {self.goals}: {state}"
        return draw_design(title, (model, self.model), self.changes, self.comparison)


def _headline(found: Simplification) -> Section:
    name = found.before.model.title or found.before.name
    reaches = found.variables.reaches.tolist()
    links = zip(found.before.model.links, reaches, strict=True)
    ends = [f"{link.name} {reach:.3g} m" for link, reach in links if np.isfinite(reach)]
    where = f"this far from their joints: {', '.join(ends)}" if ends else "anywhere"
    reach = f"reach: centres of mass and counterweights may be {where}"
    lines = [f"goal: {found.goals}", f"free: {found.variables}", reach]
    remaining = [v for v in found.variations if v.remains]
    data = {
        **parts_of(found, "exit_code", "feasible", "reason", "residual", "cost", "rank"),
        "robot": found.before.name,
        "goal": found.goals.words,
        "free": found.variables.symbols,
        "reach": [x if np.isfinite(x) else None for x in reaches],
        "remaining": [parts_of(v, "element", "before", "after", "scale") for v in remaining],
    }
    if found.feasible:
        return Section(f"{name}: {found.reason}", lines, data=data)
    lines.append(f"nearest design: root mean square of what should vanish {found.residual:.3g}")
    lines += [
        f"{v.element} {'varies by' if v.constant else 'reaches'} {v.after:.4g} "
        f"({_percent(v.after, v.scale)} of its scale; before {_percent(v.before, v.scale)})"
        for v in sorted(remaining, key=lambda v: -v.after / v.scale)[:MOST_LINES]
    ]
    return Section(f"{name}: not reached; {found.reason}", lines, data=data)


def _obstacles(found: Sequence[Obstacle]) -> Section:
    lines = [line for o in found for line in (o.reason, f"    {o.law}")]
    data = [{"joints": [i + 1 for i in o.joints], "law": o.law, "reason": o.reason} for o in found]
    title = "Obstacles" if found else ""
    return Section(title, _cut(lines, 2 * MOST_LINES), data={"obstacles": data})


def _conditions(solved: Branches) -> Iterator[Section]:
    """The equations of the goal, and a section for each branch."""
    equations = solved.conditions.equations
    count = len(equations)
    lines = _cut([f"{plain(polynomial)} = 0" for polynomial in equations], MOST_LINES)
    yield Section(
        f"Conditions ({count})" if count else "Conditions",
        lines or (solved.note or "none: the goal holds for any numbers",),
        data={
            "conditions": [{"polynomial": str(p), "sources": of} for p, of in equations.items()],
            "branches": [
                parts_of(x, "equations", "needs", "feasible", "reason") for x in solved.branches
            ],
            "branches_complete": solved.complete,
            **parts_of(solved, "impossible", "note"),
        },
    )
    if not count:
        return
    for number, branch in enumerate(solved.branches, start=1):
        state = {True: "feasible", False: "not feasible", None: "not tried"}[branch.feasible]
        because = f": {branch.reason}" if branch.reason and branch.feasible is not True else ""
        yield Section(f"Branch {number}, {state}{because}", branch.equations)
    if solved.impossible and not solved.branches:
        yield Section("No branch", _cut(list(solved.impossible), MOST_LINES))


def _cut(lines: list[str], most: int) -> tuple[str, ...]:
    more = (f"... and {len(lines) - most} more",) if len(lines) > most else ()
    return (*lines[:most], *more)


def _lengths(found: Mapping[str, tuple[float, float]]) -> Section:
    lengths = [{"symbol": s, "before": old, "after": new} for s, (old, new) in found.items()]
    rows = [(s, f"{old:.4g}", f"{new:.4g}") for s, (old, new) in found.items()]
    title = "Lengths [m]" if rows else ""
    return Section(title, (), ("length", "before", "after"), rows, data={"lengths": lengths})


def _links(changes: Sequence[LinkChange]) -> Section:
    frames = "in canonical frames: z on the joint of the link, x towards the next joint"
    return Section(
        "Links",
        (frames if changes else "no link changes",),
        (
            *("link", "", "mass [kg]", "x [m]", "y", "z"),
            *("I1 [kg m²]", "I2", "I3", "box x [m]", "box y", "box z", ""),
        ),
        [
            (name, word, *_shape_row(shape))
            for x in changes
            for name, word, shape in ((x.name, "before", x.before), ("", "after", x.after))
        ],
        2,
        {"links": list(map(_link_data, changes))},
    )


def _shape_row(shape: Shape) -> tuple[str, ...]:
    moments = (f"{value:.3g}" for value in shape.principal)
    box: tuple[str, ...] = ("-", "-", "-", "no body")
    if shape.sides is not None:
        tilted = np.abs(shape.axes.diagonal()).min() < _TILTED_COSINE
        box = (*(f"{side:.3g}" for side in shape.sides), "tilted" if tilted else "")
    return (f"{shape.mass:.4g}", *_metres(shape.com), *moments, *box)


def _link_data(change: LinkChange) -> dict[str, Any]:
    """Positions are in the canonical frame of the link, and in its own frame in the model."""

    def shape_data(shape: Shape) -> dict[str, Any]:
        about = {"principal_inertias": shape.principal, "axes": shape.axes.T, "box": shape.sides}
        return {**parts_of(shape, "mass", "com"), **about}

    weights = [
        {
            "mass": weight.mass,
            "position": change.in_model(weight.position),
            "canonical_position": weight.position,
        }
        for weight in change.weights
    ]
    return {
        **parts_of(change, "name", "note"),
        "link": change.link + 1,
        "canonical_frame": change.frame,
        "before": shape_data(change.before),
        "after": shape_data(change.after),
        "counterweights": weights,
    }


def _weights(builds: Sequence[LinkChange]) -> Iterator[Section]:
    rows = [
        (build.name, f"{w.mass:.4g}", *_metres(w.position), *_metres(build.in_model(w.position)))
        for build in builds
        for w in build.weights
    ]
    if rows:
        yield Section(
            "Counterweights",
            ("point masses that are the whole change of their link",),
            ("link", "mass [kg]", "x [m]", "y", "z", "own frame x", "y", "z"),
            rows,
        )
    names: dict[str, list[str]] = {}
    for build in builds:
        names.setdefault(build.note, []).append(build.name)
    lines = [f"{', '.join(links)}: {note}" for note, links in names.items() if note]
    if lines:
        yield Section("Not by counterweights alone", lines)


def _rotors(before: RobotModel, after: RobotModel, variables: DesignVariables) -> Iterator[Section]:
    """Rotors that turn against the arm."""
    data = []
    for place in (spin.place for spin in variables.rotors):
        joint, old = after.joints[place], before.joints[place].rotor
        known = {"joint": joint.name, **parts_of(joint.rotor, "carrier", "gear_ratio")}
        known |= {"before": old.inertia * old.spins, "after": joint.rotor.inertia}
        data.append(known | {"behind_gear": joint.rotor.reflected})
    if data:
        yield Section(
            "Rotors that spin",
            ("inertia before the gear; links hold the rotors that they carry, locked",),
            ("joint", "carrier", "ratio", "before [kg m²]", "after", "behind the gear"),
            [tuple(x if isinstance(x, str) else f"{x:.4g}" for x in y.values()) for y in data],
            2,
            {"rotors": data},
        )


def _percent(value: float, scale: float) -> str:
    """A value as a share of its scale."""
    share = abs(value) / scale if scale else 0.0
    return "0" if share <= PRINTED_AS_ZERO else f"{100 * share:.3g} %"


def _metres(position: Array) -> tuple[str, ...]:
    """Coordinates [m]; less than a nanometre is zero."""
    return tuple(zero(value, 1.0) for value in position)


def mass_matrix_section(comparison: Comparison) -> Section:
    """The range of each element of the mass matrix."""
    elements = comparison.elements
    return Section(
        "Mass matrix",
        (f"over {CONFIGURATIONS} configurations; varies: highest less lowest, over √(Dii Djj)",),
        ("", "before", "varies", "after", "varies"),
        [(e.element, *_span(e.before, e.scale), *_span(e.after, e.scale)) for e in elements],
        data={"mass_matrix": elements},
    )


def torques_section(comparison: Comparison) -> Section:
    """The largest torques of gravity and along the motion."""
    motion = comparison.torques[0].trajectory
    along = motion.source or "quintic moves between far corners of the workspace"
    rms = [[joint["rms"] for joint in report.data()["joints"]] for report in comparison.torques]
    joints = list(zip(comparison.joints, comparison.units, strict=True))
    largest = max(pair.max() for pair in comparison.gravity) or 1.0
    columns = zip(joints, *comparison.gravity, *comparison.peaks, strict=True)

    def by_joint(pair: Sequence[Any]) -> list[dict[str, Any]]:
        rows = zip(joints, *pair, strict=True)
        return [{"joint": j, "unit": unit, "before": a, "after": b} for (j, unit), a, b in rows]

    return Section(
        "Torques",
        (f"gravity: largest over the workspace; peak: along {along}, {np.ptp(motion.t):.4g} s",),
        ("joint", "", "gravity before", "after", "peak before", "after"),
        [
            (*joint, zero(g0, largest), zero(g1, largest), f"{p0:.4g}", f"{p1:.4g}")
            for joint, g0, g1, p0, p1 in columns
        ],
        2,
        {
            "gravity": by_joint(comparison.gravity),
            "trajectory": {"file": motion.source or None, "duration": np.ptp(motion.t)},
            "torque_peaks": by_joint(comparison.peaks),
            "torque_rms": by_joint(rms),
        },
    )


def shaking_section(comparison: Comparison) -> Iterator[Section]:
    """Force and moment on the base, if they were asked for."""
    if comparison.shaking is None:
        return
    rows = list(zip(("force", "moment"), ("N", "N·m"), *comparison.shaking, strict=True))
    weight = float(comparison.shaking[0].max()) or 1.0
    yield Section(
        "Shaking of the base",
        ("largest along the same motion: what the ground carries less what it carries at rest",),
        ("", "", "before", "after"),
        [(what, unit, zero(a, weight), zero(b, weight)) for what, unit, a, b in rows],
        2,
        {
            "shaking": [
                {"what": what, "unit": unit, "before": a, "after": b} for what, unit, a, b in rows
            ]
        },
    )


def costs_section(comparison: Comparison) -> Section:
    """Operations and condition numbers."""
    operations, words = comparison.operations, ("before", "after")
    before, after = (_between(f"{x.low:.4g}", f"{x.high:.4g}") for x in comparison.condition)
    return Section(
        "Cost and conditioning",
        (
            f"operations of the torque (mul + add): {operations[0]} before, {operations[1]} after",
            f"condition number of the mass matrix: {before} before, {after} after",
        ),
        data={
            "condition_number": dict(zip(words, comparison.condition, strict=True)),
            "operations": {
                word: parts_of(count, "mul", "add", "trig", "total")
                for word, count in zip(words, operations, strict=True)
            },
        },
    )


def _span(values: ValueRange, scale: float) -> tuple[str, str]:
    ends = _between(zero(values.low, scale), zero(values.high, scale))
    return ends, _percent(values.variation, scale)


def _between(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"
