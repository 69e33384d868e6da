"""Windows of the studio in a browser."""

import time

CLOSE = ".mantine-Notification-closeButton"


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

    def __init__(self, browser, studio, shots, size=(1280, 800)):
        before = set(studio.sessions)
        self.shots = shots
        self.context = browser.new_context(
            viewport=dict(zip(("width", "height"), size, strict=True)), accept_downloads=True
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(120_000)  # machines that test are busy
        self.page.goto(studio.address)
        self.page.wait_for_selector(".armdyn-torque", timeout=120_000)
        (self.session,) = set(studio.sessions) - before
        # the page warns that there is no graphics card
        self.page.locator(CLOSE).first.wait_for(timeout=10_000)
        self.dismiss()

    def dismiss(self):
        """Close every notification."""
        while self.page.locator(CLOSE).count():
            self.page.locator(CLOSE).first.click()
            self.page.wait_for_timeout(300)

    def tab(self, name):
        self.page.get_by_role("tab", name=name, exact=True).click()

    def press(self, name):
        self.page.get_by_role("button", name=name, exact=True).click()

    def upload(self, accept, path):
        self.page.locator(f"input[type=file][accept*='{accept}']").set_input_files(path)

    def torques(self):
        script = "all => all.map(g => parseFloat(g.dataset.value))"
        return self.page.eval_on_selector_all(".armdyn-torque .total", script)

    def words(self, selector):
        found = self.page.locator(selector)
        return found.first.inner_text() if found.count() else ""

    def shot(self, name):
        self.page.screenshot(path=self.shots / f"{name}.png")

    def close(self):
        self.context.close()
