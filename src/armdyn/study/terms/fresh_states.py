"""States that were not used for a choice, by which it is verified."""

from dataclasses import replace

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import counted
from armdyn.robot import Robot
from armdyn.simulation.trajectories.piecewise import hermite
from armdyn.study.terms.states import Over, StateSet, Workspace, is_workspace

BETWEEN = (1 / 2, 1 / 4, 3 / 4, 1 / 8, 5 / 8, 3 / 8)
"""Where, between two instants of a motion, it is looked at, one round after the other."""
SEED_STEP = 1_000_003
"""How far apart the seeds of samples of one workspace are."""


def fresh_states(robot: Robot, over: Over, given: StateSet, number: int) -> StateSet:
    """Other states of the same kind: a new sample, or instants between those of a motion.

    Args:
        robot: Whose states they are.
        over: What `states_of` was given.
        given: What it returned.
        number: 0, 1, 2, ...: each gives other states.
    """
    if is_workspace(over):
        space = over if isinstance(over, Workspace) else Workspace()
        sample = replace(space, seed=space.seed + SEED_STEP * (number + 1)).states(robot)
        return replace(sample, words=f"at {counted(len(sample), 'other state')} of the workspace")
    if len(given) == 1:
        return replace(given, words="at this one state again, as there is no other")
    share, count = BETWEEN[number % len(BETWEEN)], len(given) - 1
    if given.t is None:
        q, qd, qdd = ((1 - share) * v[:-1] + share * v[1:] for v in (given.q, given.qd, given.qdd))
        words = f"at {counted(count, 'state')} between these"
    else:
        t = given.t - given.t[0]
        between = (1 - share) * t[:-1] + share * t[1:]
        q, qd, qdd = hermite(given.t, given.q, given.qd, given.qdd)(between)
        words = f"at {counted(count, 'instant')} between these"
    return StateSet(q, qd, qdd, np.full(count, 1 / count), words)


def chosen_states(states: StateSet, places: Array) -> StateSet:
    """Some of the states."""
    t = None if states.t is None else states.t[places]
    q, qd, qdd, weights = (v[places] for v in (states.q, states.qd, states.qdd, states.weights))
    return StateSet(q, qd, qdd, weights, states.words, t, states.notes)


def joined(*sets: StateSet) -> StateSet:
    """All states of several sets, as the first one calls them."""
    arrays = zip(*((s.q, s.qd, s.qdd, s.weights) for s in sets), strict=True)
    q, qd, qdd, weights = map(np.concatenate, arrays)
    return StateSet(q, qd, qdd, weights, sets[0].words)
