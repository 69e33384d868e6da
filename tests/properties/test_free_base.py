"""Laws of bases that nothing holds, and of the mass of a robot as a whole."""

import numpy as np
import pytest
import scipy.integrate
from scipy.spatial.transform import Rotation

import armdyn
from armdyn import BaseState
from armdyn.errors import ArmdynWarning, ModelError, ShapeError, SingularityError, UnknownNameError
from armdyn.quantities.proof import proved_program
from armdyn.quantities.request import Request
from support.arms import ARMS
from support.peers import close


def _has_bodies(arm):
    return arm.bodies != "regrouped"


WITH_BODIES = pytest.mark.arms(where=_has_bodies)


def base_of(arm, *batch):
    rng = np.random.default_rng([arm.seed, 7])
    R = Rotation.random(int(np.prod(batch)), random_state=arm.seed).as_matrix()
    R = R.reshape(*batch, 3, 3)
    return BaseState(R, rng.normal(size=(*batch, 3)), rng.normal(size=(*batch, 6)))


def times(A, v):
    return np.einsum("...ij,...j->...i", A, v)


def joined(a, b):
    return np.concatenate([a, b], -1)


def worst(M):
    """The condition of mass matrices in units of their own."""
    size = np.sqrt(np.diagonal(M, axis1=-2, axis2=-1))
    return np.linalg.cond(M / size[..., None] / size[..., None, :]).max()


@WITH_BODIES
def test_forces_and_accelerations_fulfil_the_equation_of_motion(arm):
    free, base, (q, qd, qdd) = arm.robot.free_base, base_of(arm, 3), arm.states(3)
    M, load = free.mass_matrix(base, q), np.random.default_rng(1).normal(size=(3, 6))
    assert (M.swapaxes(-1, -2) == M).all()
    tolerance = max(1e-10, 1e-13 * worst(M))
    a, moved = free.forward_dynamics(base, q, qd, qdd, load)
    h = free.bias(base, q, qd, friction=True)
    size = np.abs(M).max() * max(np.abs(a).max(), np.abs(moved).max())
    close(times(M, joined(a, moved)) + h, joined(load, qdd), tolerance * max(1, size))
    again, tau = free.inverse_dynamics(base, q, qd, moved, load)
    close(again, a, tolerance)
    close(tau, qdd, tolerance * max(1, size))
    led = arm.robot.joint_names[:: 1 + arm.seed % 2]
    for found, expected in zip(
        free.hybrid_dynamics(base, q, qd, moved, qdd, led, load), (a, moved, qdd), strict=True
    ):
        close(found, expected, tolerance * max(1, size))


@WITH_BODIES
def test_a_base_that_is_held_makes_it_a_fixed_robot(arm):
    robot, (q, qd, qdd) = arm.robot, arm.states(2)
    free, base = robot.free_base, robot.free_base.standing
    close(free.mass_matrix(base, q)[:, 6:, 6:], robot.mass_matrix(q), 1e-12)
    close(free.bias(base, q, qd)[:, 6:], robot.bias(q, qd), 1e-11)
    load = free.bias(base, q, qd)[:, :6] + times(free.mass_matrix(base, q)[:, :6, 6:], qdd)
    tau = robot.inverse_dynamics(q, qd, qdd)
    a, found = free.forward_dynamics(base, q, qd, tau, load)
    tolerance = max(1e-10, 1e-13 * worst(free.mass_matrix(base, q)))
    close(a, np.zeros((2, 6)), tolerance * max(1.0, np.abs(load).max(), np.abs(tau).max()))
    close(found, qdd, tolerance * max(1.0, np.abs(tau).max()))
    reaction = robot.reactions(q, qd, qdd, base_wrench=True)[:, 0]
    close(reaction, load, 1e-11)
    close(free.forward_kinematics(base, q), robot.forward_kinematics(q), 1e-13)
    close(free.jacobian(base, q)[..., 6:], robot.jacobian(q), 1e-13)
    close(free.center_of_mass(base, q), robot.center_of_mass(q), 1e-13)
    close(free.centroidal_momentum(base, q, qd), robot.centroidal_momentum(q, qd), 1e-12)
    close(free.center_of_mass_jacobian(base, q)[..., 6:], robot.center_of_mass_jacobian(q), 1e-13)
    assert free.total_mass == robot.total_mass


