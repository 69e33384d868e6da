import ctypes
import re
import shutil
import subprocess
from dataclasses import replace
from functools import cache

import numpy as np
import pinocchio as pin
import pytest

import armdyn
from armdyn.errors import SingularityError
from armdyn.export.c.export import export_c
from armdyn.export.names import identifier
from armdyn.export.options import DEFAULT_FUNCTIONS, ExportOptions, functions_of
from armdyn.model import Body, Inertia
from armdyn.quantities.program import QUANTITIES, quantity_program
from armdyn.quantities.request import Request
from armdyn.robot import Robot
from armdyn.shorten.run_time import payload_vector
from support.peers import close, pin_model
from support.random_robots import random_model

CC = shutil.which("cc") or shutil.which("gcc")
CXX = shutil.which("g++") or shutil.which("c++")
pytestmark = pytest.mark.skipif(CC is None, reason="needs a C compiler")
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror")
CASES = {
    "panda": {},
    "puma560": {"friction": False},
    "stanford": {"functions": (*DEFAULT_FUNCTIONS, "regressor", "kinetic_energy")},
    "tree": {"payload": True, "gravity": True},
    "chain": {
        "functions": ("inverse_dynamics", "reactions", "joint_frames"),
        **{"payload": True, "base_motion": True, "constraint": True, "base_wrench": True},
        "frame": "joint",
    },
}


def model_of(name):
    if name == "chain":
        return random_model("RPR", 1, friction=True)
    if name == "tree":
        return random_model("RPRRPR", 5, tree=True, rotors=True, friction=True)
    return armdyn.load(name).model


