"""Motors for a task: what a pick and place asks of the motors of a Puma, and a choice from a list.

python examples/06_motor_sizing.py
"""

from pathlib import Path

import armdyn

HERE = Path(__file__).parent
robot = armdyn.load("puma560").with_payload(2.0)

asked = armdyn.motors(robot, HERE / "puma560_pick.csv")
print(asked.report())
chosen = armdyn.size(robot, HERE / "puma560_pick.csv", HERE / "motors.toml")
print(chosen.report())
