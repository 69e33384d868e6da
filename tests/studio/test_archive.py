"""Archives from the browser: robots with their meshes, projects, and what is refused."""

import io
import json
import stat
import zipfile
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("viser")

import armdyn
from armdyn.errors import DescriptionError
from armdyn.studio import uploads
from armdyn.studio.arm import Arm, Evaluator, State, arm_of
from armdyn.studio.panels.files import Project, packed, read_project
from armdyn.studio.uploads import check_mjcf, description, open_upload, unpack
from armdyn.studio.visuals import NOT_IN_ARCHIVE, Visual, mjcf_visuals
from support.meshes import TRIANGLE as STL

URDF = """<robot name="arm"><link name="base"/>
  <link name="arm">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="{mesh}"/></geometry></visual></link>
  <joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint>
</robot>"""
MJCF = """<mujoco model="arm"><compiler meshdir="meshes"/>
  <asset><mesh name="m" file="{mesh}"/></asset>
  <worldbody><body name="arm"><joint name="j" axis="0 0 1"/>
  <inertial pos="0.1 0 0" mass="2" diaginertia="0.1 0.1 0.1"/>
  <geom type="mesh" mesh="m" contype="0" conaffinity="0"/></body></worldbody>{more}</mujoco>"""
PYRAMID = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def packed_files(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return path


@pytest.mark.parametrize(
    "mesh", ["meshes/t.stl", "../meshes/t.stl", "package://arm_description/meshes/t.stl"]
)
def test_a_robot_in_an_archive_has_its_meshes(tmp_path, mesh):
    files = {"d/urdf/arm.urdf": URDF.format(mesh=mesh), "d/meshes/t.stl": STL}
    loaded = open_upload(packed_files(tmp_path / "arm.zip", files))
    arm = arm_of(loaded, "", None, True, lambda _: None)
    assert [piece.link for piece in arm.pieces] == ["arm"]
    assert arm.missing == ()


@pytest.mark.parametrize("mesh", ["../../../t.stl", "/{folder}/t.stl", "file://{folder}/t.stl"])
def test_a_mesh_outside_of_the_archive_is_not_read(tmp_path, mesh):
    (tmp_path / "t.stl").write_text(STL)
    name = mesh.format(folder=tmp_path)
    loaded = open_upload(packed_files(tmp_path / "a.zip", {"arm.urdf": URDF.format(mesh=name)}))
    arm = arm_of(loaded, "", None, True, lambda _: None)
    assert arm.pieces == ()
    assert [m.reason for m in arm.missing] == [NOT_IN_ARCHIVE]


def test_mjcf_is_taken_with_all_that_it_names(tmp_path):
    pytest.importorskip("mujoco")
    more = '<include file="more.xml"/>'
    files = {
        "arm.xml": MJCF.format(mesh="m.obj", more=more),
        "more.xml": '<mujoco><option gravity="0 0 -3"/></mujoco>',
        "meshes/m.obj": PYRAMID,
    }
    loaded = open_upload(packed_files(tmp_path / "arm.zip", files))
    assert loaded.error is None
    assert loaded.robot.model.links[0].inertia.mass == pytest.approx(2)
    np.testing.assert_allclose(loaded.robot.gravity, [0, 0, -3])
    # its mesh is drawn where the file says, however MuJoCo keeps it
    (piece,) = arm_of(loaded, "", None, True, lambda _: None).pieces
    assert piece.link == "arm"
    corners = piece.vertices @ piece.placement[:3, :3].T + piece.placement[:3, 3]
    wanted = [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]]
    np.testing.assert_allclose(np.unique(corners.round(6), axis=0), wanted, atol=1e-6)


