"""A free-flying Panda catches a box that drifts past, and keeps hold of it while its base floats.

python examples/16_space_arm.py
"""

import numpy as np
from scipy.interpolate import BPoly

import armdyn
from armdyn import BaseState, Inertia
from armdyn.simulation import OperationalSpace, ToolMotion

bus = Inertia.box((0.6, 0.6, 0.5), mass=60.0).moved((0, 0, -0.25))  # below the arm
robot = armdyn.load("panda").with_link("link0", bus).with_gravity([0, 0, 0])
start = np.array([0.0, -0.6, 0.0, -2.2, 0.0, 1.8, 0.0])
hand = robot.free_base.forward_kinematics(BaseState(), start)

mass, size, drift = 4.0, 0.25, np.array([-0.06, 0.08, 0.02])  # the box [kg, m, m/s]
meeting, time = hand[:3, 3] + [0.12, 0.1, -0.1], 3.0  # where and when they meet [m, s]
holds = robot.with_payload(mass, (0, 0, size / 2), mass * size**2 / 6 * np.eye(3))
together = mass / holds.free_base.total_mass * drift  # of the centre of mass of both


def line(points, speeds):
    """The hand between two points in the world, its attitude kept, with the speeds at both."""
    rest = np.zeros(3)
    ends = [[point, speed, rest] for point, speed in zip(points, speeds, strict=True)]
    way = BPoly.from_derivatives([0, time], ends)

    def motion(t):
        pose = hand.copy()
        pose[:3, 3] = way(t)
        return ToolMotion(pose, np.r_[way(t, 1), rest], np.r_[way(t, 2), rest])

    return motion


def move(robot, q, qd, base, way):
    """What base and joints do while the hand follows, and the largest distance from its way [m]."""
    law = OperationalSpace(robot, way)
    run = armdyn.simulate(
        robot, q, qd, time, base=base, controller=law, friction=False, method="rk4", step=0.01
    )
    wanted = np.array([way(t).pose[:3, 3] for t in run.t])
    return run, np.linalg.norm(wanted - run.hand.position, axis=1).max()


reach = line((hand[:3, 3], meeting), (np.zeros(3), drift))
before, error = move(robot, start, np.zeros(7), BaseState(), reach)
base, q, qd = before.base_state[-1], before.q[-1], before.qd[-1]
print(f"on its way to the box the hand is never off by more than {1e3 * error:.0e} mm")

slow = line((meeting, meeting + time / 2 * (drift + together)), (drift, together))
after, error = move(holds, q, qd, base, slow)
print(f"with the box in it, by {1e3 * error:.0e} mm")

momentum = holds.free_base.centroidal_momentum(after.base_state, after.q, after.qd)
box = before.hand.pose[-1] @ [0, 0, size / 2, 1]
arm = box[:3] - holds.free_base.center_of_mass(base, q)
brought = np.r_[mass * drift, np.cross(arm, mass * drift)]
print("momentum is that of the box:", np.abs(momentum - brought).max() < 1e-7)
for words, run in (("catch", before), ("end", after)):
    R = run.base_state.rotation[-1]
    angle = np.degrees(np.arccos((np.trace(R) - 1) / 2))
    print(f"at the {words} the base is turned by {angle:.1f} degrees")
assert error < 1e-6
