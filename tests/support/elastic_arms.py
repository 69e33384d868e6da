"""Arms whose transmissions give."""

from dataclasses import replace

import numpy as np

from armdyn.model import FrictionLaw, Rotor, Transmission
from support.programs import EvaluatedRobot


def elastic_arm(arm, damping=0.0, spins=False, stiffer=1.0, side="motor"):
    """An arm with transmissions of 5 to 50 thousand N m/rad, but for each third joint.

    Dry friction is left out, rotors have inertia, and spin only if that is asked.
    """
    rng = np.random.default_rng([arm.seed, 5])
    joints = []
    for k, joint in enumerate(arm.robot.model.joints):
        K, share = rng.uniform(5e3, 5e4) * stiffer, rng.uniform(0.5, 1.5)
        rotor = joint.rotor if joint.rotor.inertia else Rotor(3e-4, 60.0 + k)
        rotor = rotor if spins else rotor.reflecting
        law = joint.friction
        law = law.changed(smooth_velocity=0.3) if law.jumps else law
        gives = (k % 3 or len(arm.kinds) < 4) and joint.mimic is None
        between = Transmission(K, damping * share * K, side) if gives else Transmission()
        joints.append(replace(joint, rotor=rotor, friction=law, transmission=between))
    drives = tuple(replace(d, friction=FrictionLaw()) for d in arm.robot.model.drives)
    return EvaluatedRobot(replace(arm.robot.model, joints=tuple(joints), drives=drives))


def polynomial(arm, degree=6):
    """A motion: a function of a time and the order of a derivative, (n,)."""
    c = np.random.default_rng([arm.seed, 6]).normal(size=(degree + 1, arm.robot.n))

    def motion(t, order=0):
        return np.polynomial.polynomial.polyval(t, np.polynomial.polynomial.polyder(c, order))

    return motion
