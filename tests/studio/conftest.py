"""A studio and a browser for the tests of its pages.

Both end with the module that uses them: their threads draw random numbers, which Hypothesis does not
allow beside its own. For the same reason `make test` runs this folder by itself.
"""

import os
import shutil
from pathlib import Path

import pytest

from support.studio_windows import Window, until

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SWITCHES = (
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-gpu-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def browser():
    program = next((path for name in NAMES if (path := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"there is no browser on this machine: none of {', '.join(NAMES)}")
    sync = pytest.importorskip("playwright.sync_api")
    with sync.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=[*SWITCHES])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def bare_studio():
    """A studio of a small robot, for windows without a browser."""
    from armdyn.studio.server import Studio

    running = Studio("two_link", port=0)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def studio(browser):
    from armdyn.studio.server import Studio

    running = Studio("puma560", port=0)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def shots(tmp_path_factory):
    wanted = os.environ.get("ARMDYN_SCREENSHOTS")
    folder = Path(wanted) if wanted else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def first(browser, studio, shots):
    window = Window(browser, studio, shots)
    yield window
    window.close()


@pytest.fixture
def window(first, studio):
    """The first window with the robot it began with."""
    first.session.enter(studio._arm)
    until(lambda: len(first.torques()) == 6, what="the first robot")
    return first
