"""The compiled Cartesian form against the textbook formulas, in and near singular states."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import armdyn
from armdyn import Robot
from armdyn.errors import SingularityError
from armdyn.model import FrictionLaw
from armdyn.quantities.request import Request
from armdyn.thresholds import COMPILED_CARTESIAN
from support.peers import close
from support.programs import EvaluatedRobot
from support.random_robots import random_model
from support.textbook_quantities import MODELS, TextbookQuantities

RNG = np.random.default_rng(5)


def planar(joints=2):
    rows = [dict(joint="revolute", a=0.5, mass=1, com=(-0.2, 0, 0), inertia=(0.1, 0.1, 0.1))]
    return armdyn.from_dh(rows * joints, gravity=(0, -9.81, 0))


def columns(form):
    return np.concatenate([form.M, form.V[..., None], form.G[..., None]], -1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "frame"),
    [("panda", "tool"), *product(("stanford", "coupled"), ("world", "tool", "link2"))],
)
def test_the_form_is_that_of_the_textbook_in_every_frame(name, frame):
    model = MODELS[name]
    frame = model.links[1].name if frame == "link2" else frame
    robot, direct = EvaluatedRobot(model), TextbookQuantities(model, frame=frame)
    q, qd = RNG.uniform(-1.5, 1.5, (2, 6, robot.n))
    form = robot.cartesian(q, qd, frame)
    assert form.task == direct.task
    close(columns(form), direct.cartesian(q, qd), 1e-9)
    some = direct.task[:-1][::-1]
    close(columns(robot.cartesian(q, qd, frame, task=some)), direct.cartesian(q, qd, some), 1e-9)
    damped = robot.cartesian(q[0], qd[0], frame, damping=0.2)
    close(columns(damped), direct.cartesian(q[0], qd[0], damping=0.2), 1e-9)


@pytest.mark.slow
def test_friction_is_not_in_the_form():
    robot = armdyn.load("ur5e")
    law = FrictionLaw(viscous=1.0, coulomb_positive=2.0)
    joints = tuple(replace(joint, friction=law) for joint in robot.model.joints)
    q, qd = RNG.uniform(0.3, 1.4, (2, 2, 6))
    rubbing = Robot(replace(robot.model, joints=joints)).cartesian(q, qd)
    assert np.array_equal(columns(rubbing), columns(robot.cartesian(q, qd)))


@pytest.mark.slow
def test_singular_states_of_a_batch_are_counted():
    q = np.array([[0.3, 0.9], [0.3, 0.0], [0.1, -0.4], [1.0, np.pi]])
    with pytest.raises(SingularityError, match=r"Jacobian of \(x, y\) is singular at 2 of 4"):
        planar().cartesian(q, np.ones(2))


@pytest.mark.slow
@pytest.mark.parametrize("bend", [1e-3, 1e-6, 1e-7, 1e-8])
def test_nearly_singular_states_have_a_form(bend):
    """The kernel leaves states in doubt to NumPy; those beside them stay as they are."""
    robot, qd = planar(), np.array([0.1, -0.2])
    q = np.array([[[0.3, 0.9], [0.2, bend]], [[0.1, -bend], [0.7, 1.1]]])
    form = robot.cartesian(q, qd)
    # M_x grows with 1 / bend²
    close(columns(form), TextbookQuantities(robot.model).cartesian(q, qd), 1e-15 / bend**2 + 1e-9)
    alone = robot.cartesian(q[0, 0], qd)
    assert np.array_equal(form.M[0, 0], alone.M)
    assert np.array_equal(form.V[0, 0], alone.V)


def test_states_that_are_no_numbers_have_no_form():
    q, qd = np.array([[0.3, 0.9], [np.nan, 0.2], [0.1, 1e-8]]), np.ones(2)
    form = planar().cartesian(q, qd)
    assert np.isfinite(columns(form)).all((-1, -2)).tolist() == [True, False, True]
    assert np.isnan(form.M[1]).all()


@pytest.mark.parametrize(
    ("task", "where"),
    [(("x", "z"), "every state"), (("rx",), "every state"), (("x", "x"), "1 of 1 state:")],
)
def test_a_coordinate_that_no_joint_moves_is_an_error(task, where):
    with pytest.raises(SingularityError, match=rf"Jacobian of \(.*\) is singular at {where}"):
        planar().cartesian([0.3, 0.9], [0.0, 0.0], task=task)


@pytest.mark.slow
def test_a_kernel_has_its_task_and_knows_the_names():
    robot = armdyn.load("panda")
    q, qd = RNG.uniform(-1, 1, (2, 3, 7))
    found = robot.kernel("cartesian", frame="tool", task=["z", "rx"])(q, qd)
    assert np.array_equal(found, columns(robot.cartesian(q, qd, "tool", task=("z", "rx"))))
    with pytest.raises(armdyn.errors.UnknownNameError, match="roll"):
        robot.kernel("cartesian", task=("roll",))
    with pytest.raises(armdyn.errors.ModelError, match="has no option 'task'"):
        robot.kernel("jacobian", task=("x",))


@pytest.mark.thorough(reason="a long robot")
@pytest.mark.slow
def test_many_joints_are_left_to_numpy():
    model = random_model("R" * (COMPILED_CARTESIAN.value + 1), 3)
    robot, direct = Robot(model), TextbookQuantities(model)
    q, qd = RNG.uniform(-1, 1, (2, 2, robot.n))
    close(columns(robot.cartesian(q, qd)), direct.cartesian(q, qd), 1e-9)
    requests = {key[0] for key in robot._kernels if isinstance(key[0], Request)}
    assert requests
    assert "cartesian" not in {request.quantity for request in requests}
