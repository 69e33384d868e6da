"""A closed loop: a five-bar arm moves by its two motors, and the other joints follow.

python examples/11_five_bar.py
"""

import numpy as np

import armdyn

robot = armdyn.load("five_bar")
print(f"{robot.n} motors turn {len(robot.model.joints)} joints of the tree, closed by",
      f"{len(robot.model.loops)} loop")  # fmt: skip

q = np.array(robot.start)
qd, qdd = np.array([0.6, -0.4]), np.array([1.0, 2.0])
print("all joints:", *(f"{x:.3f}" for x in robot.all_joints(q)), "rad")
print("torques:", *(f"{x:.3f}" for x in robot.inverse_dynamics(q, qd, qdd)), "N m")
print("mass matrix:", *(f"{x:.4f}" for x in robot.mass_matrix(q).flat), "kg m²")

# the loop does no work: the power of the motors is the rate of energy
e = 1e-5
states = [(q + s * e * qd + 0.5 * e**2 * qdd, qd + s * e * qdd) for s in (1, -1)]
energies = [robot.kinetic_energy(*x) + robot.potential_energy(x[0]) for x in states]
power = robot.inverse_dynamics(q, qd, qdd, friction=False) @ qd
rate = (energies[0] - energies[1]) / (2 * e)
print(f"power of the motors {power:.6f} W, rate of energy {rate:.6f} W")
assert abs(power - rate) < 1e-5 * max(1.0, abs(power))
