import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.errors import UnknownNameError
from armdyn.io.catalog import catalog_names
from armdyn.io.csv.trajectory import trajectory_from_csv
from support.paths import EXAMPLES

PICK = EXAMPLES / "puma560_pick.csv"


@pytest.fixture
def run(command):
    return command


@pytest.fixture
def short(tmp_path) -> Path:
    path = tmp_path / "move.csv"
    t = np.linspace(0, 1, 11)
    lines = [f"{x:.3f}," + ",".join(f"{np.sin(x + i):.9f}" for i in range(6)) for x in t]
    path.write_text("t,q1,q2,q3,q4,q5,q6\n" + "\n".join(lines) + "\n")
    return path


def test_the_version_is_that_of_the_package(run):
    assert run("--version") == (0, f"armdyn {armdyn.__version__}\n", "")


def test_help_names_every_verb(run):
    for words in (("--help",), ("-h",)):
        code, out, _ = run(*words)
        assert code == 0
        assert all(verb in out for verb in ("robots", "info", "check", "torque"))


@pytest.mark.parametrize("columns", [None, 80, 60])
def test_no_line_of_the_catalog_is_longer_than_it_can_be_read(run, monkeypatch, columns):
    if columns is not None:
        monkeypatch.setenv("COLUMNS", str(columns))
    code, out, _ = run("robots")
    assert code == 0
    assert max(map(len, out.splitlines())) <= (columns or 140)
    sources = [entry["source"] for entry in json.loads(run("robots", "--json")[1])]
    words = {word for text in sources for word in text.split() if len(word) < 28}  # others wrap
    assert words <= {*out.split()}


@pytest.mark.parametrize("name", ["Panda", "UR5e"])
def test_names_of_the_catalog_are_found_whatever_their_case(name):
    assert armdyn.load(name) == armdyn.load(name.lower())


def test_a_name_is_suggested_once_and_whatever_its_case():
    robot = armdyn.load("two_link")
    with pytest.raises(UnknownNameError, match="Did you mean 'link1' or 'link2'") as error:
        robot.jacobian([0, 0], link="LINK1")
    assert error.value.closest[0] == "link1"
    with pytest.raises(UnknownNameError) as error:
        raise UnknownNameError("frame", "wrld", ("world", "tool", "world"))
    assert error.value.closest == ("world",)
    assert str(error.value).count("world") == 2  # as what is meant, and as available


@pytest.mark.slow
@pytest.mark.parametrize("words", [("four_bar",), ("delta", "--programs", "--quantity", "gravity")])
def test_operations_of_robots_with_loops_are_counted(run, words):
    code, out, err = run("ops", *words)
    assert (code, err) == (0, "")
    assert "gravity" in out


def test_robots_lists_the_catalog(run):
    code, out, _ = run("robots")
    assert code == 0
    assert all(name in out for name in catalog_names())
    assert "RRPRRR" in out
    entries = json.loads(run("robots", "--json")[1])
    assert tuple(entry["name"] for entry in entries) == catalog_names()


def test_info_shows_what_the_robot_is_made_of(run):
    code, out, _ = run("info", "puma560")
    assert code == 0
    for word in ("RRRRRR", "23.45 kg", "(0, 0, -9.81)", "joint6", "17.4", "-62.611", "Armstrong"):
        assert word in out


def test_info_in_json_has_the_payload_the_gravity_and_the_locked_joint(run):
    code, out, _ = run(
        "info", "puma560", "--json", "--payload", "2,0,0,0.1", "--gravity", "0,0,-1.62",
        "--lock", "joint4=0.5",
    )  # fmt: skip
    data = json.loads(out)
    assert (code, data["kinds"], data["gravity"]) == (0, "RRRRR", [0, 0, -1.62])
    assert data["moving_mass"] == pytest.approx(25.45)
    held = [body for link in data["links"] for body in link["bodies"] if body["payload"]]
    assert [(body["mass"], body["com"]) for body in held] == [(2.0, [0, 0, 0.1])]


@pytest.mark.slow
def test_torque_writes_what_the_library_computes(run, short, tmp_path):
    out, plot = tmp_path / "out.csv", tmp_path / "out.png"
    code, text, _ = run("torque", "puma560", short, "-o", out, "--plot", plot)
    assert code == 0
    assert "computed as derivatives of the spline" in text
    assert f"wrote {out}" in text
    assert plot.read_bytes().startswith(b"\x89PNG")
    names = out.read_text().splitlines()[0].split(",")
    table = dict(zip(names, np.loadtxt(out, delimiter=",", skiprows=1).T, strict=True))
    robot, move = armdyn.load("puma560"), trajectory_from_csv(short, 6)
    tau = robot.inverse_dynamics(move.q, move.qd, move.qdd)
    for i in range(6):
        np.testing.assert_allclose(table[f"tau{i + 1}"], tau[:, i], rtol=1e-9, atol=1e-9)
    ledger = robot.ledger(move.q, move.qd, move.qdd)
    np.testing.assert_allclose(table["gravity2"], ledger.gravity[:, 1], rtol=1e-9)


