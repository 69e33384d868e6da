"""A search over the choices of the minimal formulation, by counts that need no graph."""

from collections.abc import Hashable
from dataclasses import replace
from functools import cache
from typing import Literal

import numpy as np

from armdyn.graph.values import ValueTable
from armdyn.shorten.canonical.frames import CanonicalRobot
from armdyn.shorten.minimal.articulated import minimal_articulated_body
from armdyn.shorten.minimal.choices import Choices
from armdyn.shorten.minimal.mass import minimal_mass_matrix
from armdyn.shorten.minimal.options import options
from armdyn.shorten.minimal.prices import Prices
from armdyn.shorten.search import POINTS_TRIED, Progress, search
from armdyn.shorten.symbolic import symbolic

JOINTS_WITH_SEARCHED_ORIGINS = 14
"""Longest robot whose origins are searched: the time grows with the third power of its joints."""
POINTS_PER_JOINT = 75
"""Points that are tried for each joint of a short chain."""
WORTH_REORDERING = 2
"""Operations above the lowest count up to which the best with other units come first."""


def searched_choices(
    robot: CanonicalRobot,
    arguments: tuple[str, ...] = ("q", "qd", "qdd"),
    *,
    deep: bool = False,
    progress: Progress | None = None,
) -> list[tuple[Choices, int]]:
    """The best choices found for torques that are functions of the arguments named.

    Each comes with its count and has other constants than those before it: choices that differ only
    in the way to compute the same values end alike after resubstitution. The best with each kind of
    units come first, the overall best at the head, because resubstitution may order them anew. The
    counts take equal values once, however they are written, so a graph traced with the choices may
    need a few operations more until it is reduced.
    """
    table, n = ValueTable(), len(robot.links)
    symbols = symbolic(robot, table)
    given = {name: table.inputs(name, n) for name in arguments}
    prices = Prices(symbols, table, given["q"], given.get("qd", 0.0), given.get("qdd", 0.0))
    space = options(robot, wide=deep)
    points = min(POINTS_TRIED, POINTS_PER_JOINT * n)
    found = search(space, prices, deep=deep, progress=progress, points=points)
    best: dict[Hashable, Choices] = {}
    for choices in found.near:
        best.setdefault(choices.scales, choices)
    sound = [choices for choices in best.values() if space.sound(choices)]
    first: dict[Hashable, Choices] = {}
    for choices in sound:
        if prices(choices) <= prices(sound[0]) + WORTH_REORDERING:
            first.setdefault(_unit_kind(choices), choices)
    others = [choices for choices in sound if choices not in first.values()]
    return [(choices, prices(choices)) for choices in (*first.values(), *others)]


def _unit_kind(choices: Choices) -> Hashable:
    return choices.length is None, choices.force is None, choices.length == choices.force


def searched_origins(
    robot: CanonicalRobot, quantity: Literal["mass_matrix", "forward_dynamics"]
) -> list[tuple[Choices, int]]:
    """The best choices of origins found, the best first, with their counts.

    Counted are the lower triangle of the mass matrix by composite bodies, or the accelerations by
    articulated bodies. Of a long robot every origin is moved, without a search.
    """
    table, n = ValueTable(), len(robot.links)
    symbols, q, qd, tau = symbolic(robot, table), *(table.inputs(v, n) for v in ("q", "qd", "tau"))

    @cache
    def cost(choices: Choices) -> int:
        table.definitions = {}
        if quantity == "mass_matrix":
            outputs = minimal_mass_matrix(symbols, q, choices)[np.tril_indices(n)]
        else:
            outputs = minimal_articulated_body(symbols, q, qd, tau, np.zeros(n), choices=choices)
        return table.count(outputs, [table.definitions])

    space = options(robot).origins
    if n > JOINTS_WITH_SEARCHED_ORIGINS:
        space = replace(space, starts=space.starts[:1], links=())
    found = search(space, cost, points=0)
    return [(choices, cost(choices)) for choices in found.near]
