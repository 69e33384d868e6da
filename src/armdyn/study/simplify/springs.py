"""Balance the weight of an arm by springs: exactly where that is possible, else as well as can be.

Springs of free length 0 between points p of a link and a of another one have the energy

    ½ S |O|² + O·R s - β·O - <B, R>   + a constant

with R and O the first link seen from the other one, S = Σ k, s = Σ k p, β = Σ k a, B = Σ k a pᵀ:
sixteen numbers in which the torques of springs are linear. Any numbers with S > 0 are those of some
springs: of one if B = β sᵀ/S, else of two for each singular value of the difference.

First all these numbers are found by linear least squares, which decides whether ideal springs can
balance the arm exactly. Then places without use, and springs of a place but one, are left out where
the balance stays. Springs with a free length, and balances that are not exact, are fitted by
nonlinear least squares from there.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from armdyn.arrays import Array, check_number, frozen
from armdyn.errors import ModelError, check_known, require, shown
from armdyn.formulations.augmented_body import augmented_body
from armdyn.formulations.kinematics import world_frames
from armdyn.formulations.springs import spring_torques, spring_vectors
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel
from armdyn.model.link import Spring
from armdyn.model.transform import inverse
from armdyn.report.panels import before_after_bars, panel_title, sheet
from armdyn.report.portrait import draw_side, link_lines, side_view
from armdyn.report.result import DrawnResult, Section, zero
from armdyn.robot import Robot, check_robot
from armdyn.study.simplify.linear import link_slopes
from armdyn.study.states import workspace

_SINGULAR_SHARE = 1e-9
"""A singular value of B that is smaller, relative to S times the lengths, makes no springs."""


@dataclass(frozen=True, slots=True, eq=False)
class SpringPlace:
    """A link and another one that carries it, between which springs can be."""

    link: int
    other: int
    """-1 is the base."""
    centre: Array
    """The joint that the other link carries towards the link, in its frame, (3,) [m]."""
    X: Array
    """The link seen from the other one, whose origin is moved to the centre, (m, 4, 4)."""
    dX: Array
    """Its derivatives by the n coordinates, (m, n, 4, 4)."""

    def coefficients(self, reach: float) -> Array:
        """Torques for S, s/r, β/r and B/r² of 1 N/m with the length r, (m, n, 16)."""
        O = self.X[:, :3, 3]
        R = self.X[:, :3, :3]
        dO = self.dX[..., :3, 3]
        dR = self.dX[..., :3, :3]
        square = np.einsum("sc,snc->sn", O, dO)[..., None]
        along = np.einsum("snc,sca->sna", dO, R) + np.einsum("sc,snca->sna", O, dR)
        turned = dR.reshape(*dR.shape[:2], 9)
        return np.concatenate([square, reach * along, -reach * dO, -(reach**2) * turned], axis=-1)

    def torque_slopes(self, spring: Array, length: float) -> Array:
        """The torques of a spring (k, p, a) by these, (m, n, 7)."""
        stiffness, point, anchor = spring[0], spring[1:4], spring[4:]
        R = self.X[:, :3, :3]
        dR = self.dX[..., :3, :3]
        d = R @ point + self.X[:, :3, 3] - anchor
        dp = dR @ point + self.dX[..., :3, 3]
        size = np.maximum(np.linalg.norm(d, axis=-1), 1e-9 * length) if length else np.ones(len(d))
        share = (1 - length / size)[:, None]
        pull = (d[:, None] * dp).sum(axis=-1)
        # of share · d·dp by d, and by p through dp
        by_d = share[..., None] * dp + pull[..., None] * (d * (length / size**3)[:, None])[:, None]
        by_p = by_d @ R + share[..., None] * (d[:, None, None] @ dR)[:, :, 0]
        columns = [(share * pull)[..., None], stiffness * by_p, -stiffness * by_d]
        return np.concatenate(columns, axis=-1)

    def spring(self, spring: Array, length: float) -> Spring:
        """A spring (k, p, a) with its anchor in the frame of the other link."""
        point, anchor = frozen(spring[1:4]), frozen(spring[4:] + self.centre)
        return Spring(self.link, point, self.other, anchor, float(spring[0]), length)


def spring_places(
    model: RobotModel, pairs: Sequence[tuple[int, int]], q: Array
) -> list[SpringPlace]:
    """The places of springs at positions of the coordinates q (m, n)."""
    at = coordinates_of(model)
    T, U = link_slopes(model, at.positions(q))
    K = at.columns(np.eye(len(model.joints)))
    base = np.broadcast_to(model.base, T[0].shape)
    places = []
    for link, other in pairs:
        path = model.paths[link]
        first = path[0 if other < 0 else path.index(other) + 1]
        centre = model.joints[first].placement[:3, 3]
        back = inverse(T[other] if other >= 0 else base)
        X = back @ T[link]
        X[:, :3, 3] -= centre
        moving = list(path[path.index(first) :])
        dX = np.einsum("nsab,nc->scab", back @ U[link, moving], K[moving])
        places.append(SpringPlace(link, other, centre, X, dX))
    return places


def gravity_torques(model: RobotModel, q: Array) -> Array:
    """Torques that hold the links at rest at positions of the coordinates q (m, n), (m, n)."""
    at = coordinates_of(model)
    full = at.positions(q)
    return np.asarray(at.torques(augmented_body(model, full, 0 * full, 0 * full).tau))


def realised(numbers: Array, reach: float) -> list[Array]:
    """The fewest springs (k, p, a) with the sixteen scaled numbers of a place, S > 0."""
    S = numbers[0]
    s, beta = reach * numbers[1:7].reshape(2, 3)
    B = reach**2 * numbers[7:].reshape(3, 3)
    u, sigma, v = np.linalg.svd(B - np.outer(beta, s) / S)
    middle = np.concatenate([[S], s / S, beta / S])
    some = np.flatnonzero(sigma > _SINGULAR_SHARE * S * reach**2)
    whole = float(sigma[some].sum())
    springs = []
    for j in some:
        apart = np.sqrt(whole / S) * np.concatenate([v[j], u[:, j]])
        k = 0.5 * S * sigma[j] / whole
        springs += [np.append(k, middle[1:] + side * apart) for side in (1, -1)]
    return springs or [middle]


EXACT_BALANCE = 1e-9
"""A torque that is left is rounding if it is smaller, relative to the largest of gravity."""
_STIFFNESS_ROUNDS = 50
"""Most rounds in which stiffnesses are made large enough for the lengths at hand."""
_STIFFNESS_ROUNDING = 1e-10
"""A stiffness that is smaller, relative to the largest, is none."""
MOST_MERGED = 12
"""Of more springs, or more places, none is left out: the search would take too long."""
_WORTH_SHARE = 0.98
"""Springs that leave a larger share of the mean square torque are not worth it."""
_NO_EFFECT = 1e-10
"""A number whose effect is smaller, relative to the largest, is not fitted."""
_SOFTEST_SHARE = 1e-3
"""A fitted spring with a smaller share of the largest stiffness is left out."""

Springs = list[tuple[int, Array]]
"""Springs with the number of their place: stiffness, point on the link, and anchor seen from the
centre of the place, (k, p, a), (7,)."""


@dataclass(frozen=True, slots=True, eq=False)
class BalanceProblem:
    """Gravity at some configurations, and the places for springs against it."""

    gravity: Array
    """Torques (m, n)."""
    places: Sequence[SpringPlace]
    reach: float
    """The largest distance of points and anchors from their joints along an axis [m]."""
    free_length: float

    @property
    def size(self) -> float:
        """The largest torque of gravity."""
        return float(np.abs(self.gravity).max())

    def residual(self, springs: Springs) -> Array:
        """The torques that are left, (m, n)."""
        total = self.gravity.copy()
        for at, spring in springs:
            total += spring[0] * self.places[at].torque_slopes(spring, self.free_length)[..., 0]
        return total

    def is_exact(self, springs: Springs) -> bool:
        """Whether springs balance gravity, but for rounding."""
        return bool(np.abs(self.residual(springs)).max() <= EXACT_BALANCE * self.size)


def balance(problem: BalanceProblem) -> Springs:
    """The springs of the best balance that was found."""
    if not problem.size:
        return []
    ideal = replace(problem, free_length=0.0)
    springs = _fewest(ideal, _linear(ideal, list(range(len(problem.places)))))
    if springs and not problem.free_length:
        return springs
    if not springs:  # a fit begins with a soft spring at each place that can move
        soft = np.array([problem.size / problem.reach**2, *[0.3 * problem.reach] * 6])
        springs = [(i, soft) for i, place in enumerate(problem.places) if place.dX.any()]
    found = _fit(problem, springs) if springs else []
    better = np.sum(problem.residual(found) ** 2) < _WORTH_SHARE * np.sum(problem.gravity**2)
    return found if better else []


def _fewest(problem: BalanceProblem, springs: Springs) -> Springs:
    """An exact balance without places and springs that it does not need; none if it is none."""
    if not problem.is_exact(springs):
        return []
    springs = _merged(problem, springs)
    places = sorted({at for at, _ in springs}, reverse=True)
    for number in places if len(places) <= MOST_MERGED else ():
        fewer = _linear(problem, sorted({at for at, _ in springs} - {number}))
        if len(fewer) < len(springs) and problem.is_exact(fewer):
            springs = fewer
    return _merged(problem, springs)


def _merged(problem: BalanceProblem, springs: Springs) -> Springs:
    """The same balance with one spring, or two, at a place where there are more."""
    if len(springs) > MOST_MERGED:
        return springs
    for number in sorted({at for at, _ in springs}):
        others = [spring for spring in springs if spring[0] != number]
        own = [spring for at, spring in springs if at == number]
        for count in range(1, min(len(own), 3)):
            # the pair of the first singular value, or one of it
            share = np.array([len(own) / count, *[1.0] * 6])
            start = [(number, share * spring) for spring in own[:count]]
            fewer = _fit(problem, [*others, *start])
            if problem.is_exact(fewer):
                springs = fewer
                break
    return springs


def _linear(problem: BalanceProblem, used: list[int]) -> Springs:
    """Springs by the linear problem: by B alone if that is exact, with s, or with s and β."""
    springs: Springs = []
    for columns in (slice(7, 16), [*range(1, 4), *range(7, 16)], slice(1, 16)):
        springs = _by_columns(problem, used, columns) if used else []
        if problem.is_exact(springs):
            break
    return springs


def _by_columns(problem: BalanceProblem, used: list[int], columns: Any) -> Springs:
    """Springs by some of the sixteen numbers, each place as stiff as its lengths ask for."""
    A = np.stack([problem.places[k].coefficients(problem.reach).reshape(-1, 16) for k in used])
    b = problem.gravity.ravel()
    S = np.zeros(len(used))
    inverse = np.linalg.pinv(np.concatenate(list(A[:, :, columns]), axis=1), rcond=1e-12)
    x = np.zeros((len(used), 16))
    for _ in range(_STIFFNESS_ROUNDS):
        x[:, 0] = S
        x[:, columns] = -(inverse @ (b + S @ A[:, :, 0])).reshape(len(used), -1)
        B = np.linalg.norm(x[:, 7:].reshape(-1, 3, 3), ord="nuc", axis=(1, 2))
        ends = np.linalg.norm(x[:, 1:7].reshape(-1, 2, 3), axis=-1).max(axis=1)
        # centres and distances from them are at most half the reach each
        needed = np.maximum(4 * B, 2 * ends)
        needed[needed <= _STIFFNESS_ROUNDING * needed.max(initial=0.0)] = 0.0
        if np.allclose(needed, S, rtol=1e-12, atol=0.0):
            break
        S = needed
    pairs = zip(used, x, strict=True)
    return [(k, spring) for k, v in pairs if v[0] > 0 for spring in realised(v, problem.reach)]


def _fit(problem: BalanceProblem, start: Springs) -> Springs:
    """Springs by nonlinear least squares, no farther than the reach, from a start."""
    from scipy.optimize import least_squares  # noqa: PLC0415 (slow to import)

    r, size = problem.reach, problem.size
    scale = np.array([max(spring[0] for _, spring in start), *[r] * 6])
    x0 = np.concatenate([spring / scale for _, spring in start])
    high = np.tile([np.inf, *[1.0] * 6], len(start))
    low = np.tile([0.0, *[-1.0] * 6], len(start))
    felt = np.ones(len(x0), dtype=bool)

    def springs(x: Array) -> Springs:
        values = x0.copy()
        values[felt] = x
        rows = values.reshape(-1, 7) * scale
        return [(number, row) for (number, _), row in zip(start, rows, strict=True)]

    def slopes(x: Array) -> Array:
        parts = [
            problem.places[number].torque_slopes(spring, problem.free_length) * scale / size
            for number, spring in springs(x)
        ]
        return np.concatenate(parts, axis=-1).reshape(-1, len(x0))[:, felt]

    # a number without effect, as a place along the axes of a planar arm, stays as it is
    effects = np.linalg.norm(slopes(x0), axis=0)
    felt = effects > _NO_EFFECT * effects.max()
    found = least_squares(
        lambda x: problem.residual(springs(x)).ravel() / size,
        np.clip(x0, low + 1e-9, high - 1e-9)[felt],
        slopes,
        bounds=(low[felt], high[felt]),
        x_scale="jac",
        ftol=1e-15,
        xtol=1e-15,
        gtol=1e-15,
        max_nfev=40,
    )
    kept = springs(found.x)
    strongest = max(spring[0] for _, spring in kept)
    return [(at, spring) for at, spring in kept if spring[0] > _SOFTEST_SHARE * strongest]


SPRING, _COILS = "#D55E00", 9


def _draw_arm(panel: Any, model: RobotModel, springs: Sequence[Spring]) -> None:
    """The arm in the middle of its ranges, seen along the axis along which it extends least."""
    frames = world_frames(model, coordinates_of(model).positions(model.ranges.mean(axis=1)))
    joints, lines = np.array(frames.O), link_lines(model, frames)
    ends = [np.array(spring_vectors(frames, spring)[1:]) for spring in springs]
    view = side_view(np.concatenate([joints, *lines, *ends]))
    draw_side(panel, lines, joints, view)
    for spring, pair in zip(springs, ends, strict=True):
        stem = np.array([joints[spring.link], pair[0]])[:, view]
        panel.plot(*stem.T, color=SPRING, linewidth=0.8, linestyle="--", zorder=2)
        _draw_spring(panel, pair[:, view])
    panel.margins(0.12)
    panel_title(panel, "The arm and its springs", "in the middle of its ranges")


def _draw_spring(panel: Any, ends: Array) -> None:
    """A zigzag from the link to the anchor, which is a square."""
    way = ends[1] - ends[0]
    length = float(np.linalg.norm(way))
    across = np.array([-way[1], way[0]]) / (length or 1.0) * min(0.06 * length, 0.02)
    steps = np.linspace(0, 1, 2 * _COILS + 1)[:, None]
    swing = np.where(np.arange(2 * _COILS + 1) % 2, 1.0, -1.0)[:, None]
    swing[[0, -1]] = 0.0
    panel.plot(*(ends[0] + steps * way + swing * across).T, color=SPRING, linewidth=1.2, zorder=3)
    panel.plot(*ends[1], "s", color=SPRING, markersize=6, zorder=5)
    panel.plot(*ends[0], "o", color=SPRING, markersize=4, zorder=5)


CONFIGURATIONS = 64
"""Configurations at which springs are found: four times as many torques as numbers of springs."""


@dataclass(frozen=True, slots=True, eq=False)
class SpringBalance(DrawnResult):
    """An arm with springs against its weight; torques are over the workspace."""

    robot: Robot = field(repr=False)
    springs: tuple[Spring, ...]
    gravity: Array = field(repr=False)
    """Torques of gravity, (m, n) [N m or N]."""
    left: Array = field(repr=False)
    """The same with the springs, at configurations that were not used to find them."""
    lengths: Array = field(repr=False)
    """Of the springs, (m, springs) [m]."""

    @property
    def exact(self) -> bool:
        """Whether gravity is balanced in every configuration."""
        return bool(np.abs(self.left).max() <= EXACT_BALANCE * np.abs(self.gravity).max())

    @property
    def reason(self) -> str:
        """The outcome in a sentence."""
        if not self.gravity.any():
            return "gravity needs no torque as the arm is"
        if self.exact:
            return "springs balance gravity in every configuration"
        share = np.sqrt(np.mean(self.left**2) / np.mean(self.gravity**2))
        slides = [j.name for j in self.robot.model.joints if j.type.slides]
        because = ""
        if slides and self.springs:
            because = (
                f"; the pull of a spring changes along a slide ({', '.join(slides)}), and weight "
                "does not"
            )
        elif any(spring.free_length for spring in self.springs):
            because = "; exact balances take springs of free length 0"
        return f"springs leave {100 * share:.3g} % of the torque of gravity (RMS){because}"

    def torques(self, q: Any) -> Array:
        """What springs add to the torques that hold the arm at q (..., n), (..., n) [N m or N]."""
        return _torques(self.robot.model, self.springs, np.asarray(q, dtype=float))

    def sections(self) -> tuple[Section, ...]:
        """The springs, and torques before and after."""
        robot = self.robot
        names = [link.name for link in robot.model.links] + [robot.model.base_link.name]
        springs = [
            {
                "link": names[s.link],
                "point": s.point,
                "other": names[s.other],
                "anchor": s.anchor,
                "stiffness": s.stiffness,
                "free_length": s.free_length,
                "shortest": lengths.min(),
                "longest": lengths.max(),
                "largest_force": s.stiffness * np.abs(lengths - s.free_length).max(),
            }
            for s, lengths in zip(self.springs, self.lengths.T, strict=True)
        ]
        rows = [
            (
                *(x["link"], _place(x["point"]), x["other"], _place(x["anchor"])),
                f"{x['stiffness']:.4g}",
                f"{x['shortest']:.3g} to {x['longest']:.3g}",
                f"{x['largest_force']:.4g}",
            )
            for x in springs
        ]
        ends = "ends in the frames of the links, whose origins are on their joints"
        columns = ("link", "at [m]", "to", "at [m]", "N/m", "length [m]", "force [N]")
        head = {"robot": robot.name, "exact": self.exact, "reason": self.reason}
        return (
            Section(f"{robot.model.title or robot.name}: {self.reason}", (), data=head),
            Section("Springs" if springs else "", (ends,), columns, rows, 4, {"springs": springs}),
            self._torque_section(),
        )

    def _torque_section(self) -> Section:
        model = self.robot.model
        largest = float(np.abs(self.gravity).max()) or 1.0
        units = [joint.type.torque_unit for joint in model.coordinate_joints]
        both = self.gravity, self.left
        sizes = [
            *(np.abs(values).max(axis=0) for values in both),
            *(np.sqrt(np.mean(values**2, axis=0)) for values in both),
        ]
        table = list(zip(self.robot.joint_names, units, *sizes, strict=True))
        keys = ("joint", "unit", "peak_before", "peak_after", "rms_before", "rms_after")
        return Section(
            "Torques of gravity",
            (f"over {len(self.gravity)} random configurations of the workspace",),
            ("joint", "", "largest before", "after", "RMS before", "after"),
            [(name, unit, *(zero(x, largest) for x in row)) for name, unit, *row in table],
            2,
            {"gravity": [dict(zip(keys, row, strict=True)) for row in table]},
        )

    def figure(self) -> Any:
        """The arm with its springs, and the torques before and after."""
        model = self.robot.model
        figure = sheet(10.5, 4.6, f"{model.title or model.name}, balanced by springs", "", 0.07)
        arm, bars = figure.subplots(1, 2, width_ratios=[1.1, 1])
        figure.subplots_adjust(left=0.07, right=0.98, top=0.8, bottom=0.14, wspace=0.22)
        _draw_arm(arm, model, self.springs)
        joints = model.coordinate_joints
        peaks = [np.abs(values).max(axis=0) for values in (self.gravity, self.left)]
        words = "without springs", "with springs"
        before_after_bars(bars, peaks, [joint.name for joint in joints], words)
        bars.set_ylabel(f"[{' or '.join(dict.fromkeys(j.type.torque_unit for j in joints))}]")
        bars.set_ylim(0, 1.15 * (float(peaks[0].max()) or 1.0))
        bars.legend(frameon=False, loc="upper right", fontsize=8)
        panel_title(bars, "Largest torque of gravity")
        return figure


def spring_balance(
    robot: Robot,
    between: Iterable[tuple[str, str]] | None = None,
    *,
    free_length: float = 0.0,
    reach: float | None = None,
) -> SpringBalance:
    """Find springs that carry the weight of an arm, exactly if that is possible.

    Args:
        robot: The robot. It stays as it is, and springs that it has are left aside; with_springs
            makes the one with those that are found.
        between: The links between which springs may be, pairs of the name of a link and of one that
            carries it, or "base"; None: from every link to the base.
        free_length: Of every spring [m]; 0: ideal springs, without which no balance is exact.
        reach: How far from their joints springs may be attached, along each axis [m]; None: the
            length of the longest link.
    """
    model = check_robot(robot).model
    length = check_number("free_length", free_length)
    places = [joint.placement[:3, 3] for joint in model.joints]
    places += [link.inertia.com for link in model.links if link.inertia.mass > 0]
    size = max(float(np.linalg.norm(place)) for place in places) or 1.0
    distance = size if reach is None else check_number("reach", reach)
    if length < 0 or not size <= 1e6 * distance <= 1e12 * size:
        wanted = f"a free_length that is not negative and a positive reach of about {size:.3g} m"
        raise ModelError(f"expected {wanted}, got {length:g} and {distance:g}")
    pairs = _pairs(model, between)
    q = workspace(model, CONFIGURATIONS)
    problem = BalanceProblem(
        gravity_torques(model, q), spring_places(model, pairs, q), distance, length
    )
    springs = tuple(problem.places[at].spring(x, length) for at, x in balance(problem))
    q = workspace(model, 1000)[len(q) :]
    gravity = gravity_torques(model, q)
    frames = world_frames(model, coordinates_of(model).positions(q))
    lengths = [np.linalg.norm(spring_vectors(frames, s)[0], axis=-1) for s in springs]
    stacked = np.stack(lengths, axis=1) if lengths else np.zeros((len(q), 0))
    return SpringBalance(robot, springs, gravity, gravity + _torques(model, springs, q), stacked)


def _torques(model: RobotModel, springs: tuple[Spring, ...], q: Array) -> Array:
    at = coordinates_of(model)
    return np.asarray(at.torques(spring_torques(model, springs, at.positions(q))))


def _pairs(model: RobotModel, between: Iterable[tuple[str, str]] | None) -> list[tuple[int, int]]:
    """The links that springs may join; -1 is the base."""
    if between is None:
        return [(i, -1) for i in range(len(model.links))]
    require(np.iterable(between), "between", "pairs of links", between, ModelError)
    names = {link.name: i for i, link in enumerate(model.links)}
    names |= {"base": -1, model.base_link.name: -1}
    pairs = []
    for pair in between:
        if isinstance(pair, str) or not np.iterable(pair) or len(tuple(pair)) != 2:
            wanted = "between: expected pairs such as ('link2', 'base')"
            raise ModelError(f"{wanted}, got {shown(pair)}")
        for name in pair:
            check_known(f"link of {model.name!r} named", name, names)
        link, other = (names[name] for name in pair)
        if link < 0 or link == other or (other >= 0 and other not in model.paths[link]):
            raise ModelError(
                f"a spring goes from a link to one that carries it, or to the base; "
                f"{pair[1]!r} does not carry {pair[0]!r}"
            )
        pairs.append((link, other))
    if not pairs:
        raise ModelError("between: expected at least one pair of links, got none")
    return list(dict.fromkeys(pairs))


def _place(position: Array) -> str:
    return f"({', '.join(zero(value, 1.0) for value in position)})"
