"""The page: that of viser, with a thin front end of our own around it, from the folder `front`.

viser draws the arm and the tabs on the right. What its panels cannot do (joints with fields and
bars side by side, a strip at the bottom, labels for screen readers, an address that keeps the
state) is ours: a style sheet and scripts that are added to its page, and a socket of their own.
"""

import gzip
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from armdyn.studio.wire import Wire

PLACE = "/armdyn/"
"""Where our own files are."""
SOCKET = f"{PLACE}socket"
TITLE = "armdyn studio"
KINDS = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
HEAD = (
    # viser drops what stands behind the # before our script begins
    "<script>window.armdynAddress = location.hash</script>"
    f"<title>{TITLE}</title><link rel='stylesheet' href='{PLACE}studio.css'>"
    f"<script type='module' src='{PLACE}studio.js'></script>"
)
UNKNOWN_WINDOW = 4404
"""Code with which the socket of a window that is gone is closed."""


class Pages:
    """What a studio serves itself: its files, and the lines of its windows."""

    def __init__(self) -> None:
        self._wires: dict[str, Wire] = {}

    def add(self, wire: Wire) -> None:
        """Let a page that knows its key use a line."""
        self._wires[wire.key] = wire

    def remove(self, wire: Wire) -> None:
        """No longer."""
        self._wires.pop(wire.key, None)

    def answer(self, request: Request) -> Response | None:
        """One of our own files; None for all that is viser's."""
        path = urlsplit(request.path).path
        if not path.startswith(PLACE) or path == SOCKET:
            return None
        content = _files().get(path.removeprefix(PLACE))
        if content is None:
            return Response(HTTPStatus.NOT_FOUND, "NOT FOUND", Headers())
        kind = KINDS[path[path.rindex(".") :]]
        return _response(content, {"Content-Type": kind, "Cache-Control": "no-cache"})

    def dress(self, response: Response) -> Response:
        """The page of viser with our title, styles and scripts; any other file as it is."""
        kind = response.headers.get("Content-Type", "")
        if response.status_code != HTTPStatus.OK or not kind.startswith("text/html"):
            return response
        packed = response.headers.get("Content-Encoding") == "gzip"
        return _response(*_dressed(bytes(response.body or b""), packed))

    def is_ours(self, connection: ServerConnection) -> bool:
        """Whether a socket is one of ours."""
        request = connection.request
        return request is not None and urlsplit(request.path).path == SOCKET

    async def serve(self, connection: ServerConnection) -> None:
        """Speak with the page of a window."""
        assert connection.request is not None
        query = parse_qs(urlsplit(connection.request.path).query)
        wire = self._wires.get(query.get("window", [""])[0])
        if wire is None:
            await connection.close(UNKNOWN_WINDOW, "there is no such window")
        else:
            await wire.serve(connection)


@cache
def _files() -> dict[str, bytes]:
    """The front end, by name."""
    folder = files("armdyn.studio") / "front"
    return {
        file.name: file.read_bytes()
        for file in folder.iterdir()
        if any(file.name.endswith(ending) for ending in KINDS)
    }


@cache
def _dressed(body: bytes, packed: bool) -> tuple[bytes, dict[str, str]]:
    """The body of the page with our lines in its head, and its headers."""
    text = gzip.decompress(body) if packed else body
    text = text.replace(b"<title>Viser</title>", HEAD.encode(), 1)
    headers = {"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache"}
    if packed:
        headers["Content-Encoding"] = "gzip"
    return (gzip.compress(text, 6) if packed else text), headers


def _response(body: bytes, headers: dict[str, str]) -> Response:
    given = Headers(**headers, **{"Content-Length": str(len(body))})
    return Response(HTTPStatus.OK, "OK", given, body)
