"""Windows of the studio in a browser."""

import threading
import time
from contextlib import contextmanager
from itertools import count

PATIENCE = 120.0
"""Time that anything on a page may take before a test fails [s]: machines that test are busy."""
MARKS = count()
CLOSE = ".mantine-Notification-closeButton"
ALL = "Infinity"
"""Every frame of the arm."""
LIT = "canvas[data-engine][style*='opacity: 1;']"
"""The canvas of the arm, which fades in when its light has come."""
FRAMES = """
const frame = window.requestAnimationFrame.bind(window);
let drawing = false, asked = false;
window.armdynFrames = FRAMES_LEFT;
window.requestAnimationFrame = step => setTimeout(() => frame(time => {
  drawing = [1, Infinity].includes(window.armdynFrames);
  asked = false;
  step(time);
  drawing = false;
  if (asked && window.armdynFrames) window.armdynFrames--;
}), 60);
window.cancelAnimationFrame = clearTimeout;
for (const name of ["clear", "drawElements", "drawArrays", "drawRangeElements",
                    "drawElementsInstanced", "drawArraysInstanced"]) {
  const draw = WebGL2RenderingContext.prototype[name];
  WebGL2RenderingContext.prototype[name] = function (...given) {
    asked = true;
    if (drawing) draw.apply(this, given);
  };
}
"""
"""Draws the last of so many frames of the arm, which is then left on the page. Without a graphics card
they take a processor of their own, and clicks wait for them."""


def until(condition, what="this"):
    """Wait until something holds, and give it back."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what} did not happen within {PATIENCE:g} s")


class Window:
    """A page and the session behind it; where `shots` is a folder, pictures are kept there."""

    def __init__(self, browser, studio, shots=None, size=(1280, 800)):
        self.shots, self.studio = shots, studio
        self.context = browser.new_context(
            viewport=dict(zip(("width", "height"), size, strict=True)),
            accept_downloads=True,
        )
        self.context.add_init_script(FRAMES.replace("FRAMES_LEFT", ALL if shots else "0"))
        self.page = self.context.new_page()
        self.page.set_default_timeout(1000 * PATIENCE)
        # without a graphics card viser lowers the resolution of pictures, which are compared here
        self.page.goto(f"{studio.address}&fixedDpr=1")
        self.page.wait_for_selector(".ad-ready")
        self.session = until(self.find, what="a session")
        self.press("Skip the tour")
        self.begin()

    def begin(self):
        """Wait until a page that was loaded has begun."""
        self.page.locator(CLOSE).first.wait_for()  # it warns that there is no graphics card
        self.dismiss()
        self.settle()

    def settle(self):
        """Wait until the page shows all that the session has shown until now."""
        session = self.session
        with session.drawing:
            last = session._pictures
        session.ask()

        def seen():
            with session.drawing:  # no picture is under way
                return session._pictures > last and session._seen.is_set()

        until(seen, "a picture")
        # viser's part of the page has a line of its own, on which this mark comes last
        mark = next(MARKS)
        handle = session.client.gui.add_html(f"<i data-mark='{mark}'></i>")
        self.page.wait_for_selector(f"[data-mark='{mark}']", state="attached")
        handle.remove()

    def find(self):
        """The session that the page belongs to; None if it has none yet."""
        key = self.page.evaluate("document.querySelector('.armdyn-window')?.dataset.key")
        return next((s for s in self.studio.sessions if s.page.key == key), None)

    def dismiss(self):
        """Close every notification."""
        # not with the mouse, which would wait for one that closes by itself meanwhile
        click = "all => { all.forEach(button => button.click()); return all.length }"
        until(lambda: not self.page.eval_on_selector_all(CLOSE, click), what="the end of messages")

    def open(self, name):
        """Show a robot of the catalog."""
        self.session.open(name)
        until(lambda: self.session.arm.source == name, name)
        self.settle()
        return self.session.arm.robot

    def move(self, state):
        """Take the arm to a state."""
        self.session.move(state)
        self.settle()

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
        if button.get_attribute("aria-label") == "Pause":
            button.dispatch_event("click")  # a mouse waits until nothing moves
        until(lambda: button.get_attribute("aria-label") == "Play", what="a pause")
        self.settle()

    def time(self):
        """The time that the timeline has reached [s]."""
        return float(self.page.locator(".armdyn-timeline").get_attribute("data-time") or 0)

    def upload(self, accept, path):
        self.page.locator(f"input[type=file][accept*='{accept}']").first.set_input_files(path)

    def torques(self):
        script = "all => all.map(g => parseFloat(g.dataset.value))"
        return self.page.eval_on_selector_all(".armdyn-torque .total", script)

    def words(self, selector):
        script = "all => all.length ? all[0].innerText : ''"
        return self.page.eval_on_selector_all(selector, script)

    def draw(self, frames):
        """Draw the last of so many frames of the arm."""
        self.page.wait_for_selector(LIT, state="attached")
        self.settle()
        if not self.shots:
            self.page.evaluate(f"() => {{ window.armdynFrames = {frames} }}")

    def picture(self, **options):
        """What the page shows, the arm included."""
        self.draw(2)  # what the first one mounts may take its place in the next one
        asked = self.session.client.scene.add_frame("/asked", show_axes=False)  # asks for frames
        left = "window.armdynFrames"
        until(lambda: self.page.evaluate(f"[0, {ALL}].includes({left})"), what="two frames")
        asked.remove()
        return self.page.screenshot(**options)

    def shot(self, name):
        """Keep what the page shows, if that is wanted."""
        if self.shots:
            self.picture(path=self.shots / f"{name}.png")

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
