import json
import math
import os
from dataclasses import replace
from functools import partial
from itertools import groupby
from types import SimpleNamespace

import numpy as np
import pytest

from armdyn.bench import bench as bench_module
from armdyn.bench.bench import ALONE, CASES, FEWEST_COMPILED, FORMS, LIBRARIES, bench
from armdyn.bench.peers import Contender, MeasuredArm, PinocchioLoops, alternate, check_agreement
from armdyn.errors import BenchmarkError, PeerError, UnknownNameError
from armdyn.kernels import build
from armdyn.kernels.threads import set_threads, threads
from armdyn.loading import load
from armdyn.model.cut_joints import CUT_JOINTS

pytestmark = pytest.mark.slow

SHORT = [name for name in CASES if name != "compile"]


@pytest.fixture
def run(command):
    return partial(command, "bench")


# timing


def test_the_shortest_run_counts_and_all_take_turns():
    order = []
    contenders = [Contender(name, lambda name=name: order.append(name), 1) for name in "ab"]
    assert all(0 < t < 1 for t in alternate(contenders, 0.0))
    turns = "".join(name for name, _ in groupby(order))
    assert turns.startswith("ababab")


def test_one_thread_while_timing_and_as_before_afterwards():
    set_threads(3)
    seen = []
    alternate([Contender("", lambda: seen.append(threads()), 1)], 0.0)
    after = threads()
    set_threads(None)
    assert (set(seen), after) == ({1}, 3)


def test_different_results_are_an_error():
    right = Contender("right", lambda: None, 1, lambda: np.array([[1.0, 2.0]]))
    check_agreement(
        [right, Contender("more", lambda: None, 1, lambda: np.array([[1.0, 2], [3, 4]]))]
    )
    wrong = Contender("wrong", lambda: None, 1, lambda: np.array([[1.0, 2.0 + 1e-8]]))
    with pytest.raises(BenchmarkError, match="right and wrong differ by 5.0e-09 of the largest"):
        check_agreement([right, wrong])
    broken = Contender("broken", lambda: None, 1, lambda: np.array([[np.nan, 2.0]]))
    with pytest.raises(BenchmarkError, match="differ by nan"):
        check_agreement([right, broken])
    with pytest.raises(BenchmarkError, match=r"shape \(1, 2\) and other \(1, 3\)"):
        check_agreement([right, Contender("other", lambda: None, 1, lambda: np.ones((1, 3)))])


# rows


@pytest.fixture(scope="module")
def report():
    return bench(["ur5e", "puma560"], SHORT, seconds=0.0, quick=True)


@pytest.mark.slow
def test_all_peers_compute_what_we_do_and_every_number_is_one(report):
    assert {row.case for row in report.rows} == set(SHORT)
    peers = {row.against for row in report.rows if row.robot == "ur5e" and row.case not in ALONE}
    assert len(peers - {None}) == 6
    for row in report.rows:
        assert math.isfinite(row.ours)
        assert row.ours > 0
        if row.robot == "ur5e":
            assert (row.theirs is None) if row.case in FORMS else row.theirs > 0


@pytest.mark.slow
def test_the_processor_is_measured_in_the_caches_and_out_of_them(report):
    rows = [row for row in report.rows if (row.robot, row.case) == ("ur5e", "peak")]
    ways = [f"{n} states{how}" for n in (2048, 10000) for how in ("", " in blocks")]
    assert [row.what.split(", ")[1] for row in rows] == [way for way in ways for _ in range(2)]
    assert all(0.05 < row.ratio < 1 for row in rows)
    for peak, bound in zip(rows[::2], rows[1::2], strict=True):
        assert bound.against == "multipliers"
        products, operations = (int(row.what.split()[0]) for row in (bound, peak))
        assert products < operations < 2 * products
        assert peak.theirs / 2 < bound.theirs < 2 * peak.theirs
    (row,) = (row for row in report.rows if (row.robot, row.case) == ("ur5e", "threads"))
    assert row.what.startswith("batch inverse dynamics, 100000 states, ")
    assert row.against == "one thread"


def test_what_was_measured_before_ctrl_c_is_reported():
    def tell(what):
        if what.startswith("forward dynamics"):
            raise KeyboardInterrupt

    found = bench(["ur5e"], SHORT, seconds=0.0, quick=True, tell=tell)
    assert {row.case for row in found.rows} == {"inverse_dynamics"}
    assert "stopped from the keyboard: the rows after the last one are missing" in found.notes


@pytest.mark.slow
def test_the_toolbox_computes_its_own_puma(report):
    found = [row for row in report.rows if (row.robot, row.case) == ("puma560", "inverse_dynamics")]
    assert [row.against for row in found] == ["rtb rne"]
    assert any("a URDF cannot hold a reduced parameter set" in note for note in report.notes)


