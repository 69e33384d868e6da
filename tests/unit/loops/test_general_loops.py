"""Loops without a closed form: Newton's method, against eliminations of its own and differences."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import LoopError, SingularityError
from armdyn.io.toml.read import read_toml
from armdyn.loops.closure import closure_of
from armdyn.loops.coordinates import coordinates_of
from armdyn.loops.iteration import iteration_of
from armdyn.loops.newton import closed_states
from armdyn.loops.orthogonal import Orthogonal, determinant
from armdyn.loops.rows import closure_bias, closure_matrix, residuals
from armdyn.loops.standing import StandingGeneral
from support.elimination import eliminated
from support.loops import FIVE_BAR, rod_arm, spatial_loop

STATE = np.array([0.62, 0.4, 0.55]), np.array([0.8, -1.1, 0.6]), np.array([2.0, -1.0, 3.0])
"""A motion of the delta robot."""


@pytest.fixture(scope="module")
def delta():
    return armdyn.load("delta")


@pytest.fixture(scope="module")
def rod():
    return armdyn.Robot(rod_arm())


def spheres(q):
    """The platform of the catalog's delta robot, where three spheres about elbows meet below."""
    base, platform, arm, rod = 0.33, 0.125, 0.42, 1.055
    turn = np.array([0.0, 2.0, -2.0]) * np.pi / 3
    out = base - platform + arm * np.cos(q)
    c1, c2, c3 = np.stack([out * np.cos(turn), out * np.sin(turn), -arm * np.sin(q)], -1)
    x = (c2 - c1) / np.linalg.norm(c2 - c1)
    y = c3 - c1 - x @ (c3 - c1) * x
    y, along, i, j = y / np.linalg.norm(y), np.linalg.norm(c2 - c1), x @ (c3 - c1), 0.0
    j = y @ (c3 - c1)
    u, v = along / 2, (i * i + j * j) / (2 * j) - i / j * along / 2
    return c1 + u * x + v * y - np.sqrt(rod**2 - u * u - v * v) * np.cross(x, y)


@pytest.mark.slow
def test_the_platform_of_a_delta_robot_is_where_spheres_meet(delta):
    q = np.random.default_rng(0).uniform(*delta.limits.T, (200, 3))
    found = delta.forward_kinematics(q)
    np.testing.assert_allclose(found[:, :3, 3], [spheres(x) for x in q], atol=1e-13)
    np.testing.assert_allclose(found[:, :3, :3], np.broadcast_to(np.eye(3), (200, 3, 3)))
    full = delta.all_joints(q)
    assert np.abs(residuals(delta.model, full)).max() < 1e-14
    assert delta.loop_residuals(q).shape == (200, 3)
    assert 0 <= delta.loop_residuals(q).max() < 1e-14
    np.testing.assert_allclose(delta.all_joints(delta.start), delta.assembly, atol=1e-14)
    assert (delta.all_joints(q[7]) == full[7]).all()  # the same bits alone and in a batch


@pytest.mark.slow
def test_the_delta_robot_is_that_of_an_elimination(delta):
    """Torques, and what balls transmit: rows are forces along axes of the platform."""
    _, _, _, tau, force = eliminated(delta, *STATE)
    np.testing.assert_allclose(delta.inverse_dynamics(*STATE), tau, atol=1e-11)
    cuts = delta.reactions(*STATE)[-3:]
    np.testing.assert_allclose(cuts[:, :3].ravel(), force, atol=1e-11)
    with pytest.raises(SingularityError, match=r"loop 'ball\d' of 'delta' cannot be closed"):
        delta.all_joints([3.1, 0.0, 0.0])
    measure = delta.singularity([delta.start, [3.1, 0.0, 0.0]])
    assert measure.kind[0] == 0
    assert measure.kind[1] >= 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["delta", "spatial loop"])
def test_closures_do_no_work(name):
    """What cut joints transmit does no work in any motion that loops allow."""
    model = armdyn.load(name).model if name == "delta" else spatial_loop()
    at, rng = coordinates_of(model), np.random.default_rng(3)
    q = at.closure.assembly[list(model.independent)] + 0.1 * rng.normal(size=len(model.independent))
    qd, qdd = rng.normal(size=(2, len(q)))
    here = at.at(q)
    assert isinstance(here, StandingGeneral)
    assert np.abs(residuals(model, here.q)).max() < 1e-14
    rates, changes = here.rates(qd), here.accelerations(qd, qdd)
    rows = closure_matrix(model, here.q)
    assert np.abs(rows @ here.G).max() < 1e-13
    assert np.abs(rows @ changes + closure_bias(model, here.q, rates)).max() < 1e-12
    np.testing.assert_allclose(here.G @ qd, rates, atol=1e-12)
    np.testing.assert_allclose(here.G_rate(qd) @ qd + here.G @ qdd, changes, atol=1e-11)
    work = np.arange(1.0, 1 + len(rates))
    np.testing.assert_allclose(here.torques(work), here.G.T @ work, atol=1e-11)
    h = 1e-4
    ahead, back = (at.at(q + s * h * qd) for s in (1, -1))
    np.testing.assert_allclose((ahead.q - back.q) / (2 * h), rates, atol=1e-6)
    np.testing.assert_allclose((ahead.G - back.G) / (2 * h), here.G_rate(qd), atol=1e-5)


