"""The studio in a real browser."""

import re
import shutil
import subprocess
import threading
import zipfile
from io import BytesIO

import numpy as np
import pytest
from matplotlib.image import imread

import armdyn
from armdyn.studio.arm import State
from armdyn.studio.panels import exports, study
from armdyn.studio.style import DARK, LIGHT
from support.paths import EXAMPLES, ROBOTS
from support.studio_windows import ALL, PATIENCE, until

PUMA = armdyn.load("puma560")


def picture(window):
    """What is seen of the arm, without the columns beside it."""
    return window.picture(clip={"x": 350, "y": 60, "width": 560, "height": 680})


def alike(one, other):
    """Whether two pictures show the same, but for a few points at edges."""
    a, b = (imread(BytesIO(image)).astype(float) for image in (one, other))
    return (np.abs(a - b).max(-1) > 0.1).mean() < 0.005


def drag(window, name, share):
    """Take the thumb of a slider to a part of its way."""
    slider = window.page.get_by_role("slider", name=name, exact=True)
    place = slider.bounding_box()
    low, high, at = (float(slider.evaluate(f"e => e.{key}")) for key in ("min", "max", "value"))
    mouse, middle = window.page.mouse, place["y"] + place["height"] / 2
    thumb = 18

    def x(part):
        return place["x"] + thumb / 2 + part * (place["width"] - thumb)

    mouse.move(x((at - low) / (high - low)), middle)
    mouse.down()
    mouse.move(x(share), middle, steps=5)
    mouse.up()


def test_the_page_shows_the_robot_with_its_torques_and_its_mass_matrix(window):
    assert "Puma 560" in window.words(".armdyn-head")
    q = window.session.state.q
    np.testing.assert_allclose(window.torques(), PUMA.inverse_dynamics(q, 0 * q, 0 * q), atol=1e-9)
    script = "all => all.map(cell => parseFloat(cell.dataset.value))"
    cells = window.page.eval_on_selector_all(".armdyn-matrix .ad-cell", script)
    np.testing.assert_allclose(np.reshape(cells, (6, 6)), PUMA.mass_matrix(q), atol=1e-9)
    assert window.page.title() == "armdyn studio"
    window.shot("move_light")


def test_a_slider_moves_the_arm_and_changes_the_torque_to_that_of_the_library(window):
    before, seen = window.session.state.q, picture(window)
    drag(window, "Position of joint2", 0.4)

    def agrees():
        q = window.session.state.q  # which may still follow the mouse
        wanted = PUMA.inverse_dynamics(q, 0 * q, 0 * q)
        return q[1] != before[1] and np.allclose(window.torques(), wanted, atol=1e-9)

    until(agrees, what="the torque")
    assert np.array_equal(np.delete(window.session.state.q, 1), np.delete(before, 1))
    assert not alike(picture(window), seen)


def test_velocity_and_payload_are_in_the_torque(window):
    window.choose("Velocity")
    window.type("Velocity of joint2 [rad/s], number", "1.5")
    window.type("Payload at the tool [kg], number", "3")
    q, qd = window.session.state.q, np.eye(6)[1] * 1.5
    wanted = PUMA.with_payload(3.0).inverse_dynamics(q, qd, 0 * q)
    until(lambda: np.allclose(window.torques(), wanted, atol=1e-9), what="the torque")
    window.choose("Position")


def test_everything_that_can_be_seen_is_drawn_dark_and_light(window):
    window.tab("Move")
    seen, scene = picture(window), window.session.scene
    view = dict(scene.view)
    names = ("mass centres", "inertia", "gravity", "reactions")
    for name in names:
        window.page.get_by_role("checkbox", name=name, exact=True).check()
    until(lambda: set(scene._arrows) == {"gravity", "reactions"}, what="arrows")
    assert not alike(picture(window), seen)
    window.shot("view_light")
    window.page.get_by_role("checkbox", name="dark page", exact=True).check()
    until(lambda: scene._style is DARK, what="darkness")
    assert imread(BytesIO(picture(window)))[..., :3].mean() < 0.4
    window.shot("view_dark")
    for name in (*names, "dark page"):
        window.page.get_by_role("checkbox", name=name, exact=True).uncheck()
    until(lambda: scene.view == view and scene._style is LIGHT, what="what was there before")


