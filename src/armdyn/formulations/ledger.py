"""The ledger: a torque and the terms it is made of."""

from dataclasses import dataclass

import numpy as np

from armdyn.arrays import Array, equal_fields
from armdyn.html import html_table


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ledger:
    """The terms of a torque, each (..., n) [N m or N]; they add up to the total."""

    inertial: Array
    """M q̈ of the links."""
    coriolis: Array
    """C q̇."""
    gravity: Array
    """What holds the links, against their weight and springs."""
    viscous: Array
    """Friction that grows with the speed: viscous, and by a power of it."""
    coulomb: Array
    """Dry friction."""
    stribeck: Array
    """Excess of dry friction at low speed."""
    offset: Array
    """Constant torques of the joints."""
    rotor: Array
    """What the rotors behind their gears need, by the diagonal of M alone but for shared drives."""
    spin: Array
    """What rotors that spin on links need besides, of motors and of the links."""
    external: Array
    """-Jᵀ w for a wrench w of the environment on the arm."""

    @classmethod
    def of(cls, rows: Array) -> "Ledger":
        """Of the terms in this order, (..., terms, n)."""
        terms = (rows[..., k, :] for k in range(rows.shape[-2]))
        return cls(*(rows if rows.ndim == 2 else terms))  # of one state by five times less work

    @property
    def terms(self) -> dict[str, Array]:
        """The terms by name."""
        return {name: getattr(self, name) for name in self.__slots__}

    @property
    def total(self) -> Array:
        """The torque of the actuators."""
        return sum(self.terms.values(), np.zeros_like(self.inertial))

    def __eq__(self, other: object) -> bool:
        return equal_fields(self, other)

    __hash__ = None  # type: ignore[assignment]

    def _repr_html_(self) -> str:
        """The terms of one state, or the largest of many, in a notebook."""
        batch = self.inertial.ndim > 1
        values = {
            name: np.abs(v).reshape(-1, v.shape[-1]).max(0, initial=0.0) if batch else v
            for name, v in (self.terms | {"total": self.total}).items()
        }
        shown = {name: v for name, v in values.items() if v.any() or name == "total"}
        rows = [
            (f"joint {i + 1}", *(f"{v[i] + 0.0:.5g}" for v in shown.values()))
            for i in range(self.inertial.shape[-1])
        ]
        title = (
            "largest terms of the torques [N m or N]" if batch else "terms of the torque [N m or N]"
        )
        return html_table(("", *shown), rows, title)

    def __repr__(self) -> str:
        largest = (f"{k} {np.abs(v).max(initial=0.0):.4g}" for k, v in self.terms.items())
        return f"<Ledger of torques {self.inertial.shape}, at most {', '.join(largest)}>"
