"""Shapes and meshes: closed forms against integrals and Pinocchio, moves, sums, holes, errors."""

import numpy as np
import pytest
from scipy.integrate import quad

import armdyn
from armdyn import Inertia
from armdyn.errors import InertiaError, MeshError, ModelError
from armdyn.model.inertia import SHAPES
from armdyn.model.transform import rotation_about, transform
from support.peers import close
from support.random_robots import random_axis, random_inertia, random_transform

R, H, INNER, M = 0.3, 0.8, 0.2, 2.5
SIZES = {
    "box": [(0.2, 0.5, 0.7)],
    "cylinder": [R, H],
    "tube": [R, INNER, H],
    "sphere": [R],
    "capsule": [R, H],
    "cone": [R, H],
    "ellipsoid": [(0.2, 0.5, 0.7)],
    "rod": [H],
    "point": [],
}
SOLIDS = [name for name in SIZES if name not in ("rod", "point")]


def disc(radius):
    """Area of a disc, and its integrals of x² and y²."""
    return np.pi * radius**2, np.pi * radius**4 / 4, np.pi * radius**4 / 4


def slices(name):
    """Ends of a solid along z, and at z the area of its slice and its integrals of x² and y²."""
    a, b, c = SIZES["box"][0]
    ball = lambda z: disc(np.sqrt(max(R**2 - z**2, 0.0)))  # noqa: E731
    return {
        "box": (-c / 2, c / 2, lambda z: (a * b, a**3 * b / 12, a * b**3 / 12)),
        "cylinder": (-H / 2, H / 2, lambda z: disc(R)),
        "tube": (-H / 2, H / 2, lambda z: np.subtract(disc(R), disc(INNER))),
        "sphere": (-R, R, ball),
        "capsule": (-H / 2 - R, H / 2 + R, lambda z: ball(max(abs(z) - H / 2, 0.0))),
        "cone": (0.0, H, lambda z: disc(R * (1 - z / H))),
        "ellipsoid": (
            -c,
            c,
            lambda z: (
                np.array([a * b, a**3 * b / 4, a * b**3 / 4])
                * np.pi
                * (1 - (z / c) ** 2) ** np.array([1, 2, 2])
            ),
        ),
    }[name]


@pytest.mark.parametrize("name", SOLIDS)
def test_closed_forms_are_the_integrals(name):
    low, high, at = slices(name)
    marks = [-H / 2, H / 2] if name == "capsule" else None

    def integral(f):
        return quad(f, low, high, points=marks, epsabs=1e-13, epsrel=1e-11)[0]

    volume, xx, yy = (integral(lambda z, k=k: at(z)[k]) for k in range(3))
    first, zz = (integral(lambda z, p=p: z**p * at(z)[0]) for p in (1, 2))
    wanted = np.diag([xx, yy, zz, volume])
    wanted[2, 3] = wanted[3, 2] = first
    make = getattr(Inertia, name)
    close(make(*SIZES[name], density=1000.0).pseudo, 1000 * wanted, 1e-9)
    close(make(*SIZES[name], mass=M).pseudo, M / volume * wanted, 1e-9)


def test_rods_and_points_are_limits_of_solids():
    thin = Inertia.cylinder(1e-9, H, mass=M)
    close(Inertia.rod(H, mass=M).moment, thin.moment, 1e-15)
    at = (0.1, 0.2, 0.3)
    close(Inertia.point(at, mass=M).pseudo, Inertia.sphere(1e-9, mass=M).moved(at).pseudo, 1e-15)


@pytest.mark.parametrize("name", ["Box", "Cylinder", "Sphere", "Ellipsoid", "Capsule"])
def test_pinocchio_has_the_same_moments(name):
    pin = pytest.importorskip("pinocchio")
    sizes = SIZES[name.lower()]
    theirs = getattr(pin.Inertia, f"From{name}")(M, *np.ravel(sizes))
    ours = getattr(Inertia, name.lower())(*sizes, mass=M)
    close(ours.moment, theirs.inertia, 1e-14)


@pytest.mark.parametrize("name", ["cylinder", "tube", "capsule", "cone", "rod"])
def test_axis_turns_the_shape(name):
    make = getattr(Inertia, name)
    upright = make(*SIZES[name], mass=M)
    for axis, R in (
        ("x", rotation_about(np.array([0.0, 1.0, 0.0]), np.pi / 2)),
        ("y", rotation_about(np.array([1.0, 0.0, 0.0]), -np.pi / 2)),
    ):
        close(make(*SIZES[name], mass=M, axis=axis).pseudo, upright.rotated(R).pseudo, 1e-15)


