"""Functions of joints that give, in C and in JAX."""

import shutil
import subprocess

import numpy as np
import pytest

import armdyn
from support.peers import close

pytestmark = pytest.mark.slow
CC = shutil.which("cc") or shutil.which("gcc")
ROW = dict(
    joint="revolute", a=0.5, alpha=0.3, mass=4.0, com=(-0.25, 0.02, 0), viscous=0.3,
    inertia=(0.01, 1 / 12, 1 / 12), rotor_inertia=1e-4, gear_ratio=80.0,
    transmission_stiffness=3000.0,
)  # fmt: skip
TWO = armdyn.from_dh([ROW, ROW], name="two")


@pytest.mark.skipif(CC is None, reason="there is no C compiler")
def test_c_gives_the_numbers_of_python(tmp_path):
    names = ("elastic_inverse_dynamics", "inverse_dynamics_rates")
    TWO.export(tmp_path / "one", functions=names)
    damped = TWO.with_elasticity(3000.0, 2.0).elastic.both
    damped.export(tmp_path / "both", functions=("forward_dynamics",))
    for folder, macro in (("one", "TWO"), ("both", "TWO")):
        flags = ["-std=c99", "-O2", f"-D{macro}_SELFTEST", "two.c", "-lm", "-o", "test"]
        subprocess.run([CC, *flags], cwd=tmp_path / folder, check=True)
        subprocess.run(["./test"], cwd=tmp_path / folder, check=True, capture_output=True)


def test_jax_differentiates_motor_torques():
    jax = pytest.importorskip("jax")
    motion = np.random.default_rng(0).normal(size=(5, 2))
    motors = TWO.jax("elastic_inverse_dynamics", dtype="float32")
    close(np.asarray(motors(*motion)), np.stack(TWO.elastic.inverse_dynamics(*motion)), 1e-5)
    slope = jax.jacfwd(motors, 4)(*motion)  # ∂τ/∂q⁗ = B M/K
    B, M = TWO.elastic.motor_inertia, TWO.elastic.links.mass_matrix(motion[0])
    close(np.asarray(slope)[0], B[:, None] * M / 3000.0, 1e-5)
