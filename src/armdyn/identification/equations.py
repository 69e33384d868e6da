"""The equations of a motion: torques as a matrix of features times what is to be found.

Features are the columns of the base parameters of the links, for each motor (of a joint, or a drive
of several) its rotor and the terms of friction that may be needed, and those of springs. Only the
features that act on a joint are in its rows.

Speeds in a term are given in those of the joint: 1 is the root mean square of its velocity. A
spring counts as one more motor after those of joints and drives: its terms, the stiffness and its
product with the free length, are never chosen, as a spring is there or not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from armdyn.arrays import Array, record
from armdyn.forks import cached_property
from armdyn.formulations.rotors import spin_momenta, spin_torques
from armdyn.formulations.springs import STIFFNESS, TENSION, spring_columns
from armdyn.identification.preparation import Piece, low_pass
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import FrictionLaw, JointSpring, RobotModel, Spring
from armdyn.robot import Robot

SMOOTHING = (0.005, 0.01, 0.02, 0.035, 0.06, 0.1)
"""Speeds over which dry friction changes its sign."""
STRIBECK = (0.1, 0.3, 1.0)
"""Speeds over which friction falls from its static level."""
POWERS = (1 / 3, 1 / 2, 2.0)
"""Exponents of friction that grows with a power of the speed."""


@record
class FrictionFeature:
    """One column of friction: parameters that are equal, with those it is not linear in."""

    name: str
    linear: tuple[str, ...]
    smooth: float = 0.0
    """Smoothing velocity, in speeds of the joint; 0: the term has none."""
    stribeck: float = 0.0
    power: float = 0.0
    signed: bool = False

    def shape(self, speed: float) -> dict[str, float]:
        """The parameters that it is not linear in, of a joint with this speed."""
        velocities = {"smooth_velocity": self.smooth, "stribeck_velocity": self.stribeck}
        found = {name: share * speed for name, share in velocities.items()}
        return {name: x for name, x in (found | {"power_exponent": self.power}).items() if x}

    def torque(self, rate: Array, speed: float) -> Array:
        """What it needs at rates (...) if its linear parameters are 1."""
        law = FrictionLaw(**dict.fromkeys(self.linear, 1.0), **self.shape(speed))
        return np.asarray(law.torque(rate, np.sign(rate)))


VISCOUS = FrictionFeature("viscous", ("viscous",))
FORWARDS = FrictionFeature("viscous forwards", ("viscous_positive",))
BACKWARDS = FrictionFeature("viscous backwards", ("viscous_negative",))
OFFSET = FrictionFeature("offset", ("offset",), signed=True)
ROTOR = FrictionFeature("rotor", ())


def coulomb(smooth: float) -> FrictionFeature:
    """Coulomb friction, the same in both directions; an offset makes it differ."""
    return FrictionFeature("Coulomb", ("coulomb_positive", "coulomb_negative"), smooth)


def stribeck(smooth: float, speed: float) -> FrictionFeature:
    """What static friction is more than Coulomb's."""
    return FrictionFeature("Stribeck", ("stribeck",), smooth, speed)


def power(exponent: float) -> FrictionFeature:
    """Friction that grows with a power of the speed."""
    return FrictionFeature(f"power {exponent:.2g}", ("power",), power=exponent)


Structure = tuple[FrictionFeature, ...]
"""The terms of all joints."""
ROUGH: Structure = (ROTOR, VISCOUS, coulomb(0.03), OFFSET)
"""Terms that most joints have, for questions before any is chosen."""


def first_structures() -> list[Structure]:
    """The laws to begin with: viscous, Coulomb's and an offset, with each smoothing."""
    return [(ROTOR, VISCOUS, coulomb(v), OFFSET) for v in SMOOTHING]


def changes(structure: Structure) -> list[Structure]:
    """Structures with one term more, or another one."""
    smooth = next((f.smooth for f in structure if f.name == "Coulomb"), SMOOTHING[0])
    names = {feature.name.split()[0] for feature in structure}
    found: list[Structure] = []
    if "Stribeck" not in names:
        found += [(*structure, stribeck(smooth, v)) for v in STRIBECK if v > smooth]
    if "power" not in names:
        found += [(*structure, power(exponent)) for exponent in POWERS]
    if VISCOUS in structure:
        rest = tuple(feature for feature in structure if feature is not VISCOUS)
        found.append((*rest, FORWARDS, BACKWARDS))
    return found


