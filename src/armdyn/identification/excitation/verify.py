"""The motion that was found, looked at between its samples and made smaller where it must be."""

from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import ExcitationError
from armdyn.identification.excitation.clearance import Clearance
from armdyn.identification.excitation.limits import MotionLimits
from armdyn.identification.excitation.problem import Problem
from armdyn.simulation.protocols import Motion
from armdyn.simulation.trajectories.periodic import Fourier

FINER, FINER_DISTANCES = 20, 4
"""Instants between two samples at which limits are verified, and at which distances are."""
SHRINKING = 0.98
"""A motion that passes a limit is made smaller by this factor, about its start."""
MOST_SHRINKING = 200


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """One period at many instants."""

    t: Array
    """(m,) [s]."""
    motion: Motion
    tau: Array
    """Torques of the model, friction included, (m, n) [N m or N]."""


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """A motion that keeps its limits at every instant that was looked at."""

    trajectory: Fourier
    samples: Motion
    """At the samples of the search, each (m, n)."""
    dense: Dense
    distances: tuple[Array, Array] | None
    """Times (k,) [s] and the least distance at each (k,) [m]."""


def settled(
    problem: Problem, limits: MotionLimits, near: Clearance | None, z: Array, duration: float
) -> Design:
    """The motion of variables z, smaller about its start if it passes a limit between samples."""
    x, basis = problem.coefficients(z), problem.basis
    m = len(problem.grid.q)
    step = 1 / (m * basis.frequency)
    t = np.arange(FINER * m + 1) * (step / FINER)
    instants = np.arange(FINER_DISTANCES * m + 1) * (step / FINER_DISTANCES)
    dense, sparse = basis.at(t), basis.at(instants).q
    for _ in range(MOST_SHRINKING):
        motion = Motion(*(phi @ x for phi in dense))
        tau = problem.robot.inverse_dynamics(*motion)
        shares = limits.shares(*motion, tau)
        kept = max(float(share.max()) for share in shares.values()) <= 1
        distances = None if near is None or not kept else near.distances(sparse @ x)
        if kept and (near is None or distances is None or distances.min() >= near.least):
            return Design(
                basis.trajectory(x, duration),
                Motion(*(phi @ x for phi in problem.grid)),
                Dense(t, motion, tau),
                None if distances is None else (instants, distances),
            )
        x = np.vstack([x[:1], SHRINKING * x[1:]])
    raise ExcitationError(
        f"the motion of {problem.robot.name!r} passes a limit however small it is: it starts at one"
    )
