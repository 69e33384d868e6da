"""How long the studio takes from a key to the bar, and on the server alone.

Run it on an idle machine: `python benchmarks/studio_latency.py [ROBOT]`. The first figure needs
nothing but Python; the others need Chromium and Playwright, and are measured in the page: from the
key that moves a joint until its bar has changed, and until the picture of the page after that. The
arm itself is not painted, unless `--painted` is given: that is the work of a graphics card, and
without one it takes the processor that is measured.
"""

import argparse
import dataclasses
import datetime
import os
import platform
import shutil
import statistics
import time
from collections.abc import Sequence

import numpy as np

from armdyn.studio.arm import State, pose
from armdyn.studio.panels.joints import what_matters
from armdyn.studio.server import Studio

TRIALS = 40
PAUSE = 0.15
"""Time between two keys [s], longer than any of them takes."""
MEASURED = """async () => {
  const slider = document.querySelector('.ad-row[data-joint="1"] input[type=range]');
  const total = document.querySelector('.ad-row[data-joint="1"] .total');
  slider.focus();
  const before = total.dataset.value, begun = performance.now();
  const changed = new Promise(done => new MutationObserver((_, seen) => {
    if (total.dataset.value === before) return;
    seen.disconnect();
    done(performance.now() - begun);
  }).observe(total, {attributes: true}));
  slider.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));
  const bar = await Promise.race([changed, new Promise(done => setTimeout(done, 2000, Infinity))]);
  await new Promise(requestAnimationFrame);
  return [bar, performance.now() - begun];
}"""
UNPAINTED = """for (const name of ["drawElements", "drawArrays", "drawRangeElements",
    "drawElementsInstanced", "drawArraysInstanced"])
  WebGL2RenderingContext.prototype[name] = () => {};"""
"""The arm is computed and placed, and its triangles are not painted."""
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


def page_times(studio: Studio, painted: bool) -> np.ndarray:
    """Times in Chromium from a key to the bar and to the next picture, (trials, 2) [ms]."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        return np.zeros((0, 2))
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (not needed for the rest)

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=[*SWITCHES])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        if not painted:
            page.add_init_script(UNPAINTED)
        page.goto(studio.address)
        page.wait_for_selector(".ad-ready", timeout=120_000)
        (session,) = studio.sessions
        times = []
        for _ in range(TRIALS):
            moved = np.array(session.state.q)
            moved[1] = pose(session.arm.robot)[1]
            session.move(dataclasses.replace(session.state, q=moved))
            time.sleep(PAUSE)
            times.append(page.evaluate(MEASURED))
        browser.close()
    return np.array(times, dtype=float)


def told(name: str, times: Sequence[float]) -> str:
    """A line with the median and the longest time."""
    if len(times) == 0:
        return f"{name:24s} not measured: there is no browser"
    return f"{name:24s} median {statistics.median(times):6.2f} ms, longest {max(times):6.2f} ms"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robot", nargs="?", default="puma560")
    parser.add_argument("--painted", action="store_true", help="paint the arm, too")
    given = parser.parse_args()
    studio = Studio(given.robot, port=0)
    try:
        print(f"{datetime.date.today()}, {platform.machine()}, {studio._arm.title}")
        print(told("server, one state", server_times(studio)))
        bars, pictures = page_times(studio, given.painted).T
        print(told("from key to bar", bars))
        print(told("to the next picture", pictures))
        print(f"load of {os.cpu_count()} processors: {os.getloadavg()[0]:.1f}")
    finally:
        studio.stop()


if __name__ == "__main__":
    main()
