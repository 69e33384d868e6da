"""Help in groups with examples that can be typed, errors in one style, tables that fit."""

import re
import shlex

import pytest
import typer

from armdyn.cli import GROUPS, app
from armdyn.cli.console import print_table, printing, table
from armdyn.cli.help import EXAMPLES
from armdyn.cli.options import complete_robot
from armdyn.quantities.formulations import FORMULATIONS
from armdyn.quantities.program import QUANTITIES

COMMANDS = typer.main.get_command(app).commands


def test_the_help_has_every_verb_in_a_group(command):
    code, out, _ = command("--help")
    assert code == 0
    for group, verbs in GROUPS.items():
        listed = out.partition(f"\n{group}\n")[2].partition("\n\n")[0]
        assert all(f"  {verb} " in listed for verb in verbs)
    assert sum(map(len, GROUPS.values())) == len(COMMANDS)


@pytest.mark.parametrize("verb", COMMANDS)
@pytest.mark.parametrize("columns", [80, 120])
def test_the_help_of_a_verb_fits_and_shows_options_whole_with_two_examples(
    command, monkeypatch, verb, columns
):
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, _ = command(verb, "--help")
    assert code == 0
    assert max(map(len, out.splitlines())) <= columns
    assert "<" not in out
    assert "…" not in out
    for param in COMMANDS[verb].params:
        assert all(name in out for name in param.opts) or param.param_type_name == "argument"
    assert len([line for line in out.splitlines() if line in _indented(EXAMPLES[verb])]) >= 2


def _indented(lines):
    return {f"  {line}" for line in lines}


@pytest.mark.parametrize("verb", EXAMPLES)
def test_the_examples_are_command_lines_of_their_verb(verb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for line in EXAMPLES[verb]:
        program, name, *words = shlex.split(line.rpartition("| ")[2])
        assert (program, name) == ("armdyn", verb)
        with COMMANDS[verb].make_context(verb, words) as context:
            assert context.params["wide"] is False


def test_the_help_lists_the_names_that_options_take(command):
    words = {verb: set(re.findall(r"\w+", command(verb, "-h")[1])) for verb in ("torque", "export")}
    assert set(FORMULATIONS) <= words["torque"]
    assert set(QUANTITIES) <= words["export"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("foo",), "no such command 'foo'"),
        (("terms",), "missing argument 'ROBOT'"),
        (("info", "panda", "--colour"), "no such option: --colour"),
        (("simulate", "panda", "--controller", "pid"), "'pid' is not one of 'free', 'gravity-pd'"),
        (("equations", "panda", "--over", "x.csv"), "--over is for --drop"),
        (("info", "pandra"), "there is no robot 'pandra'. Did you mean 'panda'"),
    ],
)
def test_every_complaint_begins_alike(command, words, message):
    code, out, err = command(*words)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1


def test_no_words_show_the_help(command):
    code, out, err = command()
    assert code == 2
    assert "Describe" in out + err
    assert "error:" not in out + err


def test_a_shell_completes_names_and_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pan.urdf").touch()
    (tmp_path / "pan.txt").touch()
    (tmp_path / "pans").mkdir()
    assert complete_robot("pan")[:2] == ["panda", "pan.urdf"]
    assert complete_robot("pan")[2].startswith("pans")
    assert len(complete_robot("pan")) == 3


def _wide_table():
    rows = table("joint", "", "text", *map(str, range(30)), left=("joint", "", "text"), title="T")
    for i in range(3):
        cells = [f"{i}.{k:05d}" for k in range(30)]
        rows.add_row(f"joint{i}", "peak", "a long text that can be wrapped " * 3, *cells)
    return rows


@pytest.mark.parametrize("columns", [80, 120])
def test_a_table_that_is_too_wide_is_printed_in_parts(capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    print_table(_wide_table())
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= columns
    assert "…" not in out
    assert out.count("T\n") <= 1
    for i in range(3):
        assert all(f"{i}.{k:05d}" in out for k in range(30))
        parts = [line for line in out.splitlines() if line.startswith(f"joint{i}  peak")]
        assert len(parts) >= 2


def test_every_part_of_a_table_tells_its_rows_apart_below_a_title_that_is_whole(
    capsys, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "80")
    title = "a title that is longer than the narrow table below it"
    rows = table("robot", "what", "ours", "theirs", "note", left=("robot", "what"), title=title)
    for what in ("one state", "many states"):
        rows.add_row("panda", what, "1" * 30, "2" * 30, "")
    print_table(rows)
    lines = capsys.readouterr().out.splitlines()
    assert title in lines
    assert sum(line.startswith("panda  one state") for line in lines) == 2
    assert not any("note" in line for line in lines)
    with printing(wide=True):
        print_table(rows)
    assert "note" in capsys.readouterr().out


def test_a_wide_table_is_one_if_asked_or_if_there_is_no_terminal(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    print_table(_wide_table())
    piped = capsys.readouterr().out
    monkeypatch.setenv("COLUMNS", "80")
    with printing(wide=True):
        print_table(_wide_table())
    for out in (piped, capsys.readouterr().out):
        assert sum(line.startswith("joint0") for line in out.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, 120])
def test_reports_of_robots_fit_the_terminal(command, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    for words in (("info", "panda"), ("robots",), ("simplify", "saha_3r", "--no-symbolic")):
        code, out, _ = command(*words)
        assert code == 0
        assert max(map(len, out.splitlines())) <= columns
        assert "…" not in out
    assert max(map(len, command("info", "panda", "--wide")[1].splitlines())) > 120


def test_names_are_not_broken_at_their_hyphens(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    words = command("simplify", "--help")[1].split()
    assert "gravity-balanced," in words
    assert not any(word.endswith("-") for word in words)
    assert "Quantities" in command("sweep", "--help")[1]


@pytest.mark.slow
def test_rounding_is_printed_as_zero(command):
    _, out, _ = command("torque", "panda", "--q", "0,0,0,-1,0,1,0")
    assert re.search(r"^joint1 +N·m +0 +87 +0\b", out, re.MULTILINE)
    _, out, _ = command("sweep", "panda", "--set", "q=0.1:0.2:2", "--quantity", "gravity_vector")
    assert not re.search(r"e-1[4-9]", out)


def test_a_question_in_a_message_ends_it(command):
    state = ("--q", "0,0,0,-1,0,1,0", "--payload", "2,0,0,.1,.01,.01,.05")
    code, _, err = command("torque", "panda", *state)
    assert code == 2
    assert "about another point? Correct the numbers" in err
