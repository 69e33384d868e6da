"""The terms of friction and of springs that data may show, and the choices that are tried.

Speeds in a term are given in those of the joint: 1 is the root mean square of its velocity. A
spring counts as one more motor after those of joints and drives: its terms, the stiffness and its
product with the free length, are never chosen, as a spring is there or not.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.springs import STIFFNESS, TENSION, spring_columns
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import FrictionLaw, RobotModel, Spring

SMOOTHING = (0.005, 0.01, 0.02, 0.035, 0.06, 0.1)
"""Speeds over which dry friction changes its sign."""
STRIBECK = (0.1, 0.3, 1.0)
"""Speeds over which friction falls from its static level."""
POWERS = (1 / 3, 1 / 2, 2.0)
"""Exponents of friction that grows with a power of the speed."""


@dataclass(frozen=True, slots=True)
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
        found = {}
        if self.smooth:
            found["smooth_velocity"] = self.smooth * speed
        if self.stribeck:
            found["stribeck_velocity"] = self.stribeck * speed
        if self.power:
            found["power_exponent"] = self.power
        return found

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
    """The terms that a law has, with its own speeds."""
    smooth = law.smooth_velocity / speed
    found = []
    if law.viscous:
        found.append(VISCOUS)
    if law.coulomb_positive or law.coulomb_negative:
        found.append(coulomb(smooth))
    if law.stribeck:
        found.append(stribeck(smooth, law.stribeck_velocity / speed))
    if law.offset or law.coulomb_positive != law.coulomb_negative:
        found.append(OFFSET)
    if law.viscous_positive or law.viscous_negative:
        found += [FORWARDS, BACKWARDS]
    if law.power:
        found.append(power(law.power_exponent))
    return tuple(found)


STIFF = FrictionFeature("spring", (STIFFNESS,))
TENSE = FrictionFeature("free length of a spring", (TENSION,), signed=True)
_STATES = 16


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


def joints_felt(model: RobotModel) -> list[Array]:
    """For each of `spring_features` the coordinates at which it is felt, (n,) of truths."""
    q = np.random.default_rng(2).uniform(-1, 1, (_STATES, len(model.independent)))
    found = [np.abs(column).max(axis=0) for column in spring_torques_at(model, q)]
    return [size > 1e-12 * size.max(initial=1e-300) for size in found]


def spring_value(spring: Spring, feature: FrictionFeature) -> float:
    """What a spring has of a feature."""
    return spring.stiffness * (1.0 if feature is STIFF else spring.free_length)
