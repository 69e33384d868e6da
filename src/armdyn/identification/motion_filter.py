"""The filter of the motion, by what explains the torques of the training best.

Positions that are differentiated twice carry noise into the equations, the more the higher the
cut-off; too low a cut-off takes motion away. Neither can be told from the positions alone, so a few
cut-offs are tried on the first samples, each on blocks that it was not fitted to.
"""

import numpy as np

from armdyn.identification.equations import Equations
from armdyn.identification.estimate import Noise, weighted_least_squares
from armdyn.identification.friction_terms import OFFSET, ROTOR, VISCOUS, coulomb
from armdyn.identification.gram import Sums
from armdyn.identification.preparation import Cutoffs, Health, pieces
from armdyn.identification.problem import motors_with, problem_of
from armdyn.identification.selection import FOLDS, cross_validate
from armdyn.io.log import Log, Samples

FACTORS = (2.0, 1.0, 0.6)
"""Cut-offs of the motion that are tried, in that of the equations."""
_STRUCTURE = (ROTOR, VISCOUS, coulomb(0.03), OFFSET)


def choose_motion_cutoff(
    equations: Equations, log: Log, samples: Samples, cutoff: float, natural: float
) -> float:
    """The cut-off of the motion [Hz], given that of the equations and the one natural to it.

    It is at least three fifths of the natural one, below which motion would be lost.
    """
    options = sorted({max(f * cutoff, min(0.6 * natural, cutoff)) for f in FACTORS}, reverse=True)
    rough = Equations(equations.robot, _STRUCTURE, equations.speeds)
    part = log.part(log.first, log.first + len(samples))
    noise: Noise | None = None
    errors = []
    for motion in options:
        sums = Sums(rough)
        limits = np.full(equations.robot.n, np.inf)
        for piece in pieces(part, Cutoffs(cutoff, motion), Health(), limits):
            sums.add(rough.rows(piece, cutoff))
        if len(sums.blocks) < FOLDS:
            return options[0]
        problem = problem_of(rough, sums.folds(FOLDS), motors_with(rough, _STRUCTURE))
        if noise is None:
            _, deviation = weighted_least_squares(problem.whole)
            noise = Noise(deviation, np.full_like(deviation, 5.0))
        errors.append(cross_validate(rough, problem, noise, 1.0).error)
    return options[int(np.argmin(errors))]
