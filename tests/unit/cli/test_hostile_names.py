"""Names and titles are texts of others: none of them steers a terminal."""

import json
import re

import pytest

import armdyn
from armdyn.cli.console import visible
from armdyn.io.catalog import catalog_path

HOSTILE = "a[/b]\\u001b]0;owned\\u0007\\r\\u009b31m\\u202e:skull:"
UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


@pytest.fixture
def hostile(tmp_path):
    text = catalog_path("two_link").read_text(encoding="utf-8")
    for name in ("two-link arm", "joint1", "two_link"):
        text = text.replace(f'"{name}"', f'"{name}{HOSTILE}"')
    path = tmp_path / "arm.toml"
    path.write_text(text.replace('note = """\\', f'note = """{HOSTILE}\\'), encoding="utf-8")
    (tmp_path / "move.csv").write_text("t,q1,q2\n" + "".join(f"{t},{t},0\n" for t in range(7)))
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "info ROBOT",
        "info ROBOT --json",
        "check ROBOT",
        "check ROBOT --payload 1,9,9,9",
        "compare ROBOT --with pinocchio --states 1",
        "torque ROBOT move.csv",
        "simulate ROBOT --duration 0.01",
        "equations ROBOT",
        "equations ROBOT --form structure",
        "equations ROBOT --format python",
        "simplify ROBOT --no-symbolic",
        "ops ROBOT --programs --quantity mass_matrix",
        "info ROBOT --lock nothing=1",
    ],
)
def test_no_name_steers_the_terminal(command, hostile, monkeypatch, words):
    monkeypatch.chdir(hostile.parent)
    _, out, err = command(*words.replace("ROBOT", hostile.name).split())
    assert out + err
    assert not UNSEEN.search(out + err)
    assert "☠" not in out + err
    if "--json" not in words and "ops" not in words:
        assert "a[/b]" in out + err


def test_json_gives_names_back_as_they_are(command, hostile):
    data = json.loads(command("info", str(hostile), "--json")[1])
    assert data["joints"][0]["name"] == armdyn.load(hostile).joint_names[0]
    assert "\x1b" in data["joints"][0]["name"]


def test_arguments_with_control_characters_are_refused(command):
    code, out, err = command("info", "two_link", "no\x1b[31m option")
    assert (code, out) == (2, "")
    assert err == "error: there is a control character in 'no\\x1b[31m option'\n"


def test_what_people_write_stays_as_it_is():
    text = "Überkopf-Arm, 関節 1, N·m/rad, τ̇ = M q̈\n\tnext"
    assert visible(text) == text
