import importlib.util
import os
import re
import shutil
import subprocess
import sysconfig

import numpy as np
import pytest

import armdyn
from armdyn.errors import CompilerError, ModelError, UnknownNameError, WriteError
from armdyn.export.c.export import float_error, rounded_up
from armdyn.export.export import TARGETS
from armdyn.export.options import DEFAULT_FUNCTIONS, ExportOptions, functions_of, write_all
from armdyn.kernels.kernel import Kernel

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
ARM = "stanford"
FUNCTIONS = (*DEFAULT_FUNCTIONS, "kinetic_energy")


@pytest.fixture(scope="module")
def wrapper(tmp_path_factory):
    """The ctypes module of an arm, imported."""
    folder = tmp_path_factory.mktemp("ctypes")
    armdyn.load(ARM).export(folder, target="ctypes", functions=FUNCTIONS)
    spec = importlib.util.spec_from_file_location("wrapped", folder / f"{ARM}_ctypes.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@needs_compiler
def test_the_ctypes_module_computes_batches(wrapper):
    robot = armdyn.load(ARM)
    q, qd, x = np.random.default_rng(1).uniform(-1, 1, (3, 2, 5, 6))
    for name in FUNCTIONS:
        given = [q, qd[0, 0], x][: len(robot.kernel(name).__self__.inputs)]
        got = getattr(wrapper, name)(*given)
        expected = robot.kernel(name)(*given)
        assert got.shape == expected.shape
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)
    assert wrapper.gravity_vector([0.1] * 6).shape == (6,)
    assert np.ndim(wrapper.kinetic_energy(q[0, 0], qd[0, 0])) == 0
    assert wrapper.mass_matrix(np.zeros((0, 6))).shape == (0, 6, 6)
    with pytest.raises(ValueError, match=r"qd: expected shape \(\.\.\., 6\), got \(5,\)"):
        wrapper.coriolis_matrix(q[0, 0], [0.0] * 5)


