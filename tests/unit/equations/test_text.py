"""What a person reads."""

import json
import math
import re
from dataclasses import replace

import pytest
import sympy as sp

import armdyn
from armdyn import equations
from armdyn.errors import ModelError, UnknownNameError, WriteError
from armdyn.model import Mimic
from support.random_robots import random_model


@pytest.mark.parametrize("format", ["text", "markdown", "latex"])
def test_symmetry_and_zeros_are_said(format):
    robot = armdyn.load("saha_3r")
    text = re.sub(r"[$_{}\\&]", "", equations(robot).to(format))
    assert "M is symmetric" in text
    assert re.search(r"M12 = M13 = 0", text)
    assert re.search(r"G1 = 0", text)
    assert "M21" not in text
    text = re.sub(r"[$_{}\\&]", "", equations(robot, "christoffel").to(format))
    assert "hikm = himk" in text
    assert "hiii = 0" in text
    assert not re.search(r"h(\d)\1\1\b", text)
    assert "h121" not in text


@pytest.mark.slow
def test_every_entry_is_printed_or_said_to_be_zero():
    for form in ("state", "configuration", "christoffel"):
        text = equations(armdyn.load("saha_3r"), form).text()
        for block in equations(armdyn.load("saha_3r"), form).data()["blocks"]:
            for entry in block["entries"]:
                name, place = entry["name"], entry["place"]
                own = block["symbol"] in "hC" and len(set(place)) == 1
                alone = f"{block['symbol']} = 0" in text
                assert own or alone or re.search(rf"(^| ){re.escape(name)} = ", text, re.MULTILINE)
                assert entry["zero"] == (sp.sympify(entry["value"]) == 0)


def test_a_whole_array_of_zeros_is_one_statement():
    flat = armdyn.load("saha_3r").with_gravity((0, 0, 0))
    assert "\nG = 0\n" in equations(flat).text()


def test_constants_are_pointed_out():
    text = equations(armdyn.load("scara")).text()
    assert "Constant: M33, M44.\n" in text


def test_the_two_link_arm_reads_like_the_book():
    text = equations(armdyn.load("two_link")).text()
    assert "M11 = l² (m1/3 + 4 m2/3 + m2 C2)\n" in text
    assert "V1 = -m2 l² S2 (2 qd1 qd2 + qd2²)/2\n" in text
    assert "G2 = m2 g l C12/2\n" in text


def test_the_legend_has_what_occurs_and_nothing_else():
    found = equations(armdyn.load("craig_two_link"), letters={})
    body, _, where = found.text().partition("Where\n")
    for symbol in found.values:
        assert re.search(rf"\b{symbol}\b", body)
        assert re.search(rf"^{symbol} ", where, re.MULTILINE)
    words = set(re.findall(r"\b(?:[mxyzad]\d|[I]\w\w?\d|F\w\d|g)\b", body))
    assert words <= set(found.values)


def arm(*rows, gravity=(0, -9.81, 0)):
    link = {"joint": "revolute", "mass": 1.0, "com": [-0.1, 0, 0]}
    return armdyn.from_dh([link | row for row in rows], gravity=gravity)


def test_angle_offsets_are_in_the_legend():
    text = equations(arm({"a": 0.4}, {"a": 0.4, "theta": 0.3}, {"a": 0.4})).text()
    assert re.search(r"^C2, S2 +cosine and sine of q2 \+ 0\.3$", text, re.MULTILINE)
    assert re.search(r"^C123, S123 +cosine and sine of q1 \+ q2 \+ q3 \+ 0\.3$", text, re.MULTILINE)


def test_axes_against_each_other_give_differences_of_angles():
    text = equations(arm({"a": 0.4, "alpha": math.pi}, {"a": 0.3})).text()
    assert "G2 = -m2 g x2 C1-2\n" in text
    assert "C1-2, S1-2  cosine and sine of q1 - q2" in text


