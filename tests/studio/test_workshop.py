"""The arm on the page: how it stands, what a new design changes."""

import re
import time
import zipfile
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("viser")

import armdyn
from armdyn.studio.arm import State
from armdyn.studio.panels import exports
from armdyn.studio.panels.design import NEAREST
from armdyn.studio.panels.move import PAUSE
from armdyn.studio.shapes import stage
from support.studio_windows import PATIENCE, until


def on_page(handle):
    """Where something of the scene is on the page, from the frames above it, (4, 4)."""
    import viser.transforms as vtf

    scene = handle._impl.api
    T, name = np.eye(4), handle.name
    while name:
        node = scene._handle_from_node_name[name]
        T = vtf.SE3(np.array([*node.wxyz, *node.position])).as_matrix() @ T
        name = name.rpartition("/")[0]
    return T


def test_gravity_points_down_on_the_page_and_torques_stay(window):
    robot = window.open("two_link")
    window.tab("Move")
    q = np.array([0.3, 0.4])
    window.move(State.rest(q))
    box = window.page.get_by_role("checkbox", name="gravity", exact=True)
    box.check()
    arrows = until(lambda: window.session.scene._arrows.get("gravity"), what="the arrows")
    along = np.diff(arrows.points, axis=1)[:, 0]
    np.testing.assert_allclose(along[:, :2], 0, atol=1e-6)
    assert (along[:, 2] < 0).all()
    # the more a link hangs down, the lower it is drawn: as its potential energy says
    tool, heights = window.session.scene._drawing._tool, []
    for angle in (-1.0, 0.0, 1.0):
        pose = q + np.array([angle, 0])
        window.move(State.rest(pose))
        wanted = robot.inverse_dynamics(pose, 0 * q, 0 * q)
        np.testing.assert_allclose(window.torques(), wanted, atol=1e-9)
        heights.append(on_page(tool)[2, 3])
    T = np.array([robot.forward_kinematics(q + angle * np.eye(2)[0]) for angle in (-1.0, 0.0, 1.0)])
    up = -robot.gravity / np.linalg.norm(robot.gravity)
    np.testing.assert_allclose(heights, T[:, :3, 3] @ up, atol=1e-6)
    window.shot("upright")
    box.uncheck()


def choose(window, label, option):
    """Choose in a list of viser, which is named when the page has found its label."""
    window.page.get_by_role("combobox", name=label, exact=True).click()
    window.page.get_by_role("option", name=option, exact=True).click()


def test_a_design_compares_torques_masses_and_cost_with_what_is_held(window):
    robot = window.open("two_link")
    held = 0.5
    window.move(replace(window.session.state, payload=held))
    window.tab("Design")
    choose(window, "goal", "gravity-balanced")
    choose(window, "may change", "only add counterweights")
    window.press("Find a design")
    words = until(lambda: window.words(".armdyn-design"), what="a design")
    assert "gravity-balanced: reached" in words
    found = panel(window, "DesignPanel")._found
    new = found.other.robot
    added = sum(link.inertia.mass for link in new.model.links) - window.session.arm.mass
    shown = float(re.search(r"The arm gets ([\d.]+) kg heavier", words)[1])
    assert shown == pytest.approx(added, rel=5e-3)
    q = window.session.state.q
    until(lambda: window.session.scene.beside, what="the new arm")
    window.settle()
    script = "all => all.map(g => parseFloat(g.dataset.value))"
    pairs = np.reshape(window.page.eval_on_selector_all(".armdyn-paired .paired", script), (2, 2))
    before, after = (r.with_payload(held).inverse_dynamics(q, 0 * q, 0 * q) for r in (robot, new))
    np.testing.assert_allclose(pairs, np.stack([before, after], -1), atol=1e-6)
    balanced = new.with_payload(held).gravity_vector(np.linspace(-3, 3, 12).reshape(6, 2))
    np.testing.assert_allclose(balanced, 0, atol=1e-6 * np.abs(before).max())
    # counterweights: balls of steel, together as heavy as what was added
    scene = window.session.client.scene._handle_from_node_name
    balls = [h for name, h in scene.items() if "/weight" in name]
    mass = sum(7850 * 4 / 3 * np.pi * ball.radius**3 for ball in balls)
    assert mass == pytest.approx(added, rel=1e-6)
    window.shot("design_counterweights")


