"""Shapes in DH tables, TOML and URDF files: the inertia is that of `armdyn.Inertia`."""

import numpy as np
import pytest

import armdyn
from armdyn import Inertia
from armdyn.errors import ArmdynError, ArmdynWarning, ModelError, TomlError, UrdfError
from armdyn.io.files import read_model
from armdyn.model.transform import rotation_from_rpy, transform
from support.pages import page, python_blocks
from support.peers import close
from support.urdf_files import INERTIAL, joint, link, save

BOX = dict(type="box", size=(0.1, 0.2, 0.3), density=2700)
HOLE = dict(type="cylinder", radius=0.02, length=0.1, axis="x", density=2700, hole=True)
SOLID = Inertia.box((0.1, 0.2, 0.3), density=2700)


def from_row(**row):
    return armdyn.from_dh([dict(joint="revolute", a=0.5, **row)]).model.links[0].bodies[0].inertia


def test_a_shape_of_a_dh_row_is_in_the_frame_of_the_row():
    assert from_row(shape=BOX) == from_row(shape=SOLID)
    placed = dict(BOX, position=(-0.25, 0, 0), rpy=(0.1, 0.2, 0.3))
    T = transform(rotation_from_rpy((0.1, 0.2, 0.3)), (-0.25, 0, 0))
    assert from_row(shape=placed) == from_row(shape=SOLID.moved(T))
    given = from_row(mass=SOLID.mass, inertia=SOLID.moment_about_com)
    close(from_row(shape=BOX).pseudo, given.pseudo, 1e-14)
    turned = dict(BOX, rotation=rotation_from_rpy((0.1, 0.2, 0.3)).tolist())
    close(from_row(shape=turned).moment, from_row(shape=SOLID.rotated(T[:3, :3])).moment, 1e-14)


def test_several_shapes_and_holes_are_one_body():
    ball = Inertia.sphere(0.05, mass=1.0).moved((0, 0, 0.2))
    bored = SOLID - Inertia.cylinder(0.02, 0.1, axis="x", density=2700) + ball
    close(from_row(shape=[HOLE, BOX, ball]).pseudo, from_row(shape=bored).pseudo, 1e-13)


def test_the_mass_of_the_link_is_that_of_all_its_shapes():
    bare = {key: value for key, value in BOX.items() if key != "density"}
    hole = {key: value for key, value in HOLE.items() if key != "density"}
    alone = from_row(shape=Inertia.box((0.1, 0.2, 0.3), mass=3.0))
    close(from_row(mass=3.0, shape=bare).pseudo, alone.pseudo, 1e-14)
    both, dense = from_row(mass=3.0, shape=[bare, hole]), from_row(shape=[BOX, HOLE])
    assert both.mass == pytest.approx(3.0)
    close(both.pseudo / both.mass, dense.pseudo / dense.mass, 1e-13)
    rod = dict(type="rod", length=0.5, axis="x")
    assert from_row(mass=3.0, shape=rod) == from_row(shape=Inertia.rod(0.5, mass=3.0, axis="x"))


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (dict(shape="box"), "expected a table"),
        (dict(shape=[]), "expected a table"),
        (dict(shape=["box"]), "shape 1: expected a table or an Inertia"),
        (dict(shape=dict(type="bux")), "type of shape 'bux'.*box"),
        (dict(shape=dict(size=(1, 1, 1))), "type of shape"),
        (dict(shape=dict(type="box", size=(1, 1, 1))), "mass .* or density"),
        (dict(shape=dict(type="box", mass=1)), "needs the key 'size'"),
        (dict(shape=dict(BOX, radius=1)), "key of a box 'radius'"),
        (dict(shape=dict(BOX, density=0)), "density: expected a positive"),
        (dict(shape=dict(BOX, mass=1)), "both"),
        (dict(shape=dict(BOX, rpy=(0, 0))), "rpy"),
        (dict(shape=dict(BOX, rpy=(0, 0, 0), rotation=np.eye(3))), "not both"),
        (dict(shape=dict(BOX, rotation=np.ones((3, 3)))), "rotation"),
        (dict(shape=dict(BOX, hole=1)), "hole is True or False"),
        (dict(shape=HOLE), "every shape is a hole"),
        (dict(shape=[BOX, dict(BOX, hole=True)]), "cut out"),
        (dict(shape=BOX, mass=1), "not both"),
        (dict(shape=SOLID, mass=1), "not both"),
        (dict(shape=BOX, com=(0, 0, 0)), "give shape or com"),
        (dict(shape=[dict(type="sphere", radius=1)] * 2, mass="1"), "mass"),
        (dict(shape=[dict(type="sphere", radius=1)] * 2, mass=-1), "mass"),
        (dict(inertia=SOLID), "as shape"),
        (dict(shape=dict(type="mesh", file="none.stl", density=1)), "no such file"),
    ],
)
def test_bad_shapes_are_refused_with_their_row(row, text):
    with pytest.raises(ModelError, match=f"DH row 1: (?s:.*){text}"):
        from_row(**row)