@pytest.mark.slow
def test_torque_in_json_agrees_with_the_options(run, short):
    robot, move = armdyn.load("puma560"), trajectory_from_csv(short, 6)
    heavy = robot.with_payload(2.0, (0, 0, 0.1)).with_gravity((0, 0, -5))
    tau = heavy.inverse_dynamics(move.q, move.qd, move.qdd, friction=False)
    code, out, _ = run(
        "torque", "puma560", short, "--json", "--no-friction", "--payload", "2,0,0,0.1",
        "--gravity", "0,0,-5", "--formulation", "lagrange_euler",
    )  # fmt: skip
    result = json.loads(out)
    assert (code, result["formulation"], result["friction"]) == (0, "lagrange_euler", False)
    peaks = [joint["peak"] for joint in result["joints"]]
    np.testing.assert_allclose(np.abs(peaks), np.abs(tau).max(0), rtol=1e-9)
    assert result["trajectory"]["computed"] == ["qd", "qdd"]


@pytest.mark.slow
def test_torque_adds_the_forces_in_the_joints(run, short, tmp_path):
    out = tmp_path / "out.csv"
    code, text, _ = run("torque", "ur5e", short, "--reactions", "-o", out)
    robot, move = armdyn.load("ur5e"), trajectory_from_csv(short, 6)
    expected = robot.reactions(move.q, move.qd, move.qdd)
    names = out.read_text().splitlines()[0].split(",")
    table = dict(zip(names, np.loadtxt(out, delimiter=",", skiprows=1).T, strict=True))
    assert code == 0
    np.testing.assert_allclose(table["fz1"], expected[:, 0, 2], rtol=1e-9)
    largest = np.linalg.norm(expected[:, 0, :3], axis=-1).max()
    assert f"{largest:.3f}" in text


@pytest.mark.slow
def test_the_table_of_the_example_has_peak_and_rms_of_each_joint(run):
    code, out, err = run("torque", "puma560", PICK, "--wide")
    assert (code, err) == (0, "")
    assert out.count(" peak ") == out.count(" RMS ") == 6
    for word in ("total", "inertial", "coriolis", "gravity", "viscous", "coulomb", "rotor", "N·m"):
        assert word in out
    assert "stribeck" not in out


def test_the_example_is_what_its_script_writes(tmp_path):
    script = PICK.with_name("make_puma560_pick.py")
    path = tmp_path / "again.csv"
    subprocess.run([sys.executable, script, path], check=True)
    assert path.read_text() == PICK.read_text()
    move = trajectory_from_csv(PICK, 6)
    limits = armdyn.load("puma560").limits
    assert ((move.q > limits[:, 0]) & (move.q < limits[:, 1])).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("info", "pumma560"), "error: there is no robot 'pumma560'. Did you mean 'puma560'"),
        (("info", "nowhere/arm.urdf"), "nowhere/arm.urdf"),
        (("torque", "puma560", "nowhere.csv"), "error: there is no file nowhere.csv."),
        (("torque", "two_link", PICK), "go up to q6, but the robot has 2 joints"),
        (("torque", "puma560", PICK, "--plot", "a.gif"), "the ending must be one of .png"),
        (("torque", "puma560", PICK, "-o", "no/where.csv"), "no/where.csv: there is no folder"),
        (("torque", "puma560", PICK, "--formulation", "newton"), "'newton'. Did you mean"),
        (("info", "puma560", "--lock", "joint7=0"), "'joint7'. Did you mean"),
        (("info", "puma560", "--lock", "joint1"), "--lock: expected JOINT=VALUE, got 'joint1'"),
        (("info", "puma560", "--lock", "joint1=up"), "expected a number, got 'up'"),
        (("info", "puma560", "--payload", "1,2"), "--payload: expected 1, 4, 7 or 10 numbers"),
        (("info", "puma560", "--payload", "-1"), "the mass is -1 kg"),
        (("info", "puma560", "--gravity", "9.81"), "--gravity: expected 3 numbers, got '9.81'"),
        (("fly",), "no such command 'fly'"),
    ],
)
def test_an_error_of_the_user_is_one_message_and_exit_code_2(run, words, message):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert message in " ".join(err.replace("│", " ").split())
    assert "Traceback" not in err


