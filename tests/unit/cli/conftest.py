"""The command line in a test."""

import sys

import pytest

from armdyn.cli import main


@pytest.fixture
def command(monkeypatch, capsys):
    """Runs a command line: its exit code, its output and its complaints."""

    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["armdyn", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        return int(end.value.code or 0), captured.out, captured.err

    return call
