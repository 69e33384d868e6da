"""Letters say what parameters are; what they do not fit, they are not used for."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from typer import BadParameter

import armdyn
from armdyn.cli.options import pairs
from armdyn.closed_forms.closed_form import ClosedForm
from armdyn.closed_forms.letters import Letters
from armdyn.closed_forms.symbolic_robot import symbolise
from armdyn.errors import ArmdynWarning, LettersError, UnknownNameError
from armdyn.io.catalog import catalog_names
from armdyn.model.edit import lock, with_gravity, with_payload
from armdyn.model.robot import digest
from support.peers import close
from support.random_robots import random_states

KNOWN = {"a1": 0.8, "x1": 0.4, "m1": 2.0, "Izz1": 2.0 * 0.8**2 / 12, "d2": 0.0, "m2": 1.0}


def refused(expressions, match, **more):
    with pytest.raises(LettersError, match=match) as caught:
        Letters(expressions, KNOWN | more)
    assert caught.value.parameter in expressions


def test_values_come_from_where_a_letter_stands_alone():
    letters = Letters({"a1": "l", "x1": "l/2", "Izz1": "m1*l^2/12"}, KNOWN)
    assert letters.values["l"] == 0.8
    assert set(letters.symbols("Izz1")) == {"m1", "l"}
    assert letters.symbols("m2") == ["m2"]


def test_letters_that_do_not_fit_are_refused():
    refused({"a1": "l", "x1": "l/3"}, r"x1 = l / 3 would be 0\.26.*but it is 0\.4")
    refused({"x1": "l/2"}, "letter 'l' has no value.*stand alone")
    refused({"a1": "l", "x1": "l"}, "a1 = l would be")
    with pytest.raises(UnknownNameError, match="Did you mean 'x1'"):
        Letters({"x11": "l"}, KNOWN)


@pytest.mark.parametrize(
    "text",
    [
        "l +",
        "  ",
        "sin(l)",
        "l**-1",
        "1/l",
        "l/0",
        "l**9",
        "(l**3)**3",
        "l.real",
        "__import__('os')",
        "lambda: 1",
        "l if l else l",
        "[l]",
        "True",
        "'l'",
        "1j*l",
        "λ",
        "l@l",
        "1e999",
        "l" + "*9**8**8",
        "l*" + "(" * 30 + "9" + "**8)" * 30,
        "(" * 30 + "1/9" + "**8)" * 30 + "*l",
        "(a+b+c+d+e+f+g+h+i+j+k)**8",
        "(" * 30 + "l+1" + "**8)" * 30,
        "l**" + "9" * 190,
        "l**-2",
    ],
)
def test_an_expression_is_a_polynomial(text):
    refused({"a1": text}, "no polynomial of letters")
    refused({"a1": "l" * 201}, "no polynomial of letters")


@pytest.mark.parametrize("text", ["1e300*l*1e300", "l+1e300**3"])
def test_an_expression_beyond_the_floats_is_not_the_parameter(text):
    refused({"a1": "l", "x1": text}, "x1 = .* would be nan, but it is")


def test_names_of_other_things_are_no_letters():
    for name in ("q1", "qd2", "qdd1", "q", "C2", "S12", "phi1", "alpha1", "Calpha1"):
        refused({"a1": name}, "choose another letter")
    refused({"a1": "m2"}, "another parameter of this robot")
    assert Letters({"a1": "d2"}, KNOWN).values["d2"] == 0.8  # an offset that is zero is no symbol,
    with pytest.raises(LettersError, match="another parameter"):
        Letters({"a1": "d2"}, KNOWN, variables=["d2"])  # unless it may change


def test_equal_parameters_may_share_a_name():
    letters = Letters({"m2": "m1"}, KNOWN | {"m2": 2.0})
    assert letters.symbols("m2") == ["m1"]


def test_pairs_of_a_command_line():
    form = "PARAMETER=EXPRESSION"
    assert [*pairs("--letters", "a1=l, x1 = l/2", form)] == [("a1", "l"), ("x1", "l/2")]
    for text in ("a1", "a1=", "l/2,a1=l"):
        with pytest.raises(BadParameter, match=form):
            list(pairs("--letters", text, form))


@pytest.mark.slow
def test_letters_of_the_catalog_fit():
    models = [armdyn.load(name).model for name in catalog_names()]
    lettered = {model.name for model in models if model.letters}
    assert lettered >= {"two_link", "craig_two_link", "saha_3r"}
    for model in models:
        if model.letters:
            robot = symbolise(model, model.letters)
            assert robot.ring.symbols == symbolise(model).ring.symbols


def test_letters_name_nothing_but_what_is_there():
    """In letters or not, the equations give the same numbers."""
    for name in ("two_link", "craig_two_link", "saha_3r"):
        model = armdyn.load(name).model
        q, qd, _ = random_states(model, 3, (4,))
        forms = [ClosedForm(symbolise(model, letters)) for letters in (None, {})]
        assert not {"l", "l1", "d1"} & set(forms[1].robot.ring.symbols)
        assert forms[0].robot.ring.symbols != forms[1].robot.ring.symbols
        for key in ("M", "V", "G"):
            a, b = (form.robot.evaluate(getattr(form, key), q, qd) for form in forms)
            close(a, b, 1e-12)


def test_letters_of_the_book_are_all_there_are():
    parameters = [s for s in symbolise(armdyn.load("two_link").model).ring.symbols if s[0] != "q"]
    assert sorted(parameters) == ["g", "l", "m1", "m2"]
    parameters = [
        s for s in symbolise(armdyn.load("craig_two_link").model).ring.symbols if s[0] != "q"
    ]
    assert sorted(parameters) == ["g", "l1", "l2", "m1", "m2"]


def test_a_payload_takes_the_letters_of_its_link_away():
    model = with_payload(armdyn.load("two_link").model, 1.5, (0.1, 0.0, 0.0))
    assert model.letters == armdyn.load("two_link").model.letters
    with pytest.warns(ArmdynWarning, match=r"'two_link'.*x2 = l / 2 would be 0\.4, but") as caught:
        robot = symbolise(model)
    assert "x1" not in str(caught[0].message)
    assert {"l", "x2", "Izz2"} <= set(robot.ring.symbols)
    assert not {"x1", "a1", "Izz1"} & set(robot.ring.symbols)
    q, _, _ = random_states(model, 1)
    close(robot.evaluate(ClosedForm(robot).M, q), armdyn.Robot(model).mass_matrix(q), 1e-12)
    with pytest.raises(LettersError, match="x2"):
        symbolise(model, model.letters)


def test_parameters_that_are_gone_are_said_to_be():
    model = replace(armdyn.load("two_link").model, letters={"g": "gamma", "a7": "l"})
    with pytest.warns(ArmdynWarning, match="a7: the robot has no such parameter"):
        assert "gamma" in symbolise(model).ring.symbols
    with pytest.warns(ArmdynWarning, match="g: the robot has no such parameter"):
        symbolise(with_gravity(model, (0, 0, 0)))


def test_locked_arms_have_no_letters():
    model = lock(armdyn.load("saha_3r").model, {"joint1": 0.3})
    assert model.letters == {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "x1" in symbolise(model).ring.symbols


def test_letters_are_told_about_a_robot_and_not_part_of_it():
    model = armdyn.load("two_link").model
    assert digest(model) == digest(replace(model, letters={}))
    assert pickle.loads(pickle.dumps(model)).letters == model.letters


def test_the_tool_is_a_parameter():
    model = armdyn.load("craig_two_link").model
    robot = symbolise(model, {})
    np.testing.assert_allclose([robot.evaluate(t, [0.1, 0.2]) for t in robot.tool], [0.4, 0, 0])
    assert robot.tool[0] == robot.ring.symbol("xt")
    assert symbolise(model).tool[0].symbols() == {"l2"}
