"""Values by their residues: what is equal is one value, and operations are counted once."""

import pytest

from armdyn.graph.values import ValueTable


@pytest.fixture
def table():
    return ValueTable()


def test_equal_values_are_one_object(table):
    x, y, a = table.input("x"), table.input("y"), table.parameter("a", 2.5)
    assert (x + y) * (x + y) is x * x + 2.0 * x * y + y * y
    assert x - y is -(y - x)
    assert 1.0 - x is -(x - 1.0)
    assert 3.0 - (3.0 - x) is x
    assert x / 1.0 is x
    assert (x / 3.0) * 3.0 is x
    assert a * (x / a) is x
    assert (3.0 / x) * x is table.number(3.0)
    assert 2.0 / (x / y) is 2.0 * y / x
    assert x - x == 0.0
    assert x**3 is x * x * x
    assert x / x == 1.0
    assert x * 0.0 == 0.0
    assert (x + y).cos() is x.cos() * y.cos() - x.sin() * y.sin()
    assert (-x).sin() is -x.sin()
    assert x.cos() * x.cos() + x.sin() * x.sin() == 1.0
    assert table.parameter("b", 1.0) == 1.0


def test_operations_count_once_and_constants_are_free(table):
    x, y, a = table.input("x"), table.input("y"), table.parameter("a", 2.5)
    outputs = [x * y + a * a, y * x - a * a, (x + y).sin() / 3.0, 7.0]
    assert table.count(outputs, [table.definitions]) == 5
    assert table.count([x, a, 0.0], [table.definitions]) == 0
    assert table.count([1.0 / x], [table.definitions]) == 0


def test_the_first_of_two_definitions_counts(table):
    x, y = table.input("x"), table.input("y")
    short = (x + y) * (x + y)
    first, table.definitions = table.definitions, {}
    assert x * x + (2.0 * x) * y + y * y is short
    assert table.count([short], [first, table.definitions]) == 2
    assert table.count([short], [table.definitions, first]) == 6


def test_only_numbers_combine_with_values(table):
    with pytest.raises(TypeError):
        table.input("x") + "y"
    with pytest.raises(TypeError):
        "y" * table.input("x")


def test_a_parameter_that_is_zero_or_one_is_a_number_and_others_are_symbols():
    table = ValueTable()
    assert [table.parameter("a", value) for value in (0.0, 1.0, -1.0)] == [0.0, 1.0, -1.0]
    assert table.parameter("a", 0.5) is table.parameter("a", 0.7) is table.parameter("a")
