"""Kernels as objects: singular states, copies in other processes, and what they say."""

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import armdyn
from armdyn import Robot
from armdyn.errors import ModelError, ShapeError, SingularityError, UnknownNameError
from armdyn.model import Connection, Inertia, assemble
from support.peers import close
from support.textbook_quantities import MODELS


def massless_tip():
    links = {"base": Inertia.zero(), "arm": Inertia.from_com(1.0, (0.5, 0, 0), np.eye(3) * 0.1)}
    links["tip"] = Inertia.zero()
    joints = [
        Connection("shoulder", "revolute", "base", "arm", axis=(0, 0, 1)),
        Connection("wrist", "revolute", "arm", "tip", axis=(0, 1, 0)),
    ]
    return assemble("weak", links, joints)


def point_on_the_axis():
    """A point mass that lies on its axis when the slide is at zero."""
    links = {
        "base": Inertia.zero(),
        "rod": Inertia.zero(),
        "bob": Inertia.from_com(1.0, (0, 0, 0), np.zeros((3, 3))),
    }
    joints = [
        Connection("turn", "revolute", "base", "rod", axis=(0, 0, 1)),
        Connection("slide", "prismatic", "rod", "bob", axis=(1, 0, 0)),
    ]
    return assemble("bob", links, joints)


@pytest.mark.slow
def test_a_singular_mass_matrix_is_not_a_number_or_an_error():
    robot = Robot(point_on_the_axis())
    q = np.array([[0.3, 0.5], [0.3, 0.0], [-1.0, -0.2]])
    zero = np.zeros_like(q)
    kernel = robot.kernel("forward_dynamics")
    found = kernel(q, zero, zero + 1)
    assert np.isfinite(found[[0, 2]]).all()
    assert np.isnan(found[1]).any()
    close(found[0], [1 / 0.25, 1.0], 1e-12)
    single = robot.kernel("forward_dynamics", dtype="float32")(q, zero, zero + 1)
    assert np.array_equal(np.isnan(single), np.isnan(found))
    with pytest.raises(SingularityError, match=r"state 1 of the batch.*'turn'"):
        robot.forward_dynamics(q, zero, zero + 1)
    with pytest.raises(SingularityError, match="'turn'"):
        robot.forward_dynamics(q[1], zero[1], zero[1])
    slopes = robot.forward_dynamics_derivatives(q[0], zero[0], zero[0])
    assert np.isfinite(slopes.dtau).all()
    with pytest.raises(SingularityError, match="'turn'"):
        robot.forward_dynamics_derivatives(q[1], zero[1], zero[1])


def test_a_joint_that_never_moves_an_inertia_is_named():
    robot, zero = Robot(massless_tip()), np.zeros(2)
    with pytest.raises(SingularityError, match="moves no inertia"):
        robot.forward_dynamics(zero, zero, zero)
    with pytest.raises(SingularityError, match="moves no inertia"):
        robot.kernel("forward_dynamics")


@pytest.mark.slow
def test_numbers_that_are_none_go_through_the_robot():
    robot = Robot(MODELS["tree"])
    q, qd, tau = (np.ones((3, 6)) * x for x in (0.3, 0.2, 1.0))
    q[1, 0] = np.nan
    qdd = robot.forward_dynamics(q, qd, tau)
    assert np.isnan(qdd[1]).any()
    assert np.array_equal(qdd[[0, 2]], robot.forward_dynamics(q[[0, 2]], qd[[0, 2]], tau[[0, 2]]))
    assert np.isnan(robot.forward_dynamics_derivatives(q, qd, tau).dq[1]).any()
    with np.errstate(over="ignore", invalid="ignore"):
        huge = robot.forward_dynamics(q[0], 1e200 * qd[0], tau[0])
    assert not np.isfinite(huge).all()


OTHER_PROCESS = """
import pickle, sys
robot, call, kernel, q = pickle.load(sys.stdin.buffer)
for found in (robot.mass_matrix(q), call(q), kernel(q), kernel.gufunc(q)):
    print(found.tobytes().hex())
"""


