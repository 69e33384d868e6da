"""Write puma560_pick.csv: a Puma 560 picks a part on its right and puts it down on its left.

Joint angles [rad] of the standard Denavit-Hartenberg table of Corke and Armstrong-Hélouvry, gripper
pointing down over the table. Between two poses every joint follows 10 s³ - 15 s⁴ + 6 s⁵, which
starts and ends at rest; the file holds positions only, so the rates are left to the reader of it.

    python examples/make_puma560_pick.py [FILE]
"""

import sys
from pathlib import Path

import numpy as np

RATE = 100  # samples a second

HOME = (0.0, 1.131, -3.562, 0.4, -0.9, 3.142)
OVER_PART = (-0.280, 0.571, -3.184, 0.0, -0.528, 2.861)
AT_PART = (-0.280, 0.027, -2.812, 0.0, -0.357, 2.861)
OVER_PLACE = (1.054, 0.589, -3.238, 0.0, -0.493, 4.195)
AT_PLACE = (1.054, 0.153, -2.969, 0.0, -0.325, 4.195)

MOVES = (  # where to, in how many seconds
    (HOME, 0.3),
    (OVER_PART, 1.2),
    (AT_PART, 0.7),
    (AT_PART, 0.3),
    (OVER_PART, 0.7),
    (OVER_PLACE, 1.5),
    (AT_PLACE, 0.7),
    (AT_PLACE, 0.3),
    (OVER_PLACE, 0.7),
    (HOME, 1.4),
    (HOME, 0.2),
)


def pick_and_place() -> tuple[np.ndarray, np.ndarray]:
    """Time (m,) [s] and joint angles (m, 6) [rad]."""
    pose, q = np.array(HOME), [np.array([HOME])]
    for goal, duration in MOVES:
        count = round(duration * RATE)
        s = np.arange(1, count + 1)[:, None] / count
        q.append(pose + (np.array(goal) - pose) * s**3 * (10 - 15 * s + 6 * s**2))
        pose = np.array(goal)
    angles = np.concatenate(q)
    return np.arange(len(angles)) / RATE, angles


def main() -> None:
    """Write the file."""
    default = Path(__file__).with_name("puma560_pick.csv")
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    t, q = pick_and_place()
    lines = [f"{ti:.2f}," + ",".join(f"{x:.9f}" for x in row) for ti, row in zip(t, q, strict=True)]
    path.write_text("t,q1,q2,q3,q4,q5,q6\n" + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
