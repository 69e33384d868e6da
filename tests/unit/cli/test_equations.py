import json

import pytest

import armdyn


@pytest.fixture
def run(command):
    return command


@pytest.mark.parametrize("format", ["text", "latex", "markdown", "sympy", "python"])
def test_it_prints_what_the_library_writes(run, format):
    code, out, err = run("equations", "two_link", "--format", format)
    assert (code, err) == (0, "")
    assert out == armdyn.equations(armdyn.load("two_link")).to(format)


def test_the_options_reach_the_equations(run):
    code, out, _ = run(
        "equations", "craig_two_link", "--form", "cartesian", "--frame", "tool", "--json",
        "--letters", "a1=l1, x1=l1, x2=r, xt=r", "--gravity", "0,0,0",
    )  # fmt: skip
    data = json.loads(out)
    assert code == 0
    assert set(data["values"]) == {"l1", "r", "m1", "m2"}
    assert "axes of the tool" in data["notes"][0]
    code, out, _ = run("equations", "two_link", "--values", "--digits", "3")
    assert "M22 = 0.213\n" in out


def test_a_file_gets_the_format_of_its_ending(run, tmp_path):
    code, out, _ = run("equations", "two_link", "-o", tmp_path / "arm.tex")
    assert (code, out) == (0, f"wrote {tmp_path / 'arm.tex'}\n")
    expected = armdyn.equations(armdyn.load("two_link")).latex()
    assert (tmp_path / "arm.tex").read_text(encoding="utf-8") == expected


@pytest.mark.slow
def test_the_structure_is_printed_and_drawn(run, tmp_path):
    code, out, _ = run("equations", "two_link", "--form", "structure", "--plot", tmp_path / "s.png")
    assert code == 0
    assert "D: 3 elements" in out
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")
    code, out, _ = run("equations", "two_link", "--form", "structure", "--json")
    assert json.loads(out)["counts"]["D"] == {"zero": 0, "constant": 1, "varies": 2}


@pytest.mark.parametrize(
    ("lang", "name"), [("latex", "two_link.tex"), ("sympy", "two_link_sympy.py")]
)
def test_export_writes_the_same_documents(run, tmp_path, lang, name):
    code, out, _ = run("export", "two_link", "--lang", lang, "-o", tmp_path / "new")
    assert code == 0
    assert f"wrote {tmp_path / 'new' / name}" in out
    text = (tmp_path / "new" / name).read_text(encoding="utf-8")
    assert text == armdyn.equations(armdyn.load("two_link")).to(lang)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--form", "stat"), "Did you mean 'state'"),
        (("--form", "structur"), "Did you mean 'structure'"),
        (("--frame", "tool"), "--frame is for --form cartesian"),
        (("--format", "latx"), "Did you mean 'latex'"),
        (("--letters", "a11=l"), "Did you mean 'a1'"),
        (("--letters", "a1"), "expected PARAMETER=EXPRESSION"),
        (("--letters", "x1=__import__('os')"), "no polynomial"),
        (("--digits", "0"), "from 1 to 17"),
        (("--form", "cartesian", "--frame", "tol"), "Did you mean 'tool'"),
        (("--plot", "a.png"), "--plot is for --form structure"),
        (("--form", "structure", "--values"), "--form structure"),
        (("-o", "equations.doc"), "let it end in .txt, .tex, .md, .py"),
        (("-o", "missing/arm.tex"), "cannot write"),
    ],
)
def test_an_error_of_the_user_is_one_message_and_leaves_nothing(
    run, words, message, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("equations", "two_link", *words)
    assert (code, out) == (2, "")
    assert message in " ".join(err.replace("│", " ").split())
    assert "Traceback" not in err
    assert not list(tmp_path.iterdir())