def all_features() -> Structure:
    """Every column that a choice may need."""
    of_dry = [coulomb(v) for v in SMOOTHING]
    of_static = [stribeck(v, s) for v in SMOOTHING for s in STRIBECK if s > v]
    more = (FORWARDS, BACKWARDS, *map(power, POWERS))
    return (ROTOR, VISCOUS, OFFSET, *of_dry, *of_static, *more)


def own_features(law: FrictionLaw, speed: float) -> Structure:
    """The terms that a law has, with its own speeds, but for what is constant."""
    smooth = law.smooth_velocity / speed
    by_direction = law.viscous_positive or law.viscous_negative
    terms = (
        (law.viscous, VISCOUS),
        (law.coulomb_positive or law.coulomb_negative, coulomb(smooth)),
        (law.stribeck, stribeck(smooth, law.stribeck_velocity / speed)),
        (by_direction, FORWARDS),
        (by_direction, BACKWARDS),
        (law.power, power(law.power_exponent)),
    )
    return tuple(feature for there, feature in terms if there)


STIFF = FrictionFeature("spring", (STIFFNESS,))
TENSE = FrictionFeature("free length of a spring", (TENSION,), signed=True)
_STATES = 16
"""Random states that tell which features act on a joint."""


def spring_features(model: RobotModel) -> tuple[tuple[int, FrictionFeature], ...]:
    """The features of the springs, in the order of `spring_columns`."""
    first = len(model.driven)
    return tuple(
        (k, feature)
        for k, spring in enumerate(model.springs, start=first)
        for feature in ((STIFF, TENSE) if spring.free_length else (STIFF,))
    )


def spring_torques_at(model: RobotModel, q: Array) -> Iterator[Array]:
    """The columns of the springs at the coordinates, (m, n) each."""
    if model.springs:
        here = coordinates_of(model).at(q)
        for column in spring_columns(model, model.springs, here.q):
            yield here.torques(column)


# rows

Motor = tuple[int, FrictionFeature]
"""The place of a motor among `model.driven`, springs after them, and one of its features."""


@record(eq=False)
class Rows:
    """The equations of one piece: for each joint, what multiplies the features that act on it."""

    t: Array
    q: Array
    qd: Array
    tau: Array
    """Measured, filtered, (m, n)."""
    good: Array
    Z: tuple[Array, ...]
    """For each joint (m, features that act on it), filtered like the torques."""

    def __len__(self) -> int:
        return len(self.t)


