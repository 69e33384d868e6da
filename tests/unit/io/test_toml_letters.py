"""The table of letters in a robot file: the same comes back, and nothing else is taken."""

import pytest

from armdyn.errors import TomlError
from armdyn.io.catalog import catalog_names, catalog_path
from armdyn.io.toml.write import toml_from_model
from support.reading import model_from_toml

ARM = """
format = 1
convention = "modified"
[letters]
{}
[[joint]]
joint = "revolute"
mass = 1.0
com = [0.5, 0.0, 0.0]
"""


def read(tmp_path, text):
    path = tmp_path / "arm.toml"
    path.write_text(text, encoding="utf-8")
    return model_from_toml(path)


def test_letters_are_read(tmp_path):
    model = read(tmp_path, ARM.format('x1 = "l/2"\nxt = "l"'))
    assert model.letters == {"x1": "l/2", "xt": "l"}
    assert read(tmp_path, ARM.format("")).letters == {}


@pytest.mark.parametrize("name", catalog_names())
def test_letters_are_written(name, tmp_path):
    model = model_from_toml(catalog_path(name))
    text = toml_from_model(model)
    back = read(tmp_path, text)
    assert back.letters == model.letters
    assert list(back.letters) == list(model.letters)
    assert ("[letters]" in text) == bool(model.letters)


def test_any_text_comes_back(tmp_path):
    odd = 'a"b\\c\té'
    model = read(tmp_path, ARM.format("x1 = 'l'"))
    model.letters["x1"] = odd
    assert read(tmp_path, toml_from_model(model)).letters == {"x1": odd}


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ("x1 = 0.5", r"letters: x1: expected a string, got 0\.5"),
        ('x1 = ["l"]', "letters: x1: expected a string"),
        ('"x 1" = "l"', "symbol of a parameter, such as a1, got 'x 1'"),
        ('"" = "l"', "symbol of a parameter"),
        ('1x = "l"', "symbol of a parameter"),
        (f'{"x" * 21} = "l"', "symbol of a parameter"),
        (f'x1 = "{"l" * 201}"', "x1: expected an expression of at most 200 characters, got 201"),
    ],
)
def test_what_is_no_letter_is_refused_with_its_place(line, match, tmp_path):
    with pytest.raises(TomlError, match=match) as caught:
        read(tmp_path, ARM.format(line))
    assert caught.value.file.name == "arm.toml"


def test_a_list_is_no_table(tmp_path):
    text = ARM.format("").replace("[letters]\n", 'letters = ["l"]\n')
    with pytest.raises(TomlError, match="letters: expected a table"):
        read(tmp_path, text)
