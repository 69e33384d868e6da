"""Base parameters: the fewest combinations of inertial parameters that the torques depend on.

The columns of the regressor, stacked over random states, are linearly dependent. Going outward
through the links, each column is split into the part that the columns kept so far explain and the
rest. A column with a rest is kept; one without is a combination W_d = W_b K of those kept, so that

    τ = Y π = Y_b π_b   with   Y_b the kept columns of Y,   π_b = π_kept + K π_dropped.

Parameters thus move towards the base, as in the tables of the literature. Lengths are measured in
the longest offset of the robot and times in what gravity needs to cover it, and each column is
taken at unit length, so neither the size of a robot nor the units decide what counts as zero.

How many there are is known exactly by the regressor modulo a prime, on a twin of the robot in which
what its description means holds exactly: rotations are products of turns about z, x and z by
rational points of the circle; the way between two axes is along both and their common
perpendicular; gravity is along the first axis, or across it, if it is so in the robot. The rank at
random states of the field is that over all motions, up to a chance of about 10⁻¹⁵. The rank over
floats is at most that of the robot; where both agree, no tolerance has decided.

Reference: M. Gautier, Numerical calculation of the base inertial parameters of robots, 1991.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np

from armdyn.arrays import Array, equal_fields, frozen, record
from armdyn.errors import ArmdynWarning, ModelError, counted
from armdyn.formulations.coordinates import Coordinates
from armdyn.formulations.parameters import full_regressor, robot_parameters
from armdyn.formulations.regressor import PARAMETERS, regressor
from armdyn.formulations.spatial import cross, skew
from armdyn.graph.field import FiniteField, rank
from armdyn.graph.nodes import Graph, trace
from armdyn.html import html_table
from armdyn.model import Joint, RobotModel
from armdyn.model.transform import any_frame

DEPENDENT_REST = 1e-10
"""Rest of a column of unit length below which it counts as a combination of others."""
UNCLEAR_RESTS = (1e-12, 1e-7)
"""Rests between which rounding and geometry cannot be told apart."""
COEFFICIENT_NOISE = 1e-12
"""Change of a coefficient, by its effect on the torques, that is rounding."""
_MOMENTS = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
"""Power of length in the unit of each of the ten parameters."""


@record(eq=False, repr=False)
class BaseParameters:
    """The base parameters of a robot."""

    names: tuple[str, ...]
    """The parameter that each base parameter is named after, and whose column it has."""
    groupings: tuple[str, ...]
    """What each stands for, as "link5.mcy - link6.mcz" or "link1.Izz + joint2.x^2*link2.m"; with
    numbers in the place of all lengths where some are sums of those of several joints."""
    values: Array
    """Their values π_b, (rank,) [kg, kg m or kg m², as the parameter they are named after]."""
    matrix: Array
    """The matrix of π_b = matrix @ π, (rank, p), π being the linear parameters."""
    columns: tuple[int, ...]
    """The columns of the regressor that make up the base regressor."""

    @property
    def rank(self) -> int:
        """How many there are: the rank of the regressor over all motions."""
        return len(self.columns)

    def __eq__(self, other: object) -> bool:
        return equal_fields(self, other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        some = ", ".join(self.names[:4])
        more = ", ..." if self.rank > 4 else ""
        return f"<BaseParameters, {self.rank} of {self.matrix.shape[1]}: {some}{more}>"

    def _repr_html_(self) -> str:
        rows = zip(self.names, self.groupings, (f"{v:.6g}" for v in self.values), strict=True)
        title = (
            f"{counted(self.rank, 'base parameter')} of "
            f"{counted(self.matrix.shape[1], 'parameter')}"
        )
        return html_table(("name", "stands for", "value"), rows, title, texts=2)

    def __str__(self) -> str:
        rows = zip(self.groupings, self.values, strict=True)
        return "\n".join(f"{value: .6e}  {grouping}" for grouping, value in rows)


def base_parameters(at: Coordinates, links: bool = False) -> BaseParameters:
    """The base parameters of a robot at its coordinates; or those of its links."""
    model = at.model
    known = [parameter for parameter in robot_parameters(model) if parameter.linear]
    known = known[: 10 * len(model.links)] if links else known
    names = tuple(parameter.name for parameter in known)
    # the same columns, in fewer rows
    W = np.asarray(np.linalg.qr(_stacked_regressor(at, len(known)), mode="r"))
    rests, Q = _rests(model, W)
    _warn_unclear(model, rests, names)
    columns = tuple(np.flatnonzero(rests > DEPENDENT_REST).tolist())
    dropped = np.flatnonzero(rests <= DEPENDENT_REST).tolist()
    projected = Q.T @ W
    K = np.linalg.solve(projected[:, columns], projected[:, dropped])
    scale = _scale(model, len(known))
    K = K * scale[dropped] / scale[list(columns), None]
    weight = scale * np.linalg.norm(W, axis=0)
    matrix = np.zeros((len(columns), W.shape[1]))
    matrix[np.arange(len(columns)), columns] = 1.0
    matrix[:, dropped] = clean_coefficients(model, K, columns, dropped, weight)
    return BaseParameters(
        names=tuple(names[i] for i in columns),
        groupings=groupings(model, names, matrix, columns),
        values=frozen(matrix @ np.array([parameter.value for parameter in known])),
        matrix=frozen(matrix),
        columns=columns,
    )


def independent_columns(at: Coordinates, among: Sequence[int]) -> tuple[int, ...]:
    """Those of some columns of the full regressor that the ones kept before do not explain.

    The other parameters are known: the columns of a payload's link may all be independent, though
    most are combinations of those of the links before.
    """
    count = sum(parameter.linear for parameter in robot_parameters(at.model))
    stacked = _stacked_regressor(at, count)
    W, some = np.zeros_like(stacked), list(among)
    W[:, some] = stacked[:, some]
    rests, _ = _rests(at.model, W)
    return tuple(np.flatnonzero(rests > DEPENDENT_REST).tolist())


def _stacked_regressor(at: Coordinates, count: int) -> Array:
    """So many columns of the regressor over enough random states, in units of the robot.

    Rows are divided by the torque (or force), columns by the parameter that a body of 1 kg at the
    longest offset has.
    """
    model, rng = at.model, np.random.default_rng(0)
    N, n = len(model.joints), len(model.independent)
    length = _length(model)
    rate = float(np.sqrt(np.linalg.norm(model.gravity) / length)) or 1.0
    turns = np.array([joint.type.turns for joint in model.coordinate_joints])
    size = np.where(turns, 1.0, length)
    draw = rng.uniform(-1.0, 1.0, size=(3, 10 + 30 * N // n, n))
    q, qd, qdd = (x * size * unit for x, unit in zip(draw, (np.pi, rate, rate**2), strict=True))
    q = at.drawn(rng, len(q)) if model.loops else q
    changing = ("smooth_velocity", "stribeck_velocity")
    speeds = {getattr(owner.friction, name) for owner in model.driven for name in changing}
    if slow := sorted(speed for speed in speeds if 0 < speed < np.inf):
        # smooth friction looks like a sign at usual speeds: others show it for what it is
        pace = rng.choice(slow, size=(len(q), 1)) * rng.uniform(0.2, 3.0, size=(len(q), 1))
        q, qdd = np.concatenate([q, q]), np.concatenate([qdd, qdd])
        qd = np.concatenate([qd, pace * qd / rate])
    here = at.at(q)
    columns = regressor if count == 10 * N else full_regressor
    Y = here.rows(columns(model, *here.motion(qd, qdd))) * size[:, None] / rate**2
    W = Y.reshape(-1, count) / _scale(model, count)
    sizes = np.linalg.norm(W, axis=0)
    return np.where(sizes > UNCLEAR_RESTS[0] * sizes.max(initial=0.0), W, 0.0)


def _length(model: RobotModel) -> float:
    offsets = [np.linalg.norm(j.placement[:3, 3]) for j in model.joints if j.parent >= 0]
    return float(max(offsets, default=0.0)) or 1.0


def _scale(model: RobotModel, count: int) -> Array:
    """What the columns of links are divided by, and those of rotors and friction that follow."""
    return np.asarray(_length(model) ** (2 - powers(model, range(count))))


def _rests(model: RobotModel, W: Array) -> tuple[Array, Array]:
    """The share of each column that those before it do not explain; a basis of their span.

    It is Gram-Schmidt link by link and then rotors and friction, so that a rotor joins the link it
    acts with; each projection is done twice against rounding.
    """
    norms = np.linalg.norm(W, axis=0)
    rests, basis, rank = np.zeros_like(norms), np.empty(W.shape, order="F"), 0
    blocks = [[10 * i + p for p in _order(joint)] for i, joint in enumerate(model.joints)]
    for some in (*blocks, range(10 * len(blocks), len(norms))):
        columns = [c for c in some if norms[c]]
        Q = basis[:, :rank]
        block = W[:, columns] / norms[columns]
        block = block - Q @ (Q.T @ block)
        block = block - Q @ (Q.T @ block)
        for place, column in enumerate(columns):
            rests[column] = np.linalg.norm(block[:, place])
            if rests[column] > DEPENDENT_REST:
                unit = block[:, place] / rests[column]
                unit = unit - basis[:, :rank] @ (basis[:, :rank].T @ unit)
                basis[:, rank] = unit = unit / np.linalg.norm(unit)
                rank += 1
                block = block - np.outer(unit, unit @ block)
    return rests, basis[:, :rank]


def _order(joint: Joint) -> list[int]:
    """The parameters of a link, those last that its joint tends to hand to the parent link.

    These are m, m c along the axis, and a moment about an axis across (for z: Iyy, as Khalil has).
    """
    along = int(np.argmax(np.abs(joint.axis)))
    across = min((1, 0, 2), key=lambda axis: abs(joint.axis[axis]))
    last = [PARAMETERS.index(p) for p in ("I" + 2 * "xyz"[across], "mc" + "xyz"[along], "m")]
    return [*(p for p in range(10) if p not in last), *last]


def _warn_unclear(model: RobotModel, rests: Array, names: tuple[str, ...]) -> None:
    """One warning for all columns whose rest is neither rounding nor clearly more."""
    unclear = np.flatnonzero((rests > UNCLEAR_RESTS[0]) & (rests < UNCLEAR_RESTS[1])).tolist()
    if not unclear:
        return
    listed = ", ".join(f"{names[i]} ({rests[i]:.0e})" for i in unclear[:10])
    warnings.warn(
        f"robot {model.name!r}: nearly, but not quite, combinations of other parameters: "
        f"{listed}{', ...' if len(unclear) > 10 else ''}. The number is the share "
        f"of the effect that is their own; below {DEPENDENT_REST:.0e} they count as "
        "dependent. An angle or offset that was rounded, or almost vanishes, is the usual cause",
        ArmdynWarning,
        stacklevel=3,
    )


# coefficients of grouped parameters: rounding removed where the geometry says what they are


def powers(model: RobotModel, columns: Sequence[int]) -> Array:
    """Power of length in the units of parameters; rotors are taken for moments of inertia."""
    last = 10 * len(model.links)
    return np.array([_MOMENTS[c % 10] if c < last else _MOMENTS[-1] for c in columns], dtype=int)


def clean_coefficients(
    model: RobotModel, K: Array, kept: Sequence[int], dropped: Sequence[int], weight: Array
) -> Array:
    """The coefficients with each one that rounding alone keeps from a known value set to it.

    Known values are 0, 1 and 2, directions of joint axes, and the lengths and products of lengths
    with which a mass on an axis counts in the parent link. K has a row for each column of the
    regressor that is kept and a column for each that is dropped; `weight` is their size.
    """
    power = powers(model, kept)[:, None] - powers(model, dropped)
    known_values = K.copy()
    for exponent, known in enumerate(_known_sizes(model)):
        here = power == exponent
        known_values[here] = np.copysign(_nearest(known, np.abs(K[here])), K[here])
    for candidate in (known_values, np.zeros_like(K)):
        rounding = (
            np.abs(candidate - K) * weight[list(kept), None]
            <= COEFFICIENT_NOISE * weight[list(dropped)]
        )
        K = np.where(rounding, candidate, K)
    return K + 0.0


def _known_sizes(model: RobotModel) -> list[Array]:
    """Sizes that coefficients can have by the geometry: numbers, lengths, products of lengths."""
    numbers: list[Array] = [np.array([0.0, 1.0, 2.0])]
    lengths: list[Array] = [np.zeros(1)]
    products: list[Array] = [np.zeros(1)]
    for joint in model.joints:
        R = joint.placement[:3, :3]
        p = joint.placement[:3, 3]
        k = R @ joint.axis
        numbers.append(np.abs([*k, *(-skew(k) @ skew(k)).flat]))
        lengths.append(np.abs([*p, *(2.0 * p), *(skew(k) @ skew(p) + skew(p) @ skew(k)).flat]))
        products.append(np.abs(skew(p) @ skew(p)).reshape(-1))
    return [np.unique(np.concatenate(sizes)) for sizes in (numbers, lengths, products)]


def _nearest(known: Array, sizes: Array) -> Array:
    """The known size nearest to each of the sizes."""
    right = np.clip(np.searchsorted(known, sizes), 1, len(known) - 1) if len(known) > 1 else 0
    low, high = known[np.maximum(right - 1, 0)], known[right]
    return np.where(sizes - low < high - sizes, low, high)


def groupings(
    model: RobotModel, names: Sequence[str], matrix: Array, columns: Sequence[int]
) -> tuple[str, ...]:
    """Combinations of parameters as text, the one each is named after first.

    Coefficients are lengths of joints, "elbow.x" being a component of the position of joint "elbow"
    in its parent link, if all of a robot are such; otherwise all of them are numbers.
    """
    rows = list(zip(columns, matrix, strict=True))
    places = [(first, i) for first, row in rows for i in np.flatnonzero(row).tolist() if i != first]
    sizes = {(first, i): abs(row[i]) for first, row in rows for i in np.flatnonzero(row).tolist()}
    words = {place: _symbol(model, *place, sizes[place]) for place in places}
    if None in words.values():
        words = {place: f"{sizes[place]:.6g}" for place in places}

    def term(first: int, i: int, coefficient: float) -> str:
        factor = "" if abs(coefficient) == 1 else f"{words[first, i]}*"
        return f" {'-' if coefficient < 0 else '+'} {factor}{names[i]}"

    return tuple(
        names[first] + "".join(term(first, i, row[i]) for f, i in places if f == first)
        for first, row in rows
    )


def _symbol(model: RobotModel, first: int, i: int, size: float) -> str | None:
    """A coefficient in the lengths of a joint between two links; None if it is none of these."""
    of, onto = powers(model, (i, first))
    if max(i, first) < 10 * len(model.links):
        for k in model.paths[i // 10]:
            if k > first // 10:
                for word, value in _words(model.joints[k]).get(int(onto - of), ()):
                    if abs(value - size) <= 1e-12 * size:
                        return word
    return f"{size:g}" if size in (1, 2) else None


def _words(joint: Joint) -> dict[int, tuple[tuple[str, float], ...]]:
    """Lengths and products of lengths of a joint, by their power of length."""
    one = [(f"{joint.name}.{axis}", abs(joint.placement[k, 3])) for k, axis in enumerate("xyz")]
    two = list(combinations(one, 2))
    return {
        1: (*one, *((f"2*{x}", 2 * a) for x, a in one)),
        2: (
            *((f"{x}^2", a * a) for x, a in one),
            *((f"{x}*{y}", a * b) for (x, a), (y, b) in two),
            *((f"({x}^2 + {y}^2)", a * a + b * b) for (x, a), (y, b) in two),
        ),
    }


MEANT = 1e-9
"""Angle, or length relative to the robot, that a description means to be zero."""
_SPARE_ROWS = 8


def exact_rank(model: RobotModel, links: bool = False) -> int:
    """The rank of the regressor, or of that of the links alone, over all motions.

    Raises:
        ModelError: Joints follow others, so that their angles are not independent.
    """
    if len(model.independent) < len(model.joints):
        raise ModelError(
            f"joints of {model.name!r} follow others, and ranks are exact for independent joints "
            "alone; base_parameters() has the rank over floats"
        )
    graph, N = Graph(), len(model.joints)
    states = (graph.inputs(name, N) for name in ("q", "qd", "qdd"))
    columns = partial(regressor if links else full_regressor, exact_twin(model, graph))
    Y = trace(graph, columns, *states)
    points = range((Y.shape[1] + _SPARE_ROWS) // N + 1)
    values = [_SignedField(point).values(Y.flat) for point in points]
    return rank(np.array(values, dtype=object).reshape(-1, Y.shape[1]))


class _SignedField(FiniteField):
    """A point at which signs are 1 or -1: what dry friction is in both directions adds up."""

    def _operation(self, op: str) -> Callable[..., int]:
        if op != "sign":
            return super()._operation(op)
        return lambda x: 1 if x < self.prime - x else self.prime - 1


def exact_twin(model: RobotModel, graph: Graph) -> RobotModel:
    """The robot in constants of a graph, with what its description means holding exactly."""
    size = max([1e-6, *(float(np.linalg.norm(j.placement[:3, 3])) for j in model.joints)])
    turned = (_exact_rotation(graph, any_frame(joint.axis)) for joint in model.joints)
    axes = [R[:, 2] for R in turned]  # of length 1 exactly
    joints = []
    for joint, axis in zip(model.joints, axes, strict=True):
        R = _exact_rotation(graph, joint.placement[:3, :3])
        T = _exact(graph, np.eye(4))
        T[:3, :3] = R
        up = joint.parent
        before = (model.joints[up].axis, axes[up]) if up >= 0 else None
        T[:3, 3] = _exact_way(graph, joint, R @ axis, before, size)
        joints.append(replace(joint, placement=T, axis=axis))
    base = _exact(graph, np.eye(4))
    gravity = _exact_gravity(graph, model, joints[0].placement[:3, :3] @ axes[0])
    return replace(model, joints=tuple(joints), base=base, gravity=gravity)


def _exact(graph: Graph, values: Array) -> Array:
    """Floats as the constants that they are exactly."""
    return trace(graph, lambda: values)


def _exact_way(
    graph: Graph, joint: Joint, axis: Array, before: tuple[Array, Array] | None, size: float
) -> Array:
    """The position of a joint in its parent: along both axes, and across."""
    P = joint.placement[:3, 3]
    if before is None:
        return _exact(graph, _without(P, size))
    first, second = before[0], joint.placement[:3, :3] @ joint.axis
    across = np.cross(first, second)
    if np.linalg.norm(across) < MEANT:  # what is along parallel axes is along either
        along = float(P @ first)
        rest = _without(P - along * first, size)
        return np.asarray(_exact(graph, _without(along, size)) * before[1] + _exact(graph, rest))
    parts = _without(np.linalg.solve(np.stack([first, second, across], -1), P), size)
    a, b, c = _exact(graph, parts)
    return np.asarray(a * before[1] + b * axis + c * cross(before[1], axis))


def _exact_gravity(graph: Graph, model: RobotModel, axis: Array) -> Array:
    """Gravity in the axes of the base: its part along the first axis, and that exactly across."""
    g = model.base[:3, :3].T @ model.gravity
    joint = model.joints[0]
    first = joint.placement[:3, :3] @ joint.axis
    size = float(np.linalg.norm(g))
    along = _exact(graph, _without(first @ g, size))
    across = _exact(graph, _without(g - (first @ g) * first, size))
    return np.asarray(along * axis + across - (across @ axis) * axis)


def _without(values: Array | float, size: float) -> Array:
    return np.where(np.abs(values) <= MEANT * size, 0.0, values)


def _exact_rotation(graph: Graph, R: Array) -> Array:
    """A rotation by turns about z, x and z."""
    b = float(np.arctan2(np.hypot(R[0, 2], R[1, 2]), R[2, 2]))
    if np.sin(b) < MEANT:  # one turn about z is enough
        flip = 1.0 if R[2, 2] > 0 else -1.0
        a = float(np.arctan2(flip * -R[0, 1], R[0, 0]))
        b = 0.0 if flip > 0 else np.pi
        c = 0.0
    else:
        a = float(np.arctan2(R[0, 2], -R[1, 2]))
        c = float(np.arctan2(R[2, 0], R[2, 1]))
    return np.asarray(_turn(graph, a, 2) @ _turn(graph, b, 0) @ _turn(graph, c, 2))


def _turn(graph: Graph, angle: float, about: int) -> Array:
    """A turn about a coordinate axis; near a quarter turn it is one."""
    quarters = round(angle / (np.pi / 2))
    if abs(angle - quarters * np.pi / 2) < MEANT:
        c, s = map(graph.number, ((1, 0), (0, 1), (-1, 0), (0, -1))[quarters % 4])
    else:
        half = graph.number(np.tan(angle / 2))
        over = 1 / (1 + half * half)
        c, s = (1 - half * half) * over, 2 * half * over
    R = _exact(graph, np.eye(3))
    i, j = (about + 1) % 3, (about + 2) % 3
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R
