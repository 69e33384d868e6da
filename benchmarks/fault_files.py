"""Attacks by files: what is read, printed, written and kept."""

import contextlib
import hashlib
import io
import os
import re
import socket
import stat
import sys
import threading
from pathlib import Path

from armdyn.cli import main
from armdyn.errors import ArmdynError, WriteError
from armdyn.graph.program import Program
from armdyn.io.atomic import write_text
from armdyn.io.catalog import catalog_path
from armdyn.io.csv.trajectory import trajectory_from_csv
from armdyn.io.files import read_model
from armdyn.kernels.cache import ObjectCache
from armdyn.shorten.program_store import ProgramStore

URDF = """<robot name="arm"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""
HOSTILE = "a[/b]\\u001b]0;owned\\u0007\\r\\u009b31m\\u202e:skull:"
STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
VERBS = (
    "info ROBOT", "info ROBOT --json", "check ROBOT", "torque ROBOT move.csv",
    "simulate ROBOT --duration 0.01", "equations ROBOT", "equations ROBOT --form structure",
    "equations ROBOT --format python", "simplify ROBOT --no-symbolic",
    "ops ROBOT --programs --quantity mass_matrix", "info ROBOT --lock nothing=1",
)  # fmt: skip


def read(path: Path) -> None:
    """Read a file by its ending."""
    if path.suffix == ".csv":
        trajectory_from_csv(path, 2)
    else:
        read_model(path, physical="ignore")


def no_file(folder: Path, number: int) -> Path:
    """Something that is no regular file, or has no end."""
    path = folder / f"x{('.urdf', '.toml', '.xml', '.csv')[number % 4]}"
    kind = number // 4 % 5
    if kind == 0:
        os.mkfifo(path)
    elif kind == 1:
        path.symlink_to("/dev/zero")
    elif kind == 2:
        path.symlink_to("/dev/stdin")
    elif kind == 3:
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(2**40)
    return path


def xml_bomb(folder: Path, number: int) -> Path:
    """A document that grows while it is read."""
    path, size = folder / "x.urdf", 10 ** (2 + number % 3)
    attributes = "".join(f'a{i} CDATA "{"x" * 90}" ' for i in range(size))
    entities = "".join(f'<!ENTITY e{i + 1} "{f"&e{i};" * 10}">' for i in range(9))
    heads = (
        f"<!DOCTYPE robot [<!ATTLIST link {attributes}>]>",
        f'<!DOCTYPE robot [<!ENTITY e0 "x">{entities}]>',
        '<!DOCTYPE robot [<!ENTITY e9 SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE robot SYSTEM "http://127.0.0.1:9/x.dtd">',
        "<a>" * size * 10,
    )
    body = URDF.replace('"arm"', '"&e9;"') if number // 3 % 5 in (1, 2) else URDF
    path.write_text(
        heads[number // 3 % 5] + body.replace("</robot>", "<link/>" * size + "</robot>")
    )
    return path


def toml_bomb(folder: Path, number: int) -> Path:
    """A small document that is deep, wide or long."""
    path, size = folder / "x.toml", 10 ** (3 + number % 3)
    texts = (
        "a = " + "[" * size,
        "a = " + "{a=" * size,
        "a" + ".a" * size + " = 1",
        "[a" + ".a" * size + "]",
        "a = " + "9" * size,
        "".join(f"[[a{'.b' * (i % 50)}]]\n" for i in range(size // 10)),
    )
    path.write_text(texts[number // 3 % len(texts)])
    return path


def letters_bomb(folder: Path, number: int) -> Path:
    """A robot with an expression that no one can compute."""
    path, size = folder / "x.toml", 10 ** (2 + number % 4)
    expressions = (
        f"l**{size}**{size}", "2" + f"**{size}" * 3, "(" * size + "l" + ")" * size,
        "(l+m1+m2)**" + str(size), "*".join(["(l+1)"] * size), "-" * size + "l",
    )  # fmt: skip
    text = catalog_path("two_link").read_text(encoding="utf-8")
    expression = expressions[number // 4 % len(expressions)]
    path.write_text(text.replace('"l/2"', f'"{expression}"', 1), encoding="utf-8")
    return path


def mjcf_includes(folder: Path, number: int) -> Path:
    """A document that names other files."""
    path = folder / "x.xml"
    os.mkfifo(folder / "pipe.xml")
    named = ("pipe.xml", "nothing.xml", "x.xml", "/dev/zero", "/etc/passwd")[number % 5]
    elements = (
        f'<include file="{named}"/>',
        f'<asset><mesh name="m" file="{named}"/></asset>',
        f'<asset><hfield name="m" file="{named}"/></asset>',
        f'<asset><model name="m" file="{named}"/></asset>',
    )
    body = '<worldbody><body><joint/><geom size="1"/></body></worldbody>'
    path.write_text(f"<mujoco>{elements[number // 5 % 4]}{body}</mujoco>")
    return path


def steers_no_terminal(folder: Path, number: int) -> bool:
    """Whether nothing in the names of a robot reaches the terminal as more than text."""
    text = catalog_path("two_link").read_text(encoding="utf-8")
    for name in ("two-link arm", "joint1", "two_link"):
        text = text.replace(f'"{name}"', f'"{name}{HOSTILE}"')
    (folder / "arm.toml").write_text(text, encoding="utf-8")
    (folder / "move.csv").write_text("t,q1,q2\n" + "".join(f"{t},{t},0\n" for t in range(7)))
    words = VERBS[number % len(VERBS)].replace("ROBOT", str(folder / "arm.toml"))
    sys.argv = ["armdyn", *words.replace("move.csv", str(folder / "move.csv")).split()]
    out = io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
        contextlib.suppress(SystemExit),
    ):
        main()
    return bool(out.getvalue()) and not STEERING.search(out.getvalue())


def leaves_what_is_there(folder: Path, number: int) -> bool:
    """Whether a write goes to what is there, or is refused, and nothing is left beside it."""
    path, far = folder / "out.txt", folder / "far.txt"
    far.write_text("old")
    kind = number % 7
    if kind == 0:
        path.symlink_to(far)
    elif kind == 1:
        path.hardlink_to(far)
    elif kind == 2:
        os.mkfifo(path)
    elif kind == 3:
        with socket.socket(socket.AF_UNIX) as bound, contextlib.chdir(folder):
            bound.bind("out.txt")
    elif kind == 4:
        path.mkdir()
    elif kind == 5:
        path.symlink_to(path)
    else:
        path.symlink_to("/dev/null")
    before, names = path.lstat(), set(os.listdir(folder))
    with contextlib.suppress(WriteError):
        write_text(path, "new")
    after = path.lstat()
    followed = far.read_text() == ("new" if kind in (0, 1) else "old")
    same = (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    return same and followed and set(os.listdir(folder)) == names


def keeps_modes(folder: Path, number: int) -> bool:
    """Whether files keep their modes, and files of other threads have theirs."""
    mode = (0o600, 0o640, 0o644, 0o664)[number % 4]
    stop = threading.Event()
    wrong: list[str] = []

    def other(name: int) -> None:
        count = 0
        while not stop.is_set():
            path = folder / f"{name}-{count}"
            path.touch()
            wrong.extend([path.name] * bool(path.stat().st_mode & 0o022))
            path.unlink()
            count += 1

    threads = [threading.Thread(target=other, args=(k,)) for k in range(7)]
    for thread in threads:
        thread.start()
    path = folder / "out"
    path.touch()
    path.chmod(mode)
    for k in range(20):
        write_text(path, str(k))
        write_text(folder / "fresh", str(k))
    stop.set()
    for thread in threads:
        thread.join()
    return stat.S_IMODE(path.stat().st_mode) == mode and not wrong


def ignores_damage(folder: Path, number: int) -> bool:
    """Whether a damaged file in the cache is as good as none, and can be replaced."""
    key = hashlib.sha256(b"key").hexdigest()
    program = Program.from_data([[["q", 1]], [], [["*", 0, 0]], [1]])
    cache, programs = ObjectCache(folder / "kernels"), ProgramStore(folder / "programs")
    cache.put(key, b"code" * 100)
    programs.store(key, program)
    kept = next((folder / ("kernels" if number % 2 else "programs")).iterdir())
    whole = kept.read_bytes()
    contents = (
        b"", whole[: len(whole) // 2], whole + b"x", b"\0" * 99, b"[" * 100_000, b"null", b"{}",
        b"[" + b"9" * 5000 + b"]", b'["1", 2, 3]', whole[:40] + b"x" + whole[41:], b"\xff\xfe",
    )  # fmt: skip
    kind = number // 2 % (len(contents) + 3)
    if kind < len(contents):
        kept.write_bytes(contents[kind])
    else:
        kept.unlink()
        if kind == len(contents):
            os.mkfifo(kept)
        elif kind == len(contents) + 1:
            kept.symlink_to("/dev/zero")
        else:
            (folder / "elsewhere").write_bytes(whole)
            kept.hardlink_to(folder / "elsewhere")
    found: object = cache.get(key) if number % 2 else programs.find(key)
    cache.put(key, b"code" * 100)
    programs.store(key, program)
    again = programs.find(key)
    sound = again is not None and again.data() == program.data()
    return found is None and cache.get(key) == b"code" * 100 and sound


def distrusts_open_folders(folder: Path, number: int) -> bool:
    """Whether files are not trusted that others could have put into a folder or above it."""
    key, other = (hashlib.sha256(word).hexdigest() for word in (b"a", b"b"))
    cache = ObjectCache(folder / "root" / "kernels")
    cache.put(key, b"planted")
    opened = (folder / "root", folder / "root" / "kernels")[number % 2]
    opened.chmod((0o777, 0o702, 0o733)[number // 2 % 3])
    trusted = cache.get(key)
    with contextlib.suppress(ArmdynError):
        cache.put(other, b"new")
    return trusted is None and (cache.get(key) is None or number % 2 == 0)
