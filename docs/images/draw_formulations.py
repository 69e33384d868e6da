"""Draws the pictures of the pages on formulations: python docs/images/draw_formulations.py."""

from pathlib import Path
from typing import Any

import numpy as np
from diagram import (
    BLUE,
    BODY,
    FAINT,
    GREEN,
    PURPLE,
    RED,
    arrow,
    canvas,
    centre,
    frame,
    ground,
    joint,
    link,
    note,
    title,
    turn,
)  # fmt: skip
from matplotlib.patches import Arc, Circle

from armdyn.report.figures import GREY, INK, PALE, save_picture


def two_frames() -> Any:
    """The frame on the joint, and the frame at the far end."""
    figure, (left, right) = canvas(10.4, 3.45, 2)
    a, b = np.array([0.0, 0.0]), np.array([2.0, 0.75])
    along = (b - a) / np.hypot(*(b - a))
    side = np.array([-along[1], along[0]])
    angle, middle = np.arctan2(along[1], along[0]), a + 0.55 * (b - a)
    for axes in (left, right):
        link(axes, (-1.0, 0.25), a, 0.26, FAINT, PALE)
        link(axes, b, (2.85, 0.15), 0.26, FAINT, PALE)
        link(axes, a, b, 0.5)
        joint(axes, a)
        joint(axes, b)
        centre(axes, middle)
        axes.set_xlim(-1.15, 3.15)
        axes.set_ylim(-0.8, 1.5)
        note(axes, -0.86, 0.52, "link $i-1$", GREY, 9)
        note(axes, 2.85, -0.14, "link $i+1$", GREY, 9)
    title(left, "frame on the joint: Craig, Renaud, Saha")
    frame(left, a, angle, (r"$x_i$", r"$y_i$"), 0.62, ((0.1, 0.0), (-0.1, 0.04)))
    note(left, -0.1, -0.4, "joint $i$", GREY, 9)
    note(left, 2.32, 0.95, "joint $i+1$", GREY, 9, ha="left")
    note(left, -0.1, -0.62, r"$O_i$,  $z_i$ towards you", GREEN, 10)
    arrow(left, a - 0.17 * side, middle - 0.17 * side, colour=BLUE)
    note(left, *(0.55 * middle - 0.42 * side), r"$P_{C}$", BLUE, 12)
    arrow(left, a + 0.17 * side, b + 0.17 * side, colour=RED)
    note(left, *(0.5 * (a + b) + 0.42 * side), r"$P_{i+1}$", RED, 12)
    title(right, "frame at the far end: Fu, Gonzalez, Lee (standard DH)")
    frame(right, b, angle, (r"$x_i$", r"$y_i$"), 0.62, ((0.1, 0.04), (-0.1, 0.05)))
    note(right, -0.1, -0.4, "joint $i$", GREY, 9)
    note(right, -0.1, -0.62, r"$O_{i-1}$,  $z_{i-1}$ towards you", GREEN, 10)
    note(right, 2.02, 0.36, r"$O_i$", GREEN, 10)
    arrow(right, a + 0.17 * side, b + 0.17 * side, colour=RED)
    note(right, *(0.5 * (a + b) + 0.42 * side), r"$p_i^*$", RED, 12)
    arrow(right, b - 0.17 * side, middle - (0.17 * side - 0.03 * along), colour=BLUE)
    note(right, *(0.5 * (b + middle) - 0.43 * side), r"$\bar s_i$", BLUE, 12)
    arrow(right, a - 0.17 * side, middle - (0.17 * side + 0.03 * along), colour=PURPLE)
    note(right, *(0.5 * middle - 0.43 * side), r"$\bar c_i$", PURPLE, 12)
    return figure


