"""The Denavit-Hartenberg table of any arm, whatever it was described in.

Standard (Paul): A_i = Rz(θ) Tz(d) Tx(a) Rx(α). Modified (Craig): T_i = Rx(α) Tx(a) Rz(θ) Tz(d),
α and a of row i being α_{i-1} and a_{i-1}. The joint variable is added to θ, or to d where it
slides. With the transforms of the base and of the tool the product of all rows is the pose of the
tool, exactly, for axes of any direction:

    T(q) = base · A_1(q_1) · ... · A_n(q_n) · tool

x_i lies on the common normal of axis i and the next one; behind the last joint that is the z axis
of the tool. Where axes are parallel, the normal is the one without an offset d.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Literal

import numpy as np

from armdyn.arrays import Array, frozen, record
from armdyn.errors import check_known
from armdyn.formulations.kinematics import frame_in_world, world_frames
from armdyn.html import html_table
from armdyn.model import RobotModel
from armdyn.model.transform import frame_of, inverse, transform
from armdyn.shorten.canonical.frames import turn_about

Convention = Literal["standard", "modified"]
CONVENTIONS = ("standard", "modified")
PARALLEL_SINE = 1e-9
"""Sine of the angle below which two axes are parallel."""
ROUNDING = 1e-12
"""A length, relative to the arm, or an angle [rad] so near to zero or a quarter turn is that."""


@record
class DhRow:
    """A row: lengths in m, angles in rad; of modified tables a and alpha are those before it."""

    joint: str
    kind: str
    a: float
    alpha: float
    d: float
    theta: float
    pitch: float | None = None
    """How far a helical joint slides for a radian [m/rad]."""


@record(eq=False)
class DhTable:
    """The table of the joints that carry a link, from the base on."""

    robot: str
    convention: Convention
    link: str
    """Whose pose the product of the table is."""
    rows: tuple[DhRow, ...]
    base: Array
    """The frame before the first row in the world, (4, 4)."""
    tool: Array
    """The link in the frame after the last row, (4, 4)."""

    def as_rows(self) -> list[dict[str, Any]]:
        """The rows as `armdyn.from_dh` takes them."""
        words = {"joint": "name", "kind": "joint"}
        rows = (asdict(row).items() for row in self.rows)
        return [{words.get(k, k): x for k, x in row if x is not None} for row in rows]

    def text(self, *, degrees: bool = False) -> str:
        """The table for people."""
        cells = [self.columns(degrees), *self.cells(degrees)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = (
            "  ".join(c.ljust(w) if k < 2 else c.rjust(w) for k, (c, w) in enumerate(pairs))
            for pairs in (list(zip(row, widths, strict=True)) for row in cells)
        )
        return "\n".join([self.title, *(line.rstrip() for line in lines)]) + "\n"

    @property
    def title(self) -> str:
        """What the table is of."""
        return f"{self.robot}: {self.convention} Denavit-Hartenberg table of {self.link}"

    def columns(self, degrees: bool = False) -> list[str]:
        """The names of the columns, with units."""
        unit, before = "°" if degrees else "rad", self.convention == "modified"
        a, alpha = ("a before [m]", "alpha before") if before else ("a [m]", "alpha")
        return ["joint", "kind", a, f"{alpha} [{unit}]", "d [m]", f"theta [{unit}]"]

    def cells(self, degrees: bool = False) -> Iterator[list[str]]:
        """The cells of each row; the joint variable is written where it is added."""
        for i, row in enumerate(self.rows, 1):
            turns, slides = row.kind != "prismatic", row.kind != "revolute"
            step = "" if row.pitch is None else f"{row.pitch:.6g} "
            d, theta = f"{row.d:.6g}", _angle(row.theta, degrees)
            yield [
                row.joint,
                row.kind,
                f"{row.a:.6g}",
                _angle(row.alpha, degrees),
                _added(d, f"{step}q{i}") if slides else d,
                _added(theta, f"q{i}") if turns else theta,
            ]

    def data(self) -> dict[str, Any]:
        """The table for programs."""
        rows = [asdict(row) for row in self.rows]
        lists = {"rows": rows, "base": self.base.tolist(), "tool": self.tool.tolist()}
        return asdict(self) | lists

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return html_table(self.columns(), self.cells(), self.title, texts=2)


def dh_table(model: RobotModel, convention: Convention = "standard", link: str = "tool") -> DhTable:
    """The table of the joints that carry a link, or the tool."""
    check_known("convention of DH tables", convention, CONVENTIONS)
    frame = model.frame(link)
    frames = world_frames(model, np.zeros(len(model.joints)))
    chain = model.paths[frame.link] if frame.link >= 0 else ()
    end = transform(*frame_in_world(frames, frame))
    axes = [(frames.P[i], frames.z[i] / np.linalg.norm(frames.z[i])) for i in chain]
    normals = _Normals(model.base, axes, end)
    rows = tuple(normals.rows(model, chain, convention))
    base, last = normals.start, normals.last(convention)
    return DhTable(
        model.title or model.name, convention, link, rows, frozen(base), frozen(inverse(last) @ end)
    )


class _Normals:
    """Common normals of the axes of a chain, one after the other, at the zero position."""

    def __init__(self, base: Array, axes: Sequence[tuple[Array, Array]], end: Array):
        points = [base[:3, 3], end[:3, 3], *(p for p, _ in axes)]
        self.size = max(float(np.ptp(points, axis=0).max()), 1e-9)
        self.z = [z for _, z in axes]
        if not axes:
            self.start = base
            return
        point, z = axes[0]
        origin = point + z * (z @ (base[:3, 3] - point))
        self.start = transform(frame_of(_across(z, base[:3, 0], base[:3, 1]), z), origin)
        self.x: list[Array] = [self.start[:3, 0]]
        self.leaves: list[Array] = []
        """Where the normal towards the next axis leaves axis i."""
        self.enters: list[Array] = [origin]
        """Where the normal from the axis before enters axis i."""
        for i, (point, z) in enumerate(axes):
            final = i + 1 == len(axes)
            nxt = (end[:3, 3], end[:3, 2]) if final else axes[i + 1]
            self._join(point, z, *nxt, end if final else None)

    def _join(self, p: Array, z: Array, other: Array, w: Array, end: Array | None) -> None:
        """The normal from the axis (p, z) to the axis (other, w), which may be that of the end."""
        normal = np.cross(z, w)
        sine = float(np.linalg.norm(normal))
        if sine > PARALLEL_SINE:
            normal = normal / sine
            gap = float(normal @ (other - p))
            # p + s z + gap·normal = other + t w
            between = other - p - gap * normal
            s, t = np.linalg.lstsq(np.column_stack([z, -w]), between, rcond=None)[0]
            leave, enter = p + s * z, other + t * w
            # of axes that meet both directions will do: the one nearer to the x axis before
            apart = abs(gap) > ROUNDING * self.size
            x = normal if (gap if apart else normal @ self.x[-1]) > -PARALLEL_SINE else -normal
        else:
            level = self.enters[-1] if end is None else other
            leave = p + z * (z @ (level - p))
            enter = other + w * (w @ (leave - other))
            gap = float(np.linalg.norm(enter - leave))
            turned = self.x[-1] if end is None else end[:3, 0]
            apart = gap > ROUNDING * self.size
            x = (enter - leave) / gap if apart else _across(z, turned, self.x[-1])
        self.leaves.append(leave)
        self.enters.append(enter)
        self.x.append(x / np.linalg.norm(x))
        self.next_z = w

    def rows(
        self, model: RobotModel, chain: Sequence[int], convention: Convention
    ) -> Iterator[DhRow]:
        """The rows of the table."""
        for i, joint in enumerate(model.joints[k] for k in chain):
            z = self.z[i]
            x = self.x[i + 1]
            last = self.x[i]
            theta, _ = turn_about(z, last, x, ROUNDING)
            d = self._length((self.leaves[i] - self.enters[i]) @ z)
            a: Any
            if convention == "standard":
                w = self.z[i + 1] if i + 1 < len(self.z) else self.next_z
                a = (self.enters[i + 1] - self.leaves[i]) @ x
                alpha, _ = turn_about(x, z, w, ROUNDING)
            elif i == 0:
                a, alpha = 0.0, 0.0
            else:
                a = (self.enters[i] - self.leaves[i - 1]) @ last
                alpha, _ = turn_about(last, self.z[i - 1], z, ROUNDING)
            pitch = float(joint.type.slide) if joint.type.pitched else None
            yield DhRow(joint.name, joint.kind, self._length(a), alpha, d, theta, pitch)

    def last(self, convention: Convention) -> Array:
        """The frame after the last row, in the world."""
        if not self.z:
            return self.start
        if convention == "modified":
            return transform(frame_of(self.x[-1], self.z[-1]), self.leaves[-1])
        return transform(frame_of(self.x[-1], self.next_z), self.enters[-1])

    def _length(self, value: Any) -> float:
        return 0.0 if abs(value) <= ROUNDING * self.size else float(value)


def _across(z: Array, *guesses: Array) -> Array:
    """A unit vector across z, near the first guess that is not along it."""
    for guess in (*guesses, *np.eye(3)):
        across = guess - z * (z @ guess)
        if np.linalg.norm(across) > 0.1:
            break
    return np.asarray(across / np.linalg.norm(across))


def _angle(value: float, degrees: bool) -> str:
    return f"{math.degrees(value):.6g}" if degrees else f"{value:.6g}"


def _added(number: str, variable: str) -> str:
    return variable if number in ("0", "-0") else f"{variable} + {number}".replace("+ -", "- ")
