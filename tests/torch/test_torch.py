"""Operators of PyTorch: the bits of NumPy, gradients by the kernels, programs for other devices."""

import sys

import numpy as np
import pytest

import armdyn
import torch
from armdyn.errors import MissingExtraError, ShapeError, UnknownNameError
from armdyn.export.torch.tensor_function import run_program
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request
from support.random_robots import random_model

# what torch says of itself when its rules of forward mode are first asked for
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script`:FutureWarning")


@pytest.fixture(scope="module")
def robot():
    """Three joints with friction of every term and rotors."""
    model = random_model("RPR", 5, rotors=True, friction=True)
    return armdyn.Robot(model)


@pytest.fixture(scope="module")
def torque(robot):
    return robot.torch("inverse_dynamics")


def tensors(seed=1, batch=(6,), dtype=torch.float64, count=3):
    numbers = np.random.default_rng(seed).uniform(0.2, 1, (count, *batch, 3))
    return [torch.tensor(x, dtype=dtype) for x in numbers]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_tensors_have_the_bits_of_numpy(robot, dtype):
    function, given = (
        robot.torch("inverse_dynamics", dtype=dtype),
        tensors(dtype=getattr(torch, dtype)),
    )
    kernel = robot.kernel("inverse_dynamics", dtype=dtype)
    expected = kernel(*(x.numpy() for x in given))
    assert np.array_equal(function(*given).numpy(), expected)
    assert function(*given).dtype == getattr(torch, dtype)
    one = function(given[0], given[1][0], given[2])  # which broadcasts
    assert np.array_equal(
        one.numpy(), kernel(given[0].numpy(), given[1][0].numpy(), given[2].numpy())
    )
    turned = function(*(x.T.contiguous().T for x in given))  # other strides
    assert np.array_equal(turned.numpy(), expected)


@pytest.mark.parametrize(
    ("quantity", "count"),
    [
        ("inverse_dynamics", 3),
        ("forward_dynamics", 3),
        ("mass_matrix", 1),
        ("forward_kinematics", 1),
    ],
)
def test_gradients_are_slopes(robot, quantity, count):
    given = [x.requires_grad_() for x in tensors(batch=(3,), count=count)]
    assert torch.autograd.gradcheck(robot.torch(quantity), given)


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics"])
def test_forward_mode_gives_the_jacobian_of_reverse_mode(robot, quantity):
    function, given = robot.torch(quantity), [x[0] for x in tensors()]
    places = (0, 1, 2)
    reverse = torch.func.jacrev(function, places)(*given)
    for mine, theirs in zip(torch.func.jacfwd(function, places)(*given), reverse, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-9, atol=1e-12)
    along = torch.func.jvp(function, tuple(given), tuple(given))[1]
    expected = sum(J @ x for J, x in zip(reverse, given, strict=True))
    torch.testing.assert_close(along, expected, rtol=1e-9, atol=1e-12)


def test_a_direction_of_one_argument_has_the_bits_of_the_kernel(robot, torque):
    q, qd, qdd = tensors()
    zero, along = torch.zeros_like(q), torch.ones_like(q)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(qd, along)
        found = torch.autograd.forward_ad.unpack_dual(torque(q, dual, qdd)).tangent
    kernel = robot.kernel("inverse_dynamics", derivative="jvp")
    expected = kernel(*(x.numpy() for x in (q, qd, qdd, zero, along, zero)))
    assert np.array_equal(found.numpy(), expected)


def test_second_derivatives_are_slopes_of_the_first(robot):
    given = [x.requires_grad_() for x in tensors(batch=(2,))]
    assert torch.autograd.gradgradcheck(robot.torch("forward_dynamics"), given)
    weight, q = robot.torch("gravity_vector"), given[0][0].detach()
    curvatures = [
        torch.func.jacfwd(torch.func.jacrev(weight))(q),
        torch.func.jacrev(torch.func.jacfwd(weight))(q),
        torch.func.jacrev(torch.func.jacrev(weight))(q),
    ]
    for found in curvatures:
        torch.testing.assert_close(found, curvatures[0], rtol=1e-9, atol=1e-12)
        torch.testing.assert_close(found, found.mT, rtol=1e-9, atol=1e-12)
    assert curvatures[0].abs().max() > 0.1


@pytest.mark.parametrize("quantity", ["gravity_vector", "mass_matrix", "kinetic_energy"])
def test_hessian_of_a_plain_sum_is_the_slope_of_its_gradient(robot, quantity):
    """The cotangent of a sum is one number along all axes, with strides of zero."""
    function, (q, qd, _) = robot.torch(quantity), [x[0] for x in tensors()]
    rest = (qd,) if quantity == "kinetic_energy" else ()
    total = lambda q: function(q, *rest).sum()  # noqa: E731
    hessian, gradient = torch.func.hessian(total)(q), torch.func.grad(total)
    step = 1e-6
    for k, e in enumerate(step * torch.eye(3, dtype=q.dtype)):
        slope = (gradient(q + e) - gradient(q - e)) / (2 * step)
        torch.testing.assert_close(hessian[:, k], slope, rtol=1e-6, atol=1e-7)


def test_hessian_of_a_sum_over_a_shared_argument(torque):
    """An argument that broadcasts has strides of zero as well."""
    q, qd, qdd = tensors()
    total = lambda v: torque(q, v, qdd).sum()  # noqa: E731
    found = torch.func.hessian(total)(qd[0])
    each = torch.func.vmap(torch.func.hessian(lambda v, q, a: torque(q, v, a).sum()), (None, 0, 0))
    torch.testing.assert_close(found, each(qd[0], q, qdd).sum(0), rtol=1e-9, atol=1e-12)


def test_no_states_have_gradients_of_no_states(torque):
    given = [x[:0].requires_grad_() for x in tensors()]
    torque(*given).sum().backward()
    assert given[0].grad.shape == (0, 3)


def test_a_broadcast_argument_gets_the_sum_of_the_gradients(robot, torque):
    q, qd, qdd = tensors()
    shared = qd[0].clone().requires_grad_()
    torque(q, shared, qdd).sum().backward()
    slopes = robot.inverse_dynamics_derivatives(q.numpy(), qd[0].numpy(), qdd.numpy()).dqd
    np.testing.assert_allclose(shared.grad.numpy(), slopes.sum((0, 1)), rtol=1e-10)


def test_the_operator_keeps_the_rules_of_torch(torque):
    given = [[x.requires_grad_() for x in tensors(batch=(2,))]]
    checked = torch.library.opcheck(
        torque._operators.run[None],
        given,
        test_utils=("test_schema", "test_faketensor", "test_autograd_registration"),
    )
    assert set(checked.values()) == {"SUCCESS"}


def test_it_can_be_mapped(torque):
    q, qd, qdd = tensors()
    assert torch.equal(torch.func.vmap(torque)(q, qd, qdd), torque(q, qd, qdd))
    mixed = torch.func.vmap(torque, in_dims=(0, None, 1))(q, qd[0], qdd.T)
    assert torch.equal(mixed, torque(q, qd[0], qdd))


def test_it_can_be_traced_for_compilation(torque):
    given = tensors()
    compiled = torch.compile(lambda *x: 2.0 * torque(*x), backend="eager", fullgraph=True)
    assert torch.equal(compiled(*given), 2.0 * torque(*given))
    slopes = []
    for function in (compiled, lambda *x: 2.0 * torque(*x)):
        leaves = [x.clone().requires_grad_() for x in given]
        function(*leaves).sum().backward()
        slopes.append(torch.stack([x.grad for x in leaves]))
    assert torch.equal(*slopes)


@pytest.mark.parametrize("mode", [None, "vjp"])
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics"])
def test_the_program_for_other_devices_is_the_kernel_but_for_rounding(robot, quantity, mode):
    program = quantity_program(robot.model, Request(quantity, derivative=mode))
    given = tensors(count=len(program.inputs))
    found = run_program(program, given)
    expected = program(*(x.numpy() for x in given))
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-11, atol=1e-12)


def test_another_device_runs_the_program(robot, torque):
    """On the device "meta", which has shapes but no numbers, nothing of a kernel can run."""
    given = [x.to("meta") for x in tensors()]
    assert torque(*given).shape == (6, 3)
    assert torque(*given).device.type == "meta"


def test_wrong_tensors_and_a_missing_package_are_named(robot, torque, monkeypatch):
    q, qd, qdd = tensors()
    with pytest.raises(ShapeError, match=r"qd: expected torch.float64, got torch.float32"):
        torque(q, qd.float(), qdd)
    with pytest.raises(ShapeError, match="q: expected a tensor, got ndarray"):
        torque(q.numpy(), qd, qdd)
    with pytest.raises(ShapeError, match=r"qd: expected shape \(\.\.\., 3\), got \(6, 1\)"):
        torque(q, qd[:, :1], qdd)
    with pytest.raises(ShapeError, match=r"takes 3 tensors \(q, qd, qdd\), got 2"):
        torque(q, qd)
    with pytest.raises(ShapeError, match="do not broadcast: q"):
        torque(q, qd[:4], qdd)
    with pytest.raises(UnknownNameError, match="quantity 'torque'"):
        robot.torch("torque")
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr("armdyn.export.library.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install torch .*extra 'torch'"):
        robot.torch("mass_matrix")


def test_the_example_of_the_page_runs():
    from support.pages import examples, page, printed, python_blocks

    text = page("torch")
    assert printed("".join(python_blocks(text))) == "".join(o for _, o in examples(text))
