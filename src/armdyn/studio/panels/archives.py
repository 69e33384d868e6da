"""Archives: a robot with its meshes in, a project in and out."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from armdyn.export.names import identifier
from armdyn.studio import uploads
from armdyn.studio.arm import Arm, State, arm_of
from armdyn.studio.background import Tell
from armdyn.studio.panel import Panel
from armdyn.studio.panels.poses import PosesPanel
from armdyn.studio.project import ENDING, TABLE, Project, packed, read_project
from armdyn.studio.session import Session


class ArchivesPanel(Panel):
    """Zip files: a URDF or MJCF with all that it names, or a project that was saved here."""

    def __init__(self, session: Session, poses: PosesPanel, take: Callable[[State], None]):
        self._session, self._poses, self._take = session, poses, take
        gui = session.client.gui
        upload = gui.add_upload_button(
            "Open a zip with meshes, or a project", mime_type=".zip,application/zip",
            hint="A URDF or MJCF with its meshes, or a project that was saved here",
        )  # fmt: skip
        save = gui.add_button("Save the project", hint="Robot, looks, state and poses in one file")
        upload.on_upload(session.guard(self._upload))
        save.on_click(session.guard(lambda _: self._save()))

    def _upload(self, event: Any) -> None:
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
                self._take(project.state)

    def _save(self) -> None:
        session = self._session
        project = Project(session.state, self._poses.poses, session.scene.view)
        name = identifier(session.arm.robot.name) + ENDING
        content = packed(session.arm, project)
        session.client.send_file_download(name, content, save_immediately=True)
