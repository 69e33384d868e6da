"""What the tests of comparisons share."""

import pytest

from armdyn.study.compare.peers import PEERS, Peer


@pytest.fixture
def fake(monkeypatch):
    """Let a function stand for a library called "fake"."""

    def register(solve, module="numpy", formats=("urdf",)):
        monkeypatch.setitem(PEERS, "fake", Peer("Fake", "numpy", module, formats, solve))

    return register