@WITH_BODIES
def test_the_world_may_be_turned(arm):
    """A base in another attitude and place, in a field turned alike, moves alike."""
    base, (q, qd, tau) = base_of(arm, 2), arm.states(2)
    S = Rotation.from_rotvec([0.4, -1.1, 0.7]).as_matrix()
    X = np.kron(np.eye(2), S)
    load = np.random.default_rng(2).normal(size=6)
    kernel = arm.robot.kernel("free_forward_dynamics", gravity=True)
    turned = BaseState(S @ base.rotation, times(S, base.position) + 3.0, times(X, base.twist))
    g = arm.model.gravity
    here = kernel(base.pose, base.twist, q, qd, tau, load, g)
    there = kernel(turned.pose, turned.twist, q, qd, tau, X @ load, S @ g)
    tolerance = max(1e-11, 1e-13 * worst(arm.robot.free_base.mass_matrix(base, q)))
    close(there[:, :6], times(X, here[:, :6]), tolerance * np.abs(here).max())
    close(there[:, 6:], here[:, 6:], tolerance * np.abs(here).max())


@WITH_BODIES
def test_momentum_changes_by_weight_and_wrench_alone(arm):
    free, base, (q, qd, tau) = arm.robot.free_base, base_of(arm, 3), arm.states(3)
    load = np.random.default_rng(3).normal(size=(3, 6))
    A, v = free.centroidal_matrix(base, q), joined(base.twist, qd)
    close(times(A, v), free.centroidal_momentum(base, q, qd), 1e-12)
    a = joined(*free.forward_dynamics(base, q, qd, tau, load))
    arm_of_load = base.position - free.center_of_mass(base, q)
    moment = load[:, 3:] + np.cross(arm_of_load, load[:, :3])
    outside = joined(load[:, :3] + free.total_mass * arm.model.gravity, moment)
    changed = times(A, a) + free.centroidal_bias(base, q, qd)
    tolerance = max(1e-11, 1e-13 * worst(free.mass_matrix(base, q)))
    close(changed, outside, tolerance * max(1.0, np.abs(A).max() * np.abs(a).max()))


@WITH_BODIES
def test_rates_are_differences_along_a_motion(arm):
    """Of the centre of mass, its Jacobian and the momentum, along q + t q̇ and a screw."""
    robot, base, (q, qd, _) = arm.robot, base_of(arm), arm.states()
    free, h = robot.free_base, 1e-4

    def at(t):
        turned = Rotation.from_rotvec(t * base.twist[3:]).as_matrix() @ base.rotation
        return BaseState(turned, base.position + t * base.twist[:3], base.twist), q + t * qd

    def rate(function):
        ends = [function(*at(k * h)) for k in (-2, -1, 1, 2)]
        return (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h)

    v = joined(base.twist, qd)
    c = free.center_of_mass_jacobian(base, q) @ v
    close(rate(free.center_of_mass), c, 1e-8)
    momentum = rate(lambda b, x: free.centroidal_matrix(b, x) @ v)
    close(momentum, free.centroidal_bias(base, q, qd), 1e-7)
    fixed = rate(lambda b, x: robot.center_of_mass_jacobian(x))
    close(fixed, robot.center_of_mass_jacobian_dot(q, qd), 1e-8)
    close(rate(lambda b, x: robot.center_of_mass(x)), robot.center_of_mass_jacobian(q) @ qd, 1e-8)
    tip = rate(lambda b, x: free.forward_kinematics(b, x)[:3, 3])
    close(tip, (free.jacobian(base, q) @ v)[:3], 1e-8)


@WITH_BODIES
def test_a_base_follows_the_joints_where_there_is_no_momentum(arm):
    free, base, (q, qd, _) = arm.robot.free_base, base_of(arm, 2), arm.states(2)
    K = free.dynamic_coupling(base, q)
    follows = BaseState(base.rotation, base.position, times(K, qd))
    size = np.abs(free.centroidal_matrix(base, q)).max() * np.abs(qd).max()
    close(free.centroidal_momentum(follows, q, qd), np.zeros((2, 6)), 1e-11 * max(1.0, size))
    v = joined(follows.twist, qd)
    hand = times(free.generalised_jacobian(base, q), qd)
    close(hand, times(free.jacobian(base, q), v), 1e-11)
    P = free.reaction_null_space(base, q)
    close(P @ P, P, 1e-9)
    close((K @ P)[:, 3:], np.zeros_like(K[:, 3:]), 1e-9 * max(1.0, np.abs(K).max()))