def test_the_exit_code_of_check_is_that_of_its_findings(run, tmp_path):
    assert run("check", "ur5e")[0] == 0
    code, out, _ = run("check", "puma560")
    assert code == 1
    assert "'link1': allowed in what is declared a reduced parameter set" in out
    with pytest.warns(armdyn.errors.ArmdynWarning, match="points up in the world"):
        arm = armdyn.load("ur5e").with_gravity((0, 0, 9.81))
    arm.save(tmp_path / "arm.toml")
    code, out, _ = run("check", tmp_path / "arm.toml")
    assert code == 1
    assert "points up in the world" in out
    assert "1 warning" in out
    code, out, _ = run("check", "pumma560", "--json")
    assert code == 2
    result = json.loads(out)
    assert (result["exit_code"], result["findings"][0]["level"]) == (2, "error")


def test_a_warning_is_one_line_for_the_user(run, tmp_path):
    row = dict(joint="revolute", mass=1.0, inertia=(1.0, 0.1, 0.1))
    armdyn.from_dh([row], physical="ignore").save(tmp_path / "arm.toml")
    code, _, err = run("info", tmp_path / "arm.toml", "--physical", "warn")
    assert code == 0
    assert err.startswith("warning: ")
    assert "triangle inequality" in err
    assert len(err.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import armdyn", ("scipy", "matplotlib", "mujoco", "rich", "typer")),
        ("import armdyn.cli", ("scipy", "matplotlib", "mujoco", "rich.progress")),
    ],
)
def test_what_is_slow_to_import_waits_until_it_is_needed(code, absent):
    script = f"{code}; import sys; print([m for m in {absent} if m in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert result.stdout.strip() == "[]"


@pytest.mark.slow
def test_the_installed_command_runs():
    command = Path(sys.executable).with_name("armdyn")
    result = subprocess.run([command, "--version"], check=True, capture_output=True, text=True)
    assert result.stdout.startswith("armdyn ")


@pytest.mark.slow
def test_a_motion_beyond_the_limits_is_warned_of(run, tmp_path):
    t = np.linspace(0, 2, 41)
    table = np.column_stack([t, *(90 * np.sin(t + i) for i in range(6))])
    header = "t,q1,q2,q3,q4,q5,q6"
    np.savetxt(tmp_path / "deg.csv", table, delimiter=",", header=header, comments="")
    code, out, _ = run("torque", "puma560", tmp_path / "deg.csv")
    assert code == 0
    assert "warning: beyond limits" in out
    assert "joint1 position rad 2.793 " in " ".join(out.split())
    assert "may be in degrees" in out


def test_the_trajectory_is_not_overwritten(run, tmp_path):
    path = tmp_path / "move.csv"
    path.write_bytes(PICK.read_bytes())
    code, _, err = run("torque", "puma560", path, "-o", path)
    assert code == 2
    assert "is the trajectory itself" in " ".join(err.replace("│", " ").split())
    assert path.read_bytes() == PICK.read_bytes()


def test_options_that_exclude_each_other_and_bad_tolerances(run, tmp_path):
    code, _, err = run("ops", "two_link", "--steps", "--plot", tmp_path / "a.png")
    assert code == 2
    assert "--steps stands alone" in err
    for snap in ("-1", "nan", "10"):
        code, _, err = run("ops", "two_link", "--quantity", "gravity", "--snap", snap)
        assert code == 2
        assert "must lie between 0 and 0.01" in err


def test_a_floating_base_is_checked_fixed_and_said_so(run, tmp_path):
    text = (
        '<robot name="r"><link name="world"/><link name="body"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
        'ixz="0" iyz="0"/></inertial></link>'
        '<joint name="free" type="floating"><parent link="world"/><child link="body"/></joint>'
        '<joint name="hinge" type="continuous"><parent link="body"/><child link="arm"/></joint>'
        "</robot>"
    )
    (tmp_path / "free.urdf").write_text(text)
    code, out, _ = run("check", tmp_path / "free.urdf")
    assert code == 0
    assert "nothing holds this base; it is checked as if held" in out
    assert "base body floats" in run("info", tmp_path / "free.urdf")[1]
    code, _, err = run("terms", tmp_path / "free.urdf", "workspace")
    assert code == 2
    assert "--fix-root" in err
    assert "floats" not in run("info", tmp_path / "free.urdf", "--fix-root")[1]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_a_program_that_is_told_to_end_leaves_nothing_behind(run, tmp_path, monkeypatch):
    def work(**_):
        with tempfile.TemporaryDirectory(dir=tmp_path):
            signal.raise_signal(signal.SIGTERM)
            time.sleep(1)

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr("armdyn.cli.app", work)
    assert run("robots") == (143, "", "")
    assert not list(tmp_path.iterdir())
    assert signal.getsignal(signal.SIGTERM) == before
