"""The minimal formulation for any robot, with the frames it needs found once."""

from functools import lru_cache

from armdyn.arrays import Array
from armdyn.canonical.frames import CanonicalRobot, canonical
from armdyn.formulations.kinematics import world_frames, wrench_torques
from armdyn.minimal.torques import Minimal, minimal
from armdyn.model import RobotModel


def minimal_torques(
    model: RobotModel, q: Array, qd: Array, qdd: Array, wrench: Array | None = None
) -> Minimal:
    """Joint torques of a tree of links; arguments as in `newton_euler`."""
    tau = minimal(_canonical(model), q, qd, qdd).tau
    if wrench is not None:
        tau = tau + wrench_torques(model, world_frames(model, q), wrench)
    return Minimal(tau)


@lru_cache(maxsize=64)
def _canonical(model: RobotModel) -> CanonicalRobot:
    return canonical(model)
