import numpy as np
import pytest
from scipy.spatial import ConvexHull, Delaunay

from armdyn.errors import ArmdynWarning, InertiaError
from armdyn.model import Inertia
from armdyn.model.inertia import solid_moments
from armdyn.model.validate import check_physical, physical_findings
from support.peers import close
from support.random_robots import random_inertia, random_transform
from support.reading import model_from_dh


def box(mass, w, length, h):
    return mass / 12 * np.diag([length**2 + h**2, w**2 + h**2, w**2 + length**2])


def one_link(mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1), **options):
    row = dict(joint="revolute", mass=mass, com=com, inertia=np.diag(inertia), link="forearm")
    return model_from_dh([row], **options)


def test_box_about_its_corner_by_the_parallel_axis_theorem():
    m, w, length, h = 2.0, 0.3, 0.5, 0.7
    corner = Inertia.from_com(m, (w / 2, length / 2, h / 2), box(m, w, length, h))
    assert corner.moment[0, 0] == pytest.approx(m * (length**2 + h**2) / 3)
    assert corner.moment[0, 1] == pytest.approx(-m * w * length / 4)


def test_pseudo_inertia_is_the_second_moment_of_the_points():
    rng = np.random.default_rng(3)
    points, masses = rng.normal(size=(8, 3)), rng.uniform(size=8)
    total = Inertia.zero()
    for r, m in zip(points, masses, strict=True):
        total = total + Inertia.from_com(m, r, np.zeros((3, 3)))
    bar = np.hstack([points, np.ones((8, 1))])
    close(total.pseudo, (bar * masses[:, None]).T @ bar, 1e-13)
    close(Inertia.from_pseudo(total.pseudo).moment, total.moment, 1e-13)


def test_bodies_are_summed_and_numbers_are_no_bodies():
    one, other = (random_inertia(np.random.default_rng(k)) for k in (5, 6))
    close(sum([one, other]).pseudo, one.pseudo + other.pseudo, 1e-15)
    for number in (1, 0.5, 0.0):
        with pytest.raises(TypeError):
            number + one


def test_point_and_axes_it_was_given_in_are_kept_through_a_move():
    rng = np.random.default_rng(4)
    R = random_transform(rng)[:3, :3]
    tensor = np.diag([0.1, 0.2, 0.25])
    given = Inertia.from_com(1.5, (0.1, 0.2, 0.3), tensor, axes=R)
    close(given.tensor_as_given, tensor, 1e-13)
    close(given.moved(random_transform(rng)).tensor_as_given, tensor, 1e-13)
    origin = Inertia.from_origin(1.5, (0.15, 0.3, 0.45), np.diag([1.0, 1.1, 1.2]))
    assert origin.given_about == "origin"
    close(origin.tensor_as_given, np.diag([1.0, 1.1, 1.2]), 1e-13)


def test_com_and_origin_describe_one_body():
    body = random_inertia(np.random.default_rng(5))
    same = Inertia.from_com(body.mass, body.com, body.moment_about_com)
    close(same.pseudo, body.pseudo, 1e-13)
    assert Inertia.from_origin(body.mass, body.first_moment, body.moment) == body


@pytest.mark.parametrize("inertia", [(0, 0, 0), (0, 0.1, 0.1), (0.1, 0.1, 0.2)])
def test_points_rods_and_plates_are_legal(inertia):
    assert physical_findings(one_link(inertia=inertia)) == []


def test_negative_mass_names_the_link():
    with pytest.raises(InertiaError, match=r"'forearm'.*mass is -1 kg.*positive") as caught:
        one_link(mass=-1.0)
    assert caught.value.link == "forearm"


def test_tensor_that_is_not_positive_definite_names_its_moments():
    with pytest.raises(InertiaError, match=r"'forearm'.*not positive definite.*-0\.2"):
        one_link(inertia=(-0.2, 0.1, 0.1))


def test_triangle_inequality_names_the_numbers():
    with pytest.raises(InertiaError, match=r"triangle inequality.*0\.3, exceeds.*0\.1 \+ 0\.1"):
        one_link(inertia=(0.1, 0.3, 0.1))


def test_asymmetric_tensor_is_refused():
    row = dict(joint="revolute", mass=1, inertia=[[1, 0.2, 0], [0, 1, 0], [0, 0, 1]])
    with pytest.raises(InertiaError, match="not symmetric"):
        model_from_dh([row])


def test_impossible_inertias_can_be_computed_with_on_request():
    with pytest.warns(ArmdynWarning, match="triangle inequality"):
        model = one_link(inertia=(0.1, 0.3, 0.1), physical="warn")
    assert check_physical(model, "ignore") is model


def test_reduced_parameter_set_is_a_warning_unless_declared():
    with pytest.warns(ArmdynWarning, match="valid reduced parameter set"):
        one_link(mass=0.0, com=(0, 0, 0), inertia=(0, 0.35, 0))
    assert one_link(mass=0.0, com=(0, 0, 0), inertia=(0, 0.35, 0), reduced=True).reduced


def test_moments_of_a_solid_are_those_of_its_tetrahedra():
    """∫ λ_i λ_j dV = V (1 + δ_ij) / 20 over a tetrahedron, whatever corners are amid."""
    points = np.random.default_rng(3).uniform((3, -3, 0), (5, -1, 2), (9, 3))
    hull, expected = ConvexHull(points), np.zeros((4, 4))
    for k in Delaunay(points).simplices:
        corners = np.concatenate([points[k], np.ones((4, 1))], axis=1)
        volume = abs(np.linalg.det(corners)) / 6
        total = corners.sum(0)
        expected += volume / 20 * (corners.T @ corners + np.outer(total, total))
    triangles = points[hull.simplices]
    out = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    inwards = (out * hull.equations[:, :3]).sum(1) < 0
    triangles[inwards] = triangles[inwards, ::-1]
    for given in (triangles, triangles[:, ::-1]):
        close(solid_moments(given), expected, 1e-13)
    mirrored = solid_moments(triangles * [1, -1, 1])
    close(mirrored, np.diag([1, -1, 1, 1]) @ expected @ np.diag([1, -1, 1, 1]), 1e-13)
