"""LaTeX that mathtext accepts, in macros that every TeX has; tests/targets has a real TeX."""

import re
from dataclasses import replace

import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import MathTextParser

import armdyn
from armdyn import equations
from armdyn.closed_forms.forms import FORMS
from support.random_robots import random_model

MACROS = {
    *("documentclass", "usepackage", "begin", "end", "section", "subsection", "setlength"),
    *("allowdisplaybreaks", "parindent", "textwidth", "oddsidemargin", "quad", "leq", "cdot"),
    *("frac", "sum", "dot", "ddot", "det", "sin", "cos", "exp", "tanh", "tau", "operatorname"),
    *("textasciicircum", "textasciitilde", "textbackslash", "mathit"),
    *("alpha", "beta", "theta", "mu", "rho", "phi", "psi", "omega"),
}
"""Those of LaTeX and amsmath that documents may use."""
TEXT_WIDTH = 455.0
"""16 cm in points."""
ARMS = ("two_link", "craig_two_link", "saha_3r", "scara")


def formulas(document):
    for display in re.findall(r"\\begin\{align\*\}\n(.*?)\n\\end\{align\*\}", document, re.DOTALL):
        for row in display.split("\\\\\n"):
            yield row.replace("&", "").strip()
    yield from re.findall(r"\$(.*?)\$", document)
    yield from re.findall(r"\\\[(.*?)\\\]", document)


def balanced(document):
    level = 0
    for c in re.sub(r"\\[{}\\]", "", document):
        level += (c == "{") - (c == "}")
        assert level >= 0
    opened = re.findall(r"\\(begin|end)\{([a-z*]+)\}", document)
    stack = []
    for kind, name in opened:
        if kind == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    return level == 0 and not stack


@pytest.mark.slow
@pytest.mark.parametrize("name", ARMS)
def test_every_formula_is_mathematics_and_fits_the_page(name):
    parser, font = MathTextParser("path"), FontProperties(size=10, math_fontfamily="cm")
    for form in FORMS:
        document = equations(armdyn.load(name), form).latex()
        assert balanced(document)
        assert {*re.findall(r"\\([a-zA-Z]+)", document)} <= MACROS
        for formula in set(formulas(document)):
            width = parser.parse(f"${formula}$", dpi=72, prop=font)[0]
            assert width < TEXT_WIDTH, formula


@pytest.mark.slow
def test_large_documents_are_balanced():
    robot = armdyn.load("puma560")
    for document in (equations(robot).latex(), equations(robot, values=True).latex()):
        assert balanced(document)
        assert {*re.findall(r"\\([a-zA-Z]+)", document)} <= MACROS
        assert len(document) > 10_000


@pytest.mark.slow
def test_numbers_of_a_tool_from_a_drawing_are_decimals():
    written = equations(armdyn.load("scara"), "cartesian").text()
    assert "J11 = -(0.0094" in written
    assert not re.search(r"\d{20}", written)


def test_names_of_users_are_escaped():
    model = random_model("RP", 1)
    evil = r"\input{/etc/passwd} $x_1$ & 50% #1 ~^ {"
    joints = (replace(model.joints[0], name=evil), *model.joints[1:])
    document = equations(replace(model, title=evil, joints=joints)).latex()
    assert r"\input" not in document
    assert balanced(document)
    assert document.count(r"\textbackslash{}input\{/etc/passwd\} \$x\_1\$ \& 50\% \#1") == 2