def test_a_robot_in_free_flight_keeps_its_momentum_and_energy():
    arm = ARMS["scara"]
    robot = armdyn.Robot(arm.model).with_gravity([0.0, 0.0, 0.0])
    robot = robot.with_joint("joint1", viscous=0.0)
    free, base, (q, qd, _) = robot.free_base, base_of(arm), 0.3 * arm.states()

    def unpacked(y):
        R = Rotation.from_quat(y[:4]).as_matrix()
        return BaseState(R, y[4:7], y[7:13]), y[13:17], y[17:]

    def slope(t, y):
        base, q, qd = unpacked(y)
        a, qdd = free.forward_dynamics(base, q, qd, np.zeros(4), friction=False)
        w, turn = base.twist[3:], y[:4]
        rate = 0.5 * np.append(turn[3] * w + np.cross(w, turn[:3]), -w @ turn[:3])
        return np.concatenate([rate, base.twist[:3], a, qd, qdd])

    turn = Rotation.from_matrix(base.rotation).as_quat()
    start = np.concatenate([turn, base.position, base.twist, q, qd])
    end = scipy.integrate.solve_ivp(slope, (0, 2.0), start, "DOP853", rtol=1e-12, atol=1e-12).y
    momenta = [free.centroidal_momentum(*unpacked(y)) for y in end[:, [0, -1]].T]
    close(momenta[1], momenta[0], 1e-9)
    energies = [free.kinetic_energy(*unpacked(y)) for y in end[:, [0, -1]].T]
    close(energies[1], energies[0], 1e-9)
    c = [free.center_of_mass(*unpacked(y)[:2]) for y in end[:, [0, -1]].T]
    close(c[1], c[0] + 2.0 * momenta[0][:3] / free.total_mass, 1e-9)


def test_a_body_that_falls_is_weightless():
    """Whatever the joints do, the centre of mass falls; at rest all falls as one body."""
    robot = ARMS["elbow"].robot
    free, q = robot.free_base, np.linspace(-1, 1, 6)
    a, qdd = free.forward_dynamics(free.standing, q, np.zeros(6), np.zeros(6), friction=False)
    close(a, [*robot.gravity, 0, 0, 0], 1e-9)
    close(qdd, np.zeros(6), 1e-9)


def test_what_cannot_float_says_so():
    with pytest.raises(ModelError, match="free_base of 'puma560': the inertias are a reduced set"):
        armdyn.load("puma560").free_base  # noqa: B018
    with pytest.raises(ModelError, match="a base that floats under closed loops is not computed"):
        armdyn.load("five_bar").free_base  # noqa: B018
    with pytest.raises(ModelError, match="total_mass of 'puma560': the inertias are a reduced set"):
        armdyn.load("puma560").total_mass  # noqa: B018
    with pytest.raises(ModelError, match="center_of_mass of 'puma560': the inertias are a reduced"):
        armdyn.load("puma560").center_of_mass(np.zeros(6))
    with pytest.raises(ModelError, match="free_bias of 'five_bar': a base that floats under"):
        armdyn.load("five_bar").kernel("free_bias")


def test_a_base_without_mass_is_warned_of():
    with pytest.warns(ArmdynWarning, match="the base 'base' of 'saha_3r' has no mass"):
        armdyn.load("saha_3r").free_base  # noqa: B018


def test_states_of_a_base_are_checked():
    free = ARMS["scara"].robot.free_base
    with pytest.raises(ModelError, match=r"the state of a base is an armdyn\.BaseState, got"):
        free.mass_matrix(np.eye(4), np.zeros(4))
    with pytest.raises(ModelError, match=r"the state of a base is an armdyn\.BaseState, got None"):
        free.ledger(None, *np.zeros((2, 4)), np.zeros(6), np.zeros(4))
    with pytest.raises(ModelError, match="rotation of the base: expected rotations"):
        BaseState(2 * np.eye(3))
    with pytest.raises(ShapeError, match="twist of the base: expected"):
        BaseState(twist=[1.0, 2.0, 3.0])
    with pytest.raises(ShapeError, match="the batch shapes of a state of the base do not fit"):
        BaseState(position=np.zeros((2, 3)), twist=np.zeros((3, 6)))
    with pytest.raises(UnknownNameError, match="joint of 'scara' named"):
        free.hybrid_dynamics(free.standing, *np.zeros((4, 4)), ["knee"])
    with pytest.raises(UnknownNameError, match="held part"):
        free.reaction_null_space(free.standing, np.zeros(4), "hand")


def test_states_are_taken_from_a_batch_and_from_nothing_else():
    states = BaseState(position=np.arange(18.0).reshape(2, 3, 3))
    close(states[1, 2].position, states.position[1, 2], 0)
    close(states[:, 1].position, states.position[:, 1], 0)
    close(states[..., -1].pose, states.pose[..., -1, :], 0)
    for index in (0, slice(3)):
        with pytest.raises(IndexError, match="too many indices"):
            BaseState()[index]


