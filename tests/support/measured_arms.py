"""Arms that are measured: motions with noise, quantised positions and jittering time stamps."""

import numpy as np


def worn(robot, seed=1, size=1.0):
    """The robot with rotors and friction in all joints."""
    draw = np.random.default_rng(seed)
    values = {}
    for name in robot.joint_names:
        values |= {
            f"{name}.rotor": 0.05 * size * draw.uniform(0.5, 1.5),
            f"{name}.viscous": 0.5 * size * draw.uniform(0.5, 1.5),
            f"{name}.offset": 0.1 * size * draw.normal(),
            f"{name}.smooth_velocity": 0.02,
        }
        level = 0.8 * size * draw.uniform(0.5, 1.5)
        values |= {f"{name}.coulomb_positive": level, f"{name}.coulomb_negative": level}
    return robot.with_parameters(values, physical="ignore")


def guessed(robot, seed=7, spread=0.2):
    """A guess of a robot: each link a bit heavier or lighter, and no friction."""
    draw = np.random.default_rng(seed)
    scale = np.repeat(1 + spread * draw.uniform(-1, 1, len(robot.model.links)), 10)
    names = robot.parameter_names[: len(scale)]
    values = dict(zip(names, scale * robot.parameters()[: len(scale)], strict=True))
    for name in robot.joint_names:
        values |= {f"{name}.{key}": 0.0 for key in ("rotor", "viscous", "offset")}
        values |= {f"{name}.coulomb_{way}": 0.0 for way in ("positive", "negative")}
        values[f"{name}.smooth_velocity"] = 0.0
    return robot.with_parameters(values, physical="ignore")


def motion(robot, t, seed=0, still=(), size=0.7, base=0.1, harmonics=5):
    """A sum of harmonics for each joint that is not still: q, qd and qdd at times t."""
    draw = np.random.default_rng(seed)
    q, qd, qdd = (np.zeros((len(t), robot.n)) for _ in range(3))
    ranges = [robot.model.joints[i].range for i in robot.model.independent]
    for j, (low, high) in enumerate(ranges):
        q[:, j] = 0.5 * (low + high)
        reach = size * min(0.5 * (high - low), 1.5)
        for k in range(1, harmonics + 1):
            a, b = reach * draw.normal(size=2) / k / 1.5
            if j in still:
                continue
            w = 2 * np.pi * base * k
            s, c = np.sin(w * t), np.cos(w * t)
            q[:, j] += a * s + b * c
            qd[:, j] += w * (a * c - b * s)
            qdd[:, j] -= w * w * (a * s + b * c)
    return q, qd, qdd


def measured(
    robot, *, seed=0, seconds=20.0, rate=200.0, noise=0.01, jitter=0.02, step=1e-6, **options
):
    """A log of a motion: t, q and tau as a recorder would have them."""
    draw = np.random.default_rng(1000 + seed)
    t = np.arange(0.0, seconds, 1 / rate)
    t = t + jitter / rate * draw.uniform(-1, 1, len(t))
    q, qd, qdd = motion(robot, t, seed, **options)
    tau = robot.inverse_dynamics(q, qd, qdd)
    tau = tau + noise * np.sqrt(np.mean(tau**2, axis=0)) * draw.normal(size=tau.shape)
    return {"t": t, "q": np.round(q / step) * step, "tau": tau}
