"""The first torque: a Puma 560 in one state, each torque split into its terms.

python examples/01_first_torque.py
"""

import armdyn

robot = armdyn.load("puma560")  # or a .urdf, .xml (MJCF) or .toml file
q, qd, qdd = [0, 0.8, -2.2, 0, 0.5, 0], [1.0] * 6, [0.5] * 6

ledger = robot.ledger(q, qd, qdd)
print(f"{'':9}", *(f"{name:>8}" for name in robot.joint_names))
for name, torque in ledger.terms.items():
    if torque.any():
        print(f"{name:9}", *(f"{x:8.3f}" for x in torque))
print(f"{'total':9}", *(f"{x:8.3f}" for x in ledger.total), "N m")

largest = abs(ledger.total).argmax()
share = ledger.gravity[largest] / ledger.total[largest]
print(f"{robot.joint_names[largest]} needs most; gravity is {share:.0%} of it")
