"""Kernels on disk: what was put comes back bit for bit, or nothing does."""

import errno
import hashlib
import os
import subprocess
import sys
import time

import pytest

from armdyn.errors import CacheError
from armdyn.kernels.cache import ObjectCache

posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no such owners and modes")
KEY, OTHER, THIRD = (hashlib.sha256(word).hexdigest() for word in (b"a", b"b", b"c"))
CODE = b"\x7fELF\0\n\r\n" + bytes(range(40))


@pytest.fixture
def cache(tmp_path) -> ObjectCache:
    result = ObjectCache(tmp_path / "deep" / "kernels")
    result.put(KEY, CODE)
    return result


@pytest.fixture
def file(cache):
    return cache.folder / f"{KEY}.kernel"


@pytest.mark.parametrize("content", [b"", CODE, os.urandom(300_000)])
def test_what_was_put_comes_back(tmp_path, content):
    cache = ObjectCache(tmp_path / "kernels")
    assert cache.get(KEY) is None
    assert not cache.folder.exists()
    cache.put(OTHER, b"other")
    cache.put(KEY, content)
    assert (cache.get(KEY), cache.get(OTHER), cache.get(THIRD)) == (content, b"other", None)
    cache.put(KEY, b"newer")
    assert cache.get(KEY) == b"newer"
    assert sorted(entry.name[:64] for entry in cache.entries()) == sorted((KEY, OTHER))
    assert cache.size == sum(path.stat().st_size for path in cache.folder.iterdir())


def test_every_flipped_bit_and_every_truncation_is_noticed(cache, file):
    whole = file.read_bytes()
    for place in range(len(whole)):
        for bit in (1, 32, 128):
            file.write_bytes(
                whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :],
            )
            assert cache.get(KEY) is None
        file.write_bytes(whole[:place])
        assert cache.get(KEY) is None
    for more in (whole + b"\0", b"\n" + whole, whole * 2):
        file.write_bytes(more)
        assert cache.get(KEY) is None
    file.write_bytes(whole)
    assert cache.get(KEY) == CODE


def test_a_damaged_file_is_replaced(cache, file):
    file.write_bytes(b"nonsense")
    cache.put(KEY, CODE)
    assert cache.get(KEY) == CODE


def test_a_file_under_the_key_of_another_is_none(cache, file):
    file.rename(cache.folder / f"{OTHER}.kernel")
    assert cache.get(OTHER) is None
    assert cache.get(KEY) is None


@pytest.mark.parametrize("key", ["", "../" + KEY[3:], KEY[:-1], KEY.upper(), KEY + "\n", KEY + "0"])
def test_a_key_is_a_digest(cache, key):
    for act in (cache.get, lambda bad: cache.put(bad, CODE)):
        with pytest.raises(CacheError, match="is no digest: expected 32 or 64 lower-case"):
            act(key)


def test_too_large_a_file_is_neither_written_nor_read(cache, file):
    size = file.stat().st_size
    exact, smaller = (ObjectCache(cache.folder, largest=most) for most in (size, size - 1))
    assert exact.get(KEY) == CODE
    exact.put(OTHER, CODE + b"1")
    assert not (cache.folder / f"{OTHER}.kernel").exists()
    assert smaller.get(KEY) is None


