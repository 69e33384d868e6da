"""The command that opens the studio."""

import tempfile
from pathlib import Path

import pytest

from armdyn.cli.options import RobotSource
from armdyn.cli.studio import studio
from armdyn.errors import StudioError
from armdyn.io.shelf import VARIABLE, cache_root
from support.processes import printed


def test_kernels_of_the_command_do_not_go_to_the_cache_of_the_user(monkeypatch):
    """What is compiled for uploaded robots is kept in a folder that ends with the command."""
    monkeypatch.delenv(VARIABLE)
    seen = []

    def begin(*_, **__):
        seen.append(cache_root())
        assert seen[0].is_dir()
        raise StudioError("enough")

    monkeypatch.setattr("armdyn.studio.server.Studio", begin)
    arm = RobotSource("two_link")
    with pytest.raises(StudioError, match="enough"):
        studio(arm, port=0, host="127.0.0.1", browser=False, dark=False, token=True)
    assert Path(tempfile.gettempdir()) in seen[0].parents
    assert not seen[0].exists()


LEAN = """
import sys
from armdyn.studio.server import Studio
from support.studio_windows import bare_window
running = Studio("two_link", port=0)
with bare_window(running):
    print([name for name in ("sympy", "scipy.signal", "matplotlib") if name in sys.modules])
running.stop()
"""


@pytest.mark.slow
def test_a_window_opens_without_what_only_few_of_its_buttons_need():
    assert printed(LEAN) == "[]\n"
