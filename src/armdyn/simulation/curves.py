"""The lines of a picture of a simulation: of one arm as they are, of many their spread."""

from dataclasses import dataclass, replace

import numpy as np

from armdyn.arrays import Array
from armdyn.simulation.motion import WORK, SimulatedMotion

QUANTILES = (0.5, 0.05, 0.95, 0.25, 0.75)
"""What is drawn of many arms: the middle, and two bands about it."""


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Lines, (k, m, n) for each joint and (k, m) for the arm: k is 1, or 5 for `QUANTILES`."""

    t: Array
    q: Array
    tau: Array
    terms: dict[str, Array]
    """What the torques are made of."""
    energy: dict[str, Array]
    """Energies, potential energy counted from the lowest there was, and work [J]."""
    power: dict[str, Array]
    """What gives kinetic energy and takes it, and how fast it changes in all [W]."""


MAX_INSTANTS = 301
"""Instants at which many arms are drawn, at most."""
BLOCK_STATES = 100_000
"""States whose torques are computed at once."""
INVISIBLE = 1e-9
"""A line below this part of the largest one is not drawn."""


def curves(simulation: SimulatedMotion) -> Curves:
    """The lines of a simulation, without those that are zero throughout."""
    many = simulation.q.ndim > 2
    chosen = np.arange(len(simulation.t))
    if many and len(chosen) > MAX_INSTANTS:
        chosen = np.linspace(0, len(chosen) - 1, MAX_INSTANTS).astype(int)
    pieces = -(-len(chosen) * max(simulation.arms, 1) // BLOCK_STATES) if many else 1
    lowest = simulation.potential.min()
    blocks = [_curves(_part(simulation, b), lowest) for b in np.array_split(chosen, pieces)]
    q, tau = (np.concatenate([getattr(b, name) for b in blocks], axis=1) for name in ("q", "tau"))
    terms, energy, power = (
        _acting([getattr(b, name) for b in blocks]) for name in ("terms", "energy", "power")
    )
    if len(power) <= 2:
        power.pop("total", None)
    return Curves(simulation.t[chosen], q, tau, terms, energy, power)


def _part(simulation: SimulatedMotion, chosen: Array) -> SimulatedMotion:
    """Some instants of a simulation, with all arms on one axis."""
    names = ("q", "qd", "qdd", "tau", "friction", "stop", "external", "base", "work")
    lead = () if simulation.q.ndim == 2 else (simulation.arms,)
    parts = {name: getattr(simulation, name)[..., chosen, :] for name in names}
    parts = {name: values.reshape(*lead, *values.shape[-2:]) for name, values in parts.items()}
    return replace(simulation, t=simulation.t[chosen], **parts)


def _curves(part: SimulatedMotion, lowest: float) -> Curves:
    def spread(values: Array, axes: int) -> Array:
        if values.ndim == axes:
            return values[None]
        return np.quantile(values, QUANTILES, axis=0)

    terms = part.terms()
    potential = part.potential - lowest
    energy = {"total": part.kinetic + potential, "kinetic": part.kinetic, "potential": potential}
    energy |= {name: part.work[..., k] for k, name in enumerate(WORK)}
    forces = {"actuators": part.tau, "gravity": -terms["gravity"], "friction": -part.friction}
    forces["environment"] = part.external + part.base
    power = {name: np.sum(force * part.qd, axis=-1) for name, force in forces.items()}
    power = {"total": sum(power.values(), np.zeros_like(potential))} | power
    return Curves(
        part.t,
        spread(part.q, 2),
        spread(part.tau, 2),
        {name: spread(values, 2) for name, values in terms.items()},
        {name: spread(values, 1) for name, values in energy.items()},
        {name: spread(values, 1) for name, values in power.items()},
    )


def _acting(blocks: list[dict[str, Array]]) -> dict[str, Array]:
    """The lines of all blocks in one, without those that stay at zero."""
    joined = {name: np.concatenate([b[name] for b in blocks], axis=1) for name in blocks[0]}
    sizes = {name: float(np.abs(values).max(initial=0.0)) for name, values in joined.items()}
    return {name: joined[name] for name in joined if sizes[name] > INVISIBLE * max(sizes.values())}
