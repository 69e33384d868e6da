"""The studio as a server: on loopback unless told otherwise, a session for each window."""

import contextlib
import io
import socket
import threading
from collections.abc import Callable
from pathlib import Path

from armdyn.errors import MissingExtraError, StudioError
from armdyn.io.options import Reading

try:
    import viser
except ImportError:
    raise MissingExtraError("viser", "studio", "the studio") from None

from armdyn.studio import uploads
from armdyn.studio.arm import Arm, arm_of
from armdyn.studio.gate import TITLE, Gate, Pages, incompatible_viser
from armdyn.studio.panels.address import AddressPanel
from armdyn.studio.panels.design import DesignPanel
from armdyn.studio.panels.edit import EditPanel
from armdyn.studio.panels.equation import EquationPanel
from armdyn.studio.panels.exports import ExportsPanel
from armdyn.studio.panels.files import CheckPanel, FilesPanel
from armdyn.studio.panels.joints import JointsPanel
from armdyn.studio.panels.move import HandPanel, MotionPanel, PosesPanel
from armdyn.studio.panels.study import OperationsPanel, StructurePanel, WorstPanel
from armdyn.studio.panels.timeline import PlayPanel, TimelinePanel
from armdyn.studio.session import Memories, Session

LOOPBACK = "127.0.0.1"
PORT = 8080
STUDIES = {"Operations": OperationsPanel, "Structure": StructurePanel, "Worst case": WorstPanel}
RIGHT = 340
"""Width of the column of tabs, so that 1280 pixels leave room for the arm."""


class _Server(viser.ViserServer):
    """A server that no window can open to the world."""

    def request_share_url(self, verbose: bool = True) -> str | None:
        return None


class Studio:
    """A running studio."""

    def __init__(
        self,
        robot: str | Path = "puma560",
        read: Callable[..., Reading] | None = None,
        *,
        host: str = LOOPBACK,
        port: int = PORT,
        dark: bool = False,
        token: bool = True,
    ):
        """Load the first robot of each window, a catalog name or a file, and serve it.

        `read` reads the robot with the keywords `physical` and `fix_root`; None: as it is. Port 0
        is any that is free. With `token`, only those who know the whole address are let in.
        """
        file = Path(robot) if Path(robot).is_file() else None
        loaded = uploads.open_robot(robot, read)
        self._arm: Arm = arm_of(loaded, Path(robot).name, file, False, lambda _: None)
        self._dark = dark
        self._sessions: dict[int, Session] = {}
        self._lock = threading.Lock()
        self._memories = Memories()
        self.host, self.port = host, _free_port(host, port)
        self._gate, self._pages = Gate(host, self.port, token), Pages()
        with contextlib.redirect_stdout(io.StringIO()), self._gate.guarding(self._pages):
            self._server = _Server(host, self.port, TITLE, verbose=False)
        try:
            if self._server.get_port() != self.port:  # someone was quicker
                raise _taken(host, self.port)
            self._gate.check(self._pages)
            _share_nothing(self._server)
        except StudioError:
            self.stop()
            raise
        self._server.scene.world_axes.visible = False
        self._server.on_client_connect(self._connect)
        self._server.on_client_disconnect(self._disconnect)

    @property
    def address(self) -> str:
        """The address of the page, with the token."""
        return self._address(self._gate.token)

    def address_once(self) -> str:
        """The address with a token that is good for one browser."""
        return self._address(self._gate.token and self._gate.ticket())

    def _address(self, token: str | None) -> str:
        host = "localhost" if self.host in ("0.0.0.0", "::", LOOPBACK) else self.host
        host = f"[{host}]" if ":" in host else host
        query = "" if token is None else f"/?token={token}"
        return f"http://{host}:{self.port}{query}"

    @property
    def sessions(self) -> tuple[Session, ...]:
        """The windows that are open."""
        with self._lock:
            return tuple(self._sessions.values())

    def stop(self) -> None:
        """Close every window and the server."""
        with self._lock:
            open_, self._sessions = list(self._sessions.values()), {}
        for session in open_:
            session.close()
        with contextlib.redirect_stdout(io.StringIO()):
            self._server.stop()

    def _connect(self, client: viser.ClientHandle) -> None:
        session = Session(client, self._dark, self._memories)
        with self._lock:
            self._sessions[client.client_id] = session
        self._pages.add(session.page)
        try:
            session.build(lay_out)
            session.enter(self._arm)
        except Exception as error:
            session.fail(error)
        finally:
            if client.client_id not in self._server.get_clients():  # it was closed meanwhile
                self._disconnect(client)
                session.close()

    def _disconnect(self, client: viser.ClientHandle) -> None:
        with self._lock:
            session = self._sessions.pop(client.client_id, None)
        if session is not None:
            self._pages.remove(session.page)
            session.close()


def lay_out(session: Session) -> None:
    """Every panel in its place."""
    gui = session.client.gui
    gui.main_panel.dock_right()
    gui.main_panel.set_width(RIGHT)
    JointsPanel(session)
    timeline = TimelinePanel(session)
    tabs = gui.add_tab_group()
    with tabs.add_tab("Move"):
        MotionPanel(session)
        with gui.add_folder("By hand"):
            HandPanel(session)
            poses = PosesPanel(session)
    with tabs.add_tab("Play"):
        PlayPanel(session, timeline)
    with tabs.add_tab("Equation"):
        EquationPanel(session)
    with tabs.add_tab("Study"):
        for title, study in STUDIES.items():
            with gui.add_folder(title):
                study(session)
    with tabs.add_tab("Edit"):
        edit = EditPanel(session)
    with tabs.add_tab("Design"):
        DesignPanel(session)
    with tabs.add_tab("Robot"):
        with gui.add_folder("Open"):
            FilesPanel(session, poses)
        with gui.add_folder("Check"):
            CheckPanel(session)
        with gui.add_folder("Take away"):
            ExportsPanel(session, timeline)
    AddressPanel(session, poses, edit)


def _share_nothing(server: viser.ViserServer) -> None:
    """Forget what viser would do for all windows at once: each has its own page.

    Some of it keeps what one window sends, and sends it to all that come later.
    """
    try:
        server._websock_server._incoming_handlers.clear()
    except AttributeError as error:
        raise incompatible_viser(error) from None


def _free_port(host: str, port: int) -> int:
    """The port, if it can be listened on; for 0 any that can."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(place)
            return int(trial.getsockname()[1])
    except socket.gaierror as error:
        raise StudioError(
            f"there is no address {host!r} ({error.strerror}); use 127.0.0.1 for this machine "
            "alone, or 0.0.0.0 for every network it is in"
        ) from None
    except (OSError, OverflowError) as error:
        raise _taken(host, port, str(getattr(error, "strerror", None) or error)) from None


def _taken(host: str, port: int, reason: str = "Address already in use") -> StudioError:
    return StudioError(
        f"cannot listen on port {port} of {host}: {reason}; choose another one with --port, or "
        "--port 0 for any that is free"
    )
