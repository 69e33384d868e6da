"""Positions of all joints, of robots with loops too."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import Array, check_joint_vector, lost
from armdyn.facade.core import RobotCore
from armdyn.formulations.loops.closure import closure_of
from armdyn.formulations.loops.coordinates import LoopCoordinates
from armdyn.formulations.loops.follower import from_root, only_turns
from armdyn.formulations.loops.rows import largest_residuals
from armdyn.formulations.loops.singularity import explained
from armdyn.model.cut_joints.coupling import polynomial


class RobotLoops(RobotCore):
    """A robot whose joints may follow from others."""

    @property
    def assembly(self) -> Array:
        """Positions of all joints of one assembled configuration, (N,) [rad or m].

        It says in which of its ways a robot with loops is assembled.
        """
        if self.model.loops:
            return closure_of(self.model).assembly.copy()
        return np.array(self._at.positions(np.zeros(self.n)))

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
        given = check_joint_vector("q", q, self.n)
        found = self._positions(given)
        if isinstance(self._at, LoopCoordinates):
            if lost(found, given):
                explained(self._at, given)
            turns = [i for i in self.model.passive if self.model.joints[i].type.turns]
            near = self.assembly[turns]
            found[..., turns] = near + np.remainder(found[..., turns] - near + np.pi, 2 * np.pi)
            found[..., turns] -= np.pi
            for loop in (from_root(self.model, x) for x in self.model.loops if x.couples):
                leading = found[..., loop.link_b]
                found[..., loop.link_a] = polynomial(loop.coefficients, leading)
        return found

    def loop_residuals(self, q: ArrayLike) -> Array:
        """What the rows of each loop miss at most, (..., loops) [m, or the sine of an angle].

        That is rounding; where a loop cannot be closed it is not a number.
        """
        full = self._positions(check_joint_vector("q", q, self.n))
        return largest_residuals(self.model, full)

    def _positions(self, q: Array) -> Array:
        """Positions of all joints, not a number where a loop cannot be closed, (..., N)."""
        if not isinstance(self._at, LoopCoordinates) or self._at.closure.iteration is None:
            return np.array(self._at.positions(q))
        pairs = self._table.passive(q).reshape(*q.shape[:-1], -1, 2)
        found = np.empty((*q.shape[:-1], len(self.model.joints)))
        found[..., list(self.model.independent)] = q
        for k, i in enumerate(self.model.passive):
            turns, (c, s) = only_turns(self.model.joints[i]), np.moveaxis(pairs[..., k, :], -1, 0)
            found[..., i] = np.arctan2(s, c) if turns else c
        return found
