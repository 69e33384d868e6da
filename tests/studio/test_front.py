"""What our own front end shows and does, in a real browser."""

import dataclasses
import importlib.metadata
import json
import re
import threading
import zipfile

import numpy as np
import pytest

import armdyn
from armdyn.studio.arm import Arm, Evaluator, State, arm_of
from armdyn.studio.background import Jobs
from armdyn.studio.panels.exports import c_code, csv, png, toml, warning
from armdyn.studio.scene import lowest
from armdyn.studio.shapes import stage
from armdyn.studio.uploads import open_robot
from support.paths import EXAMPLES
from support.studio_windows import PATIENCE, until

PUMA = armdyn.load("puma560")
PIECES = """all => all.filter(b => !b.hidden).map(b => [
    +b.closest('.ad-row').dataset.joint, b.dataset.term, +b.dataset.value,
    b.offsetWidth / b.parentElement.offsetWidth, b.offsetLeft, b.offsetLeft + b.offsetWidth])"""
BROKEN = """<robot name="broken"><link name="base"/><link name="arm"><inertial><mass value="2"/>
<origin xyz="0.2 0 0"/><inertia ixx="1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="50" velocity="2"/></joint></robot>"""
ROWS = """all => all.map(r => ({over: r.classList.contains('ad-over'),
    share: r.querySelector('.ad-share').innerText, end: +r.querySelector('.ad-track').dataset.end}))"""


def rows(window):
    return window.page.eval_on_selector_all(".ad-row", ROWS)


def pieces(window):
    return window.page.eval_on_selector_all(".ad-track b", PIECES)


def test_bars_are_the_terms_on_one_scale_which_shrinks_again(window):
    rng = np.random.default_rng(1)
    state = State(window.session.state.q, *rng.uniform(-2, 2, (2, 6)), payload=2.5)
    wanted = PUMA.with_payload(2.5).ledger(state.q, state.qd, state.qdd)
    window.move(state)
    np.testing.assert_allclose(window.torques(), wanted.total, atol=1e-9)
    limits = np.array([joint.limits.effort for joint in PUMA.model.joints])
    assert np.allclose([row["end"] for row in rows(window)], limits)  # each bar: 100 % of its motor
    drawn = pieces(window)
    for joint, term, value, share, *_ in drawn:
        assert value == pytest.approx(wanted.terms[term][joint], abs=1e-9)
        assert share == pytest.approx(max(abs(value) / limits[joint] / 2, 0), abs=0.02)
    # no term vanishes: each that acts has a piece that can be seen, and stands in the legend
    acting = {(i, name) for name, v in wanted.terms.items() for i in range(6) if v[i]}
    assert {(joint, term) for joint, term, *_ in drawn} == acting
    assert all(right - left >= 2 for *_, left, right in drawn)
    legend = window.page.eval_on_selector_all("[data-legend]", "a => a.map(e => e.dataset.legend)")
    assert {*legend} == {name for _, name in acting}
    # the other scale is one torque for all joints
    window.choose("N·m")
    assert len({row["end"] for row in rows(window)}) == 1
    large = rows(window)[0]["end"]
    window.move(State.rest(np.array([0, np.pi / 2, 0, 0, 0, 0])))
    assert rows(window)[0]["end"] < 0.5 * large
    window.choose("% of motor")


def test_over_the_limit_is_red_with_a_percentage_and_nothing_is_cut_off(window):
    window.move(dataclasses.replace(window.session.state, payload=80.0))
    said = window.words(".armdyn-sentence")
    assert re.match(r"Joint \d needs \d{3,4} % of its motor here: that is more than it has", said)
    over = [row for row in rows(window) if row["over"]]
    assert over
    assert all(int(row["share"].split()[0]) > 100 for row in over)
    colour = window.page.locator(".ad-over .ad-share").first.evaluate(
        "e => getComputedStyle(e).backgroundColor"
    )
    red, green, blue = map(int, re.findall(r"\d+", colour)[:3])
    assert red > 2 * max(green, blue)
    ends = window.page.eval_on_selector_all(".ad-track", "a => a.map(t => t.offsetWidth)")
    for joint, *_, left, right in pieces(window):
        assert -1 <= left <= right <= ends[joint] + 2
    window.shot("over")


