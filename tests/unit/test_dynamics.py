import pickle
from typing import get_args

import numpy as np
import pytest

import armdyn
from armdyn import Robot
from armdyn.errors import (
    ArmdynError,
    ModelError,
    ShapeError,
    SingularityError,
    TopologyError,
    UnknownNameError,
)
from armdyn.quantities.formulations import FORMULATIONS, NEED_COM
from armdyn.quantities.request import Formulation
from support.arms import ARMS
from support.peers import close
from support.programs import EvaluatedRobot
from support.random_robots import random_model, random_states

ROBOT = Robot(random_model("RPRR", 1))
STATE = random_states(ROBOT.model, 2)
TASK = ("x", "y", "z", "rx", "ry", "rz")


@pytest.mark.parametrize("value", [[1, 2, 3], [[1, 2, 3]], 1.0, [], np.zeros((4, 3))])
def test_wrong_shape_names_argument_and_both_shapes(value):
    with pytest.raises(ShapeError, match=r"qd: expected shape \(..., 4\).*got shape"):
        ROBOT.inverse_dynamics(STATE[0], value, STATE[2])


@pytest.mark.parametrize("value", ["zero", [1j] * 4, [[1, 2], [3]], None, [None] * 4])
def test_wrong_type_names_the_argument(value):
    with pytest.raises(ShapeError, match="q: expected real numbers"):
        ROBOT.mass_matrix(value)


@pytest.mark.slow
def test_batch_shapes_that_do_not_fit_are_named():
    with pytest.raises(ShapeError, match=r"do not fit together: q \(2, 4\), qd \(3, 4\)"):
        ROBOT.coriolis_matrix(np.zeros((2, 4)), np.zeros((3, 4)))
    with pytest.raises(ShapeError, match="do not fit together"):
        ROBOT.inverse_dynamics(*(np.zeros((2, 4)) for _ in "abc"), np.zeros((3, 6)))
    apart = {"tool": np.zeros((2, 6)), "link3": np.zeros((3, 6))}
    with pytest.raises(ShapeError, match=r"wrench on 'tool' \(2, 6\), wrench on 'link3' \(3, 6\)"):
        ROBOT.inverse_dynamics(*STATE, apart)


def test_integers_and_lists_are_numbers():
    close(ROBOT.gravity_vector([0, 1, 0, 0]), ROBOT.gravity_vector(np.array([0.0, 1.0, 0.0, 0.0])))


def test_nan_goes_through_to_the_result():
    q = np.stack([STATE[0], STATE[0]])
    q[0, 1] = np.nan
    for name in FORMULATIONS:
        tau = ROBOT.inverse_dynamics(q, STATE[1], STATE[2], formulation=name)
        assert np.isnan(tau[0]).any()
        assert np.isfinite(tau[1]).all()
    for method in ("composite_body", "articulated_body", "denoc"):
        qdd = ROBOT.forward_dynamics(q, STATE[1], STATE[2], method=method)
        assert np.isnan(qdd[0]).any()
        assert np.isfinite(qdd[1]).all()


