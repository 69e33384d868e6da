"""Time compiled rollouts of the Panda against MuJoCo's, on one thread in one process.

Both integrate the same arm from the same random states without torques, friction, contacts or
limits, and both return every state. MuJoCo is timed with its classical Runge-Kutta method and with
its default, semi-implicit Euler, which evaluates the dynamics once a step where the other two do so
four times. Times are those of the processor, which other programs lengthen least, and the shortest
of several rounds.
"""

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import process_time

import mujoco
import mujoco.rollout
import numpy as np

import armdyn
from armdyn.arrays import Array
from armdyn.kernels.threads import set_threads
from armdyn.model import FrictionLaw, Rotor
from armdyn.robot import Robot
from armdyn.simulation.fixed import rollout

STEP = 1e-3
"""Length of a step [s]."""
THEIR_ARMS = 20
"""Arms that MuJoCo rolls out in one run; the fastest run counts, which is in its favour."""


def main() -> None:
    """Check that both compute the same, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arms", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    set_threads(1)
    robot = _bare(armdyn.load("panda"))
    peer = MuJoCo(robot)
    rng = np.random.default_rng(0)
    q, qd = rng.uniform(-1.0, 1.0, (2, given.arms, robot.n))
    print(f"accelerations differ by {_acceleration_gap(robot, peer, q[:100], qd[:100]):.1e}")
    few = slice(THEIR_ARMS)
    ours = rollout(robot, q[few], qd[few], STEP, 100)
    theirs = peer.rollout("RK4", q[few], qd[few], 100)
    print(f"positions after 100 steps of RK4 differ by {np.abs(ours.q[:, 1:] - theirs).max():.1e}")
    best = dict.fromkeys(("armdyn RK4", "MuJoCo RK4", "MuJoCo Euler"), np.inf)
    runs: dict[str, tuple[Callable[[], object], int]] = {
        "armdyn RK4": (lambda: rollout(robot, q, qd, STEP, given.steps), given.arms),
        "MuJoCo RK4": (lambda: peer.rollout("RK4", q[few], qd[few], given.steps), THEIR_ARMS),
        "MuJoCo Euler": (lambda: peer.rollout("EULER", q[few], qd[few], given.steps), THEIR_ARMS),
    }
    for _ in range(given.rounds):
        for name, (run, arms) in runs.items():
            began = process_time()
            run()
            best[name] = min(best[name], (process_time() - began) / (arms * given.steps))
    for name, seconds in best.items():
        ratio = seconds / best["armdyn RK4"]
        print(f"{name:13} {1e9 * seconds:8.0f} ns/step  {1 / seconds:10.3g} steps/s  {ratio:6.1f}")


class MuJoCo:
    """The same arm in MuJoCo."""

    def __init__(self, robot: Robot):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "arm.urdf"
            robot.save(file)
            self.model = mujoco.MjModel.from_xml_path(str(file))
        self.model.opt.gravity[:] = robot.gravity
        self.model.opt.timestep = STEP
        for name in ("CONSTRAINT", "CONTACT", "LIMIT", "SENSOR", "ACTUATION"):
            self.model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))
        self.data = mujoco.MjData(self.model)

    def rollout(self, method: str, q: Array, qd: Array, steps: int) -> Array:
        """Positions after each step, (arms, steps, n)."""
        self.model.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{method}")
        start = np.concatenate([np.zeros((len(q), 1)), q, qd], -1)
        states, _ = mujoco.rollout.rollout(self.model, self.data, start, nstep=steps)
        return np.asarray(states)[:, :, 1 : 1 + q.shape[-1]]

    def acceleration(self, q: Array, qd: Array) -> Array:
        """Without torques, (n,)."""
        self.data.qpos[:], self.data.qvel[:] = q, qd
        mujoco.mj_forward(self.model, self.data)
        return np.array(self.data.qacc)


def _bare(robot: Robot) -> Robot:
    joints = tuple(replace(j, friction=FrictionLaw(), rotor=Rotor()) for j in robot.model.joints)
    return Robot(replace(robot.model, joints=joints))


def _acceleration_gap(robot: Robot, peer: MuJoCo, q: Array, qd: Array) -> float:
    ours = robot.forward_dynamics(q, qd, np.zeros(robot.n))
    theirs = np.array([peer.acceleration(*state) for state in zip(q, qd, strict=True)])
    return float(np.abs(ours - theirs).max() / np.abs(ours).max())


if __name__ == "__main__":
    main()
