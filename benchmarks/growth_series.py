"""The growth of the cost of one method with the number of joints."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Series:
    """The growth of one method."""

    quantity: str
    method: str
    joints: list[int]
    operations: list[int]
    """Multiplications, additions and divisions as it is written; of the program for "minimal"."""
    timed: list[int]
    """Joints for which a compiled kernel was measured."""
    seconds: list[float]
    """Of one state, for these."""

    @property
    def exponent(self) -> float:
        """Of the operations, over the last three sizes."""
        return exponent(self.joints[-3:], self.operations[-3:])

    def data(self) -> dict[str, Any]:
        """The series as plain data."""
        return asdict(self) | {"exponent": self.exponent}


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The p of cost = c · sizeᵖ, by least squares in logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])
