import os
import subprocess
import sys

import pytest

import armdyn
from armdyn.errors import ModelError, UnknownNameError, WriteError
from armdyn.export.c.export import export_c
from armdyn.export.options import ExportOptions


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"functions": ["mass_matrx"]}, UnknownNameError, "'mass_matrx'. Did you mean 'mass_matrix'"),
        ({"functions": []}, ModelError, "no functions to export were named; there are inverse_"),
        (
            {"functions": ["mass_matrix", "potential_energy"], "payload": True},
            ModelError,
            "potential_energy depends on the payload but cannot take it as an argument; leave out",
        ),
        ({"functions": ["regressor"], "gravity": True}, ModelError, "regressor depends on the gravity"),
        ({"link": "elbow"}, UnknownNameError, "'elbow'"),
        ({"prefix": "2arm"}, ModelError, "'2arm' cannot start .* as in 'robot_2arm'"),
        ({"prefix": "a b"}, ModelError, "use letters, digits and underscores"),
        ({"prefix": "math"}, ModelError, "'math' is a word of C or Python, .* would hide a file"),
        ({"prefix": "CON"}, ModelError, "'CON' is .* a device of Windows, .* as 'robot_con'"),
        ({"prefix": "Lpt9"}, ModelError, "'Lpt9' is .* a device of Windows, .* as 'robot_lpt9'"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_before_anything_is_written(options, error, message, tmp_path):
    with pytest.raises(error, match=message):
        export_c(armdyn.load("two_link").model, tmp_path / "out", ExportOptions(**options))
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match="cannot write to"):
        export_c(armdyn.load("two_link").model, tmp_path / "file")


def test_a_number_too_large_for_float_is_refused(tmp_path):
    row = dict(joint="revolute", a=1.0, mass=1e39)
    model = armdyn.from_dh([row], gravity=(0, -9.81, 0)).model
    options = ExportOptions(functions=["gravity_vector"], single=True)
    with pytest.raises(ModelError, match="is too large for float; use double"):
        export_c(model, tmp_path, options)


@pytest.mark.slow
def test_the_output_is_the_same_in_every_process(tmp_path):
    code = "import sys, armdyn; from armdyn.export.c.export import export_c; export_c(armdyn.load('puma560').model, sys.argv[1])"
    for seed in "12":
        environment = os.environ | {"PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", code, tmp_path / seed], check=True, env=environment)
    for name in ("puma560.c", "puma560.h"):
        text = (tmp_path / "1" / name).read_bytes()
        assert text == (tmp_path / "2" / name).read_bytes()
        assert text.isascii()
        assert str(tmp_path).encode() not in text
