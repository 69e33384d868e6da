"""The wrench at the tool from torques of the joints."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError

WRENCH = np.array([10.0, -4.0, 7.0, 0.5, -1.0, 2.0])


@pytest.fixture(scope="module")
def puma():
    return armdyn.load("puma560")


@pytest.mark.slow
def test_six_joints_tell_all_six_components_in_any_axes(puma):
    q = np.array([0.3, -0.8, 0.4, 0.6, 1.1, 0.2]) + 0.1 * np.arange(4)[:, None]
    observer = armdyn.Observer(puma, noise=0.1)
    for frame, link in (("world", "tool"), ("tool", "link5")):
        J = puma.jacobian(q, frame=frame, link=link)
        given = dict(frame=frame, link=link, h=1e-3)
        found = observer.wrench(q, np.einsum("...ij,i->...j", J, WRENCH), **given)
        all_seen = found.observable.all(-1)
        assert all_seen.all() == (link == "tool")
        np.testing.assert_allclose(
            np.einsum("...ij,j->...i", found.resolution, WRENCH), found.wrench, atol=1e-9
        )
        if link == "tool":
            np.testing.assert_allclose(found.wrench, np.broadcast_to(WRENCH, (4, 6)), rtol=1e-9)
        assert (found.deviation > 0).any()


@pytest.mark.slow
def test_near_a_singularity_the_estimate_is_bounded_and_says_what_is_lost(puma):
    observer, noise = armdyn.Observer(puma), np.random.default_rng(1).normal(size=6)
    for bend in (1e-3, 1e-6, 0.0):  # the wrist is stretched, so axes 4 and 6 fall together
        q = np.array([0.3, 0.5, -0.4, 0.6, bend, 0.2])
        found = observer.wrench(q, noise)
        assert np.abs(found.wrench).max() < 300
        assert not found.observable.all()
    J = puma.jacobian(q)
    lost = np.linalg.svd(J)[0][:, -1]
    assert np.abs(found.resolution @ lost).max() < 1e-9


def test_fewer_joints_tell_what_is_assumed_to_act():
    arm = armdyn.load("saha_3r")
    q = np.array([0.3, 0.8, -0.5])
    observer = armdyn.Observer(arm)
    force = np.array([3.0, -8.0, 5.0, 0, 0, 0])
    torque = arm.jacobian(q).T @ force
    found = observer.wrench(q, torque, task=("x", "y", "z"))
    np.testing.assert_allclose(found.wrench, force, atol=1e-12)
    unknown = observer.wrench(q, torque)
    np.testing.assert_allclose(arm.jacobian(q).T @ unknown.wrench, torque, atol=1e-12)
    assert unknown.observable.sum() <= 3
    assert unknown.deviation is None
    with pytest.raises(ArmdynError, match="damping: expected a part"):
        observer.wrench(q, torque, damping=-1.0)
    with pytest.raises(ArmdynError, match="task coordinate 'up'"):
        observer.wrench(q, torque, task=("up",))
    still = observer.wrench(q, torque, link="base")
    assert not still.wrench.any()
    assert not still.observable.any()


def test_units_do_not_matter():
    """An arm a thousand times smaller sees the same components."""
    rows = [dict(joint="revolute", a=a, mass=1.0, com=(-a / 2, 0, 0)) for a in (0.5, 0.4, 0.3)]
    small = [row | dict(a=row["a"] / 1e3, com=(-row["a"] / 2e3, 0, 0)) for row in rows]
    q, seen = np.array([0.2, 0.7, -0.5]), []
    for robot in map(armdyn.from_dh, (rows, small)):
        seen.append(armdyn.Observer(robot).wrench(q, np.ones(3), damping=0.01))
    assert np.array_equal(seen[0].observable, seen[1].observable)
    np.testing.assert_allclose(1e3 * seen[0].wrench[:3], seen[1].wrench[:3], rtol=1e-9, atol=1e-9)
