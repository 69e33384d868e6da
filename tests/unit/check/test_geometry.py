"""Inertias held against the geometry of their links: each mistake is named, and no right one."""

import numpy as np
import pytest

import armdyn
from armdyn import Inertia
from armdyn.io.files import read_model
from armdyn.io.urdf.write import urdf_inertial
from armdyn.model.transform import rotation_from_rpy, transform
from armdyn.study.check.bodies import geometry_findings
from support.urdf_files import joint, link, save

SIZE = 0.06, 0.1, 0.4
PLACE, ANGLES = (0.02, 0.01, 0.3), (0.3, 0.4, 0.5)
ORIGIN = f'<origin xyz="{" ".join(map(str, PLACE))}" rpy="{" ".join(map(str, ANGLES))}"/>'
BOX = f'<box size="{" ".join(map(str, SIZE))}"/>'
TRUE = Inertia.box(SIZE, density=2700).moved(transform(rotation_from_rpy(ANGLES), PLACE))
UPRIGHT = Inertia.box(SIZE, density=2700).moved(PLACE)
STRAIGHT = ORIGIN.replace(f'rpy="{" ".join(map(str, ANGLES))}"', 'rpy="0 0 0"')


def found(folder, inertia, origin=ORIGIN, element=BOX, tag="visual", **options):
    shape = f"<{tag}>{origin}<geometry>{element}</geometry></{tag}>"
    path = save(folder, link("a", ""), link("b", urdf_inertial(inertia) + shape), joint("a", "b"))
    model, _ = read_model(path, physical="ignore")
    return list(geometry_findings(path, model, **options))


def of(mass=None, com=None, tensor=None, body=TRUE):
    """The body with other numbers."""
    return Inertia.from_com(
        body.mass if mass is None else mass,
        body.com if com is None else com,
        body.moment_about_com if tensor is None else tensor,
    )


@pytest.mark.parametrize("tag", ["visual", "collision"])
@pytest.mark.parametrize("factor", [0.6, 1.0, 1.5])
def test_a_body_of_about_its_geometry_is_right(tmp_path, tag, factor):
    hollow = of(mass=0.2 * TRUE.mass, tensor=0.2 * factor * TRUE.moment_about_com)
    assert found(tmp_path, hollow, tag=tag) == []


@pytest.mark.parametrize(
    ("factor", "unit"), [(1e9, "g mm²"), (1e6, "kg mm²"), (1e4, "kg cm²"), (1e3, "g m²")]
)
def test_units_of_the_tensor(tmp_path, factor, unit):
    (one,) = found(tmp_path, of(tensor=factor * TRUE.moment_about_com))
    assert one.level == "warning"
    assert one.where == "link 'b'"
    assert f"if it were in {unit}, a factor of {factor:g}" in one.message


def test_a_tensor_about_the_origin(tmp_path):
    near = of(com=(0, 0, 0.1))
    wrong = of(com=near.com, tensor=near.moment)
    origin = '<origin xyz="0 0 0.1" rpy="0.3 0.4 0.5"/>'
    (one,) = found(tmp_path, wrong, origin)
    assert "about the origin of the link frame" in one.message
    # far from the origin no geometry is needed to see it, and it is said once
    far = of(tensor=TRUE.moment)
    assert found(tmp_path, far) == []
    said = [f.message for f in armdyn.check(tmp_path / "robot.urdf").findings]
    assert sum("about the origin of" in text for text in said) == 1


def test_axes_that_are_exchanged_or_turned(tmp_path):
    order = [2, 1, 0]
    swapped = of(tensor=UPRIGHT.moment_about_com[np.ix_(order, order)], body=UPRIGHT)
    (one,) = found(tmp_path, swapped, STRAIGHT)
    assert "if its axes x, y, z were z, y, x" in one.message
    turn = rotation_from_rpy((0.9, 0.1, 0.2))
    turned = of(tensor=turn @ UPRIGHT.moment_about_com @ turn.T, body=UPRIGHT)
    (one,) = found(tmp_path, turned, STRAIGHT)
    assert "but not their axes" in one.message


