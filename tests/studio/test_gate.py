"""Who gets into the studio, and what a window can make it read or keep: by the bare protocol."""

import http.client
import json
import os
import re
import shutil
import socket

import pytest

pytest.importorskip("viser")

import numpy as np
from viser import _messages as messages
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from armdyn.errors import StudioError, UnknownNameError
from armdyn.io.regular import MAX_BYTES
from armdyn.robot import Robot
from armdyn.studio import gate
from armdyn.studio.arm import Arm, Evaluator
from armdyn.studio.gate import Gate, Pages
from armdyn.studio.server import Studio
from support.paths import SOURCE
from support.random_robots import random_model
from support.studio_windows import CAMERA, PATIENCE, bare_window, say, socket_to, until


@pytest.fixture(scope="module")
def studio(bare_studio):
    return bare_studio


@pytest.fixture(scope="module")
def open_studio():
    running = Studio("two_link", port=0, token=False, host="localhost")
    yield running
    running.stop()


def get(studio, path, **headers):
    """Status, headers and text that a request gets."""
    connection = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=PATIENCE)
    connection.request("GET", path, headers=headers)
    found = connection.getresponse()
    text = found.read()
    connection.close()
    return found.status, found.headers, text


def ours(studio, session, **headers):
    """The socket of our own front end."""
    token = studio.address.partition("?")[2]
    path = f"/armdyn/socket?window={session.page.key}&{token}"
    return connect(f"ws://127.0.0.1:{studio.port}{path}", additional_headers=headers)


@pytest.fixture
def wire(studio):
    """A window without a browser, and its session."""
    with bare_window(studio) as window:
        yield window


def test_the_page_its_files_and_its_socket_need_the_token(studio):
    token = studio.address.partition("token=")[2]
    assert len(token) >= 32
    for path in ("/", "/index.html", "/?token=", "/?token=%00", f"/?token={token[:-1]}", "/nothing",
                 f"/{token}", f"/?Token={token}"):  # fmt: skip
        status, _, text = get(studio, path)
        assert (status, b"<html" in text) == (403, False)
        with pytest.raises(InvalidStatus, match="403"):
            socket_to(studio, path)
    status, headers, text = get(studio, f"/?fixedDpr=1&token={token}")
    assert (status, headers["Location"], text) == (303, "/?fixedDpr=1", b"")
    assert "HttpOnly; SameSite=Lax" in headers["Set-Cookie"]
    assert get(studio, f"/?token={token}")[1]["Location"] == "/"
    for path in (f"//evil.example/?token={token}", f"//evil.example?token={token}"):
        assert get(studio, path)[1]["Location"] in (None, "/")  # nowhere else
    cookie = headers["Set-Cookie"].partition(";")[0]
    status, _, text = get(studio, "/", Cookie=f"a=b; {cookie}")
    assert (status, b"<html" in text, token.encode() in text) == (200, True, False)
    socket_to(studio, "/", Cookie=cookie).close()
    assert get(studio, "/", Cookie=f"{cookie}x")[0] == 403
    assert get(studio, "/", Cookie=f"a={token}")[0] == 403


def test_a_browser_is_started_with_a_token_that_is_good_once(studio, capfd):
    path = f"/?{studio.address_once().partition('?')[2]}"
    assert path not in studio.address
    assert get(studio, "/?token=guess")[0] == 403
    status, headers, _ = get(studio, path)
    assert (status, headers["Location"]) == (303, "/")
    assert get(studio, path)[0] == 403
    assert get(studio, "/", Cookie=headers["Set-Cookie"].partition(";")[0])[0] == 200
    with socket.create_connection(("127.0.0.1", studio.port), PATIENCE) as raw:
        raw.sendall(b"\x1b[31m garbage\r\n\r\n")
        while raw.recv(99):
            pass
    assert capfd.readouterr() == ("", "")


