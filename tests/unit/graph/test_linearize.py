"""Orders of operations: as few values wait as can, and each order is the one that is described."""

from functools import cache

import numpy as np
from hypothesis import given

from armdyn.graph import reachable
from armdyn.graph.linearize import delay, linearize, schedule, tighten
from support.random_graphs import graphs


@given(graphs)
def test_one_output_comes_after_the_other(outputs):
    place = {node: k for k, node in enumerate(linearize(outputs))}
    before = -1
    for k in range(len(outputs)):  # sine and cosine of an angle come together
        needed = [n for n in reachable(outputs[: k + 1]) if n in place]
        own = [place[n] for n in needed if n.op not in ("sin", "cos")]
        others = [place[n] for n in place if n not in needed and n.op not in ("sin", "cos")]
        before = max(own, default=before)
        assert before < min(others, default=len(place))


def random_tree(rng, leaves):
    """Operands of the values of a tree with one or two each; leaves have none."""
    operands, left = {k: () for k in range(leaves)}, list(range(leaves))
    while len(left) > 1 or rng.random() < 0.3:
        count = min(len(left), int(rng.integers(1, 3)))
        args = tuple(left.pop(rng.integers(len(left))) for _ in range(count))
        left.append(len(operands))
        operands[left[-1]] = args
    return operands


def random_values(rng, count):
    """Operands of values of which many are used more than once, or are there already."""
    return {
        k: tuple(int(x) for x in rng.integers(-3, k, size=rng.integers(1, 4))) for k in range(count)
    }


def alive_after(done, operands):
    """How many values of a tree wait when these are computed."""
    used = {a for v in done for a in operands[v]}
    return len(done - used)


def test_no_order_of_a_tree_lets_fewer_values_wait():
    rng = np.random.default_rng(0)
    for leaves in (2, 3, 4, 4, 5, 5, 6, 6):
        operands = random_tree(rng, leaves)

        @cache
        def fewest(done, operands=operands):
            """The largest number that waits on the best way to the root."""
            ways = []
            for v in operands.keys() - done:
                if done.issuperset(operands[v]):
                    more = done | {v}
                    ways.append(max(alive_after(more, operands), fewest(more)))
            return min(ways, default=0)

        order = schedule([max(operands)], operands)
        assert sorted(order) == sorted(operands)
        alive = [alive_after(set(order[: k + 1]), operands) for k in range(len(order))]
        assert max(alive) == fewest(frozenset())


def test_of_operands_that_need_as_many_the_first_is_computed_first():
    operands = {0: (), 1: (), 2: (1, 0), 3: (), 4: (), 5: (4, 3), 6: (5, 2)}
    assert schedule([6], operands) == [0, 1, 2, 3, 4, 5, 6]
    assert schedule([5, 2], operands) == [3, 4, 5, 0, 1, 2]
    assert schedule([2, 5], operands, {0: 4, 4: 0}) == [0, 4, 1, 2, 3, 5]
    assert schedule([7, 8], operands) == []


def test_next_is_what_is_the_last_to_use_most_values():
    """The rule, applied to all values in each step."""
    rng = np.random.default_rng(1)
    for _ in range(40):
        operands = random_values(rng, 25)
        order, left = [], list(operands)
        while left:
            others = {v: {a for u in left if u != v for a in operands[u]} for v in left}
            ready = [v for v in left if not set(operands[v]) & set(left)]
            freed = {v: len([a for a in {*operands[v]} - others[v] if a >= 0]) for v in ready}
            order.append(min(ready, key=lambda v: (-freed[v], v)))
            left.remove(order[-1])
        assert tighten(list(operands), operands) == order


def test_a_value_whose_operands_are_used_later_waits_until_it_is_used():
    rng = np.random.default_rng(2)
    moved = 0
    for _ in range(40):
        operands = random_values(rng, 25)
        order = delay(list(operands), operands)
        assert sorted(order) == sorted(operands)
        place = {v: k for k, v in enumerate(order)}
        users = {v: [u for u in order if v in operands[u]] for v in order}
        late = set()
        for v in order[::-1]:
            args = [a for a in operands[v] if a in place]
            assert all(place[a] < place[v] for a in args)
            if users[v] and all(place[users[a][-1]] > place[users[v][0]] for a in args):
                late.add(v)
                between = order[place[v] + 1 : place[users[v][0]]]
                assert late.issuperset(between)
                moved += order.index(v) != v
        kept = [v for v in order if v not in late]
        assert kept == sorted(kept)
    assert moved > 20