def link_forces() -> Any:
    """All forces and moments on one link, and what they cause."""
    figure, (left, right) = canvas(10.4, 3.75, 2)
    a, b, c = np.array([0.0, 0.0]), np.array([2.0, 0.6]), np.array([1.05, 0.315])
    for axes in (left, right):
        link(axes, a, b, 0.42)
        joint(axes, a)
        joint(axes, b)
        centre(axes, c)
        axes.set_xlim(-1.0, 3.2)
        axes.set_ylim(-1.0, 1.55)
        note(axes, -0.36, 0.02, r"$O_i$", GREY, 10)
        note(axes, 2.46, 0.52, r"$O_{i+1}$", GREY, 10)
    title(left, "forces and moments on link $i$")
    arrow(left, a, (-0.35, 0.95), r"$f_i$", (-0.02, 0.13), BLUE, 2.0, 1.0)
    turn(left, a, 0.42, r"$n_i$", (0.32, -0.45), BLUE, -140, 0)
    arrow(left, b, (2.5, -0.35), r"$-f_{i+1}$", (0.18, -0.12), RED, 2.0, 1.0)
    turn(left, b, 0.42, r"$-n_{i+1}$", (0.5, 0.5), RED, 150, 10)
    arrow(left, c, (1.05, -0.55), r"$m_i\, g$", (0.24, 0.0), GREEN, 1.6, 0.8, dashed=True)
    note(left, -0.62, 1.32, "from link $i-1$", BLUE, 9, ha="left")
    note(left, 2.45, -0.78, "link $i+1$ pushes back", RED, 9)
    note(left, 1.05, -0.72, "weight", GREEN, 9)
    title(right, "the motion that they cause, weight taken to this side")
    arrow(right, c, (0.62, 1.05), r"$F_i = m_i\,(a_{C} - g)$", (0.3, 0.16), INK, 2.0, 1.0)
    turn(
        right, c, 0.5, r"$N_{C} = I\,\dot\omega_i + \omega_i\times I\,\omega_i$", (0.72, -0.85),
        INK, -120, 30,
    )  # fmt: skip
    arrow(right, (0.06, 0.09), (1.0, 0.405), r"$P_{C}$", (-0.1, 0.27), PURPLE, 1.3)
    arrow(right, (0.1, -0.13), (2.0, 0.44), r"$P_{i+1}$", (-0.45, -0.4), PURPLE, 1.3)
    return figure


def bodies() -> Any:
    """Link, augmented body and composite body."""
    figure, panels = canvas(11.6, 2.55, 3)
    points = [np.array(p) for p in ((0, 0), (1.15, 0.55), (2.2, 0.2), (2.95, 0.85))]
    names = ("link $i$", "augmented body $i$  (Renaud)", "composite body $i$  (Saha)")
    for k, (axes, name) in enumerate(zip(panels, names, strict=True)):
        axes.set_xlim(-0.65, 3.4)
        axes.set_ylim(-0.8, 1.2)
        title(axes, name)
        link(axes, (-0.6, 0.35), points[0], 0.22, FAINT, PALE)
        for j in range(3):
            drawn = j == 0 or k == 2
            link(
                axes, points[j], points[j + 1], 0.3, BODY if drawn else FAINT,
                GREY if drawn else PALE,
            )  # fmt: skip
        joint(axes, points[0])
        for p in points[1:3]:
            if k == 2:  # a weld
                axes.plot(*p, "x", color=RED, markersize=9, markeredgewidth=2.2, zorder=7)
            elif not (k == 1 and p is points[1]):
                joint(axes, p, 0.055)
        note(axes, 0.0, -0.25, r"$O_i$", GREY, 10)
        for j in range(3):
            if k != 1 or j == 0:
                centre(axes, 0.5 * (points[j] + points[j + 1]))
    axes = panels[1]
    axes.add_patch(Circle(points[1], 0.17, facecolor=RED, edgecolor="none", zorder=6))
    note(axes, 1.2, 0.95, r"$m^*_{i+1}$", RED, 12)
    arrow(axes, (2.3, 0.42), (1.4, 0.62), colour=RED, width=1.1, dashed=True)
    note(axes, 2.3, -0.2, "mass of all links beyond, at $O_{i+1}$", RED, 9)
    arrow(axes, points[0] + (0.06, -0.16), points[1] + (0.06, -0.16), colour=PURPLE, width=1.3)
    note(axes, 0.88, 0.0, r"$p_{i,i+1}$", PURPLE, 11)
    note(axes, 1.4, -0.6, "constant on link $i$ (joint $i+1$ revolute)", GREY, 9)
    note(panels[0], 1.4, -0.6, r"$m_i$, centre of mass, $I_i$", GREY, 9)
    note(panels[2], 1.4, -0.6, "all links beyond, joints welded: changes with $q$", GREY, 9)
    note(panels[2], 1.42, 0.93, "welded", RED, 9)
    return figure