def test_without_a_token_only_pages_of_its_own_get_in(open_studio):
    own = f"localhost:{open_studio.port}"
    assert open_studio.address == f"http://{own}"
    assert get(open_studio, "/", Host=own)[0] == 200
    socket_to(open_studio, "/", Origin=f"http://127.0.0.1:{open_studio.port}").close()
    foreign = [
        {"Host": "evil.example"},
        {"Host": f"evil.example:{open_studio.port}"},
        {"Host": own, "Origin": "null"},
        {"Host": own, "Origin": "http://localhost:1"},
        {"Host": own, "Origin": "https://evil.example"},
        {"Host": own, "Origin": f"https://{own}"},
        {"Host": own, "Origin": f"ftp://{own}"},
        {"Host": own, "Origin": own},
        {"Host": f"evil.example@{own}"},
    ]
    for headers in foreign:
        assert get(open_studio, "/", **headers)[0] == 403
    for headers in foreign[3:-1]:
        with pytest.raises(InvalidStatus, match="403"):
            socket_to(open_studio, "/", Origin=headers["Origin"])
    known = open_studio._server._websock_server._client_state_from_id
    until(lambda: not known, what="the end of the only connection")
    for lines in ("GET / HTTP/1.1\r\n\r\n", f"GET / HTTP/1.1\r\nHost: {own}\r\nHost: a\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", open_studio.port), PATIENCE) as raw:
            raw.sendall(lines.encode())
            assert raw.recv(99).startswith(b"HTTP/1.1 403")


@pytest.mark.parametrize("bound", ["127.0.0.1", "localhost", "::1", "127.0.0.2"])
def test_no_name_that_others_let_point_here_is_ours(bound):
    gate = Gate(bound, 8080, token=False)
    for host in ("localhost:8080", "127.0.0.1", "127.0.0.2:9", "[::1]:8080", "LOCALHOST"):
        assert gate.refusal(Headers(Host=host), "/") is None
        assert gate.refusal(Headers(Host=host, Origin=f"http://{host}"), "/") is None
    for host in ("evil.example:8080", "192.168.1.1", "localhost.", "localhost.evil.example", "",
                 "127.0.0.1.nip.io", "[::2]", "localhost:8080/", "a@localhost"):  # fmt: skip
        assert gate.refusal(Headers(Host=host, Origin=f"http://{host}"), "/") is not None


@pytest.mark.parametrize(
    ("host", "origin", "token", "wanted"),
    [
        ("lab.example:8080", "http://lab.example:8080", True, True),
        ("lab.example:8080", "https://evil.example", True, False),
        ("lab.example:8080", "http://lab.example:8080", False, False),
        ("192.168.1.1:8080", "http://192.168.1.1:8080", False, True),
        (socket.gethostname(), None, False, True),
    ],
)
def test_in_a_network_other_names_need_the_token(host, origin, token, wanted):
    gate = Gate("0.0.0.0", 8080, token=token)
    headers = Headers(Host=host) if origin is None else Headers(Host=host, Origin=origin)
    assert (gate.refusal(headers, f"/?token={gate.token}") is None) is wanted


def test_a_viser_that_cannot_be_guarded_is_an_error(monkeypatch):
    monkeypatch.setattr(Gate, "_guarded", lambda _, answer, pages: answer)
    with pytest.raises(StudioError, match=r"cannot be guarded .* answer 200.* install viser 1\.1"):
        Studio("two_link", port=0)


def test_a_page_of_viser_without_our_front_end_is_an_error(monkeypatch):
    monkeypatch.setattr(Pages, "dress", lambda _, response: response)
    match = r"its page \(answer 200\) has no place for our front end; install viser 1\.1"
    with pytest.raises(StudioError, match=match):
        Studio("two_link", port=0)


@pytest.mark.parametrize("lost", ["start.js", "studio.css", "dom.js", "*"])
def test_a_front_end_with_a_missing_file_is_an_error(monkeypatch, tmp_path, lost):
    front = tmp_path / "front"
    shutil.copytree(SOURCE / "studio" / "front", front)
    for path in front.glob(lost):
        path.unlink()
    monkeypatch.setattr(gate, "files", lambda _: tmp_path)
    names = "start.js, studio.css, studio.js" if lost == "*" else lost
    with pytest.raises(StudioError, match=f"not whole: .*front has no {names}; install armdyn"):
        Pages()


