"""Certificates, checked by a program in C that shares nothing with the search."""

import shutil
import subprocess
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

import armdyn
from armdyn.bounds import boxes, descent
from armdyn.bounds.certificate import certificate
from armdyn.bounds.motors import MotorBound, MotorBounds
from armdyn.bounds.rows import StateLimits
from armdyn.errors import ModelError

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
SOURCE = files("armdyn.bounds").joinpath("check.c").read_text(encoding="utf-8")


def compiled(folder, source=SOURCE):
    folder.joinpath("check.c").write_text(source, encoding="utf-8")
    flags = ["-O2", "-std=c99", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["cc", *flags, "-o", folder / "check", folder / "check.c", "-lm"], check=True)
    return folder / "check"


@pytest.fixture(scope="module")
def checker(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("checker"))


@pytest.fixture
def check(checker, tmp_path):
    """The verdict on the text of a certificate."""

    def verdict(text, program=checker):
        path = tmp_path / "motor.bound"
        path.write_text(text)
        return subprocess.run([program, path], capture_output=True, text=True, check=False).stdout

    return verdict


def bounds_of(name, lifts=(0.0,)):
    robot = armdyn.load(name)
    rates = np.minimum(robot.velocity_limits, 3.0)
    limits = StateLimits(*robot.model.ranges.T, rates, np.full(robot.n, 2.0))
    return MotorBounds(robot, limits, lifts)


@pytest.mark.slow
def test_the_whole_ur5e_is_checked(check):
    found = bounds_of("ur5e")
    for i, gap in enumerate((0.02, 0.02, 0.02, 0.02, 0.02, 0.2)):
        motor = found.bound(i, gap=gap)
        leaves = (motor.proofs[0].tree.axes < 0).sum()
        assert check(certificate(motor)) == f"holds: {leaves} of {leaves} boxes checked\n"


def test_slides_lifts_and_friction_are_checked(check):
    found = bounds_of("scara", lifts=(0.0, 2.0))
    for i in range(found.robot.n):
        assert check(certificate(found.bound(i, gap=0.02))).startswith("holds: ")


def test_one_certificate_a_motor_is_written_beside_the_checker(checker, tmp_path):
    case = armdyn.worst_case(armdyn.load("two_link"), speed=0.5)
    case.certify(tmp_path)
    assert (tmp_path / "check.c").read_text() == SOURCE
    for demand in case.demands:
        path = tmp_path / f"{demand.joint}.bound"
        output = subprocess.run([checker, path], capture_output=True, text=True, check=True).stdout
        assert output.startswith("holds: ")


def lowered(text, factor):
    """The certificate of a lower threshold."""
    lines = text.split("\n")
    at = 2 + int(lines[1])
    threshold, *rest = lines[at].split()
    lines[at] = " ".join([(float.fromhex(threshold) * factor).hex(), *rest])
    return "\n".join(lines)


@pytest.fixture(scope="module")
def elbow():
    return bounds_of("ur5e")


def test_a_threshold_below_what_is_reached_is_refused(elbow, check):
    found = elbow.bound(2, gap=0.02)
    text = certificate(found)
    assert check(text).startswith("holds")
    refused = check(lowered(text, 0.999 * found.lower / found.upper))
    assert refused == "refused: the bound of a box is above the threshold\n"


def test_a_tree_that_does_not_cover_the_limits_is_refused(elbow, check):
    lines = certificate(elbow.bound(2, gap=0.02)).split("\n")
    slides, least, most, low, high = lines[2].split()
    lines[2] = " ".join([slides, least, most, (float.fromhex(low) + 1.0).hex(), high])
    assert check("\n".join(lines)) == "refused: a range is not covered\n"
    tree = lines[-2].split()
    assert check("\n".join([*lines[:2], f"{slides} {least} {most} {low} {high}", *lines[3:-2],
                            " ".join(tree[:-1])])) == "refused: the certificate ends too early\n"  # fmt: skip


def on_the_arc(kind, middle, half):
    """Points of the arc itself in the place of control points: a corner is left out."""
    exact = [
        boxes.controls(kind, middle + half * x, 0 * half)[..., :1, :] for x in (-1, -0.5, 0, 0.5, 1)
    ]
    points = np.concatenate(exact, axis=-2)
    return points if kind == 5 else boxes.controls(kind, middle, half)


@pytest.mark.slow
def test_a_search_that_leaves_out_a_corner_is_caught(elbow, check, monkeypatch):
    right = elbow.bound(2, gap=0.02)
    monkeypatch.setattr(descent, "controls", on_the_arc)
    found = elbow.bound(2, gap=0.02)
    assert found.boxes < right.boxes
    assert check(certificate(found)) == "refused: the bound of a box is above the threshold\n"


def ends_alone(self, e):
    """The largest torque with every speed at an end."""
    v = self._ends
    j, k = np.triu_indices(len(self.speeds), 1)
    quadratic = e[:, self.B[j, k]] @ (v[:, j] * v[:, k]).T + e[:, self.C] @ (v * v).T
    torques = e[:, self.G] + quadratic
    at = np.abs(torques).argmax(axis=1)
    found = np.take_along_axis(torques, at[:, None], axis=1)[:, 0]
    return np.abs(found), np.sign(found), v[at]


def test_a_chord_in_the_place_of_tangents_is_caught(check, monkeypatch):
    """5 - v² - w² + v w, which is 5 at rest and at most 4.25 with v at an end."""
    found = bounds_of("two_link")
    row = replace(
        found.rows[0][0], joints=(0,), slides=(False,), entries=np.arange(4), functions=np.zeros((4, 1), dtype=int),
        numbers=np.array([5.0, -1.0, -1.0, 1.0]), rates=((), (0, 0), (1, 1), (0, 1)), error=0.0, scale=8.0,
    )  # fmt: skip
    found.rows[0] = (row, row)
    right = found.bound(0)
    assert 5.0 <= right.upper <= 5.0501
    assert check(certificate(right)).startswith("holds")
    monkeypatch.setattr(descent, "corners", lambda tangents: [(1.0, 1.0, 1.0)])
    monkeypatch.setattr(boxes.Support, "largest", ends_alone)
    wrong = found.bound(0, gap=0.1)
    assert wrong.upper < 4.9
    assert check(certificate(wrong)) == "refused: the bound of a box is above the threshold\n"


def test_without_rounding_a_checker_takes_what_is_not_proved(check, tmp_path):
    """A force that does not depend on the position, and a threshold a bit below it."""
    rows = [{"joint": "prismatic", "mass": 0.1, "limits": (0.0, 1.0), "velocity_limit": 1.0}]
    robot = armdyn.from_dh(rows, gravity=(0, 0, -9.81), name="lift")
    limits = StateLimits(*robot.model.ranges.T, np.ones(1), np.full(1, 0.3))
    found = MotorBounds(robot, limits).bound(0)
    lines = certificate(found).split("\n")
    place = 3
    lines[place] = f"{found.lower.hex()} 0x0p+0 0x0p+0 0x0p+0"
    assert "refused: the bound" in check("\n".join(lines))
    loose = SOURCE.replace("return nextafter(x, INFINITY)", "return x").replace(
        "return nextafter(x, -INFINITY)", "return x"
    )
    assert loose.count("nextafter") == 0
    assert check("\n".join(lines), compiled(tmp_path, loose)).startswith("holds")


def test_without_a_proof_there_is_no_certificate():
    nothing = MotorBound(1.0, np.inf, *np.zeros((3, 1)), 0, 0)
    with pytest.raises(ModelError, match="ask for prove=True"):
        certificate(nothing)
