"""Laws that every trajectory keeps."""

import numpy as np

STENCIL = np.array([-3, -2, -1, 1, 2, 3])
WEIGHTS = np.array([-1, 9, -45, 45, -9, 1]) / 60


def slope(values, t, h):
    """The derivative by central differences, exact for polynomials up to degree six."""
    samples = values(t[:, None] + h[:, None] * STENCIL)
    return np.einsum("k,mkn->mn", WEIGHTS, samples) / h[:, None]


def assert_derivatives(motion, knots=None, tolerance=1e-9, wide=0.05):
    """Velocities are the slopes of positions, and accelerations those of velocities."""
    edges = np.linspace(0, motion.duration, 9) if knots is None else np.asarray(knots)
    length = np.diff(edges)
    parts = np.random.default_rng(7).uniform(0.25, 0.75, (5, len(length)))
    t = (edges[:-1] + parts * length).ravel()
    h = np.broadcast_to(wide * length, parts.shape).ravel()
    at = motion(t)
    for rate, values in ((at.qd, lambda x: motion(x).q), (at.qdd, lambda x: motion(x).qd)):
        size = 1 + np.abs(rate).max()
        np.testing.assert_allclose(slope(values, t, h) / size, rate / size, rtol=0, atol=tolerance)


def assert_rests_outside(motion):
    """Before its start and after its end a motion stays where it is then."""
    for outside, end in ((-0.7, 0.0), (motion.duration + 0.7, motion.duration)):
        at = motion(outside)
        np.testing.assert_array_equal(at.q, motion(end).q)
        assert not at.qd.any()
        assert not at.qdd.any()


def assert_vectorised(motion):
    """Times of any shape give what they give one by one."""
    t = np.linspace(-0.2, 1.2, 12).reshape(3, 4) * motion.duration
    together = motion(t)
    for index in np.ndindex(t.shape):
        alone = motion(t[index])
        for one, all_ in zip(alone, together, strict=True):
            assert one.shape == (motion.n,)
            np.testing.assert_allclose(one, all_[index], rtol=1e-13, atol=1e-13)


def assert_touches(found, limit):
    """No joint exceeds its limit and one is at it."""
    assert (found <= np.asarray(limit) * (1 + 2e-12)).all()
    return bool(np.isclose(found, limit, rtol=1e-9, atol=0).any())