def test_the_box_of_the_book_about_its_corner():
    """Seed 001, Example 6.1: a block of size w, l, h with the frame at its corner."""
    w, l, h = 0.3, 0.5, 0.7
    corner = Inertia.box((w, l, h), mass=M).moved((w / 2, l / 2, h / 2))
    I = M * np.array(
        [
            [(l**2 + h**2) / 3, -w * l / 4, -h * w / 4],
            [-w * l / 4, (w**2 + h**2) / 3, -h * l / 4],
            [-h * w / 4, -h * l / 4, (l**2 + w**2) / 3],
        ]
    )
    close(corner.moment, I, 1e-15)
    close(corner.about((w / 2, l / 2, h / 2)), corner.moment_about_com, 1e-15)


def test_holes_make_tubes_and_shells():
    bored = Inertia.cylinder(R, H, density=500) - Inertia.cylinder(INNER, H, density=500)
    close(bored.pseudo, Inertia.tube(R, INNER, H, density=500).pseudo, 1e-13)
    both = bored + Inertia.cylinder(INNER, H, density=500)
    close(both.pseudo, Inertia.cylinder(R, H, density=500).pseudo, 1e-13)
    assert sum([bored, bored]).mass == pytest.approx(2 * bored.mass)


def test_laws_of_moves():
    rng = np.random.default_rng(0)
    body, T, S = random_inertia(rng), random_transform(rng), random_transform(rng)
    close(body.moved(S).moved(T).pseudo, body.moved(T @ S).pseudo, 1e-13)
    turn = rotation_about(random_axis(rng), 0.7)
    close(body.rotated(turn).moment, turn @ body.moment @ turn.T, 1e-14)
    p, c = rng.normal(size=3), body.com
    d = c - p
    steiner = body.moment_about_com + body.mass * (d @ d * np.eye(3) - np.outer(d, d))
    close(body.about(p), steiner, 1e-13)
    close(body.moved(p).com, c + p, 1e-14)


def test_principal_moments_and_axes_give_the_tensor_back():
    body = random_inertia(np.random.default_rng(1))
    moments, axes = body.principal
    assert (np.diff(moments) >= 0).all()
    close(axes @ np.diag(moments) @ axes.T, body.moment_about_com, 1e-14)
    close(axes @ axes.T, np.eye(3), 1e-14)
    assert np.linalg.det(axes) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: Inertia.box((1, 2, 3)), "mass .* or density .*neither"),
        (lambda: Inertia.box((1, 2, 3), mass=1, density=1), "both"),
        (lambda: Inertia.box((1, 2), mass=1), "size"),
        (lambda: Inertia.box((1, 2, -3), mass=1), "positive"),
        (lambda: Inertia.sphere(0.1, density=0), "density: expected a positive"),
        (lambda: Inertia.sphere(0.1, mass=-1), "mass: expected a positive"),
        (lambda: Inertia.sphere(np.nan, mass=1), "finite"),
        (lambda: Inertia.sphere("0.1", mass=1), "radius"),
        (lambda: Inertia.sphere(1e-40, mass=1), "units"),
        (lambda: Inertia.sphere(1.0, density=1e300), "units"),
        (lambda: Inertia.tube(0.1, 0.2, 1.0, mass=1), "inner_radius"),
        (lambda: Inertia.rod(1.0, density=1000), "no volume"),
        (lambda: Inertia.point(density=1000), "no volume"),
        (Inertia.point, "give mass"),
        (lambda: Inertia.cone(1.0, 1.0, mass=1, axis="w"), "axis"),
        (lambda: Inertia.from_com(1.0, (0, 0), np.eye(3)), "com"),
        (lambda: Inertia.from_com("heavy", (0, 0, 0), np.eye(3)), "mass"),
        (lambda: Inertia.from_com(1.0, (0, 0, 0), np.eye(3), 1.0), "axes"),
        (lambda: Inertia.from_origin(1.0, (0, 0, 0), "I"), "tensor"),
        (lambda: Inertia.sphere(1.0, mass=1).moved(None), "transform"),
        (lambda: Inertia.sphere(1.0, mass=1).moved(np.ones((4, 4))), "transform"),
        (lambda: Inertia.sphere(1.0, mass=1).moved((0, 0)), "shape"),
        (lambda: Inertia.sphere(1.0, mass=1).rotated(2 * np.eye(3)), "rotation"),
        (lambda: Inertia.sphere(1.0, mass=1).about((0, 0)), "point"),
    ],
)  # fmt: skip
def test_bad_shapes_are_refused(call, text):
    with pytest.raises(ModelError, match=text):
        call()


def test_what_is_no_body_any_more_is_refused():
    ball = Inertia.sphere(0.1, density=1000)
    for hole in (ball, Inertia.sphere(0.2, density=100), Inertia.sphere(0.2, density=1000)):
        with pytest.raises(InertiaError, match="cut out"):
            ball - hole


def test_only_bodies_are_joined():
    for other in (1, None, np.eye(4)):
        with pytest.raises(TypeError):
            Inertia.sphere(0.1, mass=1) + other
        with pytest.raises(TypeError):
            Inertia.sphere(0.1, mass=1) - other


def test_every_shape_is_public():
    assert all(hasattr(armdyn.Inertia, name) for name in SHAPES)
    assert "Inertia" in armdyn.__all__


