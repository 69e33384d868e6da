"""What the steps between the speeds that are tried for dry friction leave open.

Over which speed dry friction changes its sign is chosen from a few values, and the true one lies
between them. With the squares at the chosen one and at its neighbours, a parabola tells how far
away it may be; the parameters change along with it, and that counts as an error of them.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from armdyn.arrays import Array
from armdyn.identification.equations import Equations, Motor
from armdyn.identification.estimate import Noise, entropic
from armdyn.identification.friction_terms import SMOOTHING
from armdyn.identification.problem import Prior, Problem, prior_of

_AT_EDGE = 0.5
"""Steps that the true speed may be away where there is a neighbour on one side alone."""


def with_other_speeds(motors: Sequence[Motor]) -> list[tuple[Motor, ...]]:
    """The same features with the next lower and the next higher speed, if these were tried."""
    speeds = {feature.smooth for _, feature in motors if feature.smooth}
    if len(speeds) != 1 or not speeds <= set(SMOOTHING):
        return []
    (own,) = speeds
    place = SMOOTHING.index(own)
    found = []
    for other in SMOOTHING[max(place - 1, 0) : place + 2]:
        if other == own or any(0 < f.stribeck <= other for _, f in motors):
            continue
        found.append(tuple((k, replace(f, smooth=f.smooth and other)) for k, f in motors))
    return found


def speed_lean(
    equations: Equations,
    problems: Sequence[Problem],
    prior: Prior,
    noise: Noise,
    free: Array | None,
) -> Array:
    """How far θ may be off because of the speed, (P,); of the problems the chosen one is first.

    Others are one step away, the lower speed first.
    """
    found, costs = [], []
    for problem in problems:
        own = prior if problem is problems[0] else prior_of(equations, problem)
        x = entropic(problem.whole, own, noise.weights, 1.0, free=free)
        found.append(own.parameters @ x)
        squares = problem.whole.squares(own.features @ x)
        costs.append(float(noise.weights @ squares))
    if len(problems) < 3:
        step = found[-1] - found[0]
        return (_AT_EDGE if len(problems) > 1 else 0.0) * step
    here, below, above = costs
    curvature = below + above - 2 * here
    if curvature <= 0:
        return _AT_EDGE * (found[2] - found[1])
    away = (below - above) / (2 * curvature)
    share = min(float(np.hypot(away, np.sqrt(2 / curvature))), 1.0)
    return share * 0.5 * (found[2] - found[1])
