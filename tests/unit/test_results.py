"""What every result can do: a report, data, files and a page for notebooks."""

import json

import pytest

import armdyn
from armdyn.errors import WriteError
from armdyn.report.result import Result, Section


class Answer(Result):
    """A result without a picture."""

    def sections(self):
        rows = (("a<b", "1"),)
        head = Section("Head", ("a line",), data={"robot": "x", "nan": float("nan")})
        return head, Section("Table", (), ("name", "value"), rows), Section("", data={"n": 1})


def test_a_result_is_text_and_data():
    assert Answer().report() == "Head\n  a line\n\nTable\n  name  value\n  a<b       1\n"
    assert json.loads(Answer().json()) == {"robot": "x", "nan": None, "n": 1}


def test_a_page_shows_the_sections_and_nothing_of_it_is_markup():
    page = Answer()._repr_html_()
    assert "<b>Head</b>" in page
    assert "<pre>a line</pre>" in page
    assert "a&lt;b" in page


def test_a_result_is_saved_by_the_ending(tmp_path):
    Answer().save(tmp_path / "answer.txt")
    Answer().save(tmp_path / "answer.json")
    assert (tmp_path / "answer.txt").read_text() == Answer().report()
    assert json.loads((tmp_path / "answer.json").read_text())["n"] == 1
    for ending in (".png", ".doc"):
        with pytest.raises(WriteError, match=r"must be one of \.txt, \.json$"):
            Answer().save(tmp_path / f"answer{ending}")


@pytest.mark.slow
def test_a_result_with_a_picture_is_saved_as_one(tmp_path):
    found = armdyn.terms(armdyn.load("two_link"), ([0.1, 0.2], [1.0, 1.0], [0.0, 1.0]))
    found.save(tmp_path / "terms.svg")
    assert "<svg" in (tmp_path / "terms.svg").read_text()
    with pytest.raises(WriteError, match=r"\.svg$"):
        found.save(tmp_path / "terms.doc")