def test_a_trajectory_plays_and_its_plots_follow(window):
    window.tab("Play")
    window.upload(".csv", EXAMPLES / "puma560_pick.csv")
    until(lambda: window.time() > 0.5, what="the cursor")
    window.halt()
    table = np.loadtxt(EXAMPLES / "puma560_pick.csv", delimiter=",", skiprows=1)
    wanted = [np.interp(window.time(), table[:, 0], column) for column in table[:, 1:].T]
    np.testing.assert_allclose(window.session.state.q, wanted, atol=2e-3)
    window.shot("play")
    window.press("Close the timeline")


def test_a_urdf_is_uploaded_with_its_check(window, studio):
    window.tab("Robot")
    window.dismiss()
    puma = picture(window)
    path = ROBOTS / "arm.urdf"
    window.upload(".urdf", path)
    arm = armdyn.load(path)
    until(lambda: window.session.arm.source == "arm.urdf", what="the robot")
    window.settle()
    q = window.session.state.q
    np.testing.assert_allclose(window.torques(), arm.inverse_dynamics(q, 0 * q, 0 * q), atol=1e-9)
    words = " ".join(window.words(".armdyn-check").split())
    for finding in armdyn.check(path).findings:
        assert finding.message in words
    window.shot("robot")
    window.dismiss()
    assert not alike(picture(window), puma)
    window.session.enter(studio._arm)
    assert alike(picture(window), puma)  # the first robot, whole
    window.upload(".urdf", path)
    until(lambda: window.session.arm.source == "arm.urdf", what="the same file once more")


def test_a_bad_file_shows_its_error_and_the_robot_stays(window, tmp_path):
    window.tab("Robot")
    bad = tmp_path / "bad.urdf"
    bad.write_text(
        '<!DOCTYPE robot [<!ENTITY a "aaaaaaaaaa">]><robot name="x"><link name="&a;"/></robot>'
    )
    window.upload(".urdf", bad)
    note = window.page.locator(".mantine-Notification-root", has_text="declares the entity")
    assert str(window.session.folder) not in note.inner_text()
    until(lambda: "entities are refused" in window.words(".armdyn-check"), what="the report")
    assert "Puma 560" in window.words(".armdyn-head")
    window.shot("bad_file")
    window.dismiss()


def test_a_trajectory_that_does_not_fit_shows_its_error(window, tmp_path):
    window.tab("Play")
    path = tmp_path / "short.csv"
    path.write_text("t,q1\n0,0\n1,1\n")
    window.upload(".csv", path)
    note = window.page.locator(
        ".mantine-Notification-root", has_text="a column for each of 6 joints"
    )
    note.wait_for()
    window.dismiss()


def test_the_c_export_downloads_compiles_and_passes_its_own_test(window, tmp_path):
    window.tab("Robot")
    with window.page.expect_download() as download:
        window.press("C code (zip)")
    packed = tmp_path / "puma.zip"
    download.value.save_as(packed)
    with zipfile.ZipFile(packed) as archive:
        assert sorted(archive.namelist()) == ["puma560.c", "puma560.h"]
        archive.extractall(tmp_path)
    compiler = shutil.which("cc") or pytest.skip("there is no C compiler")
    flags = ["-std=c99", "-Wall", "-Werror", "-DPUMA560_SELFTEST"]
    subprocess.run([compiler, *flags, "puma560.c", "-o", "t", "-lm"], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "t"], check=True, capture_output=True)


def test_robot_table_and_picture_download(window, tmp_path, monkeypatch):
    monkeypatch.setattr(exports, "RENDER_TIMEOUT", PATIENCE)
    window.tab("Robot")
    files = {}
    for label in ("Robot (TOML)", "Motion or state (CSV)", "Picture (PNG)"):
        window.draw(ALL if label == "Picture (PNG)" else 0)
        with window.page.expect_download() as download:
            window.press(label)
        files[label] = tmp_path / download.value.suggested_filename
        download.value.save_as(files[label])
    window.draw(0)
    q = window.session.state.q
    again = armdyn.load(files["Robot (TOML)"])
    wanted = PUMA.inverse_dynamics(q, 0 * q, 0 * q)
    np.testing.assert_array_equal(again.inverse_dynamics(q, 0 * q, 0 * q), wanted)
    head, row = files["Motion or state (CSV)"].read_text().splitlines()
    table = dict(zip(head.split(","), map(float, row.split(",")), strict=True))
    np.testing.assert_allclose([table[f"tau{i}"] for i in range(1, 7)], wanted, atol=1e-9)
    image = imread(files["Picture (PNG)"])
    assert image.shape[0] > 300
    assert image.shape[1] > 300
    assert np.ptp(image[..., :3]) > 0.3


