"""Inertia: the ten numbers of a rigid body, with the point and the axes they were given in."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import Array, frozen

_AXES = frozen(np.eye(3))


@dataclass(frozen=True, slots=True, eq=False)
class Inertia:
    """Mass, first moment and moment of inertia of a rigid body in one frame.

    Warning:
        `moment` is about the origin of the frame, not about the centre of mass, so that all ten
        numbers enter the torques linearly. Build one with `from_com` or `from_origin`, which name
        the point. Off-diagonal entries are tensor entries: minus the integrals of xy dm.
    """

    mass: float
    """Mass [kg]."""
    first_moment: Array
    """Mass times the position of the centre of mass, shape (3,) [kg m]."""
    moment: Array
    """Inertia tensor about the origin of the frame, shape (3, 3) [kg m²]."""
    given_about: Literal["com", "origin"] = "com"
    """The point about which the tensor was given."""
    given_axes: Array = field(default_factory=lambda: _AXES)
    """The axes in which the tensor was given, as a rotation from them to the frame."""

    @classmethod
    def from_com(
        cls, mass: float, com: ArrayLike, tensor: ArrayLike, axes: ArrayLike | None = None
    ) -> "Inertia":
        """Inertia from a tensor about the centre of mass.

        Args:
            mass: Mass [kg].
            com: Centre of mass in the frame, shape (3,) [m].
            tensor: Inertia tensor about the centre of mass, shape (3, 3) [kg m²].
            axes: Rotation from the axes of the tensor to those of the frame; None: the same axes.
        """
        c, A = np.asarray(com, dtype=float), _AXES if axes is None else frozen(axes)
        with np.errstate(over="ignore", invalid="ignore"):
            centred = A @ np.asarray(tensor, dtype=float) @ A.T
            moment = centred + mass * ((c @ c) * np.eye(3) - np.outer(c, c))
            return cls(mass, frozen(mass * c), frozen(moment), "com", A)

    @classmethod
    def from_origin(cls, mass: float, first_moment: ArrayLike, tensor: ArrayLike) -> "Inertia":
        """Inertia from first moment [kg m] and a tensor about the origin of the frame."""
        return cls(mass, frozen(first_moment), frozen(tensor), "origin")

    @classmethod
    def from_pseudo(cls, pseudo: Array) -> "Inertia":
        """Inertia from its 4x4 pseudo-inertia (see `pseudo`)."""
        sigma = pseudo[:3, :3]
        moment = np.trace(sigma) * np.eye(3) - sigma
        return cls(pseudo[3, 3], frozen(pseudo[:3, 3]), frozen(moment))

    @classmethod
    def zero(cls) -> "Inertia":
        """No inertia at all."""
        return cls(0.0, frozen(np.zeros(3)), frozen(np.zeros((3, 3))))

    @property
    def com(self) -> Array:
        """Centre of mass [m], shape (3,); the origin if there is no mass."""
        return np.zeros(3) if self._massless else self.first_moment / self.mass

    @property
    def has_com(self) -> bool:
        """Whether there is a centre of mass: a first moment without mass has none."""
        moments = (h for h in self.first_moment if isinstance(h, int | float))
        return not (self._massless and any(moments))

    @property
    def _massless(self) -> bool:
        return isinstance(self.mass, int | float) and self.mass == 0

    @property
    def moment_about_com(self) -> Array:
        """Inertia tensor about the centre of mass, axes of the frame, shape (3, 3) [kg m²]."""
        c = self.com
        return self.moment - self.mass * ((c @ c) * np.eye(3) - np.outer(c, c))

    @property
    def tensor_as_given(self) -> Array:
        """The tensor about the point and in the axes it was given in."""
        tensor = self.moment_about_com if self.given_about == "com" else self.moment
        return self.given_axes.T @ tensor @ self.given_axes

    @property
    def pseudo(self) -> Array:
        """The 4x4 matrix J = ∫ r̄ r̄ᵀ dm with r̄ = (r, 1); a body can exist iff J ⪰ 0."""
        sigma = 0.5 * np.trace(self.moment) * np.eye(3) - self.moment
        h = self.first_moment[:, None]
        return np.block([[sigma, h], [h.T, np.array([[self.mass]])]])

    @property
    def is_finite(self) -> bool:
        """Whether all ten numbers are finite, and the centre of mass; symbols count as finite."""
        if self.moment.dtype == object:
            return True
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            parts = self.mass, *self.first_moment, *self.com, *self.moment_about_com.flat
        return bool(np.isfinite([*parts, *self.moment.flat]).all())

    @property
    def is_zero(self) -> bool:
        """Whether the body has neither mass nor inertia."""
        return bool(self.mass == 0 and not self.first_moment.any() and not self.moment.any())

    def moved(self, T: Array) -> "Inertia":
        """The same body seen from frame A, where T = T_AB and this inertia is in frame B."""
        with np.errstate(over="ignore", invalid="ignore"):
            moved = Inertia.from_pseudo(T @ self.pseudo @ T.T)
        axes = frozen(T[:3, :3] @ self.given_axes)
        return Inertia(self.mass, moved.first_moment, moved.moment, self.given_about, axes)

    def __add__(self, other: "Inertia") -> "Inertia":
        return Inertia(
            self.mass + other.mass,
            frozen(self.first_moment + other.first_moment),
            frozen(self.moment + other.moment),
        )

    def __eq__(self, other: Any) -> bool:
        return (
            isinstance(other, Inertia)
            and self.mass == other.mass
            and np.array_equal(self.first_moment, other.first_moment)
            and np.array_equal(self.moment, other.moment)
        )

    __hash__ = None  # type: ignore[assignment]