@pytest.fixture
def box(tmp_path):
    creation = pytest.importorskip("trimesh.creation")

    def save(name, change=None):
        mesh = creation.box(SIZES["box"][0], transform(position=(1.0, 2.0, 3.0)))
        mesh = mesh if change is None else change(mesh)
        mesh.export(tmp_path / name)
        return tmp_path / name

    return save


@pytest.mark.parametrize("ending", ["stl", "obj", "ply", "off", "glb"])
def test_a_mesh_of_a_box_is_the_box(box, ending):
    wanted = Inertia.box(SIZES["box"][0], density=2700).moved((1, 2, 3))
    found = Inertia.mesh(box(f"box.{ending}"), density=2700)
    close(found.pseudo, wanted.pseudo, 1e-6)  # single precision in most formats


def test_units_scale_mirror_and_hull_of_a_mesh(box):
    path, wanted = box("box.off"), Inertia.box(SIZES["box"][0], mass=M).moved((1, 2, 3))
    inch = Inertia.mesh(path, mass=M, scale=1 / 0.0254, units="in")
    close(inch.pseudo, wanted.pseudo, 1e-12)
    mirrored = Inertia.mesh(path, mass=M, scale=(1, -1, 1))
    close(mirrored.com, [1, -2, 3], 1e-12)
    close(Inertia.mesh(path, mass=M, hull=True).pseudo, wanted.pseudo, 1e-12)


@pytest.mark.parametrize("size", [1e-12, 1e-3, 1e6])
def test_meshes_of_any_size_are_welded(tmp_path, size):
    creation = pytest.importorskip("trimesh.creation")
    creation.box((size, size, size)).export(tmp_path / "cube.stl")  # each triangle has its corners
    found = Inertia.mesh(tmp_path / "cube.stl", mass=1.0)
    close(found.moment / size**2, np.eye(3) / 6, 1e-6)


def test_a_fine_mesh_converges_to_the_ball(tmp_path):
    creation = pytest.importorskip("trimesh.creation")
    errors = []
    for steps in (2, 3):
        creation.icosphere(steps, R).export(tmp_path / "ball.off")
        found = Inertia.mesh(tmp_path / "ball.off", density=1000).moment
        errors.append(np.abs(found - Inertia.sphere(R, density=1000).moment).max())
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)  # of second order


def without_a_face(mesh):
    mesh.update_faces(np.arange(len(mesh.faces)) > 0)
    return mesh


def with_a_face_turned(mesh):
    mesh.faces[0] = mesh.faces[0][::-1]
    return mesh


def inside_out(mesh):
    mesh.invert()
    return mesh


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (without_a_face, "not watertight.*Repair.*hull"),
        (with_a_face_turned, "not consistently wound.*Repair"),
        (inside_out, "inside out.*invert"),
    ],
)
def test_meshes_that_bound_no_volume_are_refused(box, change, text):
    path = box("bad.off", change)
    with pytest.raises(MeshError, match=text) as caught:
        Inertia.mesh(path, density=1000)
    assert caught.value.file == path
    assert Inertia.mesh(path, mass=M, hull=True).mass == M


def test_bad_meshes_are_refused(box, tmp_path):
    path = box("box.off")
    (tmp_path / "junk.stl").write_bytes(b"junk" * 100)
    (tmp_path / "part.step").write_text("")
    for name, z in (("far", 1e200), ("flat", 0)):
        triangle = f"OFF\n3 1 0\n0 0 {z}\n1 0 {z}\n0 1 {z}\n3 0 1 2\n"
        (tmp_path / f"{name}.off").write_text(triangle)
    for call, text in (
        (lambda: Inertia.mesh(path), "neither"),
        (lambda: Inertia.mesh(path, density=0), "positive"),
        (lambda: Inertia.mesh(path, mass=1, units="parsec"), "unit of length"),
        (lambda: Inertia.mesh(path, mass=1, scale=(1, 0, 1)), "scale"),
        (lambda: Inertia.mesh(path, mass=1, scale="big"), "scale"),
        (lambda: Inertia.mesh(path, mass=1, scale=1e-300), "scale"),
        (lambda: Inertia.mesh(tmp_path / "far.off", mass=1), "largest coordinate"),
        (lambda: Inertia.mesh(tmp_path / "flat.off", mass=1, hull=True), "flat"),
        (lambda: Inertia.mesh(tmp_path / "none.stl", mass=1), "no such file"),
        (lambda: Inertia.mesh(tmp_path, mass=1), "ending|directory"),
        (lambda: Inertia.mesh(tmp_path / "junk.stl", mass=1), "triangles|read"),
        (lambda: Inertia.mesh(tmp_path / "part.step", mass=1), "ending '.step'"),
        (lambda: Inertia.mesh(3, mass=1), "path"),
        (lambda: Inertia.mesh(path, mass=1, hull="yes"), "hull is True or False"),
    ):
        with pytest.raises(armdyn.errors.ArmdynError, match=text):
            call()
