import numpy as np
import pytest

from armdyn.errors import WriteError
from armdyn.io.atomic import replacing
from armdyn.io.csv.table import ROWS_AT_ONCE, write_csv


def test_a_file_appears_whole_and_replaces_the_old_one(tmp_path):
    target = tmp_path / "out.csv"
    target.write_text("old")
    with replacing(target) as temporary:
        temporary.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("reason", [KeyboardInterrupt, ValueError])
def test_an_interrupted_file_leaves_the_old_one_and_nothing_else(tmp_path, reason):
    target = tmp_path / "out.csv"
    target.write_text("old")

    def stop(rows: int) -> None:
        if rows:
            raise reason

    with pytest.raises(reason):
        write_csv(target, {"t": np.arange(10.0)}, progress=stop)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    for path, message in (
        (tmp_path / "nowhere" / "out.csv", r"cannot write .*out\.csv.*: No such file"),
        (tmp_path, "cannot write .*: Is a directory"),
    ):
        with pytest.raises(WriteError, match=message):
            write_csv(path, {"t": np.zeros(1)})


@pytest.mark.parametrize("rows", [1, ROWS_AT_ONCE, ROWS_AT_ONCE + 1])
def test_a_written_table_reads_back(tmp_path, rows):
    columns = {"t": np.arange(rows) / 7, "x": np.random.default_rng(1).normal(size=rows)}
    counted = []
    write_csv(tmp_path / "out.csv", columns, progress=counted.append)
    assert sum(counted) == rows
    assert (tmp_path / "out.csv").read_text().startswith("t,x\n")
    back = np.loadtxt(tmp_path / "out.csv", delimiter=",", skiprows=1, ndmin=2)
    np.testing.assert_allclose(back, np.column_stack(list(columns.values())), rtol=1e-11)
