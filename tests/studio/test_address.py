"""The address of a page, in a real browser: links, reloads and further windows, and no secret in it."""

import numpy as np
import pytest

pytest.importorskip("viser")

from armdyn.studio.server import Studio
from support.studio_windows import PATIENCE, until

LINK = "robot=two_link&q=0.5,-0.25&qd=0,0.75&qdd=0,0&kg=1.5"


@pytest.fixture(scope="module", params=[True, False], ids=["token", "no token"])
def studio(browser, request):
    running = Studio("craig_two_link", port=0, token=request.param)
    yield running
    running.stop()


@pytest.fixture
def tab(browser):
    """A function that opens another tab of one browser."""
    context = browser.new_context(viewport={"width": 900, "height": 600})
    context.set_default_timeout(1000 * PATIENCE)

    def new(address):
        page = context.new_page()
        page.goto(address)
        return page

    yield new
    context.close()


def shows(studio, page, q):
    """Wait until a page shows the arm of the link at a place."""
    page.wait_for_selector(".ad-ready")

    def there():
        key = page.evaluate("document.querySelector('.armdyn-window')?.dataset.key")
        session = next((s for s in studio.sessions if s.page.key == key), None)
        now = session and session._now
        return now and now[0].source == "two_link" and np.allclose(now[1].q, q) and now[1]

    state = until(there, what=f"the arm at {q}")
    np.testing.assert_allclose(state.qd, [0, 0.75])
    assert state.payload == 1.5
    until(lambda: f"q={q[0]:g}," in page.evaluate("location.hash"), what="the address")


def test_a_link_comes_back_after_a_reload_and_in_a_second_window(studio, tab):
    secret = studio.address.partition("token=")[2] or "token="
    place = studio.address.partition("/?")[0]
    page = tab(f"{studio.address}#{LINK}" if "?" in studio.address else f"{place}/#{LINK}")
    shows(studio, page, [0.5, -0.25])
    assert page.evaluate("location.href").startswith(f"{place}/#")
    assert secret not in page.content() + page.url
    page.reload()
    shows(studio, page, [0.5, -0.25])
    second = tab(f"{place}/#{LINK}")
    shows(studio, second, [0.5, -0.25])
    # another link in the same tab changes nothing but what stands behind the #
    second.goto(f"{place}/#{LINK.replace('0.5,', '1.25,')}")
    shows(studio, second, [1.25, -0.25])
    assert page.evaluate("document.cookie") == ""