@posix
class TestOthers:
    """Whatever someone else could have made or changed is as good as none."""

    def test_folder_and_files_are_private_whatever_the_umask(self, tmp_path):
        before = os.umask(0)
        try:
            cache = ObjectCache(tmp_path / "kernels")
            cache.put(KEY, CODE)
        finally:
            os.umask(before)
        assert cache.folder.stat().st_mode & 0o777 == 0o700
        assert [path.stat().st_mode & 0o777 for path in cache.folder.iterdir()] == [0o600]

    @pytest.mark.parametrize("kind", ["link", "hard link", "pipe", "folder"])
    def test_only_a_plain_file_is_read(self, cache, file, tmp_path, kind):
        elsewhere = tmp_path / "elsewhere"
        file.rename(elsewhere)
        if kind == "link":
            file.symlink_to(elsewhere)
        elif kind == "hard link":
            file.hardlink_to(elsewhere)
        elif kind == "pipe":
            os.mkfifo(file)
        else:
            file.mkdir()
        assert cache.get(KEY) is None
        whole = elsewhere.read_bytes()
        cache.put(KEY, b"new")
        assert elsewhere.read_bytes() == whole
        assert cache.get(KEY) == (None if kind == "folder" else b"new")

    def test_a_linked_folder_is_neither_read_nor_written_nor_cleared(self, cache, tmp_path):
        linked = ObjectCache(tmp_path / "linked")
        linked.folder.symlink_to(cache.folder)
        assert linked.get(KEY) is None
        linked.put(OTHER, CODE)
        for act in (linked.entries, linked.clear):
            with pytest.raises(CacheError, match="is a symbolic link; expected a folder of this"):
                act()
        assert cache.get(KEY) == CODE
        assert cache.get(OTHER) is None

    def test_a_link_above_the_folder_is_followed(self, cache, tmp_path):
        (tmp_path / "way").symlink_to(cache.folder.parent)
        assert ObjectCache(tmp_path / "way" / "kernels").get(KEY) == CODE

    @pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
    def test_a_file_that_others_can_write_is_none(self, cache, file, mode):
        file.chmod(mode)
        assert cache.get(KEY) is None
        cache.put(KEY, CODE)
        assert cache.get(KEY) == CODE

    @pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
    def test_a_folder_that_others_can_write_is_not_read_and_is_mended(self, cache, mode):
        cache.folder.chmod(mode)
        assert cache.get(KEY) is None
        cache.put(OTHER, CODE)
        assert cache.folder.stat().st_mode & 0o777 == 0o700
        assert cache.get(OTHER) == CODE
        assert cache.get(KEY) is None  # others may have put it there

    @pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
    @pytest.mark.parametrize("high", [0, 1])
    def test_below_a_folder_that_others_can_write_nothing_is_kept(self, cache, mode, high):
        parent = cache.folder.parents[high]
        parent.chmod(mode)
        other = ObjectCache(parent / "new" / "kernels")
        if os.geteuid() == 0 or mode & 0o002 or parent.stat().st_gid != os.geteuid():
            for one in (cache, other):
                one.put(OTHER, CODE)
                assert one.get(KEY) is None
            assert not other.folder.exists()
            with pytest.raises(CacheError, match="which others can change"):
                cache.entries()
        parent.chmod(mode | 0o1000)  # as /tmp: nobody moves folders of others
        assert cache.get(KEY) == CODE
        parent.chmod(0o700)

    def test_all_folders_that_are_made_are_private(self, tmp_path):
        before = os.umask(0)
        try:
            ObjectCache(tmp_path / "a" / "b" / "kernels").put(KEY, CODE)
        finally:
            os.umask(before)
        made = (tmp_path / "a", tmp_path / "a" / "b", tmp_path / "a" / "b" / "kernels")
        assert [folder.stat().st_mode & 0o777 for folder in made] == [0o700] * 3

    def test_a_folder_of_someone_else_is_left_alone(self, cache, file, monkeypatch):
        before = file.stat()
        monkeypatch.setattr(os, "geteuid", lambda: before.st_uid + 1)
        assert cache.get(KEY) is None
        cache.put(OTHER, CODE)
        cache.put(KEY, b"mine")
        for act in (cache.entries, cache.clear):
            with pytest.raises(CacheError, match=rf"another user \(number {before.st_uid}\)"):
                act()
        monkeypatch.undo()
        assert os.listdir(cache.folder) == [file.name]
        assert cache.get(KEY) == CODE

    def test_a_file_of_someone_else_in_an_own_folder_is_none(self, cache, file, monkeypatch):
        real, owner = os.fstat, os.geteuid()

        def fstat(handle):
            status = list(real(handle))
            is_file = real(handle).st_ino == file.stat().st_ino
            return os.stat_result([*status[:4], owner + is_file, *status[5:]])

        monkeypatch.setattr(os, "fstat", fstat)
        assert cache.entries()
        assert cache.get(KEY) is None


class TestNoRoom:
    """A cache is a convenience: where it cannot be, nothing happens."""

    def test_below_a_file_there_is_no_folder(self, tmp_path):
        (tmp_path / "file").write_text("")
        for folder in (tmp_path / "file", tmp_path / "file" / "kernels"):
            cache = ObjectCache(folder)
            cache.put(KEY, CODE)
            assert cache.get(KEY) is None
        assert (tmp_path / "file").read_text() == ""

    @pytest.mark.parametrize("reason", [errno.EROFS, errno.ENOSPC, errno.EACCES])
    @pytest.mark.parametrize("step", ["open", "mkdir", "replace"])
    def test_a_system_that_refuses_leaves_what_was_there(self, cache, monkeypatch, reason, step):
        real = getattr(os, step)

        def refuse(*words, **names):
            if step == "open" and not words[1] & os.O_CREAT:
                return real(*words, **names)
            raise OSError(reason, os.strerror(reason))

        monkeypatch.setattr(os, step, refuse)
        cache.put(KEY, b"new")
        ObjectCache(cache.folder.parent / "more").put(KEY, CODE)
        monkeypatch.undo()
        assert cache.get(KEY) == (b"new" if step == "mkdir" else CODE)
        assert len(os.listdir(cache.folder)) == 1

    @posix
    @pytest.mark.skipif(getattr(os, "geteuid", int)() == 0, reason="root may write anywhere")
    def test_a_folder_without_write_permission_is_read(self, cache):
        cache.folder.chmod(0o500)
        try:
            cache.put(OTHER, CODE)
            assert cache.get(KEY) == CODE
            assert cache.get(OTHER) is None
            with pytest.raises(CacheError, match="cannot remove files from .*make the folder wri"):
                cache.clear()
        finally:
            cache.folder.chmod(0o700)