@pytest.mark.slow
def test_the_ctypes_module_says_what_to_do_without_a_compiler(wrapper, monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(RuntimeError, match="no C compiler no-such-compiler: install one"):
        wrapper.build()


def tool(name):
    """A program of this environment, or of the machine."""
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    return shutil.which(name, path=path)


def run(*words, cwd):
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@needs_compiler
def test_another_project_finds_the_installed_library(tmp_path):
    robot = armdyn.load("two_link")
    robot.export(tmp_path, target="cmake")
    cmake, installed = tool("cmake"), tmp_path / "installed"
    run(cmake, "-S", ".", "-B", "build", "-DBUILD_SHARED_LIBS=ON", cwd=tmp_path)
    run(cmake, "--build", "build", cwd=tmp_path)
    tested = run(tool("ctest"), "--test-dir", "build", cwd=tmp_path)
    assert "100% tests passed" in tested
    run(cmake, "--install", "build", "--prefix", installed, cwd=tmp_path)
    other = tmp_path / "example"
    run(cmake, "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={installed}", cwd=other)
    run(cmake, "--build", "build", cwd=other)
    printed = run(other / "build" / "example", cwd=other)
    tau = robot.inverse_dynamics([0, 0], [0, 0], [0, 0])
    np.testing.assert_allclose([float(x) for x in printed.split()], tau, atol=1e-12)
    assert (installed / "include" / "two_link.hpp").exists()


@pytest.mark.parametrize(
    ("target", "options", "error", "message"),
    [
        ("cmak", {}, UnknownNameError, "there is no target 'cmak'. Did you mean 'cmake'"),
        ("fmu", {"single": True}, ModelError, "the target fmu computes in double"),
        ("fmu", {"functions": ["jacobian"]}, ModelError, "fmu has functions of its own, forward_"),
        ("ros2", {"payload": True}, ModelError, "ros2 has no place for payload as an"),
        ("fmu", {"base_motion": True}, ModelError, "fmu has no place for base_motion as an"),
        ("eigen", {"prefix": "my arm"}, ModelError, "'my arm' cannot start the name .* 'my_arm'"),
        ("eigen", {"prefix": "std"}, ModelError, "'std' is a word of C or Python"),
        ("kernels", {"platform": "amiga"}, UnknownNameError, "no platform 'amiga'.*aarch64-linux"),
        ("cmake", {"platform": "aarch64-linux"}, ModelError, "platform is for the target kernels"),
        ("cmake", {"processors": ["z80"]}, UnknownNameError, "no processor 'z80'.*cortex-m4f"),
    ],
)
def test_what_cannot_be_is_refused_and_leaves_nothing(target, options, error, message, tmp_path):
    with pytest.raises(error, match=message):
        armdyn.load("two_link").export(tmp_path / "out", target=target, **options)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "fmu"}, "target fmu.*fmu-source.* needs a C compiler: found none; install one"),
        ({"processors": ["host"]}, "measuring what functions take on this machine needs a C"),
        ({"processors": ["cortex-m7"]}, "needs arm-none-eabi-gcc, .* apt-get install gcc-arm"),
    ],
)
def test_a_missing_compiler_is_named(options, message, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(CompilerError, match=message):
        armdyn.load("two_link").export(tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_compiler_that_is_none_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(
        CompilerError, match="the variable CC names 'no-such-compiler', which is no"
    ):
        armdyn.load("two_link").export(tmp_path, target="fmu")


def test_a_compiler_that_fails_is_quoted(tmp_path, monkeypatch):
    fails = tmp_path / "cc"
    fails.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    fails.chmod(0o755)
    monkeypatch.setenv("CC", str(fails))
    with pytest.raises(CompilerError, match="failed: broken"):
        armdyn.load("two_link").export(tmp_path / "out", target="fmu")


def test_a_target_wraps_c_alone(tmp_path):
    with pytest.raises(ModelError, match="the target cmake wraps C, not python"):
        armdyn.load("two_link").export(tmp_path, "python", "cmake")
    with pytest.raises(ModelError, match="code and stack are measured of C"):
        armdyn.load("two_link").export(tmp_path, "python", processors=["host"])


def test_files_are_written_all_or_none(tmp_path):
    (tmp_path / "out" / "b").mkdir(parents=True)  # where a file shall be
    (tmp_path / "out" / "a").write_text("old")
    with pytest.raises(WriteError, match="cannot write .*b"):
        write_all(tmp_path / "out", {"a": "new", "new/folder/c": "new", "b": "new"})
    assert (tmp_path / "out" / "a").read_text() == "old"
    assert sorted(path.name for path in (tmp_path / "out").rglob("*")) == ["a", "b"]
    assert write_all(tmp_path / "x", {"deep/a": b"1", "b": "2"})[0].read_bytes() == b"1"


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_every_target_writes_the_same_every_time_and_no_path(target, tmp_path):
    if target == "fmu" and shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    arm = armdyn.load("two_link")
    functions = {} if TARGETS[target].functions else {"functions": ["mass_matrix"]}
    first, second = (arm.export(tmp_path / k, target=target, **functions) for k in "12")
    assert [a.relative_to(tmp_path / "1") for a in first.files] == [
        b.relative_to(tmp_path / "2") for b in second.files
    ]
    for a, b in zip(first.files, second.files, strict=True):
        content = a.read_bytes()
        assert content == b.read_bytes()
        assert str(tmp_path).encode() not in content
        assert not re.search(rb"@[A-Z_]+@", content) or a.name == "two_linkConfig.cmake.in"


@pytest.mark.slow
@needs_compiler
def test_the_header_says_code_stack_and_accuracy(tmp_path):
    arm = armdyn.load("puma560")
    names = ["inverse_dynamics", "mass_matrix"]
    arm.export(tmp_path, functions=names, single=True, processors=["host"])
    header = (tmp_path / "puma560.h").read_text()
    assert header.count(" of stack.") == header.count("In float off by at most ") == 2
    assert header.count("this machine, cc ") == 2
    options = ExportOptions(functions=names, single=True)
    for f in functions_of(arm.model, options):
        error = float_error(arm.model, f)
        assert 1e-8 < error < 1e-5
        assert f"off by at most {rounded_up(error)} of the largest entry" in header
        # the kernel in float, which fuses, is as far off in other states
        kernel = Kernel(arm.model, f.request, "float32")
        q, qd, qdd = np.random.default_rng(5).uniform(-2, 2, (3, 200, 6)).astype(np.float32)
        given = [q, qd, qdd][: len(f.program.inputs)]
        exact = f.program(*(a.astype(float) for a in given)).reshape(200, -1)
        off = np.abs(kernel(*given).reshape(200, -1) - exact).max(axis=1)
        assert (off / np.maximum(1, np.abs(exact).max(axis=1))).max() < 3 * error


@pytest.mark.parametrize(
    ("x", "text"), [(0.0, "0"), (3.01e-7, "4e-07"), (1e-6, "1e-06"), (9.7e-7, "1e-06"), (2.5, "3e000")]
)  # fmt: skip
def test_errors_are_rounded_up(x, text):
    assert float(rounded_up(x)) == pytest.approx(float(text))
    assert float(rounded_up(x)) >= x


def test_the_command_line_knows_targets(command, tmp_path):
    code, out, err = command("export", "two_link", "-o", tmp_path / "x", "--target", "cmake")
    assert (code, err) == (0, "")
    assert "try it there: cmake -S . -B build" in out
    code, _, err = command("export", "two_link", "-o", tmp_path / "y", "--target", "simulink")
    assert code == 2
    assert "there is no target 'simulink'" in err
    code, _, err = command("export", "two_link", "-o", tmp_path / "y", "--target", "fmu", "--float")
    assert code == 2
    assert "computes in double" in err
    assert not (tmp_path / "y").exists()
