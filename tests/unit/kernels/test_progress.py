"""Notes about what takes long: on terminals and in the log, nowhere else."""

import logging
import sys
import time

import pytest

from armdyn.kernels import build as progress


class Terminal:
    """Where notes are written."""

    def __init__(self, is_terminal):
        self.text, self.isatty = "", lambda: is_terminal

    def write(self, text):
        self.text += text

    def flush(self):
        pass


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_note_appears_on_terminals_if_it_takes_long(monkeypatch, caplog, is_terminal):
    terminal = Terminal(is_terminal)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    with caplog.at_level(logging.INFO, "armdyn"), progress.note("waiting ..."):
        for _ in range(500):
            if caplog.messages:
                break
            time.sleep(0.01)
    assert terminal.text == ("armdyn: waiting ...\n" if is_terminal else "")
    assert caplog.messages == ["waiting ..."]


def test_no_note_appears_if_it_is_quick(monkeypatch, caplog):
    terminal = Terminal(True)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    with caplog.at_level(logging.INFO, "armdyn"):
        with progress.note("quick"):
            pass
        with pytest.raises(KeyError), progress.note("failed"):
            raise KeyError
        time.sleep(0.1)
    assert (terminal.text, caplog.messages) == ("", [])
