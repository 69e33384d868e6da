"""Robots to open: those of the catalog, files, and archives; projects in and out."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from armdyn.export.names import identifier
from armdyn.io.catalog import catalog_names
from armdyn.model.validate import Finding
from armdyn.studio import uploads
from armdyn.studio.arm import Arm
from armdyn.studio.panels.poses import PosesPanel
from armdyn.studio.project import ENDING, TABLE, Project, packed, read_project
from armdyn.studio.session import Panel, Session


class FilesPanel(Panel):
    """The choice of a robot.

    Zip files have a URDF or MJCF with all that it names, or a project that was saved here.
    """

    def __init__(self, session: Session, poses: PosesPanel):
        super().__init__(session)
        self._poses, gui = poses, self._gui
        self._catalog: Any = gui.add_dropdown("robot", catalog_names())
        upload = gui.add_upload_button(
            "Open a URDF or TOML file", mime_type=".urdf,.xml,.toml", color="blue"
        )
        self._catalog.on_update(session.guard(self._chosen))
        upload.on_upload(session.guard(partial(self._upload, uploads.DESCRIPTIONS)))
        archive = gui.add_upload_button(
            "Open a zip with meshes, or a project", mime_type=".zip,application/zip",
            hint="A URDF or MJCF with its meshes, or a project that was saved here",
        )  # fmt: skip
        hint = "Robot, looks, state and poses in one file"
        self._button("Save the project", self._save, hint=hint)
        archive.on_upload(session.guard(partial(self._upload, (".zip",))))

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

    def _upload(self, endings: tuple[str, ...], event: Any) -> None:
        file = event.target.value
        path = uploads.keep(self._session.folder, file.name, file.content, endings)
        self._session.open(path, self._show, uploaded=True)

    def _show(self, arm: Arm, loaded: uploads.Loaded) -> None:
        """Show what was opened, with the rest of the project that it may be."""
        session, place = self._session, loaded.archive
        if place is None or not (place / TABLE).is_file():
            session.enter(arm)
            return
        project = read_project(place, arm.robot.n)
        session.enter(replace(arm, pieces=project.pieces))
        session.see(project.view)
        self._poses.put(dict(project.poses))
        if project.state is not None:
            session.take(project.state)

    def _save(self) -> None:
        session = self._session
        project = Project(session.state, self._poses.poses, session.scene.view)
        name = identifier(session.robot.name) + ENDING
        content = packed(session.arm, project)
        session.client.send_file_download(name, content, save_immediately=True)
