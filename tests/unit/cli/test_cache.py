import hashlib
import json
import os
from functools import partial
from pathlib import Path

import pytest

from armdyn.graph.program import Program
from armdyn.kernels.cache import user_cache
from armdyn.shorten.program_store import user_programs

posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no such owners and modes")
PROGRAM = Program.from_data([[["q", 1]], [], [["*", 0, 0]], [1]])
KEYS = [hashlib.sha256(bytes([i])).hexdigest() for i in range(3)]


@pytest.fixture
def run(command):
    return partial(command, "cache")


@pytest.fixture
def root(tmp_path, monkeypatch) -> Path:
    """A cache with three kernels and one program."""
    root = tmp_path / "root"
    monkeypatch.setenv("ARMDYN_CACHE_DIR", str(root))
    for i, key in enumerate(KEYS):
        user_cache().put(key, bytes(1000 * i))
        os.utime(root / "kernels" / f"{key}.kernel", (1e9 + i, 1e9 + i))
    user_programs().store(KEYS[0], PROGRAM)
    return root


def files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


def test_what_is_kept_is_shown(run, root):
    code, out, _ = run()
    assert code == 0
    assert str(root) in out
    kept = json.loads(run("--json")[1])
    assert kept["folder"] == str(root)
    for kind, count in (("kernels", 3), ("programs", 1)):
        data = kept["kept"][kind]
        sizes = [path.stat().st_size for path in files(root / kind)]
        assert (data["files"], data["bytes"]) == (count, sum(sizes))
        assert (data["folder"], data["problem"]) == (str(root / kind), None)
    from datetime import datetime

    ends = [kept["kept"]["kernels"][end] for end in ("oldest", "newest")]
    assert [datetime.fromisoformat(end).timestamp() for end in ends] == [1e9, 1e9 + 2]


def test_clearing_says_what_it_removed(run, root):
    (root / "kernels" / "mine.txt").write_text("mine")
    total = sum(path.stat().st_size for path in files(root / "kernels")) - 4
    code, out, _ = run("--clear")
    assert code == 0
    assert f"removed 3 kernels, {total / 1000:.3g} kB" in out
    assert "removed 1 programs" in out
    assert files(root) == [root / "kernels" / "mine.txt"]
    nothing = {"files": 0, "bytes": 0}
    removed = {"kernels": nothing, "programs": nothing}
    assert json.loads(run("--clear", "--json")[1]) == {"folder": str(root), "removed": removed}


def test_nothing_is_made_by_looking(run, tmp_path, monkeypatch):
    monkeypatch.setenv("ARMDYN_CACHE_DIR", str(tmp_path / "none"))
    for words in ((), ("--clear",), ("--json",)):
        assert run(*words)[0] == 0
    assert not (tmp_path / "none").exists()


@posix
@pytest.mark.parametrize("kind", ["kernels", "programs"])
def test_a_linked_folder_is_named_and_nothing_is_removed(run, root, tmp_path, kind):
    (root / kind).rename(tmp_path / "elsewhere")
    (root / kind).symlink_to(tmp_path / "elsewhere")
    before = files(tmp_path)
    code, out, _ = run()
    assert code == 0
    assert f"the folder {str(root / kind)!r} is a symbolic link" in out
    assert "symbolic link" in json.loads(run("--json")[1])["kept"][kind]["problem"]
    code, out, err = run("--clear")
    assert (code, out) == (2, "")
    assert err.startswith("error: the folder ")
    assert "name another place with ARMDYN_CACHE_DIR" in err
    assert files(tmp_path) == before


@posix
def test_a_folder_of_someone_else_is_named_and_nothing_is_removed(run, root, monkeypatch):
    before = files(root)
    monkeypatch.setattr(os, "geteuid", lambda: root.stat().st_uid + 1)
    code, out, _ = run()
    assert code == 0
    assert out.count("belongs to another user") == 2
    code, out, err = run("--clear")
    assert (code, out) == (2, "")
    assert "belongs to another user" in err
    assert files(root) == before


@pytest.mark.parametrize("word", ["", "off"])
def test_no_cache_is_no_error(run, monkeypatch, word):
    monkeypatch.setenv("ARMDYN_CACHE_DIR", word)
    for words in ((), ("--clear",)):
        code, out, _ = run(*words)
        assert code == 0
        assert "nothing is kept on disk" in out
    assert json.loads(run("--json")[1]) == {"folder": None, "kept": {}}
    assert user_programs() is None


def test_a_variable_without_meaning_is_an_error(run, monkeypatch):
    monkeypatch.setenv("ARMDYN_CACHE_DIR", "no")
    code, out, err = run()
    assert (code, out) == (2, "")
    assert err.startswith("error: ARMDYN_CACHE_DIR is 'no': expected an absolute path")