def test_geoms_of_mjcf_are_drawn_with_place_size_and_colour(tmp_path):
    pytest.importorskip("mujoco")
    path = tmp_path / "geoms.xml"
    path.write_text("""<mujoco model="geoms"><worldbody>
      <geom type="plane" size="1 1 1"/><body name="arm" pos="0 0 1">
      <joint axis="0 1 0"/><geom type="box" size="0.1 0.2 0.3" pos="0 0 0.5" rgba="1 0 0 1"/>
      <geom type="capsule" fromto="0 0 0 1 0 0" size="0.1"/>
      <geom type="cylinder" size="0.1 0.4" euler="90 0 0"/><geom type="ellipsoid" size="1 2 3"/>
      <geom type="sphere" size="0.5" rgba="0 0 0 0"/>
      <geom type="sphere" size="9" group="3"/></body></worldbody></mujoco>""")
    found = mjcf_visuals(path)
    assert {piece.link for piece in found} == {"arm"}
    assert found[0].colour == (255, 0, 0)
    sizes = []
    for piece in found:
        corners = piece.vertices @ piece.placement[:3, :3].T + piece.placement[:3, 3]
        sizes.append([*corners.min(0), *corners.max(0)])
    wanted = [
        [-0.1, -0.2, 0.2, 0.1, 0.2, 0.8],
        [-0.1, -0.1, -0.1, 1.1, 0.1, 0.1],
        [-0.1, -0.4, -0.1, 0.1, 0.4, 0.1],
        [-1, -2, -3, 1, 2, 3],
    ]
    np.testing.assert_allclose(sizes, wanted, atol=0.02)


@pytest.mark.parametrize(
    ("mesh", "more", "message"),
    [
        ("../m.obj", "", "leads out of its archive"),
        ("/etc/passwd", "", "leads out of its archive"),
        ("C:/m.obj", "", "leads out of its archive"),
        ("a\\m.obj", "", "leads out of its archive"),
        ("m.obj", '<include file="../x.xml"/>', "leads out of its archive"),
        ("m.obj", '<include file="inner.xml"/>', "leads out of its archive"),
        ("m.obj", '<extension><plugin plugin="x"/></extension>', "load programs"),
    ],
)
def test_mjcf_that_names_other_files_is_refused_before_it_is_read(tmp_path, mesh, more, message):
    (tmp_path / "arm.xml").write_text(MJCF.format(mesh=mesh, more=more))
    (tmp_path / "inner.xml").write_text('<mujoco><compiler meshdir="/etc"/></mujoco>')
    with pytest.raises(DescriptionError, match=message):
        check_mjcf(tmp_path / "arm.xml")


