import json
import math
import os
import sys
from itertools import groupby

import numpy as np
import pytest

from armdyn.backends import build
from armdyn.backends.kernel import Kernel
from armdyn.backends.llvm.trig import FLOPS
from armdyn.backends.threads import set_threads, threads
from armdyn.bench import cases as bench_cases
from armdyn.bench import robots as bench_robots
from armdyn.bench.bench import bench
from armdyn.bench.cases import CASES
from armdyn.bench.compile import FEWEST, compile_and_load
from armdyn.bench.growth import exponent, growth, random_chain
from armdyn.bench.peak import kernel_flops, peak_loop
from armdyn.bench.plot_growth import GAP, _spread, plot_growth
from armdyn.bench.report import LIBRARIES, Goal, Row
from armdyn.bench.robots import SOURCES, arm
from armdyn.bench.timing import Contender, alternate, check_agreement
from armdyn.cli import main
from armdyn.errors import BenchmarkError, UnknownNameError
from armdyn.model import FrictionLaw
from armdyn.quantities.request import Request

SHORT = [name for name in CASES if name not in ("chain", "compile")]


@pytest.fixture
def run(monkeypatch, capsys):
    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["armdyn", "bench", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        return int(end.value.code or 0), captured.out, captured.err

    return call


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
    return bench(SHORT, seconds=0.0, quick=True)


def test_all_peers_compute_what_we_do_and_every_number_is_one(report):
    assert {row.case for row in report.rows} == set(SHORT)
    for row in report.rows:
        numbers = [row.ours, row.theirs, row.value]
        assert all(x is not None and math.isfinite(x) and x > 0 for x in numbers), row


def test_ratios_are_those_of_the_times(report):
    for row in report.rows:
        faster = row.unit == "times as fast"
        expected = row.theirs / row.ours if faster else row.ours / row.theirs
        if row.unit != "of the peak":
            assert row.value == pytest.approx(expected)
        else:
            assert row.value == pytest.approx(row.theirs / row.ours)


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
    names = {"case", "what", "ours", "against", "theirs", "value", "unit", "goal", "met"}
    assert all(set(row) == names for row in data["rows"])


def test_goals_are_met_from_their_limit_on():
    def met(value, sense):
        return Row("", "", 1.0, "", 1.0, value, "", Goal(sense, 2.0)).met

    assert [met(v, "≥") for v in (1.9, 2.0, None)] == [False, True, None]
    assert [met(v, "≤") for v in (1.9, 2.0, 2.1)] == [True, True, False]
    assert Row("", "", 1.0, "", 1.0, 3.0, "").met is None


def test_a_wrong_kernel_is_caught(monkeypatch, run):
    class Wrong(Kernel):
        def __call__(self, *arrays, out=None):
            result = super().__call__(*arrays, out=out)
            result *= 1.0 + 1e-7
            return result

    monkeypatch.setattr(bench_cases, "Kernel", Wrong)
    code, out, err = run("--quick", "--seconds", 0, "--only", "ur5_inverse_dynamics")
    assert (code, out) == (2, "")
    assert "error: inverse_dynamics of 'ur5' by armdyn and pin.rneaInParallel differ" in err


def test_without_peers_ours_is_still_measured(monkeypatch):
    monkeypatch.setattr(bench_cases, "installed", lambda name: None)
    names = ["ur5_inverse_dynamics", "one_state", "mujoco", "robotics_toolbox"]
    for row in bench(names, seconds=0.0, quick=True).rows:
        assert row.ours > 0
        assert row.against == "not installed"
        assert (row.theirs, row.value, row.met) == (None, None, None)


def test_without_the_package_of_robots_the_catalog_stands_in(monkeypatch):
    monkeypatch.setattr(bench_robots, "_file", lambda name: None)
    arm.cache_clear()
    names = [f"{robot}_inverse_dynamics" for robot in SOURCES]
    rows = {row.case: row for row in bench(names, seconds=0.0, quick=True).rows}
    arm.cache_clear()
    assert rows["panda_inverse_dynamics"].value > 0
    assert rows["ur5_inverse_dynamics"].value > 0
    talos = rows["talos_inverse_dynamics"]
    assert (talos.ours, talos.against) == (None, "example-robot-data not installed")


def test_the_robots_have_neither_friction_nor_rotors():
    for name in SOURCES:
        joints = arm(name).robot.model.joints
        assert all(j.rotor.reflected == 0 and j.friction == FrictionLaw() for j in joints)


# compiling, the peak


@pytest.mark.parametrize("batch", [(), (64,)], ids=["one", "batch"])
def test_compiling_compiles_once_and_loading_does_not(monkeypatch, batch):
    traced, before = [], dict(os.environ)
    original = build.quantity_program

    def counted(model, request):
        traced.append(model)
        return original(model, request)

    monkeypatch.setattr(build, "quantity_program", counted)
    made, loaded = compile_and_load(arm("ur5"), batch, 0.0)
    assert len(traced) == FEWEST + 1  # the first one warms LLVM
    assert min(made, loaded) > 0
    assert dict(os.environ) == before


def test_the_peak_is_that_of_a_processor():
    (time,) = alternate([peak_loop().contender()], 0.1)
    assert 1e9 < 1 / time < 1e13


def test_operations_are_those_of_the_program_and_of_its_angles():
    kernel = Kernel(arm("ur5").robot.model, Request("inverse_dynamics", friction=False))
    counted = kernel.operations
    needed = counted.mul + counted.add + counted.div + FLOPS["float64"] * counted.trig
    # a product that goes into two sums is computed in both
    assert needed <= kernel_flops(kernel) <= 1.1 * needed


# growth


def test_exponents_are_fitted():
    sizes = [2, 3, 5, 8]
    for power in (1.0, 2.5, 4.0):
        assert exponent(sizes, [7.0 * n**power for n in sizes]) == pytest.approx(power)


def test_random_chains_are_general_and_the_same_every_time():
    robot = random_chain(4)
    # Gautier and Khalil: 7 n - 6 base parameters if nothing but the first axis is special
    assert robot.base_parameters().rank == 7 * 4 - 6
    state = np.ones((3, 4))
    np.testing.assert_array_equal(
        robot.inverse_dynamics(*state), random_chain(4).inverse_dynamics(*state)
    )


@pytest.fixture(scope="module")
def series():
    return growth(lambda _: None, sizes=(2, 3, 4), seconds=0.0)


def test_costs_grow_with_the_powers_of_the_books(series):
    grown = {one.method: one for one in series if one.quantity == "inverse_dynamics"}
    for name in ("newton_euler", "newton_euler_link", "augmented_body"):
        steps = np.diff(grown[name].operations)
        assert len(set(steps)) == 1  # a n + b
    assert grown["lagrange_euler"].exponent > grown["dalembert"].exponent > 1.5
    for one in grown.values():
        assert one.timed == [2, 3, 4]
        assert all(t > 0 for t in one.seconds)
        assert set(one.data()) >= {"joints", "operations", "timed", "seconds", "exponent"}


def test_a_method_stops_where_it_takes_too_long():
    for one in growth(lambda _: None, sizes=(2, 3), patience=0.0, seconds=0.0):
        assert one.joints == [2]
        assert one.timed in ([], [2])


def test_the_growth_is_drawn(series, tmp_path):
    plot_growth(series, tmp_path / "growth.png")
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")


def test_labels_keep_their_order_and_distance():
    heights = [0.1, 0.5, 0.51, 0.52, 0.9]
    moved = _spread(heights)
    assert np.all(np.diff(moved) > GAP - 1e-12)
    assert (moved[0], moved[-1]) == (0.1, 0.9)
    assert np.mean(moved[1:4]) == pytest.approx(0.51)


# the command line


def test_the_table_is_printed(run):
    code, out, err = run(
        "--quick", "--seconds", 0, "--only", "ur5_inverse_dynamics", "--only", "peak"
    )
    assert (code, err) == (0, "")
    for part in (
        "cores",
        "load average",
        "pin ",
        "pin.rneaInParallel",
        "≥ 35",
        "GFLOP/s",
        "note: ",
    ):
        assert part in out


def test_json_is_complete(run):
    code, out, _ = run("--quick", "--seconds", 0, "--only", "one_state", "--json")
    data = json.loads(out)
    assert code == 0
    assert [row["case"] for row in data["rows"]] == ["one_state"] * 2


def test_an_unknown_name_is_an_error_with_a_suggestion(run):
    code, out, err = run("--only", "one_sate")
    assert (code, out) == (2, "")
    assert "there is no benchmark 'one_sate'. Did you mean 'one_state'" in err
    with pytest.raises(UnknownNameError, match="no benchmark 'x'"):
        bench(["x"])


@pytest.mark.parametrize("words", [("--seconds", "-1"), ("--plot", "growth.txt")])
def test_bad_options_are_errors(run, words):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err
    assert "Traceback" not in err
