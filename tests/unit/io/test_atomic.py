import os
import signal
import socket
import stat
import subprocess
import sys

import numpy as np
import pytest

from armdyn.errors import WriteError
from armdyn.io.atomic import replacing, write_text
from armdyn.io.csv.table import ROWS_AT_ONCE, write_csv
from support.processes import printed

posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no such files and modes")
linux = pytest.mark.skipif(sys.platform != "linux", reason="these paths are of Linux")


def test_a_file_appears_whole_and_replaces_the_old_one(tmp_path):
    target = tmp_path / "out.csv"
    target.write_text("old")
    with replacing(target) as stream:
        stream.write(b"new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("reason", [KeyboardInterrupt, ValueError])
def test_an_interrupted_file_leaves_the_old_one_and_nothing_else(tmp_path, reason):
    target = tmp_path / "out.csv"
    target.write_text("old")

    def stop(rows: int) -> None:
        if rows:
            raise reason

    with pytest.raises(reason):
        write_csv(target, {"t": np.arange(10.0)}, progress=stop)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    for path, message in (
        (tmp_path / "nowhere" / "out.csv", r"cannot write .*out\.csv.*: No such file"),
        (tmp_path, "cannot write .*: Is a directory"),
    ):
        with pytest.raises(WriteError, match=message):
            write_csv(path, {"t": np.zeros(1)})


@pytest.mark.parametrize("rows", [1, ROWS_AT_ONCE, ROWS_AT_ONCE + 1])
def test_a_written_table_reads_back(tmp_path, rows):
    columns = {"t": np.arange(rows) / 7, "x": np.random.default_rng(1).normal(size=rows)}
    counted = []
    write_csv(tmp_path / "out.csv", columns, progress=counted.append)
    assert sum(counted) == rows
    assert (tmp_path / "out.csv").read_text().startswith("t,x\n")
    back = np.loadtxt(tmp_path / "out.csv", delimiter=",", skiprows=1, ndmin=2)
    np.testing.assert_allclose(back, np.column_stack(list(columns.values())), rtol=1e-11)


@posix
class TestWhatIsThere:
    """What stands at the path is followed, filled or refused, and never replaced by a file."""

    @pytest.mark.parametrize("there", [True, False])
    def test_a_link_is_followed(self, tmp_path, there):
        (tmp_path / "far").mkdir()
        target, link = tmp_path / "far" / "out.txt", tmp_path / "link.txt"
        if there:
            target.write_text("old")
        (tmp_path / "way.txt").symlink_to(target)
        link.symlink_to("way.txt")
        write_text(link, "new")
        assert link.is_symlink()
        assert target.read_text() == "new"
        assert os.listdir(tmp_path / "far") == ["out.txt"]

    def test_links_that_lead_to_themselves_are_refused(self, tmp_path):
        for a, b in ("xy", "yx"):
            (tmp_path / a).symlink_to(b)
        with pytest.raises(WriteError, match="cannot write"):
            write_text(tmp_path / "x", "new")
        assert (tmp_path / "x").is_symlink()

    def test_all_names_of_a_file_get_the_content(self, tmp_path):
        (tmp_path / "a").write_text("older and longer")
        (tmp_path / "b").hardlink_to(tmp_path / "a")
        write_text(tmp_path / "b", "new")
        assert (tmp_path / "a").read_text() == "new"

    def test_a_pipe_is_written_to(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(WriteError, match="cannot write .*pipe': No such device"):
            write_text(tmp_path / "pipe", "nobody reads")
        reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        write_text(tmp_path / "pipe", "new")
        assert os.read(reader, 9) == b"new"
        os.close(reader)
        assert stat.S_ISFIFO((tmp_path / "pipe").lstat().st_mode)

    @pytest.mark.parametrize("kind", ["socket", "folder"])
    def test_what_cannot_be_written_is_refused(self, tmp_path, kind):
        path = tmp_path / "it"
        if kind == "folder":
            path.mkdir()
        else:
            with socket.socket(socket.AF_UNIX) as bound:
                bound.bind(str(path))
        before = path.lstat()
        with pytest.raises(WriteError, match="cannot write"):
            write_text(path, "new")
        assert path.lstat().st_ino == before.st_ino

    @linux
    def test_devices_stay_devices(self):
        write_text("/dev/null", "new")
        assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
        with pytest.raises(WriteError, match="No space left"):
            write_text("/dev/full", "new")

    @linux
    def test_open_files_of_this_process_are_written_where_they_stand(self, tmp_path):
        with (tmp_path / "log").open("wb+") as log:
            log.write(b"before ")
            log.flush()
            for name in (f"/dev/fd/{log.fileno()}", f"/proc/self/fd/{log.fileno()}"):
                write_text(name, "new ")
            log.seek(0)
            assert log.read() == b"before new new "
        assert printed("from armdyn.io.atomic import *; write_text('/dev/stdout', 'x')") == "x"
        assert os.path.exists("/dev/stdout")

    @pytest.mark.parametrize("mode", [0o600, 0o644, 0o640, 0o775])
    def test_a_file_keeps_its_mode(self, tmp_path, mode):
        (tmp_path / "out").touch()
        (tmp_path / "out").chmod(mode)
        write_text(tmp_path / "out", "new")
        assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == mode

    def test_a_new_file_has_the_mode_of_the_umask_which_is_not_touched(self, tmp_path, monkeypatch):
        before = os.umask(0o027)
        try:
            monkeypatch.delattr(os, "umask")
            write_text(tmp_path / "out", "new")
        finally:
            monkeypatch.undo()
            os.umask(before)
        assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640

    @pytest.mark.skipif(getattr(os, "geteuid", int)() == 0, reason="root may write anything")
    def test_a_protected_file_is_refused(self, tmp_path):
        (tmp_path / "out").write_text("old")
        (tmp_path / "out").chmod(0o444)
        with pytest.raises(WriteError, match="it is write-protected"):
            write_text(tmp_path / "out", "new")


KILLED = """
import os, signal, sys
from armdyn.io.atomic import replacing
number = int(sys.argv[1])
if signal.getsignal(number) == signal.SIG_IGN:  # as under nohup
    signal.signal(number, signal.SIG_DFL)
with replacing("out.txt") as stream:
    stream.write(b"half")
    os.kill(os.getpid(), number)
"""


@posix
@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP", "SIGKILL"])
def test_a_killed_process_leaves_nothing_for_long(tmp_path, number):
    words = [sys.executable, "-c", KILLED, str(int(signal.Signals[number]))]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    code = subprocess.run(words, cwd=tmp_path, env=environment, check=False).returncode
    assert code == -signal.Signals[number]
    assert len(os.listdir(tmp_path)) == (number == "SIGKILL")
    (tmp_path / ".armdyn-notes.part").write_text("mine")
    with replacing(tmp_path / "a") as first, replacing(tmp_path / "b") as second:
        assert len(os.listdir(tmp_path)) == 3  # what lives is left alone
        first.write(b"1")
        second.write(b"2")
    assert sorted(os.listdir(tmp_path)) == [".armdyn-notes.part", "a", "b"]


def test_a_long_name_is_no_problem(tmp_path):
    write_text(tmp_path / ("n" * 250 + ".txt"), "new")
    assert len(os.listdir(tmp_path)) == 1