def test_an_unreached_goal_is_not_offered_as_one(window):
    window.open("craig_two_link")
    window.tab("Design")
    choose(window, "goal", "diagonal")
    choose(window, "may change", "only add counterweights")
    window.press("Find a design")
    words = until(lambda: window.words(".armdyn-design"), what="a design")
    assert "not reached" in words
    window.page.get_by_role("button", name=NEAREST).wait_for()
    assert not window.page.get_by_role("button", name="Go on with the new arm").count()
    window.shot("design_unreached")


def test_the_equation_of_a_joint_is_live_and_says_why_something_is_zero(window):
    robot = window.open("saha_3r")
    rng = np.random.default_rng(0)
    state = State(*rng.uniform(-1, 1, (3, 3)))
    window.tab("Equation")
    window.move(state)
    wanted = robot.inverse_dynamics(state.q, state.qd, state.qdd)

    def total():
        return float(window.page.locator(".armdyn-sum").get_attribute("data-value"))

    assert total() == pytest.approx(wanted[1], abs=1e-9)
    window.press("Write out its terms and zeros")
    why = window.page.locator(".armdyn-why summary").first
    why.wait_for()
    reason = window.page.locator(".armdyn-why div").first
    assert not reason.is_visible()
    why.click()
    reason.wait_for()
    window.move(State.rest(state.q))  # what was opened stays open
    assert reason.is_visible()
    gravity = robot.gravity_vector(state.q)[1]
    assert total() == pytest.approx(gravity, abs=1e-9)
    line = window.page.locator(".armdyn-numbers [data-line=G2]")
    assert float(line.get_attribute("data-value")) == pytest.approx(gravity, abs=1e-9)
    assert window.page.locator(".armdyn-equation math").count()
    window.move(state)
    window.shot("equation")
    window.press("Formulations side by side")
    window.page.locator(".armdyn-formulations b").first.wait_for()
    window.shot("formulations")
    window.press("Close")


def test_velocities_and_their_forces_are_drawn(window):
    window.open("two_link")
    window.session.move(State(np.array([0.3, 0.6]), np.array([2.0, 1.5]), np.zeros(2)))
    window.tab("Move")
    names = ("velocities", "Coriolis", "centrifugal")
    for name in names:
        window.page.get_by_role("checkbox", name=name, exact=True).check()
    keys = {name.lower() for name in names}
    until(lambda: set(window.session.scene._arrows) == keys, what="the arrows")
    window.shot("velocities")
    for name in names:
        window.page.get_by_role("checkbox", name=name, exact=True).uncheck()
    until(lambda: not window.session.scene._arrows, what="no arrows")


def panel(window, kind):
    return next(p for p in window.session.panels if type(p).__name__ == kind)


def on_screen(window, point):
    """Where a point of the page's world is in the window [pixels]."""
    import viser.transforms as vtf

    camera = window.session.client.camera
    seen = vtf.SO3(np.array(camera.wxyz)).as_matrix().T @ (np.array(point) - camera.position)
    canvas = window.page.locator("canvas").first.bounding_box()
    focal = 0.5 * canvas["height"] / np.tan(0.5 * camera.fov)
    middle = canvas["x"] + canvas["width"] / 2, canvas["y"] + canvas["height"] / 2
    return middle + focal * seen[:2] / seen[2]