MOTION = np.array([0.3, 1.4]), np.array([0.9, -1.4]), np.array([1.5, 2.0])
"""A motion of the arm with a rod."""


@pytest.mark.slow
def test_dynamics_are_those_of_an_elimination(rod):
    q, qd, qdd = MOTION
    _, rates, _, tau, force = eliminated(rod, *MOTION)
    np.testing.assert_allclose(rod.inverse_dynamics(*MOTION, friction=False), tau, atol=1e-12)
    M, C, g = rod.mass_matrix(q), rod.coriolis_matrix(q, qd), rod.gravity_vector(q)
    np.testing.assert_allclose(M @ qdd + C @ qd + g, tau, atol=1e-12)
    np.testing.assert_allclose(rod.forward_dynamics(q, qd, tau, friction=False), qdd, atol=1e-11)
    np.testing.assert_allclose(rod.kinetic_energy(q, qd), qd @ M @ qd / 2, rtol=1e-13)
    viscous = np.array([joint.friction.viscous for joint in rod.model.joints])
    assert rod.friction_torque(qd, q) @ qd == pytest.approx(viscous @ rates**2, abs=1e-13)
    frames = rod.link_frames(q)
    ends = [T[:3, 3] + T[:3, :3] @ [0.3, 0.05, 0.0] for T in frames[1:]]
    pull = rod.reactions(*MOTION)[-1]
    np.testing.assert_allclose(pull[:3], force[0] * (ends[0] - ends[1]), atol=1e-12)
    assert np.linalg.norm(ends[0] - ends[1]) == pytest.approx(0.5, abs=1e-15)
    Y, base = rod.base_regressor(*MOTION), rod.base_parameters()
    np.testing.assert_allclose(Y @ base.values, rod.inverse_dynamics(*MOTION), atol=1e-11)


@pytest.mark.slow
def test_power_is_what_changes_the_energy(rod):
    q, qd, qdd = MOTION

    def energy(t):
        x, v = q + qd * t + qdd * t * t / 2, qd + qdd * t
        return rod.kinetic_energy(x, v) + rod.potential_energy(x)

    h = 1e-3
    change = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h)
    assert rod.inverse_dynamics(*MOTION, friction=False) @ qd == pytest.approx(change, abs=1e-9)


def slope(f, h=1e-3):
    """Central differences of order four by two coordinates."""
    near = [8 * (f(x) - f(-x)) - (f(2 * x) - f(-2 * x)) for x in h * np.eye(2)]
    return np.stack(near, -1) / (12 * h)


@pytest.mark.slow
def test_derivatives_are_those_of_differences(rod):
    q, qd, qdd = MOTION
    found = rod.inverse_dynamics_derivatives(*MOTION)
    by_q = slope(lambda x: rod.inverse_dynamics(q + x, qd, qdd))
    np.testing.assert_allclose(found.dq, by_q, atol=1e-8)
    by_qd = slope(lambda x: rod.inverse_dynamics(q, qd + x, qdd))
    np.testing.assert_allclose(found.dqd, by_qd, atol=1e-10)
    M_rate = slope(lambda x: rod.mass_matrix(q + x)) @ qd
    skew = M_rate - 2 * rod.coriolis_matrix(q, qd)
    np.testing.assert_allclose(skew + skew.T, 0.0, atol=1e-10)
    c = rod.christoffel(q)
    np.testing.assert_allclose(c @ qd, rod.coriolis_matrix(q, qd), atol=1e-12)


