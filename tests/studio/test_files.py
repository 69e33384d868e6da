"""Files into the studio and out of it, work beside the page, and the command."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
import zipfile
from io import BytesIO

import numpy as np
import pytest

pytest.importorskip("viser")

import armdyn
from armdyn import BaseState
from armdyn.errors import ArmdynError, DescriptionError, StudioError, TrajectoryError
from armdyn.io.csv.table import write_csv
from armdyn.io.regular import MAX_BYTES
from armdyn.studio import uploads
from armdyn.studio.arm import Arm, Evaluator, State, pose
from armdyn.studio.background import Jobs, Latest
from armdyn.studio.panels import exports
from armdyn.studio.recording import from_file, simulated, skeleton, there_and_back
from armdyn.studio.server import Studio
from support.studio_windows import PATIENCE, until

BOMB = '<!DOCTYPE r [<!ENTITY a "aaaa">]><robot name="x"><link name="&a;"/></robot>'


@pytest.mark.parametrize(
    "name", ["../../evil.urdf", "/etc/evil.urdf", "..\\evil.urdf", "e vil;.URDF"]
)
def test_an_upload_stays_in_its_folder(tmp_path, name):
    inside = tmp_path / "inside"
    inside.mkdir()
    path = uploads.keep(inside, name, b"<robot/>", uploads.DESCRIPTIONS)
    assert path.parent == inside
    assert path.suffix == ".urdf"
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == [path]


def test_what_is_too_large_or_of_another_kind_is_not_kept(tmp_path):
    with pytest.raises(DescriptionError, match="20.0 MB, more than the 20 MB"):
        uploads.keep(tmp_path, "a.urdf", bytes(MAX_BYTES + 1), uploads.DESCRIPTIONS)
    with pytest.raises(DescriptionError, match="the ending is '.exe'; expected one of .urdf"):
        uploads.keep(tmp_path, "a.exe", b"", uploads.DESCRIPTIONS)
    with pytest.raises(TrajectoryError, match="expected one of .csv"):
        uploads.keep(tmp_path, "a.txt", b"", uploads.TABLES)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", [BOMB, "<robot", "", "<robot name='x'/>"])
def test_a_bad_file_is_refused_with_the_error_of_the_command_line(tmp_path, text):
    path = tmp_path / "bad.urdf"
    path.write_text(text)
    with pytest.raises(ArmdynError) as told:
        armdyn.load(path)
    loaded = uploads.open_upload(path)
    assert loaded.robot is None
    assert str(loaded.error) == str(told.value)
    assert [f.level for f in loaded.findings] == ["error"]


def test_mjcf_is_not_taken_from_a_browser(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text('<mujoco><include file="/etc/passwd"/></mujoco>')
    loaded = uploads.open_upload(path)
    assert loaded.robot is None
    assert "armdyn studio FILE.xml" in str(loaded.error)


def test_a_robot_whose_bodies_cannot_exist_is_shown_with_the_reason(tmp_path):
    path = tmp_path / "odd.urdf"
    path.write_text(
        '<robot name="odd"><link name="base"/><link name="arm"><inertial><mass value="1"/>'
        '<inertia ixx="9" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>'
    )
    loaded = uploads.open_upload(path)
    assert loaded.robot is not None
    assert any(f.level == "error" and "arm" in f.where for f in loaded.findings)


def test_exports_are_those_of_the_library(tmp_path):
    robot = armdyn.load("two_link")
    name, packed = exports.c_code(robot, tmp_path)
    robot.export(tmp_path / "lib", "c")
    assert name == "two_link_c.zip"
    with zipfile.ZipFile(BytesIO(packed)) as archive:
        for path in (tmp_path / "lib").iterdir():
            assert archive.read(path.name) == path.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lib"]
    robot.save(tmp_path / "r.toml")
    assert exports.toml(robot) == ("two_link.toml", (tmp_path / "r.toml").read_bytes())


def test_the_table_of_a_motion_has_its_torques(tmp_path):
    robot = armdyn.load("puma560")
    here = pose(robot)
    motion = there_and_back(robot, here, here + 0.3, 2.0)
    np.testing.assert_allclose(motion.q[[0, -1]], [here, here], atol=1e-12)
    np.testing.assert_allclose(
        motion.tau, robot.inverse_dynamics(motion.q, motion.qd, motion.qdd), atol=1e-9
    )
    np.testing.assert_allclose(sum(motion.terms.values()), motion.tau, atol=1e-9)
    name, text = exports.csv(Arm(robot, Evaluator(robot)), State.rest(here), motion)
    assert name == "puma560_motion.csv"
    table = np.genfromtxt(BytesIO(text), delimiter=",", names=True)
    np.testing.assert_allclose(table["tau2"], motion.tau[:, 1], rtol=1e-9, atol=1e-9)
    head = [c for c in text.decode().splitlines()[0].split(",") if c == "t" or c[0] == "q"]
    again = tmp_path / "again.csv"
    np.savetxt(again, np.column_stack([table[c] for c in head]), delimiter=",",
               header=",".join(head), comments="")  # fmt: skip
    np.testing.assert_allclose(from_file(robot, again).tau, motion.tau, atol=1e-6)


def test_a_simulation_is_what_the_library_simulates():
    robot, told = armdyn.load("two_link"), []
    state = State(np.array([0.3, -0.5]), np.array([0.2, 0.1]), np.zeros(2))
    found = simulated(robot, state, 0.4, False, told.append)
    np.testing.assert_array_equal(found.tau, 0 * found.tau)
    energy = robot.kinetic_energy(found.q, found.qd) + robot.potential_energy(found.q)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-5)
    held = simulated(robot, State.rest(state.q), 0.2, True, told.append)
    np.testing.assert_allclose(held.q, np.broadcast_to(state.q, held.q.shape), atol=1e-6)
    assert any("simulating" in what for what in told)
    at = found.at(found.duration / 2, 1.5)
    assert at.payload == 1.5
    np.testing.assert_allclose(at.q, found.q[len(found.t) // 2], atol=1e-9)
    np.testing.assert_array_equal(found.at(99.0, 0.0).q, found.q[-1])


def test_of_many_requests_the_last_is_drawn_and_few_are():
    seen, value, period = [], [0], 0.05
    latest = Latest(lambda: seen.append((value[0], time.monotonic())), period)
    for k in range(200):
        value[0] = k
        latest.ask()
        time.sleep(0.001)
    until(lambda: seen and seen[-1][0] == 199, what="the last")
    latest.stop()
    assert (np.diff([when for _, when in seen]) >= period).all()


def test_jobs_tell_fail_and_end_without_disturbing_each_other():
    shown, failed, done, go = [], [], [], threading.Event()
    jobs = Jobs(lambda now: shown.append([job.step for job in now]), failed.append)

    def slow(tell):
        tell("half way")
        go.wait(PATIENCE)
        return 7

    jobs.start("slow", slow, done.append)
    jobs.start("slow", slow, done.append)  # takes the place of the first
    jobs.start("bad", lambda _: 1 / 0, done.append)
    until(lambda: [job.name for job in jobs.running] == ["slow"], what="the end of the bad one")
    assert [type(error) for error in failed] == [ZeroDivisionError]
    go.set()
    until(lambda: shown[-1] == [], what="the end of the other")
    assert done == [7]
    assert ["half way"] in shown


def test_a_closed_window_ends_its_work_and_hears_nothing():
    heard, went_on, go = [], [], threading.Event()
    jobs = Jobs(lambda _: None, heard.append)

    def work(tell):
        go.wait(PATIENCE)
        tell("next")
        went_on.append(1)

    jobs.start("work", work, heard.append)
    (job,) = jobs.running
    jobs.close()
    assert jobs.running == ()
    go.set()
    job.thread.join(PATIENCE)
    assert not job.thread.is_alive()
    assert (heard, went_on) == ([], [])


def test_a_job_that_is_cancelled_is_forgotten_and_another_may_begin():
    heard, shown, first, second = [], [], threading.Event(), threading.Event()
    jobs = Jobs(lambda now: shown.append([job.step for job in now]), heard.append)

    def work(go, result):
        def run(tell):
            go.wait(PATIENCE)
            tell(f"told by {result}")
            return result

        return run

    jobs.start("work", work(first, 1), heard.append)
    (forgotten,) = jobs.running
    jobs.cancel()
    assert (jobs.running, shown[-1]) == ((), [])
    jobs.start("work", work(second, 2), heard.append)
    first.set()
    forgotten.thread.join(PATIENCE)
    assert [job.name for job in jobs.running] == ["work"]
    second.set()
    until(lambda: not jobs.running, what="the end")
    assert heard == [2]
    assert ["told by 2"] in shown
    assert ["told by 1"] not in shown


def test_it_listens_on_loopback_alone_and_shares_nothing():
    studio = Studio("two_link", port=0)
    try:
        assert studio.host == "127.0.0.1"
        with socket.create_connection(("127.0.0.1", studio.port), PATIENCE):
            pass
        if sys.platform == "linux":  # where all of 127/8 is this machine
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.2", studio.port), PATIENCE)
        assert studio._server.request_share_url() is None
        with pytest.raises(StudioError, match=f"cannot listen on port {studio.port} of 127.0.0.1"):
            Studio("two_link", port=studio.port)
    finally:
        studio.stop()
    assert studio.sessions == ()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere.urdf",), "nowhere.urdf"),
        (("two_link", "--host", "no.such.host.invalid"), "there is no address"),
        (("pumma560",), "Did you mean 'puma560'"),
    ],
)
def test_bad_requests_end_with_a_message(command, words, message):
    code, _, err = command("studio", *words, "--no-browser")
    assert code == 2
    assert message in err
    assert "Traceback" not in err


def test_without_viser_the_message_says_what_to_install():
    code = (
        "import sys; sys.modules['viser'] = None; sys.argv = ['armdyn', 'studio', '--no-browser']; "
        "from armdyn.cli import main; main()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "needs the package 'viser'" in run.stderr
    assert "extra 'studio'" in run.stderr


def test_the_command_serves_the_page_and_leaves_nothing_behind(tmp_path):
    command = [sys.executable, "-m", "armdyn", "studio", "two_link", "--port", "0", "--no-browser"]
    environment = os.environ | {"TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            line = process.stdout.readline()
            address = line.split()[4]
            assert address.startswith("http://localhost:")
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            with browser.open(address, timeout=PATIENCE) as page:
                assert b"<html" in page.read()
                assert page.url == address.partition("?")[0]
        finally:
            process.send_signal(signal.SIGTERM)
            rest, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, rest) == (0, "")
    assert list(tmp_path.iterdir()) == []


def test_a_base_that_nothing_holds_moves_on_the_page(tmp_path):
    """In a simulation, in the file that is made of it, and in one that the library wrote."""
    arm = armdyn.load("two_link")
    robot = arm.with_link("base", armdyn.Inertia.box((1, 1, 1), mass=4.0))
    free, evaluate = robot.free_base, Evaluator(robot)
    state = State(np.array([0.3, -0.5]), np.array([2.0, 1.0]), np.zeros(2))
    found = simulated(robot, state, 0.4, False, print, floats=True)
    assert np.abs(found.tau).max() < 1e-12
    for when in (0.0, 0.2, 0.4):
        k = round(when / 0.001)
        shown = evaluate(found.at(when, 0.0))
        base = BaseState.of(found.floating[k, :12], found.floating[k, 12:18])
        hand = free.forward_kinematics(base, found.q[k])
        np.testing.assert_allclose(shown.tool, hand, atol=1e-9)
        np.testing.assert_allclose(shown.base[:3, 3], base.position, atol=1e-9)
        np.testing.assert_allclose(shown.links[-1][:3, :3], hand[:3, :3], atol=1e-9)
        assert not shown.reactions.forces.any()
        lines = np.concatenate(skeleton(robot, found.q[k], shown.base))
        still = np.concatenate(skeleton(robot, found.q[k]))
        assert np.allclose(lines, still) == (k == 0)
    assert np.linalg.norm(found.floating[-1, 9:12]) > 1e-2
    write_csv(tmp_path / "made.csv", found.columns())
    run = armdyn.simulate(
        *(robot, state.q, state.qd, 0.4), base=free.standing, friction=False, dt=0.001
    )
    run.save(tmp_path / "written.csv")
    for name in ("made", "written"):
        read = from_file(robot, tmp_path / f"{name}.csv")
        np.testing.assert_allclose(read.floating[:, :18], found.floating[:, :18], atol=1e-5)
        assert np.abs(read.tau).max() < 1e-5
    assert evaluate(state).base is robot.model.base