def test_the_arm_is_taken_by_hand_and_steps_are_taken_back(window):
    robot = window.open("two_link")
    window.tab("Move")
    hand, poses = panel(window, "HandPanel"), panel(window, "PosesPanel")
    begin = window.session.state.q.copy()
    window.press("side")
    camera = window.session.client.camera
    until(lambda: abs(camera.position[0] - camera.look_at[0]) < 1e-3, what="the view")
    window.settle()
    until(lambda: poses._now is not None and time.monotonic() - poses._when > PAUSE, what="rest")
    # the second link is pulled by its body: only its joint turns
    turn = stage(robot.model).turn
    link = window.session.arm.evaluator(window.session.state).links[1]
    at, to = (turn @ (link[:3, 3] + link[:3, :3] @ p) for p in ([0.4, 0, 0], [0.4, 0.15, 0]))
    mouse = window.page.mouse
    canvas = window.page.locator("canvas[data-engine]")

    def over():
        mouse.move(*on_screen(window, at))
        return canvas.evaluate("it => it.style.cursor") == "pointer"

    until(over, what="a link to be taken")
    mouse.down()
    mouse.move(*on_screen(window, to), steps=5)
    until(lambda: window.session.state.q[1] > begin[1] + 0.1, what="a turned joint")
    mouse.up()
    assert window.session.state.q[0] == begin[0]
    # the tool by its handle
    window.page.get_by_role("checkbox", name="drag the tool", exact=True).check()
    handle = until(lambda: hand._handle, what="the handle")
    window.settle()
    tool = window.session.scene._drawing._tool
    np.testing.assert_allclose(on_page(handle), on_page(tool), atol=1e-9)
    window.shot("hand")
    T = on_page(handle)
    T[:3, 3] += [-0.1, 0.0, 0.1]
    hand.pull(T, "end")
    q = window.session.state.q
    np.testing.assert_allclose(turn @ robot.forward_kinematics(q)[:3, 3], T[:3, 3], atol=1e-4)
    window.settle()
    np.testing.assert_allclose(on_page(handle)[:3, 3], T[:3, 3], atol=2e-3)
    window.press("Undo")
    until(lambda: not np.allclose(window.session.state.q, q), what="a step back")
    window.press("Redo")
    until(lambda: np.allclose(window.session.state.q, q), what="the step forth")
    window.press("Keep this pose")
    until(lambda: "pose 1" in poses.poses, what="the pose")
    window.page.get_by_role("checkbox", name="drag the tool", exact=True).uncheck()
    until(lambda: hand._handle is None, what="no handle")


def test_numbers_of_a_link_are_edited_with_their_effect_and_compared(window):
    robot = window.open("two_link")
    window.tab("Edit")
    field = window.page.get_by_role("textbox", name="mass [kg]").last
    field.fill("4")
    field.press("Enter")
    edited = robot.with_link("link1", mass=4.0, physical="ignore")
    q = window.session.state.q
    script = "all => all.map(g => parseFloat(g.dataset.value))"

    def shown():
        return window.page.eval_on_selector_all(".armdyn-edit .paired", script)

    both = np.stack([r.inverse_dynamics(q, 0 * q, 0 * q) for r in (robot, edited)], -1).ravel()
    until(lambda: len(shown()) == 4 and np.allclose(shown(), both, atol=1e-9), what="both torques")
    window.press("Use these numbers")
    until(lambda: "edited" in window.words(".armdyn-tree"), what="the edited arm")
    assert np.allclose(window.session.state.q, q)
    window.page.get_by_role("checkbox", name="compare with original", exact=True).check()
    until(lambda: window.session.scene.beside is not None, what="the original")
    until(lambda: len(shown()) == 4 and np.allclose(shown(), both, atol=1e-9), what="both torques")
    window.shot("edit")
    window.press("Back to the original")
    until(lambda: "edited" not in window.words(".armdyn-tree"), what="the original")
    until(lambda: np.allclose(window.torques(), both[::2], atol=1e-9), what="the old torques")


def test_the_worst_case_is_found_and_gone_to(window):
    window.open("two_link")
    window.tab("Study")
    window.press("Find the worst case")
    words = until(lambda: window.words(".armdyn-worst-case"), what="the worst case")
    found = panel(window, "WorstPanel").found
    assert str(found.worst) in words
    window.press("Go to its worst state")
    until(lambda: np.allclose(window.session.state.q, found.worst.q, atol=2e-3), what="the pose")
    window.settle()
    assert max(map(abs, window.torques())) == pytest.approx(abs(found.worst.torque), abs=0.05)
    window.shot("worst")


