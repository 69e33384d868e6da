"""Robots to open: those of the catalog, and files."""

from collections.abc import Sequence
from typing import Any

from armdyn.io.catalog import catalog_names
from armdyn.model.validate import Finding
from armdyn.studio import uploads
from armdyn.studio.arm import Arm
from armdyn.studio.panel import Panel
from armdyn.studio.session import Session


class FilesPanel(Panel):
    """The choice of a robot."""

    def __init__(self, session: Session):
        self._session = session
        gui = session.client.gui
        self._catalog: Any = gui.add_dropdown("robot", catalog_names())
        upload = gui.add_upload_button(
            "Open a URDF or TOML file", mime_type=".urdf,.xml,.toml", color="blue"
        )
        self._catalog.on_update(session.guard(self._chosen))
        upload.on_upload(session.guard(self._upload))

    def enter(self, arm: Arm) -> None:
        """Let the choice be the robot that is shown."""
        names = catalog_names()
        self._catalog.options = names if arm.in_catalog else (arm.source, *names)
        self._catalog.value = arm.source

    def refuse(self, name: str, findings: Sequence[Finding]) -> None:
        """The robot that stays is the one that is chosen."""
        self._catalog.value = self._session.arm.source

    def _chosen(self, event: Any) -> None:
        arm = self._session.arm
        if event.client_id is None:
            return
        try:
            self._session.open(event.target.value)
        finally:
            # what is shown stays chosen until the other one is there
            self._catalog.value = arm.source

    def _upload(self, event: Any) -> None:
        file = event.target.value
        path = uploads.keep(self._session.folder, file.name, file.content, uploads.DESCRIPTIONS)
        self._session.open(path, uploaded=True)
