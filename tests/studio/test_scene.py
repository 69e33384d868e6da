"""What is drawn: forces that balance, bodies with the right inertia, links where they are."""

import os
from dataclasses import replace
from unittest.mock import ANY

import numpy as np
import pytest

pytest.importorskip("viser")

import armdyn
from armdyn.io.xml import XmlElement
from armdyn.model import Inertia
from armdyn.studio import shapes
from armdyn.studio.arm import Evaluator, State, arm_of, pose
from armdyn.studio.drawing import housing
from armdyn.studio.scene import lowest
from armdyn.studio.shapes import stage, upright
from armdyn.studio.uploads import open_robot, open_upload
from armdyn.studio.visuals import FROM_BROWSER, NOT_FOUND, NotDrawn, _shape, visuals
from support.meshes import TRIANGLE as STL

LOOKS = """<robot name="looks">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base"><visual><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry>
    <material name="red"/></visual></link>
  <link name="arm">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="{mesh}" scale="2 2 2"/></geometry></visual></link>
  <joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint>
</robot>"""


@pytest.mark.parametrize("name", ["puma560", "panda", "scara"])
def test_at_rest_each_joint_bears_what_it_carries(name):
    robot = armdyn.load(name)
    shot = Evaluator(robot)(replace(State.rest(pose(robot)), payload=1.5))
    for i in range(len(robot.model.joints)):
        carried = [k for k, path in enumerate(robot.model.paths) if i in path]
        weight = shot.weights.forces[carried].sum(0)
        np.testing.assert_allclose(shot.reactions.forces[i], -weight, atol=1e-9)
    mass = sum(link.inertia.mass for link in robot.model.links) + 1.5
    np.testing.assert_allclose(shot.weights.forces.sum(0), mass * robot.gravity, atol=1e-9)


def test_links_and_tool_are_where_the_library_says():
    robot = armdyn.load("panda")
    q = pose(robot)
    shot = Evaluator(robot)(State.rest(q))
    np.testing.assert_allclose(shot.tool, robot.forward_kinematics(q), atol=1e-12)
    for link, T in zip(robot.model.links, shot.links, strict=True):
        np.testing.assert_allclose(T, robot.forward_kinematics(q, link.name), atol=1e-12)


def test_an_ellipsoid_has_the_inertia_of_its_link():
    rng = np.random.default_rng(5)
    a, b, c = radii = np.array([0.3, 0.2, 0.1])
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    own = 2.0 / 5 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
    found = shapes.ellipsoid(Inertia.from_com(2.0, [1.0, 2.0, 3.0], axes @ own @ axes.T))
    np.testing.assert_allclose(found.centre, [1, 2, 3])
    np.testing.assert_allclose(np.sort(found.radii), np.sort(radii))
    assert np.linalg.det(found.axes) == pytest.approx(1)
    back = found.axes @ np.diag(found.radii**2) @ found.axes.T
    np.testing.assert_allclose(back, axes @ np.diag(radii**2) @ axes.T, atol=1e-12)
    assert shapes.ellipsoid(Inertia.zero()) is None


@pytest.mark.parametrize("name", ["puma560", "stanford", "scara", "gen3"])
def test_rods_lead_from_joint_to_joint(name):
    model = armdyn.load(name).model
    assert 0.1 < shapes.size(model) < 5
    for i, joint in enumerate(model.joints):
        gap = np.linalg.norm(joint.placement[:3, 3])
        ends = [rod.b for rod in shapes.rods(model, joint.parent)]
        near = any(np.array_equal(end, joint.placement[:3, 3]) for end in ends)
        assert near or gap <= 0.2 * shapes.radius(model, joint.parent)
        wide, tall = shapes.barrel(model, i)
        assert shapes.radius(model, i) < wide < tall


LONG_LOOPS = pytest.mark.thorough(reason="the loops of a delta take twenty seconds to compile")


