"""Documents of equations in a real TeX."""

import pytest

import armdyn
from support.toolchains import run


@pytest.mark.parametrize("name", ["two_link", "craig_two_link", "saha_3r", "scara", "puma560"])
def test_a_document_of_equations_becomes_a_pdf(name, tmp_path):
    armdyn.equations(armdyn.load(name), values=name == "puma560").save(tmp_path / "arm.tex")
    run("pdflatex", "-interaction=nonstopmode", "-halt-on-error", "arm.tex", cwd=tmp_path)
    assert (tmp_path / "arm.pdf").stat().st_size > 1000
