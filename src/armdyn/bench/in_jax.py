"""Kernels inside JAX, beside the same in NumPy."""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from armdyn.bench.batches import batch_contender, random_states
from armdyn.bench.report import Speed
from armdyn.bench.timing import Contender, alternate
from armdyn.robot import Robot

JAX_STATES = 2000, 20_000
"""States in a batch that stays in the caches, as those of learning do, and in one that does not."""
JAX_QUANTITIES = "inverse_dynamics", "forward_dynamics"


def jax_rates(robot: Robot, seconds: float, _: int) -> Iterator[Speed]:
    """Dynamics and their gradients inside `jit`, if JAX is installed."""
    if find_spec("jax") is None:
        return
    import jax  # noqa: PLC0415 (an extra)

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        for quantity in JAX_QUANTITIES:
            for count in JAX_STATES:
                yield from _rates(jax, robot, quantity, count, seconds)
    finally:
        jax.config.update("jax_enable_x64", before)


def _rates(jax: Any, robot: Robot, quantity: str, count: int, seconds: float) -> Iterator[Speed]:
    """The function beside the kernel in NumPy, and its gradient beside the function."""
    function = robot.jax(quantity, friction=False)
    states = random_states(robot, count)
    given = [jax.device_put(x) for x in states]
    value = jax.jit(function)
    pulled = jax.jit(lambda w, *x: jax.vjp(function, *x)[1](w))
    contenders = [
        Contender("jit", _run(jax, value, given), count),
        Contender("gradient", _run(jax, pulled, [given[0], *given]), count),
        batch_contender(robot, quantity, states),
    ]
    for contender in contenders:
        contender.run()  # which compiles
    own, slope, kernel = alternate(contenders, seconds)
    name, told = quantity.replace("_", " "), f"in JAX, {count} states"
    yield Speed(robot.name, "jax", f"{name} {told}", own, "the kernel in NumPy", kernel)
    what = f"gradient of {name} {told}"
    yield Speed(robot.name, "jax", what, slope, "the function in JAX", own)


def _run(jax: Any, function: Any, given: list[Any]) -> Any:
    return lambda: jax.block_until_ready(function(*given))
