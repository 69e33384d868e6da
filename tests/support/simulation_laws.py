"""Arms whose motion is known in closed form, and the laws that every simulated motion keeps."""

import numpy as np

from armdyn import from_dh
from armdyn.simulation.simulator import simulate
from armdyn.simulation.system import DryFriction

MASS, G = 2.0, 9.81
ROD = {
    "joint": "revolute",
    "a": 0.5,
    "mass": 1.5,
    "com": [-0.2, 0.05, 0],
    "inertia": np.eye(3) / 50,
}


def slider(gravity=0.0, **row):
    """A block of 2 kg on a vertical rail."""
    block = {"joint": "prismatic", "mass": MASS, "com": [0, 0, 0], "inertia": np.eye(3) / 10}
    return from_dh([block | row], gravity=[0, 0, -gravity], name="slider")


def gantry(*rows):
    """Blocks on perpendicular rails, one upon the other, without gravity: their motions are apart."""
    block = {"joint": "prismatic", "mass": MASS, "com": [0, 0, 0], "inertia": np.eye(3) / 10}
    table = [block | {"alpha": np.pi / 2} | row for row in rows]
    return from_dh(table, gravity=[0, 0, 0], name="gantry")


def pendulum(length=1.0, **row):
    """A point mass that swings in a plane; it hangs at q = 0."""
    bob = {"joint": "revolute", "a": length, "mass": MASS, "com": [0, 0, 0], "inertia": np.zeros(3)}
    return from_dh([bob | row], gravity=[G, 0, 0], name="pendulum")


def planar(*rows, gravity=G):
    """Rods that move in a vertical plane and hang at q = 0."""
    return from_dh([ROD | row for row in rows], gravity=[gravity, 0, 0], name="planar")


def moved(robot, *start, **options):
    """A simulation that finished and kept the laws."""
    simulation = simulate(robot, *start, **options)
    assert simulation.status == "finished", simulation.message
    assert_laws(simulation, options.get("friction", True))
    return simulation


def assert_laws(s, friction=True):
    """Newton's law, the law of friction, stops that only push, and a balance of power."""
    scale = 1 + max(np.abs(x).max() for x in (s.tau, s.friction, s.stop, s.external))
    needed = s.robot.inverse_dynamics(s.q, s.qd, s.qdd, friction=False)
    given = s.tau - s.friction + s.stop + s.external
    np.testing.assert_allclose(needed, given, rtol=0, atol=1e-9 * scale)
    law = DryFriction(s.robot.model, friction)
    moving = s.qd != 0
    slip = s.robot.friction_torque(s.qd, s.q) if friction else np.zeros_like(s.qd)
    np.testing.assert_allclose(s.friction[moving], slip[moving], rtol=0, atol=1e-9 * scale)
    held = ~moving & (s.qdd == 0)
    still = np.zeros_like(s.qd)
    holding = s.friction - law(s.q, still, still)
    within = (law.low - 1e-8 * scale <= holding) & (holding <= law.high + 1e-8 * scale)
    assert within[held].all()
    lower, upper = s.robot.limits.T
    assert (s.stop[s.q > lower] <= 0).all()
    assert (s.stop[s.q < upper] >= 0).all()
    assert s.energy_drift < 1e-8


def event_kinds(s):
    return [event.kind for event in s.events]
