"""The parameters of a robot: links, rotors, friction and springs in one vector.

First come the ten numbers of each link (`regressor.PARAMETERS`), then what each joint, and each
drive of several joints, has of a rotor and of friction, then the stiffness of each spring, and its
product with the free length, and last the numbers of friction that the torque is not linear in.
With all of them but the last, τ = Y π is the whole torque of a motion: the columns of a rotor are
S_i q̈, and what it needs besides if it spins, those of friction the law with one parameter 1 and
the other linear ones 0, felt at the joints as the rotor of the drive is (`rotors`); those of
springs are in `springs`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from armdyn.arrays import Array, check_constant, check_number, record
from armdyn.errors import ModelError, UnknownNameError
from armdyn.formulations.regressor import PARAMETERS, body_of, regressor, ten_parameters
from armdyn.formulations.rotors import spin_momenta, spin_torques
from armdyn.formulations.spatial import sign
from armdyn.formulations.springs import STIFFNESS, TENSION, spring_columns
from armdyn.model import Body, Drive, FrictionLaw, Joint, JointSpring, Link, RobotModel, Spring
from armdyn.model import friction as laws

ROTOR = "rotor"
"""The parameter of a rotor: its inertia felt behind the gear."""
Owner = TypeVar("Owner", Joint, Drive)
_LINK_UNITS = ("kg", *3 * ("kg m",), *6 * ("kg m²",))


@record
class RobotParameter:
    """A number of a robot that a torque depends on."""

    name: str
    """Such as "link1.mcx", "joint2.rotor", "joint2.viscous" or "balance.stiffness"."""
    unit: str
    value: float
    linear: bool = True
    """Whether torques are linear in it, so that the regressor has a column for it."""


def robot_parameters(model: RobotModel) -> tuple[RobotParameter, ...]:
    """The parameters of all links, and of the rotors, the friction and the springs there are."""
    of_links = [
        RobotParameter(f"{link.name}.{name}", unit, float(value))
        for link in model.links
        for name, unit, value in zip(
            PARAMETERS, _LINK_UNITS, ten_parameters(link.inertia), strict=True
        )
    ]
    of_motors = [p for owner in model.driven for p in _motor(owner)]
    of_springs = [p for spring in model.springs for p in _spring(spring)]
    ordered = sorted([*of_motors, *of_springs], key=lambda parameter: not parameter.linear)
    return *of_links, *ordered


def _spring(spring: Spring | JointSpring) -> Iterator[RobotParameter]:
    units = ("N/m", "N") if isinstance(spring, Spring) else ("N m/rad or N/m", "N m or N")
    yield RobotParameter(f"{spring.name}.{STIFFNESS}", units[0], spring.stiffness)
    if spring.free_length:
        value = spring.stiffness * spring.free_length
        yield RobotParameter(f"{spring.name}.{TENSION}", units[1], value)


def _motor(owner: Joint | Drive) -> Iterator[RobotParameter]:
    if owner.rotor.reflected:
        yield RobotParameter(f"{owner.name}.{ROTOR}", "kg m² or kg", owner.rotor.reflected)
    for name in _present(owner.friction):
        known = laws.PARAMETERS[name]
        value = getattr(owner.friction, name)
        yield RobotParameter(f"{owner.name}.{name}", known.unit, value, known.linear)


def _present(law: FrictionLaw) -> list[str]:
    """The parameters of the terms that a law has, and of its smooth sign."""
    names = [p.name for term in laws.TERMS if law.has(term) for p in term.parameters]
    return [*names, "smooth_velocity"] if law.smooth_velocity else names


def full_regressor(model: RobotModel, q: Array, qd: Array, qdd: Array) -> Array:
    """Y with τ = Y π over the linear parameters, at all joints, (..., N, p)."""
    others = [*motor_columns(model, q, qd, qdd), *spring_columns(model, model.springs, q)]
    links = regressor(model, q, qd, qdd)
    return np.concatenate([links, np.stack(others, -1)], -1) if others else links


def motor_columns(model: RobotModel, q: Array, qd: Array, qdd: Array) -> Iterator[Array]:
    """The columns of rotors and friction, each (..., N), in the order of the parameters."""
    S = np.vstack([np.eye(len(model.joints)), model.drive_ratios])
    H = spin_momenta(model, np.ones(len(S)))
    for owner, ratios, alone in zip(model.driven, S, np.diag(H), strict=True):
        only = np.flatnonzero(ratios)
        rate, acceleration = (sum(ratios[i] * x[..., i] for i in only) for x in (qd, qdd))
        if owner.rotor.reflected:
            column = _felt(acceleration, ratios)
            spins = owner.rotor.spins
            yield column + spin_torques(model, q, qd, qdd, alone) if spins else column
        law, direction = owner.friction, sign(rate)
        linear = [name for name in _present(law) if laws.PARAMETERS[name].linear]
        for name in linear:
            one = law.changed(**dict.fromkeys(linear, 0.0) | {name: 1.0})
            yield _felt(one.torque(rate, direction), ratios)


def _felt(torque: Any, ratios: Array) -> Array:
    return np.stack([ratio * torque for ratio in ratios], -1)


# another robot


def with_parameters(model: RobotModel, values: Mapping[str, float] | npt.ArrayLike) -> RobotModel:
    """The robot with other values of some parameters by name, or of all of them in order.

    By name, a parameter may be one that the robot has not: a rotor, a term of friction, or the
    stiffness times the free length of a spring.
    """
    given = _by_name(model, values)
    joints = tuple(_changed_motor(joint, given) for joint in model.joints)
    drives = tuple(_changed_motor(drive, given) for drive in model.drives)
    links = tuple(_changed_link(link, given) for link in model.links)
    springs = tuple(_changed_spring(spring, given) for spring in model.springs)
    if given:
        raise UnknownNameError(f"parameter of {model.name!r} named", next(iter(given)), _all(model))
    return replace(model, joints=joints, drives=drives, links=links, springs=springs)


def _by_name(model: RobotModel, values: Mapping[str, float] | npt.ArrayLike) -> dict[str, float]:
    if isinstance(values, Mapping):
        return {str(k): check_number(f"parameter {k!r}", v) for k, v in values.items()}
    names = [parameter.name for parameter in robot_parameters(model)]
    vector = check_constant("parameters", values, (len(names),))
    return dict(zip(names, vector.tolist(), strict=True))


def _changed_link(link: Link, given: dict[str, float]) -> Link:
    names = [f"{link.name}.{name}" for name in PARAMETERS]
    old = ten_parameters(link.inertia)
    new = np.array([given.pop(name, value) for name, value in zip(names, old, strict=True)])
    if np.array_equal(new, old):
        return link
    return Link(link.name, (Body(link.name, body_of(new)),))


def _changed_spring(spring: Spring | JointSpring, given: dict[str, float]) -> Spring | JointSpring:
    old = spring.stiffness, spring.stiffness * spring.free_length
    stiffness, tension = (
        given.pop(f"{spring.name}.{name}", value)
        for name, value in zip((STIFFNESS, TENSION), old, strict=True)
    )
    if (stiffness, tension) == old:
        return spring
    if not stiffness and tension:
        raise ModelError(
            f"{spring.name!r}: a spring without stiffness has no {TENSION}, got {tension:g} N"
        )
    length = tension / stiffness if stiffness else spring.free_length
    return replace(spring, stiffness=stiffness, free_length=length)


def _changed_motor(owner: Owner, given: dict[str, float]) -> Owner:
    inertia = given.pop(f"{owner.name}.{ROTOR}", owner.rotor.reflected)
    if inertia != owner.rotor.reflected:
        ratio = owner.rotor.gear_ratio
        rotor = replace(owner.rotor, inertia=inertia / ratio**2) if ratio else owner.rotor
        owner = replace(owner, rotor=rotor)
    named = {p: f"{owner.name}.{p}" for p in laws.PARAMETERS}
    found = {p: given.pop(name) for p, name in named.items() if name in given}
    law = owner.friction.changed(**found) if found else owner.friction
    if fault := owner.rotor.fault or law.fault:
        raise ModelError(f"{owner.name!r}: {fault}")
    return replace(owner, friction=law)


def _all(model: RobotModel) -> list[str]:
    of_motors = [f"{o.name}.{p}" for o in model.driven for p in (ROTOR, *laws.PARAMETERS)]
    of_springs = [f"{s.name}.{p}" for s in model.springs for p in (STIFFNESS, TENSION)]
    of_links = [f"{link.name}.{p}" for link in model.links for p in PARAMETERS]
    return [*of_links, *of_motors, *of_springs]
