"""Operation counts: multiplications and additions of an evaluation, which may only go down."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from armdyn.compiler.count import count
from armdyn.compiler.resubstitute import resubstitute
from armdyn.compiler.search import search
from armdyn.compiler.trace import trace
from armdyn.expr import Graph, proved_equal
from armdyn.formulations.augmented_body import augmented_body
from armdyn.formulations.minimal import minimal
from armdyn.formulations.minimal_mass import minimal_mass_matrix
from armdyn.formulations.minimal_options import options
from armdyn.model.canonical import with_tip_phase
from armdyn.programs.symbolic import symbolic
from armdyn.programs.symbolic_model import model_from_canonical
from patterns import ARMS

SEARCHED = {
    "renaud": 206,
    "renaud_full": 403,
    "puma": 270,
    "puma_full": 423,
    "stanford": 205,
    "stanford_full": 380,
    "panda": 524,
    "general": 697,
    "two_link": 22,
}
"""By the default search alone, no sine or cosine being asked for at a shifted angle."""

RESUBSTITUTED = {
    "renaud": 206,
    "renaud_full": 396,
    "puma": 270,
    "puma_full": 416,
    "stanford": 204,
    "stanford_full": 377,
    "panda": 517,
    "general": 677,
    "two_link": 22,
}
"""With the last frame turned to a first moment along x, and resubstitution."""

MASS_MATRIX = {
    "renaud": 132,
    "renaud_full": 214,
    "puma": 164,
    "puma_full": 248,
    "stanford": 114,
    "stanford_full": 189,
    "panda": 361,
    "general": 623,
    "two_link": 6,
}
GRAVITY = {"renaud": 17, "renaud_full": 53, "puma": 21, "stanford": 20, "two_link": 4}
BIAS = {"renaud": 187, "stanford": 186}


class Torques:
    """The minimal torques of a robot with symbols."""

    def __init__(self, robot, states=("q", "qd", "qdd")):
        self.robot, self.graph = robot, Graph()
        self.symbols = symbolic(robot, self.graph)
        self.inputs = [self.graph.inputs(name, len(robot.links)) for name in states]

    def outputs(self, choices):
        states = [*self.inputs, 0.0, 0.0][:3]
        return list(trace(self.graph, lambda: minimal(self.symbols, *states, choices).tau))

    def search(self):
        return search(options(self.robot), lambda at: count(self.outputs(at)).total)

    def reference(self):
        model = model_from_canonical(self.symbols)
        return trace(self.graph, lambda *s: augmented_body(model, *s).tau, *self.inputs)


@cache
def searched(name, turned):
    """The torques of an arm, its last frame turned or not, and what the search found."""
    torques = Torques(with_tip_phase(ARMS[name]) if turned else ARMS[name])
    return torques, torques.search()


@pytest.mark.parametrize("name", SEARCHED)
def test_default_search(name):
    torques, found = searched(name, False)
    assert count(torques.outputs(found.choices)).total == found.cost <= SEARCHED[name]


@pytest.mark.parametrize("name", RESUBSTITUTED)
def test_resubstitution_after_the_search(name):
    tip = ARMS[name].links[-1]
    torques, found = searched(name, bool(tip.u[0] and tip.u[1]))
    near = found.near[: 4 if name == "stanford" else 1]
    outputs = min((resubstitute(torques.outputs(at)) for at in near), key=lambda o: count(o).total)
    assert count(outputs).total <= RESUBSTITUTED[name]
    assert proved_equal(outputs, torques.reference())


@pytest.mark.parametrize("name", MASS_MATRIX)
def test_mass_matrix(name):
    robot, graph = ARMS[name], Graph()
    symbols, q = symbolic(robot, graph), graph.inputs("q", len(robot.links))
    M = trace(graph, lambda x: minimal_mass_matrix(symbols, x), q)
    assert count(M[np.tril_indices(len(robot.links))]).total <= MASS_MATRIX[name]


@pytest.mark.parametrize("name", GRAVITY)
def test_gravity(name):
    torques = Torques(ARMS[name], ("q",))
    outputs = resubstitute(torques.outputs(torques.search().choices))
    assert count(outputs).total <= GRAVITY[name]


@pytest.mark.parametrize("name", BIAS)
def test_bias(name):
    assert Torques(ARMS[name], ("q", "qd")).search().cost <= BIAS[name]


def paper(robot):
    """Renaud's own recursion on a robot, with symbols."""
    graph = Graph()
    model = model_from_canonical(symbolic(robot, graph))
    inputs = [graph.inputs(name, len(robot.links)) for name in ("q", "qd", "qdd")]
    return trace(graph, lambda *s: augmented_body(model, *s).tau, *inputs)


def test_the_paper_as_written():
    """181 + 127 in the paper, which counts two products twice."""
    operations = count(paper(ARMS["renaud"]))
    assert (operations.mul, operations.add) == (179, 127)


def test_the_paper_after_its_quick_examination():
    """The first moments y5 and z6 act as y5 - z6 only: 164 + 115 in the paper."""
    *others, link5, link6 = ARMS["renaud"].links
    merged = np.array([0.0, link5.u[1] - link6.u[2], 0.0])
    links = (*others, replace(link5, u=merged), replace(link6, u=np.zeros(3)))
    operations = count(paper(replace(ARMS["renaud"], links=links)))
    assert (operations.mul, operations.add) == (164, 115)