def build(exported, *flags, strict=STRICT):
    """The self-test of an export, or another target, compiled without a warning."""
    target = exported.files[0].with_suffix(".out")
    words = [CC, *strict, *flags, str(exported.files[0]), "-lm", "-o", str(target)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return target


def selftest(exported, *flags):
    macro = f"-D{exported.files[0].stem.upper()}_SELFTEST"
    target = build(exported, macro, *flags)
    return subprocess.run([str(target)], capture_output=True, text=True, check=False)


class Library:
    """Exported functions as Python functions of arrays."""

    def __init__(self, exported, real=ctypes.c_double):
        self.prefix, self.real = exported.files[0].stem, real
        self.c = ctypes.CDLL(str(build(exported, "-O1", "-shared", "-fPIC")))

    def __call__(self, name, shape, *arrays):
        given = [np.ascontiguousarray(a, dtype=self.real) for a in arrays]
        pointers = [a.ctypes.data_as(ctypes.POINTER(self.real)) for a in given]
        function = getattr(self.c, f"{self.prefix}_{name}")
        if not shape:
            function.restype = self.real
            return function(*pointers)
        result = np.full(shape, np.nan, dtype=self.real)
        function(*pointers, result.ctypes.data_as(ctypes.POINTER(self.real)))
        return result


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The functions of a case, compiled once."""

    @cache
    def of(case):
        options = ExportOptions(**CASES[case], prefix=case)
        return Library(export_c(model_of(case), tmp_path_factory.mktemp(case), options))

    return of


def arguments(program, rng):
    payload = payload_vector(1.5, np.array([0.02, -0.05, 0.1]), np.diag([0.01, 0.02, 0.015]))
    return [payload if i.name == "payload" else rng.uniform(-2, 2, i.size) for i in program.inputs]


@pytest.mark.slow
@pytest.mark.parametrize("single", [False, True], ids=["double", "float"])
@pytest.mark.parametrize("case", CASES)
def test_the_source_compiles_without_a_warning_and_its_self_test_passes(case, single, tmp_path):
    options = ExportOptions(**CASES[case], single=single, prefix=case)
    done = selftest(export_c(model_of(case), tmp_path, options), "-O1")
    assert (done.returncode, done.stdout) == (0, "ok\n")


@pytest.mark.slow
@pytest.mark.parametrize("case", ["puma560", "tree"])
def test_the_sanitizers_find_nothing(case, tmp_path):
    flags = ("-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover")
    exported = export_c(model_of(case), tmp_path, ExportOptions(**CASES[case], prefix=case))
    done = selftest(exported, *flags)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ok\n", "")


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_every_function_agrees_with_the_program(case, library):
    model, rng = model_of(case), np.random.default_rng(1)
    options = ExportOptions(**CASES[case], prefix=case)
    for function in functions_of(model, options):
        program = quantity_program(model, function.request)
        for _ in range(3):
            given = arguments(program, rng)
            expected = program(*given)
            assert np.abs(expected).max() > 1e-3
            got = library(case)(function.name, program.shape, *given)
            close(got, expected, 1e-12)


@pytest.mark.slow
def test_the_functions_agree_with_the_robot_and_with_pinocchio(library):
    robot, rng, panda = armdyn.load("panda"), np.random.default_rng(2), library("panda")
    other, data = pin_model(robot.model)
    for _ in range(4):
        q, qd, x = rng.uniform(-2, 2, (3, 7))
        tau = panda("inverse_dynamics", (7,), q, qd, x)
        close(tau, robot.inverse_dynamics(q, qd, x), 1e-12)
        close(tau, pin.rnea(other, data, q, qd, x), 1e-12)
        close(panda("forward_dynamics", (7,), q, qd, tau), x, 1e-10)
        close(panda("mass_matrix", (7, 7), q), robot.mass_matrix(q), 1e-12)
        C = panda("coriolis_matrix", (7, 7), q, qd)
        close(C, robot.coriolis_matrix(q, qd), 1e-12)
        close(
            C @ qd,
            pin.nonLinearEffects(other, data, q, qd) - pin.rnea(other, data, q, 0 * q, 0 * q),
            1e-12,
        )
        close(panda("forward_kinematics", (4, 4), q), robot.forward_kinematics(q), 1e-12)
        close(panda("jacobian", (6, 7), q), robot.jacobian(q), 1e-12)


@pytest.mark.slow
def test_payload_and_gravity_given_at_run_time_are_those_of_another_robot(library):
    model, rng, tree = model_of("tree"), np.random.default_rng(3), library("tree")
    com, tensor = np.array([0.1, 0.05, -0.2]), np.diag([0.03, 0.02, 0.04])
    payload, gravity = payload_vector(2.0, com, tensor), np.array([1.0, -3.0, -8.0])
    heavy = Robot(model).with_gravity(gravity).with_payload(2.0, com, tensor)
    q, qd, x = rng.uniform(-1, 1, (3, heavy.n))
    tau = tree("inverse_dynamics", (heavy.n,), q, qd, x, payload, gravity)
    close(tau, heavy.inverse_dynamics(q, qd, x), 1e-12)
    assert np.abs(tau - Robot(model).inverse_dynamics(q, qd, x)).max() > 0.1
    qdd = tree("forward_dynamics", (heavy.n,), q, qd, tau, payload, gravity)
    close(qdd, x, 1e-10)


@pytest.mark.slow
def test_a_result_may_take_the_place_of_an_argument(library):
    stanford = library("stanford")
    q, qd, qdd = np.random.default_rng(4).uniform(-1, 1, (3, 6))
    apart = stanford("inverse_dynamics", (6,), q, qd, qdd)
    for place in range(3):
        given = [a.copy() for a in (q, qd, qdd)]
        pointers = [a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for a in given]
        stanford.c.stanford_inverse_dynamics(*pointers, pointers[place])
        np.testing.assert_array_equal(given[place], apart)


def pendulum(masses):
    """The two-link arm with nothing but a point mass, or nothing, at the end of each link."""
    model = armdyn.load("two_link").model
    links = []
    for link, mass in zip(model.links, masses, strict=True):
        point = Inertia.from_com(mass, (0.8, 0.0, 0.0), np.zeros((3, 3)))
        links.append(replace(link, bodies=(Body("point", point),) if mass else ()))
    return replace(model, links=tuple(links))


@pytest.mark.parametrize("single", [False, True], ids=["double", "float"])
def test_where_the_mass_matrix_is_singular_the_accelerations_are_not_a_number(single, tmp_path):
    options = ExportOptions(functions=["forward_dynamics"], single=single)
    exported = export_c(pendulum([0.0, 1.0]), tmp_path, options)
    library = Library(exported, ctypes.c_float if single else ctypes.c_double)
    straight = library("forward_dynamics", (2,), [0.1, 0.0], [0, 0], [1, 2])
    assert not np.isfinite(straight).any()
    bent = library("forward_dynamics", (2,), [0.1, 1.0], [0, 0], [1, 2])
    expected = quantity_program(pendulum([0.0, 1.0]), Request("forward_dynamics"))
    close(bent, expected([0.1, 1.0], [0, 0], [1, 2]), 1e-5 if single else 1e-12)


def test_a_joint_that_moves_nothing_is_refused(tmp_path):
    with pytest.raises(
        SingularityError,
        match="forward_dynamics: the mass matrix is singular whatever the configuration, .* 'two_link'",
    ):
        export_c(pendulum([1.0, 0.0]), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_self_test_finds_a_wrong_number(tmp_path):
    options = ExportOptions(functions=["gravity_vector"])
    exported = export_c(armdyn.load("puma560").model, tmp_path, options)
    path = exported.files[0]
    text = path.read_text()
    number = re.search(r"const double k1 = (\S+);", text)[1]
    wrong = str(float(number) * (1 + 1e-11))
    path.write_text(text.replace(f"k1 = {number};", f"k1 = {wrong};"))
    done = selftest(exported)
    assert done.returncode == 1
    assert re.search(r"gravity_vector, state 0, entry 1: got \S+, expected \S+", done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["puma560", "jaco2"])
def test_the_operations_in_the_comment_are_those_in_the_text(name, tmp_path):
    exported = export_c(armdyn.load(name).model, tmp_path)
    source = exported.files[0].read_text()
    for function, program in exported.programs.items():
        count, told = program.whole, program.operations
        start = re.search(rf"_{function}\(.*?\n\{{\n", source, re.DOTALL).end()
        statements = source[start : source.index("\n}", start)]
        assert len(re.findall(r" \* ", statements)) == count.mul
        assert len(re.findall(r" [+-] |angle_sum\(", statements)) == count.add
        assert f"{told.mul} multiplications, {told.add} additions" in source


@pytest.mark.slow
@pytest.mark.skipif(CXX is None, reason="needs a C++ compiler")
def test_the_header_is_one_of_cpp_as_well(tmp_path):
    exported = export_c(armdyn.load("stanford").model, tmp_path)
    (tmp_path / "use.cpp").write_text(
        '#include "stanford.h"\n#include "stanford.h"\n#include <cstdio>\n'
        "int main() { double q[STANFORD_JOINTS] = {}, g[STANFORD_JOINTS];"
        ' stanford_gravity_vector(q, g); std::printf("%.17g", g[1]); }\n'
    )
    compiled = exported.files[0].with_suffix(".o")
    subprocess.run([CC, *STRICT, "-c", exported.files[0], "-o", compiled], check=True)
    target = tmp_path / "use"
    words = [
        CXX,
        "-Wall",
        "-Wextra",
        "-Werror",
        tmp_path / "use.cpp",
        compiled,
        "-lm",
        "-o",
        target,
    ]
    subprocess.run(words, check=True)
    printed = float(subprocess.run([target], capture_output=True, check=True).stdout)
    close(printed, armdyn.load("stanford").gravity_vector(np.zeros(6))[1], 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("my arm 2", "my_arm_2"),
        ("5dof", "robot_5dof"),
        ("while", "robot_while"),
        ("Math", "robot_math"),
        ("Präzisions-Arm", "prazisions_arm"),
        ("机器人", "robot"),
    ],
)
def test_any_name_gives_an_identifier(name, expected, tmp_path):
    assert identifier(name) == expected
    model = replace(armdyn.load("two_link").model, name=name, title="")
    exported = export_c(model, tmp_path, ExportOptions(functions=["gravity_vector"]))
    assert [path.name for path in exported.files] == [f"{expected}.c", f"{expected}.h"]
    assert selftest(exported).stdout == "ok\n"


def test_text_of_the_robot_cannot_leave_its_comment(tmp_path):
    model = armdyn.load("two_link").model
    evil = '*/ #error out /* ??/ \\ """ \n#error line'
    joints = tuple(replace(j, name=f"{evil}{i}") for i, j in enumerate(model.joints))
    model = replace(model, title=evil, source=evil, joints=joints)
    assert selftest(export_c(model, tmp_path)).stdout == "ok\n"


@pytest.mark.slow
def test_a_long_chain_still_compiles(tmp_path):
    model = random_model("R" * 30, 6)
    options = ExportOptions(functions=["inverse_dynamics"], prefix="chain")
    exported = export_c(model, tmp_path, options)
    q, qd, qdd = np.random.default_rng(6).uniform(-1, 1, (3, 30))
    tau = Library(exported)("inverse_dynamics", (30,), q, qd, qdd)
    other, data = pin_model(model)
    close(tau, pin.rnea(other, data, q, qd, qdd), 1e-10)


@pytest.mark.slow
def test_every_quantity_can_be_exported_together(tmp_path):
    base = armdyn.Inertia.box((0.5, 0.4, 0.3), mass=20.0)  # without any it is loose
    soft = {"joint1": 1e4, "joint2": 5e3}
    robot = armdyn.load("two_link").with_link("base", base)
    for name in soft:
        # inertias of exactly 1, which fold
        robot = robot.with_joint(name, rotor_inertia=1e-4, gear_ratio=100.0)
    model = robot.with_elasticity(soft).model
    assert not any(quantity.refused(model) for quantity in QUANTITIES.values())
    done = selftest(export_c(model, tmp_path, ExportOptions(functions=tuple(QUANTITIES))))
    assert done.stdout == "ok\n"


def test_the_header_lists_what_was_changed_and_what_links_carry(tmp_path):
    """Numbers of a publication are not those of an arm with a payload, friction and a lock."""
    arm = armdyn.load("puma560", locked={"joint6": 0.25}).with_locked({"joint5": 0.5})
    arm = arm.with_joint("joint2", viscous=3.0, effort_limit=100.0).with_payload(2.0)
    arm.save(tmp_path / "arm.toml")
    for robot in (arm, armdyn.load(tmp_path / "arm.toml")):
        robot.export(tmp_path, functions="gravity_vector", prefix="arm")
        text = " ".join((tmp_path / "arm.h").read_text().replace("*", "").split())
        said = text.partition("Joints, in the order")[0]
        for words in (
            "; joint 'joint6' locked at 0.25; joint 'joint5' locked at 0.5; joint 'joint2':",
            "viscous 3",
            "On link link4: link5, link6, payload (a payload of 2 kg)",
        ):
            assert words in said
        assert "effort" not in said
    plain = armdyn.load("puma560").export(tmp_path, functions="gravity_vector", prefix="arm")
    assert "locked" not in plain.files[1].read_text()


def test_a_single_function_may_be_named_by_itself_and_the_result_is_short(tmp_path):
    found = armdyn.load("two_link").export(tmp_path, functions="inverse_dynamics")
    assert list(found.programs) == ["inverse_dynamics"]
    for text in (str(found), repr(found)):
        assert len(text) < 600
        assert "two_link.c" in text
    assert f"inverse_dynamics ({found.programs['inverse_dynamics'].whole.total} op" in str(found)


def test_the_header_says_where_steps_depend_on_the_angles(tmp_path):
    """Only a sum of angles takes whole turns off, and one joint alone has no such sum."""
    armdyn.load("two_link").export(tmp_path, functions="gravity_vector")
    text = (tmp_path / "two_link.h").read_text()
    assert ("atan2" in (tmp_path / "two_link.c").read_text()) == ("beyond 32 rad" in text)
    assert "beyond 32 rad" in text
