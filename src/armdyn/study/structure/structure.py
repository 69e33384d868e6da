"""Which elements of the equations of motion vanish, which are constant, and what the others need.

With τ_i = Σ D_ij q̈_j + Σ h_ikm q̇_k q̇_m + g_i, each element is zero, constant, or depends on certain
joints, for every value of the numbers of the robot that are not zero: these are symbols, while
zeros and quarter turns in the canonical frames are kept. Exact evaluation over a finite field
decides: an element depends on q_k if another random q_k changes it. A link that carries several
joints has the frame of the first one. The angle of another joint is then a sum with an angle of
that frame, and counts as special only if both are.
"""

from collections.abc import Callable, Sequence

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import LoopError, ModelError, shown
from armdyn.formulations.augmented_body import augmented_body
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.coriolis import christoffel
from armdyn.formulations.rotors import rotor_matrix
from armdyn.model import RobotModel
from armdyn.robot import Robot
from armdyn.study.structure.elements import Status, Structure, StructureElement, is_mirror
from armdyn.study.structure.graph import Trunk, trunks
from armdyn.study.structure.probe import Probe
from armdyn.study.structure.why import BRANCHES, CANCELS, Reason, Why

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
