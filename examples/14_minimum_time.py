"""The fastest move of a two-link arm within its torques, by CasADi and IPOPT.

python examples/14_minimum_time.py
"""

import casadi as ca
import numpy as np

import armdyn

robot = armdyn.load("two_link")
torque = robot.casadi("inverse_dynamics")
limit, steps = np.array([40.0, 12.0]), 30
start, end = np.array([-np.pi / 2, 0.0]), np.array([0.2, 0.4])

opti = ca.Opti()
q, qd, qdd = (opti.variable(2, steps + 1) for _ in range(3))
T = opti.variable()
h = T / steps
opti.minimize(T)
mean = (qdd[:, 1:] + qdd[:, :-1]) / 2  # accelerations are linear between the nodes
third = (2 * qdd[:, :-1] + qdd[:, 1:]) / 6
opti.subject_to(qd[:, 1:] == qd[:, :-1] + h * mean)
opti.subject_to(q[:, 1:] == q[:, :-1] + h * qd[:, :-1] + h**2 * third)
opti.subject_to(opti.bounded(-limit, torque.map(steps + 1)(q, qd, qdd), limit))
opti.subject_to([q[:, 0] == start, q[:, -1] == end, qd[:, 0] == 0, qd[:, -1] == 0, T > 0.05])
opti.set_initial(q, np.linspace(start, end, steps + 1).T)
opti.set_initial(T, 1.5)
opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
found = opti.solve()

tau = robot.inverse_dynamics(*(found.value(x).T for x in (q, qd, qdd)))
used = np.abs(tau).max(0) / limit
print(f"{found.value(T):.3f} s, with {used[0]:.0%} and {used[1]:.0%} of the torques")
assert used.max() < 1.001
