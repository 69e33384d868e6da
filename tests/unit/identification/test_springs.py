"""Springs are found with all else."""

import numpy as np
import pytest

import armdyn
from support.measured_arms import guessed, measured, worn

SPRINGS = [
    {"name": "balance", "link": "link2", "point": [0.1, 0.02, 0.03], "anchor": [0.1, 0.2, 0.3],
     "stiffness": 500.0, "free_length": 0.1},
    {"name": "second", "link": "link3", "point": [0.1, 0.0, 0.0], "other": "link1",
     "anchor": [0.0, 0.1, 0.3], "stiffness": 200.0},
]  # fmt: skip
TRUE = {"balance.stiffness": 500.0, "balance.stiffness_length": 50.0, "second.stiffness": 200.0}


@pytest.mark.slow
def test_stiffness_and_free_length_are_found_from_a_wrong_guess():
    arm = armdyn.load("saha_3r")
    true = worn(arm).with_springs(SPRINGS)
    weaker = [spring | {"stiffness": 0.7 * spring["stiffness"]} for spring in SPRINGS]
    guess = guessed(arm).with_springs(weaker)
    found = armdyn.identify(guess, measured(true, seed=1), measured(true, seed=2))
    known = {p.name: p for p in found.parameters}
    for name, value in TRUE.items():
        assert known[name].excited
        assert abs(known[name].value - value) < max(4 * known[name].error, 0.01 * value), name
    assert {p.name for p in found.base} >= set(TRUE)
    assert found.validation.relative_error < 0.01
    k, length = found.robot.model.springs[0].stiffness, found.robot.model.springs[0].free_length
    assert np.isclose(k * length, known["balance.stiffness_length"].value)
    assert "Rotors, friction and springs" in found.report()
