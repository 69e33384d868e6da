"""Robot: the façade that people use.

Every method takes positions, velocities and accelerations of shape (..., n) with any leading batch
shape and returns fresh arrays. The equation of motion is

    M(q) q̈ + C(q, q̇) q̇ + g(q) + friction(q̇) = τ + Jᵀ w

where τ is what the actuators give, w the wrench of the environment on the arm, and M includes the
rotors. SI units, radians, six-vectors with the linear part first.

Each quantity is compiled when it is first asked for (see `armdyn.backends.kernel`) and kept on disk
for the next time; a formulation or method asked for by name is evaluated as it is written.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, broadcast, check_joint_vector
from armdyn.backends.compiled import Compiled
from armdyn.errors import UnknownNameError
from armdyn.formulations import slopes
from armdyn.formulations.base_parameters import BaseParameters, base_parameters
from armdyn.formulations.cartesian import (
    COORDINATES,
    Cartesian,
    cartesian,
    check_damping,
    check_rank,
    default_task,
    task_rows,
)
from armdyn.formulations.coriolis import ConfigurationSpace, configuration_space
from armdyn.formulations.coupling import Coordinates
from armdyn.formulations.external import Wrench, reactions
from armdyn.formulations.forward_dynamics import ForwardMethod, accelerations
from armdyn.formulations.ledger import Ledger
from armdyn.formulations.regressor import parameter_names, parameters
from armdyn.formulations.spatial import rotate
from armdyn.io.files import save_model
from armdyn.model import RobotModel, edit
from armdyn.model.validate import Physical, check_physical
from armdyn.quantities.formulations import FORMULATIONS


class Robot(Compiled):
    """A robot and its dynamics.

    Make one with `armdyn.load` or `armdyn.from_dh`; `model` is its data. A Robot never changes: the
    `with_` methods return another one.
    """

    def __init__(self, model: RobotModel):
        super().__init__(model)
        self._at = Coordinates.of(model)
        self._inverse: dict[bool, Callable[..., Array]] = {}

    def __repr__(self) -> str:
        kinds = "".join(joint.type.letter for joint in self.model.joints)
        return f"<Robot {self.name!r}, {self.n} joints, {kinds}>"

    def __reduce__(self) -> tuple[type["Robot"], tuple[RobotModel]]:
        return Robot, (self.model,)

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
        return tuple(self.model.joints[i].name for i in self.model.independent)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names that a wrench, a Jacobian or forward kinematics can refer to."""
        return self.model.frame_names

    @property
    def gravity(self) -> Array:
        """Field of gravity in world axes, pointing down, (3,) [m/s²]."""
        return self.model.gravity.copy()

    @property
    def limits(self) -> Array:
        """Lower and upper position of each joint, (n, 2) [rad or m]; infinite if unknown."""
        limits = [self.model.joints[i].limits for i in self.model.independent]
        return np.array([(limit.lower, limit.upper) for limit in limits])

    # torques and accelerations

    def inverse_dynamics(
        self,
        q: npt.ArrayLike,
        qd: npt.ArrayLike,
        qdd: npt.ArrayLike,
        external_wrench: Wrench | None = None,
        friction: bool = True,
        *,
        formulation: str | None = None,
        wrench_link: str = "tool",
        wrench_frame: str = "world",
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

        Returns:
            Torques and forces of the actuators, (..., n) [N m or N].
        """
        if external_wrench is None and formulation is None:
            call = self._inverse.get(friction)
            if call is None and getattr(q, "ndim", 1) == 1:
                call = self._inverse[friction] = self.kernel("inverse_dynamics", friction=friction)
            if call is not None:
                return call(q, qd, qdd)
        if formulation is None:
            wrenches, options = self._wrenches(external_wrench, wrench_link, wrench_frame)
            return self._run(
                "inverse_dynamics", q, qd, qdd, *wrenches, friction=friction, **options
            )
        wrench, (q, qd, qdd) = self._loaded(
            external_wrench, wrench_link, wrench_frame, q=q, qd=qd, qdd=qdd
        )
        links = self._formulate(formulation, q, qd, qdd, wrench).tau
        rotors = np.array([joint.rotor.reflected for joint in self.model.joints])
        tau = self._at.torques(links + rotors * self._at.rates(qdd))
        return tau + self.friction_torque(qd) if friction else tau

    def formulate(
        self,
        formulation: str,
        q: npt.ArrayLike,
        qd: npt.ArrayLike,
        qdd: npt.ArrayLike,
        external_wrench: Wrench | None = None,
        *,
        wrench_link: str = "tool",
        wrench_frame: str = "world",
    ) -> Any:
        """A formulation with its own quantities by name, to be looked at or printed.

        `robot.formulate("lagrange_euler", q, qd, qdd).U[1, 0]` is the book's U_21. The links alone:
        without friction and rotors, and over all moving joints.
        """
        wrench, (q, qd, qdd) = self._loaded(
            external_wrench, wrench_link, wrench_frame, q=q, qd=qd, qdd=qdd
        )
        return self._formulate(formulation, q, qd, qdd, wrench)

    def _formulate(self, name: str, q: Array, qd: Array, qdd: Array, wrench: Array | None) -> Any:
        if name not in FORMULATIONS:
            raise UnknownNameError("formulation", name, FORMULATIONS)
        at = self._at
        return FORMULATIONS[name](self.model, at.positions(q), at.rates(qd), at.rates(qdd), wrench)

    def forward_dynamics(
        self,
        q: npt.ArrayLike,
        qd: npt.ArrayLike,
        tau: npt.ArrayLike,
        external_wrench: Wrench | None = None,
        friction: bool = True,
        *,
        method: ForwardMethod | None = None,
        wrench_link: str = "tool",
        wrench_frame: str = "world",
    ) -> Array:
        """Joint accelerations that torques cause; arguments as in `inverse_dynamics`.

        Args:
            q: Joint positions, (..., n) [rad or m].
            qd: Joint velocities, (..., n).
            tau: Torques of the actuators, (..., n) [N m or N].
            external_wrench: Wrench of the environment on the arm.
            friction: Whether joint friction acts.
            method: "composite_body" (mass matrix and solution), "articulated_body" or "denoc",
                evaluated as it is written; None: the compiled form with the fewest operations.
            wrench_link: Where the wrench acts.
            wrench_frame: Axes of the wrench.

        Raises:
            SingularityError: The mass matrix cannot be inverted.
        """
        if method is None:
            wrenches, options = self._wrenches(external_wrench, wrench_link, wrench_frame)
            found = self._run(
                "forward_dynamics", q, qd, tau, *wrenches, friction=friction, **options
            )
            if not _fails(found, q, qd, tau, *wrenches):
                return found
        wrench, (q, qd, tau) = self._loaded(
            external_wrench, wrench_link, wrench_frame, q=q, qd=qd, tau=tau
        )
        if friction:
            tau = tau - self.friction_torque(qd)
        checked = accelerations(self.model, q, qd, tau, wrench, method or "composite_body")
        return checked if method else np.where(np.isfinite(found), found, checked)

    def friction_torque(self, qd: npt.ArrayLike) -> Array:
        """What the actuators must add to overcome friction, (..., n) [N m or N]; 0 at rest."""
        return self._run("friction_torque", qd)

    def ledger(
        self,
        q: npt.ArrayLike,
        qd: npt.ArrayLike,
        qdd: npt.ArrayLike,
        external_wrench: Wrench | None = None,
        *,
        wrench_link: str = "tool",
        wrench_frame: str = "world",
    ) -> Ledger:
        """The torque of `inverse_dynamics`, split into its terms; arguments as there."""
        wrenches, options = self._wrenches(external_wrench, wrench_link, wrench_frame)
        terms = self._run("ledger", q, qd, qdd, *wrenches, **options)
        return Ledger(*(terms[..., k, :] for k in range(len(Ledger.__slots__))))

    # the terms of the equation of motion

    def mass_matrix(self, q: npt.ArrayLike) -> Array:
        """M(q), rotors included, (..., n, n), symmetric and full."""
        return self._run("mass_matrix", q)

    def coriolis_matrix(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> Array:
        """C(q, q̇) of the Christoffel symbols, (..., n, n): dM/dt - 2C is skew."""
        return self._kernels.coriolis_matrix(q, qd)

    def coriolis_vector(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> Array:
        """C(q, q̇) q̇, (..., n)."""
        return self._run("coriolis_vector", q, qd)

    def gravity_vector(self, q: npt.ArrayLike) -> Array:
        """g(q), the torques that hold the arm, (..., n)."""
        return self._run("gravity_vector", q)

    def bias(self, q: npt.ArrayLike, qd: npt.ArrayLike, friction: bool = False) -> Array:
        """C(q, q̇) q̇ + g(q), and friction if asked, (..., n)."""
        return self._run("bias", q, qd, friction=friction)

    def christoffel(self, q: npt.ArrayLike) -> Array:
        """Christoffel symbols c_ijk with (C q̇)_i = Σ c_ijk q̇_j q̇_k, (..., n, n, n)."""
        return self._kernels.christoffel(q)

    def configuration_space(self, q: npt.ArrayLike) -> ConfigurationSpace:
        """M, B, C and G of τ = M q̈ + B [q̇_j q̇_k] + C [q̇²] + G."""
        return configuration_space(self.mass_matrix(q), self.christoffel(q), self.gravity_vector(q))

    def kinetic_energy(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> Array:
        """½ q̇ᵀ M q̇, rotors included, (...) [J]."""
        return self._run("kinetic_energy", q, qd)

    def potential_energy(self, q: npt.ArrayLike) -> Array:
        """Energy of the links in the field of gravity, zero at the world origin, (...) [J]."""
        return self._run("potential_energy", q)

    # derivatives

    def inverse_dynamics_derivatives(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, *, friction: bool = True
    ) -> slopes.TorqueSlopes:
        """∂τ/∂q, ∂τ/∂q̇ and ∂τ/∂q̈ = M, each (..., n, n): .dq .dqd .dqdd.

        With `friction`, .dqd has the slope of the friction curve, 0 for a true sign.
        """
        both = self._kernels.torque_derivatives(q, qd, qdd, friction=friction)
        mass = np.empty(both.shape[:-3] + both.shape[-2:])
        mass[...] = self.mass_matrix(q)
        return slopes.TorqueSlopes(both[..., 0, :, :], both[..., 1, :, :], mass)

    def forward_dynamics_derivatives(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike, *, friction: bool = True
    ) -> slopes.AccelerationSlopes:
        """∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ = M⁻¹, each (..., n, n): .dq .dqd .dtau.

        Raises:
            SingularityError: The mass matrix cannot be inverted.
        """
        if self._kernels.solves_derivatives:
            all_three = self._run("forward_dynamics_derivatives", q, qd, tau, friction=friction)
            if not _fails(all_three, q, qd, tau):
                return slopes.AccelerationSlopes(*(all_three[..., k, :, :] for k in range(3)))
        qdd = self.forward_dynamics(q, qd, tau, friction=friction)
        torques = self.inverse_dynamics_derivatives(q, qd, qdd, friction=friction)
        return slopes.acceleration_slopes(torques)

    # inertial parameters

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the ten inertial parameters of every link, as "link1.mcx"."""
        return parameter_names(self.model)

    @property
    def parameters(self) -> Array:
        """The inertial parameters π, (10 N,): m, m c, and I about the origin of each link."""
        return parameters(self.model)

    def regressor(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike) -> Array:
        """Y with τ = Y π, (..., n, 10 N), for the links: friction and rotors are not in it."""
        return self._kernels.regressor(q, qd, qdd)

    def base_parameters(self) -> BaseParameters:
        """The fewest combinations of inertial parameters that the torques depend on."""
        return self._base_parameters

    def base_regressor(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike) -> Array:
        """Y_b with τ = Y_b π_b for the links, (..., n, rank); π_b as in `base_parameters`."""
        return self._kernels.base_regressor(q, qd, qdd, self._base_parameters.columns)

    @cached_property
    def _base_parameters(self) -> BaseParameters:
        return base_parameters(self.model)

    # kinematics and the Cartesian form

    def forward_kinematics(self, q: npt.ArrayLike, link: str = "tool") -> Array:
        """The tool, or a named link, in the world frame in which the base stands, (..., 4, 4)."""
        return self._run("forward_kinematics", q, link=link)

    def jacobian(self, q: npt.ArrayLike, frame: str = "world", link: str = "tool") -> Array:
        """Geometric Jacobian of the tool or a link, (..., 6, n), linear rows first.

        Args:
            q: Joint positions, (..., n).
            frame: Axes of the rows: "world", "tool" or the name of a link.
            link: Whose origin moves.
        """
        return self._run("jacobian", q, link=link, frame=frame)

    def jacobian_dot(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, frame: str = "world", link: str = "tool"
    ) -> Array:
        """Time derivative of the entries of `jacobian`, (..., 6, n).

        In moving axes (frame="tool") J̇ q̇ is therefore not an acceleration but the rate of the
        velocity components.
        """
        return self._run("jacobian_dot", q, qd, link=link, frame=frame)

    def cartesian(
        self,
        q: npt.ArrayLike,
        qd: npt.ArrayLike,
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
        q, qd = self._states(q=q, qd=qd)
        check_damping(damping)
        rows = default_task(self.model) if task is None else task_rows(task)
        J = self.jacobian(q, frame)[..., rows, :]
        Jd_qd = rotate(self.jacobian_dot(q, qd, frame)[..., rows, :], qd)
        names = tuple(COORDINATES[i] for i in rows)
        if not damping:
            check_rank(J, names)
        terms = (self.mass_matrix(q), self.coriolis_vector(q, qd), self.gravity_vector(q))
        return Cartesian(*cartesian(*terms, J, Jd_qd, damping), task=names)

    # other robots

    def with_payload(
        self,
        mass: float,
        com: npt.ArrayLike = (0, 0, 0),
        inertia: npt.ArrayLike | None = None,
        *,
        physical: Physical = "error",
    ) -> "Robot":
        """The robot holding a body: mass [kg], centre of mass in the tool frame [m], tensor."""
        return Robot(check_physical(edit.with_payload(self.model, mass, com, inertia), physical))

    def without_payload(self) -> "Robot":
        """The robot with everything it holds put down."""
        return Robot(edit.without_payload(self.model))

    def with_gravity(self, gravity: npt.ArrayLike) -> "Robot":
        """The robot in another field of gravity, world axes, pointing down [m/s²]."""
        return Robot(edit.with_gravity(self.model, gravity))

    def with_tool(self, tool: npt.ArrayLike | None) -> "Robot":
        """The robot with another tool frame: a 4x4 transform in the flange frame."""
        return Robot(edit.with_tool(self.model, tool))

    def with_base(self, base: npt.ArrayLike | None) -> "Robot":
        """The robot mounted elsewhere: a 4x4 transform of the base in the world."""
        return Robot(edit.with_base(self.model, base))

    def with_locked(self, joints: Mapping[str, float]) -> "Robot":
        """The robot with joints held at values [rad or m]."""
        return Robot(edit.lock(self.model, joints))

    def save(self, path: str | Path) -> None:
        """Write the robot as .toml or .urdf; the file appears whole or not at all."""
        save_model(self.model, path)

    # requests

    def _states(self, **vectors: npt.ArrayLike) -> tuple[Array, ...]:
        return broadcast(**{k: check_joint_vector(k, v, self.n) for k, v in vectors.items()})

    def _loaded(
        self, external: Wrench | None, link: str, axes: str, **vectors: npt.ArrayLike
    ) -> tuple[Array | None, list[Array]]:
        return reactions(
            self.model,
            external,
            link,
            axes,
            dict(zip(vectors, self._states(**vectors), strict=True)),
        )


def _fails(result: Array, *given: npt.ArrayLike) -> bool:
    """Whether finite states gave something that is not, as a singular mass matrix does."""
    if np.isfinite(result.sum()):
        return False
    states = [np.isfinite(np.asarray(vector, dtype=float)).all(-1) for vector in given]
    finite = np.logical_and.reduce(np.broadcast_arrays(*states))
    entries = tuple(range(finite.ndim, result.ndim))
    return bool((finite & ~np.isfinite(result).all(entries)).any())
