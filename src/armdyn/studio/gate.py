"""The page, and who may use it: every handshake is checked before anything is answered.

A page of another site may make a browser connect to this machine, under the name of that site
(Origin) or under a name that it lets point here (Host). Other users of the machine may connect
too, so that the first address has a token, as that of Jupyter has. It is answered by a cookie and
the way to the same address without it: no link and no history has the secret.
"""

import gzip
import hmac
import http.client
import ipaddress
import logging
import re
import secrets
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import viser
import websockets.asyncio.server
from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers, MultipleValuesError
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
    """What a studio serves itself: its files, and the lines of its windows.

    viser draws the arm and the tabs on the right. What its panels cannot do (joints with fields and
    bars side by side, a strip at the bottom, labels for screen readers, an address that keeps the
    state) is ours: a style sheet and scripts from the folder `front`, which are added to its page,
    and a socket of their own.
    """

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


TOKEN_BYTES = 24
PROBE_TIMEOUT = 10.0
"""Time that the server may take to answer the first requests, which are our own [s]."""
HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_HOST = re.compile(r"(?P<name>\[[0-9a-fA-F:.]+\]|[\w.-]+)(:\d{1,5})?", re.ASCII)
_FOREIGN = "other-site.invalid"
_REPLACING = threading.Lock()
_LOG = logging.getLogger("armdyn.studio.connections")
_LOG.addHandler(logging.NullHandler())
_LOG.propagate = False


