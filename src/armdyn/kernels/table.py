"""The table of the kernels of one robot, each compiled when it is first asked for."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, broadcast, check_joint_vector, check_names, lost, real
from armdyn.errors import ModelError, ShapeError, shown
from armdyn.forks import cached_property
from armdyn.formulations.base_parameters import base_parameters
from armdyn.formulations.cartesian import (
    Cartesian,
    check_task,
    default_task,
    task_dynamics,
    task_rows,
)
from armdyn.formulations.coriolis import ConfigurationSpace, configuration_space
from armdyn.formulations.coupling import Coordinates
from armdyn.formulations.forward_dynamics import warn_of_condition
from armdyn.formulations.loops.closure import closure_of
from armdyn.formulations.loops.coordinates import LoopCoordinates
from armdyn.formulations.loops.singularity import explained
from armdyn.formulations.parameters import full_regressor
from armdyn.formulations.regressor import regressor
from armdyn.formulations.textbook_terms import TextbookTerms
from armdyn.kernels.cache import ObjectCache
from armdyn.kernels.kernel import Kernel, type_name
from armdyn.model import RobotModel
from armdyn.quantities.passive_joints import PASSIVE_JOINTS
from armdyn.quantities.quantity import WRENCH, noun_of
from armdyn.quantities.registry import QUANTITIES, checked
from armdyn.quantities.request import Request, request_of
from armdyn.quantities.traced_robot import wrench_name

LARGEST_DAMPING = 1e100
"""Damping of the Cartesian form whose square still is a number."""
WHOLE_DERIVATIVES = 12
"""Coordinates beyond which derivatives are taken direction by direction, by one shorter program."""
COMPILED_CARTESIAN = 24
"""Coordinates beyond which the Cartesian form is left to NumPy."""
COMPILED_JOINTS = 256
"""Coordinates beyond which a quantity is left to NumPy unless its kernel is asked for: the time to
compile it grows with them, and is about a tenth of a second each."""
COMPILED_MASS_ENTRIES = 1000
"""The same for the mass matrix, whose operations grow with the entries of its lower triangle."""
COMPILED_REGRESSOR = 24
"""Coordinates beyond which the regressor, with its ten columns a link, is left to NumPy."""


class KernelTable:
    """What a robot computes with."""

    def __init__(
        self,
        model: RobotModel,
        cache: ObjectCache | None,
        known: dict[Any, Callable[..., Array]],
        effort: str,
    ):
        self.model, self.cache, self.n = model, cache, len(model.independent)
        self.effort = effort
        self.known = known
        """Kernels by request and type; by quantity and options their callables for one state,
        and those that were only asked for batches."""

    def kernel(self, request: Request, dtype: npt.DTypeLike = "float64") -> Any:
        """The kernel of a request."""
        try:
            key = request, type_name(dtype)
            hash(key)
        except (TypeError, ValueError):
            raise ModelError(
                f"{shown(request.quantity)}: options are names, lists of names, True or False, and "
                f"a type of floats, got {shown(request)} and {shown(dtype)}"
            ) from None
        if key not in self.known:
            kernel = Kernel(self.model, request, dtype, self.cache)
            if request.quantity.startswith("forward_dynamics"):
                warn_of_condition(self.model)
            self.known[key] = kernel
        return self.known[key]

    def products(
        self, quantity: str, dtype: npt.DTypeLike, **options: Any
    ) -> Callable[[str | None], Kernel]:
        """The kernel of a quantity by None, and those of its products by "vjp" and "jvp"."""
        request = request_of(quantity, effort=self.effort, **options)
        checked(request, self.model)
        return lambda mode: self.kernel(replace(request, derivative=mode), dtype)

    def run(self, quantity: str, *arrays: npt.ArrayLike, **options: Any) -> Array:
        """A quantity for vectors in the order of its kernel."""
        key = (quantity, *options.items()) if options else quantity
        one = getattr(arrays[0], "ndim", 1) == 1  # else nothing is compiled for one state
        place = key if one else ("batches", key)
        try:
            call = self.known.get(key) or self.known.get(place)
        except TypeError:  # an option without a hash is refused by its kernel
            call = None
        if call is None:
            if self._is_long(quantity) and not options.get("base_motion"):
                return self._in_numpy(quantity, *arrays, **options)
            solved = self._is_solved_first(quantity)
            options |= {"solved": True} if solved else {}
            kernel = self.kernel(Request(quantity, effort=self.effort, **options))
            call = self._closed(quantity, kernel.call if one else kernel)
            self.known[place] = call
        return call(*arrays)

    def _closed(self, quantity: str, call: Callable[..., Array]) -> Callable[..., Array]:
        """A kernel that names the loop and the state where a robot with loops cannot be."""
        at, names = Coordinates.of(self.model), QUANTITIES[quantity].arguments
        if not isinstance(at, LoopCoordinates) or "q" not in names:
            return call
        place = names.index("q")
        if self._is_solved_first(quantity):
            call = self._after_solving(call, place)

        def run(*arrays: npt.ArrayLike) -> Array:
            if type(arrays[0]) is np.ndarray and arrays[0].ndim == 1:
                found = call(*arrays)
                if np.vdot(found, found) < np.inf:  # the quickest way to see that all are numbers
                    return found
            with np.errstate(invalid="ignore", divide="ignore"):
                found = call(*arrays)
            if lost(found, *arrays):
                explained(at, np.asarray(arrays[place], dtype=float))
            return found

        return run

    def _is_solved_first(self, quantity: str) -> bool:
        """Whether loops are solved by a kernel of their own, so that others are short."""
        if not self.model.loops or closure_of(self.model).iteration is None:
            return False
        return "q" in QUANTITIES[quantity].arguments

    def _after_solving(self, call: Callable[..., Array], place: int) -> Callable[..., Array]:
        """A kernel that is told of passive joints, as a function that is not."""
        return lambda *arrays: call(*arrays, self.passive(arrays[place]))

    def passive(self, q: npt.ArrayLike) -> Array:
        """Two numbers for each passive joint, in the order of `passive_joints`, (..., 2 P)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Array = self.kernel(Request(PASSIVE_JOINTS.name, effort=self.effort))(q)
        return found.reshape(*found.shape[:-2], -1)

    def _is_long(self, quantity: str) -> bool:
        """Whether a quantity takes long to compile and NumPy has it."""
        entries = self._mass_entries if quantity == "mass_matrix" else 0
        long = self.n > COMPILED_JOINTS or entries > COMPILED_MASS_ENTRIES
        return long and hasattr(TextbookTerms, quantity)

    @cached_property
    def _mass_entries(self) -> int:
        return sum(map(len, self.model.paths))

    def _in_numpy(self, quantity: str, *arrays: npt.ArrayLike, **options: Any) -> Array:
        """A quantity as a textbook writes it."""
        request = Request(quantity, **options)
        names = checked(request, self.model).arguments
        wrenches = {link: wrench_name(link) for link in request.wrench}
        sizes = dict.fromkeys(names, self.n) | dict.fromkeys(wrenches.values(), WRENCH.size or 0)
        given = {
            name: check_joint_vector(name, array, size, noun_of(name))
            for (name, size), array in zip(sizes.items(), arrays, strict=True)
        }
        given = dict(zip(given, broadcast(**given), strict=True))
        on = {link: given.pop(name) for link, name in wrenches.items()}
        how = request.friction, on, request.wrench_frame, request.link, request.frame
        found: Array = getattr(TextbookTerms(self.model, *how), quantity)(*given.values())
        return found

    @property
    def solves_derivatives(self) -> bool:
        """Whether the derivatives of forward dynamics are one kernel."""
        return self.n <= WHOLE_DERIVATIVES

    def coriolis_matrix(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> Array:
        """C(q, q̇), (..., n, n)."""
        if self.n <= WHOLE_DERIVATIVES:
            return self.run("coriolis_matrix", q, qd)
        slopes = self.torque_derivatives(q, qd, np.zeros(self.n), friction=False)
        return 0.5 * slopes[..., 1, :, :]

    def christoffel(self, q: npt.ArrayLike) -> Array:
        """Christoffel symbols, (..., n, n, n)."""
        if self.n <= WHOLE_DERIVATIVES:
            return self.run("christoffel", q)
        one_each = check_joint_vector("q", q, self.n)[..., None, :]
        # C_ij = Σ c_ijk q̇_k, so unit velocities give them one by one
        return np.moveaxis(self.coriolis_matrix(one_each, np.eye(self.n)), -3, -1)

    def configuration_space(self, q: npt.ArrayLike) -> ConfigurationSpace:
        """M, B, C and G of one configuration each."""
        if self.n > WHOLE_DERIVATIVES:
            M, G = self.run("mass_matrix", q), self.run("gravity_vector", q)
            return configuration_space(M, self.christoffel(q), G)
        terms, n = self.run("configuration_space", q), self.n
        M, B, C = terms[..., :n], terms[..., n : -n - 1], terms[..., -n - 1 : -1]
        return ConfigurationSpace(M, B, C, terms[..., -1])

    def cartesian(
        self, q: Array, qd: Array, frame: str, task: tuple[str, ...] | None, damping: float
    ) -> Cartesian:
        """M, V and G of the tool, for states of one batch shape.

        The kernel marks states in which the Jacobian may be singular; these are computed in NumPy,
        as all are with damping, or for many joints.
        """
        if not (0 <= real(damping) <= LARGEST_DAMPING):
            raise ShapeError(
                f"damping must be a number from 0 to {LARGEST_DAMPING:g}, got {shown(damping)}"
            )
        task = self._default_task if task is None else check_names("task", task)
        task_rows(task)
        batch = q[..., 0].size
        if damping or self.n > COMPILED_CARTESIAN:
            return self._task_dynamics(q, qd, frame, task, damping, batch)
        check_task(task, self.n)
        found = self.run("cartesian", q, qd, frame=frame, task=task)
        mark = found[..., :1, 0]
        if lost(mark, q, qd):
            states = ~np.isfinite(mark[..., 0])
            checked = self._task_dynamics(q[states], qd[states], frame, task, damping, batch)
            vectors = checked.V[..., None], checked.G[..., None]
            found[states] = np.concatenate([checked.M, *vectors], -1)
        return Cartesian(found[..., :-2], found[..., -2], found[..., -1], task)

    def _task_dynamics(
        self, q: Array, qd: Array, frame: str, task: tuple[str, ...], damping: float, batch: int
    ) -> Cartesian:
        J, Jd = self.run("jacobian", q, frame=frame), self.run("jacobian_dot", q, qd, frame=frame)
        M, V = self.run("mass_matrix", q), self.run("coriolis_vector", q, qd)
        terms = M, V, self.run("gravity_vector", q)
        return task_dynamics(qd, (J, Jd), terms, task, damping, batch)

    @cached_property
    def _default_task(self) -> tuple[str, ...]:
        return default_task(self.model)

    def torque_derivatives(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, *, friction: bool
    ) -> Array:
        """∂τ/∂q and ∂τ/∂q̇, (..., 2, n, n)."""
        if self.n <= WHOLE_DERIVATIVES:
            return self.run("inverse_dynamics_derivatives", q, qd, qdd, friction=friction)
        state = [check_joint_vector(k, v, self.n) for k, v in (("q", q), ("qd", qd), ("qdd", qdd))]
        along, unit = [v[..., None, :] for v in state], np.eye(self.n)
        found = self.run("inverse_dynamics_slope", *along, unit, unit, friction=friction)
        return np.ascontiguousarray(np.moveaxis(found, -3, -1))

    def regressor(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, links: bool
    ) -> Array:
        """Y, (..., n, p), or that of the links, (..., n, 10 N)."""
        if self.n <= COMPILED_REGRESSOR:
            return self.run("link_regressor" if links else "regressor", q, qd, qdd)
        given = {"q": q, "qd": qd, "qdd": qdd}
        checked = {k: check_joint_vector(k, v, self.n) for k, v in given.items()}
        at = Coordinates.of(self.model)
        position, *rates = broadcast(**checked)
        columns = regressor if links else full_regressor
        return at.rows(columns(self.model, at.positions(position), *map(at.rates, rates)))

    def base_regressor(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, links: bool
    ) -> Array:
        """Y_b: the columns of the regressor that base parameters have, (..., n, rank)."""
        if self.n <= COMPILED_REGRESSOR:
            return self.run("link_base_regressor" if links else "base_regressor", q, qd, qdd)
        columns = base_parameters(self.model, links).columns
        return self.regressor(q, qd, qdd, links)[..., list(columns)]