def test_fields_take_what_people_type(window):
    label = "Position of joint1 [rad], number"
    note = window.page.locator(".ad-row").first.locator(".ad-note")
    for text, value, words in [
        ("1e-2", 0.01, ""),
        ("30°", np.pi / 6, ""),
        ("-0,5", -0.5, ""),
        ("99", PUMA.limits[0, 1], "the limit is"),
        ("abc", PUMA.limits[0, 1], "is no number"),
        ("", PUMA.limits[0, 1], "left as it was"),
    ]:
        window.type(label, text)
        until(lambda v=value: abs(window.session.state.q[0] - v) < 1e-9, what=f"{text!r}")
        until(lambda w=words: w in note.inner_text(), what=words)
    # arrow keys take steps that make sense
    window.type(label, "0.2")
    until(lambda: window.session.state.q[0] == 0.2, what="a place to begin")
    window.settle()
    slider = window.page.get_by_role("slider", name="Position of joint1", exact=True)
    slider.press("ArrowRight")
    until(lambda: abs(window.session.state.q[0] - 0.21) < 1e-9, what="a step")
    slider.press("End")
    until(lambda: window.session.state.q[0] == PUMA.limits[0, 1], what="the end")


def compute(window, name):
    window.tab("Play")
    choice = window.page.get_by_role("combobox", name="motion", exact=True)
    choice.click()
    window.page.get_by_role("option", name=name, exact=True).click()
    window.press("Compute and play")


def test_a_simulation_stops_at_the_limits_and_bars_plots_and_sliders_agree(window):
    compute(window, "Simulate: let go")
    until(lambda: "let go" in window.words(".armdyn-timeline h2"), what="the simulation")
    assert "joint limits are stops" in window.words(".ad-motion-note")
    until(lambda: window.time() > 0.3, what="the motion")
    window.halt()
    np.testing.assert_allclose(window.torques(), 0, atol=1e-9)  # nothing drives it
    # sliders show what the arm shows
    script = "all => all.map(e => parseFloat(e.value.replace('\u2212', '-')))"
    until(
        lambda: np.allclose(
            window.page.eval_on_selector_all(".ad-row input[type=text]", script),
            window.session.state.q, atol=1e-4,
        ),
        what="the sliders",
    )  # fmt: skip
    (timeline,) = (p for p in window.session.panels if hasattr(p, "recording"))
    before = timeline.recording
    low, high = PUMA.limits.T
    assert (before.q >= low - 1e-6).all()
    assert (before.q <= high + 1e-6).all()
    # what is held is in the plot: another payload, another motion
    window.type("Payload at the tool [kg], number", "4")
    until(lambda: timeline.recording is not before, what="the motion with the payload")
    window.settle()
    assert timeline.recording.terms["gravity"][0, 1] != before.terms["gravity"][0, 1]
    # a click goes to a time, the pointer reads values, keys and the wheel zoom
    plot = window.page.locator(".ad-plot")
    box = plot.bounding_box()
    window.press("joint2")
    until(lambda: window.page.locator(".armdyn-timeline").get_attribute("data-joint") == "1")
    plot.click(position={"x": box["width"] / 2, "y": 60})
    wanted = timeline.recording.duration * (box["width"] / 2 - 56) / (box["width"] - 68)
    until(lambda: abs(window.time() - wanted) < 0.02, what="the time of the click")
    until(lambda: "gravity" in window.words(".armdyn-values"), what="values")
    values = window.words(".armdyn-values")
    read = float(re.search(r"gravity\s+([\u2212\d.]+)", values)[1].replace("\u2212", "-"))
    t, gravity = timeline.recording.t, timeline.recording.terms["gravity"][:, 1]
    assert read == pytest.approx(np.interp(window.time(), t, gravity), rel=0.02)
    window.settle()
    shown = {term: value for joint, term, value, *_ in pieces(window) if joint == 1}
    assert shown["gravity"] == pytest.approx(np.interp(window.time(), t, gravity), abs=1e-3)
    plot.press("Home")
    until(lambda: window.time() == 0, what="the start")
    plot.press("+")
    until(lambda: window.session.page._shown["curve"]["to"] < 0.6 * timeline.recording.duration)
    window.shot("timeline")
    window.press("Close the timeline")


