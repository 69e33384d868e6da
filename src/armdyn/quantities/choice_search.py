"""A search over the choices of the minimal formulation, by counts that need no graph."""

from armdyn.canonical.frames import CanonicalRobot
from armdyn.compiler.search import Found, Progress, search
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
) -> Found[Choices]:
    """The best choices found for torques that are functions of the arguments named.

    `near` has the next best, too. The costs count equal values once, however they are written: a
    graph that is traced with the choices may have a few operations more until it is reduced.
    """
    table, n = ValueTable(), len(robot.links)
    symbols = symbolic(robot, table)
    given = {name: table.inputs(name, n) for name in arguments}
    q, qd, qdd = given["q"], given.get("qd", 0.0), given.get("qdd", 0.0)

    prices = Prices(symbols, table, q, qd, qdd)
    return search(options(robot, wide=deep), prices, deep=deep, progress=progress)
