"""Every reader opens regular files of a bounded size, and waits for nothing else."""

import os
from pathlib import Path

import pytest

import armdyn
from armdyn.errors import ArmdynError, ModelError
from armdyn.io.csv.trajectory import torques_from_csv, trajectory_from_csv
from armdyn.io.regular import check_path, read_regular

READERS = {
    "arm.urdf": armdyn.load,
    "arm.xml": armdyn.load,
    "arm.mjcf": armdyn.load,
    "arm.toml": armdyn.load,
    "arm.xacro": armdyn.load,
    "move.csv": lambda path: trajectory_from_csv(path, 2),
    "torques.csv": lambda path: torques_from_csv(path, 2),
}


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def folder(path: Path) -> None:
    path.mkdir()


def loop(path: Path) -> None:
    path.symlink_to(path.name)


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**40)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (pipe, "a device or a pipe"),
        (device, "a device or a pipe"),
        (folder, "this is a directory"),
        (loop, "cannot be read: .*symbolic links|no such file"),
        (huge, r"has 1048576\.0 MB, more than the \d+ MB that are read"),
    ],
)
def test_what_is_no_regular_file_is_refused_at_once(tmp_path, name, make, message):
    make(tmp_path / name)
    with pytest.raises(ArmdynError, match=message):
        READERS[name](tmp_path / name)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("before", ["a\0b", "a" * 5000, "\ud800"], ids=["nul", "long", "half"])
def test_paths_that_no_file_can_have(name, before):
    with pytest.raises(ArmdynError):
        READERS[name](before + name)


def test_a_file_whose_size_is_not_known_is_read_up_to_the_limit(tmp_path):
    path = Path("/proc/self/maps")
    if not path.exists():
        pytest.skip("this system has no such files")
    assert path.stat().st_size == 0
    assert len(read_regular(path, ModelError)) > 100
    with pytest.raises(ModelError, match="more than the 0 MB"):
        read_regular(path, ModelError, 100)


@pytest.mark.parametrize("path", [None, 3, b"x", "a\0b", "\ud800", ["x"]])
def test_what_is_no_path(path):
    with pytest.raises(ModelError, match=r"path.*, got"):
        check_path(path)


def test_the_number_of_links_is_bounded_in_every_format(tmp_path):
    texts = {
        "a.urdf": f"<robot>{'<link/>' * 5001}</robot>",
        "a.xml": f"<mujoco><worldbody>{'<body/>' * 5001}</worldbody></mujoco>",
        "a.toml": "format = 1\n" + "[[joint]]\n" * 5001,
        "b.toml": "format = 1\n" + "[[link]]\n" * 5001,
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(ModelError, match="there are more than 5000"):
            armdyn.load(tmp_path / name)


def test_a_header_is_bounded(tmp_path):
    (tmp_path / "a.csv").write_text("t," + "q" * 1_000_001)
    with pytest.raises(ArmdynError, match="a header has at most 1,000,000 bytes"):
        trajectory_from_csv(tmp_path / "a.csv", 2)