def test_dragging_the_timeline_takes_the_arm_along_and_peaks_are_marked(window):
    window.tab("Play")
    window.upload(".csv", EXAMPLES / "puma560_pick.csv")
    until(lambda: window.time() > 0.1, what="the motion")
    (timeline,) = (p for p in window.session.panels if hasattr(p, "recording"))
    motion, mouse = timeline.recording, window.page.mouse
    plot = window.page.locator(".ad-plot")
    box = plot.bounding_box()

    def place(time):
        return box["x"] + 56 + (box["width"] - 68) * time / motion.duration, box["y"] + 60

    mouse.move(*place(0.2 * motion.duration))
    mouse.down()
    for share in (0.3, 0.25, 0.4):  # also backwards
        mouse.move(*place(share * motion.duration), steps=4)
        until(lambda s=share: abs(window.time() - s * motion.duration) < 0.02, what="the time")
        assert not timeline._playing.is_set()
        until(lambda: np.allclose(window.session.state.q, motion.at(window.time(), 0).q, atol=1e-3))
    mouse.up()
    until(lambda: window.time() > 0.42 * motion.duration, what="the rest of the motion")
    window.halt()
    # what is drawn is also told: the greatest and the least torque of the joint, and when
    window.press("joint2")
    until(lambda: window.page.locator(".armdyn-timeline").get_attribute("data-joint") == "1")
    told, tau, limit = plot.get_attribute("aria-description"), motion.tau[:, 1], motion.limits[1]
    peaks = [k for k, side in ((tau.argmax(), 1), (tau.argmin(), -1)) if side * tau[k] > 0]
    assert len(told.split("; ")) == len(peaks)
    for text, peak in zip(told.split("; "), peaks, strict=True):
        value, percent, time = re.fullmatch(
            r"([\d.\u2212]+) N·m \((\d+) %\) at ([\d.]+) s", text
        ).groups()
        assert float(value.replace("\u2212", "-")) == pytest.approx(tau[peak], rel=1e-3)
        assert int(percent) == pytest.approx(100 * abs(tau[peak]) / limit, abs=0.51)
        assert float(time) == pytest.approx(motion.t[peak] - motion.t[0], abs=1e-3)
    window.shot("peaks")
    # with Shift the part that is seen moves, and the arm stays
    window.press("Zoom in")
    shown = window.session.page._shown
    until(lambda: shown["curve"]["to"] - shown["curve"]["from"] < 0.6 * motion.duration)
    at, start = window.time(), shown["curve"]["from"]
    window.page.keyboard.down("Shift")
    mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 60)
    mouse.down()
    mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 60, steps=4)
    mouse.up()
    window.page.keyboard.up("Shift")
    until(lambda: shown["curve"]["from"] > start, what="a later part")
    assert window.time() == at
    window.press("Close the timeline")


def test_a_log_is_plotted_as_measured_over_the_model(window, tmp_path):
    t = np.arange(0, 4, 0.01)
    q = 0.4 * np.sin(np.outer(t, 1 + 0.2 * np.arange(6))) + [0, -0.5, 0.3, 0, 0.2, 0]
    w = 1 + 0.2 * np.arange(6)
    qd, qdd = 0.4 * w * np.cos(np.outer(t, w)), -0.4 * w**2 * np.sin(np.outer(t, w))
    tau = PUMA.inverse_dynamics(q, qd, qdd) + np.array([0, 5.0, 0, 0, 0, 0])
    head = ",".join(["t", *(f"q{i}" for i in range(1, 7)), *(f"tau{i}" for i in range(1, 7))])
    path = tmp_path / "log.csv"
    np.savetxt(path, np.column_stack([t, q, tau]), delimiter=",", header=head, comments="")
    window.tab("Play")
    window.upload(".log", path)
    until(lambda: "measured against the model" in window.words(".ad-motion-note"), what="the log")
    window.press("joint2")
    curve = until(
        lambda: (c := window.session.page._shown["curve"]) and c["joint"] == 1 and c, what="joint2"
    )
    apart = np.array(curve["measured"]) - np.array(curve["total"])
    assert np.median(apart) == pytest.approx(5.0, abs=0.3)
    window.press("Close the timeline")


