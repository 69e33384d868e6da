"""Other robots made of one, and what is shown and kept of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from numpy.typing import ArrayLike

from armdyn.facade.parameters import RobotParameters
from armdyn.forks import IMPORTING
from armdyn.io import changes
from armdyn.io.drives import drives_from_keys
from armdyn.io.files import save_model
from armdyn.io.springs import with_springs
from armdyn.model import Inertia, Spring, edit
from armdyn.model.validate import Physical, check_physical
from armdyn.shorten.canonical.dh_table import Convention, DhTable, dh_table


class RobotVariants(RobotParameters):
    """A robot, and those that differ from it by a little."""

    def with_payload(
        self,
        mass: float | Inertia,
        com: ArrayLike = (0, 0, 0),
        inertia: ArrayLike | None = None,
        *,
        physical: Physical = "error",
    ) -> Self:
        """The robot holding a body: mass [kg], centre of mass in the tool frame [m], tensor.

        Instead of these three, an `armdyn.Inertia` in the tool frame may be given.
        """
        model = edit.with_payload(self.model, mass, com, inertia)
        return self._other(check_physical(model, physical))

    def without_payload(self) -> Self:
        """The robot with everything it holds put down."""
        return self._other(edit.without_payload(self.model))

    def with_gravity(self, gravity: ArrayLike) -> Self:
        """The robot in another field of gravity, world axes, pointing down [m/s²]."""
        return self._other(edit.with_gravity(self.model, gravity))

    def with_tool(self, tool: ArrayLike | None) -> Self:
        """The robot with another tool frame: a 4x4 transform in the flange frame."""
        return self._other(edit.with_tool(self.model, tool))

    def with_base(self, base: ArrayLike | None) -> Self:
        """The robot mounted elsewhere: a 4x4 transform of the base in the world."""
        return self._other(edit.with_base(self.model, base))

    def with_locked(self, joints: Mapping[str, float]) -> Self:
        """The robot with joints held at values [rad or m]."""
        return self._other(edit.lock(self.model, joints))

    def with_joint(self, name: str, **numbers: Any) -> Self:
        """The robot with some numbers of a joint changed, by the keys of a row of `from_dh`.

        `limits`, `velocity_limit`, `effort_limit`, `continuous_effort`, `rotor_inertia`,
        `gear_ratio` and those of friction, as with_joint("elbow", viscous=0.2, gear_ratio=80.0);
        a limit that is None is not known.
        """
        return self._other(changes.with_joint(self.model, name, numbers))

    def with_link(
        self,
        name: str,
        body: Inertia | None = None,
        *,
        physical: Physical = "error",
        **numbers: Any,
    ) -> Self:
        """The robot with another body as a link, in the frame that the link is named after.

        It is an `armdyn.Inertia`, or some of `mass` [kg], `com` [m], `inertia` [kg m²] and
        `shape` as in a row of `from_dh`, of which the others stay as they are.
        """
        model = changes.with_link(self.model, name, body, numbers)
        return self._other(check_physical(model, physical))

    def with_limits(
        self,
        position: Mapping[str, Any] | ArrayLike | None = None,
        *,
        velocity: Mapping[str, float] | ArrayLike | None = None,
        effort: Mapping[str, float] | ArrayLike | None = None,
    ) -> Self:
        """The robot with other limits: (lower, upper) [rad or m], speeds and efforts.

        Each is for all joints in order, or for some by name; None leaves them as they are.
        """
        return self._other(changes.with_limits(self.model, position, velocity, effort))

    def with_drives(self, drives: Sequence[Mapping[str, Any]]) -> Self:
        """The robot with motors that turn with several joints at once, in place of those it has.

        Each is a mapping with the keys of a [[drives]] table, as {"name": "motor6", "joints":
        {"joint5": 1.0, "joint6": 1.0}, "rotor_inertia": 1e-5, "gear_ratio": 32.0, "viscous": 0.1};
        what they need is added to what the joints have of their own.
        """
        return self._other(replace(self.model, drives=drives_from_keys(drives)))

    def with_springs(self, springs: Sequence[Mapping[str, Any] | Spring]) -> Self:
        """The robot with springs between its links, in place of those it has.

        Each is a mapping with the keys of a [[springs]] table, as {"name": "balance", "link":
        "link2", "point": [0.1, 0.0, 0.0], "other": "base", "anchor": [0.0, 0.0, 0.5], "stiffness":
        900.0, "free_length": 0.1}, or one of those that `spring_balance` finds. What they need is
        in `gravity_vector` and `potential_energy`, and so in every torque.
        """
        return self._other(with_springs(self.model, springs))

    def optimized(self, effort: str = "deep") -> Self:
        """The robot whose programs are looked for harder.

        With "deep" each search takes minutes, when a quantity is first asked for; what it finds is
        kept on disk for all robots with the same zeros. "default" takes tenths of a second.
        """
        return type(self)(self.model, cache=self.cache, effort=effort)

    def dh_table(self, convention: Convention = "standard", link: str = "tool") -> DhTable:
        """The Denavit-Hartenberg table of the joints that carry the tool or a link.

        "standard" (Paul) or "modified" (Craig), whatever the robot was described in. The product of
        its base, rows and tool is `forward_kinematics`; `as_rows()` is for `from_dh`.
        """
        return dh_table(self.model, convention, link)

    def plot(self, q: ArrayLike | None = None, path: str | Path | None = None) -> Any:
        """The arm at q, (n,), as a picture: a matplotlib figure, or a .png, .pdf or .svg file.

        None is the middle of the ranges of the joints.
        """
        with IMPORTING:
            from armdyn.figures import save_picture, styled_figure  # noqa: PLC0415 (an extra)
            from armdyn.portrait import draw_portrait  # noqa: PLC0415

        if path is None:
            return styled_figure(draw_portrait, self.model, q)
        return save_picture(path, draw_portrait, self.model, q)

    def _repr_html_(self) -> str:
        """Joints, DH table and picture, in a notebook."""
        with IMPORTING:
            from armdyn.notebook import robot_html  # noqa: PLC0415

        return robot_html(self.model)

    def save(self, path: str | Path) -> None:
        """Write the robot as .toml or .urdf; the file appears whole or not at all."""
        save_model(self.model, path)