def test_a_page_runs_no_text_and_reaches_no_other_place(studio):
    cookie = f"armdyn_studio_{studio.port}={studio.address.partition('token=')[2]}"
    _, headers, page = get(studio, "/", Cookie=cookie)
    policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
    nonce = re.search(r"'nonce-([\w-]+)'", policy["script-src"])[1]
    assert policy["script-src"] == f"'self' 'nonce-{nonce}' 'wasm-unsafe-eval'"
    assert policy["connect-src"].split()[3:] == [f"ws://127.0.0.1:{studio.port}"]
    assert policy["object-src"] == policy["base-uri"] == "'none'"
    scripts = re.findall(rb"<script([^>]*)>", re.sub(rb'data-p="[^"]*"', b"", page))
    assert len(scripts) == 3
    assert all(b"src='/armdyn/" in how or f"nonce='{nonce}'".encode() in how for how in scripts)
    assert Pages().policy("a") != Pages().policy("a")


@pytest.mark.parametrize("name", ["{}/x.toml", "{}/arm.urdf", "/etc/passwd", "../two_link", ""])
def test_a_window_names_robots_of_the_catalog_only(wire, tmp_path, monkeypatch, name):
    os.mkfifo(tmp_path / "x.toml")  # whoever opens it waits
    (tmp_path / "arm.urdf").write_text("<robot name='x'/>")
    monkeypatch.chdir(tmp_path)
    connection, session = wire
    with pytest.raises(UnknownNameError, match="no robot in the catalog named"):
        session.open(name.format(tmp_path))
    failed = []
    monkeypatch.setattr(session, "fail", failed.append)
    (tmp_path / "craig_two_link").mkdir()  # in the way of no catalog name
    (files,) = (p for p in session.panels if hasattr(p, "_catalog"))
    uuid = files._catalog._impl.uuid
    say(connection, "GuiUpdateMessage", uuid=uuid, updates={"value": name.format(tmp_path)})
    until(lambda: failed, what="a refusal")
    before = session.arm
    say(connection, "GuiUpdateMessage", uuid=uuid, updates={"value": "craig_two_link"})
    until(lambda: session.arm is not before, what="the robot of the catalog")
    assert [type(error) for error in failed] == [UnknownNameError]


def test_what_is_announced_too_large_or_exceeds_its_size_is_not_kept(wire):
    connection, session = wire
    states = session.client.gui._current_file_upload_states
    button = next(
        uuid
        for uuid, handle in session.client.gui._gui_input_handle_from_uuid.items()
        if type(handle).__name__ == "GuiUploadButtonHandle"
    )

    def announce(transfer, size, parts):
        say(connection, "FileTransferStartUpload", source_component_uuid=button, filename="a.urdf",
            transfer_uuid=transfer, mime_type="", part_count=parts, size_bytes=size)  # fmt: skip

    def part(transfer, index, size):
        say(connection, "FileTransferPart", source_component_uuid=button, transfer_uuid=transfer,
            part_index=index, content=bytes(size))  # fmt: skip

    announce("large", MAX_BYTES + 1, 100)
    part("large", 0, 1000)
    refused = until(lambda: session._failed[0], what="a refusal")
    assert "a.urdf: the file has 20.0 MB, more than the 20 MB that are read" in refused
    announce("exceeds", 1000, 100)
    part("exceeds", 0, 600)
    until(lambda: "exceeds" in states and states["exceeds"]["transferred_bytes"] == 600)
    part("exceeds", 1, 600)
    until(lambda: not states, what="the end of it")
    announce("first", 1000, 2)
    announce("second", 1000, 2)
    until(lambda: [*states] == ["second"], what="the second alone")
    assert session._failed[0] == refused


def test_nothing_that_a_window_sends_is_kept_for_others(wire, studio):
    connection, session = wire
    server = studio._server._websock_server
    before = len(server._broadcast_buffer.message_from_id)
    say(connection, "GuiFormDirtyMessage", uuid="x" * 1000)
    say(connection, "GuiFormSubmitMessage", uuid="x" * 1000)
    say(connection, "ViewerCameraMessage", **(CAMERA | {"fov": 0.5}))
    until(lambda: session.client.camera.fov == 0.5, what="the last message")
    assert len(server._broadcast_buffer.message_from_id) == before
    assert messages.GuiFormDirtyMessage not in server._incoming_handlers