class Gate:
    """Tells the pages of a studio from everyone else."""

    def __init__(self, host: str, port: int, token: bool = True):
        """The address that is listened on, and whether a token is asked for."""
        self.host, self.port = host, port
        self.token = secrets.token_urlsafe(TOKEN_BYTES) if token else None
        self._ticket: str | None = None
        self._cookie = f"armdyn_studio_{port}"
        self._names = {"localhost", host.lower()}
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = (ipaddress.ip_address(str(place[4][0]).partition("%")[0]) for place in places)
        self._local = all(address.is_loopback for address in addresses)
        if not self._local:
            self._names |= {socket.gethostname().lower(), socket.getfqdn().lower()}

    def ticket(self) -> str:
        """A token for one request: what a browser is started with is seen by all users."""
        self._ticket = secrets.token_urlsafe(TOKEN_BYTES)
        return self._ticket

    def refusal(self, headers: Mapping[str, str], path: str) -> str | None:
        """Why a request is refused; None: it is not."""
        try:
            host, origin = headers.get("Host", ""), headers.get("Origin")
            cookies = headers.get("Cookie", "")
        except MultipleValuesError as error:
            return f"the header {error} is given twice"
        if not self._is_ours(host):
            return f"this studio is not at {host!r}; use the address that armdyn studio printed"
        if origin is not None and origin.lower() != f"http://{host.lower()}":
            return "pages of other sites cannot use the studio"
        if not self._knows_token(cookies, path):
            return "the token is missing; use the whole address that armdyn studio printed"
        return None

    @contextmanager
    def guarding(self, pages: Pages) -> Iterator[None]:
        """Guard the server that viser starts meanwhile, and let our own pages answer first.

        viser gives no way to check a handshake, so that its call of `websockets` is replaced;
        `check` shows whether that worked.
        """
        module = websockets.asyncio.server
        served = websockets.asyncio.server.serve

        def serve(handler: Any, host: Any = None, port: Any = None, **options: Any) -> Any:
            if str(getattr(handler, "__module__", "")).partition(".")[0] == "viser":
                options["process_request"] = self._guarded(options.get("process_request"), pages)
                options["logger"] = _LOG  # no stranger writes to the terminal
                handler = _shared(handler, pages)
            return served(handler, host, port, **options)

        with _REPLACING:
            module.serve = serve  # type: ignore[assignment, misc]
            try:
                yield
            finally:
                module.serve = served  # type: ignore[misc]

    def check(self, pages: Pages) -> None:
        """An error if the server lets a foreign page in, or serves ours without our front end."""
        status, _ = self._answer(Host=_FOREIGN, Origin="null")
        if status != HTTPStatus.FORBIDDEN:
            raise incompatible_viser(
                "it cannot be guarded against other sites and users: a foreign page got the answer "
                f"{status}"
            )
        status, page = self._answer(Cookie=f"{self._cookie}={self.token}")
        if not pages.is_dressed(page):
            raise incompatible_viser(f"its page (answer {status}) has no place for our front end")

    def _answer(self, **headers: str) -> tuple[int, bytes]:
        """Status and body with which the server answers a request of the page."""
        # a server that listens on every address is reached on this machine's own
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        connection = http.client.HTTPConnection(host, self.port, timeout=PROBE_TIMEOUT)
        try:
            connection.request("GET", "/", headers=headers)
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            raise incompatible_viser(error) from None
        finally:
            connection.close()

    def _guarded(self, answer: Callable[..., Any] | None, pages: Pages) -> Callable[..., Any]:
        async def guarded(connection: ServerConnection, request: Request) -> Response | None:
            refused = self.refusal(request.headers, request.path)
            if refused is not None:
                return connection.respond(HTTPStatus.FORBIDDEN, f"{refused}\n")
            response = self._without_token(request) or pages.answer(request)
            if response is None and answer is not None:
                response = answer(connection, request)
            if isinstance(response, Awaitable):
                response = await response
            if isinstance(response, Response):
                response = pages.dress(response)
                response.headers.update(HEADERS)
                response.headers["Content-Security-Policy"] = pages.policy(request.headers["Host"])
                return response
            return None

        return guarded

    def _is_ours(self, host: str) -> bool:
        """Whether a Host is a name of this machine, and not one that others let point here."""
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        name = found["name"].strip("[]").lower()
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            # in a network this machine may have any name; there the token alone closes the door
            return name in self._names or not (self._local or self.token is None)
        return address.is_loopback or not self._local

    def _knows_token(self, cookies: str, path: str) -> bool:
        if self.token is None:
            return True
        pairs = (part.strip().partition("=") for part in cookies.split(";"))
        given = [value for name, _, value in pairs if name == self._cookie]
        given += parse_qs(path.partition("?")[2]).get("token", [])
        if any(_same(text, self.token) for text in given):
            return True
        once = self._ticket
        if once is None or not any(_same(text, once) for text in given):
            return False
        self._ticket = None
        return True

    def _without_token(self, request: Request) -> Response | None:
        """The way from an address with the token to that without; a cookie keeps the token."""
        place = urlsplit(request.path)
        options = parse_qs(place.query, keep_blank_values=True)
        page = place.path == "/" and "Upgrade" not in request.headers
        if self.token is None or not page or not options.pop("token", None):
            return None
        headers = Headers(Location=f"/?{urlencode(options, doseq=True)}".rstrip("?"))
        # Lax: a link in a mail or a chat opens too; sockets of other sites get no cookie
        headers["Set-Cookie"] = f"{self._cookie}={self.token}; Path=/; HttpOnly; SameSite=Lax"
        return Response(HTTPStatus.SEE_OTHER, "See Other", headers)


def _shared(handler: Callable[..., Any], pages: Pages) -> Callable[..., Any]:
    """A handler of sockets that gives ours to our pages."""

    async def shared(connection: ServerConnection) -> None:
        await (pages.serve if pages.is_ours(connection) else handler)(connection)

    return shared


def incompatible_viser(reason: object) -> StudioError:
    """The error for a viser that is built in another way than we know."""
    return StudioError(
        f"the studio does not open with viser {viser.__version__}: {reason}; install viser 1.1 "
        "(pip install 'viser>=1.1,<1.2')"
    )


def _same(text: str, token: str) -> bool:
    """Whether two texts are the same, in a time that does not tell how much of them is."""
    return hmac.compare_digest(text.encode("utf-8", "surrogateescape"), token.encode())
