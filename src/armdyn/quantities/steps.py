"""Steps of integrators as straight-line programs: from one state of a robot to the next.

Classical Runge-Kutta, with a = M⁻¹ (τ - C q̇ - g - f) and a_1 to a_4 its four values in a step,

    q' = q + h q̇ + h²/6 (a_1 + a_2 + a_3),   q̇' = q̇ + h/6 (a_1 + 2 a_2 + 2 a_3 + a_4)

and the variational midpoint rule in positions and momenta p = M q̇, which is symplectic:

    p = M(m) v - h/2 F,   m = q + h/2 v,   F = ∂L/∂q (m, v) + τ - f(v)
    q' = q + h v,   p' = p + h F

and Runge-Kutta of a base that nothing holds, with its rotation on its manifold (`runge_kutta`): its
state has the momentum in place of the twist, about the centre of mass, which weight alone changes,

    y = (u, p, q, h, q̇),   ẏ = (u̇, v, q̇, (m g, 0), q̈),   (v, ω) = A_b⁻¹ (h - A_q q̇)

so momentum is kept to rounding.

Of the symplectic method the first equation is solved for v from M(q)⁻¹ p on, by
v ← v + M(q)⁻¹ (p + h/2 F - M(m) v): each time the error shrinks by a factor of the order of h times
the rates.

References: E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, II.1 and VI.6;
J. Marsden, M. West, Discrete mechanics and variational integrators, 2001, sections 2.6 and 3.2.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from armdyn.arrays import Array, record
from armdyn.errors import ModelError, check_known, shown
from armdyn.formulations.runge_kutta import cayley, cayley_rate, rk4_step, runge_kutta
from armdyn.graph.program import Program
from armdyn.model import RobotModel
from armdyn.quantities.center_of_mass import total_mass
from armdyn.quantities.derivatives import substituted
from armdyn.quantities.dynamics import acceleration
from armdyn.quantities.free_base import BASE, POSE, motion_of_momentum
from armdyn.quantities.momentum import momentum, slope_of_lagrangian
from armdyn.quantities.request import EFFORTS, Request
from armdyn.quantities.traced_robot import TracedRobot
from armdyn.shorten.shortest import SearchBudget

LAWS = ("torque", "pd", "computed_torque")
"""Where torques come from: tables; a PD controller with gravity compensated; computed torque."""
MOST_ITERATIONS = 100


@record
class StepRequest:
    """A step of an integrator.

    The program takes the row of an arm, the length of the step and what the law needs; it gives
    the next row. A row is the state, (q, q̇) or (q, p); then |q|² + |q̇|², by which one sees that a
    motion diverges; and for an implicit method the size of the last correction of velocities. Of a
    base that floats the twelve numbers of its pose come before q, its momentum and six zeros before
    q̇.
    """

    method: str
    """One of `METHODS`."""
    law: str = "torque"
    """One of `LAWS`."""
    friction: bool = True
    iterations: int = 0
    """Of an implicit method."""
    effort: str = EFFORTS[0]

    @property
    def quantity(self) -> str:
        """What it is called in messages."""
        return f"one step of {self.method}"

    @property
    def extra(self) -> int:
        """Numbers that follow the state in a row."""
        return 2 if self.method == "symplectic" else 1

    @property
    def reference(self) -> int:
        """How many vectors it takes to say what is wanted: q, q̇, perhaps q̈; a torque to add."""
        return {"torque": 0, "pd": 3, "computed_torque": 4}[self.law]

    @property
    def moments(self) -> tuple[str, ...]:
        """When the reference is needed."""
        return ("middle",) if self.method == "symplectic" else ("start", "middle", "end")

    def check(self) -> None:
        """An error if there is no such step."""
        check_known("compiled method", self.method, METHODS)
        check_known("compiled control law", self.law, LAWS)
        least = 1 if self.method == "symplectic" else 0
        if not least <= self.iterations <= MOST_ITERATIONS:
            raise ModelError(
                f"the number of iterations must be from {least} to {MOST_ITERATIONS}, "
                f"got {shown(self.iterations)}"
            )

    def width(self, n: int) -> int:
        """Positions in a row for n coordinates."""
        return n + POSE * (self.method == "rkmk4")

    def inputs(self, n: int) -> dict[str, int]:
        """Length of each argument for n coordinates, in order."""
        sizes = {"row": 2 * self.width(n) + self.extra, "h": 1}
        if self.law == "torque":
            return sizes | {"start": n, "end": n}
        sizes |= {"kp": n, "kd": n}
        return sizes | dict.fromkeys(self.moments, self.reference * n)


def step_program(model: RobotModel, request: StepRequest) -> Program:
    """The program of a step."""
    request.check()
    whole = Request("forward_dynamics", friction=request.friction, effort=request.effort)
    traced = TracedRobot(model, whole, budget=SearchBudget(request.effort == "deep"))
    step = partial(METHODS[request.method], _Step(traced, request))
    outputs = traced.built(request.quantity, step)
    return traced.program(request.quantity, outputs, request.inputs(traced.n))


class _Step:
    """The nodes of a step."""

    def __init__(self, s: TracedRobot, request: StepRequest):
        self.s = s
        self.request = request
        self.given = {k: s.graph.inputs(k, size) for k, size in request.inputs(s.n).items()}
        self.h = self.given["h"][0]
        self.q, self.rate = np.split(self.given["row"][: 2 * request.width(s.n)], 2)
        """Positions, and velocities or momenta."""

    def torque(self, moment: str, q: Array, qd: Array) -> Array:
        """What drives the joints at the start, in the middle or at the end of the step."""
        law, given = self.request.law, self.given
        if law == "torque":
            start, end = given["start"], given["end"]
            return {"start": start, "middle": 0.5 * (start + end), "end": end}[moment]
        q_d, qd_d, *qdd_d, added = np.split(given[moment], self.request.reference)
        feedback = given["kp"] * (q_d - q) + given["kd"] * (qd_d - qd)
        if law == "pd":
            return self.s.torques(q, self.s.zero, self.s.zero) + feedback + added
        return self.s.torques(q, qd, qdd_d[0] + feedback) + added


def _rk4(step: _Step) -> Array:
    q, qd, h = step.q, step.rate, step.h

    def slope(after: float, q: Array, qd: Array) -> Array:
        moment = step.request.moments[round(2 * after)]
        return acceleration(step.s, q, qd, step.torque(moment, q, qd))

    _, (a1, a2, a3, a4) = runge_kutta(slope, q, qd, h)
    sixth = h * (1.0 / 6.0)
    between = a2 + a3
    q_next = q + h * (qd + sixth * (a1 + between))
    qd_next = qd + sixth * (a1 + 2.0 * between + a4)
    return np.concatenate([q_next, qd_next, [q_next @ q_next + qd_next @ qd_next]])


def _midpoint(step: _Step) -> Array:
    q, p, h, s = step.q, step.rate, step.h, step.s
    momentum, push = _lagrangian(s)
    half = 0.5 * h

    def force(middle: Array, v: Array) -> Array:
        return push(middle, v) + step.torque("middle", middle, v) - s.friction(middle, v)

    inverse = partial(s.solve, s.mass_matrix(q))
    v = inverse(p)
    correction = s.zero
    for _ in range(step.request.iterations):
        middle = q + half * v
        correction = inverse(p + half * force(middle, v) - momentum(middle, v))
        v = v + correction
    q_next = q + h * v
    p_next = p + h * force(q + half * v, v)
    sizes = [q_next @ q_next + v @ v, np.sqrt(correction @ correction)]
    return np.concatenate([q_next, p_next, sizes])


def _rkmk4(step: _Step) -> Array:
    s, n = step.s, step.s.n
    start = step.q[:9].reshape(3, 3)
    y = np.concatenate([s.nodes(np.zeros(3)), step.q[9:], step.rate[:BASE], step.rate[POSE:]])

    def slope(after: float, y: Array) -> Array:
        u, p, q, momentum, qd = np.split(y, [3, 6, 6 + n, 12 + n])
        pose = np.concatenate([(cayley(u) @ start).ravel(), p])
        tau = step.torque(step.request.moments[round(2 * after)], q, qd)
        twist, qdd = motion_of_momentum(s, pose, momentum, q, qd, tau)
        weight = total_mass(s.model) * s.plain.gravity
        rates = cayley_rate(u, twist[3:]), twist[:3], qd, weight, np.zeros(3), qdd
        return s.nodes(np.concatenate(rates))

    u, p, q, momentum, qd = np.split(rk4_step(slope, y, step.h), [3, 6, 6 + n, 12 + n])
    turned = (cayley(u) @ start).ravel()
    padding = s.nodes(np.zeros(POSE - BASE))
    return np.concatenate([turned, p, q, momentum, padding, qd, [q @ q + qd @ qd]])


Field = Callable[[Array, Array], Array]


def _lagrangian(s: TracedRobot) -> tuple[Field, Field]:
    """∂L/∂q̇ and ∂L/∂q as functions of nodes."""
    x = s.graph.inputs("x", s.n)
    w = s.graph.inputs("w", s.n)
    p = momentum(s, x, w)
    slope = s.nodes(slope_of_lagrangian(s, x, w, p))

    symbols = np.concatenate([s.positions(x), w])

    def at(values: Array, q: Array, v: Array) -> Array:
        here = np.concatenate([s.positions(s.nodes(q)), s.nodes(v)])
        return substituted(values, symbols, here)

    return partial(at, p), partial(at, slope)


METHODS: dict[str, Callable[[_Step], Array]] = {
    "rk4": _rk4,
    "symplectic": _midpoint,
    "rkmk4": _rkmk4,
}
"""For each name the step as nodes."""
