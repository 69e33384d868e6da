"""DH tables with branches and cut joints, as Khalil and Kleinfinger write them."""

import numpy as np
import pytest

from armdyn.errors import LoopError, ModelError, UnknownNameError
from armdyn.formulations.newton_euler import newton_euler
from armdyn.io.dh import read_dh
from armdyn.io.toml.read import read_toml
from armdyn.loops.coordinates import coordinates_of
from armdyn.model.transform import rotation_from_rpy, transform
from support.loops import FIVE_BAR

LINKS = (
    (0.0, 1.9, (0.16, 0.012, 0.0), (0.0024, 0.0228, 0.024)),
    (0.35, 1.25, (0.27, -0.008, 0.0), (0.0031, 0.02945, 0.031)),
    (0.28, 1.6, (0.14, 0.006, 0.0), (0.0018, 0.0171, 0.018)),
    (0.31, 1.05, (0.22, 0.01, 0.0), (0.0022, 0.0209, 0.022)),
)
PIN = {
    "name": "pin",
    "type": "revolute",
    "a": ("link2", (0.52, 0, 0)),
    "b": ("link4", (0.47, 0, 0)),
}
ASSEMBLY = {"joint1": 2.3, "joint2": -1.72, "joint3": 0.7, "joint4": 1.61}


def table(**change):
    rows = [
        {"joint": "revolute", "a": a, "mass": m, "com": com, "inertia": inertia}
        for a, m, com, inertia in LINKS
    ]
    rows[2]["parent"] = "base"
    rows[1]["actuated"] = rows[3]["actuated"] = False
    rows[2] |= change
    return rows


def read(rows, loop=PIN, convention="modified"):
    base = transform(rotation_from_rpy((np.pi / 2, 0, 0)))
    return read_dh(rows, convention, base=base, loops=[loop], assembly=ASSEMBLY)[0]


def test_a_table_with_a_cut_joint_is_the_robot_of_its_file(tmp_path):
    file = tmp_path / "five_bar.toml"
    file.write_text(FIVE_BAR)
    tau = []
    for model in (read(table()), read_toml(file)[0]):
        here = coordinates_of(model).at(np.array([2.2, 0.8]))
        rates, changes = here.rates(np.array([0.7, -1.0])), here.accelerations(*np.eye(2))
        tau.append(here.torques(newton_euler(model, here.q, rates, changes).tau))
    np.testing.assert_allclose(*tau, atol=1e-12)


def test_branches_begin_where_gamma_and_b_say():
    model = read(table(gamma=np.pi / 2, b=0.0, a=0.0), PIN | {"b": ("link4", (0.47, 0.0, 0.0))})
    np.testing.assert_allclose(model.joints[2].placement[:3, 0], [0.0, 1.0, 0.0], atol=1e-15)


@pytest.mark.parametrize(
    ("change", "loop", "error", "message"),
    [
        ({"parent": "link9"}, PIN, UnknownNameError, "link before it .* named 'link9'"),
        ({}, PIN | {"a": "link2"}, ModelError, "loop 1: a: expected a link and a place"),
        ({}, PIN | {"type": "glue"}, UnknownNameError, "cut joint of a loop named 'glue'"),
        ({}, PIN | {"kind": 1}, UnknownNameError, "key .in loop 1. 'kind'"),
        ({}, 3, ModelError, "loop 1: expected a mapping"),
        ({}, PIN | {"b": ("link1", (0.0, 0, 0))}, LoopError, "every joint around|cannot"),
    ],
)
def test_what_is_no_table_with_loops_is_refused(change, loop, error, message):
    with pytest.raises(error, match=message):
        coordinates_of(read(table(**change), loop))


def test_gamma_is_of_the_modified_convention():
    with pytest.raises(ModelError, match="DH row 3: gamma and b are of the modified"):
        read(table(gamma=0.3), convention="standard")


def test_a_file_may_be_a_table_with_loops(tmp_path):
    rows = []
    for i, (row, given) in enumerate(zip(table(), LINKS, strict=True), start=1):
        lines = [f'[[joint]]\nname = "joint{i}"\njoint = "revolute"\na = {given[0]}']
        lines += [f"mass = {given[1]}\ncom = {list(given[2])}\ninertia = {list(given[3])}"]
        lines += ['parent = "base"'] * ("parent" in row)
        lines += ["actuated = false"] * (not row.get("actuated", True))
        rows += lines
    loop = FIVE_BAR[FIVE_BAR.index("[[loops]]") :].replace("q_link", "joint")
    file = tmp_path / "table.toml"
    file.write_text('format = 1\nname = "t"\nconvention = "modified"\n' + "\n".join([*rows, loop]))
    model = read_toml(file)[0]
    assert [j.actuated for j in model.joints] == [True, False, True, False]
    assert coordinates_of(model).closure.iteration is None
