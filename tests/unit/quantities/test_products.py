"""Vector-Jacobian and Jacobian-vector products: dual to each other, and slopes of the quantity."""

from math import prod

import numpy as np
import pytest

import armdyn
from armdyn.errors import ShapeError, UnknownNameError
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request
from support.programs import kept_program
from support.random_robots import random_model

STEP = 1e-4
"""Of differences of fourth order, which leave rounding of large entries a hundredth of its size."""


ROBOT = armdyn.Robot(random_model("RPR", 5, rotors=True, friction=True))
"""With friction of every term and rotors."""


def programs(arm, quantity, **options):
    """The quantity and its two products, without a compiler."""
    modes = (None, "vjp", "jvp")
    return [
        kept_program(arm.model, Request(quantity, derivative=mode, **options)) for mode in modes
    ]


def check_products(function, vjp, jvp):
    """J t is the slope along t, and wᵀ (J t) = (wᵀ J) t."""
    rng = np.random.default_rng(7)
    given = [rng.uniform(0.3, 1.2, (5, i.size)) for i in function.inputs]
    along = [rng.uniform(-1, 1, (5, i.size)) for i in function.inputs]
    weights = rng.uniform(-1, 1, (5, prod(function.shape)))
    slope, pulled = jvp(*given, *along), vjp(*given, weights)
    near, far, farthest = (
        function(*(x + step * t for x, t in zip(given, along, strict=True)))
        - function(*(x - step * t for x, t in zip(given, along, strict=True)))
        for step in (STEP, 2 * STEP, 4 * STEP)
    )
    fine, coarse = (8 * near - far) / (12 * STEP), (8 * far - farthest) / (24 * STEP)
    missed = 2 * np.abs(coarse - fine)  # by truncation and rounding, near singular states
    np.testing.assert_array_less(np.abs(fine - slope), 1e-6 * (1 + np.abs(slope)) + missed)
    left = (weights * slope.reshape(5, -1)).sum(-1)
    np.testing.assert_allclose(left, (pulled * np.concatenate(along, -1)).sum(-1), rtol=1e-9)


SHORT = pytest.mark.arms(where=lambda arm: len(arm.kinds) < 6)


@SHORT
@pytest.mark.parametrize(
    "quantity", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "friction_torque"]
)
def test_the_products_of_a_quantity_are_its_slopes(arm, quantity):
    check_products(*programs(arm, quantity))


@SHORT
def test_products_know_every_operation_and_argument(arm):
    moving = ("forward_kinematics", "jacobian_dot", "cartesian", "kinetic_energy", "observer_step")
    directed = "inverse_dynamics_slope"  # which has directions of its own
    for quantity in arm.share([*moving, directed], of=3):
        check_products(*programs(arm, quantity))


@pytest.mark.arms(where=lambda arm: not arm.model.is_coupled)
def test_the_products_of_articulated_bodies_are_their_slopes(arm):
    check_products(*programs(arm, "forward_dynamics", method="articulated_body"))


@SHORT
def test_options_are_arguments_that_products_differentiate_by(arm):
    acting = {"payload": True, "gravity": True, "wrench": ("tool",)}
    cases = [
        ("inverse_dynamics", acting),
        ("forward_dynamics", acting),
        ("forward_dynamics", {"base_motion": True}),
        ("inverse_dynamics", {"formulation": "lagrange_euler"}),
    ]
    for quantity, options in arm.share(cases, of=4):
        check_products(*programs(arm, quantity, **options))


@pytest.mark.slow
def test_products_of_a_panda_are_kernels_and_agree_with_its_derivatives():
    robot = armdyn.load("panda")
    q, qd, qdd, w = np.random.default_rng(2).uniform(-1, 1, (4, 40, 7))
    pulled = robot.kernel("inverse_dynamics", derivative="vjp")(q, qd, qdd, w)
    whole = robot.inverse_dynamics_derivatives(q, qd, qdd)
    jacobian = np.concatenate([whole.dq, whole.dqd, robot.mass_matrix(q)], -1)
    np.testing.assert_allclose(pulled, np.einsum("bi,bij->bj", w, jacobian), atol=1e-11)
    single = robot.kernel("inverse_dynamics", derivative="vjp", dtype="float32")
    np.testing.assert_allclose(single(q, qd, qdd, w), pulled, atol=2e-4)


@pytest.mark.parametrize("mode", ["vjp", "jvp"])
@pytest.mark.parametrize(
    "quantity", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "forward_kinematics"]
)
def test_a_product_takes_at_most_three_times_the_operations(quantity, mode):
    model = armdyn.load("panda").model
    function, product = (
        quantity_program(model, Request(quantity, derivative=d)) for d in (None, mode)
    )
    assert product.whole.total <= 3 * function.whole.total


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["vjp", "jvp"])
def test_accelerations_are_differentiated_by_one_factorisation(mode):
    """Fewer operations than by reverse and forward mode through the factorisation."""
    model = armdyn.load("panda").model
    short = quantity_program(model, Request("forward_dynamics", derivative=mode))
    request = Request("forward_dynamics", derivative=mode, method="composite_body")
    assert short.whole.total < 0.85 * quantity_program(model, request).whole.total


def test_friction_is_counted_apart_in_products():
    with_friction = quantity_program(ROBOT.model, Request("inverse_dynamics", derivative="vjp"))
    without = quantity_program(
        ROBOT.model, Request("inverse_dynamics", friction=False, derivative="vjp")
    )
    assert with_friction.operations == without.operations
    assert with_friction.friction.total > 0


def test_another_derivative_is_refused():
    with pytest.raises(UnknownNameError, match="derivative 'hessian'"):
        ROBOT.kernel("inverse_dynamics", derivative="hessian")


@pytest.mark.slow
def test_weights_and_directions_of_another_length_are_named():
    with pytest.raises(ShapeError, match=r"weights.*9.*weights, one for each entry"):
        ROBOT.kernel("mass_matrix", derivative="vjp")(np.zeros(3), np.zeros(4))
    with pytest.raises(ShapeError, match="direction of q"):
        ROBOT.kernel("mass_matrix", derivative="jvp")(np.zeros(3), np.zeros(4))
