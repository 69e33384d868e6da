"""Robot: the façade that people use.

Every method takes positions, velocities and accelerations of shape (..., n) with any leading batch
shape and returns fresh arrays. The equation of motion is

    M(q) q̈ + C(q, q̇) q̇ + g(q) + friction(q̇) = τ + Jᵀ w

where τ is what the actuators give, w the wrench of the environment on the arm, and M includes the
rotors. SI units, radians, six-vectors with the linear part first.

Each quantity is compiled when it is first asked for (see `armdyn.kernels.kernel`) and kept on disk
for the next time; a formulation or method asked for by name is evaluated as it is written. LLVM is
large, so nothing of it is imported before a kernel is asked for.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from armdyn.arrays import (
    Array,
    broadcast,
    check_joint_vector,
    check_names,
    check_truth,
    frozen,
    lost,
)
from armdyn.errors import ArmdynWarning, LoopError, ModelError, check_known, counted, shown
from armdyn.forks import IMPORTING, cached_property
from armdyn.formulations import slopes
from armdyn.formulations.base_parameters import BaseParameters, base_parameters, exact_rank
from armdyn.formulations.cartesian import (
    Cartesian,
    check_damping,
    check_task,
    default_task,
    task_columns,
    task_rows,
)
from armdyn.formulations.coriolis import ConfigurationSpace
from armdyn.formulations.energy import LinkEnergies
from armdyn.formulations.external import Wrench
from armdyn.formulations.forward_dynamics import ForwardMethod, warn_of_condition
from armdyn.formulations.ledger import Ledger
from armdyn.formulations.link_axes import check_link_axes
from armdyn.formulations.parameters import RobotParameter, robot_parameters, with_parameters
from armdyn.formulations.solve import solve_mass_matrix
from armdyn.io import edits
from armdyn.io.files import save_model
from armdyn.io.keys import drives_from_keys, with_springs
from armdyn.kernels.quick import quick, quick_record
from armdyn.loops.coordinates import coordinates_of
from armdyn.loops.rows import largest_residuals
from armdyn.model import Inertia, RobotModel, Spring, edit
from armdyn.model.base_motion import BaseMotion
from armdyn.model.transform import check_transform
from armdyn.model.validate import Physical, check_physical, upward_gravity
from armdyn.quantities.center_of_mass import no_bodies, total_mass
from armdyn.quantities.request import (
    EFFORTS,
    Axis,
    Formulation,
    KernelOptions,
    Request,
    request_of,
    wrench_options,
)
from armdyn.shorten.run_time import payload_vector

if TYPE_CHECKING:
    from armdyn.export.jax.function import JaxFunction
    from armdyn.export.options import Exported, ExportKeywords
    from armdyn.kernels.cache import ObjectCache
    from armdyn.kernels.kernel import Kernel
    from armdyn.kernels.quick import BoundMethod
    from armdyn.loops.loop_coordinates import LoopSingularity
    from armdyn.mechanics.elastic import Elastic
    from armdyn.mechanics.free_base import FreeBase
    from armdyn.shorten.canonical.dh_table import Convention, DhTable


OF_LINKS = ("reactions", "link_energies")
"""Quantities of single links: for reduced inertias the method is called, which warns of them."""


class Robot:
    """A robot and its dynamics.

    Make one with `armdyn.load` or `armdyn.from_dh`; `model` is its data. A Robot never changes: the
    `with_` methods return another one.
    """

    # What every part stands on: data, names and kernels

    payload_vector = staticmethod(payload_vector)

    def __init__(
        self,
        model: RobotModel,
        *,
        cache: ObjectCache | None = None,
        search_effort: str = EFFORTS[0],
    ):
        """Take the data, and the cache that keeps kernels on disk; None: that of the user.

        The search effort is that of `optimized`.
        """
        check_known("effort", search_effort, EFFORTS)
        self.model, self.cache, self.search_effort = model, cache, search_effort
        self._at = coordinates_of(model)
        self._kernels: dict[Any, Any] = {}
        """Kernels by request and type; by quantity and options what evaluates one state, and what
        was only asked for batches."""
        self._quick: dict[str, BoundMethod] = {}
        """What Python knows of methods that are bound and quick."""
        self._base: dict[bool, BaseParameters] = {}

    def __repr__(self) -> str:
        kinds = "".join(joint.type.letter for joint in self.model.joints)
        return f"<Robot {self.name!r}, {counted(self.n, 'joint')}, {kinds}>"

    def __reduce__(self) -> tuple[Any, ...]:
        make = partial(type(self), cache=self.cache, search_effort=self.search_effort)
        return make, (self.model,)

    def __eq__(self, other: object) -> bool:
        """Whether the models of two robots are equal: those of two loads of one file are."""
        return isinstance(other, Robot) and self.model == other.model

    def __hash__(self) -> int:
        return hash(self.model)

    @property
    def n(self) -> int:
        """Number of coordinates; a joint that mimics another one has none."""
        return len(self.model.independent)

    @property
    def name(self) -> str:
        """Name of the robot."""
        return self.model.name

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints whose positions are the coordinates."""
        return tuple(joint.name for joint in self.model.coordinate_joints)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names that a wrench, a Jacobian or forward kinematics can refer to."""
        return self.model.frame_names

    @property
    def gravity(self) -> Array:
        """Field of gravity in world axes, pointing down, (3,) [m/s²]; it cannot be written."""
        return self.model.gravity

    @property
    def total_mass(self) -> float:
        """Mass of the links and the base [kg]; an error for a reduced set of inertias."""
        if reason := no_bodies(self.model):
            raise ModelError(f"total_mass of {self.name!r}: {reason}")
        return total_mass(self.model)

    @cached_property
    def free_base(self) -> FreeBase:
        """The robot with its base as a body that nothing holds, as on a satellite."""
        with IMPORTING:
            from armdyn.mechanics.free_base import FreeBase  # noqa: PLC0415 (seldom needed)

        held = self._other(replace(self.model, floating=False)) if self.model.floating else self
        return FreeBase(held.model, held._run)

    @cached_property
    def elastic(self) -> Elastic:
        """The robot with motors that move apart from its links, where transmissions give."""
        with IMPORTING:
            from armdyn.mechanics.elastic import Elastic  # noqa: PLC0415 (seldom needed)

        return Elastic(self)

    @cached_property
    def limits(self) -> Array:
        """Lower and upper position of each joint, (n, 2) [rad or m]; infinite if unknown."""
        rows = [(o.limits.lower, o.limits.upper) for o in self.model.coordinate_joints]
        return frozen(np.reshape(rows, (-1, 2)))

    @cached_property
    def velocity_limits(self) -> Array:
        """The largest speed of each joint, (n,) [rad/s or m/s]; infinite if unknown or zero."""
        return self._highest("velocity")

    @cached_property
    def effort_limits(self) -> Array:
        """The largest torque of each joint, (n,) [N m or N]; infinite if unknown or zero."""
        return self._highest("effort")

    def _highest(self, name: str) -> Array:
        # zero is written where a limit is not known
        return frozen([getattr(o.limits, name) or np.inf for o in self.model.coordinate_joints])

    def _other(self, model: RobotModel) -> Self:
        return type(self)(model, cache=self.cache, search_effort=self.search_effort)

    def _run(self, quantity: str, *arrays: ArrayLike, **options: Any) -> Array:
        """A quantity for vectors in the order of its kernel."""
        key = (quantity, *options.items()) if options else quantity
        one = getattr(arrays[0], "ndim", 1) == 1  # else nothing is compiled for one state
        place = key if one else ("batches", key)
        try:
            call = self._kernels.get(key) or self._kernels.get(place)
        except TypeError:  # an option without a hash is refused by its kernel
            call = None
        if call is None:
            with IMPORTING:
                from armdyn.quantities.evaluate import evaluator  # noqa: PLC0415

            request = Request(quantity, effort=self.search_effort, **options)
            call = evaluator(self.model, request, self._kernel, self._run, one)
            self._kernels[place] = call
            if one:
                self._kernels[request] = call
                self._hasten(quantity)
        return call(*arrays)

    def _hasten(self, quantity: str) -> None:
        """Let the bound method of a quantity be its kernels for one state, if there are both."""
        bound = self._quick.get(quantity)
        if bound is not None and not (self.model.reduced and quantity in OF_LINKS):
            for request, call in list(self._kernels.items()):
                if isinstance(request, Request) and request.quantity == quantity:
                    bound.add(request, getattr(call, "__self__", None))

    @property
    def _itself(self) -> Self:
        """The robot, as what its bound methods are pickled with."""
        return self

    def _kernel(self, request: Request, dtype: DTypeLike = "float64") -> Any:
        """The kernel of a request, which is kept."""
        with IMPORTING:
            from armdyn.kernels.kernel import Kernel, type_name  # noqa: PLC0415 (LLVM is large)

        try:
            key = request, type_name(dtype)
            hash(key)
        except (TypeError, ValueError):
            raise ModelError(
                f"{shown(request.quantity)}: options are names, lists of names, True or False, and "
                f"a type of floats, got {shown(request)} and {shown(dtype)}"
            ) from None
        if key not in self._kernels:
            kernel = Kernel(self.model, request, dtype, self.cache)
            if request.quantity.startswith("forward_dynamics"):
                warn_of_condition(self._at)
            self._kernels[key] = kernel
        return self._kernels[key]

    def _products(
        self, quantity: str, dtype: DTypeLike, **options: Any
    ) -> Callable[[str | None], Kernel]:
        """The kernel of a quantity by None, and those of its products by "vjp" and "jvp"."""
        request = request_of(quantity, effort=self.search_effort, **options)
        return lambda mode: self._kernel(replace(request, derivative=mode), dtype)

    # Positions of all joints, of robots with loops too

    @property
    def assembly(self) -> Array:
        """Positions of all joints of one assembled configuration, (N,) [rad or m].

        It says in which of its ways a robot with loops is assembled.
        """
        return np.array(self._at.assembly)

    @property
    def start(self) -> Array:
        """The coordinates of the assembly, (n,) [rad or m]."""
        return self.assembly[list(self.model.independent)]

    def all_joints(self, q: ArrayLike) -> Array:
        """Positions of all joints, passive ones and those that mimic others included, (..., N).

        A robot with loops stays in the way it is assembled.

        Raises:
            SingularityError: A loop cannot be closed.
        """
        coordinates = check_joint_vector("q", q, self.n)
        positions = self._positions(coordinates)
        if lost(positions, coordinates):
            self._at.explain(coordinates)
        return self._at.near_assembly(positions)

    def loop_residuals(self, q: ArrayLike) -> Array:
        """What the rows of each loop miss at most, (..., loops) [m, or the sine of an angle].

        That is rounding; where a loop cannot be closed it is not a number.
        """
        full = self._positions(check_joint_vector("q", q, self.n))
        return largest_residuals(self.model, full)

    def _positions(self, q: Array) -> Array:
        """Positions of all joints, not a number where a loop cannot be closed, (..., N)."""
        if not self._at.iterates:
            return np.array(self._at.positions(q))
        with IMPORTING:
            from armdyn.quantities.evaluate import passive_joints  # noqa: PLC0415

        pairs = passive_joints(self._kernel, self.search_effort, q).reshape(*q.shape[:-1], -1, 2)
        full = np.empty((*q.shape[:-1], len(self.model.joints)))
        full[..., list(self.model.independent)] = q
        for k, i in enumerate(self.model.passive):
            (c, s), kind = np.moveaxis(pairs[..., k, :], -1, 0), self.model.joints[i].type
            full[..., i] = np.arctan2(s, c) if kind.only_turns else c
        return full

    # Where links are and how they move

    @quick
    def forward_kinematics(self, q: ArrayLike, link: str = "tool") -> Array:
        """The tool, or the frame that a link is named after, in the world, (..., 4, 4).

        Of a link that was given by standard DH this is the book's frame at its far end, and not the
        frame on its joint, in which formulations have forces and `model.links` have inertias.
        """
        return self._run("forward_kinematics", q, link=link)

    @quick
    def link_frames(self, q: ArrayLike) -> Array:
        """The frames that the links are named after, in the world, (..., N, 4, 4).

        They turn rows of `reactions(..., frame="link")`, and not those of the frame on the joint.
        """
        return self._run("link_frames", q)

    @quick
    def joint_frames(self, q: ArrayLike) -> Array:
        """The frames on the joints of the links, in the world, (..., N, 4, 4).

        They turn rows of `reactions(..., frame="joint")`, the vectors of `formulate` that are in
        axes of the frame on the joint, and the inertias of `model.links`.
        """
        return self._run("joint_frames", q)

    @quick
    def link_jacobians(self, q: ArrayLike, frame: str = "world") -> Array:
        """Geometric Jacobians of these frames, (..., N, 6, n); `frame` as in `jacobian`."""
        return self._run("link_jacobians", q, frame=frame)

    @quick
    def jacobian(self, q: ArrayLike, frame: str = "world", link: str = "tool") -> Array:
        """Geometric Jacobian of the tool or a link, (..., 6, n), linear rows first.

        Args:
            q: Joint positions, (..., n).
            frame: Axes of the rows: "world", "tool" or the name of a link.
            link: Whose origin moves.
        """
        return self._run("jacobian", q, link=link, frame=frame)

    @quick
    def jacobian_dot(
        self, q: ArrayLike, qd: ArrayLike, frame: str = "world", link: str = "tool"
    ) -> Array:
        """Time derivative of the entries of `jacobian`, (..., 6, n).

        In moving axes (frame="tool") J̇ q̇ is therefore not an acceleration but the rate of the
        velocity components.
        """
        return self._run("jacobian_dot", q, qd, link=link, frame=frame)

    def inverse_kinematics(
        self,
        T: ArrayLike,
        q0: ArrayLike | None = None,
        *,
        link: str = "tool",
        task: Sequence[str] | None = None,
        frame: str = "world",
        most: int | None = None,
        tolerance: float = 1e-9,
        unreachable: str = "error",
    ) -> Array:
        """Joint positions within the limits that bring the tool or a link to poses, (..., n).

        Args:
            T: Poses in the world, (..., 4, 4).
            q0: Where the search starts, (..., n); a redundant arm gets a solution to which no other
                one near it is nearer, and every joint the whole turns that bring it near to q0.
                None: starts are chosen from the whole range of the joints.
            link: The frame that is brought there, as in `forward_kinematics`.
            task: The coordinates that matter, of "x", "y", "z", "rx", "ry", "rz"; None: all. The
                last three are components of the rotation vector from the pose reached to the one
                wanted.
            frame: Axes of these: "world", or "tool" for those of T.
            most: How many different solutions are looked for; the result is then (..., most, n),
                those nearest to q0 (or to the middle of the range) first, rows without one are NaN.
                None: one.
            tolerance: Largest error in each coordinate [m and rad].
            unreachable: What becomes of a pose that is not reached: "error", "nan", or "nearest"
                for the configuration that comes nearest to it.

        Raises:
            UnreachableError: No solution was found, with the nearest configuration.
        """
        self.model.check_held()
        functions = partial(self.forward_kinematics, link=link), partial(self.jacobian, link=link)
        options = task, frame, most, tolerance, unreachable
        with IMPORTING:
            from armdyn.kinematics.inverse_kinematics import inverse_kinematics  # noqa: PLC0415

        return inverse_kinematics(self.model, functions, T, q0, *options)

    @quick
    def frame_motion(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        frame: str = "world",
        link: str = "tool",
    ) -> Array:
        """Velocity J q̇ and acceleration J q̈ + J̇ q̇ of the tool or a link, (..., 2, 6).

        Linear parts come first; `frame` and `link` are those of `jacobian`.
        """
        return self._run("frame_motion", q, qd, qdd, link=link, frame=frame)

    def singularity(self, q: ArrayLike, link: str = "tool") -> LoopSingularity:
        """How far a robot with loops is from singular configurations of types 1 and 2."""
        with IMPORTING:
            from armdyn.loops import loop_coordinates as loops  # noqa: PLC0415

        coordinates = check_joint_vector("q", q, self.n)
        if not isinstance(self._at, loops.LoopCoordinates):
            raise LoopError(
                f"robot {self.name!r} has no loops whose passive joints could be undetermined"
            )
        type2 = self._at.at(coordinates).type2
        type1 = np.zeros(coordinates.shape[:-1])
        closed = (type2 > 0).all(-1)
        rows = task_rows(default_task(self._at))
        values = np.linalg.svd(self.jacobian(coordinates[closed], link=link)[..., rows, :])[1]
        type1[closed] = values[..., -1] / values[..., 0]
        return loops.LoopSingularity(type1, type2)

    # Where its mass is, and its momentum

    @quick
    def center_of_mass(self, q: ArrayLike) -> Array:
        """Centre of mass of the links and the base in the world, (..., 3) [m]."""
        return self._run("center_of_mass", q)

    @quick
    def center_of_mass_jacobian(self, q: ArrayLike) -> Array:
        """Its Jacobian in world axes, (..., 3, n)."""
        return self._run("center_of_mass_jacobian", q)

    @quick
    def center_of_mass_jacobian_dot(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """Time derivative of `center_of_mass_jacobian`, (..., 3, n)."""
        return self._run("center_of_mass_jacobian_dot", q, qd)

    @quick
    def centroidal_momentum(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """Linear momentum, and angular momentum about the centre of mass, world axes, (..., 6).

        Rotors are in it as masses of links, and by their own spin where its axis is known.
        """
        return self._run("centroidal_momentum", q, qd)

    # The terms of the equation of motion, and energies

    @quick
    def mass_matrix(self, q: ArrayLike) -> Array:
        """M(q), rotors included, (..., n, n), symmetric and full."""
        return self._run("mass_matrix", q)

    @quick
    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """C(q, q̇) of the Christoffel symbols, (..., n, n): dM/dt - 2C is skew."""
        return self._run("coriolis_matrix", q, qd)

    @quick
    def coriolis_vector(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """C(q, q̇) q̇, (..., n)."""
        return self._run("coriolis_vector", q, qd)

    @quick
    def gravity_vector(self, q: ArrayLike, base_motion: BaseMotion | None = None) -> Array:
        """g(q), the torques that hold the arm still on its base, springs included, (..., n)."""
        more, options = self._loads(None, "tool", "world", base_motion)
        return self._run("gravity_vector", q, *more, **options)

    @quick
    def bias(self, q: ArrayLike, qd: ArrayLike, friction: bool = False) -> Array:
        """C(q, q̇) q̇ + g(q), and friction if asked, (..., n)."""
        return self._run("bias", q, qd, friction=friction)

    @quick
    def christoffel(self, q: ArrayLike) -> Array:
        """Christoffel symbols c_ijk with (C q̇)_i = Σ c_ijk q̇_j q̇_k, (..., n, n, n)."""
        return self._run("christoffel", q)

    @quick_record(ConfigurationSpace.of)
    def configuration_space(self, q: ArrayLike) -> Array:
        """M, B, C and G of τ = M q̈ + B [q̇_j q̇_k] + C [q̇²] + G."""
        return self._run("configuration_space", q)

    def cartesian(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        frame: str = "world",
        *,
        task: tuple[str, ...] | None = None,
        damping: float = 0.0,
    ) -> Cartesian:
        """M, V and G of F = M Ẍ + V + G for the tool.

        Args:
            q: Joint positions, (..., n).
            qd: Joint velocities, (..., n).
            frame: Axes of F and Ẍ: "world", "tool" or the name of a link. In moving axes Ẍ is the
                derivative of the velocity components.
            task: Which of "x", "y", "z", "rx", "ry", "rz"; None: as many independent ones as the
                robot has, in this order.
            damping: λ of damped inversion; 0: a singular Jacobian is an error.

        Raises:
            SingularityError: The Jacobian loses rank and there is no damping.
        """
        self.model.check_held()
        n = self.n
        q, qd = broadcast(q=check_joint_vector("q", q, n), qd=check_joint_vector("qd", qd, n))
        damping = check_damping(damping)
        task = self._default_task if task is None else check_names("task", task)
        task_rows(task)
        if damping:
            columns = task_columns(self._run, q, qd, frame, task, damping)
        else:
            check_task(task, n)
            columns = self._run("cartesian", q, qd, frame=frame, task=task)
            mark = columns[..., :1, 0]  # no number where the Jacobian may be singular
            if lost(mark, q, qd):
                states = ~np.isfinite(mark[..., 0])
                some, batch = (q[states], qd[states]), q[..., 0].size
                columns[states] = task_columns(self._run, *some, frame, task, batch=batch)
        return Cartesian(columns[..., :-2], columns[..., -2], columns[..., -1], task)

    @cached_property
    def _default_task(self) -> tuple[str, ...]:
        return default_task(self._at)

    @quick
    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """½ q̇ᵀ M q̇, rotors included, (...) [J]."""
        return self._run("kinetic_energy", q, qd)

    @quick
    def potential_energy(self, q: ArrayLike) -> Array:
        """Energy of the links in the field of gravity, zero at the world origin, (...) [J].

        That of springs is in it.
        """
        return self._run("potential_energy", q)

    @quick_record(LinkEnergies.of)
    def link_energies(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """Energies of each moving link: .kinetic and .potential, both (..., N) [J].

        Rotors are no links: they are in `kinetic_energy` and not in the sum of .kinetic. Potentials
        are zero at the world origin. A reduced set of inertias gives an ArmdynWarning, as in
        `reactions`.
        """
        self._warn_if_reduced("the energies of single links", stacklevel=4)
        return self._run("link_energies", q, qd)

    @quick
    def friction_torque(self, qd: ArrayLike, q: ArrayLike | None = None) -> Array:
        """What the actuators must add to overcome friction, (..., n) [N m or N].

        It depends on positions only where passive joints of loops have friction.
        """
        if q is None or self._at.is_linear:
            return self._run("friction_torque", qd)
        terms = self.ledger(q, qd, np.zeros(self.n))
        return terms.viscous + terms.coulomb + terms.stribeck + terms.offset

    @quick_record(Ledger.of)
    def ledger(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        external_wrench: Wrench | None = None,
        *,
        wrench_link: str = "tool",
        wrench_frame: str = "world",
    ) -> Array:
        """The torque of `inverse_dynamics`, split into its terms; arguments as there."""
        wrenches, options = self._loads(external_wrench, wrench_link, wrench_frame)
        return self._run("ledger", q, qd, qdd, *wrenches, **options)

    def _warn_if_reduced(self, what: str, stacklevel: int = 3) -> None:
        if self.model.reduced:
            warnings.warn(
                f"the inertias of {self.name!r} are a reduced set, which is right in torques but "
                f"not in {what}",
                ArmdynWarning,
                stacklevel=stacklevel,
            )

    def _loads(
        self, external: Wrench | None, link: str, axes: str, base_motion: BaseMotion | None = None
    ) -> tuple[list[ArrayLike], dict[str, Any]]:
        """Wrenches and a motion of the base, and the options of a kernel that takes them."""
        wrenches, options = wrench_options(external, link, axes)
        if base_motion is None:
            return wrenches, options
        return [self._motion_of_base(base_motion), *wrenches], options | {"base_motion": True}

    def _motion_of_base(self, motion: BaseMotion) -> Array:
        if not isinstance(motion, BaseMotion):
            raise ModelError(f"base_motion is an armdyn.BaseMotion, got {shown(motion)}")
        return motion.vector(self.model.base[:3, :3])

    # Torques from a motion, accelerations from torques, and how they change

    @quick
    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        external_wrench: Wrench | None = None,
        friction: bool = True,
        *,
        formulation: Formulation | None = None,
        wrench_link: str = "tool",
        wrench_frame: str = "world",
        base_motion: BaseMotion | None = None,
    ) -> Array:
        """Joint torques that produce the given motion.

        Args:
            q: Joint positions, (..., n) [rad or m].
            qd: Joint velocities, (..., n).
            qdd: Joint accelerations, (..., n).
            external_wrench: Force and moment (..., 6) of the environment on the arm [N, N m], or a
                mapping of link names to such wrenches.
            friction: Whether joint friction is in the result. Rotors always are.
            formulation: One of `armdyn.quantities.formulations.FORMULATIONS`, evaluated as it is
                written; None: the compiled shortest form. All give one result.
            wrench_link: Link (or "tool") at whose origin the wrench acts.
            wrench_frame: Axes of the wrench: "world", "tool" or the name of a link.
            base_motion: How the base moves; None: it stands still.

        Returns:
            Torques and forces of the actuators, (..., n) [N m or N].
        """
        more, options = self._loads(external_wrench, wrench_link, wrench_frame, base_motion)
        options |= {} if friction is True else {"friction": friction}
        options |= {} if formulation is None else {"formulation": formulation}
        return self._run("inverse_dynamics", q, qd, qdd, *more, **options)

    @quick
    def inverse_dynamics_rates(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        qddd: ArrayLike,
        qdddd: ArrayLike,
        friction: bool = True,
    ) -> Array:
        """Torques for a motion, with their first and second rates along it, (..., 3, n).

        Args:
            q: Joint positions, (..., n) [rad or m].
            qd: Joint velocities, (..., n).
            qdd: Joint accelerations, (..., n).
            qddd: Jerks, the rates of these, (..., n).
            qdddd: Snaps, the rates of jerks, (..., n); 0 if second rates are not wanted.
            friction: Whether joint friction is in it.

        Raises:
            ModelError: Friction jumps with the sign of a velocity, and so has no rate.
        """
        motion = (q, qd, qdd, qddd, qdddd)
        return self._run("inverse_dynamics_rates", *motion, friction=friction)

    def formulate(
        self,
        formulation: Formulation,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        external_wrench: Wrench | None = None,
        *,
        wrench_link: str = "tool",
        wrench_frame: str = "world",
        frame: str | None = None,
        base_motion: BaseMotion | None = None,
    ) -> Any:
        """A formulation with its own quantities by name, to be looked at or printed.

        `robot.formulate("lagrange_euler", q, qd, qdd).U[1, 0]` is the book's U_21. The links alone:
        without friction and rotors, and over all moving joints.

        `frame` names the frame of each link that its vectors are in: "joint" for "newton_euler" and
        "augmented_body", "far_end" for "newton_euler_link", "world" for the others. Where that is
        not the frame that links are named after, leaving it out is a warning.
        """
        check_link_axes(self.model, formulation, frame)
        with IMPORTING:
            from armdyn.quantities.evaluate import numeric_robot  # noqa: PLC0415

        more, options = self._loads(external_wrench, wrench_link, wrench_frame, base_motion)
        request = Request("inverse_dynamics", formulation=formulation, **options)
        robot = numeric_robot(self.model, request, q, qd, qdd, *more)
        return robot.formulated(*(robot.vector(name) for name in ("q", "qd", "qdd")))

    @quick
    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        external_wrench: Wrench | None = None,
        friction: bool = True,
        *,
        method: ForwardMethod | None = None,
        wrench_link: str = "tool",
        wrench_frame: str = "world",
        base_motion: BaseMotion | None = None,
    ) -> Array:
        """Joint accelerations that torques cause, (..., n); arguments as in `inverse_dynamics`.

        `tau` is what the actuators give, (..., n) [N m or N]. `method` is "composite_body" (mass
        matrix and solution), "articulated_body" or "denoc", evaluated as it is written; None: the
        compiled form with the fewest operations.

        Raises:
            SingularityError: The mass matrix cannot be inverted.
        """
        more, options = self._loads(external_wrench, wrench_link, wrench_frame, base_motion)
        options["friction"] = friction
        if method is not None:
            if base_motion is not None:
                raise ModelError("a motion of the base needs the default method; leave method out")
            return self._run("forward_dynamics", q, qd, tau, *more, method=method, **options)
        qdd = self._run("forward_dynamics", q, qd, tau, *more, **options)
        if not lost(qdd, q, qd, tau, *more):
            return qdd
        bias = self._run("inverse_dynamics", q, qd, np.zeros(self.n), *more, **options)
        checked = solve_mass_matrix(self.mass_matrix(q), np.asarray(tau) - bias, self.joint_names)
        return np.where(np.isfinite(qdd), qdd, checked)

    @quick
    def reactions(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        external_wrench: Wrench | None = None,
        *,
        frame: str = "world",
        constraint: bool = False,
        base_wrench: bool = False,
        wrench_link: str = "tool",
        wrench_frame: str = "world",
        base_motion: BaseMotion | None = None,
    ) -> Array:
        """Force and moment that each link receives from its parent, (..., N, 6) [N, N m].

        The moment is about the origin of the frame on the joint, which moves with the link; rotors
        and friction, which act between motor and joint, are not in it. Other arguments are those
        of `inverse_dynamics`.

        `frame` names the axes of the result: "world"; "joint", for each link those of the frame on
        its joint; "link", for each link those of the frame it is named after, which
        `forward_kinematics` gives; or the name of one frame for all. With `constraint`, what the
        drive gives about or along the axis is left out, and what bearings carry remains. With
        `base_wrench`, a first row is what the base receives from the ground, about the origin of
        the base: (..., 1 + N, 6); the shaking force and moment are its opposite.

        A reduced set of inertias is right in torques alone, so there is an ArmdynWarning for it.
        """
        self._warn_if_reduced("the forces of joints")
        more, options = self._loads(external_wrench, wrench_link, wrench_frame, base_motion)
        options |= {"frame": frame, "constraint": constraint, "base_wrench": base_wrench}
        return self._run("reactions", q, qd, qdd, *more, **options)

    def inverse_dynamics_derivatives(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, friction: bool = True
    ) -> slopes.TorqueSlopes:
        """∂τ/∂q, ∂τ/∂q̇ and ∂τ/∂q̈ = M, each (..., n, n): .dq .dqd .dqdd.

        With `friction`, .dqd has the slope of the friction curve: 0 for a true sign, and 0 at rest
        for a power of the speed below 1, whose slope is infinite there.
        """
        both = self._run("inverse_dynamics_derivatives", q, qd, qdd, friction=friction)
        mass = np.broadcast_to(self.mass_matrix(q), both[..., 0, :, :].shape).copy()
        return slopes.TorqueSlopes(both[..., 0, :, :], both[..., 1, :, :], mass)

    @quick_record(slopes.AccelerationSlopes.of)
    def forward_dynamics_derivatives(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *, friction: bool = True
    ) -> Array:
        """∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ = M⁻¹, each (..., n, n): .dq .dqd .dtau.

        Raises:
            SingularityError: The mass matrix cannot be inverted.
        """
        derivatives = self._run("forward_dynamics_derivatives", q, qd, tau, friction=friction)
        if not lost(derivatives, q, qd, tau):
            return derivatives
        qdd = self.forward_dynamics(q, qd, tau, friction=friction)
        torques = self.inverse_dynamics_derivatives(q, qd, qdd, friction=friction)
        return slopes.acceleration_slopes(torques)

    # What torques are linear in

    @property
    def parameter_table(self) -> tuple[RobotParameter, ...]:
        """Name, unit and value of every parameter, and whether torques are linear in it."""
        return robot_parameters(self.model)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the parameters, as "link1.mcx", "joint1.rotor" or "joint1.viscous"."""
        return tuple(parameter.name for parameter in self.parameter_table)

    def parameters(self) -> Array:
        """The parameters π: for each link m, m c and I about the origin of the frame on its joint.

        Then come the rotors and the friction that the robot has, joint by joint, its springs, and
        last the parameters of friction that the regressor has no column for.
        """
        return np.array([parameter.value for parameter in self.parameter_table])

    def with_parameters(
        self, values: Mapping[str, float] | ArrayLike, *, physical: Physical = "error"
    ) -> Self:
        """The robot with other parameters, some of them by name or all in order.

        By name they may be of rotors and terms of friction that the robot has not yet, as
        {"joint1.viscous": 0.2}. A link that is changed becomes one body.
        """
        model = with_parameters(edit.noted(self.model, "other parameters"), values)
        return self._other(check_physical(model, physical))

    @quick
    def regressor(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, links: bool = False
    ) -> Array:
        """Y with τ = Y π, (..., n, p), for the p linear parameters, which come first in π.

        With `links`, for the links alone, (..., n, 10 N): friction and rotors are not in it.
        """
        only = check_truth("links", links)
        return self._run("link_regressor" if only else "regressor", q, qd, qdd)

    def base_parameters(self, *, links: bool = False) -> BaseParameters:
        """The fewest combinations of parameters that the torques depend on.

        A rotor and the inertia of a link that turns with it act as one. With `links`, those of
        the links alone.
        """
        self.model.check_held()
        only = check_truth("links", links)
        if only not in self._base:
            self._base[only] = base_parameters(self._at, only)
        return self._base[only]

    def exact_rank(self, *, links: bool = False) -> int:
        """How many base parameters there are, exactly: the rank of the regressor in a finite field.

        No tolerance decides, as one does in `base_parameters`: rotations, perpendiculars and
        parallels of the description hold exactly there. With `links`, for the links alone.
        """
        self.model.check_held()
        return exact_rank(self.model, check_truth("links", links))

    def with_base_parameters(self, values: ArrayLike, *, links: bool = False) -> Self:
        """The possible robot with these base parameters that is nearest to this one.

        Values are in the order of `base_parameters()`. Bodies are near if the log-det divergence of
        their pseudo-inertias is small; if no bodies have these values, those of the result come as
        near as possible, and there is an ArmdynWarning.
        """
        with IMPORTING:
            from armdyn.formulations import scaled_newton  # noqa: PLC0415 (SciPy is slow)

        base = self.base_parameters(links=links)
        model = edit.noted(self.model, "other base parameters")
        return self._other(scaled_newton.with_base_parameters(model, base, values))

    @quick
    def base_regressor(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, links: bool = False
    ) -> Array:
        """Y_b with τ = Y_b π_b, (..., n, rank); π_b as in `base_parameters`."""
        only = check_truth("links", links)
        return self._run("link_base_regressor" if only else "base_regressor", q, qd, qdd)

    # Other robots made of one, and what is shown and kept of it

    def with_payload(
        self,
        mass: float | Inertia,
        com: ArrayLike = (0, 0, 0),
        inertia: ArrayLike | None = None,
        *,
        add: bool = False,
        physical: Physical = "error",
    ) -> Self:
        """The robot holding a body: mass [kg], centre of mass in the tool frame [m], tensor.

        Instead of these three, an `armdyn.Inertia` in the tool frame may be given. A robot that
        holds something already takes a second body only with `add`.
        """
        model = edit.with_payload(self.model, mass, com, inertia, add=add)
        return self._other(check_physical(model, physical))

    def without_payload(self) -> Self:
        """The robot with everything it holds put down."""
        return self._other(edit.without_payload(self.model))

    def with_gravity(self, gravity: ArrayLike) -> Self:
        """The robot in another field of gravity, world axes, pointing down [m/s²]."""
        model = edit.with_gravity(self.model, gravity)
        for finding in upward_gravity(model):
            warnings.warn(finding.message, ArmdynWarning, stacklevel=2)
        return self._other(model)

    def with_tool(self, tool: ArrayLike | None) -> Self:
        """The robot with another tool frame: a 4x4 transform in the flange frame."""
        model = replace(self.model, tool=check_transform("tool", tool))
        return self._other(edit.noted(model, "another tool frame"))

    def with_base(self, base: ArrayLike | None) -> Self:
        """The robot mounted elsewhere: a 4x4 transform of the base in the world."""
        return self._other(edit.with_base(self.model, base))

    def with_base_joints(self, names: Sequence[str]) -> Self:
        """The robot whose base moves on joints: on a rail, ["x"], or in a plane, ["x", "y", "rz"].

        They are slides along the axes of the base, x, y and z, and hinges about them, rx, ry and
        rz, one after another before all others; their friction, rotors and limits are set by
        `with_joint("base x", ...)`. The base counts with the mass that its description gives it.
        """
        return self._other(edit.with_base_joints(self.model, names))

    def with_locked(self, joints: Mapping[str, float]) -> Self:
        """The robot with joints held at values [rad or m]."""
        return self._other(edit.with_locked(self.model, joints))

    def with_joint(self, name: str, **numbers: Any) -> Self:
        """The robot with some numbers of a joint changed, by the keys of a row of `from_dh`.

        `limits`, `velocity_limit`, `effort_limit`, `continuous_effort`, `rotor_inertia`,
        `gear_ratio`, `rotor_axis`, `rotor_carrier`, `transmission_stiffness`,
        `transmission_damping`, `friction_side` and those of friction, as with_joint("elbow",
        viscous=0.2, gear_ratio=80.0); a limit that is None is not known.
        """
        return self._other(edits.with_joint(self.model, name, numbers))

    def with_rotor(
        self,
        name: str,
        *,
        axis: ArrayLike | None = None,
        carrier: str | None = None,
        inertia: float | None = None,
        gear_ratio: float | None = None,
    ) -> Self:
        """The robot with a rotor of a joint or drive that spins on the link that carries it.

        Args:
            name: The joint or drive.
            axis: Direction of its axis in the axes of the carrier, (3,); None: not known, so that
                it adds to the diagonal of the mass matrix alone.
            carrier: The link, or named frame on a link, that holds its stator. The mass and tensor
                of this link hold the rotor as if it were locked.
            inertia: About its axis, before the gear [kg m²]; None: as it is.
            gear_ratio: Turns of the rotor against its carrier for one of the joint, signed [rad/rad
                or rad/m]; None: as it is, if it is not 1, which may mean that nobody knows it.
        """
        given = {"rotor_axis": axis, "rotor_carrier": carrier, "rotor_inertia": inertia}
        given |= {"gear_ratio": gear_ratio}
        return self._other(edits.with_rotor(self.model, name, given))

    def with_elasticity(
        self,
        stiffness: Any,
        damping: Any = None,
        *,
        friction_side: Any = None,
    ) -> Self:
        """The robot with transmissions that wind up between motors, with their rotors, and links.

        Each argument is one value for all joints, one for each, or some by the names of joints.
        Quantities of the robot are still those of the rigid arm; `elastic` has the others.

        Args:
            stiffness: At the side of the link [N m/rad or N/m]; infinite: rigid.
            damping: Beside that spring [N m s/rad or N s/m]; None: as it is.
            friction_side: Where the friction of a joint acts, at the "motor" or the "link"; None:
                as it is.
        """
        given = {"transmission_stiffness": stiffness, "transmission_damping": damping}
        given |= {"friction_side": friction_side}
        return self._other(edits.with_elasticity(self.model, given))

    def with_link(
        self,
        name: str,
        body: Inertia | None = None,
        *,
        physical: Physical = "error",
        **numbers: Any,
    ) -> Self:
        """The robot with another body as a link, in the frame that the link is named after.

        It is an `armdyn.Inertia`, or some of `mass` [kg], `com` [m], `inertia` [kg m²] and
        `shape` as in a row of `from_dh`, of which the others stay as they are.
        """
        model = edits.with_link(self.model, name, body, numbers)
        return self._other(check_physical(model, physical))

    def with_limits(
        self,
        position: Mapping[str, Any] | ArrayLike | None = None,
        *,
        velocity: Mapping[str, float] | ArrayLike | None = None,
        effort: Mapping[str, float] | ArrayLike | None = None,
    ) -> Self:
        """The robot with other limits: (lower, upper) [rad or m], speeds and efforts.

        Each is for all joints in order, or for some by name; None leaves them as they are.
        """
        return self._other(edits.with_limits(self.model, position, velocity, effort))

    def with_drives(self, drives: Sequence[Mapping[str, Any]]) -> Self:
        """The robot with motors that turn with several joints at once, in place of those it has.

        Each is a mapping with the keys of a [[drives]] table, as {"name": "motor6", "joints":
        {"joint5": 1.0, "joint6": 1.0}, "rotor_inertia": 1e-5, "gear_ratio": 32.0, "viscous": 0.1};
        what they need is added to what the joints have of their own.
        """
        model = edit.noted(self.model, "other drives")
        return self._other(replace(model, drives=drives_from_keys(drives)))

    def with_springs(self, springs: Sequence[Mapping[str, Any] | Spring]) -> Self:
        """The robot with springs between its links, in place of those it has.

        Each is a mapping with the keys of a [[springs]] table, as {"name": "balance", "link":
        "link2", "point": [0.1, 0.0, 0.0], "other": "base", "anchor": [0.0, 0.0, 0.5], "stiffness":
        900.0, "free_length": 0.1}, or one of those that `spring_balance` finds. What they need is
        in `gravity_vector` and `potential_energy`, and so in every torque.
        """
        return self._other(with_springs(edit.noted(self.model, "other springs"), springs))

    def optimized(self, effort: str = "deep") -> Self:
        """The robot whose programs are looked for harder.

        With "deep" each search takes minutes, when a quantity is first asked for; what it finds is
        kept on disk for all robots with the same zeros. "default" takes tenths of a second.
        """
        return type(self)(self.model, cache=self.cache, search_effort=effort)

    def dh_table(self, convention: Convention = "standard", link: str = "tool") -> DhTable:
        """The Denavit-Hartenberg table of the joints that carry the tool or a link.

        "standard" (Paul) or "modified" (Craig), whatever the robot was described in. The product of
        its base, rows and tool is `forward_kinematics`; `as_rows()` is for `from_dh`.
        """
        with IMPORTING:
            from armdyn.shorten.canonical.dh_table import dh_table  # noqa: PLC0415 (seldom needed)

        return dh_table(self.model, convention, link)

    def plot(self, q: ArrayLike | None = None, path: str | Path | None = None) -> Any:
        """The arm at q, (n,), as a picture: a matplotlib figure, or a .png, .pdf or .svg file.

        None is the middle of the ranges of the joints.
        """
        with IMPORTING:
            from armdyn.report.figures import save_picture, styled_figure  # noqa: PLC0415 (an extra)
            from armdyn.report.portrait import draw_portrait  # noqa: PLC0415

        if path is None:
            return styled_figure(draw_portrait, self.model, q)
        return save_picture(path, draw_portrait, self.model, q)

    def _repr_html_(self) -> str:
        """Joints, DH table and picture, in a notebook."""
        with IMPORTING:
            from armdyn.report.portrait import robot_html  # noqa: PLC0415

        return robot_html(self.model)

    def save(self, path: str | Path) -> None:
        """Write the robot as .toml or .urdf; the file appears whole or not at all."""
        save_model(self.model, path)

    # Kernels, functions of other libraries and source code

    def kernel(
        self,
        quantity: str,
        *,
        friction: bool = True,
        payload: bool = False,
        gravity: bool = False,
        base_motion: bool = False,
        wrench: str | Sequence[str] = (),
        wrench_frame: str = "world",
        link: str = "tool",
        frame: str = "world",
        formulation: Formulation | None = None,
        method: ForwardMethod | None = None,
        task: Sequence[Axis] = (),
        constraint: bool = False,
        base_wrench: bool = False,
        derivative: Literal["vjp", "jvp"] | None = None,
        dtype: DTypeLike = "float64",
    ) -> Callable[..., Array]:
        """A quantity as a bare compiled callable of vectors and `out`, for tight loops.

        It takes what NumPy takes, and fastest one state in vectors of its own type. Its `__self__`
        is an `armdyn.kernels.kernel.Kernel`, with `gufunc`, `signature` and `operations`.

        Args:
            quantity: One of `armdyn.quantities.program.QUANTITIES`, as "inverse_dynamics".
            friction: Whether joint friction is in torques.
            payload: Whether a payload is an argument: the ten numbers of `payload_vector`.
            gravity: Whether the field of gravity in world axes is an argument.
            base_motion: Whether the 18 numbers of `BaseMotion.vector` are an argument.
            wrench: Link or links for each of which the wrench of the environment is an argument.
            wrench_frame: Axes of these wrenches.
            link: Whose place or velocity is meant.
            frame: Axes of the rows of a Jacobian, of reactions or of the Cartesian form.
            formulation: How inverse dynamics is written; None: as short as can be.
            method: How forward dynamics is solved; None: by the fewest operations.
            task: Coordinates of the Cartesian form, as in `cartesian`; none: as there without any.
            constraint: As in `reactions`, and so is `base_wrench`.
            base_wrench: Whether the base has a row in the reactions.
            derivative: "vjp" for the product of weights of the entries with the Jacobian by all
                arguments, "jvp" for that of the Jacobian with directions of the arguments (see
                `armdyn.quantities.derivatives`); None: the quantity itself.
            dtype: "float64" or "float32".
        """
        options: dict[str, Any] = {
            **{"friction": friction, "payload": payload, "gravity": gravity, "task": task},
            **{"base_motion": base_motion, "wrench": wrench, "wrench_frame": wrench_frame},
            **{"link": link, "frame": frame, "formulation": formulation, "method": method},
            **{"constraint": constraint, "base_wrench": base_wrench},
            **{"derivative": derivative, "effort": self.search_effort},
        }
        request = request_of(quantity, **options)
        call: Callable[..., Array] = self._kernel(request, dtype).call
        return call

    def jax(
        self,
        quantity: str,
        *,
        program: bool = False,
        dtype: DTypeLike = "float64",
        **options: Unpack[KernelOptions],
    ) -> JaxFunction:
        """A quantity as a function for JAX, with derivatives of any order.

        Args:
            quantity: As in `kernel`, and so are the options: JAX asks for the products it needs.
            program: Whether the program runs in jax.numpy on the CPU, too, as it does on other
                devices.
            dtype: "float64", for which x64 must be enabled, or "float32".
        """
        with IMPORTING:
            from armdyn.export.library import bridge  # noqa: PLC0415

        kind: type[JaxFunction] = bridge("jax", "a function of JAX", "jax.function:JaxFunction")
        return kind(self._products(quantity, dtype, **options), program)

    def torch(
        self, quantity: str, *, dtype: DTypeLike = "float64", **options: Unpack[KernelOptions]
    ) -> Callable[..., Any]:
        """A quantity as an operator of PyTorch on tensors (..., n), with its derivatives.

        On the CPU it is the kernel, on other devices the program in torch. It works inside
        `torch.compile` and under `torch.func`. Quantity and options are as in `kernel`; tensors
        must be of the type `dtype`.
        """
        with IMPORTING:
            from armdyn.export.library import bridge  # noqa: PLC0415

        place = "torch.tensor_function:TorchFunction"
        kind: Callable[..., Callable[..., Any]] = bridge("torch", "an operator of PyTorch", place)
        return kind(self._products(quantity, dtype, **options))

    def casadi(
        self, quantity: str, *, name: str | None = None, **options: Unpack[KernelOptions]
    ) -> Any:
        """A quantity as a `casadi.Function` on SX symbols, from the program of its kernel.

        CasADi differentiates it exactly, evaluates it in its own way and writes it as C. It adds
        angles without regard to whole turns.

        Args:
            quantity: As in `kernel`, and so are the options.
            name: Of the function; None: that of the quantity.

        Returns:
            A function of column vectors by their names in the kernel ("q", "qd", ...). Its result
            is a column or a matrix; what has more axes is stacked row by row, as (2 n, n) for
            (2, n, n).
        """
        with IMPORTING:
            from armdyn.export.casadi import casadi_function  # noqa: PLC0415

        request = request_of(quantity, effort=self.search_effort, **options)
        return casadi_function(self.model, request, name)

    def export(
        self,
        directory: str | Path,
        language: Literal["c", "python"] = "c",
        target: str | None = None,
        **options: Unpack[ExportKeywords],
    ) -> Exported:
        """Write functions as "c" or "python"; options: `armdyn.export.options.ExportOptions`.

        With a target of `armdyn.export.export.TARGETS`, such as "cmake", C comes wrapped for it.
        """
        with IMPORTING:
            from armdyn.export.export import export  # noqa: PLC0415
            from armdyn.export.options import ExportOptions  # noqa: PLC0415

        settings = ExportOptions(**{"effort": self.search_effort, **options})  # type: ignore[arg-type]
        return export(self.model, directory, language, settings, target)


def check_robot(robot: object, floats: bool = False) -> Robot:
    """The robot itself, or that of a model; anything else is a ModelError.

    So is one whose base nothing holds, unless it may float.
    """
    robot = Robot(robot) if isinstance(robot, RobotModel) else robot
    if not isinstance(robot, Robot):
        raise ModelError(f"expected a Robot, got {shown(robot)}; load it first")
    if not floats:
        robot.model.check_held()
    return robot