def hostile(kind):
    """An archive with something in it that must not be unpacked."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        if kind == "link":
            entry = zipfile.ZipInfo("arm.urdf")
            entry.external_attr = (stat.S_IFLNK | 0o777) << 16
            file.writestr(entry, "/etc/passwd")
        elif kind == "many":
            for k in range(uploads.MAX_FILES + 1):
                file.writestr(f"{k}.txt", "")
        elif kind == "bomb":
            for k in range(6):
                file.writestr(f"{k}.stl", bytes(20 * 2**20))
        elif kind == "twice":
            file.writestr("a.urdf", "x")
            file.writestr("A.urdf", "y")
        else:
            file.writestr(kind, "x")
    return made.getvalue()


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("../arm.urdf", "leads out of it"),
        ("a/../../arm.urdf", "leads out of it"),
        ("/tmp/arm.urdf", "leads out of it"),
        ("C:\\arm.urdf", "leads out of it"),
        ("~/arm.urdf", "leads out of it"),
        ("a/" * 20 + "arm.urdf", "too long or too deep"),
        ("link", "is a link or a device"),
        ("many", "more than 500"),
        ("bomb", "unpacks to 120 MB or more"),
        ("twice", "is in it twice"),
    ],
)
def test_a_hostile_archive_is_refused_and_leaves_nothing(tmp_path, kind, message):
    path = tmp_path / "inner" / "bad.zip"
    path.parent.mkdir()
    path.write_bytes(hostile(kind))
    with pytest.raises(DescriptionError, match=message):
        unpack(path, path.parent)
    assert [file.name for file in tmp_path.rglob("*")] == ["inner", "bad.zip"]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no", b"not a zip at all" * 50])
def test_what_is_no_archive_is_refused(tmp_path, content):
    (tmp_path / "bad.zip").write_bytes(content)
    with pytest.raises(DescriptionError, match=r"bad.zip: cannot be unpacked"):
        unpack(tmp_path / "bad.zip", tmp_path)


def test_a_file_that_lies_about_its_size_is_not_unpacked_beyond_it(tmp_path):
    path = packed_files(tmp_path / "a.zip", {"arm.urdf": "x" * 5000})
    data = path.read_bytes()
    path.write_bytes(data.replace((5000).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    with pytest.raises(DescriptionError, match="cannot be unpacked"):
        unpack(path, tmp_path)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"readme.txt": "x"}, "there is no robot in this archive"),
        ({"arm.xacro": "x"}, "expand the xacro first"),
        ({"a.urdf": "x", "b.urdf": "y"}, r"several robots in this archive: a.urdf, b.urdf"),
    ],
)
def test_an_archive_without_one_robot_says_so(tmp_path, files, message):
    place = unpack(packed_files(tmp_path / "a.zip", files), tmp_path)
    with pytest.raises(DescriptionError, match=message):
        description(place)


@pytest.fixture(scope="module")
def two_link():
    robot = armdyn.load("two_link")
    piece = Visual("link1", np.eye(4), np.eye(3), np.array([[0, 1, 2]]), (10, 20, 30))
    return Arm(robot, Evaluator(robot), (piece,))


def test_a_project_comes_back_as_it_was(tmp_path, two_link):
    state = State(np.array([0.1, 0.2]), np.array([1.0, 2.0]), np.array([3.0, 4.0]), 0.5)
    project = Project(state, {"up": State.rest(np.array([1.5, 0.0]))}, {"axes": False})
    (tmp_path / "p.zip").write_bytes(packed(two_link, project))
    loaded = open_upload(tmp_path / "p.zip")
    np.testing.assert_array_equal(loaded.robot.parameters(), two_link.robot.parameters())
    found = read_project(loaded.archive, 2)
    np.testing.assert_array_equal(found.state.qdd, state.qdd)
    assert found.state.payload == 0.5
    assert found.view == {"axes": False}
    np.testing.assert_array_equal(found.poses["up"].q, [1.5, 0])
    (piece,) = found.pieces
    assert (piece.link, piece.colour) == ("link1", (10, 20, 30))
    np.testing.assert_array_equal(piece.vertices, np.eye(3))


def changed(change):
    table = {"format": 1, "state": None, "poses": {}, "view": {}, "pieces": []}
    return json.dumps(table | change)


PIECE = {"link": "a", "placement": np.eye(4).tolist(), "colour": None}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "this is no JSON"),
        ("[" * 100_000, "this is no JSON"),
        ("[]", "expected a project of format 1"),
        (changed({"format": 9}), "expected a project of format 1, got 9"),
        (changed({"poses": []}), "poses and view are tables"),
        (changed({"state": {"q": [1]}}), "state: expected q, qd and qdd of 2 numbers"),
        (changed({"state": {"q": [1, 2, 3], "qd": [0, 0], "qdd": [0, 0]}}), "of 2 numbers"),
        (changed({"poses": {"a": 3}}), "pose 'a': expected"),
        (changed({"pieces": [PIECE]}), "there is no such file"),
        (changed({"pieces": [{**PIECE, "placement": [1]}]}), "there is no such file"),
        (changed({"pieces": 3}), "pieces are a list"),
    ],
)
def test_a_project_that_is_none_is_refused(tmp_path, text, message):
    (tmp_path / "project.json").write_text(text)
    with pytest.raises(DescriptionError, match=message):
        read_project(tmp_path, 2)


@pytest.mark.parametrize(
    ("corners", "triangles"),
    [(np.eye(3), [[0, 1, 7]]), (np.full((3, 3), np.nan), [[0, 1, 2]]), (np.eye(3), [[0, 1, -1]])],
)
def test_looks_that_are_no_triangles_are_refused(tmp_path, corners, triangles):
    (tmp_path / "project.json").write_text(changed({"pieces": [PIECE]}))
    (tmp_path / "looks").mkdir()
    Path(tmp_path / "looks/0.corners").write_bytes(corners.astype("<f4").tobytes())
    Path(tmp_path / "looks/0.triangles").write_bytes(np.array(triangles, "<i4").tobytes())
    with pytest.raises(DescriptionError, match="its looks cannot be read"):
        read_project(tmp_path, 2)
