"""A studio and a browser for the tests of its pages.

Both end with the module that uses them: their threads draw random numbers, which Hypothesis does not
allow beside its own. For the same reason `make test` runs this folder by itself.
"""

import os
import shutil
from pathlib import Path

import pytest

from support.studio_windows import Window

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",  # every machine draws alike, and the page itself costs least
    "--enable-unsafe-swiftshader",
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


@pytest.fixture(scope="session")
def shots():
    """The folder in which pictures of the page are kept, if ARMDYN_SCREENSHOTS names one."""
    wanted = os.environ.get("ARMDYN_SCREENSHOTS")
    if wanted is None:
        return None
    folder = Path(wanted)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def first(browser, studio, shots):
    window = Window(browser, studio, shots)
    yield window
    window.close()


@pytest.fixture
def another(browser, shots):
    """A function that opens another window, of a size and on a studio."""
    made = []

    def make(studio, size):
        made.append(Window(browser, studio, shots, size))
        return made[-1]

    yield make
    for window in made:
        window.close()


@pytest.fixture
def window(first, studio):
    """The first window with the robot it began with."""
    first.session.enter(studio._arm)
    first.settle()
    return first
