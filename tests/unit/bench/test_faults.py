"""benchmarks/faults.py counts what is survived."""

from pathlib import Path

import fault_attacks
import faults
import pytest

CHEAP = ("outputs", "others can change", "damaged and foreign", "endless files")


@pytest.mark.parametrize("words", CHEAP)
def test_the_first_tries_are_survived(tmp_path, words):
    (attack,) = (attack for attack in fault_attacks.ATTACKS if words in attack.title)
    for number in range(14):
        (tmp_path / str(number)).mkdir()
        assert attack.survives(tmp_path / str(number), number)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("print('try', 'survived', 'try', 'lost')", (2, 1, "")),
        ("import os; print('try', flush=True); os.abort()", (1, 0, ", then exit code -6")),
        ("import time; print('try', flush=True); time.sleep(99)", (1, 0, ", then a hang")),
    ],
)
def test_crashes_and_hangs_are_not_survived(tmp_path, monkeypatch, capsys, code, expected):
    script = tmp_path / "script.py"
    script.write_text(code)
    monkeypatch.setattr(faults, "__file__", str(script))
    monkeypatch.setattr(faults, "GRACE", 0.5)
    found = faults.outcome(fault_attacks.ATTACKS[0], 0.0)
    assert (found.tries, found.survived, found.note) == expected


def test_the_table_takes_its_place_in_the_page(tmp_path):
    page: Path = tmp_path / "page.md"
    page.write_text(f"before\n{faults.MARKS[0]}\nold\n{faults.MARKS[1]}\nafter\n")
    faults.page([faults.Outcome(fault_attacks.ATTACKS[0], 1200, 1199, "")], page)
    text = page.read_text()
    assert "| 1,200 | 1,199 |" in text
    assert "old" not in text
    assert text.startswith("before\n")
    assert text.endswith("after\n")
