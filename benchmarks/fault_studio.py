"""Attacks on the studio, by the bare protocol on the loopback."""

import contextlib
import http.client
import io
import socket
from functools import lru_cache
from pathlib import Path

from armdyn.studio.server import Studio


@lru_cache(maxsize=1)
def _studio() -> Studio:
    with contextlib.redirect_stdout(io.StringIO()):
        return Studio("two_link", port=0)


def _status(path: str, headers: dict[str, str]) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", _studio().port, timeout=10)
    connection.request("GET", path, headers=headers)
    found = connection.getresponse().status
    connection.close()
    return found


def enters(folder: Path, number: int) -> bool:
    """Whether a request of somebody else is refused, and one of the owner is not."""
    studio = _studio()
    token, own = studio.address.partition("token=")[2], f"127.0.0.1:{studio.port}"
    upgrade = {
        "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    }  # fmt: skip
    right = f"/?token={token}"
    attacks: list[tuple[str, dict[str, str]]] = [
        ("/", {}),
        (f"/?token={token[:-1]}", {}),
        ("/?token=", {}),
        (f"/{token}", {}),
        ("/../../etc/passwd", {}),
        (right, {"Host": "evil.example"}),
        (right, {"Host": f"evil.example:{studio.port}"}),
        (right, {"Host": f"evil.example@{own}"}),
        (right, {"Origin": "https://evil.example"}),
        (right, {"Origin": "null"}),
        (right, {"Origin": f"https://{own}"}),
    ]
    path, headers = attacks[number // 2 % len(attacks)]
    more = upgrade if number % 2 else {}
    refused = _status(path, {"Host": own} | more | headers) == 403
    with (
        contextlib.suppress(OSError),
        socket.create_connection(("127.0.0.1", studio.port), 5) as raw,
    ):
        raw.sendall(b"\0" * 1000 + b"\r\n\r\n")
    return refused and _status(right, {"Host": own}) == 303  # on to the page without the token
