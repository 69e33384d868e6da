"""How long the studio takes from a key to the bar, and on the server alone.

Run it on an idle machine: `python benchmarks/studio_latency.py [ROBOT]`. The first figure needs
nothing but Python; the second needs Chromium and Playwright, and is measured in the page: from the
key that moves a joint to the picture of the page after its bar has changed.
"""

import argparse
import dataclasses
import datetime
import platform
import shutil
import statistics
import time

import numpy as np

from armdyn.studio.arm import State, pose
from armdyn.studio.sentence import what_matters
from armdyn.studio.server import Studio

TRIALS = 40
PAUSE = 0.15
"""Time between two keys [s], longer than any of them takes."""
MEASURED = """async () => {
  const slider = document.querySelector('.ad-row input[type=range]');
  const total = document.querySelectorAll('.armdyn-torque .total')[1];
  slider.focus();
  const before = total.dataset.value, begun = performance.now();
  slider.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));
  while (total.dataset.value === before && performance.now() - begun < 2000)
    await new Promise(requestAnimationFrame);
  return performance.now() - begun;
}"""
SWITCHES = ("--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader",
            "--enable-unsafe-swiftshader")  # fmt: skip


def server_times(studio: Studio) -> list[float]:
    """Times of a snapshot and of what is told of it [ms]."""
    arm, n = studio._arm, studio._arm.robot.n
    rng, times = np.random.default_rng(0), []
    for _ in range(TRIALS):
        state = State(pose(arm.robot), *rng.uniform(-1, 1, (2, n)), payload=1.0)
        begun = time.perf_counter()
        snapshot = arm.evaluator(state)
        what_matters(arm, snapshot)
        times.append(1e3 * (time.perf_counter() - begun))
    return times


def page_times(studio: Studio) -> list[float]:
    """Times from a key to the bar in Chromium [ms]; none where there is no browser."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        return []
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (not needed for the rest)

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=[*SWITCHES])
        # a small page: without a graphics card the picture of the arm would be measured
        page = browser.new_page(viewport={"width": 800, "height": 500}, device_scale_factor=0.25)
        page.goto(studio.address)
        page.wait_for_selector(".ad-ready", timeout=120_000)
        (session,) = studio.sessions
        # joint 2 moves what joint 2 holds; the first slider is made to be that of joint 2
        page.evaluate("document.querySelectorAll('.ad-row')[0].remove()")
        times = []
        for _ in range(TRIALS):
            moved = np.array(session.state.q)
            moved[1] = pose(session.arm.robot)[1]
            session.move(dataclasses.replace(session.state, q=moved))
            time.sleep(PAUSE)
            times.append(float(page.evaluate(MEASURED.replace("[1]", "[0]"))))
        browser.close()
    return times


def told(name: str, times: list[float]) -> str:
    """A line with the median and the longest time."""
    if not times:
        return f"{name:24s} not measured: there is no browser"
    return f"{name:24s} median {statistics.median(times):6.2f} ms, longest {max(times):6.2f} ms"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robot", nargs="?", default="puma560")
    studio = Studio(parser.parse_args().robot, port=0)
    try:
        print(f"{datetime.date.today()}, {platform.machine()}, {studio._arm.title}")
        print(told("server, one state", server_times(studio)))
        print(told("from key to bar", page_times(studio)))
    finally:
        studio.stop()


if __name__ == "__main__":
    main()
