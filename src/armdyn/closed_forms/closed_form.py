"""The equations of motion in closed form, as trigonometric polynomials.

M        by composite bodies, with rotors
h_ikm  = ½ (∂M_ik/∂q_m + ∂M_im/∂q_k - ∂M_km/∂q_i)      Christoffel symbols
V_i    = Σ_km h_ikm q̇_k q̇_m
U      = -Σ g·(m p),   G = ∂U/∂q,   P = ∂(Σ m p)/∂q,   T = ½ q̇ᵀ M q̇
B_i,jk = 2 h_ijk (j < k),   C_ij = h_ijj

Where passive joints follow linearly from the others, q_all = K q + k, the mass matrix is Kᵀ M K,
and all is written in angles that are sums of the coordinates.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np

from armdyn.arrays import Array
from armdyn.closed_forms.symbolic_robot import SymbolicRobot
from armdyn.forks import cached_property
from armdyn.formulations.composite_body import mass_matrix
from armdyn.formulations.energy import potential_energy
from armdyn.formulations.rotors import turning_row
from armdyn.graph.ring import Trig


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """Every term of the equations of motion; entries of arrays are polynomials."""

    robot: SymbolicRobot

    @cached_property
    def M(self) -> Array:
        """Mass matrix, (N, N)."""
        M = self.robot.rotors + self.robot.ring.number(0)
        K = self.robot.K
        for joints, model in self.robot.parts:
            q = self.robot.positions(joints)
            M[np.ix_(joints, joints)] += mass_matrix(model, q)
            for spin, momentum in self.robot.spins:
                if spin.link in joints:
                    row = momentum * turning_row(model, q, joints.index(spin.link), spin.axis)
                    for i, ratio in spin.ratios:
                        M[i, joints] += Fraction(ratio) * row
                        M[joints, i] += Fraction(ratio) * row
        return self._clean(M if K is None else K.T @ M @ K)

    @cached_property
    def U(self) -> Trig:
        """Potential energy, without its constant part."""
        total = self.robot.ring.number(0)
        for joints, model in self.robot.parts:
            total = total + potential_energy(model, self.robot.positions(joints))
        return self._moving(total)

    @cached_property
    def P(self) -> Array:
        """Momentum of the arm for a unit rate of each joint, in base axes, (3, N)."""
        moments = [self.robot.ring.number(0)] * 3
        for joints, model in self.robot.parts:
            for axis in range(3):
                field = np.array([-int(k == axis) for k in range(3)], dtype=object)
                along = replace(model, gravity=field)
                moments[axis] += potential_energy(along, self.robot.positions(joints))
        n = range(self.robot.n)
        return np.array([[self.robot.slope(m, i) for i in n] for m in moments], dtype=object)

    @cached_property
    def h(self) -> Array:
        """Christoffel symbols, (N, N, N)."""
        n, M = self.robot.n, self.M
        slope = np.empty((n, n, n), dtype=object)
        h = np.empty((n, n, n), dtype=object)
        for i, k in combinations_with_replacement(range(n), 2):
            for m in range(n):
                slope[i, k, m] = slope[k, i, m] = self.robot.slope(M[k, i], m)
        for i, k, m in np.ndindex(n, n, n):
            if k <= m:
                twice = slope[i, k, m] + slope[i, m, k] - slope[k, m, i]
                h[i, k, m] = h[i, m, k] = twice / 2
        return h

    @cached_property
    def V(self) -> Array:
        """Coriolis and centrifugal torques, (N,)."""
        qd = self.rates("qd")
        return self._clean(np.einsum("ikm,k,m->i", self.h, qd, qd))

    @cached_property
    def G(self) -> Array:
        """Gravity torques, (N,)."""
        return self._clean([self.robot.slope(self.U, i) for i in range(self.robot.n)])

    @cached_property
    def T(self) -> Trig:
        """Kinetic energy."""
        qd = self.rates("qd")
        return sum((self.M * np.outer(qd, qd)).flat, self.robot.ring.number(0)) / 2

    @property
    def B(self) -> Array:
        """Coriolis coefficients of q̇_j q̇_k, j < k, (N, N(N-1)/2)."""
        j, k = np.triu_indices(self.robot.n, 1)
        return 2 * self.h[:, j, k]

    @property
    def C(self) -> Array:
        """Centrifugal coefficients of the squared velocities, (N, N)."""
        return np.einsum("ijj->ij", self.h)

    def rates(self, name: str) -> Array:
        """The velocities "qd" or accelerations "qdd", (N,)."""
        names = (f"{name}{j}" for j in self.robot.coordinates)
        return np.array([*map(self.robot.ring.symbol, names)], dtype=object)

    def _moving(self, value: Trig) -> Trig:
        """A polynomial without its constant part."""
        keep = value.split(name for name in self.robot.ring.symbols if name[0] == "q")
        return value - keep.get((self.robot.ring.unit, 0), 0)

    def _clean(self, values: object) -> Array:
        """The array with every entry a polynomial."""
        array: Array = np.asarray(values, dtype=object) + self.robot.ring.number(0)
        return array
