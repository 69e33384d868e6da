"""C for a controller: export the inverse dynamics, compile it, and call it from the outside.

python examples/07_c_on_a_controller.py
"""

import ctypes
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import armdyn

robot = armdyn.load("ur5e")
rng = np.random.default_rng(0)
q, qd, qdd = rng.uniform(-1, 1, (3, 6))

compiler = shutil.which("cc")
with TemporaryDirectory() as folder:
    robot.export(folder, "c")
    if compiler is None:
        raise SystemExit("a C compiler (cc) is needed to go on from here")
    library = Path(folder, "libur5e.so")
    source = Path(folder, "ur5e.c")
    subprocess.run([compiler, "-std=c99", "-O2", "-shared", "-fPIC", source, "-lm", "-o", library],
                   check=True)  # fmt: skip
    torque = ctypes.CDLL(str(library)).ur5e_inverse_dynamics
    tau = np.empty(6)
    torque(*(a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for a in (q, qd, qdd, tau)))

difference = abs(tau - robot.inverse_dynamics(q, qd, qdd)).max()
print("torques by the C function:", *(f"{x:.3f}" for x in tau), "N m")
print(f"they differ from the kernel's by less than 1e-12: {difference < 1e-12}")
assert difference < 1e-12
