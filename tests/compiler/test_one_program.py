"""One program for each quantity: what is counted and proved is what runs and what is exported."""

import json
import re
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import files as files_of
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import armdyn
from armdyn.cli import app
from armdyn.closed_forms.recursive import recursive
from armdyn.errors import ArmdynError, GraphError, UnknownNameError
from armdyn.export.c.export import c_sources
from armdyn.export.export_comments import operations
from armdyn.export.options import ExportOptions
from armdyn.io.catalog import catalog_names
from armdyn.io.files import read_model
from armdyn.quantities.program import QUANTITIES, quantity_program
from armdyn.quantities.proof import proved_program
from armdyn.quantities.request import Request
from armdyn.quantities.traced_robot import TracedRobot
from armdyn.shorten import shorten
from armdyn.shorten.canonical.frames import canonical
from armdyn.shorten.canonical.model import branches
from armdyn.shorten.parts import (
    BIAS,
    MASS_MATRIX,
    TORQUES,
    WEIGHT,
    PartWriter,
    forward_dynamics,
)
from armdyn.shorten.program_store import key_of, shipped
from armdyn.shorten.run_time import weightless
from armdyn.shorten.shortest import QUICK, BaseBranch, difference, exact, shortest_sound
from armdyn.shorten.symbolic import generic, pattern
from support.counted_arms import prepared
from support.processes import printed
from support.random_robots import random_model

pytestmark = pytest.mark.slow

COMPARED = ("inverse_dynamics", "mass_matrix", "gravity_vector", "forward_dynamics", "jacobian")
MOST_JOINTS = 9
SHORT = pytest.mark.arms(where=lambda arm: len(arm.kinds) < 6)


def _urdfs() -> list[Path]:
    """URDFs of others with few joints; which files are refused, and why, is tested elsewhere."""
    listed = (Path(str(f.locate())) for f in files_of("example-robot-data") or [])
    found = []
    for path in sorted(path for path in listed if path.suffix == ".urdf"):
        with suppress(ArmdynError):
            model, _ = read_model(path, fix_root=True)
            found += [path] if len(model.joints) <= MOST_JOINTS else []
    return found


URDFS = _urdfs()


def test_there_are_twenty_files_of_others():
    assert len(URDFS) >= 20


SOME = ("saha_3r", "scara", "puma560", "four_bar")
"""Hinges, a slide, a wrist with friction and rotors, and a loop."""
OTHERS = [
    pytest.param(name, marks=pytest.mark.thorough(reason="many kernels to compile"))
    for name in catalog_names()
    if name not in SOME
]


@pytest.mark.parametrize("name", [*SOME, *OTHERS])
def test_counts_of_kernel_c_and_ops_are_one_number(name):
    robot = armdyn.load(name)
    compared = ("inverse_dynamics",) if name == "delta" else COMPARED
    asked = [arg for q in compared for arg in ("--quantity", QUANTITIES[q].counted_as)]
    run = CliRunner().invoke(app, ["ops", name, "--json", "--programs", *asked])
    told = {row["quantity"]: row for row in json.loads(run.output)["programs"]}
    same_counts(robot, {q: told[q] for q in compared})
    curved = name in ("delta", "five_bar", "four_bar")  # closed forms of the numbers of one robot
    assert {row["proved"] for row in told.values()} == {"random" if curved else "field"}


def test_a_designed_arm_has_one_count_too(tmp_path):
    """What `armdyn simplify` told of Saha's arm is what the saved file takes, however it is run."""
    path = tmp_path / "new.toml"
    found = armdyn.simplify(armdyn.load("saha_3r"), symbolic=False)
    found.robot.save(path)
    run = CliRunner().invoke(app, ["ops", str(path), "--json", "--programs"])
    assert run.exit_code == 0, run.output
    rows = {row["quantity"]: row for row in json.loads(run.output)["programs"]}
    same_counts(armdyn.load(path), {q: rows[q] for q in COMPARED})
    told = rows["inverse_dynamics"]["operations"]
    assert told["mul"] + told["add"] == found.comparison.operations[1].total <= 5


