"""The printer of operations: brackets where they are needed, and for every operation of the table."""

import math
import operator
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armdyn.graph.operations import OPERATIONS
from armdyn.graph.printer import OPERATORS, PLAIN, Infix, Language

EXACT = Language(exact=True)
A, B, C = (Infix(name) for name in "abc")


@pytest.mark.parametrize("op", OPERATORS)
def test_exact_text_keeps_the_order_of_operations(op):
    sign = OPERATORS[op].strip()
    inner = EXACT.operation(op, [B, C])
    assert EXACT.operation(op, [A, inner]).text == f"a {sign} (b {sign} c)"
    assert EXACT.operation(op, [inner, A]).text == f"b {sign} c {sign} a"


def test_text_to_read_has_only_the_brackets_that_it_needs():
    for op, text in (("add", "a + b + c"), ("sub", "a - (b - c)"), ("div", "a / (b / c)")):
        assert PLAIN.operation(op, [A, PLAIN.operation(op, [B, C])]).text == text
    assert PLAIN.operation("mul", [A, PLAIN.operation("neg", [B])]).text == "a * (-b)"


@pytest.mark.parametrize("op", OPERATIONS.values(), ids=lambda op: op.name)
def test_every_operation_is_written(op):
    text = PLAIN.operation(op.name, [A, B][: op.arity]).text
    assert "a" in text
    assert ("b" in text) == (op.arity == 2)


numbers = st.floats(-8, 8).filter(lambda x: abs(x) > 1e-3)
trees = st.recursive(
    numbers,
    lambda inner: st.tuples(st.sampled_from([*OPERATORS, "neg"]), inner, inner),
    max_leaves=12,
)


def written_and_computed(tree):
    """A random expression as text, and its value in the order of the tree."""
    if isinstance(tree, float):
        return EXACT.literal(repr(tree)), tree
    op, *operands = tree
    parts = [written_and_computed(x) for x in operands[: OPERATIONS[op].arity]]
    value = OPERATIONS[op].value(*(value for _, value in parts))
    return EXACT.operation(op, [text for text, _ in parts]), float(value)


@given(trees)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid", "ignore:overflow")
def test_exact_text_has_the_bits_of_the_operations(tree):
    text, value = written_and_computed(tree)
    try:
        assert eval(text.text) == value or math.isnan(value)
    except ZeroDivisionError:
        assert not math.isfinite(value)


wholes = st.recursive(
    st.integers(-4, 4),
    lambda inner: st.tuples(st.sampled_from([*OPERATORS, "neg"]), inner, inner),
    max_leaves=8,
)
EXACTLY = {"div": operator.truediv} | {op: getattr(operator, op) for op in ("add", "sub", "mul")}


def plain_and_computed(tree):
    if isinstance(tree, int):
        return PLAIN.literal(str(tree)), Fraction(tree)
    op, (left, x), (right, y) = tree[0], *map(plain_and_computed, tree[1:])
    if op == "neg":
        return PLAIN.operation(op, [left]), -x
    return PLAIN.operation(op, [left, right]), EXACTLY[op](x, y)


@given(wholes)
def test_text_to_read_has_the_value_of_the_operations(tree):
    try:
        text, value = plain_and_computed(tree)
    except ZeroDivisionError:
        return
    assert eval(re.sub(r"\d+", r"Fraction(\g<0>)", text.text)) == value
