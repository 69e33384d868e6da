"""Learning through the dynamics: gains of a controller by the gradient of a simulated swing in JAX.

python examples/13_policy_gradient.py
"""

import jax
import jax.numpy as jnp

import armdyn

jax.config.update("jax_enable_x64", True)
robot = armdyn.load("two_link")
acceleration = robot.jax("forward_dynamics")
gravity = robot.jax("gravity_vector")
goal = jnp.array([0.5, -0.4])


def cost(gains):
    """Mean squared error and effort over half a second, from the arm hanging to one side."""

    def step(state, _):
        q, qd = state
        tau = gravity(q) - gains[0] * (q - goal) - gains[1] * qd
        qd = qd + 0.005 * acceleration(q, qd, tau)
        q = q + 0.005 * qd
        return (q, qd), jnp.sum((q - goal) ** 2) + 1e-5 * jnp.sum(tau**2)

    start = (jnp.array([-0.5, 0.3]), jnp.zeros(2))
    return jax.lax.scan(step, start, None, length=100)[1].mean()


gains = jnp.array([5.0, 5.0])
value_and_slope = jax.jit(jax.value_and_grad(cost))
first, _ = value_and_slope(gains)
for _ in range(60):
    last, slope = value_and_slope(gains)
    gains = gains - 0.5 * slope / jnp.linalg.norm(slope)
print(f"cost {first:.3f} -> {last:.3f} with stiffness {gains[0]:.1f} and damping {gains[1]:.1f}")
assert last < 0.8 * first
