"""Minimisation inside a domain: BFGS with a line search that never leaves it.

A cost is infinite outside of its domain, as a barrier is, so steps are halved until they stay
inside and the cost falls enough. The inverse Hessian is kept from one stage of a barrier to the
next.

Reference: J. Nocedal and S. Wright, Numerical Optimization, 2006, chapters 6 and 19.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array

Cost = Callable[[Array], tuple[float, Array]]
"""Value and gradient; an infinite value outside of the domain, and then any gradient."""

FIRST_STEP = 0.05
"""Largest entry of the first step, when nothing is known of the curvature."""
LEAST_STEP = 1e-9
"""Share of a step below which the search along it ends."""
ENOUGH_DESCENT = 1e-4
"""Share of the descent that the slope promises which a step must give."""
CONVERGED_STEPS = 4
"""So many steps in a row that gain too little end the search."""


@dataclass(slots=True, eq=False)
class Descent:
    """Where a search is, and what it knows of the curvature."""

    x: Array
    inverse: Array | None = None
    """The inverse Hessian, (k, k); None: not known."""

    def run(self, cost: Cost, steps: int, gain: float, each: Callable[[], bool]) -> None:
        """Take at most so many steps, fewer if they gain less; `each` may end it by True."""
        value, slope = cost(self.x)
        idle = 0
        for _ in range(steps):
            found = self._step(cost, value, slope)
            if found is None:
                if self.inverse is None:
                    return
                self.inverse = None  # it has become wrong: steepest descent
                continue
            idle = idle + 1 if value - found[0] < gain else 0
            value, slope = found
            if idle >= CONVERGED_STEPS or each():
                return

    def _step(self, cost: Cost, value: float, slope: Array) -> tuple[float, Array] | None:
        """One step downhill; None where no step goes down."""
        way = -slope if self.inverse is None else -self.inverse @ slope
        descent = float(way @ slope)
        if not descent < 0:
            return None
        share = 1.0
        if self.inverse is None:
            share = min(1.0, FIRST_STEP / float(np.abs(way).max()))
        while share > LEAST_STEP:
            new, new_slope = cost(self.x + share * way)
            if new <= value + ENOUGH_DESCENT * share * descent:
                self._learn(share * way, new_slope - slope)
                self.x = self.x + share * way
                return new, new_slope
            share *= 0.5 if math.isfinite(new) else 0.3
        return None

    def _learn(self, step: Array, change: Array) -> None:
        curvature = float(step @ change)
        if curvature <= 1e-10 * float(np.linalg.norm(step) * np.linalg.norm(change)):
            return
        if self.inverse is None:
            self.inverse = np.eye(len(step)) * (curvature / float(change @ change))
        turned = self.inverse @ change
        scale = (1 + float(change @ turned) / curvature) / curvature
        both = np.outer(turned, step) / curvature
        self.inverse = self.inverse + scale * np.outer(step, step) - both - both.T