def test_an_invalid_robot_wears_a_banner_in_every_tab_and_in_its_exports(window, tmp_path):
    window.tab("Robot")
    path = tmp_path / "broken.urdf"
    path.write_text(BROKEN)
    window.upload(".urdf", path)
    banner = window.page.locator(".armdyn-fault")
    banner.wait_for()
    window.settle()
    assert "cannot exist" in banner.inner_text()
    for tab in ("Move", "Play", "Study", "Design", "Robot"):
        window.tab(tab)
        assert banner.is_visible()
    window.shot("invalid")
    arm = window.session.arm
    # the choice of the catalog is not stale: it names the file
    assert window.page.get_by_role("combobox", name="robot", exact=True).input_value() == arm.source
    words = warning(arm)
    assert "cannot exist" in words
    name, text = toml(arm.robot, words)
    assert "INVALID" in name
    assert text.decode().startswith("# WARNING")
    assert "INVALID" in csv(arm, window.session.state, None)[0]
    _, image = png(arm.robot, np.full((40, 40, 4), 255, np.uint8), (255, 255, 255), words)
    assert b"cannot exist" in image
    with window.page.expect_download() as download:
        window.press("C code (zip)")
    assert "INVALID" in download.value.suggested_filename
    with zipfile.ZipFile(download.value.path()) as archive:
        assert "WARNING.txt" in archive.namelist()
        for file in archive.namelist():
            assert b"cannot exist" in archive.read(file)
    assert c_code(PUMA, tmp_path)[0] == "puma560_c.zip"


def test_jobs_are_cancelled_and_belong_to_their_robot(window):
    """A job that never tells a step ends too: by Cancel, with its robot, and with its window."""
    inside, ended = threading.Event(), []

    def endless(robot, tell):
        inside.set()
        try:
            while True:
                sum(range(1000))
        finally:
            ended.append(robot.name)

    def begin():
        inside.clear()
        window.session.study("an endless search", endless, lambda _: ended.append("done"))
        assert inside.wait(PATIENCE)

    begin()
    window.page.get_by_role("button", name="Cancel: an endless search").click()
    until(lambda: ended == ["puma560"], what="its end")
    until(lambda: not window.words(".armdyn-status li"), what="nothing running")
    begin()
    begin()  # the new one takes its place
    until(lambda: len(ended) == 2, what="the end of the first")
    window.open("two_link")
    until(lambda: len(ended) == 3, what="the end with its robot")
    assert "done" not in ended


def test_jobs_end_with_their_window():
    inside, ended = threading.Event(), threading.Event()

    def endless(tell):
        try:
            while True:
                inside.set()
        finally:
            ended.set()

    jobs = Jobs(lambda _: None, print)
    jobs.start("endless", endless, print)
    assert inside.wait(PATIENCE)
    jobs.close()
    assert ended.wait(PATIENCE)
    jobs.start("late", endless, print)
    assert not jobs.running


def test_a_reload_keeps_the_state(window):
    window.open("two_link")
    window.tab("Study")
    window.type("Position of joint1 [rad], number", "0.7")
    window.type("Payload at the tool [kg], number", "1.25")
    for part in ("&q=0.7,", "&kg=1.25&", "&tab=Study"):
        until(lambda part=part: part in window.page.evaluate("location.hash"), what=part)
    window.page.reload()
    window.session = session = until(lambda: came_back(window), what="the robot")
    window.begin()
    assert session.state.payload == 1.25
    assert session.state.q[0] == pytest.approx(0.7)
    assert len(window.torques()) == 2
    tab = window.page.get_by_role("tab", name="Study")
    until(lambda: tab.get_attribute("aria-selected") == "true", what="the tab")


def came_back(window):
    session = window.find()
    return session if session and session._now and session.arm.source == "two_link" else None


UNNAMED = """() => [...document.querySelectorAll(
    'input, button, select, textarea, [role=slider], [role=tab], [role=combobox], canvas[tabindex]')]
  .filter(e => e.checkVisibility({opacityProperty: false}) && e.type !== 'file' && !e.disabled)
  .filter(e => !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') ||
    e.labels?.length || e.textContent.trim() || e.title))
  .map(e => e.outerHTML.slice(0, 200))"""
