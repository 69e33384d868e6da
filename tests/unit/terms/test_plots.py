import importlib.util

import numpy as np
import pytest

import armdyn
from armdyn.errors import MissingExtraError, WriteError
from armdyn.io.csv.trajectory import SampledMotion
from armdyn.report.figures import POINTS, check_plot, thinned
from armdyn.study.terms.torques import torque_report

SIGNATURES = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}


def report(n: int, rows: int = 20):
    joints = [dict(joint="prismatic" if i == 1 else "revolute", a=0.2, mass=1.0) for i in range(n)]
    t = np.linspace(0, 1, rows)
    q = np.sin(t)[:, None] * np.ones(n)
    return torque_report(armdyn.from_dh(joints), SampledMotion(t, q, q, q))


@pytest.mark.slow
@pytest.mark.parametrize("ending", SIGNATURES)
def test_the_ending_chooses_the_format(tmp_path, ending):
    path = tmp_path / f"torques{ending}"
    report(3).plot(path)
    assert path.read_bytes().startswith(SIGNATURES[ending])
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 7, 12])
def test_every_joint_has_a_panel_with_its_name_and_unit(tmp_path, n):
    from matplotlib import rc_context

    with rc_context({"svg.fonttype": "none"}):
        report(n).plot(tmp_path / "torques.svg")
    text = (tmp_path / "torques.svg").read_text()
    assert all(f">joint{i + 1}<" in text for i in range(n))
    assert text.count(">[N·m]<") == n - (n > 1)
    assert text.count(">[N]<") == (n > 1)


def test_a_single_instant_can_be_drawn(tmp_path):
    report(2, rows=1).plot(tmp_path / "torques.png")
    assert (tmp_path / "torques.png").stat().st_size > 0


def test_long_lines_are_thinned_but_keep_their_peaks():
    t = np.linspace(0, 1, 50_000)
    values = np.random.default_rng(2).normal(size=t.size)
    thin_t, thin = thinned(t, values)
    assert len(thin_t) == len(thin) == 2 * POINTS
    assert (thin.max(), thin.min()) == (values.max(), values.min())
    assert (np.diff(thin_t) >= 0).all()


def test_what_cannot_be_drawn_is_refused_before_anything_is_computed(tmp_path, monkeypatch):
    with pytest.raises(WriteError, match=r"torques\.xyz.* must be one of \.png, \.pdf, \.svg"):
        check_plot(tmp_path / "torques.xyz")
    with pytest.raises(WriteError, match="cannot write"):
        report(1).plot(tmp_path / "nowhere" / "torques.png")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install matplotlib"):
        check_plot(tmp_path / "torques.png")
