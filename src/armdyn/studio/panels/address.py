"""The way back: what the address of a page tells of, after a reload or by a link."""

from typing import Any

from armdyn.errors import shown
from armdyn.studio.arm import Arm, State
from armdyn.studio.panels.edit import EditPanel
from armdyn.studio.panels.joints import within
from armdyn.studio.panels.move import PosesPanel
from armdyn.studio.session import Memory, Panel, Session


class AddressPanel(Panel):
    """Takes the robot, the state and what else is remembered of a window."""

    def __init__(self, session: Session, poses: PosesPanel, edit: EditPanel):
        super().__init__(session)
        self._poses, self._edit = poses, edit
        self._waiting: Memory | None = None
        """What is to come back with its robot."""
        session.page.on("restore", self._restore)

    def enter(self, arm: Arm) -> None:
        """Bring back the poses of the robot."""
        found, self._waiting = self._waiting, None
        if found is not None and found.arm is not None and found.arm.source == arm.source:
            self._poses.put(dict(found.poses))

    def _restore(self, message: dict[str, Any]) -> None:
        session, name = self._session, message.get("robot")
        state = State.read(message)
        if state is None:
            return
        found = session.memories.find(message.get("memory"))
        if found is not None:
            session.see(found.view)
        self._waiting = found
        if name == session.arm.source and len(state.q) == session.robot.n:
            session.enter(session.arm, within(session.robot, state))
        elif message.get("catalog") is True and isinstance(name, str):
            session.open(name, lambda arm, _: session.enter(arm, state))
        elif found is not None and found.arm is not None and found.arm.source == name:
            fits = len(state.q) == found.arm.robot.n
            self._edit.resume(
                found.arm, found.original, within(found.arm.robot, state) if fits else None
            )
        else:
            session.tell(
                "Open the file again",
                f"The page showed {shown(name)}, which was a file of yours or made of one. The "
                "studio keeps such robots until it ends.",
            )
