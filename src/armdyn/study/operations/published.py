"""Operation counts of Table 3 of the literature, for a general arm of n revolute joints."""

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.graph.count import Operations
from armdyn.model.joint_types import REVOLUTE
from armdyn.shorten.canonical.frames import CanonicalLink, CanonicalRobot


@dataclass(frozen=True, slots=True)
class Published:
    """A printed formula for the numbers of multiplications and additions."""

    formula: str
    mul: str
    """Coefficients of the polynomial in n, the highest power first."""
    add: str

    def count(self, n: int) -> Operations:
        """The number of operations for n joints."""

        def value(coefficients: str) -> int:
            numbers = map(Fraction, coefficients.split())
            return int(reduce(lambda total, number: total * n + number, numbers))

        return Operations(value(self.mul), value(self.add))


SOURCE = "K. Fu, R. Gonzalez, C. Lee, Robotics, 1987, as Table 3 of Milićević, Golubović, Slavković"
PUBLISHED = {
    "lagrange_euler": Published(
        "128/3 n⁴ + 512/3 n³ + 739/3 n² + 160/3 n, 98/3 n⁴ + 781/6 n³ + 559/3 n² + 245/6 n",
        "128/3 512/3 739/3 160/3 0",
        "98/3 781/6 559/3 245/6 0",
    ),
    "newton_euler_link": Published("132 n, 111 n - 4", "132 0", "111 -4"),
    "dalembert": Published(
        "13/6 n³ + 105/2 n² + 268/3 n + 69, 4/3 n³ + 44 n² + 146/3 n + 45",
        "13/6 105/2 268/3 69",
        "4/3 44 146/3 45",
    ),
}
"""By formulation; the Lagrange-Euler formulas leave out gravity."""


def general_arm(n: int) -> CanonicalRobot:
    """An arm of n revolute joints without any zero in its geometry or its inertias."""
    rng = np.random.default_rng(n)

    def draw(*shape: int) -> Array:
        return frozen(rng.uniform(0.3, 0.9, size=shape))

    links = []
    for i in range(n):
        J = draw(3, 3)
        length, twist, offset = (0.0, 0.0, 0.0) if i == 0 else (float(draw()) for _ in range(3))
        links.append(
            CanonicalLink(
                f"joint{i + 1}",
                i - 1,
                type=REVOLUTE,
                alpha=twist,
                across=frozen([length, 0.0, 0.0]),
                theta=0.0,
                r=offset,
                J=frozen(J + J.T),
                u=draw(3),
                M=float(draw()),
                gravity=frozen([0.0, 0.0, -9.81] if i == 0 else np.zeros(3)),
            )
        )
    return CanonicalRobot("general arm", tuple(links))
