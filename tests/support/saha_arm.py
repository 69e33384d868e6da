"""The three-link arm of Saha, Shirinzadeh and Alici, with links as asked for."""

import numpy as np

import armdyn

HALF = np.pi / 2
LENGTHS, MASSES = (0.2, 0.5, 0.4), (4.0, 3.0, 2.0)
SAHA_STATE = tuple(map(np.array, ([0.4, 0.3, -0.8], [0.7, -0.5, 1.1], [0.2, 1.3, -0.6])))
NOMINAL = (0.03, 0.02, 0.03), (0.004, 0.065, 0.064), (0.002, 0.03, 0.029)
"""Principal inertias of the links as drawn in the paper."""
SPREAD = 3 / 9 + 2 * 0.25
"""m2 d2² + m3 a2² of the constant arm, by which I2xx exceeds I2yy."""
CONSTANT = NOMINAL[0], (0.05 + SPREAD, 0.05, 0.05 + SPREAD), (0.03, 0.03, 0.02)


def saha_arm(d, inertias, masses=MASSES):
    """The arm with centres of mass at distances d from the joints, and principal inertias."""
    rows = [
        dict(joint="revolute", a=LENGTHS[k], alpha=HALF if k == 0 else 0.0, d=0.3 if k == 0 else 0,
             mass=masses[k], com=(d[k] - LENGTHS[k], 0, 0), inertia=np.diag(inertias[k]))
        for k in range(3)
    ]  # fmt: skip
    return armdyn.from_dh(rows, name="Saha's arm")


def constant_saha_arm():
    """The arm with links that make its mass matrix constant."""
    return saha_arm((0.1, -1 / 3, 0.0), CONSTANT)
