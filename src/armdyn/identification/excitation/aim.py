"""What a motion shall show: the parameters that are to be found, and their columns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array, check_names
from armdyn.errors import ExcitationError, UnknownNameError
from armdyn.formulations.base_parameters import independent_columns
from armdyn.kernels.kernel import Kernel
from armdyn.loops.coordinates import coordinates_of
from armdyn.quantities.request import Request
from armdyn.robot import Robot
from armdyn.thresholds import MOST_EXCITED

SETS = {"links": "link_base_regressor", "all": "base_regressor"}
"""Parameters by name, and the quantity whose columns belong to them: those of the links, and those
of links, rotors and friction together."""


@dataclass(frozen=True, slots=True, eq=False)
class Aim:
    """Base parameters, with their columns of a regressor and how these change with a motion."""

    names: tuple[str, ...]
    """What each is named after, as in `BaseParameters.names`."""
    words: str
    """What they are, for reports."""
    regressor: Kernel
    slopes: Kernel
    """The vector-Jacobian product of the regressor."""
    columns: Array | None = None
    """Which columns of the regressor count; None: all of them."""

    def matrix(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Y of these parameters, (m, n, r)."""
        Y = self.regressor(q, qd, qdd)
        return Y if self.columns is None else Y[..., self.columns]

    def pulled_back(self, q: Array, qd: Array, qdd: Array, weights: Array) -> Array:
        """The slope of Σ weights · Y by positions, velocities and accelerations, (m, 3, n)."""
        m, n = q.shape
        if self.columns is not None:
            some, weights = weights, np.zeros((m, n, self.regressor.shape[-1]))
            weights[..., self.columns] = some
        return self.slopes(q, qd, qdd, weights.reshape(m, -1)).reshape(m, 3, n)


def aim_at(robot: Robot, parameters: str | Sequence[str]) -> Aim:
    """The aim at "links", "all", or some parameters by name, or by links and joints.

    Raises:
        ExcitationError: The torques depend on none of them, or there are too many joints.
    """
    if robot.n > MOST_EXCITED.value:
        raise ExcitationError(
            f"robot {robot.name!r} has {robot.n} joints; motions are designed for at most "
            f"{MOST_EXCITED.value}. Hold some of them with with_locked (--lock), and design the "
            "others"
        )
    wanted = parameters if isinstance(parameters, str) else check_names("parameters", parameters)
    columns: Array | None = None
    if isinstance(wanted, str) and wanted in SETS:
        quantity = SETS[wanted]
        names = robot.base_parameters(links=wanted == "links").names
        words = "base parameters of the links" if wanted == "links" else "base parameters"
    else:
        wanted = (wanted,) if isinstance(wanted, str) else wanted
        every = [p.name for p in robot.parameter_table if p.linear]
        chosen = sorted({i for word in wanted for i in _named(robot, every, word)})
        columns = np.array(independent_columns(coordinates_of(robot.model), chosen), dtype=int)
        quantity, names = "regressor", tuple(every[i] for i in columns)
        words = f"parameters that {', '.join(wanted[:4])}{', ...' * (len(wanted) > 4)} have"
    if not names:
        raise ExcitationError(
            f"nothing to identify: the torques of {robot.name!r} depend on none of the {words}; "
            "choose others"
        )
    return Aim(names, words, *kernels_of(robot, quantity), columns)


def _named(robot: Robot, names: list[str], word: str) -> list[int]:
    """The places of a parameter, or of all that a link, a joint or a drive has."""
    found = [i for i, name in enumerate(names) if name == word or name.startswith(f"{word}.")]
    if not found:
        owners = dict.fromkeys(name.rpartition(".")[0] for name in names)
        known = (*SETS, *owners, *names)
        raise UnknownNameError(f"parameter of {robot.name!r} named", word, known)
    return found


def kernels_of(robot: Robot, quantity: str) -> tuple[Kernel, Kernel]:
    """A quantity for batches, and its vector-Jacobian product."""
    requests = (Request(quantity, derivative=product) for product in (None, "vjp"))
    own, slopes = (Kernel(robot.model, request, cache=robot.cache) for request in requests)
    return own, slopes
