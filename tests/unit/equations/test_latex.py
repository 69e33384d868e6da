"""LaTeX that a TeX engine, or at least mathtext, accepts."""

import re
import shutil
import subprocess
from dataclasses import replace

import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import MathTextParser

import armdyn
from armdyn import equations
from armdyn.equations.forms import FORMS
from support.random_robots import random_model

ENGINE = next(filter(None, map(shutil.which, ("tectonic", "pdflatex", "lualatex"))), None)
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
    forms = FORMS if name != "scara" else [form for form in FORMS if form != "cartesian"]
    for form in forms:
        document = equations(armdyn.load(name), form).latex()
        assert balanced(document)
        for formula in set(formulas(document)):
            width = parser.parse(f"${formula}$", dpi=72, prop=font)[0]
            assert width < TEXT_WIDTH, formula


@pytest.mark.slow
def test_large_documents_are_balanced():
    robot = armdyn.load("puma560")
    for document in (equations(robot).latex(), equations(robot, values=True).latex()):
        assert balanced(document)
        assert len(document) > 10_000


def test_names_of_users_are_escaped():
    model = random_model("RP", 1)
    evil = r"\input{/etc/passwd} $x_1$ & 50% #1 ~^ {"
    joints = (replace(model.joints[0], name=evil), *model.joints[1:])
    document = equations(replace(model, title=evil, joints=joints)).latex()
    assert r"\input" not in document
    assert balanced(document)
    assert document.count(r"\textbackslash{}input\{/etc/passwd\} \$x\_1\$ \& 50\% \#1") == 2


@pytest.mark.skipif(ENGINE is None, reason="needs a TeX engine")
@pytest.mark.parametrize("name", [*ARMS, "puma560"])
def test_the_document_compiles(name, tmp_path):
    equations(armdyn.load(name), values=name == "puma560").save(tmp_path / "arm.tex")
    options = [] if "tectonic" in str(ENGINE) else ["-interaction=nonstopmode", "-halt-on-error"]
    subprocess.run([ENGINE, *options, "arm.tex"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "arm.pdf").stat().st_size > 1000
