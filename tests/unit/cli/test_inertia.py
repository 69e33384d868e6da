"""`armdyn inertia`: the numbers of `armdyn.Inertia`, and snippets that load back."""

import json
import tomllib
from xml.etree import ElementTree

import numpy as np
import pytest

from armdyn import Inertia
from support.peers import close

SIZE = (0.1, 0.2, 0.3)


@pytest.fixture
def mesh(tmp_path):
    creation = pytest.importorskip("trimesh.creation")
    box = creation.box(1000 * np.array(SIZE))
    box.apply_translation((100, 0, 50))
    box.export(tmp_path / "box.stl")
    box.update_faces(np.arange(len(box.faces)) > 0)
    box.export(tmp_path / "open.stl")
    return tmp_path / "box.stl"


def test_a_mesh_in_millimetres(command, mesh):
    words = ("inertia", str(mesh), "--density", "2700", "--units", "mm", "--json")
    code, out, err = command(*words)
    assert (code, err) == (0, "")
    found = json.loads(out)
    wanted = Inertia.box(SIZE, density=2700).moved((0.1, 0, 0.05))
    close(found["volume"], 0.006, 1e-6)
    close(found["mass"], wanted.mass, 1e-6)
    close(found["com"], wanted.com, 1e-6)
    close(found["inertia"], wanted.moment_about_com, 1e-6)
    close(found["inertia_about_origin"], wanted.moment, 1e-6)
    close(found["principal_moments"], wanted.principal.moments, 1e-6)
    inertial = ElementTree.fromstring(found["urdf"])
    assert inertial.find("inertia").attrib["ixx"] == str(found["inertia"][0][0])
    assert tomllib.loads(found["toml"])["com"] == found["com"]
    code, scaled, _ = command("inertia", str(mesh), "--mass", "16.2", "--scale", "0.001", "--json")
    close(json.loads(scaled)["inertia"], found["inertia"], 1e-9)


def test_a_shape_by_its_lengths(command):
    code, out, err = command("inertia", "tube", "50", "40", "200", "--units", "mm", "--mass", "2")
    assert (code, err) == (0, "")
    tube = Inertia.tube(0.05, 0.04, 0.2, mass=2)
    assert f"{tube.moment[0, 0]:.9g}" in out
    assert "<inertial>" in out
    assert "inertia = [" in out


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["box", "1", "2", "--mass", "1"], "3 lengths"),
        (["bux", "1", "--mass", "1"], "no shape"),
        (["sphere", "1"], "neither"),
        (["sphere", "1", "--density", "0"], "positive"),
        (["rod", "1", "--density", "1"], "no volume"),
        (["sphere", "1", "--mass", "1", "--units", "ell"], "unit of length"),
        (["none.stl", "--mass", "1"], "no such file"),
        (["arm.step", "--mass", "1"], "ending"),
        (["{folder}/open.stl", "--density", "2700"], "not watertight"),
        (["{folder}/box.stl", "--density", "2700", "--scale", "1,2"], "1 or 3 numbers"),
    ],
)
def test_bad_requests_end_with_code_2(command, mesh, words, text):
    code, out, err = command("inertia", *(word.format(folder=mesh.parent) for word in words))
    assert (code, out) == (2, "")
    assert text in " ".join(err.replace("│", " ").split())
    assert "Traceback" not in err