def test_products_of_inertia_of_the_other_sign(tmp_path):
    I = TRUE.moment_about_com
    (one,) = found(tmp_path, of(tensor=2 * np.diag(np.diag(I)) - I))
    assert "the other sign" in one.message


def test_a_centre_of_mass_in_millimetres_or_elsewhere(tmp_path):
    (one,) = found(tmp_path, of(com=1000 * TRUE.com))
    assert "outside the geometry" in one.message
    assert "0.001 times it is inside" in one.message
    (one,) = found(tmp_path, of(com=(0, 0, -1)))
    assert "frame of the link?" in one.message


def test_a_mass_in_grams(tmp_path):
    (one,) = found(tmp_path, of(mass=1000 * TRUE.mass))
    assert "2.7e+06 kg/m³; was the mass given in grams?" in one.message


def test_more_or_less_than_any_body_has(tmp_path):
    (one,) = found(tmp_path, of(tensor=100 * np.eye(3)))
    assert "more than any body within the geometry can have" in one.message
    assert one.level == "warning"
    (one,) = found(tmp_path, of(tensor=1e-5 * TRUE.moment_about_com))
    assert "Is it in kg m²?" in one.message
    assert one.level == "note"


def test_a_mesh_in_millimetres_and_one_that_is_open(tmp_path):
    creation = pytest.importorskip("trimesh.creation")
    mesh = creation.box(1000 * np.array(SIZE))
    mesh.update_faces(np.arange(len(mesh.faces)) > 0)
    mesh.export(tmp_path / "box.off")
    (one,) = found(tmp_path, TRUE, element='<mesh filename="box.off"/>')
    assert "scale should be 0.001" in one.message
    right = '<mesh filename="box.off" scale="0.001 0.001 0.001"/>'
    assert found(tmp_path, TRUE, element=right) == []  # by its convex hull
    (one,) = found(tmp_path, TRUE, element=right, trusted=False)
    assert (one.level, "not read here" in one.message) == ("note", True)
    (one,) = found(tmp_path, TRUE, element='<mesh filename="none.off"/>')
    assert (one.level, "no mesh 'none.off'" in one.message) == ("note", True)


def test_what_is_light_is_noted_only(tmp_path):
    path = tmp_path / "robot.urdf"
    light = Inertia.box(SIZE, mass=1e-3).moved(PLACE)
    wrong = of(tensor=1e6 * light.moment_about_com, body=light)
    shape = f"<visual>{STRAIGHT}<geometry>{BOX}</geometry></visual>"
    save(
        tmp_path,
        link("a", ""),
        link("b", urdf_inertial(TRUE)),
        link("c", urdf_inertial(wrong) + shape),
        joint("a", "b"),
        joint("b", "c", name="k"),
    )
    assert [f.level for f in geometry_findings(path, read_model(path)[0])] == ["note"]


def test_geometry_without_inertia_weighs_nothing(tmp_path):
    """Only on links that move: what the base weighs changes no torque."""
    shape = f"<visual><geometry>{BOX}</geometry></visual>"
    path = save(
        tmp_path,
        *(link("a", shape), link("b", shape), link("c"), link("d", shape), link("e", "")),
        *(joint("a", "b", name="1"), joint("b", "c", name="2")),
        *(joint("c", "d", name="3", kind="fixed"), joint("d", "e", name="4", kind="fixed")),
    )
    model, _ = read_model(path)
    said = [one for one in geometry_findings(path, model) if "weighs nothing" in one.message]
    assert [(one.level, one.where) for one in said] == [
        ("warning", "link 'b'"),
        ("note", "link 'd'"),
    ]
    assert all("density=" in one.message for one in said)
    filled, _ = read_model(path, density=1000)
    assert not [one for one in geometry_findings(path, filled) if "weighs" in one.message]
    (told,) = [
        one
        for one in armdyn.check(
            path, read=lambda **given: read_model(path, density=1000, **given)
        ).findings
        if "uniform bodies" in one.message
    ]
    assert (told.where, told.message[:7]) == (str(path), "density")
