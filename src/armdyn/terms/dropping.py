"""What may be left out of a model: inertial parameters, rotors and friction, one by one.

Torques are linear in the inertial parameters, so what a model without some of them computes is
known before there is such a model. The parameters are those of the links in canonical frames after
regrouping (`armdyn.shorten.canonical.regroup`): none of them can be made up for by others, and a
robot in which they are zero has a shorter program by itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.friction import friction_torque
from armdyn.formulations.parameters import Owner
from armdyn.formulations.regressor import regressor, ten_parameters
from armdyn.formulations.rotors import rotor_torques
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import Inertia, RobotModel
from armdyn.model.friction_terms import TERMS
from armdyn.model.joint import Rotor
from armdyn.model.link import Body, Link
from armdyn.shorten.canonical.frames import canonical, canonical_frames
from armdyn.shorten.canonical.regroup import regroup
from armdyn.shorten.canonical.robot import CanonicalLink
from armdyn.terms.states import StateSet

_MOMENTS = {"Jxx": (0, 0), "Jyy": (1, 1), "Jzz": (2, 2), "Jxy": (0, 1), "Jxz": (0, 2)}
_MOMENTS |= {"Jyz": (1, 2), "MX": (0, 3), "MY": (1, 3), "MZ": (2, 3), "M": (3, 3)}
"""Places of the inertial parameters in a pseudo-inertia."""


@dataclass(frozen=True, slots=True)
class Droppable:
    """Something that a model can do without."""

    name: str
    """Jxx3, MX3, M3 of link 3 in its canonical frame; Ia3 for a rotor; "viscous of elbow"."""
    joint: int
    """The moving joint, or its link; drives are counted after the joints."""
    place: tuple[int, int] | None = None
    """For an inertial parameter: its place in the pseudo-inertia of the link."""
    term: int | None = None
    """For friction: which of the terms of friction laws."""


@dataclass(frozen=True, slots=True, eq=False)
class RegroupedModel:
    """A robot with its inertias regrouped, and what can be left out of it."""

    model: RobotModel
    pseudo: tuple[Array, ...]
    """The regrouped pseudo-inertia of each link in its canonical frame, (4, 4)."""
    frames: tuple[Array, ...]
    """The canonical frame of each link in the frame of the link."""

    @classmethod
    def of(cls, model: RobotModel) -> "RegroupedModel":
        """The regrouped inertias of a robot."""
        links = regroup(canonical(model)).links
        return cls(model, tuple(map(_pseudo, links)), canonical_frames(model))

    def droppable(self) -> Iterator[Droppable]:
        """Everything that is not zero and can be left out."""
        for i, matrix in enumerate(self.pseudo):
            for name, place in _MOMENTS.items():
                if matrix[place]:
                    yield Droppable(f"{name}{i + 1}", i, place)
        for i, owner in enumerate(self.model.driven):
            if owner.rotor.reflected:
                yield Droppable(f"Ia{i + 1}", i)
            for k, term in enumerate(TERMS):
                if owner.friction.has(term):
                    yield Droppable(f"{term.row} of {owner.name}", i, term=k)

    def without(self, dropped: Sequence[Droppable]) -> RobotModel:
        """The robot without these; its links are no bodies but a reduced set of inertias."""
        pseudo = [matrix.copy() for matrix in self.pseudo]
        for x in dropped:
            if x.place is not None:
                pseudo[x.joint][x.place] = pseudo[x.joint][x.place[::-1]] = 0.0
        model = _without_motors(self.model, [x for x in dropped if x.place is None])
        links = tuple(
            Link(link.name, (Body(link.name, Inertia.from_pseudo(F @ matrix @ F.T)),))
            for link, F, matrix in zip(self.model.links, self.frames, pseudo, strict=True)
        )
        return replace(model, links=links, reduced=True, letters={})

    def effects(self, dropped: Sequence[Droppable], states: StateSet, velocities: bool) -> Array:
        """How leaving out each of these alone changes the torques, (k, m, n).

        Without `velocities`, those of a model without centrifugal and Coriolis terms.
        """
        found = np.empty((len(dropped), *states.q.shape))
        at, model = coordinates_of(self.model), self.model
        if not dropped:
            return found
        columns = np.stack([self._parameters(x) for x in dropped], -1)
        for part in states.parts(len(model.joints) ** 2 * 10):
            q, qd, qdd = (v[part] for v in (states.q, states.qd, states.qdd))
            v = qd if velocities else np.zeros_like(qd)
            here = at.at(q)
            Y = here.rows(regressor(model, here.q, here.rates(v), here.accelerations(v, qdd)))
            found[:, part] = -np.moveaxis(Y @ columns, -1, 0)
            rates, accelerations = here.rates(qd), here.accelerations(qd, qdd)
            for k, x in enumerate(dropped):
                if x.place is None:
                    found[k, part] = here.torques(self._of_motor(x, rates, accelerations))
        return found

    def _parameters(self, x: Droppable) -> Array:
        """The ten parameters of every link that one inertial parameter makes, (10 N,)."""
        ten = np.zeros((len(self.model.links), 10))
        if x.place is not None:
            alone, F = np.zeros((4, 4)), self.frames[x.joint]
            alone[x.place] = alone[x.place[::-1]] = self.pseudo[x.joint][x.place]
            ten[x.joint] = ten_parameters(Inertia.from_pseudo(F @ alone @ F.T))
        return ten.ravel()

    def _of_motor(self, x: Droppable, qd: Array, qdd: Array) -> Array:
        """What is missing without a rotor or a term of friction, at all joints, (m, N)."""
        fewer = _without_motors(self.model, [x])
        if x.term is None:
            return rotor_torques(fewer, qdd) - rotor_torques(self.model, qdd)
        return friction_torque(fewer, qd) - friction_torque(self.model, qd)


def _without_motors(model: RobotModel, dropped: Sequence[Droppable]) -> RobotModel:
    """The robot without these rotors and terms of friction of its joints and drives."""
    joints = tuple(_bare(joint, i, dropped) for i, joint in enumerate(model.joints))
    drives = tuple(_bare(drive, i, dropped) for i, drive in enumerate(model.drives, len(joints)))
    return replace(model, joints=joints, drives=drives)


def _bare(owner: Owner, i: int, dropped: Sequence[Droppable]) -> Owner:
    for x in dropped:
        if x.joint == i and x.term is None:
            owner = replace(owner, rotor=Rotor())
        elif x.joint == i and x.term is not None:
            owner = replace(owner, friction=owner.friction.without(TERMS[x.term]))
    return owner


def greedy(start: Array, effects: Array, scale: Array, tolerance: float) -> list[int]:
    """What may be left out, each time the one that leaves the smallest largest error.

    Args:
        start: The error of the torques before anything is left out, (m, n).
        effects: What leaving out each one adds to it, (k, m, n).
        scale: What errors of each joint are measured by, (n,).
        tolerance: The largest error allowed, relative to the scale.

    Returns:
        The places of those that are left out, in this order.
    """
    error, relative = start / scale, effects / scale
    left, found = list(range(len(effects))), list[int]()
    while left:
        worst = [float(np.abs(error + relative[k]).max()) for k in left]
        place = int(np.argmin(worst))
        if worst[place] > tolerance:
            break
        found.append(left.pop(place))
        error = error + relative[found[-1]]
    return found


def distal_first(
    start: Array, effects: Array, scale: Array, tolerance: float, joints: Sequence[int]
) -> list[int]:
    """The same, those of the last joints first, as their programs are the longest."""
    error, relative, found = start / scale, effects / scale, list[int]()
    alone = np.abs(relative).max((1, 2)) if len(relative) else np.zeros(0)
    for k in sorted(range(len(effects)), key=lambda k: (-joints[k], alone[k])):
        if np.abs(error + relative[k]).max() <= tolerance:
            found.append(k)
            error = error + relative[k]
    return found


def _pseudo(link: CanonicalLink) -> Array:
    matrix = np.zeros((4, 4))
    matrix[:3, :3] = link.J
    matrix[:3, 3] = matrix[3, :3] = link.u
    matrix[3, 3] = link.M
    return matrix