STILL = """() => Promise.all(document.getAnimations()
  .filter(it => Number.isFinite(it.effect.getComputedTiming().endTime))
  .map(it => it.finished.catch(() => {})))"""
TEXTS = """() => {
  const parse = c => { const m = c.match(/[\\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m };
  const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const light = c => { const f = c.slice(0, 3).map(v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4 });
    return .2126 * f[0] + .7152 * f[1] + .0722 * f[2] };
  const dark = document.documentElement.dataset.dark === 'true';
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode.textContent.trim(), e = walk.currentNode.parentElement;
    if (!text || !e || ['SCRIPT', 'STYLE', 'NOSCRIPT', 'TITLE'].includes(e.tagName) || !e.checkVisibility()) continue;
    if (e.closest('title, option, [disabled], :disabled')) continue;
    const box = e.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    let ground = [0, 0, 0, 0], alpha = 1;
    const chain = [];
    for (let p = e; p; p = p.parentElement) chain.push(p);
    ground = dark ? [26, 27, 30, 1] : [255, 255, 255, 1];
    for (const p of chain.reverse()) {
      const style = getComputedStyle(p), own = parse(style.backgroundColor);
      if (own[3]) ground = over(own, ground);
      alpha *= Number(style.opacity);
    }
    const style = getComputedStyle(e), svg = e.closest('svg');
    const ink = parse(svg ? style.fill : style.color);
    ink[3] *= alpha;
    const [a, b] = [light(over(ink, ground)), light(ground)].sort((x, y) => y - x);
    let size = parseFloat(style.fontSize);
    if (svg && svg.viewBox.baseVal.width) size *= svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    found.push({text: text.slice(0, 40), size, contrast: (a + .05) / (b + .05), of: e.tagName + '.' + e.className});
  }
  return found;
}"""


@pytest.mark.parametrize("dark", [False, True])
def test_every_control_has_a_name_and_every_text_can_be_read(window, dark):
    window.session.restyle(dark)
    window.settle()
    assert window.page.evaluate("document.documentElement.dataset.dark") == str(dark).lower()
    for tab in ("Move", "Play", "Study", "Design", "Robot"):
        window.tab(tab)
        until(lambda: not window.page.evaluate(UNNAMED), f"names in {tab}")  # given a moment later
        window.page.evaluate(STILL)
        texts = window.page.evaluate(TEXTS)
        assert len(texts) > 30
        assert not [t for t in texts if t["size"] < 10.95], tab
        assert not [t for t in texts if t["contrast"] < 4.5], tab
    window.session.restyle(False)


def test_keys_alone_reach_every_control_of_ours(window):
    window.tab("Move")
    wanted = window.page.eval_on_selector_all(
        ".ad-column input:not([type=radio]):not([hidden]), .ad-column button, .ad-top button",
        "all => all.filter(e => e.checkVisibility()).length",
    )
    seen = set()
    window.page.evaluate("document.body.focus()")
    for _ in range(wanted + 60):
        window.page.keyboard.press("Tab")
        seen.add(window.page.evaluate(
            "(() => { const e = document.activeElement; e.dataset.seen ??= Math.random();"
            "return e.closest('.ad-column, .ad-top') ? e.dataset.seen : '' })()"
        ))  # fmt: skip
    assert len(seen - {""}) >= wanted


def test_help_and_the_tour(window):
    window.press("Tour")
    card = window.page.get_by_role("dialog", name="Tour")
    for step in range(4):
        assert f"{step + 1} of 4" in card.inner_text()
        card.get_by_role("button", name=re.compile("Next|Done")).click()
    assert not card.count()
    window.tab("Design")
    window.press("Help")
    assert "smallest change" in window.words(".ad-dialog .ad-chosen")
    helped = window.page.eval_on_selector_all("[data-help]", "a => a.map(e => e.dataset.help)")
    tabs = window.page.get_by_role("tab").all_inner_texts()
    assert sorted(helped) == sorted(["joints", "matrix", "timeline", *tabs])
    window.press("Close")
    # what only developers need is not there
    assert not window.page.locator("#root").get_by_text("Configuration", exact=False).count()


