"""Windows of the studio in a browser."""

import os
import threading
import time
from contextlib import contextmanager

CLOSE = ".mantine-Notification-closeButton"
DRAW_WHEN_ASKED = """
const frame = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = step => setTimeout(() => frame(step), 60);
window.cancelAnimationFrame = clearTimeout;
for (const name of ["drawElements", "drawArrays", "drawRangeElements", "drawElementsInstanced",
                    "drawArraysInstanced"]) {
  const draw = WebGL2RenderingContext.prototype[name];
  WebGL2RenderingContext.prototype[name] = function (...given) {
    if (window.drawn) draw.apply(this, given);
  };
}
"""
"""Without a graphics card pictures take a processor of their own, and clicks wait for them."""
THREE_FRAMES = """() => new Promise(done => {
  let left = 3;
  const step = () => left-- ? requestAnimationFrame(step) : done();
  window.drawn = true;
  step();
})"""


def until(condition, seconds=30.0, what="this"):
    """Wait until something holds, and give it back."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what} did not happen within {seconds:g} s")


class Window:
    """A page and the session behind it."""

    def __init__(self, browser, studio, shots, size=(1280, 800), hash=""):
        before = set(studio.sessions)
        self.shots, self.studio = shots, studio
        self.context = browser.new_context(
            viewport=dict(zip(("width", "height"), size, strict=True)),
            accept_downloads=True,
        )
        if not os.environ.get("ARMDYN_SCREENSHOTS"):
            self.context.add_init_script(DRAW_WHEN_ASKED)
        self.page = self.context.new_page()
        self.page.set_default_timeout(120_000)  # machines that test are busy
        # without a graphics card viser lowers the resolution of pictures, which are compared here
        self.page.goto(f"{studio.address}&fixedDpr=1{hash}")
        self.page.wait_for_selector(".ad-ready", timeout=120_000)
        (self.session,) = set(studio.sessions) - before
        self.press("Skip the tour")
        # the page warns that there is no graphics card
        self.page.locator(CLOSE).first.wait_for(timeout=10_000)
        self.dismiss()

    def fresh(self, before):
        """The session after a reload, which is another one."""
        found = [session for session in self.studio.sessions if session is not before]
        key = self.page.evaluate("document.querySelector('.armdyn-window')?.dataset.key")
        return next((session for session in found if session.page.key == key), None)

    def dismiss(self):
        """Close every notification."""
        # not with the mouse, which would wait for one that closes by itself meanwhile
        click = "all => { all.forEach(button => button.click()); return all.length }"
        until(lambda: not self.page.eval_on_selector_all(CLOSE, click), what="the end of messages")

    def tab(self, name):
        self.page.get_by_role("tab", name=name, exact=True).click()

    def press(self, name):
        self.page.get_by_role("button", name=name, exact=True).click()

    def choose(self, name):
        """Choose what the sliders move, or a scale."""
        self.page.get_by_role("radio", name=name, exact=True).check(force=True)

    def type(self, label, text):
        """Type into a field of ours."""
        field = self.page.get_by_label(label, exact=True)
        field.fill(text)
        field.press("Enter")
        return field

    def halt(self):
        """Pause, unless the motion has ended before a slow page could be pressed."""
        button = self.page.locator(".armdyn-timeline button").first
        until(button.is_enabled, what="the button")
        if button.get_attribute("aria-label") == "Pause":
            button.dispatch_event("click")  # a mouse waits until nothing moves
        until(lambda: button.get_attribute("aria-label") == "Play", what="a pause")

    def time(self):
        """The time that the timeline has reached [s]."""
        return float(self.page.locator(".armdyn-timeline").get_attribute("data-time") or 0)

    def upload(self, accept, path):
        self.page.locator(f"input[type=file][accept*='{accept}']").first.set_input_files(path)

    def torques(self):
        script = "all => all.map(g => parseFloat(g.dataset.value))"
        return self.page.eval_on_selector_all(".armdyn-torque .total", script)

    def words(self, selector):
        found = self.page.locator(selector)
        return found.first.inner_text() if found.count() else ""

    @contextmanager
    def drawn(self):
        """The arm is drawn meanwhile."""
        self.page.evaluate(THREE_FRAMES)
        yield
        self.page.evaluate("() => { window.drawn = false }")

    def picture(self, **options):
        """What the page shows, the arm included."""
        with self.drawn():
            return self.page.screenshot(**options)

    def shot(self, name):
        """Keep what the page shows; the arm is in it if ARMDYN_SCREENSHOTS is set."""
        self.page.screenshot(path=self.shots / f"{name}.png")

    def close(self):
        self.context.close()


CAMERA = {
    "wxyz": (1, 0, 0, 0), "position": (1, 1, 1), "fov": 1, "near": 0.1, "far": 9.0,
    "image_height": 9, "image_width": 9, "look_at": (0, 0, 0), "up_direction": (0, 0, 1),
}  # fmt: skip


def socket_to(studio, path, **headers):
    """A websocket as the page opens it."""
    import viser
    from websockets.sync.client import connect

    return connect(
        f"ws://127.0.0.1:{studio.port}{path}",
        subprotocols=[f"viser-v{viser.__version__}"],
        additional_headers=headers,
        max_size=None,
    )


def say(wire, kind, **fields):
    """Send what viser's page would send."""
    import msgspec

    wire.send(msgspec.msgpack.encode({"type": kind, **fields}))


@contextmanager
def bare_window(studio):
    """A window without a browser: its socket and its session."""
    before = set(studio.sessions)
    with socket_to(studio, f"/?{studio.address.partition('?')[2]}") as wire:
        threading.Thread(target=lambda: [*wire], daemon=True).start()  # read what comes
        say(wire, "ViewerCameraMessage", **CAMERA)
        until(lambda: set(studio.sessions) - before, what="a session")
        (session,) = set(studio.sessions) - before
        until(lambda: session._now, what="the robot")
        with session.drawing:  # until every panel shows it
            pass
        yield wire, session
