"""What the tests of comparisons share."""

import pytest

from armdyn.compare.peers import PEERS, Peer


@pytest.fixture
def file(tmp_path):
    def write(text, name="robot.urdf"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.fixture
def fake(monkeypatch):
    """Let a function stand for a library called "fake"."""

    def register(solve, module="numpy", formats=("urdf",)):
        monkeypatch.setitem(PEERS, "fake", Peer("Fake", "numpy", module, formats, solve))

    return register