def test_studies_show_progress_and_their_results(window, monkeypatch):
    robot, seen = window.open("two_link"), threading.Event()
    told = study.operation_report

    def waiting(*given, **how):
        seen.wait(PATIENCE)
        return told(*given, **how)

    monkeypatch.setattr(study, "operation_report", waiting)  # until its progress was seen
    window.tab("Study")
    window.press("Count operations")
    until(lambda: "counting operations" in window.words(".armdyn-status li"), what="progress")
    seen.set()
    script = "all => all.map(bar => [bar.dataset.method, bar.dataset.stage, +bar.dataset.total])"
    bars = until(
        lambda: window.page.eval_on_selector_all(".armdyn-operations i[data-stage]", script),
        what="counts",
    )
    least = armdyn.count_operations(robot).total
    assert ["minimal", "minimal", least] in bars
    window.press("Find the structure")
    until(lambda: "D22 constant" in window.words(".armdyn-structure"), what="the structure")
    window.press("Whole picture and report")
    until(lambda: "structure of D, h and g" in window.words(".armdyn-report"), what="a report")
    window.shot("study_report")
    window.press("Close")
    window.shot("study")


def test_a_design_is_shown_beside_the_arm(window):
    old = window.open("two_link")
    window.tab("Design")
    alone = picture(window)
    window.press("Find a design")
    found = until(lambda: window.words(".armdyn-design"), what="a design")
    before, after = map(int, re.search(r"(\d+) → (\d+)", found).groups())
    assert "constant: reached" in found
    assert after < before
    until(lambda: window.session.scene.beside, what="the new arm")
    assert not alike(picture(window), alone)
    window.shot("design")
    window.press("Go on with the new arm")
    until(lambda: "a new design" in window.session.arm.source, what="the new arm")
    assert not np.allclose(window.session.arm.robot.parameters(), old.parameters())
    q = np.random.default_rng(0).uniform(-3, 3, (10, 2))
    M = window.session.arm.robot.mass_matrix(q)
    np.testing.assert_allclose(M, np.broadcast_to(M[0], M.shape), atol=1e-9)


def test_two_windows_stay_apart_and_a_closed_one_leaves_nothing(window, another, studio):
    other = another(studio, (900, 500))
    assert other.session.folder != window.session.folder
    before, q = window.torques(), window.session.state.q.copy()
    other.open("two_link")
    assert len(other.torques()) == 2
    other.tab("Play")
    other.upload(".csv", {"name": "a.csv", "mimeType": "text/csv", "buffer": b"t,q1,q2\n"})
    folder = other.session.folder
    until((folder / "a.csv").exists, what="the upload")
    window.settle()
    assert not (window.session.folder / "a.csv").exists()
    assert window.torques() == before
    assert np.array_equal(window.session.state.q, q)
    assert "Puma 560" in window.words(".armdyn-head")
    other.close()
    until(lambda: not folder.exists(), what="the end of the folder")
    assert window.session in studio.sessions


def test_a_page_of_another_site_sees_nothing(browser, studio, monkeypatch):
    from armdyn.studio.server import Studio

    elsewhere, before = Studio("two_link", port=0), studio.sessions
    # a page of a studio would not even ask: its policy lets it reach no other place
    context = browser.new_context(viewport={"width": 500, "height": 400}, bypass_csp=True)
    try:
        page = context.new_page()
        told, refusal = [], studio._gate.refusal
        monkeypatch.setattr(
            studio._gate, "refusal", lambda *a: told.append(refusal(*a)) or told[-1]
        )
        page.goto(f"{elsewhere.address}&websocket=ws://localhost:{studio.port}")
        until(lambda: len(told) > 1, what="two refusals, the page having heard of the first")
        assert set(told) == {"pages of other sites cannot use the studio"}
        assert studio.sessions == before
        assert page.locator(".armdyn-torque .total").count() == 0
    finally:
        context.close()
        elsewhere.stop()


def test_an_error_of_the_studio_itself_is_shown_and_ends_nothing(window):
    def broken(_):
        raise RuntimeError("a broken callback")

    window.session.guard(broken)(None)
    note = window.page.locator(".mantine-Notification-root", has_text="a broken callback")
    note.wait_for()
    window.dismiss()
    q = window.session.state.q + 0.1
    window.move(State.rest(q))
    np.testing.assert_allclose(window.torques(), PUMA.inverse_dynamics(q, 0 * q, 0 * q), atol=1e-9)
