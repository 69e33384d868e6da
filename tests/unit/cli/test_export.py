import json
import shutil
import subprocess
import sys
from functools import partial

import pytest

import armdyn
from armdyn.export.options import DEFAULT_FUNCTIONS


@pytest.fixture
def run(command):
    return partial(command, "export")


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_export_says_what_it_wrote_and_how_to_try_it(run, tmp_path):
    code, out, err = run("two_link", "-o", tmp_path)
    assert (code, err) == (0, "")
    assert all(name in out for name in DEFAULT_FUNCTIONS)
    for name in ("two_link.c", "two_link.h"):
        size = (tmp_path / name).stat().st_size
        assert f"wrote {tmp_path / name}, {size / 1000:.1f} kB" in out
    command = out.split("try it there: ")[1].strip()
    done = subprocess.run(
        command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout == "ok\n"


@pytest.mark.slow
def test_the_options_reach_the_text(run, tmp_path):
    code, out, _ = run(
        "puma560", "-o", tmp_path / "new", "--functions", "mass_matrix, inverse_dynamics",
        "--float", "--payload-argument", "--gravity-argument", "--no-friction", "--prefix", "arm",
        "--lock", "joint6=0", "--json",
    )  # fmt: skip
    result = json.loads(out)
    assert (code, list(result["functions"])) == (0, ["mass_matrix", "inverse_dynamics"])
    header = (tmp_path / "new" / "arm.h").read_text()
    assert "void arm_mass_matrix(const float q[5], const float payload[10], float M[25]);" in header
    assert "const float gravity[3]" in header
    assert "Friction is not in it." in header


@pytest.mark.slow
def test_python_runs_by_the_command_that_is_printed(run, tmp_path):
    code, out, _ = run("two_link", "--lang", "python", "-o", tmp_path, "--gravity", "0,-1,0")
    command = out.split("try it there: ")[1].strip().replace("python", sys.executable, 1)
    done = subprocess.run(
        command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (code, done.stderr) == (0, "")
    tau = armdyn.load("two_link").with_gravity((0, -1, 0)).gravity_vector([0, 0])
    assert [float(x) for x in done.stdout.strip("[]\n").split()] == pytest.approx(tau, abs=1e-6)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("two_link", "--lang", "fortran"),
            "there is no language 'fortran'. Available: c, python, latex, sympy.",
        ),
        (("two_link", "--lang", "latex", "--float"), "--float"),
        (("two_link", "--functions", "mass_matrx"), "'mass_matrx'. Did you mean 'mass_matrix'"),
        (("two_link", "--functions", ","), "no functions to export were named"),
        (("two_link", "--prefix", "my arm"), "as in 'my_arm'"),
        (("two_link", "--prefix", "CON"), "as 'robot_con'"),
        (("two_link", "--link", "elbow"), "'elbow'"),
        (("two_link", "--lang", "python", "--float"), "float is for C"),
        (("two_lnk",), "Did you mean 'two_link'"),
    ],
)
def test_an_error_of_the_user_is_one_message_and_leaves_nothing(run, words, message, tmp_path):
    code, out, err = run(*words, "-o", tmp_path / "out")
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert not (tmp_path / "out").exists()


def test_the_folder_must_be_named(run):
    code, _, err = run("two_link")
    assert code == 2
    assert "--output" in err
