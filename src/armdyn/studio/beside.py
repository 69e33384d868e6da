"""A new design beside the arm: its links, its counterweights, and where its masses are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import viser

from armdyn.robot import Robot
from armdyn.studio import shapes
from armdyn.studio.arm import Evaluator, Snapshot, State
from armdyn.studio.drawing import Drawing
from armdyn.studio.stage import stage
from armdyn.studio.style import Style
from armdyn.study.simplify.counterweights import Build

APART = 1.1
"""Distance of the two arms, relative to their size."""


@dataclass(frozen=True, slots=True, eq=False)
class Other:
    """A robot to be seen beside another one, with the same joints."""

    robot: Robot
    evaluator: Evaluator
    builds: Sequence[Build] = ()
    """The changes of its links."""
    labels: tuple[str, str] = ("before", "after")

    @classmethod
    def of(cls, robot: Robot, builds: Sequence[Build] = (), **more: Any) -> "Other":
        """Compile it."""
        return cls(robot, Evaluator(robot), builds, **more)


class Beside:
    """Another robot in the scene."""

    def __init__(
        self, scene: viser.SceneApi, name: str, other: Other, style: Style, view: Mapping[str, bool]
    ):
        self.other = other
        self.snapshot: Snapshot | None = None
        """How it was shown last."""
        model = other.robot.model
        size, up = shapes.size(model), stage(model)
        self.offset = (0.0, APART * size, 0.0)
        self._drawing = Drawing(
            scene, name, model, (), style, view, link=style.after, offset=self.offset
        )
        for build in other.builds:
            for weight in build.weights:
                self._drawing.weight(build.link, weight.mass, build.in_model(weight.position))
        under = float((up.turn @ model.base[:3, 3])[2]) - 0.16 * size
        self._labels = [
            scene.add_label(f"{name}_{text}_label", text, position=(0.0, y, under))
            for text, y in zip(other.labels, (0.0, self.offset[1]), strict=True)
        ]

    def show(self, state: State) -> None:
        """Put it into a state."""
        self.snapshot = found = self.other.evaluator(state)
        self._drawing.move(found.links, found.tool, state.payload)

    def see(self, view: Mapping[str, bool]) -> None:
        """Show and hide what is beside the links."""
        self._drawing.see(view)

    def remove(self) -> None:
        """Remove everything."""
        self._drawing.remove()
        for label in self._labels:
            label.remove()
