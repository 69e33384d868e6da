"""Springs between points of two links."""

from dataclasses import dataclass

from armdyn.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class Spring:
    """A linear spring whose energy is ½ k (|p - a| - l)².

    Points are in the frames of their links, whose origins are on the joints. Springs are no part of
    a RobotModel: what they do is added to its dynamics.
    """

    link: int
    """Index of the link on which the point p is."""
    point: Array
    """p in the frame of that link, shape (3,) [m]."""
    other: int
    """Index of the link on which the anchor a is; -1 is the base."""
    anchor: Array
    """a in the frame of the other link, shape (3,) [m]."""
    stiffness: float
    """k [N/m]."""
    free_length: float = 0.0
    """l [m]; 0 is an ideal spring, as a wire over a pulley makes one."""