def test_archives_projects_and_a_report_come_and_go(window, tmp_path, monkeypatch):
    monkeypatch.setattr(exports, "RENDER_TIMEOUT", PATIENCE)
    robot = window.open("two_link")
    window.tab("Robot")
    q = np.array([0.4, -0.3])
    panel(window, "PosesPanel").put({"up": State.rest(np.array([1.5, 0.0]))})
    window.move(State.rest(q))
    with window.page.expect_download() as download:
        window.press("Save the project")
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    assert saved.name == "two_link.armdyn.zip"
    window.open("craig_two_link")
    window.upload(".zip", saved)
    until(lambda: window.session.arm.robot.name == "two_link", what="the robot of the project")
    until(lambda: np.allclose(window.session.state.q, q, atol=1e-3), what="its state")
    until(lambda: "up" in panel(window, "PosesPanel").poses, what="its poses")
    np.testing.assert_array_equal(window.session.arm.robot.parameters(), robot.parameters())
    bad = tmp_path / "bad.zip"
    with zipfile.ZipFile(bad, "w") as archive:
        archive.writestr("../arm.urdf", "<robot/>")
    window.upload(".zip", bad)
    until(lambda: "leads out of it" in window.words(".armdyn-check"), what="the refusal")
    window.dismiss()
    with window.page.expect_download() as download:
        window.press("Report (HTML)")
    report = tmp_path / "report.html"
    download.value.save_as(report)
    text = report.read_text()
    assert "data:image/png;base64," in text
    assert "<math" in text


DAE_ARM = """<robot name="meshed"><link name="base"/><link name="arm">
  <inertial><origin xyz="0.2 0 0"/><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><geometry><mesh filename="package://meshed/meshes/a.dae"/></geometry></visual>
  <visual><geometry><mesh filename="package://meshed/meshes/none.dae"/></geometry></visual></link>
  <joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
  </joint></robot>"""


def test_dae_meshes_loops_and_identified_robots_are_shown(window, tmp_path):
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("collada")
    packed = tmp_path / "meshed.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("meshed/urdf/arm.urdf", DAE_ARM)
        box = trimesh.creation.box((0.4, 0.1, 0.1)).export(file_type="dae")
        archive.writestr("meshed/meshes/a.dae", box)
    window.tab("Robot")
    window.upload(".zip", packed)
    until(lambda: window.session.arm.robot.name == "meshed", what="the robot")
    (piece,) = window.session.arm.pieces
    np.testing.assert_allclose(np.ptp(piece.vertices, axis=0), [0.4, 0.1, 0.1], atol=1e-6)
    window.settle()
    words = " ".join(window.words(".armdyn-check").split())
    assert "none.dae" in words
    assert "no such file in the archive" in words
    window.shot("meshes")
    # the loop of a five-bar is closed on the page wherever it goes
    robot = window.open("five_bar")
    q = window.session.state.q + 0.1
    window.move(State.rest(q))
    wanted = robot.inverse_dynamics(q, 0 * q, 0 * q)
    np.testing.assert_allclose(window.torques(), wanted, atol=1e-9)
    links = [on_page(handle) for handle in window.session.scene._drawing._links]
    (loop,) = robot.model.loops
    ends = [
        (links[link] @ frame)[:3, 3]
        for link, frame in ((loop.link_a, loop.frame_a), (loop.link_b, loop.frame_b))
    ]
    np.testing.assert_allclose(*ends, atol=1e-6)
    window.shot("loop")
    # parameters that an identification gives need not be those of bodies
    arm = armdyn.load("two_link")
    values = arm.base_parameters().values * 1.1
    arm.with_base_parameters(values).save(tmp_path / "identified.toml")
    window.upload(".toml", tmp_path / "identified.toml")
    found = armdyn.load(tmp_path / "identified.toml", physical="ignore")
    until(lambda: window.session.arm.source == "identified.toml", what="the identified arm")
    window.settle()
    q = window.session.state.q
    wanted = found.inverse_dynamics(q, 0 * q, 0 * q)
    np.testing.assert_allclose(window.torques(), wanted, atol=1e-9)
