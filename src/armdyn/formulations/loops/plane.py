"""Loops in a plane: the closure as a sum of vectors that turn with known and unknown joints.

Around a loop all axes of revolute joints are parallel, and prismatic ones slide normal to them. In
axes of the link that carries both branches every link is aligned with it where all joints are at
zero, so a link has turned by θ = Σ ε q over the joints before it, ε = ±1, and the closure is

    Σ s R(θ) v + Σ s R(θ) u q = 0

with constant vectors v between joints and directions u of slides, s = 1 on the branch to frame a and
-1 on the other. Vectors of the plane are pairs of floats, of arrays or of nodes; a' = (-a_y, a_x).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.model import Loop, RobotModel

Pair = tuple[Any, Any]
Path = tuple[tuple[int, float], ...]
"""Joints that turn something, with ε."""
PARALLEL_AXES = 1e-12
"""Largest sine of the angle between axes that are taken as parallel."""
IN_PLANE = 1e-12
"""Largest offset out of the plane, as a share of the lengths around the loop."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One vector of the closure."""

    path: Path
    """What turns it."""
    v: tuple[float, float]
    """The vector where all joints are at zero, with its sign [m]; of a slide its direction."""
    slide: int = -1
    """The joint whose position it is multiplied by; -1: none."""


@dataclass(frozen=True, slots=True)
class PlanarLoop:
    """A loop in a plane that is closed by a pin."""

    loop: Loop
    host: int
    """The link that carries both branches; -1 is the base."""
    x: Array
    """First axis of the plane in the frame on the joint of the host, (3,)."""
    y: Array
    segments: tuple[Segment, ...]

    @property
    def joints(self) -> tuple[int, ...]:
        """The joints around the loop."""
        turning = {joint for segment in self.segments for joint, _ in segment.path}
        return tuple(sorted(turning | {s.slide for s in self.segments if s.slide >= 0}))


def planar_loop(model: RobotModel, loop: Loop) -> PlanarLoop | None:
    """The loop as one in a plane; None if it is none, or not closed by a pin."""
    if loop.cut.name not in ("revolute", "spherical", "cylindrical"):
        return None
    frames, host = zero_frames(model), _host(model, loop)
    home = np.linalg.inv(frames[host])
    ends = [home @ frames[k] @ T for k, T in ((loop.link_a, loop.frame_a), (loop.link_b, loop.frame_b))]
    branches = [_branch(model, link, host) for link in (loop.link_a, loop.link_b)]
    around = [i for branch in branches for i in branch]
    axes = {i: (home @ frames[i])[:3, :3] @ model.joints[i].axis for i in around}
    places = {i: (home @ frames[i])[:3, 3] for i in around}
    pure = all(model.joints[i].type.turns != model.joints[i].type.slides for i in around)
    turning = [i for i in around if model.joints[i].type.turns]
    if not pure or not turning:
        return None
    z = axes[turning[0]]
    parallel = all(np.linalg.norm(np.cross(z, axes[i])) < PARALLEL_AXES for i in turning)
    across = all(abs(z @ axes[i]) < PARALLEL_AXES for i in around if i not in turning)
    if loop.cut.name != "spherical":
        parallel &= all(np.linalg.norm(np.cross(z, T[:3, 2])) < PARALLEL_AXES for T in ends)
    if not (parallel and across):
        return None
    size = sum(np.linalg.norm(p - ends[0][:3, 3]) for p in places.values())
    offset = abs(z @ (ends[0][:3, 3] - ends[1][:3, 3]))
    if loop.cut.name != "cylindrical" and offset > IN_PLANE * size:
        return None
    x, y = normal_axes(z)
    segments: list[Segment] = []
    for sign, branch, end in zip((1.0, -1.0), branches, ends, strict=True):
        path: Path = ()
        here = np.zeros(3)
        for i in branch:
            if i in turning:
                segments.append(_segment(path, sign * (places[i] - here), x, y))
                path, here = (*path, (i, float(np.sign(z @ axes[i])))), places[i]
            else:
                direction = sign * model.joints[i].type.slide * axes[i]
                segments.append(_segment(path, direction, x, y, i))
        segments.append(_segment(path, sign * (end[:3, 3] - here), x, y))
    return PlanarLoop(loop, host, x, y, _gathered(segments))


def zero_frames(model: RobotModel) -> dict[int, Array]:
    """The frames on joints in the base where every position is zero."""
    frames = {-1: np.eye(4)}
    for i, joint in enumerate(model.joints):
        frames[i] = frames[joint.parent] @ joint.placement
    return frames


def _host(model: RobotModel, loop: Loop) -> int:
    """The last link that both branches stand on."""
    a, b = (model.paths[link] if link >= 0 else () for link in (loop.link_a, loop.link_b))
    shared = [i for i in a if i in b]
    return shared[-1] if shared else -1


def _branch(model: RobotModel, link: int, host: int) -> list[int]:
    path = model.paths[link] if link >= 0 else ()
    return [i for i in path if host < 0 or i not in model.paths[host]]


def normal_axes(z: Array) -> tuple[Array, Array]:
    """Two axes that make a frame with z, the first along an axis of the frame if one is normal."""
    choices = np.eye(3)
    best = choices[int(np.argmin(np.abs(z @ choices)))]
    x = best - (best @ z) * z
    x = x / np.linalg.norm(x)
    return x, np.cross(z, x)


def _segment(path: Path, v: Array, x: Array, y: Array, slide: int = -1) -> Segment:
    return Segment(path, (float(v @ x), float(v @ y)), slide)


def _gathered(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """Segments that turn together as one, and none without length."""
    total: dict[tuple[Path, int], tuple[float, float]] = {}
    size = max(np.hypot(*s.v) for s in segments)
    for s in segments:
        old = total.get((s.path, s.slide), (0.0, 0.0))
        total[s.path, s.slide] = (old[0] + s.v[0], old[1] + s.v[1])
    rounded = {
        key: tuple(0.0 if abs(c) <= IN_PLANE * size else c for c in v) for key, v in total.items()
    }
    return tuple(Segment(path, (v[0], v[1]), k) for (path, k), v in rounded.items() if any(v))


# vectors of the plane


def added(a: Pair, b: Pair) -> Pair:
    """a + b."""
    return a[0] + b[0], a[1] + b[1]


def scaled(k: Any, a: Pair) -> Pair:
    """k a."""
    return k * a[0], k * a[1]


def across(a: Pair) -> Pair:
    """a', a quarter turn of a."""
    return -a[1], a[0]


def inner(a: Pair, b: Pair) -> Any:
    """a · b."""
    return a[0] * b[0] + a[1] * b[1]


def outer(a: Pair, b: Pair) -> Any:
    """a × b."""
    return a[0] * b[1] - a[1] * b[0]


def turned(angle: Any, v: Pair) -> Pair:
    """R(angle) v."""
    if isinstance(angle, float) and angle == 0.0:
        return v
    c, s = np.cos(angle), np.sin(angle)
    return c * v[0] - s * v[1], s * v[0] + c * v[1]