def same_counts(robot, told):
    """Whether kernels, C and the façade have the operations that were told."""
    exported = c_sources(robot.model, ExportOptions(tuple(told)))
    texts = [re.sub(r"[\s*]+", " ", text) for text in exported.texts.values()]
    for function in exported.functions:
        name, program = function.name, function.program
        kernel = robot.kernel(name).__self__
        assert kernel.operations == program.operations
        assert armdyn.count_operations(robot, QUANTITIES[name].counted_as) == program.operations
        for kind in ("operations", "rotors", "friction"):
            count = getattr(program, kind)
            assert told[name][kind]["mul"] == count.mul == getattr(kernel.program, kind).mul
            assert told[name][kind]["add"] == count.add == getattr(kernel.program, kind).add
        whole = program.operations + program.rotors + program.friction
        assert whole.mul + whole.add == counted(program, "mul", "add", "sub", "angle_sum")
        assert all(operations(program) in text for text in texts)


def counted(program, *ops):
    """Instructions of some kinds."""
    return sum(instruction.op in ops for instruction in program.instructions)


@SHORT
def test_counts_of_any_robot_are_one_number(arm):
    check_proved_counts(armdyn.Robot(arm.model))


@pytest.mark.thorough(reason="many kernels to compile")
@pytest.mark.parametrize("path", URDFS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::armdyn.errors.ArmdynWarning")
def test_counts_of_files_of_others_are_one_number(path):
    check_proved_counts(armdyn.load(path, fix_root=True))


def check_proved_counts(robot):
    told = {}
    for name in ("inverse_dynamics", "gravity_vector"):
        program, proved = proved_program(robot.model, Request(name))
        told[name] = {k: getattr(program, k) for k in ("operations", "rotors", "friction")}
        told[name] = {k: asdict(v) for k, v in told[name].items()}
        assert proved == "field"
    same_counts(robot, told)


@pytest.mark.parametrize("name", ["puma560", "scara", "ur5e"])
def test_recursive_equations_are_that_program(name):
    model = armdyn.load(name).model
    program = quantity_program(model, Request("inverse_dynamics", friction=False))
    equations = recursive(model)
    assert (equations.operations, equations.rotors) == (program.operations, program.rotors)


@SHORT
def test_every_quantity_is_proved(arm):
    there = [name for name, record in QUANTITIES.items() if not record.refused(arm.model)]
    for quantity in arm.share(there, of=4):
        assert proved_program(arm.model, Request(quantity))[1] == "field"


def test_torques_and_accelerations_of_any_robot_are_proved(arm):
    for quantity in ("inverse_dynamics", "forward_dynamics"):
        assert proved_program(arm.model, Request(quantity))[1] == "field"


def test_a_wrong_program_is_not_proved(monkeypatch):
    model, request = armdyn.load("two_link").model, Request("inverse_dynamics")
    links = TracedRobot.links

    def wrong(self, *motion, **options):
        tau = links(self, *motion, **options)
        return tau + (0 if self.as_in_books else 1e-3 * motion[2] * motion[0])

    monkeypatch.setattr(TracedRobot, "links", wrong)
    with pytest.raises(GraphError, match="inverse_dynamics of 'two_link' is not what it should"):
        proved_program(model, request)


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "mass_matrix", "forward_dynamics"])
def test_a_program_is_compared_with_the_pages_of_textbooks(monkeypatch, quantity):
    written = BaseBranch.shortest

    def doubled(self, *part, **options):
        return [(1.0 if self.book is None else 2.0) * x for x in written(self, *part, **options)]

    monkeypatch.setattr(BaseBranch, "shortest", doubled)
    with pytest.raises(GraphError, match=f"{quantity} of .* is not what it should"):
        proved_program(random_model("RRR", 5, rotors=True), Request(quantity))