@dataclass(frozen=True, eq=False)
class Equations:
    """How a motion of a robot becomes rows."""

    robot: Robot
    structure: Structure
    """The terms that each motor has among the features."""
    speeds: Array
    """Root mean square of the rate of each motor."""

    @cached_property
    def ratios(self) -> Array:
        """How each motor turns with the coordinates, (motors, n)."""
        model = self.robot.model
        return coordinates_of(model).with_drives().columns(np.eye(len(model.driven)))

    @cached_property
    def motors(self) -> tuple[Motor, ...]:
        """The features after those of the links."""
        return self.motors_with(self.structure)

    def motors_with(self, structure: Structure) -> tuple[Motor, ...]:
        """The features of all motors with these terms, and of the springs.

        A drive has no offset of its own.
        """
        N = len(self.robot.model.joints)
        model = self.robot.model
        some = ((k, f) for k in range(len(model.driven)) for f in structure)
        return *((k, f) for k, f in some if k < N or not f.signed), *spring_features(model)

    @cached_property
    def own_motors(self) -> tuple[Motor, ...]:
        """The features that the motors and springs of the robot have already."""
        found: list[Motor] = []
        for k, owner in enumerate(self.robot.model.driven):
            law = own_features(owner.friction, float(self.speeds[k]))
            rotor = (ROTOR,) if owner.rotor.reflected else ()
            offset = (OFFSET,) if self.offsets[k] else ()
            found += [(k, feature) for feature in (*rotor, *law, *offset)]
        return *found, *spring_features(self.robot.model)

    @cached_property
    def offsets(self) -> Array:
        """What does not change with the speed, of each motor; that of drives is at joints, (k,).

        Half of what Coulomb friction differs by in the two directions belongs to it.
        """
        model = self.robot.model
        laws = [owner.friction for owner in model.driven]
        found = np.array([f.offset + (f.coulomb_positive - f.coulomb_negative) / 2 for f in laws])
        N = len(model.joints)
        found[list(model.independent)] += found[N:] @ self.ratios[N:]
        found[N:] = 0.0
        return found

    def known(self, motors: Sequence[Motor]) -> Array:
        """What the robot has of features already, 0 if nothing, (k,)."""
        model = self.robot.model
        owners = (*model.driven, *model.springs)
        found = []
        for k, feature in motors:
            owner = owners[k]
            if isinstance(owner, Spring | JointSpring):
                found.append(owner.stiffness * (1.0 if feature is STIFF else owner.free_length))
            elif feature is ROTOR:
                found.append(owner.rotor.reflected)
            elif feature is OFFSET:
                found.append(self.offsets[k])
            else:
                found.append(np.mean([getattr(owner.friction, name) for name in feature.linear]))
        return np.array(found, dtype=float)

    @cached_property
    def links(self) -> int:
        """How many features are of the links."""
        return self.robot.base_parameters(links=True).rank

    @cached_property
    def acting(self) -> tuple[Array, ...]:
        """For each coordinate the features that act on it, by random states."""
        q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, _STATES, self.robot.n))
        Y = self.robot.base_regressor(q, qd, qdd, links=True)
        links = 1e-12 * np.abs(Y).max(initial=1e-300) < np.abs(Y).max(axis=0).T
        needed = [*self._of_motors(q, qd, qdd), *spring_torques_at(self.robot.model, q)]
        sizes = [np.abs(torques).max(axis=0) for torques in needed]
        others = [size > 1e-12 * size.max(initial=1e-300) for size in sizes]
        for i, (k, _) in enumerate(self.motors):
            if k < len(self.ratios):  # friction at low speeds may be lost at these states
                others[i] |= self.ratios[k] != 0
        return tuple(map(np.flatnonzero, np.vstack([links, *others]).T))

    def matched(self, motors: Sequence[Motor]) -> list[tuple[Array, Array]]:
        """For each coordinate, which of its acting features links and these motors have, and where.

        The features of links come first among these, then those of the motors in their order.
        """
        place = np.full(self.links + len(self.motors), -1)
        place[: self.links] = np.arange(self.links)
        number = {motor: self.links + i for i, motor in enumerate(self.motors)}
        for i, motor in enumerate(motors, start=self.links):
            place[number[motor]] = i
        some = (np.flatnonzero(place[acting] >= 0) for acting in self.acting)
        return [(out, place[acting[out]]) for out, acting in zip(some, self.acting, strict=True)]

    def predicted(self, rows: Rows, motors: Sequence[Motor], phi: Array) -> Array:
        """The torques (m, n) of rows by the features φ of links and these motors."""
        pairs = zip(rows.Z, self.matched(motors), strict=True)
        return np.stack([Z[:, out] @ phi[into] for Z, (out, into) in pairs], -1)

    def features(self, q: Array, qd: Array, qdd: Array) -> list[Array]:
        """For each coordinate the features that act on it, unfiltered, (m, features)."""
        Y = self.robot.base_regressor(q, qd, qdd, links=True)
        needed = [*self._of_motors(q, qd, qdd), *spring_torques_at(self.robot.model, q)]
        found = []
        for j, acting in enumerate(self.acting):
            of_links = acting[acting < self.links]
            others = [needed[i][:, j] for i in acting[len(of_links) :] - self.links]
            found.append(np.column_stack([Y[:, j, of_links], *others]))
        return found

    def _of_motors(self, q: Array, qd: Array, qdd: Array) -> Iterator[Array]:
        """What each feature of a motor needs at the coordinates, (m, n)."""
        model = self.robot.model
        H = spin_momenta(model, np.ones(len(self.ratios)))
        here = coordinates_of(model).at(q)
        rate = qd @ self.ratios.T
        acceleration = qdd @ self.ratios.T
        for k, f in self.motors:
            if k < len(self.ratios):
                speed = float(self.speeds[k])
                alone = acceleration[:, k] if f is ROTOR else f.torque(rate[:, k], speed)
                needed = alone[:, None] * self.ratios[k]
                if f is ROTOR and H[k]:
                    H_k = np.where(np.arange(len(H)) == k, H, 0.0)
                    needed = needed + here.torques(spin_torques(model, *here.motion(qd, qdd), H_k))
                yield needed

    def rows(self, piece: Piece, cutoff: float) -> Rows:
        """The equations of a piece, filtered like its torques, the ends dropped."""
        each = self.features(piece.q, piece.qd, piece.qdd)
        widths = np.cumsum([0, *(part.shape[1] for part in each)])
        smooth = low_pass(np.concatenate(each, axis=1), cutoff, piece.rate)[piece.kept]
        Z = tuple(np.ascontiguousarray(smooth[:, a:b]) for a, b in pairwise(widths))
        k = piece.kept
        return Rows(piece.t[k], piece.q[k], piece.qd[k], piece.tau[k], piece.good[k], Z)
