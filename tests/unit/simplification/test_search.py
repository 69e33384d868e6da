import numpy as np
import pytest

import armdyn
from armdyn.shorten.canonical.frames import canonical
from support.design_arms import design, inertia_terms, planar

pytestmark = pytest.mark.slow

SAHA = armdyn.load("saha_3r").model
INERTIAL = ["*.com", "*.inertia"]


def lengths(result):
    return {symbol: after for symbol, (_, after) in result.lengths.items()}


def test_the_branch_without_a_first_length_is_found_where_it_costs_less():
    fixed = design(SAHA, "constant")
    result = design(SAHA, "constant", [*INERTIAL, "link1.length"], bounds={"a1": (0.0, 0.3)})
    assert result.feasible
    assert lengths(result)["a1"] == 0.0
    assert result.cost < fixed.cost
    assert result.rank == fixed.rank - 2  # m2 x2 + m3 a2 and y2 are free there
    assert canonical(result.model).links[1].across[0] == pytest.approx(0.0, abs=1e-13)
    assert np.ptp(inertia_terms(result.model)[0], axis=0).max() < 1e-12


def test_a_dear_length_stays_as_it_is():
    free, weights = [*INERTIAL, "link1.length"], {"a1": 1e4}
    result = design(SAHA, "constant", free, weights=weights)
    assert lengths(result)["a1"] == pytest.approx(0.2, abs=1e-3)


def test_bounds_without_zero_keep_to_the_other_branch():
    free = [*INERTIAL, "link1.length", "link2.length"]
    bounds = {"a1": (0.1, 0.3), "a2": (0.3, 0.6)}
    result = design(SAHA, "constant", free, bounds=bounds)
    assert result.feasible
    assert 0.1 <= lengths(result)["a1"] <= 0.3
    assert 0.3 <= lengths(result)["a2"] <= 0.6
    numbers = canonical(result.model).links
    a2 = numbers[2].across[0]
    assert a2 == pytest.approx(lengths(result)["a2"], abs=1e-13)
    assert numbers[1].u[0] == pytest.approx(-numbers[2].M * a2, abs=1e-12)
    assert result.cost < design(SAHA, "constant").cost


def test_more_freedom_never_costs_more():
    some = design(SAHA, "constant", [*INERTIAL, "link1.length"])
    more = design(SAHA, "constant", [*INERTIAL, "link1.length", "link2.length"])
    assert more.cost <= some.cost * (1 + 1e-6)


def test_a_length_alone_can_do_it():
    result = design(planar(2), "constant", "link1.length")
    assert result.feasible
    assert lengths(result) == {"a1": 0.0}
    assert result.changes == ()
    assert np.ptp(inertia_terms(result.model)[0], axis=0).max() < 1e-12


@pytest.mark.parametrize("name", ["puma560", "panda"])
def test_centres_of_mass_move_while_the_inertia_about_them_stays(name):
    model = armdyn.load(name).model
    result = design(model, "gravity-balanced", "*.com", reach=np.inf)
    assert result.feasible
    assert np.abs(inertia_terms(result.model)[1]).max() < 1e-12
    for change in result.changes:
        assert change.after.mass == pytest.approx(change.before.mass, rel=1e-12)
        np.testing.assert_allclose(change.after.tensor, change.before.tensor, rtol=0, atol=1e-12)


def test_a_bounded_tensor_entry_is_about_the_new_centre_of_mass():
    free = ["link2.com", "link2.inertia", "link3.com", "link3.inertia"]
    loose = design(SAHA, "constant", free)
    (second,) = (c for c in loose.changes if c.link == 1)
    least = 1.2 * second.after.tensor[2, 2]
    tight = design(SAHA, "constant", free, bounds={"Izz2": (least, None)})
    (second,) = (c for c in tight.changes if c.link == 1)
    assert tight.feasible
    assert second.after.tensor[2, 2] == pytest.approx(least, rel=1e-6)
    assert tight.cost > loose.cost


def test_a_link_without_a_part_in_the_goal_is_not_touched():
    """Link 1 turns about a vertical axis: its weight needs no torque."""
    result = design(SAHA, "gravity-balanced", "*.com,*.inertia.zz")
    assert result.feasible
    assert [change.link for change in result.changes] == [1, 2]
    assert result.model.links[0] is SAHA.links[0]


def test_progress_is_told_to_the_end():
    told = []
    design(SAHA, "constant", [*INERTIAL, "*.length"], progress=lambda *at: told.append(at))
    assert told == [(i + 1, len(told)) for i in range(len(told))]
    assert len(told) == 4
