"""Which causes turn our torque into that of another library, up to rounding."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from itertools import combinations

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.friction import friction_torque
from armdyn.formulations.newton_euler import newton_euler
from armdyn.formulations.rotors import rotor_torques
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import Body, Joint, Link, RobotModel
from armdyn.study.states import StateSet

JOINT_TOLERANCE = 1e-9
"""Largest difference that counts as rounding, relative to the terms of the joint's torque."""
ROBOT_TOLERANCE = 1e-12
"""The same relative to the largest torque of the robot."""
MOST_CAUSES = 6
"""The most causes that are combined."""
MENTIONED_REMAINDER = 0.5
"""Causes that explain a part are mentioned if at most this share of the difference remains."""

Edit = Callable[[RobotModel], RobotModel]


@dataclass(frozen=True, eq=False)
class Cause:
    """A reason for a difference: what another library makes of a robot, as a change to it."""

    name: str
    """A word or two, for programs."""
    text: str
    """What the library does, to follow its name."""
    slots: frozenset[str]
    """What it decides about; causes that share a slot exclude each other."""
    edit: Edit = field(default=lambda model: model)
    rigid: bool = False
    """Whether the links are concerned, and not only friction and rotors."""
    signs: Array | None = None
    """What the position of each joint is multiplied by, (N,)."""
    uncouples: bool = False
    """Whether joints that follow others are on their own."""
    adds: Array | None = None
    """A torque of the library's own, (m, N)."""


Choice = tuple[Cause, ...]


def each_joint(change: Callable[[Joint], Joint]) -> Edit:
    """A change to every joint."""
    return lambda model: replace(model, joints=tuple(map(change, model.joints)))


def each_body(change: Callable[[Body], Body]) -> Edit:
    """A change to every part of every moving link."""
    return lambda model: replace(
        model, links=tuple(Link(x.name, tuple(map(change, x.bodies))) for x in model.links)
    )


class Explainer:
    """The robot of a file at states, and its torques under the causes of differences.

    `names` are the joints in the order of the states (m, n); `scale` is the sum of the sizes of
    the terms of each torque, (m, n).
    """

    def __init__(self, model: RobotModel, names: Sequence[str], states: StateSet, scale: Array):
        own = [joint.name for joint in model.coordinate_joints]
        self._model, self._at = model, coordinates_of(model)
        self._back = [own.index(name) for name in names]
        q, qd, qdd = (v[:, [names.index(name) for name in own]] for v in states.motion)
        all_q, all_qd, all_qdd = self._at.positions(q), self._at.rates(qd), self._at.rates(qdd)
        self.states = replace(states, q=all_q, qd=all_qd, qdd=all_qdd)
        """Motions of all N moving joints, in the order of the file."""
        largest = scale.max(axis=0)
        self.tolerance = JOINT_TOLERANCE * largest + ROBOT_TOLERANCE * largest.max()
        self._links, self._drives = cache(self._torque_of_links), cache(self._torque_of_drives)

    def coordinates(self, torque: Array) -> Array:
        """The torques of the coordinates, without those of the joints that follow them, (m, n)."""
        return torque[:, list(self._model.independent)][:, self._back]

    def torque(self, choice: Choice = ()) -> Array:
        """The torque with all these causes, (m, n)."""
        links = self._links(tuple(cause for cause in choice if cause.rigid))
        torque = links + self._drives(tuple(cause for cause in choice if not cause.rigid))
        if any(cause.uncouples for cause in choice):
            return self.coordinates(torque)
        return self._at.torques(torque)[:, self._back]

    def _torque_of_links(self, choice: Choice) -> Array:
        q, qd, qdd = self.states.motion
        for cause in choice:
            q = q if cause.signs is None else cause.signs * q
        return newton_euler(self._edited(choice), q, qd, qdd).tau

    def _torque_of_drives(self, choice: Choice) -> Array:
        model = self._edited(choice)
        rotors = rotor_torques(model, self.states.qdd)
        torque = friction_torque(model, self.states.qd) + rotors
        return sum((cause.adds for cause in choice if cause.adds is not None), torque)

    def _edited(self, choice: Choice) -> RobotModel:
        return reduce(lambda model, cause: cause.edit(model), choice, self._model)

    def explain(self, theirs: Array, causes: Sequence[Cause]) -> tuple[bool, list[Choice]]:
        """Whether causes give a torque (m, n), and all smallest sets that do, or the nearest."""
        ours = self.torque()
        effects = [np.abs(self.torque((cause,)) - ours) for cause in causes]
        felt = [c for c, e in zip(causes, effects, strict=True) if (e > self.tolerance).any()]
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
                return True, found
        return False, [nearest]


def _compatible(causes: Sequence[Cause], count: int) -> Iterator[Choice]:
    """Sets of causes that do not decide about the same thing."""
    for choice in combinations(causes, count):
        slots = [slot for cause in choice for slot in cause.slots]
        if len(slots) == len(set(slots)):
            yield choice
