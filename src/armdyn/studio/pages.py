"""The page: that of viser, with a thin front end of our own around it, from the folder `front`.

viser draws the arm and the tabs on the right. What its panels cannot do (joints with fields and
bars side by side, a strip at the bottom, labels for screen readers, an address that keeps the
state) is ours: a style sheet and scripts that are added to its page, and a socket of their own.
"""

import gzip
import re
import secrets
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from armdyn.errors import StudioError
from armdyn.studio.wire import Wire

PLACE = "/armdyn/"
"""Where our own files are."""
SOCKET = f"{PLACE}socket"
TITLE = "armdyn studio"
KINDS = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
INJECTED = {
    "<title>Viser</title>": f"<title>{TITLE}</title>"
    f"<script src='{PLACE}start.js'></script><link rel='stylesheet' href='{PLACE}studio.css'>"
    f"<script type='module' src='{PLACE}studio.js'></script>",
    "<script data-p=": "<script nonce='NONCE' data-p=",
    'e.type="module";': 'e.type="module";e.nonce="NONCE";',
}
"""Texts of viser's page, and ours in their place: its own script unpacks another one."""
POLICY = (
    "default-src 'self' data: blob:; script-src 'self' 'nonce-NONCE' 'wasm-unsafe-eval'; "
    "worker-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
    "connect-src 'self' data: blob: ws://HOST; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'"
)
"""What a page may run and reach: our files and viser's script, no text that becomes code."""
_NAMED = re.compile(rb"""["'](?:\./|/armdyn/)(\w+\.\w+)["']""")
UNKNOWN_WINDOW = 4404
"""Code with which the socket of a window that is gone is closed."""


class Pages:
    """What a studio serves itself: its files, and the lines of its windows."""

    def __init__(self) -> None:
        self._wires: dict[str, Wire] = {}
        self._files = _front_end()
        self._nonce = secrets.token_urlsafe(16)
        """The mark of scripts that may run."""

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
        content = self._files.get(path.removeprefix(PLACE))
        if content is None:
            return Response(HTTPStatus.NOT_FOUND, "NOT FOUND", Headers())
        kind = KINDS[Path(path).suffix]
        return _response(content, {"Content-Type": kind, "Cache-Control": "no-cache"})

    def dress(self, response: Response) -> Response:
        """The page of viser with our title, styles and scripts; any other file as it is."""
        kind = response.headers.get("Content-Type", "")
        if response.status_code != HTTPStatus.OK or not kind.startswith("text/html"):
            return response
        packed = response.headers.get("Content-Encoding") == "gzip"
        return _response(*_dressed(bytes(response.body or b""), packed, self._nonce))

    def is_dressed(self, page: bytes) -> bool:
        """Whether a page has all that is ours."""
        ours = (text.replace("NONCE", self._nonce) for text in INJECTED.values())
        return all(text.encode() in page for text in ours)

    def policy(self, host: str) -> str:
        """The policy of what a page at a host may run and reach."""
        return POLICY.replace("NONCE", self._nonce).replace("HOST", host)

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


def _front_end() -> dict[str, bytes]:
    """The files of the front end by name: all that one of them or the page asks for."""
    folder = files("armdyn.studio") / "front"
    there = folder.iterdir() if folder.is_dir() else ()
    content = {file.name: file.read_bytes() for file in there if Path(file.name).suffix in KINDS}
    text = "".join(INJECTED.values()).encode() + b"".join(content.values())
    missing = sorted({name.decode() for name in _NAMED.findall(text)} - content.keys())
    if missing:
        raise StudioError(
            f"the front end of the studio is not whole: {folder} has no {', '.join(missing)}; "
            "install armdyn again"
        )
    return content


@cache
def _dressed(body: bytes, packed: bool, nonce: str) -> tuple[bytes, dict[str, str]]:
    """The body of the page with our lines in its head, and its headers."""
    text = gzip.decompress(body) if packed else body
    for theirs, ours in INJECTED.items():
        text = text.replace(theirs.encode(), ours.replace("NONCE", nonce).encode(), 1)
    headers = {"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache"}
    if packed:
        headers["Content-Encoding"] = "gzip"
    return (gzip.compress(text, 6) if packed else text), headers


def _response(body: bytes, headers: dict[str, str]) -> Response:
    given = Headers(**headers, **{"Content-Length": str(len(body))})
    return Response(HTTPStatus.OK, "OK", given, body)
