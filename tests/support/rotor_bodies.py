"""Robots whose rotors are links of their own: the long way to what they add.

A rotor is a body of revolution with a mass, on a hinge that its carrier holds; it is taken out of
the carrier, which holds it as if it were locked.
"""

from dataclasses import dataclass, replace

import numpy as np

import armdyn
from armdyn.model import Body, Frame, Inertia, Joint, Link, Mimic, RobotModel, Rotor
from armdyn.model.joint_types import REVOLUTE
from armdyn.model.transform import frame_along, transform

MASS, PLACE, ACROSS = 0.7, np.array([0.03, -0.05, 0.02]), 0.6
"""Of a rotor: mass [kg], centre in the frame of its carrier [m], moment across per one along."""


@dataclass(frozen=True)
class RotorBodies:
    """The robot with rotors as free links, which stand behind its own, and their ratios."""

    model: RobotModel
    ratios: np.ndarray
    """How many times the joints of the robot each rotor turns, (R, N)."""

    def all(self, rates: np.ndarray) -> np.ndarray:
        """Rates of joints and rotors for those of the joints."""
        return np.concatenate([rates, rates @ self.ratios.T], -1)

    def torques(self, tau: np.ndarray) -> np.ndarray:
        """Torques of the joints for those of joints and rotors."""
        n = self.ratios.shape[1]
        return tau[..., :n] + tau[..., n:] @ self.ratios

    def matrix(self, M: np.ndarray) -> np.ndarray:
        """The matrix of the joints for that of joints and rotors."""
        S = np.vstack([np.eye(self.ratios.shape[1]), self.ratios])
        return S.T @ M @ S


def with_rotor_bodies(model: RobotModel) -> RotorBodies:
    """The robot with each rotor that spins as a link on a hinge of its own."""
    links = {i: link for i, link in enumerate(model.links)} | {-1: model.base_link}
    n, joints, rotors, rows = len(model.joints), [], [], []
    turned = np.vstack([np.eye(n), model.drive_ratios])
    for owner, row in zip(model.driven, turned, strict=True):
        if not owner.rotor.spins:
            continue
        frame, J = model.frame(owner.rotor.carrier), owner.rotor.inertia
        axes = frame_along(np.array(owner.rotor.axis))
        tensor = axes @ np.diag(J * np.array([ACROSS, ACROSS, 1.0])) @ axes.T
        mass = MASS if frame.link >= 0 else 0.0  # other libraries leave the base out
        body = Inertia.from_com(mass, PLACE, tensor)
        taken = Inertia.from_pseudo(-body.pseudo)
        carrier = links[frame.link]
        hole = Body(f"hole for {owner.name}", taken, frame.placement)
        links[frame.link] = Link(carrier.name, (*carrier.bodies, hole))
        name = f"rotor of {owner.name}"
        placement = frame.placement @ transform(axes, PLACE)
        joints.append(Joint(name, REVOLUTE, frame.link, placement, np.array([0.0, 0.0, 1.0])))
        own = Inertia.from_com(mass, np.zeros(3), np.diag(J * np.array([ACROSS, ACROSS, 1.0])))
        rotors.append(Link(name, (Body(name, own),)))
        rows.append(owner.rotor.gear_ratio * row)
    plain = [
        replace(j, mimic=None, rotor=Rotor() if j.rotor.spins else j.rotor) for j in model.joints
    ]
    frames = (Frame(link.name, n + k, np.eye(4)) for k, link in enumerate(rotors))
    explicit = replace(
        model,
        joints=(*plain, *joints),
        links=(*(links[i] for i in range(n)), *rotors),
        base_link=links[-1],
        frames=(*model.frames, *frames),
        drives=tuple(d for d in model.drives if not d.rotor.spins),
    )
    return RotorBodies(explicit, np.reshape(rows, (len(rows), n)))


def with_mimicking_rotors(model: RobotModel) -> RobotModel:
    """The same with rotors that follow their joints by their gear ratios; no drives share them."""
    found = with_rotor_bodies(model)
    n = len(model.joints)
    followers = [
        replace(
            joint, mimic=Mimic(model.joints[int(np.flatnonzero(row)[0])].name, row[row != 0].item())
        )
        for joint, row in zip(found.model.joints[n:], found.ratios, strict=True)
    ]
    own = (
        replace(j, mimic=old.mimic)
        for j, old in zip(found.model.joints, model.joints, strict=False)
    )
    return replace(found.model, joints=(*own, *followers))


def spinning(model: RobotModel, seed: int = 4) -> armdyn.Robot:
    """The robot with rotors about any axes, each on another link."""
    rng, robot = np.random.default_rng(seed), armdyn.Robot(model)
    names = [link.name for link in (model.base_link, *model.links)]
    for k, owner in enumerate(model.driven):
        given = {"axis": rng.normal(size=3), "carrier": names[k % len(names)]}
        robot = robot.with_rotor(owner.name, **given, inertia=1e-3, gear_ratio=rng.normal(0, 40))
    return robot