@pytest.mark.slow
def test_one_program_has_the_iteration_in_it(rod):
    """The kernel of a quantity solves loops itself, with the same bits alone and in a batch."""
    kernel = rod.kernel("inverse_dynamics")
    alone = kernel(*MOTION)
    np.testing.assert_allclose(alone, rod.inverse_dynamics(*MOTION), atol=1e-13)
    assert (kernel(np.tile(MOTION[0], (9, 1)), *MOTION[1:]) == alone).all()
    along = np.array([[0.3, -0.5], [0.7, 0.2], [0.1, -0.4]])
    h = 1e-4
    ahead, back = (
        rod.inverse_dynamics(*(x + s * h * d for x, d in zip(MOTION, along, strict=True)))
        for s in (1, -1)
    )
    change = (ahead - back) / (2 * h)
    products = {mode: rod.kernel("inverse_dynamics", derivative=mode) for mode in ("jvp", "vjp")}
    np.testing.assert_allclose(products["jvp"](*MOTION, *along), change, atol=1e-6)
    weights = np.array([0.6, -1.1])
    by = products["vjp"](*MOTION, weights)
    assert by @ along.ravel() == pytest.approx(weights @ change, abs=1e-6)


@pytest.mark.slow
def test_what_cannot_be_closed_is_named(rod):
    with pytest.raises(SingularityError, match=r"'rod' of 'rod arm' cannot be closed .*state 1"):
        rod.mass_matrix([rod.start, rod.start - np.array([0.0, 1.0])])
    assert rod.singularity(rod.start).kind == 0


def test_newton_finds_what_closed_forms_do_and_no_other_mode():
    model = armdyn.load("five_bar").model
    closed = closed_states(model, closure_of(model).assembly)
    iteration = iteration_of(model, closed)
    assert [loop.rows for loop in iteration.whole.loops] == [(0, 1)]  # of five that a hinge has
    rng = np.random.default_rng(1)
    q = closed.states[0][list(model.independent)] + rng.uniform(-np.pi, np.pi, (300, 2))
    at = coordinates_of(model)
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = at.positions(q)
    found = StandingGeneral(iteration, q).q
    closed = np.isfinite(found).all(-1)
    assert closed.mean() > 0.8  # what cannot be reached on the straight way is refused
    np.testing.assert_allclose(np.cos(found - expected)[closed], 1.0, atol=1e-12)
    here, other = at.at(q[closed]), StandingGeneral(iteration, q[closed])
    np.testing.assert_allclose(here.G, other.G, rtol=1e-9)
    qd = rng.normal(size=(closed.sum(), 2))
    np.testing.assert_allclose(here.G_rate(qd), other.G_rate(qd), rtol=1e-7, atol=1e-9)
    near = q[closed] + 1e-3
    again = StandingGeneral(iteration, near, found[closed])
    np.testing.assert_allclose(again.G, StandingGeneral(iteration, near).G, rtol=1e-6)


def test_orthogonal_columns_solve_linear_systems():
    rng = np.random.default_rng(0)
    A, x = rng.normal(size=(7, 5)), rng.normal(size=5)
    found = Orthogonal(A.T.tolist())
    np.testing.assert_allclose(found.solve((A @ x).tolist()), x, atol=1e-13)
    force = np.array(found.solve_transposed(x.tolist()))
    np.testing.assert_allclose(force, np.linalg.lstsq(A.T, x, rcond=None)[0], atol=1e-13)
    usual = rng.uniform(1, 2, 5)
    own = np.diag(np.linalg.qr(A)[1]) ** 2  # what of a column is not along those before
    shares = Orthogonal(A.T.tolist(), usual.tolist()).shares
    np.testing.assert_allclose(shares, np.stack([own, (A**2).sum(0) + usual], -1), atol=1e-13)
    A[:, 4] = A[:, 0] - A[:, 2]
    assert np.isnan(Orthogonal(A.T.tolist()).solve([1.0] * 7)).any()
    B = rng.normal(size=(4, 4))
    P = np.linalg.inv(B + 0.1 * rng.normal(size=(4, 4)))
    assert determinant(P, B.T.tolist()) == pytest.approx(np.linalg.det(P @ B))


def test_loops_that_contradict_are_named(tmp_path):
    """A second pin elsewhere cannot be closed with the first; the same pin twice is one."""
    pin = FIVE_BAR[FIVE_BAR.index("[[loops]]") : FIVE_BAR.index("[assembly]")]
    file = tmp_path / "robot.toml"
    again = pin.replace('"pin"', '"again"')
    file.write_text(FIVE_BAR.replace("[assembly]", again + "[assembly]"))
    model = read_toml(file)[0]
    assert len(model.loops) == 2
    at = coordinates_of(model)
    assert np.abs(residuals(model, at.positions(np.array([2.2, 0.8])))).max() < 1e-14
    file.write_text(
        FIVE_BAR.replace("[assembly]", again.replace("0.47", "0.40") + "[assembly]"),
    )
    with pytest.raises(LoopError, match="loop '(pin|again)' of 'five_bar' cannot be closed near"):
        coordinates_of(read_toml(file)[0])