def test_ratios_are_those_of_the_times(report):
    for row in report.rows:
        expected = None if row.theirs is None else row.theirs / row.ours
        assert row.ratio == expected


def test_the_machine_is_named(report):
    machine = report.machine
    assert machine.cpu
    assert machine.cores >= 1
    assert machine.vector_bits in (128, 256, 512)
    assert set(machine.versions) == set(LIBRARIES)
    assert all(machine.versions.values())


def test_the_report_is_plain_data(report):
    data = json.loads(json.dumps(report.data(), allow_nan=False))
    assert set(data) == {"machine", "rows", "notes"}
    assert len(data["rows"]) == len(report.rows)
    names = {"robot", "case", "what", "ours", "against", "theirs", "ratio"}
    assert all(set(row) == names for row in data["rows"])


@pytest.mark.slow
def test_a_wrong_kernel_is_caught(monkeypatch, run):
    right = bench_module.batch_contender

    def wrong(robot, quantity, states):
        found = right(robot, quantity, states)
        return Contender(found.name, found.run, found.states, lambda: found.result() * (1 + 1e-7))

    monkeypatch.setattr(bench_module, "batch_contender", wrong)
    code, out, err = run("ur5", "--quick", "--seconds", 0, "--only", "inverse_dynamics")
    assert (code, out) == (2, "")
    assert "error: inverse_dynamics of 'ur5' by armdyn and pin.rneaInParallel differ" in err


def test_without_peers_ours_is_still_measured(monkeypatch):
    monkeypatch.setattr(bench_module, "installed", lambda name: None)
    found = bench(["ur5e"], ["inverse_dynamics", "one_state"], seconds=0.0, quick=True)
    assert len(found.rows) == 3
    for row in found.rows:
        assert row.ours > 0
        assert (row.against, row.theirs, row.ratio) == (None, None, None)
    assert "not compared with mujoco: it is not installed" in found.notes


def test_a_library_with_other_joints_is_refused():
    with pytest.raises(PeerError, match="it moves 1 joint, armdyn 2"):
        MeasuredArm(load("two_link"), None).order(["other"])


@pytest.mark.slow
def test_compiling_compiles_once_and_loading_does_not(monkeypatch):
    traced, before = [], dict(os.environ)
    original = build.quantity_program

    def counted(model, request):
        traced.append(model)
        return original(model, request)

    monkeypatch.setattr(build, "quantity_program", counted)
    rows = bench(["ur3"], ["compile"], seconds=0.0).rows  # no other test has its kernels
    assert len(traced) == 2 * (FEWEST_COMPILED + 1)  # the first one loads LLVM
    assert len(rows) == 4
    assert min(row.ours for row in rows) > 0
    assert dict(os.environ) == before


# the command line


def test_the_table_is_printed(run):
    code, out, err = run("ur5e", "--quick", "--seconds", 0, "--only", "inverse_dynamics")
    assert (code, err) == (0, "")
    assert "load average" in " ".join(out.split())  # a processor with a long name breaks the line
    for part in ("cores", "pin ", "pin.rneaInParallel", "mj_inverse", "note: "):
        assert part in out


def test_json_is_complete(run):
    code, out, _ = run("--quick", "--seconds", 0, "--only", "one_state", "--json")
    data = json.loads(out)
    assert code == 0
    assert [(row["robot"], row["case"]) for row in data["rows"]] == [("panda", "one_state")] * 2


def test_an_unknown_name_is_an_error_with_a_suggestion(run):
    code, out, err = run("--only", "one_sate")
    assert (code, out) == (2, "")
    assert "there is no benchmark 'one_sate'. Did you mean 'one_state'" in err
    with pytest.raises(UnknownNameError, match="no benchmark 'x'"):
        bench(only=["x"])


@pytest.mark.parametrize("words", [("--seconds", "-1"), ("no_such_robot",)])
def test_bad_options_are_errors(run, words):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err
    assert "Traceback" not in err


# loops


def test_pinocchio_computes_loops_by_its_constraints():
    cases = ["inverse_dynamics", "forward_dynamics"]
    report = bench(["four_bar"], cases, seconds=0.0, quick=True)
    assert [row.against for row in report.rows] == [
        "pin.rnea and constraint Jacobians in a loop",
        "pin.constraintDynamics in a loop",
    ]
    assert "four_bar is not compared with mujoco: a URDF cannot hold loops" in report.notes
    rod = replace(load("four_bar").model.loops[0], cut=CUT_JOINTS["distance"], length=0.1)
    model = SimpleNamespace(loops=[rod])
    with pytest.raises(PeerError, match="loop 'pin' is closed by a distance joint, not by a pin"):
        PinocchioLoops(None, model)