def test_what_is_not_a_number_stays_in_its_state():
    free = ARMS["scara"].robot.free_base
    q = np.array([[0.3, -0.7, 0.1, 0.4], [np.nan, 0, 0, 0]])
    P = free.reaction_null_space(free.standing, q)
    close(P[0], free.reaction_null_space(free.standing, q[0]), 1e-12)
    assert np.isnan(P[1]).all()


@pytest.mark.filterwarnings("ignore:the base 'base'")
def test_what_nothing_resists_is_named():
    """A base without mass turns as it likes about the axis of its only joint."""
    inertia = {"mass": 1.0, "com": [0.2, 0.1, 0.3], "inertia": np.diag([2, 3, 4]) / 50}
    rows = [{"joint": "revolute", "a": 0.1, "alpha": 0.4, **inertia}]
    free = armdyn.from_dh(rows, "modified").free_base
    with pytest.raises(SingularityError, match=r"resists a motion of 'base .*' with 'joint1'\."):
        free.forward_dynamics(BaseState(), [0.3], [0.0], [1.0])
    assert np.isnan(free.forward_dynamics(BaseState(), [np.nan], [0.0], [1.0])[1]).all()
    rods = armdyn.load("two_link").free_base  # stretched they are one thin rod
    rest = np.zeros(2)
    for call in (
        lambda: rods.twist(BaseState(), rest, rest, np.ones(6)),
        lambda: rods.inverse_dynamics(BaseState(), rest, rest, rest),
        lambda: rods.hybrid_dynamics(BaseState(), *np.zeros((4, 2)), ["joint1", "joint2"]),
    ):
        with pytest.raises(SingularityError, match="resists a motion of 'base rx'"):
            call()


def test_loops_have_a_centre_of_mass_too():
    """The centre of a five-bar is the mean of those of its bars, and moves with its Jacobian."""
    robot = armdyn.load("five_bar")
    q, qd, h = robot.start + 0.1, np.array([0.7, -0.4]), 1e-4
    frames = robot.joint_frames(q)
    bodies = [(link.inertia, T) for link, T in zip(robot.model.links, frames, strict=True)]
    moments = [body.mass * T[:3, 3] + T[:3, :3] @ body.first_moment for body, T in bodies]
    close(robot.center_of_mass(q), sum(moments) / robot.total_mass, 1e-12)
    ends = [robot.center_of_mass(q + k * h * qd) for k in (-1, 1)]
    velocity = robot.center_of_mass_jacobian(q) @ qd
    close((ends[1] - ends[0]) / (2 * h), velocity, 1e-7)
    slopes = [robot.center_of_mass_jacobian(q + k * h * qd) for k in (-1, 1)]
    close((slopes[1] - slopes[0]) / (2 * h), robot.center_of_mass_jacobian_dot(q, qd), 1e-6)
    close(robot.centroidal_momentum(q, qd)[:3], robot.total_mass * velocity, 1e-12)


@pytest.mark.slow
@pytest.mark.arms(compiled=True, where=_has_bodies)
def test_states_have_the_same_bits_in_every_batch(arm):
    kernel = armdyn.Robot(arm.model).kernel("free_forward_dynamics")
    base, (q, qd, tau), load = base_of(arm, 37), arm.states(37), np.ones((37, 6))
    given = base.pose, base.twist, q, qd, tau, load
    whole = kernel(*given)
    for part in (slice(0, 1), slice(3, 8), slice(5, 37)):
        np.testing.assert_array_equal(kernel(*(x[part] for x in given)), whole[part])
    np.testing.assert_array_equal(kernel(*(x[11] for x in given)), whole[11])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hinge_tree", "hand", "mixed_chain"])
def test_programs_are_those_of_textbooks(name):
    """Renaud's recursion and composite bodies on the same six more joints, over the field."""
    for quantity in ("free_bias", "free_mass_matrix", "free_inverse_dynamics", "free_coupling"):
        assert proved_program(ARMS[name].model, Request(quantity))[1] == "field"


@pytest.mark.slow
def test_casadi_has_the_same_numbers():
    robot, base = armdyn.Robot(ARMS["scara"].model), base_of(ARMS["scara"])
    q, qd, tau = ARMS["scara"].states()
    given = base.pose, base.twist, q, qd, tau, np.ones(6)
    found = robot.casadi("free_forward_dynamics")(*given)
    expected = np.concatenate(robot.free_base.forward_dynamics(base, q, qd, tau, np.ones(6)))
    close(found.full().ravel(), expected, 1e-10)


