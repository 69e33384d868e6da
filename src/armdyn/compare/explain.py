"""Which causes turn our torque into that of another library, up to rounding."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from armdyn.arrays import Array
from armdyn.compare.cause import Cause
from armdyn.compare.states import States
from armdyn.formulations.coupling import Coordinates
from armdyn.formulations.friction import friction_torque
from armdyn.formulations.newton_euler import newton_euler
from armdyn.model import RobotModel

JOINT_TOLERANCE = 1e-9
"""Largest difference that counts as rounding, relative to the terms of the joint's torque."""
ROBOT_TOLERANCE = 1e-12
"""The same relative to the largest torque of the robot."""
MOST_CAUSES = 6
"""The most causes that are combined."""
MENTIONED_REMAINDER = 0.5
"""Causes that explain a part are mentioned if at most this share of the difference remains."""

Choice = tuple[Cause, ...]


@dataclass(frozen=True)
class Explanation:
    """Which causes explain a difference."""

    choices: tuple[Choice, ...]
    """Each explains the whole difference with the fewest causes; empty if nothing does."""
    nearest: Choice
    """What comes closest, if nothing explains it."""
    residual: Array
    """What remains with the first of the choices, or with the nearest, (m, n)."""


class Explainer:
    """A robot at states, and its torques under the causes of differences.

    Args:
        model: The robot as it is in the file.
        names: The joints that are the coordinates, in the order in which they are given.
        states: Motions of the coordinates, (m, n).
        scale: The sum of the sizes of the terms of each torque, (m, n).
    """

    def __init__(self, model: RobotModel, names: Sequence[str], states: States, scale: Array):
        own = [model.joints[i].name for i in model.independent]
        self._model, self._at = model, Coordinates.of(model)
        self._back = [own.index(name) for name in names]
        self.states = states.ordered([names.index(name) for name in own]).of_all_joints(self._at)
        """Motions of all N moving joints, in the order of the file."""
        self._known: dict[tuple[str, Choice], Array] = {}
        largest = scale.max(axis=0)
        self.tolerance = JOINT_TOLERANCE * largest + ROBOT_TOLERANCE * largest.max()

    def coordinates(self, torque: Array) -> Array:
        """The torques of the coordinates, without those of the joints that follow them, (m, n)."""
        return torque[:, list(self._model.independent)][:, self._back]

    def torque(self, choice: Choice = ()) -> Array:
        """The torque with all these causes, (m, n)."""
        links = self._once(tuple(c for c in choice if c.rigid), self._of_links)
        torque = links + self._once(tuple(c for c in choice if not c.rigid), self._of_drives)
        if any(cause.uncouples for cause in choice):
            return self.coordinates(torque)
        return self._at.torques(torque)[:, self._back]

    def _once(self, choice: Choice, compute: Callable[[RobotModel, Choice], Array]) -> Array:
        key = compute.__name__, choice
        if key not in self._known:
            model = self._model
            for cause in choice:
                model = cause.edit(model)
            self._known[key] = compute(model, choice)
        return self._known[key]

    def _of_links(self, model: RobotModel, choice: Choice) -> Array:
        q = self.states.q
        for cause in choice:
            q = q if cause.signs is None else cause.signs * q
        return newton_euler(model, q, self.states.qd, self.states.qdd).tau

    def _of_drives(self, model: RobotModel, choice: Choice) -> Array:
        rotors = np.array([joint.rotor.reflected for joint in model.joints])
        torque = friction_torque(model, self.states.qd) + rotors * self.states.qdd
        own = (cause.adds for cause in choice if cause.adds is not None)
        return sum(own, torque)

    def equal(self, a: Array, b: Array) -> bool:
        """Whether two torques differ by rounding alone."""
        return bool((np.abs(a - b) <= self.tolerance).all())

    def explain(self, theirs: Array, causes: Sequence[Cause]) -> Explanation:
        """The fewest causes that give a torque (m, n), or the nearest ones."""
        ours = self.torque()
        felt = [cause for cause in causes if not self.equal(self.torque((cause,)), ours)]
        nearest: Choice = ()
        least = before = np.abs(theirs - ours).max()
        for count in range(MOST_CAUSES + 1):
            found = []
            for choice in _compatible(felt, count):
                left = np.abs(theirs - self.torque(choice))
                if (left <= self.tolerance).all():
                    found.append(choice)
                elif left.max() < min(least, MENTIONED_REMAINDER * before):
                    nearest, least = choice, left.max()
            if found:
                return Explanation(tuple(found), (), theirs - self.torque(found[0]))
        return Explanation((), nearest, theirs - self.torque(nearest))


def _compatible(causes: Sequence[Cause], count: int) -> Iterator[Choice]:
    """Sets of causes that do not decide about the same thing."""
    for choice in combinations(causes, count):
        slots = [slot for cause in choice for slot in cause.slots]
        if len(slots) == len(set(slots)):
            yield choice
