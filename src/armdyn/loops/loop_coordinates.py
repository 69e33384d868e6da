"""The coordinates of a robot with loops that are not linear.

Singular configurations are named after Gosselin and Angeles. Type 1: the tool loses a direction,
its Jacobian loses rank. Type 2: the passive joints are not determined by the actuated ones; two
ways to assemble the robot meet there. Type 3: both.

Reference: C. Gosselin, J. Angeles, Singularity analysis of closed-loop kinematic chains, 1990.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from armdyn.arrays import Array, record
from armdyn.errors import LoopError, SingularityError
from armdyn.forks import cached_property
from armdyn.formulations.coordinates import Coordinates
from armdyn.loops.closure import Closure
from armdyn.loops.newton import size
from armdyn.loops.plane import PARALLEL_AXES, Path, angle_of, normal_axes, zero_frames
from armdyn.loops.standing import StandingGeneral, StandingLoops
from armdyn.loops.steps import from_root
from armdyn.loops.values import Pair, across, added, entries, outer, scaled, stacked
from armdyn.model import RobotModel
from armdyn.model.cut_joints import polynomial

SINGULAR = 1e-6
"""How small a measure is in a singular configuration."""
NEARLY = 1e-5
"""The same where numbers are lost: inertias grow with the square of its inverse, so that pivots of
the mass matrix are nothing but rounding beside each other."""
REACH = 0.6
"""How far from the assembly coordinates are drawn at first [rad, or share of the robot's size]."""
FAR = 2.0
"""The same where joints are coupled and no loop can come to an end."""
LEAST_DETERMINANT = 0.1
"""Smallest determinant of a loop, as a share of that in the assembly, that is taken."""
SHRINK = 0.8
"""How much nearer to the assembly coordinates are drawn each time."""
MOST_SHRINKS = 120
"""How often they are drawn nearer; the last ones are within 1e-11 rad."""
DRAWS = 20
"""How often as many coordinates as are wanted are drawn in their ranges."""


@dataclass(frozen=True)
class LoopCoordinates(Coordinates):
    """The map between n actuated joints and all N, which depends on the configuration."""

    closure: Closure

    is_linear = False

    @property
    def model(self) -> RobotModel:  # type: ignore[override]
        """The robot."""
        return self.closure.model

    @property
    def iterates(self) -> bool:
        """Whether passive joints are solved for by Newton's method."""
        return self.closure.iteration is not None and self.closure.iteration.spheres is None

    @property
    def in_plane(self) -> Callable[..., Array] | None:
        """Writes torques in axes of the plane that all links move in; None if they move in none."""
        return planar_torques if self.closure.iteration is None and is_planar(self.model) else None

    @property
    def assembly(self) -> Array:
        """Positions of all joints where loops are assembled, (N,)."""
        return self.closure.assembly

    def at(
        self, q: Array, pairs: Array | None = None, full: Array | None = None
    ) -> StandingLoops | StandingGeneral:
        """The map at positions (..., n); `pairs` and `full` as `StandingGeneral` takes them."""
        if self.closure.iteration is not None:
            return StandingGeneral(self.closure.iteration, q, pairs, full)
        return StandingLoops(self.closure, q)

    def known(self, full: Array) -> StandingLoops | StandingGeneral:
        """The map where positions of all joints are known, (..., N)."""
        return self.at(full[..., list(self.model.independent)], full=full)

    def near_assembly(self, full: Array) -> Array:
        """Positions of all joints with passive ones at the turn that is nearest to the assembly."""
        model, found = self.model, full.copy()
        turns = [i for i in model.passive if model.joints[i].type.turns]
        near = self.assembly[turns]
        found[..., turns] = near + np.remainder(full[..., turns] - near + np.pi, 2 * np.pi) - np.pi
        for loop in (from_root(model, x) for x in model.loops if x.couples):
            found[..., loop.link_a] = polynomial(loop.coefficients, found[..., loop.link_b])
        return found

    def _refuse(self, *_: Any) -> NoReturn:
        raise self._error("this is not there")

    rates = accelerations = torques = G_rate = cut_wrenches = _refuse  # type: ignore[assignment]
    G = property(_refuse)

    def with_drives(self) -> NoReturn:
        """There is no such map."""
        raise self._error("drives and dry friction along changing directions are not there")

    def _error(self, missing: str) -> LoopError:
        loop, name = self.model.loops[0], self.model.name
        text = f"{missing} for robots with loops that are not parallelograms"
        return LoopError(f"{loop.where} of {name!r}: {text}", loop=loop.name)

    def explain(self, q: Array) -> None:
        """Raise an error that names the loop and the state where a robot cannot be, or is singular.

        It is asked where numbers were lost; if no loop is the cause, nothing happens.
        """
        model, determinants = self.model, self.at(q).type2
        bad = ~(determinants > NEARLY)
        if not bad.any():
            return
        *index, k = np.argwhere(bad)[0].tolist()
        loop = model.loops[self.closure.order[k]]
        state = q[tuple(index)] if index else q
        where = f" (state {', '.join(map(str, index))})" if index else ""
        position = ", ".join(
            f"{model.joints[i].name} = {x:.6g}"
            for i, x in zip(model.independent, state, strict=True)
        )
        if determinants[(*index, k)] == 0.0:
            raise SingularityError(
                f"{loop.where} of {model.name!r} cannot be closed with {position}{where}: its "
                "links do not meet there. The way from the assembly goes through a singular "
                "configuration of type 2"
            )
        raise SingularityError(
            f"{loop.where} of {model.name!r} is singular (type 2) with {position}{where}: its "
            "passive joints are not determined by the actuated ones"
        )

    def drawn_in_ranges(self, rng: np.random.Generator, count: int) -> Array:
        """Coordinates at random in their ranges that can be closed, and are not singular.

        Where few of them are, those that are missing are drawn near the assembly.
        """
        low, high = self.model.ranges.T
        found = np.empty((0, len(low)))
        for _ in range(DRAWS):
            q = rng.uniform(low, high, (count, len(low)))
            found = np.concatenate([found, q[self._is_regular(q)]])
            if len(found) >= count:
                return found[:count]
        return np.concatenate([found, self.drawn(rng, count - len(found))])

    def drawn(self, rng: np.random.Generator, count: int) -> Array:
        """Coordinates at random around the assembly that can be closed and are not singular."""
        model = self.model
        turns = [joint.type.turns for joint in self.model.coordinate_joints]
        unit = np.where(turns, 1.0, size(model))
        found = np.empty((0, len(unit)))
        reach = REACH if self.closure.order else FAR
        for _ in range(MOST_SHRINKS):
            if len(found) >= count:
                return found[:count]
            drawn = rng.uniform(-1.0, 1.0, (2 * count, len(unit)))
            q = self.closure.start + reach * unit * drawn
            found = np.concatenate([found, q[self._is_regular(q)]])
            reach *= SHRINK
        names = ", ".join(repr(loop.name) for loop in model.loops)
        raise LoopError(
            f"the loops {names} of {model.name!r} can hardly be closed around the assembly: of "
            f"{2 * count * MOST_SHRINKS} configurations nearer and nearer to it {len(found)} could "
            f"be reached, and {count} are needed; the assembly is nearly singular, "
            "give another one",
            loop=model.loops[0].name,
        )

    def _is_regular(self, q: Array) -> Array:
        """Where all loops are closed, and not much nearer to singular than in the assembly."""
        return np.asarray((self.at(q).type2 > self._least).all(-1))

    @cached_property
    def _least(self) -> Array:
        return LEAST_DETERMINANT * self.at(self.closure.start).type2


@record
class LoopSingularity:
    """How far a robot with loops is from singular configurations."""

    type1: Array
    """Smallest over largest singular value of the tool's Jacobian in its task, (...)."""
    type2: Array
    """For each loop the determinant of its passive joints as a share of the largest it could have,
    (..., loops); 0 where it cannot be closed."""

    @property
    def kind(self) -> Array:
        """0 where it is regular, else the type 1, 2 or 3, (...)."""
        first = self.type1 < SINGULAR
        second = (self.type2 < SINGULAR).any(-1)
        return first + 2 * second


def is_planar(model: RobotModel) -> bool:
    """Whether all joints are revolute, with parallel axes."""
    frames = zero_frames(model)
    axes = [frames[i][:3, :3] @ joint.axis for i, joint in enumerate(model.joints)]
    turning = all(j.type.only_turns for j in model.joints)
    return turning and all(np.linalg.norm(np.cross(axes[0], z)) < PARALLEL_AXES for z in axes)


def planar_torques(
    model: RobotModel, at: StandingLoops, qd: Array, qdd: Array, weight: bool = True
) -> Array:
    """Torques at all joints of a planar robot of nodes, (N,).

    Each link has its absolute rate Ω and a vector V along it, which the closures have as well, so
    nothing is turned from link to link, and the first moment is p = α V + β V':

        A_child = A + Ω̇ V' - Ω² V      F = m A + Ω̇ p' - Ω² p + Σ F_child
        N = J Ω̇ + p × A + Σ (N_child + V × F_child)          τ = ε N

    A is the acceleration of the joint's origin less gravity.
    """
    frames = zero_frames(model)
    z = frames[0][:3, :3] @ model.joints[0].axis
    x, y = normal_axes(z)
    number = at.q[0].graph.number
    g = model.base[:3, :3].T @ model.gravity if weight else np.zeros(3)
    rates = entries(at.rates(qd))
    changes = entries(at.accelerations(qd, qdd))
    N = len(model.joints)
    paths: list[Path] = []
    A: list[Pair] = []
    vectors: list[dict[int, Pair]] = []
    for i, joint in enumerate(model.joints):
        up = joint.parent
        sign = float(np.sign(z @ (frames[i][:3, :3] @ joint.axis)))
        paths.append((*(paths[up] if up >= 0 else ()), (i, sign)))
        vectors.append({})
        if up < 0:
            A.append((number(-float(g @ x)), number(-float(g @ y))))
            continue
        step = frames[up][:3, :3] @ joint.placement[:3, 3]
        V = at.vector(paths[up], (float(step @ x), float(step @ y)))
        vectors[up][i] = V
        w, dw = angle_of(rates, paths[up]), angle_of(changes, paths[up])
        A.append(added(A[up], added(scaled(dw, across(V)), scaled(-(w * w), V))))
    tau: list[Any] = [0.0] * N
    moments: list[Any] = [0.0] * N
    forces: list[Pair] = [(0.0, 0.0)] * N
    for i in reversed(range(N)):
        inertia = model.links[i].inertia
        R = frames[i][:3, :3]
        u = R @ inertia.first_moment
        axis = model.joints[i].axis
        w = angle_of(rates, paths[i])
        dw = angle_of(changes, paths[i])
        p = at.along(paths[i], (float(u @ x), float(u @ y)))
        moment = number(float(axis @ inertia.moment @ axis)) * dw + outer(p, A[i])
        force = added(scaled(dw, across(p)), scaled(-(w * w), p))
        force = added(force, scaled(number(inertia.mass), A[i]))
        moments[i] = moments[i] + moment
        forces[i] = added(forces[i], force)
        tau[i] = paths[i][-1][1] * moments[i]
        up = model.joints[i].parent
        if up >= 0:
            moments[up] = moments[up] + (moments[i] + outer(vectors[up][i], forces[i]))
            forces[up] = added(forces[up], forces[i])
    return stacked(tau)