@pytest.mark.parametrize("name", ["five_bar", "puma560", pytest.param("delta", marks=LONG_LOOPS)])
def test_nothing_is_below_the_ground(name):
    arm = arm_of(open_robot(name), name, None, False, lambda _: None)
    model = arm.robot.model
    ground = min(stage(model).ground, lowest(arm))
    links = arm.evaluator(State.rest(pose(arm.robot))).links
    heights = stage(model).on_page(links[:, :3, 3])[:, 2]
    assert heights.min() > ground - 1e-9
    # what stands on the ground is not lifted from it
    assert (ground < stage(model).ground) == (name == "delta")


def test_an_arm_of_one_link_is_drawn_to_its_centre_of_mass(tmp_path):
    path = tmp_path / "one.urdf"
    path.write_text(
        """<robot name="one"><link name="base"/><link name="arm"><inertial><mass value="1"/>
        <origin xyz="0.3 0 0.4"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
        </inertial></link><joint name="j" type="continuous"><parent link="base"/>
        <child link="arm"/></joint></robot>"""
    )
    model = armdyn.load(path).model
    assert shapes.size(model) == pytest.approx(0.5)
    (rod,) = shapes.rods(model, 0)
    np.testing.assert_allclose([rod.a, rod.b], [[0, 0, 0], [0.3, 0, 0.4]])


def test_visuals_are_read_with_their_place_size_and_colour(tmp_path):
    (tmp_path / "t.stl").write_text(STL)
    path = tmp_path / "looks.urdf"
    path.write_text(LOOKS.format(mesh="t.stl"))
    (box, mesh), missing = visuals(path, meshes=True)
    assert missing == []
    assert (box.link, mesh.link) == ("base", "arm")
    np.testing.assert_allclose(np.ptp(box.vertices, axis=0), [1, 2, 3])
    np.testing.assert_allclose(box.placement[:3, 3], [0, 0, 1])
    assert box.colour == (255, 0, 0)
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), [2, 2, 0])


@pytest.mark.parametrize(
    "mesh", ["t.stl", "{folder}/t.stl", "file://{folder}/t.stl", "../t.stl", "package://x/t.stl"]
)
def test_an_upload_reads_no_other_file(tmp_path, mesh):
    inner = tmp_path / "x"
    inner.mkdir()
    for folder in (tmp_path, inner):
        (folder / "t.stl").write_text(STL)
    path = inner / "looks.urdf"
    path.write_text(LOOKS.format(mesh=mesh.format(folder=inner)))
    assert len(visuals(path, meshes=True)[0]) == 2
    found, missing = visuals(path, meshes=False)
    assert [v.link for v in found] == ["base"]
    assert missing == [NotDrawn("t.stl", FROM_BROWSER)]


@pytest.mark.parametrize(
    "mesh",
    [
        "../../t.stl",
        "{folder}/t.stl",
        "file://{folder}/t.stl",
        "link.stl",
        "package://../t.stl",
        "package://other/t.stl",
        "package://x/../../t.stl",
        "package:///t.stl",
        "pipe.stl",
        "a\0.stl",
        "9" * 5000 + ".stl",
    ],
)
def test_meshes_outside_the_folders_of_the_description_are_not_read(tmp_path, mesh):
    inner = tmp_path / "y" / "x"
    for folder in (inner, tmp_path / "other"):
        folder.mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "other"):
        (folder / "t.stl").write_text(STL)
    (inner / "link.stl").symlink_to(tmp_path / "t.stl")
    os.mkfifo(inner / "pipe.stl")
    given = XmlElement("mesh", {"filename": mesh.format(folder=tmp_path)}, ())
    missing = []
    assert _shape(XmlElement("geometry", {}, (given,)), inner, missing) is None
    assert len(missing) == 1


