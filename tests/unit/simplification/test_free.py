import numpy as np
import pytest

import armdyn
from armdyn.errors import ModelError, UnknownNameError
from armdyn.study.simplify.design_variables import parse_design_variables

SAHA = armdyn.load("saha_3r").model
SCARA = armdyn.load("scara").model


def test_by_default_centres_of_mass_and_inertias_are_free():
    free = parse_design_variables(SAHA)
    assert not free.numbers[:, 0].any()
    assert free.numbers[:, 1:].all()
    assert free.lengths == ()


def test_words_and_symbols_name_the_same_numbers():
    words = parse_design_variables(SAHA, "link2.com, link3.inertia.xx, *.mass, link1.length")
    symbols = parse_design_variables(SAHA, ["x2", "y2", "z2", "Ixx3", "m1", "m2", "m3", "a1"])
    assert words.symbols == symbols.symbols
    assert words.lengths == symbols.lengths


def test_a_link_goes_by_number_by_its_name_and_by_its_joint():
    for name in ("link2", "l2", "j2"):
        assert parse_design_variables(SCARA, f"{name}.com").symbols == ("x2", "y2", "z2")


def test_only_lengths_that_mean_something_are_offered():
    assert [length.symbol for length in parse_design_variables(SCARA, "*.length").lengths] == [
        "a1",
        "a2",
    ]
    with pytest.raises(UnknownNameError, match="changes nothing else"):
        parse_design_variables(SCARA, "link3.length")


def test_a_length_keeps_to_its_bounds_or_between_zero_and_twice_itself():
    (usual,) = parse_design_variables(SAHA, "a1").lengths
    assert (usual.low, usual.high) == pytest.approx((0.0, 0.4))
    (bounded,) = parse_design_variables(SAHA, "a1", {"link1.length": (0.1, 3.0)}).lengths
    assert (bounded.low, bounded.high) == (0.1, 3.0)
    (open_end,) = parse_design_variables(SAHA, "a1", {"a1": (0.5, None)}).lengths
    assert 0.5 == open_end.low <= open_end.high


def test_bounds_of_a_word_and_of_its_part_both_hold():
    free = parse_design_variables(SAHA, "*.com", {"*.com": (-0.5, 0.5), "x2": (None, 0.1)})
    assert free.bounds["x2"] == (-0.5, 0.1)
    assert free.bounds["z3"] == (-0.5, 0.5)


@pytest.mark.parametrize("free", ["", [], " , "])
def test_nothing_free_is_an_error(free):
    with pytest.raises(ModelError, match="nothing is free"):
        parse_design_variables(SAHA, free)


def test_an_unknown_number_is_answered_with_a_guess():
    with pytest.raises(UnknownNameError, match="Did you mean 'link2.com'"):
        parse_design_variables(SAHA, "link2.comm")
    with pytest.raises(UnknownNameError, match="link9"):
        parse_design_variables(SAHA, "link9.mass")


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"m2": (-2.0, 0.0)}, "must be positive"),
        ({"Izz2": (None, 0.0)}, "must be positive"),
        ({"x2": (0.3, 0.1)}, "no value of x2"),
        ({"x2": (0.3, None), "link2.com": (None, 0.1)}, "no value of x2"),
        ({"x3": (0.0, 0.1)}, "x3 is not free"),
        ({"x2": 0.3}, "expected .lowest, highest."),
        ({"x2": ("a", 0.1)}, "a number"),
        ({"x2": (float("nan"), 0.1)}, "finite"),
    ],
)
def test_bounds_that_cannot_be_are_errors(bounds, message):
    with pytest.raises(ModelError, match=message):
        parse_design_variables(SAHA, "link2.mass,link2.com,link2.inertia", bounds)


@pytest.mark.parametrize("weight", [0.0, -1.0, float("inf"), "heavy"])
def test_a_weight_is_a_positive_number(weight):
    with pytest.raises(ModelError, match="weight of 'x2'"):
        parse_design_variables(SAHA, None, weights={"x2": weight})


def test_weights_reach_every_number_of_a_word():
    weights = parse_design_variables(SAHA, None, weights={"*.com": 3.0, "x1": 5.0}).weights
    assert weights == {
        f"{a}{i}": 5.0 if a + str(i) == "x1" else 3.0 for i in (1, 2, 3) for a in "xyz"
    }
    assert np.isfinite(list(weights.values())).all()


@pytest.mark.parametrize(
    ("what", "given"), [("free", 5), ("free", [1]), ("bounds", [1]), ("weights", "x2")]
)
def test_what_is_no_words_is_refused(what, given):
    with pytest.raises(ModelError, match=f"^{what}: expected"):
        parse_design_variables(SAHA, **{what: given})
