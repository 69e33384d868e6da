"""Many states: the largest torque of each joint of a Puma over a grid, without storing a state.

Give the number of states as an argument: a billion takes a minute or so.

    python examples/12_billion_states.py 1e9
"""

import sys

import armdyn

robot = armdyn.load("puma560")
wanted = float(sys.argv[1]) if len(sys.argv) > 1 else 1e5
a_joint = max(2, round((wanted / 9) ** (1 / 5)))  # joint 1 turns about the vertical: no gravity
grid = armdyn.Grid(q2=(-3.9, 0.8, a_joint), q3=(-0.9, 4.0, a_joint), q4=(-1.9, 3.0, a_joint),
                   q5=(-1.7, 1.7, a_joint), qd2=(-2.0, 2.0, 3), qdd2=(-5.0, 5.0, 3),
                   qd1=(-2.0, 2.0, a_joint))  # fmt: skip
found = armdyn.sweep(robot, "inverse_dynamics", grid, reduce="extremes")
print(f"{found.count:,} states")
for name, worst in zip(robot.joint_names, found.extremes.worst, strict=True):
    print(f"{name}: {worst:8.2f} N m")