def test_meshes_of_a_package_beside_the_description(tmp_path):
    for folder in ("x/urdf", "meshes/a"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "meshes/a/t.stl").write_text(STL)
    path = tmp_path / "x/urdf/looks.urdf"
    path.write_text(LOOKS.format(mesh="package://meshes/a/t.stl"))
    assert visuals(path, meshes=True)[1] == [NotDrawn("t.stl", NOT_FOUND)]
    (tmp_path / "meshes/package.xml").write_text("<package/>")
    assert visuals(path, meshes=True)[1] == []


@pytest.mark.parametrize(
    ("mesh", "reason"),
    [
        ("none.stl", NOT_FOUND),
        ("looks.urdf", "no mesh that ends in '.urdf' is read"),
        ("broken.obj", "no triangles"),
        ("/etc/hostname", "no mesh that ends in ''"),
    ],
)
def test_a_mesh_that_cannot_be_read_is_named_with_the_reason(tmp_path, mesh, reason):
    (tmp_path / "broken.obj").write_text("this is no mesh")
    path = tmp_path / "looks.urdf"
    path.write_text(LOOKS.format(mesh=mesh))
    found, missing = visuals(path, meshes=True)
    assert [v.link for v in found] == ["base"]
    assert [(m.name, m.reason) for m in missing] == [(mesh.rpartition("/")[2], ANY)]
    assert reason in missing[0].reason


def test_a_dae_is_drawn_in_its_unit(tmp_path):
    trimesh, collada = pytest.importorskip("trimesh"), pytest.importorskip("collada")
    assert collada.__version__
    box = trimesh.creation.box((10.0, 20.0, 30.0)).export(file_type="dae")
    unit = box.replace(b"</asset>", b'<unit name="centimeter" meter="0.01"/></asset>')
    (tmp_path / "t.dae").write_bytes(unit)
    path = tmp_path / "looks.urdf"
    path.write_text(LOOKS.format(mesh="t.dae"))
    (_, mesh), missing = visuals(path, meshes=True)
    assert missing == []
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), [0.2, 0.4, 0.6], atol=1e-9)


def test_the_page_turns_gravity_down_by_a_rotation():
    rng = np.random.default_rng(8)
    fields = [*rng.normal(size=(20, 3)), [0, 0, 9.81], [0, -9.81, 0], [1e-9, 0, -9.81]]
    for field in map(np.array, fields):
        R = upright(field)
        np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(R) == pytest.approx(1)
        np.testing.assert_allclose(R @ field, [0, 0, -np.linalg.norm(field)], atol=1e-9)
    np.testing.assert_array_equal(upright(np.zeros(3)), np.eye(3))
    for name in ("puma560", "panda"):
        np.testing.assert_array_equal(stage(armdyn.load(name).model).turn, np.eye(3))


@pytest.mark.parametrize("name", ["puma560", "two_link", "palletizer", "scara"])
def test_a_housing_contains_both_of_its_joints(name):
    from trimesh import Trimesh

    model = armdyn.load(name).model
    for link in range(-1, len(model.links)):
        for rod in shapes.rods(model, link):
            body = housing(rod)
            solid = Trimesh(body.vertices, body.faces)
            assert solid.volume > 0
            inside = np.array([rod.a, rod.b])
            planes = np.einsum(
                "fk,pfk->pf", solid.face_normals, inside[:, None] - solid.triangles[None, :, 0]
            )
            assert (planes < 1e-6).all()


@pytest.mark.parametrize("uploaded", [True, False])
def test_only_a_file_of_the_command_line_brings_its_meshes(tmp_path, uploaded):
    (tmp_path / "t.stl").write_text(STL)
    path = tmp_path / "looks.urdf"
    path.write_text(LOOKS.format(mesh="t.stl"))
    opened = open_upload(path) if uploaded else open_robot(path)
    arm = arm_of(opened, path.name, path, uploaded, lambda _: None)
    assert [piece.link for piece in arm.pieces] == ["base"] + ["arm"] * (not uploaded)
    assert [m.name for m in arm.missing] == ["t.stl"] * uploaded
