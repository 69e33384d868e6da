"""MEX files in Octave."""

import numpy as np
import pytest

import armdyn
from armdyn.export.options import DEFAULT_FUNCTIONS
from support.toolchains import run

FUNCTIONS = (*DEFAULT_FUNCTIONS, "kinetic_energy", "inverse_dynamics_derivatives")


def octave(folder, code):
    return run("octave", "--quiet", "--no-gui", "--no-history", "--eval", code, cwd=folder)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mex")
    armdyn.load("stanford").export(folder, target="mex", functions=FUNCTIONS)
    octave(folder, "stanford_build")
    return folder


def test_every_function_gives_the_numbers_of_armdyn(built):
    assert octave(built, "stanford_test") == "ok\n"
    version = octave(built, "disp(version)").strip()
    print(f"Octave {version}: all of {', '.join(FUNCTIONS)} as computed by armdyn")


def test_columns_are_states_and_pages_are_matrices(built):
    robot = armdyn.load("stanford")
    q, qd, qdd = np.random.default_rng(3).uniform(-1, 1, (3, 4, 6))
    given = "".join(
        f"{name} = [{'; '.join(' '.join(map(repr, map(float, row))) for row in a)}]';"
        for name, a in (("q", q), ("qd", qd), ("qdd", qdd))
    )
    code = (
        given + "tau = stanford.inverse_dynamics(q, qd, qdd); M = stanford.mass_matrix(q);"
        "T = stanford.forward_kinematics(q); one = stanford.gravity_vector(q(:, 1)');"
        "E = stanford.kinetic_energy(q, qd(:, 1)); D = stanford.inverse_dynamics_derivatives(q, qd, qdd);"
        "printf('%d ', size(tau), size(M), size(T), size(one), size(E), size(D)); printf('\\n');"
        "printf('%.17g ', tau(:, 3), M(2, :, 4), T(1:3, 4, 2), one, E(2), D(:, :, 2, 3)');"
    )
    shapes, values = octave(built, code).split("\n")[:2]
    assert shapes.split() == [
        "6",
        "4",
        "6",
        "6",
        "4",
        "4",
        "4",
        "4",
        "6",
        "1",
        "1",
        "4",
        "6",
        "6",
        "2",
        "4",
    ]
    derivatives = robot.kernel("inverse_dynamics_derivatives")(q[2], qd[2], qdd[2])
    expected = [
        *robot.inverse_dynamics(q, qd, qdd)[2], *robot.mass_matrix(q)[3, 1],
        *robot.forward_kinematics(q)[1, :3, 3], *robot.gravity_vector(q[0]),
        robot.kinetic_energy(q[1], qd[0]), *np.ravel(derivatives[1]),
    ]  # fmt: skip
    np.testing.assert_allclose([float(x) for x in values.split()], expected, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("mass_matrix(zeros(5, 3))", "mass_matrix: q must have 6 rows, got a matrix of 5 x 3"),
        ("mass_matrix(single(zeros(6, 1)))", "q must be a full real matrix of class double"),
        ("mass_matrix(sparse(zeros(6, 1)))", "q must be a full real matrix of class double"),
        ("mass_matrix(zeros(6, 0))", "q has no columns"),
        ("coriolis_matrix(zeros(6, 2), zeros(6, 3))", "qd has 3 columns, others have 2"),
    ],
)
def test_a_wrong_argument_is_an_error(built, call, message):
    code = f"try, stanford.{call}; catch e, disp(e.message); end"
    assert message in octave(built, code)


def test_float_is_single(tmp_path):
    armdyn.load("two_link").export(tmp_path, target="mex", single=True)
    code = "two_link_build; two_link_test; disp(class(two_link.mass_matrix(single([0; 0]))))"
    assert octave(tmp_path, code).split() == ["ok", "single"]
