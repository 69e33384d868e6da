"""Loops in a plane: the closure as a sum of vectors that turn with known and unknown joints.

Around a loop all axes of revolute joints are parallel, and prismatic ones slide normal to them. In
axes of the link that carries both branches every link is aligned with it where all joints are at
zero, so a link has turned by θ = Σ ε q over the joints before it, ε = ±1, and the closure is

    Σ s R(θ) v + Σ s R(θ) u q = 0

with constant vectors v between joints and directions u of slides, s = 1 on the branch to frame a
and -1 on the other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, record
from armdyn.graph.nodes import Graph
from armdyn.loops.values import Pair, added
from armdyn.model import Loop, RobotModel

Path = tuple[tuple[int, float], ...]
"""Joints that turn something, with ε."""
PARALLEL_AXES = 1e-12
"""Largest sine of the angle between axes that are taken as parallel."""
ROUNDED = 1e-12
"""Components of vectors that are rounding, as a share of the longest."""


@record
class LoopVector:
    """One vector of the closure."""

    path: Path
    """What turns it."""
    v: tuple[float, float]
    """The vector where all joints are at zero, with its sign [m]; of a slide its direction."""
    slide: int = -1
    """The joint whose position it is multiplied by; -1: none."""
    terms: tuple[tuple[float, float], ...] = ()
    """What the vector is the sum of, which is rounded in v; () if that is exact."""

    def exact(self, graph: Graph | None) -> Pair:
        """The vector, as exact numbers of a graph if there is one."""
        if graph is None:
            return self.v
        total: Pair = (graph.number(0), graph.number(0))
        for x, y in self.terms or (self.v,):
            total = added(total, (graph.number(x), graph.number(y)))
        return total


@record
class PlanarLoop:
    """A loop in a plane that is closed by a pin."""

    loop: Loop
    host: int
    """The link that carries both branches; -1 is the base."""
    x: Array
    """First axis of the plane in the frame on the joint of the host, (3,)."""
    y: Array
    segments: tuple[LoopVector, ...]

    @property
    def joints(self) -> tuple[int, ...]:
        """The joints around the loop."""
        turning = {joint for segment in self.segments for joint, _ in segment.path}
        return tuple(sorted(turning | {s.slide for s in self.segments if s.slide >= 0}))


def planar_loop(model: RobotModel, loop: Loop) -> PlanarLoop | None:
    """A loop that can be closed as one in a plane; None if it is none, or not closed by a pin."""
    if loop.cut.name not in ("revolute", "spherical", "cylindrical"):
        return None
    a, b = (model.paths[link] if link >= 0 else () for link in (loop.link_a, loop.link_b))
    host = ([-1] + [i for i in a if i in b])[-1]  # the last link that both branches stand on
    ends = (loop.link_a, loop.frame_a), (loop.link_b, loop.frame_b)
    branches = [_branch(model, host, link, T) for link, T in ends]
    around = [step for branch in branches for step in branch.steps]
    kinds = [(step, model.joints[step.joint].type) for step in around]
    turning = [step for step, kind in kinds if kind.only_turns]
    sliding = [step for step, kind in kinds if kind.slides and not kind.turns]
    if len(turning) + len(sliding) < len(around) or not turning:  # a helical joint is neither
        return None
    z = turning[0].axis
    along = [step.axis for step in turning]
    if loop.cut.name != "spherical":
        along += [branch.axis for branch in branches]
    # a loop that is closed has no offset out of the plane then, or slides along it
    parallel = all(np.linalg.norm(np.cross(z, axis)) <= PARALLEL_AXES for axis in along)
    if not parallel or any(abs(z @ step.axis) > PARALLEL_AXES for step in sliding):
        return None
    axes = normal_axes(z)
    slides = {step.joint: model.joints[step.joint].type.slide for step in sliding}
    ahead, back = (_segments(branch, z, axes, slides) for branch in branches)
    return PlanarLoop(loop, host, *axes, _gathered([*ahead, *map(_opposite, back)]))


def _opposite(s: LoopVector) -> LoopVector:
    return LoopVector(s.path, (-s.v[0], -s.v[1]), s.slide, tuple((-x, -y) for x, y in s.terms))


def _segments(
    branch: "_Branch", z: Array, axes: tuple[Array, Array], slides: Mapping[int, float]
) -> list[LoopVector]:
    """The vectors of a branch; `slides` are its prismatic joints with distances for a unit."""
    found: list[LoopVector] = []
    path: Path = ()
    since: list[Array] = []
    for step in branch.steps:
        since.append(step.offset)
        if step.joint in slides:
            found.append(_segment(path, slides[step.joint] * step.axis, axes, step.joint))
            continue
        found.append(_summed(path, since, axes))
        path = (*path, (step.joint, float(np.sign(z @ step.axis))))
        since = []
    return [*found, _summed(path, [*since, branch.end], axes)]


@record(eq=False)
class _JointStep:
    """A joint of a branch where all are at zero, in axes of the host."""

    joint: int
    offset: Array
    """From the joint before to this one."""
    axis: Array


@record(eq=False)
class _Branch:
    """From the host to an end of a loop where all joints are at zero, in axes of the host."""

    steps: tuple[_JointStep, ...]
    end: Array
    """From the last joint to the end."""
    axis: Array
    """The z axis of the end."""


def _branch(model: RobotModel, host: int, link: int, T: Array) -> _Branch:
    path = model.paths[link] if link >= 0 else ()
    shared = model.paths[host] if host >= 0 else ()
    R, steps = np.eye(3), []
    for i in (i for i in path if i not in shared):
        placement = model.joints[i].placement
        offset = R @ placement[:3, 3]
        R = R @ placement[:3, :3]
        steps.append(_JointStep(i, offset, R @ model.joints[i].axis))
    return _Branch(tuple(steps), R @ T[:3, 3], R @ T[:3, 2])


def zero_frames(model: RobotModel) -> dict[int, Array]:
    """The frames on joints in the base where every position is zero."""
    frames = {-1: np.eye(4)}
    for i, joint in enumerate(model.joints):
        frames[i] = frames[joint.parent] @ joint.placement
    return frames


def normal_axes(z: Array) -> tuple[Array, Array]:
    """Two axes that make a frame with z, the first along an axis of the frame if one is normal."""
    choices = np.eye(3)
    best = choices[int(np.argmin(np.abs(z @ choices)))]
    x = best - (best @ z) * z
    x = x / np.linalg.norm(x)
    return x, np.cross(z, x)


def _segment(path: Path, v: Array, axes: tuple[Array, Array], slide: int = -1) -> LoopVector:
    return LoopVector(path, (float(v @ axes[0]), float(v @ axes[1])), slide)


def _summed(path: Path, vectors: Sequence[Array], axes: tuple[Array, Array]) -> LoopVector:
    """One vector after the other, none of which turns against another."""
    total = _segment(path, sum(vectors, np.zeros(3)), axes)
    return replace(total, terms=tuple(_segment(path, v, axes).v for v in vectors))


def _gathered(segments: Sequence[LoopVector]) -> tuple[LoopVector, ...]:
    """Segments that turn together as one, and none without length."""
    total: dict[tuple[Path, int], tuple[float, float]] = {}
    terms: dict[tuple[Path, int], tuple[tuple[float, float], ...]] = {}
    size = max(np.hypot(*s.v) for s in segments)
    for s in segments:
        old = total.get((s.path, s.slide), (0.0, 0.0))
        total[s.path, s.slide] = (old[0] + s.v[0], old[1] + s.v[1])
        terms[s.path, s.slide] = (*terms.get((s.path, s.slide), ()), *(s.terms or (s.v,)))
    rounded = {
        key: tuple(0.0 if abs(c) <= ROUNDED * size else c for c in v) for key, v in total.items()
    }
    found = []
    for (path, k), v in rounded.items():
        if any(v):  # terms are zero where their sum is nothing but rounding
            kept = tuple((x if v[0] else 0.0, y if v[1] else 0.0) for x, y in terms[path, k])
            found.append(LoopVector(path, (v[0], v[1]), k, kept))
    return tuple(found)


def angle_of(values: Sequence[Any], path: Path) -> Any:
    """Σ ε q over a path."""
    total: Any = 0.0
    for joint, sign in path:
        total = total + sign * values[joint]
    return total
