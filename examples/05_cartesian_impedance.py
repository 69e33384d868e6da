"""Cartesian impedance: a Panda's hand is a spring, and a push of 20 N moves it by 20 N / k.

python examples/05_cartesian_impedance.py
"""

import numpy as np

import armdyn
from armdyn.simulation import CartesianImpedance

robot = armdyn.load("panda")
rest = np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.7, 0.8])
pose = robot.forward_kinematics(rest)
stiffness = [800.0, 800.0, 800.0, 40.0, 40.0, 40.0]
damping = [90.0, 90.0, 90.0, 6.0, 6.0, 6.0]

hold = CartesianImpedance(robot, pose, stiffness, damping)
push = np.array([20.0, 0, 0, 0, 0, 0])  # N, by the environment on the arm, along world x
run = armdyn.simulate(robot, rest, duration=3.0, controller=hold, external_wrench=push)
moved = run.hand.position[-1] - pose[:3, 3]
print("the hand moved by", *(f"{1000 * x:.2f}" for x in moved), "mm")
assert abs(moved[0] - 20.0 / 800.0) < 1e-3