TREE = """
format = 1
[[link]]
name = "base"
[[link]]
name = "arm"
{}
[[joint]]
name = "j"
type = "revolute"
parent = "base"
child = "arm"
"""
TABLE = 'format = 1\nconvention = "standard"\n[[joint]]\njoint = "revolute"\n{}\n'
SHAPE = 'shape = {{ type = "box", size = [0.1, 0.2, 0.3]{} }}'


def toml(folder, text, **options):
    path = folder / "arm.toml"
    path.write_text(text)
    return read_model(path, **options)


@pytest.mark.parametrize("form", [TREE, TABLE])
def test_shapes_in_toml(tmp_path, form):
    model, findings = toml(tmp_path, form.format(SHAPE.format(", density = 2700")))
    assert model.links[0].bodies[0].inertia == SOLID
    assert findings == ()
    listed = 'shape = [{ type = "point", mass = 1 }, { type = "rod", length = 1, mass = 1 }]'
    model, _ = toml(tmp_path, form.format(listed))
    assert model.links[0].inertia.mass == 2


def test_arrays_of_tables_and_parts_have_shapes(tmp_path):
    text = """
[[link.shape]]
type = "sphere"
radius = 0.1
mass = 2.0
[[link.shape]]
type = "point"
mass = 1.0
position = [0.0, 0.0, 0.3]
[[link.body]]
name = "part"
position = [1.0, 0.0, 0.0]
shape = { type = "point", mass = 4.0 }
"""
    model, _ = toml(tmp_path, TREE.format(text))
    own, part = model.links[0].bodies
    close(own.inertia.com, [0, 0, 0.1], 1e-15)
    close(part.inertia.mass, 4.0, 0)


def test_a_robot_with_shapes_is_saved_with_their_numbers(tmp_path):
    model, _ = toml(tmp_path, TREE.format(SHAPE.format(", density = 2700")))
    armdyn.Robot(model).save(tmp_path / "again.toml")
    again = armdyn.load(tmp_path / "again.toml").model
    assert again.links[0].inertia == model.links[0].inertia


@pytest.mark.parametrize("form", [TREE, TABLE])
def test_density_on_loading_is_for_shapes_that_say_none(tmp_path, form):
    text = form.format(SHAPE.format(""))
    with pytest.raises(TomlError, match="arm.toml: .*mass .* or density"):
        toml(tmp_path, text)
    model, findings = toml(tmp_path, text, density=2700)
    assert model.links[0].bodies[0].inertia == SOLID
    assert [f.level for f in findings] == ["warning"]
    assert "(16.2 kg)" in findings[0].message
    _, findings = toml(tmp_path, form.format(SHAPE.format(", mass = 1")), density=2700)
    assert "changes nothing" in findings[0].message


def test_toml_errors_name_file_and_link(tmp_path):
    for bad, what in (
        ('shape = { type = "bux" }', "type of shape 'bux'"),
        ('shape = { type = "box", size = [1, 2, 0], mass = 1 }', "size"),
        ('shape = { type = "box", size = "big", mass = 1 }', "size"),
        ('shape = { type = "box", size = [1, 1, 1], density = 0 }', "density"),
        ('shape = "box"', "expected a table"),
        (SHAPE.format(", mass = 1") + "\ncom = [0, 0, 0]", "give shape or com"),
    ):
        with pytest.raises(TomlError, match=f"arm.toml: link 2 'arm': (?s:.*){what}"):
            toml(tmp_path, TREE.format(bad))


def test_files_from_a_browser_read_no_meshes(tmp_path):
    bad = TREE.format('shape = { type = "mesh", file = "a.stl", mass = 1 }')
    with pytest.raises(TomlError, match="not read here"):
        toml(tmp_path, bad, trusted=False)
    path = save(
        tmp_path, link("a"), link("b", geometry('<mesh filename="b.off"/>')), joint("a", "b")
    )
    (tmp_path / "b.off").touch()
    with pytest.raises(UrdfError, match="not read here"):
        read_model(path, density=1, trusted=False)


# URDF

OPEN = '<mesh filename="open.off"/>'


def geometry(inside, tag="collision", origin=""):
    return f"<{tag}>{origin}<geometry>{inside}</geometry></{tag}>"


def load(path, **options):
    with pytest.warns(ArmdynWarning, match="density"):
        return armdyn.load(path, **options).model.links[0].inertia