TEXTS = """
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request
from support.random_robots import random_model
for kind in ("RRR", "RPR"):
    for name in ("inverse_dynamics", "mass_matrix", "forward_dynamics", "jacobian_dot"):
        print(quantity_program(random_model(kind, 5, rotors=True), Request(name)).text)
"""


def test_programs_depend_neither_on_caches_nor_on_the_order_of_hashes(tmp_path):
    """Text by text: with nothing on disk, into an empty folder, and out of it again."""
    texts = [
        printed(TEXTS, ARMDYN_CACHE_DIR=folder, PYTHONHASHSEED=seed)
        for seed, folder in (("0", "off"), ("1", str(tmp_path)), ("2", str(tmp_path)))
    ]
    assert texts[0].count("instructions") == 8
    assert texts[0] == texts[1] == texts[2]


def test_rotors_and_friction_are_counted_apart():
    rows = [dict(joint="revolute", a=0.4, mass=2.0, com=(-0.1, 0, 0)) for _ in range(2)]
    bare = armdyn.from_dh(rows)
    rows = [
        row | dict(rotor_inertia=inertia, viscous=0.3, coulomb=0.2)
        for row, inertia in zip(rows, (1.0, 0.7), strict=True)
    ]
    robot = armdyn.from_dh(rows)
    for name in ("inverse_dynamics", "mass_matrix", "forward_dynamics", "bias"):
        programs = [quantity_program(r.model, Request(name)) for r in (bare, robot)]
        assert programs[0].operations == programs[1].operations
        assert programs[0].rotors.total == programs[0].friction.total == 0
        if name != "forward_dynamics":  # there constants may take rotors in without a cost
            assert (programs[1].rotors.total > 0) == ("rotors" in QUANTITIES[name].terms)
        assert (programs[1].friction.total > 0) == ("friction" in QUANTITIES[name].terms)
        without = quantity_program(robot.model, Request(name, friction=False))
        assert without.operations == programs[1].operations
        assert without.friction.total == 0


@pytest.mark.parametrize(
    "name", sorted({*catalog_names()} - {"delta", "five_bar", "four_bar", "palletizer"})
)
def test_programs_that_come_with_armdyn_are_proved_again(name):
    model = armdyn.load(name).model
    (robot,) = branches(canonical(model)).values()
    rotors = [joint.rotor.reflected for joint in model.joints]
    ready, still = prepared(robot), prepared(weightless(robot))
    parts = [(ready, part) for part in (WEIGHT, BIAS, TORQUES, forward_dynamics(rotors))]
    for of, part in [*parts, (still, MASS_MATRIX), (still, BIAS)]:
        program = shipped(key_of(asdict(part), pattern(of)))
        assert program is not None
        writer = PartWriter(generic(of))
        assert exact(writer.robot, part, writer.replayed(program))
        inertias = np.array(rotors[: len(part.rotors)])
        taken = shortest_sound(of, part, QUICK, inertias)
        assert difference(taken, of, part, inertias) < 1e-10


def test_a_deep_search_is_kept_and_never_longer(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMDYN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(shorten, "STAGES", 2)
    robot = armdyn.Robot(random_model("RPR", 11))
    deep = robot.optimized(effort="deep")
    assert deep.with_gravity((0, 0, -1.6)).search_effort == "deep"
    count = armdyn.count_operations(deep)
    assert count.total <= armdyn.count_operations(robot).total
    (file,) = (tmp_path / "programs").iterdir()
    kept = file.read_bytes()
    state = np.random.default_rng(0).uniform(-1, 1, (3, 5, 3))
    np.testing.assert_allclose(
        deep.inverse_dynamics(*state), robot.inverse_dynamics(*state), rtol=1e-10
    )
    assert deep.kernel("inverse_dynamics").__self__.operations == count
    assert file.read_bytes() == kept
    run = CliRunner().invoke(app, ["export", "two_link", "-o", str(tmp_path / "c"), "--search"])
    assert run.exit_code == 0
    with pytest.raises(UnknownNameError, match="effort 'deeper'"):
        robot.optimized("deeper")
