"""Where links are and how they move."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import Array, check_joint_vector
from armdyn.errors import LoopError
from armdyn.facade.loops import RobotLoops
from armdyn.formulations.cartesian import default_task, task_rows
from armdyn.formulations.loops.coordinates import LoopCoordinates
from armdyn.formulations.loops.singularity import LoopSingularity
from armdyn.kinematics.inverse_kinematics import inverse_kinematics


class RobotKinematics(RobotLoops):
    """A robot and its kinematics."""

    def forward_kinematics(self, q: ArrayLike, link: str = "tool") -> Array:
        """The tool, or the frame that a link is named after, in the world, (..., 4, 4).

        Of a link that was given by standard DH this is the book's frame at its far end, and not the
        frame on its joint, in which formulations have forces and `model.links` have inertias.
        """
        return self._table.run("forward_kinematics", q, link=link)

    def link_frames(self, q: ArrayLike) -> Array:
        """The frames that the links are named after, in the world, (..., N, 4, 4).

        They turn rows of `reactions(..., frame="link")`, and not those of the frame on the joint.
        """
        return self._table.run("link_frames", q)

    def joint_frames(self, q: ArrayLike) -> Array:
        """The frames on the joints of the links, in the world, (..., N, 4, 4).

        They turn rows of `reactions(..., frame="joint")`, the vectors of `formulate` that are in
        axes of the frame on the joint, and the inertias of `model.links`.
        """
        return self._table.run("joint_frames", q)

    def link_jacobians(self, q: ArrayLike, frame: str = "world") -> Array:
        """Geometric Jacobians of these frames, (..., N, 6, n); `frame` as in `jacobian`."""
        return self._table.run("link_jacobians", q, frame=frame)

    def jacobian(self, q: ArrayLike, frame: str = "world", link: str = "tool") -> Array:
        """Geometric Jacobian of the tool or a link, (..., 6, n), linear rows first.

        Args:
            q: Joint positions, (..., n).
            frame: Axes of the rows: "world", "tool" or the name of a link.
            link: Whose origin moves.
        """
        return self._table.run("jacobian", q, link=link, frame=frame)

    def jacobian_dot(
        self, q: ArrayLike, qd: ArrayLike, frame: str = "world", link: str = "tool"
    ) -> Array:
        """Time derivative of the entries of `jacobian`, (..., 6, n).

        In moving axes (frame="tool") J̇ q̇ is therefore not an acceleration but the rate of the
        velocity components.
        """
        return self._table.run("jacobian_dot", q, qd, link=link, frame=frame)

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
        functions = partial(self.forward_kinematics, link=link), partial(self.jacobian, link=link)
        given = task, frame, most, tolerance, unreachable
        return inverse_kinematics(self.model, functions, T, q0, *given)

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
        return self._table.run("frame_motion", q, qd, qdd, link=link, frame=frame)

    def singularity(self, q: ArrayLike, link: str = "tool") -> LoopSingularity:
        """How far a robot with loops is from singular configurations of types 1 and 2."""
        given = check_joint_vector("q", q, self.n)
        if not isinstance(self._at, LoopCoordinates):
            raise LoopError(
                f"robot {self.name!r} has no loops whose passive joints could be undetermined"
            )
        type2 = self._at.at(given).type2
        type1 = np.zeros(given.shape[:-1])
        closed = (type2 > 0).all(-1)
        rows = task_rows(default_task(self.model))
        values = np.linalg.svd(self.jacobian(given[closed], link=link)[..., rows, :])[1]
        type1[closed] = values[..., -1] / values[..., 0]
        return LoopSingularity(type1, type2)
