"""What a checker of types must reject; it complains of an ignored error that is none."""

import numpy as np

import armdyn


def wrong_options(robot: armdyn.Robot) -> None:
    """Calls with names that do not exist."""
    q = np.zeros(robot.n)
    robot.inverse_dynamics(q, q, q, formulation="bogus")  # type: ignore[arg-type]
    robot.forward_dynamics(q, q, q, method="lagrange_euler")  # type: ignore[arg-type]
    robot.formulate("bogus", q, q, q)  # type: ignore[arg-type]
    robot.kernel("inverse_dynamics", formulation="bogus")  # type: ignore[arg-type]
    robot.kernel("inverse_dynamics", derivative="both")  # type: ignore[arg-type]
    robot.jax("inverse_dynamics", frction=False)  # type: ignore[call-arg]
    robot.torch("forward_dynamics", method="bogus")  # type: ignore[arg-type]
    robot.casadi("inverse_dynamics", payload=2.0)  # type: ignore[arg-type]
    robot.export("folder", "rust")  # type: ignore[arg-type]
    robot.export("folder", sngle=True)  # type: ignore[call-arg]
