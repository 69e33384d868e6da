"""A search over the choices of the minimal formulation, by counts that need no graph."""

from collections.abc import Hashable

from armdyn.canonical.frames import CanonicalRobot
from armdyn.compiler.search import Progress, search
from armdyn.expr.values import ValueTable
from armdyn.minimal.choices import Choices
from armdyn.minimal.options import options
from armdyn.minimal.prices import Prices
from armdyn.quantities.symbolic import symbolic


def searched_choices(
    robot: CanonicalRobot,
    arguments: tuple[str, ...] = ("q", "qd", "qdd"),
    *,
    deep: bool = False,
    progress: Progress | None = None,
) -> list[tuple[Choices, int]]:
    """The best choices found for torques that are functions of the arguments named, best first.

    Each comes with its count and has other constants than those before it: what differs in the way
    to compute the same values alone is the same after resubstitution. The counts take equal values
    once, however they are written, so a graph traced with the choices may need a few operations
    more until it is reduced.
    """
    table, n = ValueTable(), len(robot.links)
    symbols = symbolic(robot, table)
    given = {name: table.inputs(name, n) for name in arguments}
    prices = Prices(symbols, table, given["q"], given.get("qd", 0.0), given.get("qdd", 0.0))
    space = options(robot, wide=deep)
    found = search(space, prices, deep=deep, progress=progress)
    best: dict[Hashable, Choices] = {}
    for choices in found.near:
        if space.sound(choices):
            best.setdefault(choices.scales, choices)
    return [(choices, prices(choices)) for choices in best.values()]