def test_arguments_are_not_changed_and_results_are_fresh():
    q = STATE[0].copy()
    M = ROBOT.mass_matrix(q)
    M[:] = 0
    assert np.array_equal(q, STATE[0])
    assert ROBOT.mass_matrix(q).any()
    for name in ("gravity", "limits", "velocity_limits", "effort_limits"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(ROBOT, name)[:] = 0


def test_every_formulation_has_its_type():
    assert get_args(Formulation) == tuple(FORMULATIONS)


def test_limits_are_those_of_the_joints():
    model = armdyn.load("panda").model
    limits = [joint.limits for joint in model.joints]
    robot = armdyn.Robot(model)
    assert np.array_equal(robot.limits, [(limit.lower, limit.upper) for limit in limits])
    assert np.array_equal(robot.velocity_limits, [limit.velocity for limit in limits])
    assert np.array_equal(robot.effort_limits, [limit.effort for limit in limits])
    assert len({*robot.effort_limits}) > 1


def test_unknown_formulation_method_link_and_task_name_what_exists():
    with pytest.raises(
        UnknownNameError, match=r"formulation 'lagrange'\. Did you mean 'lagrange_euler'"
    ):
        ROBOT.inverse_dynamics(*STATE, formulation="lagrange")
    with pytest.raises(UnknownNameError, match="forward dynamics 'aba'.*articulated_body"):
        ROBOT.forward_dynamics(*STATE, method="aba")
    with pytest.raises(UnknownNameError, match="named 'link9'.*link4, tool"):
        ROBOT.forward_kinematics(STATE[0], link="link9")
    with pytest.raises(UnknownNameError, match="task coordinate 'roll'"):
        ROBOT.cartesian(STATE[0], STATE[1], task=("x", "roll"))


def test_formulations_of_chains_refuse_trees_by_the_branching_link():
    tree = EvaluatedRobot(random_model("RRRRRR", 3, tree=True))
    with pytest.raises(TopologyError, match="written for serial chains.*branches at link"):
        tree.inverse_dynamics(*random_states(tree.model, 1), formulation="newton_euler_base")


@pytest.mark.slow
def test_wrenches_on_several_links_add_up(arm):
    states, robot = arm.states(), arm.robot
    wrenches = {"link2": np.arange(6.0), "tool": np.ones(6), "base": np.ones(6)}
    together = robot.inverse_dynamics(*states, wrenches)
    expected = robot.inverse_dynamics(*states)
    for link in ("link2", "tool"):
        expected = expected - robot.jacobian(states[0], link=link).T @ wrenches[link]
    close(together, expected, 1e-11)


@pytest.mark.slow
def test_a_batch_of_wrenches_on_one_state():
    wrenches = np.random.default_rng(1).normal(size=(5, 6))
    for name in FORMULATIONS:
        tau = ROBOT.inverse_dynamics(*STATE, wrenches, formulation=name)
        assert tau.shape == (5, 4)
        close(tau[3], ROBOT.inverse_dynamics(*STATE, wrenches[3]), 1e-12)


def test_singular_mass_matrix_names_the_joint():
    rows = [dict(joint="revolute", mass=1, com=(0.1, 0, 0)), dict(joint="revolute", name="wrist")]
    robot = armdyn.from_dh(rows)
    for method in ("composite_body", "articulated_body", "denoc"):
        with pytest.raises(SingularityError, match="mass matrix is singular.*'wrist'"):
            robot.forward_dynamics([[0.1, 0.2]], [[0, 0]], [[1, 1]], method=method)


def planar():
    rows = [dict(joint="revolute", a=0.5, mass=1, com=(-0.2, 0, 0), inertia=(0.1, 0.1, 0.1))] * 2
    return armdyn.from_dh(rows, gravity=(0, -9.81, 0))


@pytest.mark.slow
def test_cartesian_form_at_a_singularity_is_an_error_or_damped():
    robot, q, qd = planar(), [0.3, 0.0], [0.1, 0.2]
    with pytest.raises(
        SingularityError, match=r"Jacobian of \(x, y\) is singular at 1 of 1.*damping"
    ):
        robot.cartesian(q, qd)
    assert np.isfinite(robot.cartesian(q, qd, damping=0.01).M).all()
    regular = [0.3, 0.9]
    close(robot.cartesian(regular, qd, damping=1e-6).M, robot.cartesian(regular, qd).M, 1e-9)


def test_cartesian_form_without_coordinates_or_with_odd_damping():
    with pytest.raises(ShapeError, match="task names no coordinate"):
        planar().cartesian([0.3, 0.9], [0, 0], task=())
    for damping in (-1.0, float("nan"), "some"):
        with pytest.raises(ShapeError, match="damping must be a number from 0 to"):
            planar().cartesian([0.3, 0.9], [0, 0], damping=damping)


def test_a_wrench_is_in_the_quantities_of_a_formulation():
    wrench = np.arange(6.0)
    rows = [ROBOT.formulate("newton_euler", *STATE, w).f[3] for w in (wrench, np.zeros(6))]
    R = ROBOT.forward_kinematics(STATE[0], "link4")[:3, :3]
    close(R @ (rows[0] - rows[1]), -wrench[:3], 1e-12)


def test_cartesian_form_of_more_coordinates_than_joints():
    with pytest.raises(
        SingularityError, match="2 joints cannot move the 3 task coordinates x, y, rz"
    ):
        planar().cartesian([0.3, 0.9], [0, 0], task=("x", "y", "rz"))


@pytest.mark.slow
def test_cartesian_form_is_the_same_motion(arm):
    (q, qd, qdd), robot = arm.states(), arm.robot
    form = robot.cartesian(q, qd)
    rows = [TASK.index(name) for name in form.task]
    J, M = robot.jacobian(q)[rows], robot.mass_matrix(q)
    # J⁻ᵀ M J⁻¹ for a square Jacobian; with more joints, along the dynamically consistent inverse
    inertia = np.linalg.inv(J @ np.linalg.solve(M, J.T))
    consistent = np.linalg.solve(M, J.T) @ inertia
    tolerance = 1e-13 * np.linalg.cond(M) * np.linalg.cond(J) ** 2
    close(form.M, inertia, tolerance)
    close(form.G, consistent.T @ robot.gravity_vector(q), tolerance)
    acceleration = J @ qdd + robot.jacobian_dot(q, qd)[rows] @ qd
    tau = robot.inverse_dynamics(q, qd, qdd, friction=False)
    close(form.M @ acceleration + form.V + form.G, consistent.T @ tau, tolerance)


@pytest.mark.slow
def test_default_task_follows_the_arm():
    scara = "RRPR"
    rows = [
        dict(joint={"R": "revolute", "P": "prismatic"}[k], a=0.3, mass=1, inertia=(1, 1, 1))
        for k in scara
    ]
    assert armdyn.from_dh(rows).cartesian([0.1, 0.5, 0.1, 0.2], [0] * 4).task == (
        "x",
        "y",
        "z",
        "rz",
    )


def test_every_error_is_ours():
    for name in dir(armdyn.errors):
        item = getattr(armdyn.errors, name)
        if isinstance(item, type) and issubclass(item, Exception) and name.endswith("Error"):
            assert issubclass(item, ArmdynError)


def test_robots_can_be_pickled():
    copy = pickle.loads(pickle.dumps(ROBOT))
    assert np.array_equal(copy.inverse_dynamics(*STATE), ROBOT.inverse_dynamics(*STATE))


def test_a_robot_prints_what_it_is():
    assert repr(ROBOT) == "<Robot 'random RPRR', 4 joints, RPRR>"


@pytest.mark.parametrize("name", NEED_COM)
def test_a_first_moment_without_mass_is_named_where_centres_of_mass_are_needed(name):
    arm = ARMS["regrouped_mixed"]
    with pytest.raises(ModelError, match=f"'{name}' needs centres of mass.*link 'link"):
        arm.robot.inverse_dynamics(*arm.states(), formulation=name)


def test_what_is_no_robot_is_refused():
    for source in (3, None):
        with pytest.raises(ModelError, match="loaded by its name or path"):
            armdyn.load(source)
    with pytest.raises(ModelError, match="expected a Robot, got 'two_link'"):
        armdyn.count_operations("two_link")


def test_names_that_are_no_strings_are_unknown_names():
    for ask in (
        lambda: ROBOT.inverse_dynamics(*STATE, formulation=3),
        lambda: ROBOT.forward_kinematics(STATE[0], link=3),
        lambda: ROBOT.jacobian(STATE[0], frame=None),
        lambda: ROBOT.inverse_dynamics(*STATE, external_wrench={1: np.zeros(6)}),
        lambda: armdyn.load("two_link", tool=3),
    ):
        with pytest.raises(UnknownNameError, match=r"there is no .* (None|3|1)\. .*Available: "):
            ask()


def test_a_robot_is_saved_to_a_path():
    with pytest.raises(ModelError, match=r"saved to a path such as 'arm\.toml', got None"):
        ROBOT.save(None)


def test_a_shape_is_refused_in_the_words_of_what_it_holds():
    with pytest.raises(ShapeError, match=r"the 6 components \(force, moment\), got shape \(3,\)"):
        ROBOT.inverse_dynamics(*STATE, external_wrench=np.zeros(3))
    with pytest.raises(ShapeError, match=r"the 4 joints, got shape \(3,\)"):
        ROBOT.mass_matrix(np.zeros(3))


@pytest.mark.parametrize(
    "take",
    [
        lambda robot, hidden, zero: robot.inverse_kinematics(np.ma.array(np.eye(4), mask=True)),
        lambda robot, hidden, zero: armdyn.simulate(robot, zero, zero, 0.1, torque=hidden),
        lambda robot, hidden, zero: armdyn.simulate(robot, zero, zero, 0.1, torque=lambda *_: hidden),
        lambda robot, hidden, zero: armdyn.sweep(robot, "gravity_vector", {"q": hidden[None]}),
        lambda robot, hidden, zero: armdyn.sweep(robot, "gravity_vector", armdyn.Grid(q1=hidden)),
        lambda robot, hidden, zero: armdyn.worst_case(robot, acceleration=hidden),
    ],
)  # fmt: skip
def test_masked_numbers_are_refused_wherever_arrays_are_taken(take):
    hidden = np.ma.array([0.1, 0.2], mask=[False, True])
    with pytest.raises(ArmdynError, match="masked"):
        take(armdyn.load("two_link"), hidden, np.zeros(2))


def test_masked_numbers_are_refused_also_by_the_entry_for_one_state():
    robot, zero = armdyn.load("two_link"), np.zeros(2)
    masked = np.ma.array([0.1, 99.0], mask=[False, True])
    for _ in range(2):  # the second call finds the kernel of one state in its place
        robot.inverse_dynamics(zero, zero, zero)
        with pytest.raises(ShapeError, match="q: .* none of them masked, got masked_array"):
            robot.inverse_dynamics(masked, zero, zero)
    with pytest.raises(ModelError, match="gravity: expected numbers"):
        robot.with_gravity(np.ma.array([0, 0, -9.81], mask=[0, 0, 1]))