def test_a_robot_of_many_joints_has_a_row_for_each(wire, studio):
    _, session = wire
    robot = Robot(random_model("R" * 70, 1))
    session.enter(Arm(robot, Evaluator(robot)))
    before = session.state.q
    with ours(studio, session) as page:
        page.send(json.dumps({"do": "move", "joint": 69, "kind": "q", "value": 0.25}))
        until(lambda: session.state.q[69] == 0.25, what="the motion")
    np.testing.assert_array_equal(session.state.q[:69], before[:69])
    shown = session.page._shown
    until(lambda: len(shown["torque"]["total"]) == 70, what="the torques")
    assert len(shown["robot"]["joints"]) == 70
    assert shown["matrix"] is None


def test_our_own_files_and_socket_need_the_token_and_the_window(studio, wire):
    _, session = wire
    token = studio.address.partition("?")[2]
    for path in (
        "/armdyn/studio.js",
        "/armdyn/studio.css",
        f"/armdyn/socket?window={session.page.key}",
    ):
        assert get(studio, path)[0] == 403
    status, headers, text = get(studio, f"/armdyn/studio.js?{token}")
    assert status == 200
    assert headers["Content-Type"].startswith("text/javascript")
    assert b"import" in text
    for path in ("/armdyn/../wire.py", "/armdyn/wire.py", "/armdyn/", "/armdyn/%2e%2e/wire.py"):
        assert get(studio, f"{path}?{token}")[0] == 404
    with pytest.raises(InvalidStatus, match="403"):
        connect(f"ws://127.0.0.1:{studio.port}/armdyn/socket?window={session.page.key}")
    with pytest.raises(InvalidStatus, match="403"):
        ours(studio, session, Origin="https://evil.example")
    guess = f"ws://127.0.0.1:{studio.port}/armdyn/socket?window=guess&{token}"
    with connect(guess) as page, pytest.raises(ConnectionClosed, match="no such window"):
        page.recv(PATIENCE)


def test_what_a_page_asks_for_is_checked_and_ends_nothing(studio, wire, monkeypatch):
    _, session = wire
    failed = []
    monkeypatch.setattr(session.page, "_fail", failed.append)
    state = session.state
    wrong = {
        "not json": "cannot be read",
        "[" * 90_000: "nested too deep",
        '{"do": "format"}': "which nobody knows",
        "[1]": "which nobody knows",
        '{"do": "move", "joint": 99, "kind": "q", "value": 0}': "joint: expected a whole number",
        '{"do": "move", "joint": true, "kind": "q", "value": 0}': "joint: expected a whole number",
        '{"do": "move", "joint": 0, "kind": "__class__", "value": 0}': "there is no kind '__class__'",
        '{"do": "move", "joint": 0, "kind": "q", "value": NaN}': "value: expected a number",
        '{"do": "move", "joint": 0, "kind": "q", "value": 1e9}': "value: expected",
        '{"do": "hold", "value": -1}': "value: expected 0 to",
    }
    for text, words in wrong.items():
        failed.clear()
        session.page.hear(text)
        assert words in str(failed[0]), text[:40]
    session.page.hear('{"do": "restore", "robot": "/etc/passwd", "catalog": true, '
                      '"q": [0], "qd": [0], "qdd": [0]}')  # fmt: skip
    assert "no robot in the catalog" in str(failed[-1])
    assert session.state is state


def test_only_differences_go_to_a_page(studio, wire):
    _, session = wire
    shown = {}
    with ours(studio, session) as page:

        def take():
            for path, value in (patches := json.loads(page.recv(PATIENCE))):
                place = shown
                for step in path[:-1]:
                    place = place[step]
                place[path[-1]] = value
            return patches

        while "torque" not in shown:
            take()
        page.send(json.dumps({"do": "move", "joint": 1, "kind": "q", "value": 0.4}))
        sent = []
        while shown["state"]["q"][1] != 0.4:
            sent = take()
        assert len(json.dumps(sent)) < 1000
        assert {path[0] for path, _ in sent} <= {"state", "torque", "said", "matrix", "picture"}
        while shown != json.loads(json.dumps(session.page._shown)):
            take()  # fails when no more comes
