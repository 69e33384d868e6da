"""Stiffness and damping from encoders on both sides."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError
from armdyn.identification.transmissions import EncoderLog, identify_transmissions
from support.peers import close
from support.programs import EvaluatedRobot

pytestmark = pytest.mark.slow
ROW = dict(
    joint="revolute", a=0.5, mass=4.0, com=(-0.25, 0, 0), inertia=(0, 1 / 12, 1 / 12),
    rotor_inertia=1e-4, gear_ratio=80.0,
)  # fmt: skip
BARE = EvaluatedRobot(armdyn.from_dh([ROW, ROW], gravity=(0, -9.81, 0), name="two").model)
TRUE = BARE.with_elasticity([3000.0, 2000.0], [6.0, 9.0])
T = np.arange(0.0, 8.0, 1e-3)
WAVES = 2 * np.pi * np.array([[0.5, 0.75], [1.25, 1.5], [2.5, 2.0]])


def motion(t, size=0.25):
    """A periodic motion of 4 s, q to q⁗, (5, m, 2)."""
    angle = WAVES * t[..., None, None]
    share = size / np.arange(1, 4)[:, None]
    waves = (np.sin, np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x), np.sin)
    return np.stack([(share * WAVES**k * wave(angle)).sum(-2) for k, wave in enumerate(waves)])


def log(late, noise=2e-6, size=0.25, seed=0):
    rng = np.random.default_rng(seed)
    theta = TRUE.elastic.feedforward(T, motion(T, size), "periodic").theta
    q = motion(T - late, size)[0] + [1e-3, -2e-3]
    return EncoderLog(
        T, q + noise * rng.normal(size=q.shape), theta + noise * rng.normal(size=q.shape)
    )


def test_stiffness_damping_and_the_skew_of_clocks_are_found():
    found = identify_transmissions(BARE, [log(3e-3), log(-1e-3, seed=1)], 25.0)
    np.testing.assert_allclose(found.stiffness, [3000.0, 2000.0], rtol=0.01)
    np.testing.assert_allclose(found.damping, [6.0, 9.0], rtol=0.2)
    np.testing.assert_allclose(found.skew, [3e-3, -1e-3], atol=5e-5)
    assert (found.explained > 0.99).all()
    assert (found.stiffness_error < 0.02 * found.stiffness).all()
    assert [x.transmission.gives for x in found.robot.model.joints] == [True, True]
    assert "links 3.0" in found.report()


def test_axes_without_encoders_are_left_out_and_what_is_not_shown_is_no_number():
    run = log(0.0)
    alone = identify_transmissions(BARE, run._replace(theta=run.theta * [np.nan, 1.0]), 25.0)
    assert alone.joints == ("joint2",)
    np.testing.assert_allclose(alone.stiffness, [2000.0], rtol=0.01)
    still = np.zeros((len(T), 2))
    rest = EncoderLog(T, still + 1e-6 * np.random.default_rng(0).normal(size=still.shape), still)
    none = identify_transmissions(BARE, rest, 25.0)
    assert np.isnan(none.stiffness).all()
    assert "not determined" in none.report()
    assert none.robot == BARE
    with pytest.raises(ArmdynError, match="the same motors in every run"):
        identify_transmissions(BARE, run._replace(theta=run.theta * np.nan), 25.0)
    close(none.explained < 1.0, True)