def test_numbers_that_cancel_are_zero():
    top = {"com": [0, 0, 0], "inertia": [[0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.2]]}
    robot = arm({"alpha": math.pi / 2} | top, top, gravity=(0, 0, -9.81))
    assert "V1 = 2 (Ixx2 - Iyy2) C2 S2 qd1 qd2\n" in equations(robot).text()
    numeric = equations(robot, values=True).text()
    assert "\nV = 0\n" in numeric
    assert "Constant: M11, M22." in numeric


def test_constant_angles_are_listed_by_their_numbers():
    """And not in the order of their hashes, which differs from run to run."""
    listed = equations(random_model("PPPR", 5), "christoffel").angles
    assert listed == [((4, 1),), "alpha1", "alpha2", "phi2", "alpha3", "phi3"]


@pytest.mark.slow
def test_friction_is_written_out():
    text = equations(armdyn.load("puma560"), values=True).text()
    assert "tau = M qdd + V + G + F" in text
    assert re.search(r"^F1 = [\d.]+ qd1 \+ [\d.]+ sgn\(qd1\)", text, re.MULTILINE)


@pytest.mark.slow
def test_large_arms_are_programs_and_a_note_says_why():
    found = equations(armdyn.load("panda"))
    assert found.form == "recursive"
    total = sum(found.operations)
    assert "the state form would have more than 2,000 terms" in found.notes[0]
    assert f"{total} operations" in found.notes[0]
    assert re.search(r"^t1 = ", found.text(), re.MULTILINE)
    assert re.search(r"^S2 = sin\(q2\)$", found.text(), re.MULTILINE)
    assert found.data()["operations"] == dict(
        zip(("multiplications", "additions"), found.operations, strict=True)
    )


def test_followers_are_coordinates_and_a_note_says_so():
    model = random_model("RR", 5)
    mimic = replace(model.joints[1], mimic=Mimic("joint1", 2.0))
    found = equations(replace(model, joints=(model.joints[0], mimic)))
    assert "joint2 follow" in found.notes[0]
    assert found.blocks[0].shape == (2, 2)


def test_angles_in_data_are_those_of_the_entries():
    data = equations(arm({"a": 0.4, "alpha": math.pi}, {"a": 0.3})).data()
    assert data["angles"]["C1m2"] == "cos(q1 - q2)"
    used = {
        w
        for b in data["blocks"]
        for e in b["entries"]
        for w in re.findall(r"\b[CS]\d\w*", e["value"])
    }
    assert used == set(data["angles"])


def test_data_is_plain():
    for form in ("state", "energy", "recursive", "cartesian"):
        data = equations(armdyn.load("two_link"), form).data()
        assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_files_by_their_ending(tmp_path):
    found = equations(armdyn.load("two_link"))
    for suffix, format in ((".txt", "text"), (".tex", "latex"), (".md", "markdown")):
        found.save(tmp_path / f"a{suffix}")
        assert (tmp_path / f"a{suffix}").read_text(encoding="utf-8") == found.to(format)
    found.save(tmp_path / "b.py", "sympy")
    assert (tmp_path / "b.py").read_text(encoding="utf-8") == found.sympy()
    with pytest.raises(WriteError, match=r"'.*c\.doc'; let it end in \.txt, \.tex, \.md, \.py"):
        found.save(tmp_path / "c.doc")
    with pytest.raises(WriteError, match="missing"):
        found.save(tmp_path / "missing" / "a.tex")
    assert not (tmp_path / "missing").exists()


def test_errors_say_what_to_do():
    robot = armdyn.load("two_link")
    with pytest.raises(UnknownNameError, match="'stat'. Did you mean 'state'"):
        equations(robot, "stat")
    with pytest.raises(UnknownNameError, match="'latx'. Did you mean 'latex'"):
        equations(robot).to("latx")
    with pytest.raises(UnknownNameError, match="'a11'. Did you mean 'a1'"):
        equations(robot, letters={"a11": "l"})
    with pytest.raises(ModelError, match="from 1 to 17, got 0"):
        equations(robot, values=True, digits=0)
    with pytest.raises(ModelError, match="load it first"):
        equations("two_link")
    with pytest.raises(UnknownNameError, match="frame"):
        equations(robot, "cartesian", frame="wrld")
