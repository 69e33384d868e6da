"""An arm of one's own: a Denavit-Hartenberg table, links as shapes, and a file to keep.

python examples/03_own_arm.py
"""

from math import pi
from pathlib import Path
from tempfile import TemporaryDirectory

import armdyn

TUBE = {"type": "tube", "radius": 0.04, "inner_radius": 0.034, "axis": "x", "density": 2700}

arm = armdyn.from_dh(
    [
        dict(joint="revolute", d=0.3, alpha=pi / 2, name="turn",
             shape=dict(type="cylinder", radius=0.08, length=0.3, axis="y", mass=9.0,
                        position=(0, -0.15, 0)),
             limits=(-pi, pi)),
        dict(joint="revolute", a=0.5, name="shoulder", limits=(-2, 2), viscous=0.4,
             shape=TUBE | dict(length=0.5, position=(-0.25, 0, 0)),
             rotor_inertia=3e-5, gear_ratio=100.0),
        dict(joint="revolute", a=0.4, name="elbow", limits=(-2.5, 2.5), viscous=0.3,
             shape=TUBE | dict(length=0.4, position=(-0.2, 0, 0)),
             rotor_inertia=2e-5, gear_ratio=80.0),
    ],
    name="tube arm",
)  # fmt: skip

loaded = arm.with_payload(armdyn.Inertia.sphere(0.05, mass=2.0))
for name, robot in (("empty", arm), ("2 kg held", loaded)):
    torque = robot.gravity_vector([0.0, 0.0, 0.0])
    print(f"{name:10} stretched out:", *(f"{x:7.2f}" for x in torque), "N m")

with TemporaryDirectory() as folder:
    arm.save(Path(folder, "tube_arm.toml"))  # also .urdf
    again = armdyn.load(Path(folder, "tube_arm.toml"))
difference = abs(again.mass_matrix([0.1, 0.5, -1.0]) - arm.mass_matrix([0.1, 0.5, -1.0])).max()
print(f"saved and loaded again, the mass matrix differs by less than 1e-12: {difference < 1e-12}")