def test_a_phone_shows_the_torques_first(another, studio):
    phone = another(studio, (390, 844))
    box = phone.page.locator(".armdyn-torque").bounding_box()
    assert box["y"] < 0.4 * 844
    assert box["width"] <= 390
    wide = phone.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 391
    phone.shot("phone")
    # then the arm, and the tabs, each with the whole page
    phone.press("Arm")
    assert not phone.page.locator(".armdyn-torque").is_visible()
    canvas = phone.page.locator("#root canvas[data-engine]")
    until(lambda: canvas.bounding_box()["width"] == 390, what="the canvas in its new size")
    assert canvas.bounding_box()["height"] > 0.7 * 844
    phone.shot("phone_arm")
    phone.press("Tools")
    phone.tab("Design")
    button = phone.page.get_by_role("button", name="Find a design", exact=True)
    until(lambda: button.bounding_box()["width"] > 0.8 * 390, what="a button as wide as the page")
    phone.shot("phone_tools")
    phone.press("Torques")
    assert phone.page.locator(".armdyn-torque").is_visible()


def test_a_robot_of_many_joints_has_groups_a_search_and_a_matrix_to_read(window):
    listed = importlib.metadata.files("example-robot-data")
    path = next(f.locate() for f in listed if f.name == "talos_reduced.urdf")
    loaded = open_robot(str(path))
    arm = arm_of(loaded, "talos", None, False, lambda _: None)
    robot = arm.robot
    window.session.enter(arm)
    # it stands on its feet: nothing of it is below the ground, and something is near it
    ground = min(stage(robot.model).ground, lowest(arm))
    heights = stage(robot.model).on_page(arm.evaluator(window.session.state).links[:, :3, 3])[:, 2]
    assert heights.min() == pytest.approx(ground, abs=1e-9)
    assert ground < -0.5
    window.settle()
    assert len(window.torques()) == robot.n
    groups = window.page.eval_on_selector_all(
        ".ad-group summary span:first-child", "a => a.map(e => e.innerText.toLowerCase())"
    )
    assert {"arm left", "arm right", "leg left", "leg right"} <= {*groups}
    window.page.get_by_role("searchbox", name="Find a joint").fill("leg_left")
    assert window.page.locator(".ad-row:not([hidden])").count() == 6
    window.page.get_by_role("searchbox", name="Find a joint").fill("")
    # an update is small
    sent = window.session.page.sent
    window.move(dataclasses.replace(window.session.state, q=window.session.state.q + 0.01))
    assert 0 < window.session.page.sent - sent < 25_000
    window.press("As a table")
    table = window.page.locator(".ad-dialog table")
    assert table.locator("tr").count() == robot.n + 1
    window.shot("talos_matrix")
    window.press("Close")
    window.shot("talos")


def test_a_studio_that_has_stopped_says_so(another):
    from armdyn.studio.server import Studio

    brief = Studio("two_link", port=0)
    other = another(brief, (700, 500))
    brief.stop()
    gone = other.page.locator(".armdyn-gone")
    gone.wait_for()
    assert "The studio has stopped" in gone.inner_text()
    assert "armdyn studio" in gone.inner_text()


def test_hostile_names_do_not_become_markup(window):
    hostile = "<img src=x onerror='window.hacked=1'>"
    robot = armdyn.load("two_link")
    joints = tuple(
        dataclasses.replace(joint, name=f"{hostile}{i}")
        for i, joint in enumerate(robot.model.joints)
    )
    model = dataclasses.replace(robot.model, joints=joints, title=hostile)
    bad = armdyn.robot.Robot(model)
    window.session.enter(Arm(bad, Evaluator(bad), source=hostile))
    window.settle()
    assert hostile in window.words(".armdyn-head")
    assert not window.page.locator(".ad-column img, .ad-top img").count()
    assert not window.page.evaluate("window.hacked")
    # nor would markup run: the policy of the page lets no text become code
    run = """text => new Promise(done => {
        addEventListener("securitypolicyviolation", event => done(event.effectiveDirective));
        document.body.append(document.createRange().createContextualFragment(text)) })"""
    assert window.page.evaluate(run, hostile) == "script-src-attr"
    assert not window.page.evaluate("window.hacked")
    assert json.loads(json.dumps(window.session.page._shown))["robot"]["title"] == hostile
