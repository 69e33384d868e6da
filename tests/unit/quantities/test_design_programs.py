"""Programs of designs, against robots that were made of the same numbers."""

from dataclasses import replace

import numpy as np
import pytest

from armdyn.quantities.design import design_values
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request
from armdyn.shorten.canonical.parameters import ENTRIES
from armdyn.shorten.canonical.redesign import redesign
from support.arms import ARMS
from support.peers import close
from support.random_robots import random_states

MOTION = {"inverse_dynamics": 3, "mass_matrix": 1}


def bodies(model, values):
    """Pseudo-inertias of all links in canonical frames, by masses, centres and tensors about them."""
    found = {}
    for i in range(len(model.links)):
        m, *c = (values.get(f"{name}{i + 1}", 0.0) for name in "mxyz")
        tensor = np.zeros((3, 3))
        for name, a, b in ENTRIES:
            tensor[a, b] = tensor[b, a] = values.get(f"I{name}{i + 1}", 0.0)
        found[i] = np.zeros((4, 4))
        found[i][:3, :3] = np.trace(tensor) / 2 * np.eye(3) - tensor + m * np.outer(c, c)
        found[i][:3, 3] = found[i][3, :3] = m * np.array(c)
        found[i][3, 3] = m
    return found


def geared(model, values):
    """The robot with other gear ratios."""
    joints = [
        replace(joint, rotor=replace(joint.rotor, gear_ratio=values[f"N{i}"]))
        if f"N{i}" in values else joint
        for i, joint in enumerate(model.joints, 1)
    ]  # fmt: skip
    return replace(model, joints=tuple(joints))


@pytest.mark.parametrize("quantity", MOTION)
@pytest.mark.parametrize("name", ["scara", "hinge_tree", "mixed_tree"])
def test_a_design_has_the_torques_of_the_robot_that_is_made_of_its_numbers(name, quantity):
    model = ARMS[name].model
    known = design_values(model)
    names = [x for x in known if x[0] in "mxyzIN" and not x.startswith("Ia")]
    program = quantity_program(model, Request(quantity, design=tuple(names)))
    n = len(model.independent)
    states = [x[..., :n] for x in random_states(model, 3, batch=(2,))[: MOTION[quantity]]]
    old = np.array([known[x] for x in names])
    close(program(*states, old), quantity_program(model, Request(quantity))(*states), 1e-10)
    new = old * np.random.default_rng(5).uniform(0.9, 1.1, len(old))
    values = dict(zip(names, new.tolist(), strict=True))
    other = redesign(geared(model, values), bodies(model, values))
    close(program(*states, new), quantity_program(other, Request(quantity))(*states), 1e-9)
