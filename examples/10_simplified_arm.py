"""What a constant mass matrix is worth: Saha's arm as it is, and as `armdyn.simplify` changes it.

Joint 1 of the arm turns by 2 rad, with a spring and a damper of its own in each joint: how far are
the others thrown? Then the arm moves freely, in fixed steps of several lengths: how much energy do
the steps lose or make? Both arms are in the field of gravity.

    python examples/10_simplified_arm.py [PICTURE.png]
"""

import sys
from typing import Any

import numpy as np

import armdyn
from armdyn.report.figures import GREY, INK, save_picture
from armdyn.simulation import GravityPD, quintic

START, TURN = np.array([0.0, 0.3, -0.8]), np.array([2.0, 0.0, 0.0])
RATES = (2.0, -1.0, 3.0)
STEPS = (0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
AFTER = "#009E73"


def disturbance(arm: armdyn.Robot) -> tuple[np.ndarray, np.ndarray]:
    """Time (m,) [s] and how far joints 2 and 3 are from their places (m, 2) [rad]."""
    move = quintic(START, START + TURN, duration=0.8)
    hold = GravityPD(arm, move, kp=(100.0, 100.0, 25.0), kd=(20.0, 20.0, 2.5))
    run = armdyn.simulate(arm, START, duration=1.5, controller=hold)
    return run.t, run.q[:, 1:] - START[1:]


def drift(arm: armdyn.Robot, step: float) -> float:
    """Energy that two seconds of free motion lose or make, relative to what is exchanged."""
    run = armdyn.simulate(arm, START, RATES, duration=2.0, method="rk4", step=step, dt=step)
    return run.energy_drift


def draw(thrown: dict[str, Any], drifts: dict[str, list[float]]) -> Any:
    """Both comparisons in one picture."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    figure = Figure(figsize=(10.4, 4.2), facecolor="white", layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.1, 1))
    t, away = thrown["before"]
    places = ("joint 2", "-", (0, -14), "center"), ("joint 3", "--", (26, 0), "left")
    for values, (joint, style, place, align) in zip(away.T, places, strict=True):
        left.plot(t, values, style, color=INK, lw=1.8)
        peak = np.abs(values).argmax()
        label = f"{joint} before: {abs(values[peak]):.3f} rad"
        left.annotate(label, (t[peak], values[peak]), place, textcoords="offset points", ha=align,
                      va="center")  # fmt: skip
    t, away = thrown["after"]
    left.plot(t, away, color=AFTER, lw=2.2)
    left.annotate(f"joints 2 and 3 after: {np.abs(away).max():.0e} rad", (1.5, 0), (0, 16),
                  textcoords="offset points", ha="right", va="bottom", color=AFTER)  # fmt: skip
    left.margins(y=0.12)
    left.axvspan(0, 0.8, color=GREY, alpha=0.08, lw=0)
    left.text(0.02, 0.98, "joint 1 turns", va="top", color=GREY, transform=left.transAxes)
    left.set(xlabel="time [s]", ylabel="distance from its place [rad]", xlim=(0, 1.5))
    left.set_title("Joint 1 turns by 2 rad: what the others feel")
    for name, marker, colour in (("before", "o", INK), ("after", "s", AFTER)):
        right.loglog(STEPS, drifts[name], marker=marker, ms=5, color=colour)
        right.annotate(name, (STEPS[0], drifts[name][0]), (8, 0), textcoords="offset points",
                       va="center", color=colour)  # fmt: skip
    right.axhspan(1e-17, 2e-14, color=GREY, alpha=0.08, lw=0)
    right.text(0.02, 0.02, "rounding", color=GREY, transform=right.transAxes)
    right.set(xlabel="step of the integrator (Runge-Kutta 4) [s]", ylabel="energy drift")
    right.set(ylim=(1e-17, 3), xlim=(0.0008, 0.45))
    right.set_title("Free motion of 2 s: energy lost or made")
    return figure


def main() -> None:
    """Print both comparisons, and draw them where told."""
    before = armdyn.load("saha_3r")
    arms = {"before": before, "after": armdyn.simplify(before).robot}
    thrown = {name: disturbance(arm) for name, arm in arms.items()}
    drifts = {name: [drift(arm, step) for step in STEPS] for name, arm in arms.items()}
    for name in arms:
        two, three = np.abs(thrown[name][1]).max(0)
        print(f"{name:6}  joint 2 thrown by {two:.1e} rad, joint 3 by {three:.1e} rad")
        told = ", ".join(f"{d:.0e} at {s:g} s" for s, d in zip(STEPS, drifts[name], strict=True))
        print(f"        energy drift {told}")
    if len(sys.argv) > 1:
        save_picture(sys.argv[1], draw, thrown, drifts)


if __name__ == "__main__":
    main()
