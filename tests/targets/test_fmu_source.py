"""An FMU of sources, compiled by who imports it."""

import fmpy
import numpy as np
from fmpy.build import build_platform_binary

import armdyn
from armdyn.simulation.simulator import simulate


def test_an_fmu_of_sources_is_compiled_where_it_is_used(tmp_path):
    arm = armdyn.load("panda")
    path = arm.export(tmp_path, target="fmu-source").files[0]
    folder = fmpy.extract(str(path), unzipdir=str(tmp_path / "unit"))
    (tmp_path / "compiled").mkdir()
    build_platform_binary(folder, tmp_path / "compiled", all_warnings=True)
    outputs = [f"q[{k}]" for k in range(1, 8)]
    result = fmpy.simulate_fmu(folder, stop_time=0.5, output_interval=0.1, output=outputs)
    same = simulate(arm, [0.0] * 7, duration=0.5, method="rk4", dt=0.1, step=1e-3)
    got = np.array([list(row)[1:] for row in result])
    error = np.abs(got - same.q).max()
    assert error < 1e-9 * np.abs(same.q).max()
    print(f"FMPy {fmpy.__version__}: panda falls for 0.5 s as in armdyn, off by {error:.1e} rad")
