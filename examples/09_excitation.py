"""Excitation: a motion on which an arm shows its parameters, within its limits.

python examples/09_excitation.py
"""

import numpy as np

import armdyn

arm = armdyn.load("two_link")
limits = {"position": [(-2.0, 2.0), (-2.0, 2.0)], "speed": 2.0, "acceleration": 10.0}
found = armdyn.excite(arm, 10, **limits)
print(found.report())

t = np.linspace(0, 10, 2000)
q, qd, qdd = found.trajectory(t)
Y = arm.base_regressor(q, qd, qdd, links=True)
condition = np.linalg.cond(Y.reshape(-1, Y.shape[-1]))
print(f"condition number, computed anew from 2000 samples: {condition:.1f}")
assert np.abs(qd).max() <= 2.0