def worked_arm() -> Any:
    """The posture and the motion of the worked examples."""
    figure, (axes,) = canvas(6.4, 2.95)
    figure.subplots_adjust(0.01, 0.01, 0.99, 0.99)
    a, b, c = np.array([0.0, 0.0]), np.array([1.6, 0.0]), np.array([2.56, 1.28])
    ground(axes, a)
    link(axes, a, b, 0.24)
    link(axes, b, c, 0.24)
    joint(axes, a)
    joint(axes, b)
    frame(axes, (-1.0, 0.9), 0.0, (r"$x_0$", r"$y_0$"), 0.4, ((0.1, 0.0), (0.0, 0.1)))
    arrow(axes, (-0.65, 0.75), (-0.65, 0.15), "$g$", (0.14, 0.05), GREEN, 1.8)
    axes.plot([1.6, 2.9], [0, 0], color=GREY, linewidth=0.9, linestyle=(0, (5, 3)))
    axes.plot([2.56, 2.56], [0, 1.13], color=GREY, linewidth=0.9, linestyle=(0, (2, 2)))
    axes.add_patch(Arc(b, 1.2, 1.2, theta1=0, theta2=53.13, color=INK, linewidth=1.1))
    note(axes, 2.02, 0.2, r"$q_2$", INK, 11)
    note(axes, 2.2, -0.15, "3", GREY, 10)
    note(axes, 2.68, 0.55, "4", GREY, 10)
    note(axes, 1.86, 0.72, "5", GREY, 10)
    note(axes, 0.8, 0.28, "link 1", GREY, 9)
    note(axes, 2.02, 1.15, "link 2", GREY, 9)
    turn(axes, a, 0.38, "", (0, 0), BLUE, -40, 100)
    turn(axes, b, 0.38, "", (0, 0), BLUE, 120, 250)
    note(axes, 0.12, 0.62, r"$\dot q_1 = 1,\ \ddot q_1 = 3$", BLUE, 11, ha="left")
    note(axes, 1.3, -0.6, r"$\dot q_2 = 2,\ \ddot q_2 = 4$", BLUE, 11, ha="left")
    note(axes, 3.0, 1.15, r"$\cos q_2 = 0.6$", INK, 11, ha="left")
    note(axes, 3.0, 0.85, r"$\sin q_2 = 0.8$", INK, 11, ha="left")
    note(axes, 3.0, 0.55, r"$q_1 = 0$", INK, 11, ha="left")
    axes.set_xlim(-1.25, 4.2)
    axes.set_ylim(-0.85, 1.6)
    return figure


def felt() -> Any:
    """What the velocities of the two-link arm are felt as, and where."""
    figure, panels = canvas(11.6, 3.05, 3)
    names = (
        r"joint 2 turns: felt at joint 1,  $h_{122}$",
        r"joint 1 turns: felt at joint 2,  $h_{211}$",
        r"both turn: felt at joint 1,  $h_{112}$",
    )
    a, b, c = np.array([0.0, 0.0]), np.array([1.5, 0.0]), np.array([2.4, 1.2])
    m = 0.5 * (b + c)
    for axes, name in zip(panels, names, strict=True):
        axes.set_xlim(-0.75, 3.25)
        axes.set_ylim(-0.95, 1.7)
        title(axes, name)
        ground(axes, a)
        link(axes, a, b, 0.22)
        link(axes, b, c, 0.22)
        joint(axes, a)
        joint(axes, b)
        centre(axes, m)
    one, two, both = panels
    out = (c - b) / np.hypot(*(c - b))
    turn(one, b, 0.36, r"$\dot\theta_2$", (-0.02, -0.5), BLUE, 120, 250)
    arrow(one, m, m + 0.85 * out, colour=RED, width=2.0)
    note(one, 2.85, 0.85, "centrifugal\nforce", RED, 9)
    foot = m + out * np.dot(a - m, out)
    one.plot(*np.transpose([foot, m]), color=RED, linewidth=0.9, linestyle=(0, (4, 3)))
    arrow(one, a, foot, "arm", (-0.12, -0.22), PURPLE, 1.3, 0.85, 9)
    note(one, 1.3, 1.55, "has an arm about joint 1", GREY, 9)
    turn(two, a, 0.36, r"$\dot\theta_1$", (0.1, 0.55), BLUE, -40, 100)
    ray = m / np.hypot(*m)
    two.plot(*np.transpose([a, m]), color=RED, linewidth=0.9, linestyle=(0, (4, 3)))
    arrow(two, m, m + 0.85 * ray, colour=RED, width=2.0)
    note(two, 2.75, 0.45, "centrifugal\nforce", RED, 9)
    foot = ray * np.dot(b, ray)
    arrow(two, b, foot, "arm", (-0.2, 0.1), PURPLE, 1.3, 0.4, 9)
    note(two, 1.3, 1.55, "has an arm about joint 2", GREY, 9)
    turn(both, a, 0.36, r"$\dot\theta_1$", (0.1, 0.55), BLUE, -40, 100)
    turn(both, b, 0.36, r"$\dot\theta_2$", (-0.02, -0.5), BLUE, 120, 250)
    arrow(both, m, m + 0.85 * out, colour=RED, width=2.0)
    note(both, 2.85, 0.85, "Coriolis\nforce", RED, 9)
    side = np.array([-out[1], out[0]])
    arrow(both, m, m + 0.65 * side, colour=BLUE, width=1.3, dashed=True)
    note(both, 0.93, 1.12, "velocity\nby joint 2", BLUE, 9)
    note(both, 1.3, 1.55, "an arm about joint 1, none about joint 2", GREY, 9)
    return figure


if __name__ == "__main__":
    for draw in (two_frames, link_forces, bodies, worked_arm, felt):
        save_picture(Path(__file__).parent / f"{draw.__name__}.png", draw)
