"""Arms, motions and lists of motors for tests of drives."""

import numpy as np

from armdyn.io.csv.trajectory import SampledMotion


def swing(n: int, rows: int = 40) -> SampledMotion:
    """Sines of different frequencies at times that are not equidistant."""
    t = np.linspace(0.0, 3.0, rows) ** 1.3
    rate = np.linspace(1.0, 2.0, n)
    angle = t[:, None] * rate
    return SampledMotion(t, np.sin(angle), rate * np.cos(angle), -(rate**2) * np.sin(angle))


def bar(**more) -> dict:
    """A row of a DH table."""
    return dict(joint="revolute", mass=2.0, com=(0.3, 0, 0), inertia=(0.0, 0.1, 0.1)) | more


def motor(name: str = "M", scale: float = 1.0, **more) -> dict:
    """A motor of a list, all its numbers times a scale but for the speed."""
    numbers = dict(rotor_inertia=1e-5, rated_torque=0.2, peak_torque=0.6, mass=0.5)
    scaled = {key: scale * value for key, value in numbers.items()}
    return dict(name=name, **scaled) | dict(max_speed=500.0) | more
