"""Kernels inside JAX, beside the same in NumPy."""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from armdyn.bench.batches import batch_contender, random_states
from armdyn.bench.report import Speed
from armdyn.bench.timing import Contender, alternate
from armdyn.dynamics import Robot

JAX_STATES = 2000
"""States in a batch that stays in the caches, as those of learning do."""


def jax_rates(robot: Robot, seconds: float, _: int) -> Iterator[Speed]:
    """Inverse dynamics and its gradient inside `jit`, if JAX is installed."""
    if find_spec("jax") is None:
        return
    import jax  # noqa: PLC0415 (an extra)

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        function = robot.jax("inverse_dynamics", friction=False)
        states = random_states(robot, JAX_STATES)
        given = [jax.device_put(x) for x in states]
        value = jax.jit(function)
        pulled = jax.jit(lambda w, *x: jax.vjp(function, *x)[1](w))
        contenders = [
            Contender("jit", _run(jax, value, given), JAX_STATES),
            Contender("gradient", _run(jax, pulled, [given[0], *given]), JAX_STATES),
            batch_contender(robot, "inverse_dynamics", states),
        ]
        for contender in contenders:
            contender.run()  # which compiles
        *times, kernel = alternate(contenders, seconds)
    finally:
        jax.config.update("jax_enable_x64", before)
    names = "inverse dynamics", "its gradient by all arguments"
    for what, time in zip(names, times, strict=True):
        told = f"{what} in jax.jit, {JAX_STATES} states"
        yield Speed(robot.name, "jax", told, time, "the kernel in NumPy", kernel)


def _run(jax: Any, function: Any, given: list[Any]) -> Any:
    return lambda: jax.block_until_ready(function(*given))