def age(path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_the_least_recently_used_go_first(tmp_path):
    keys = [hashlib.sha256(bytes([i])).hexdigest() for i in range(6)]
    content = bytes(1000)
    one = ObjectCache(tmp_path)
    for i, key in enumerate(keys[:4]):
        one.put(key, content)
        age(tmp_path / f"{key}.kernel", (10 - i) * 1e8)
    assert [entry.name[:64] for entry in one.entries()] == keys[:4]
    assert one.get(keys[0]) == content  # used now
    bounded = ObjectCache(tmp_path, most=one.size)
    bounded.put(keys[4], content)
    assert [key for key in keys if bounded.get(key)] == [keys[0], keys[2], keys[3], keys[4]]
    small = ObjectCache(tmp_path, most=one.size // 2)
    small.put(keys[5], content)
    assert small.size <= small.most
    assert small.get(keys[5]) == content
    assert len(small.entries()) == 2


def test_use_is_noted_once_a_day(cache, file):
    age(file, 3600)
    before = file.stat().st_mtime_ns
    cache.get(KEY)
    assert file.stat().st_mtime_ns == before
    for seconds in (2 * 86400, -2 * 86400):
        age(file, seconds)
        cache.get(KEY)
        assert abs(file.stat().st_mtime - time.time()) < 60


@posix
@pytest.mark.parametrize("act", ["put", "clear"])
def test_what_killed_processes_left_is_removed(cache, act):
    import fcntl

    left, alive = (cache.folder / f".armdyn-{i:016x}.part" for i in range(2))
    left.write_bytes(b"half")
    with alive.open("wb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        if act == "put":
            cache.put(OTHER, CODE)
        else:
            assert [entry.name for entry in cache.clear()] == [f"{KEY}.kernel"]
    assert not left.exists()
    assert alive.exists()
    assert not any(entry.name.startswith(".") for entry in cache.entries())


def test_clearing_removes_kernels_and_nothing_else(cache):
    cache.put(OTHER, CODE)
    strange = [cache.folder / name for name in ("notes.txt", f"{KEY}.json", "x.kernel", ".kernel")]
    for path in strange:
        path.write_text("mine")
    size = cache.size
    removed = cache.clear()
    assert sum(entry.size for entry in removed) == size
    assert {entry.name[:64] for entry in removed} == {KEY, OTHER}
    assert sorted(cache.folder.iterdir()) == sorted(strange)
    assert (cache.size, cache.clear(), cache.get(KEY)) == (0, [], None)
    assert ObjectCache(cache.folder / "none").clear() == []


WORKER = """
import sys, time
from pathlib import Path
from armdyn.kernels.cache import ObjectCache

cache, me, clearing = ObjectCache(Path(sys.argv[1])), int(sys.argv[2]), sys.argv[3] == "clearing"
key, reads, end = "e" * 64, 0, time.monotonic() + 1.0
cache.put(key, bytes([me]) * 50_000)
while time.monotonic() < end:
    if clearing and me == 0:
        cache.clear()
    else:
        cache.put(key, bytes([me]) * (50_000 + me))
    for _ in range(5):
        found = cache.get(key)
        if found is None:
            assert clearing
        else:
            assert found in {bytes([found[0]]) * n for n in (50_000, 50_000 + found[0])}
            reads += 1
print(reads)
"""


@pytest.mark.slow
@pytest.mark.parametrize("clearing", ["clearing", "keeping"])
def test_processes_at_once_read_whole_files(tmp_path, clearing):
    """While nobody clears, the file is there at every moment after the first put."""
    words = [sys.executable, "-c", WORKER, str(tmp_path / "kernels")]
    workers = [
        subprocess.Popen([*words, str(i), clearing], stdout=subprocess.PIPE) for i in range(4)
    ]
    reads = [int(worker.communicate(timeout=60)[0] or -1) for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 4
    assert min(reads) > 0
    assert all(not name.startswith(".") for name in os.listdir(tmp_path / "kernels"))