@WITH_BODIES
@pytest.mark.parametrize("names", [["x"], ["y", "z"], ["z", "x", "ry"], ["rz", "rx"]], ids="-".join)
def test_a_base_on_joints_is_one_that_floats_where_it_is_led(arm, names):
    """With S the twists of these joints, M = Sᵀ M_free S, and what leads the base needs no force."""
    robot, (q, qd, qdd) = arm.robot, arm.states(2)
    rail, free = robot.with_base_joints(names), robot.free_base
    assert rail.joint_names == (*(f"base {name}" for name in names), *robot.joint_names)
    count, rng = len(names), np.random.default_rng(arm.seed)
    s, sd, sdd = rng.normal(size=(3, 2, count))
    stands = robot.model.base[:3, :3]
    R, p, axes = np.broadcast_to(stands, (2, 3, 3)), np.tile(robot.model.base[:3, 3], (2, 1)), []
    for k, name in enumerate(names):  # one joint after another, each along an axis of the last
        along = R[:, :, "xyz".index(name[-1])]
        if name[0] == "r":
            R = Rotation.from_rotvec(along * s[:, k, None]).as_matrix() @ R
        else:
            p = p + along * s[:, k, None]
        axes.append(along)
    sliding = [name[0] != "r" for name in names]
    S = np.zeros((2, 6, count))
    for k, axis in enumerate(axes):  # no slide is behind a hinge here, so the base stays at p
        S[:, slice(0, 3) if sliding[k] else slice(3, 6), k] = axis
    Sd = np.zeros(S.shape)  # a hinge turns the axes of those behind it
    for k in range(count):
        for j in range(k):
            if not sliding[j]:
                Sd[:, 3:, k] += np.cross(axes[j], axes[k]) * sd[:, j, None]
    base = BaseState(R, p, times(S, sd))
    whole = np.zeros((2, robot.n + 6, robot.n + count))
    whole[:, :6, :count], whole[:, 6:, count:] = S, np.eye(robot.n)
    M = free.mass_matrix(base, q)
    turned = np.swapaxes(whole, -1, -2)
    close(rail.mass_matrix(joined(s, q)), turned @ M @ whole, 1e-11)
    rate = np.concatenate([times(S, sdd) + times(Sd, sd), qdd], -1)
    needed = times(turned, times(M, rate) + free.bias(base, q, qd, friction=True))
    state = joined(s, q), joined(sd, qd), joined(sdd, qdd)
    close(rail.inverse_dynamics(*state), needed, 1e-10)
    close(rail.forward_kinematics(state[0]), free.forward_kinematics(base, q), 1e-12)


def test_a_base_on_joints_may_carry_loops_and_springs():
    """A cart with a five-bar: at rest on its rail, its arm does what it does without."""
    arm = armdyn.load("five_bar")
    cart = arm.with_base_joints(["z"])
    q = arm.start
    at = joined(np.zeros(1), q)
    close(cart.gravity_vector(at)[1:], arm.gravity_vector(q), 1e-12)
    close(cart.mass_matrix(at)[1:, 1:], arm.mass_matrix(q), 1e-12)
    assert cart.mass_matrix(at)[0, 0] == pytest.approx(arm.total_mass)
    with pytest.raises(UnknownNameError, match="joint of a base named 'w'.*rx"):
        arm.with_base_joints(["w"])
    with pytest.raises(ModelError, match="base joints is a list of names"):
        arm.with_base_joints("xy")


def test_joints_of_a_base_have_names_of_their_own(tmp_path):
    """Also on a base that is called world, or is carried already; files keep them apart."""
    arm = ARMS["scara"].robot.with_base_joints(["x"])
    for names in (["x"], ["y", "y"]):
        with pytest.raises(ModelError, match=f"would be named 'base {names[0]}'; leave one out"):
            arm.with_base_joints(names)
    with pytest.raises(ModelError, match="base joints: expected some of x, y, .*, got none"):
        arm.with_base_joints([])
    table, q = arm.with_base_joints(["y"]), np.linspace(-1, 1, arm.n + 1)
    assert table.joint_names[:2] == ("base y", "base x")
    for name in ("table.toml", "table.urdf"):
        table.save(tmp_path / name)
        M = armdyn.load(tmp_path / name, physical="ignore").mass_matrix(q)
        close(M, table.mass_matrix(q), 1e-9)