@pytest.mark.slow
@pytest.mark.parametrize("cache", ["shared", "off"])
def test_robots_and_kernels_go_to_other_processes(cache):
    robot = armdyn.load("scara")
    call = robot.kernel("mass_matrix")
    q = np.array([0.1, -0.4, 0.2, 1.0])
    done = subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS],
        input=pickle.dumps((robot, call, call.__self__, q)),
        env=os.environ | ({"ARMDYN_CACHE_DIR": "off"} if cache == "off" else {}),
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.decode().split() == [call(q).tobytes().hex()] * 4


def test_robots_and_kernels_are_copied():
    robot = armdyn.load("scara")
    q = np.array([0.1, -0.4, 0.2, 1.0])
    single = robot.kernel("jacobian", link="tool", frame="tool", dtype="float32")
    for way in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        assert np.array_equal(way(robot).mass_matrix(q), robot.mass_matrix(q))
        for thing in (single, single.__self__):
            other = way(thing)
            assert type(other) is type(thing)
            assert np.array_equal(other(q), single(q))
            assert other.__self__.request == single.__self__.request
            assert other(q).dtype == np.float32


def test_a_robot_keeps_its_kernels():
    robot = armdyn.load("scara")
    assert robot.kernel("mass_matrix").__self__ is robot.kernel("mass_matrix").__self__
    assert robot.kernel("bias", friction=False).__self__ is not robot.kernel("bias").__self__
    kernel = robot.kernel("mass_matrix").__self__
    assert kernel.operations == kernel.program.operations
    assert (kernel.inputs, kernel.shape, kernel.signature) == ({"q": 4}, (4, 4), "(4)->(4,4)")


@pytest.mark.parametrize(
    ("quantity", "options", "error", "message"),
    [
        ("mass_matrx", {}, UnknownNameError, r"no quantity 'mass_matrx'\. Did you mean 'mass_matrix'"),
        ("mass_matrix", {"dtype": "float16"}, UnknownNameError, "Did you mean 'float64' or 'float32'"),
        ("mass_matrix", {"dtype": "half a float"}, UnknownNameError, "Available: float32, float64"),
        ("mass_matrix", {"gravity": True}, ModelError, "mass_matrix has no option 'gravity'; it has payload"),
        ("jacobian", {"link": "link44"}, UnknownNameError, r"'link44'\. Did you mean 'link4'"),
        ("jacobian", {"frame": "tol"}, UnknownNameError, "Did you mean 'tool'"),
        ("inverse_dynamics", {"wrench": ("tol",)}, UnknownNameError, "Did you mean 'tool'"),
        ("inverse_dynamics", {"wrench": "link44"}, UnknownNameError, "Did you mean 'link4'"),
        ("forward_dynamics", {"method": "articulated"}, UnknownNameError, "Did you mean 'articulated_body'"),
        ("inverse_dynamics", {"formulation": "denoc", "payload": True}, ModelError, "leave the formulation out"),
        ("inverse_dynamics", {"method": "denoc"}, ModelError, "no option 'method'; it has friction"),
    ],
)  # fmt: skip
def test_what_there_is_not_is_said(quantity, options, error, message):
    with pytest.raises(error, match=message):
        Robot(MODELS["panda"]).kernel(quantity, **options)


def test_arguments_have_their_names_in_messages():
    robot = Robot(MODELS["panda"])
    kernel = robot.kernel("inverse_dynamics", payload=True, gravity=True, wrench=("tool",))
    given = [np.zeros(7)] * 3 + [np.zeros(10), np.zeros(3), np.zeros(6)]
    assert kernel(*given).shape == (7,)
    names = ["q", "qd", "qdd", "payload", "gravity", "wrench on 'tool'"]
    for k, name in enumerate(names):
        wrong = [*given[:k], np.zeros(5), *given[k + 1 :]]
        with pytest.raises(
            ShapeError, match=rf"{name}: expected shape .*{len(given[k])}.*got shape \(5,\)"
        ):
            kernel(*wrong)
