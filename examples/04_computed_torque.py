"""Computed torque beside PD with gravity: a UR5e follows a fast move.

python examples/04_computed_torque.py
"""

import numpy as np

import armdyn
from armdyn.simulation import ComputedTorque, GravityPD, quintic

robot = armdyn.load("ur5e")
start = np.array([0.0, -1.5, 1.2, -1.0, -1.5, 0.0])
turn = np.array([0.8, 0.5, -0.6, 0.4, 0.3, 0.5])
move = quintic(start, start + turn, duration=0.6)

stiffness = [800.0, 800.0, 400.0, 40.0, 40.0, 10.0]  # N m/rad
errors = {}
for name, controller in (
    ("PD with gravity", GravityPD(robot, move, kp=stiffness, kd=[k / 10 for k in stiffness])),
    ("computed torque", ComputedTorque(robot, move, kp=400.0, kd=40.0)),
):
    run = armdyn.simulate(robot, start, duration=0.6, controller=controller)
    errors[name] = np.abs(run.q - move(run.t).q).max()
    print(f"{name}: largest error {np.degrees(errors[name]):.2e} degrees")
assert errors["computed torque"] < 1e-3 * errors["PD with gravity"]