@pytest.mark.parametrize(
    ("element", "body"),
    [
        ('<box size="0.1 0.2 0.3"/>', SOLID),
        ('<cylinder radius="0.1" length="0.3"/>', Inertia.cylinder(0.1, 0.3, density=2700)),
        ('<sphere radius="0.1"/>', Inertia.sphere(0.1, density=2700)),
        ('<capsule radius="0.1" length="0.3"/>', Inertia.capsule(0.1, 0.3, density=2700)),
    ],
)
def test_density_gives_urdf_links_the_inertia_of_their_geometry(tmp_path, element, body):
    origin = '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>'
    T = transform(rotation_from_rpy((0.1, 0.2, 0.3)), (1, 2, 3))
    for tag in ("collision", "visual"):
        path = save(
            tmp_path, link("a", ""), link("b", geometry(element, tag, origin)), joint("a", "b")
        )
        assert load(path, density=2700) == body.moved(T)


def test_links_keep_their_own_inertia_and_collision_goes_first(tmp_path):
    ball, cube = geometry('<sphere radius="0.1"/>'), geometry('<box size="1 1 1"/>', "visual")
    path = save(tmp_path, link("a"), link("b", cube + ball + ball), joint("a", "b"))
    assert load(path, density=100).mass == pytest.approx(2 * Inertia.sphere(0.1, density=100).mass)
    path = save(tmp_path, link("a"), link("b", INERTIAL + ball), joint("a", "b"))
    assert load(path, density=100).mass == 2
    with pytest.raises(ArmdynError, match="density=... "):
        armdyn.load(save(tmp_path, link("a", ""), link("b", ball), joint("a", "b")))


def test_meshes_of_urdf_links_are_found_and_scaled(tmp_path):
    creation = pytest.importorskip("trimesh.creation")
    root = tmp_path / "my_arm"
    (root / "meshes").mkdir(parents=True)
    (root / "urdf").mkdir()
    (root / "package.xml").write_text("<package/>")
    creation.box((100, 200, 300)).export(root / "meshes" / "box.off")
    for name in (
        "../meshes/box.off",
        "package://my_arm/meshes/box.off",
        f"file://{root}/meshes/box.off",
    ):
        element = f'<mesh filename="{name}" scale="0.001 0.001 0.001"/>'
        path = save(root / "urdf", link("a"), link("b", geometry(element)), joint("a", "b"))
        close(load(path, density=2700).pseudo, SOLID.pseudo, 1e-12)


def test_bad_geometry_is_refused_with_line_and_link(tmp_path):
    creation = pytest.importorskip("trimesh.creation")
    mesh = creation.box((1, 1, 1))
    mesh.update_faces(np.arange(len(mesh.faces)) > 0)
    mesh.export(tmp_path / "open.off")
    for element, text in (
        (OPEN, "not watertight"),
        ('<mesh filename="none.stl"/>', "no mesh 'none.stl'.*folder of this file"),
        ('<mesh filename="package://other/none.stl"/>', "ROS_PACKAGE_PATH"),
        ('<mesh filename="part.step"/>', "ending"),
        ('<box size="1 1"/>', "size of <box>"),
        ('<sphere radius="0"/>', "radius: expected a positive"),
        ("<sphere/>", "no attribute 'radius'"),
        ("<torus/>", "<torus> is not known"),
    ):
        path = save(tmp_path, link("a"), link("b", geometry(element)), joint("a", "b"))
        with pytest.raises(UrdfError, match=f"robot.urdf:3: link 'b': .*{text}"):
            armdyn.load(path, density=1000)
    path = save(tmp_path, link("a"), link("b", geometry(OPEN)), joint("a", "b"))
    close(load(path, density=1000, hull=True).mass, 1000, 1e-12)
    for density in (0, -1, np.nan, "heavy", True):
        with pytest.raises(ModelError, match="density"):
            armdyn.load(path, density=density)


def test_mjcf_has_its_own_density(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text("<mujoco/>")
    with pytest.raises(ModelError, match="MuJoCo gives the bodies"):
        armdyn.load(path, density=1000)


def test_a_payload_may_be_an_inertia():
    robot = armdyn.load("two_link")
    one = robot.with_payload(SOLID.moved((0.1, 0, 0)))
    two = robot.with_payload(SOLID.mass, (0.1, 0, 0), SOLID.moment_about_com)
    close(one.model.links[-1].inertia.pseudo, two.model.links[-1].inertia.pseudo, 1e-12)
    with pytest.raises(ModelError, match="give no others"):
        robot.with_payload(SOLID, (0.1, 0, 0))


def test_the_examples_of_the_page_run():
    names = {}
    for code in python_blocks(page("mass-properties")):
        exec(code, names)  # its own words
    assert names["robot"].model.links[1].bodies[0].inertia.mass == pytest.approx(1.9)
