"""Robots to open: those of the catalog, files, and archives; projects in and out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from armdyn.export.names import identifier
from armdyn.io.catalog import catalog_names
from armdyn.model.validate import Finding
from armdyn.studio import uploads
from armdyn.studio.arm import Arm, arm_of
from armdyn.studio.background import Tell
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
        upload.on_upload(session.guard(self._upload))
        archive = gui.add_upload_button(
            "Open a zip with meshes, or a project", mime_type=".zip,application/zip",
            hint="A URDF or MJCF with its meshes, or a project that was saved here",
        )  # fmt: skip
        hint = "Robot, looks, state and poses in one file"
        self._button("Save the project", self._save, hint=hint)
        archive.on_upload(session.guard(self._unpack))

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

    def _unpack(self, event: Any) -> None:
        file = event.target.value
        path = uploads.keep(self._session.folder, file.name, file.content, (".zip",))

        def work(tell: Tell) -> tuple[Arm, Project | None]:
            loaded = uploads.open_upload(path, tell)
            if loaded.robot is None:
                for panel in self._session.panels:
                    panel.refuse(path.name, loaded.findings)
            arm = arm_of(loaded, path.name, path, True, tell)
            project = None
            if loaded.archive is not None and (loaded.archive / TABLE).is_file():
                project = read_project(loaded.archive, arm.robot.n)
                arm = replace(arm, pieces=project.pieces)
            return arm, project

        self._session.jobs.start("loading", work, self._show, path.name)

    def _show(self, opened: tuple[Arm, Project | None]) -> None:
        arm, project = opened
        self._session.enter(arm)
        if project is not None:
            self._session.see(project.view)
            self._poses.put(dict(project.poses))
            if project.state is not None:
                self._session.take(project.state)

    def _save(self) -> None:
        session = self._session
        project = Project(session.state, self._poses.poses, session.scene.view)
        name = identifier(session.robot.name) + ENDING
        content = packed(session.arm, project)
        session.client.send_file_download(name, content, save_immediately=True)
