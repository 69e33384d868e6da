import sys

import numpy as np
import pytest

import armdyn
from armdyn.errors import MissingExtraError, ModelError
from armdyn.shorten.canonical.frames import canonical
from armdyn.study.simplify.linear import robot_size
from armdyn.study.simplify.simplify import MARGIN
from support.design_arms import design, inertia_terms, planar, polar, puma_arm, two_groups
from support.random_robots import special_model

pytestmark = pytest.mark.slow

SAHA = armdyn.load("saha_3r").model
EXACT = 1e-12


def after(result):
    """Mass, centre of mass, tensor about it and lengths of the new arm, from its own frames."""
    links = canonical(result.model).links
    found = {"a": [link.across[0] for link in links[1:]]}
    for n, link in enumerate(links, start=1):
        c = link.u / link.M
        second = link.J - link.M * np.outer(c, c)
        found[n] = link.M, c, np.trace(second) * np.eye(3) - second
    return found


def smallest(pseudo, mass, com, size):
    """Smallest eigenvalue of a pseudo-inertia seen from a point, in units of mass and size."""
    T = np.diag([1 / size] * 3 + [1.0])
    T[:3, 3] = -com / size
    return np.linalg.eigvalsh(T @ pseudo @ T.T / mass)[0]


def cost(result, before):
    """The cost as documented, from the numbers of the two arms."""
    total, size = 0.0, robot_size(canonical(before))
    for old, new in zip(canonical(before).links, canonical(result.model).links, strict=True):
        m, c = old.M, old.u / old.M
        change = new.M - old.M
        first = (new.u - new.M * c) - (old.u - old.M * c)
        seen = [
            x.J - np.outer(c, x.u) - np.outer(x.u, c) + x.M * np.outer(c, c) for x in (old, new)
        ]
        tensors = [np.trace(J) * np.eye(3) - J for J in seen]
        total += (change / m) ** 2 + np.sum((first / (m * size)) ** 2)
        total += np.sum(((tensors[1] - tensors[0]) / (m * size**2)) ** 2)
    return total


def published_arm():
    """Saha's arm after the change that makes its mass matrix constant."""
    spread = 3 / 9 + 2 * 0.25  # m2 d2² + m3 a2²
    inertias = [(0.03, 0.02, 0.03), (0.05 + spread, 0.05, 0.05 + spread), (0.03, 0.03, 0.02)]
    a, d, masses = (0.2, 0.5, 0.4), (0.1, -1 / 3, 0.0), (4.0, 3.0, 2.0)
    rows = [
        {
            "joint": "revolute",
            "a": a[k],
            "alpha": np.pi / 2 if k == 0 else 0.0,
            "d": 0.3 if k == 0 else 0.0,
            "mass": masses[k],
            "com": (d[k] - a[k], 0, 0),
            "inertia": inertias[k],
        }
        for k in range(3)
    ]
    return armdyn.from_dh(rows).model


class TestSaha:
    """The three-link arm, whose conditions are known in closed form."""

    result = design(SAHA, "constant")

    def test_the_mass_matrix_is_constant_and_the_arm_is_balanced(self):
        M, G = inertia_terms(self.result.model)
        assert self.result.feasible
        assert np.ptp(M, axis=0).max() < EXACT
        assert np.abs(G).max() < 1e-11
        assert np.linalg.eigvalsh(M)[:, 0].min() > 0

    def test_the_conditions_in_closed_form_hold(self):
        numbers = after(self.result)
        (m2, (x2, y2, z2), I2), (m3, (x3, y3, z3), I3) = numbers[2], numbers[3]
        a2 = numbers["a"][1]
        conditions = [
            x3,
            y3,
            I3[0, 0] - I3[1, 1],
            I3[0, 1],
            I3[0, 2],
            I3[1, 2],
            I2[0, 0] - I2[1, 1] - m3 * a2**2 - m2 * (x2**2 - y2**2),
            I2[0, 1] - m2 * x2 * y2,
            I2[1, 2] - m2 * y2 * z2,
            I2[0, 2] - m2 * x2 * z2 - a2 * m3 * z3,
            m2 * x2 + m3 * a2,
            y2,
        ]
        assert np.abs(conditions).max() < EXACT
        assert self.result.rank == len(conditions)
        assert x2 == pytest.approx(-1 / 3, abs=EXACT)  # what the published arm gets to

    def test_the_published_arm_is_left_alone(self):
        result = design(published_arm(), "constant+gravity-balanced")
        assert result.feasible
        assert result.changes == ()

    def test_the_published_arm_is_what_its_own_moments_lead_to(self):
        wanted = {"Iyy2": 0.05, "Izz2": 0.05 + 3 / 9 + 0.5, "Ixx3": 0.03, "Izz3": 0.02}
        bounds = {symbol: (value, value) for symbol, value in wanted.items()}
        result = design(SAHA, "constant", bounds=bounds)
        assert result.feasible
        M, G = inertia_terms(result.model)
        np.testing.assert_allclose(M, inertia_terms(published_arm())[0], rtol=0, atol=1e-7)
        assert np.ptp(M, axis=0).max() < EXACT
        assert np.abs(G).max() < 1e-11

    def test_masses_lengths_and_the_first_link_are_as_they_were(self):
        numbers = after(self.result)
        assert [numbers[i][0] for i in (1, 2, 3)] == pytest.approx([4.0, 3.0, 2.0], abs=1e-13)
        assert numbers["a"] == pytest.approx([0.2, 0.5], abs=1e-13)
        assert self.result.model.links[0] is SAHA.links[0]

    def test_the_new_bodies_can_exist_with_the_margin(self):
        size = robot_size(canonical(SAHA))
        for i in (1, 2):
            old, new = canonical(SAHA).links[i], canonical(self.result.model).links[i]
            pseudo = np.block([[new.J, new.u[:, None]], [new.u, np.array([new.M])]])
            assert smallest(pseudo, old.M, old.u / old.M, size) >= MARGIN * (1 - 1e-6)

    def test_changes_are_the_difference_of_the_two_models(self):
        for change in self.result.changes:
            old = SAHA.links[change.link].inertia
            mass, centre, tensor = after(self.result)[change.link + 1]
            assert (change.before.mass, change.after.mass) == pytest.approx((old.mass, mass))
            np.testing.assert_allclose(change.after.com, centre, atol=1e-13)
            np.testing.assert_allclose(change.after.tensor, tensor, atol=1e-12)

    def test_the_variation_of_every_element_before_and_after(self):
        found = {v.element: v for v in self.result.variations}
        assert set(found) == {"D11", "D12", "D13", "D22", "D23", "D33"}
        # D33 is constant in any arm; D22 = ... + 2 m3 a2 x3 cos q3
        assert found["D33"].before < EXACT
        assert found["D22"].before == pytest.approx(4 * 2.0 * 0.5 * 0.2, rel=1e-3)
        assert not any(v.remains for v in found.values())

    def test_the_cost_is_as_documented(self):
        assert self.result.cost == pytest.approx(cost(self.result, SAHA), rel=1e-9)

    @pytest.mark.parametrize("seed", range(6))
    def test_no_other_design_is_nearer(self, seed):
        """What is best by other weights reaches the goal too, but is farther by these."""
        rng = np.random.default_rng(seed)
        words = ["link2.com", "link3.com", "link2.inertia", "link3.inertia", "Izz2", "Ixx2"]
        weights = dict(zip(words, 10 ** rng.uniform(-1, 1, 6), strict=True))
        other = design(SAHA, "constant", weights=weights)
        assert other.feasible
        assert cost(other, SAHA) >= self.result.cost * (1 - 1e-7)

    def test_the_answer_is_the_same_every_time(self):
        again = design(SAHA, "constant")
        for one, two in zip(self.result.model.links, again.model.links, strict=True):
            assert one.inertia == two.inertia


@pytest.mark.parametrize("name", ["two_link", "craig_two_link"])
@pytest.mark.parametrize("free", [None, "link2.com", "link2.com.x", "link2.mass,link2.com"])
def test_a_planar_pair_needs_the_second_link_balanced(name, free):
    model = armdyn.load(name).model
    result = design(model, "constant", free)
    q = np.random.default_rng(1).uniform(-3, 3, size=(40, 2))
    M = armdyn.Robot(result.model).mass_matrix(q)
    assert result.feasible
    assert np.ptp(M, axis=0).max() < EXACT
    assert np.abs(canonical(result.model).links[1].u[:2]).max() < EXACT


@pytest.mark.parametrize(
    "model",
    [armdyn.load("scara").model, puma_arm(), planar(4), two_groups(), two_groups(2, 3)],
    ids=lambda model: model.name,
)
def test_arms_of_one_or_two_groups_of_parallel_axes_reach_a_constant_mass_matrix(model):
    result = design(model, "constant", reach=np.inf)
    M, _ = inertia_terms(result.model)
    scale = np.abs(M).max()
    assert result.feasible, result.reason
    assert np.ptp(M, axis=0).max() < EXACT * max(scale, 1.0)
    assert np.linalg.eigvalsh(M)[:, 0].min() > -EXACT


def test_a_sliding_hand_cannot_have_constant_inertia():
    result = design(polar(), "constant")
    assert not result.feasible
    assert [o.joints for o in result.obstacles] == [(0, 1)]
    assert "joint 1 and joint 2 are not parallel" in result.reason
    assert [v.element for v in result.variations if v.remains] == ["D11"]
    # m2 q2² is what no design removes
    (left,) = (v.after for v in result.variations if v.element == "D11")
    assert left == pytest.approx(1.0 * 0.5**2, rel=1e-2)


def test_the_six_joint_arm_of_renaud_is_forbidden_by_its_wrist():
    result = design(armdyn.load("renaud_6r").model, "constant")
    assert not result.feasible
    assert (3, 5) in [o.joints for o in result.obstacles]
    assert 0 < result.residual < sum(v.before / v.scale for v in result.variations)


def test_the_nearest_design_is_never_farther_from_the_goal_than_the_arm():
    for model, goal, free in [
        (SAHA, "constant", "link2.com,link2.inertia"),
        (SAHA, "decouple=2,3", None),
        (polar(), "constant+gravity-balanced", None),
    ]:
        result = design(model, goal, free)
        assert not result.feasible
        start = design(model, goal, free, bounds=None, margin=0.0)
        assert start.residual <= result.residual * (1 + 1e-6)  # less is asked of its bodies
        assert result.residual < np.sqrt(sum((v.before / v.scale) ** 2 for v in result.variations))


def test_too_little_freedom_is_told_from_bodies_that_cannot_exist():
    short = design(SAHA, "constant", "link2.com,link2.inertia")
    assert "what is free does not suffice" in short.reason
    assert "D22" in short.reason
    heavy = design(SAHA, "constant", bounds={"link2.com.x": (-0.1, 0.5)})
    assert "beyond the bounds" in heavy.reason
    assert after(heavy)[2][1][0] >= -0.1 - 1e-9


@pytest.mark.parametrize("name", ["puma560", "panda"])
def test_a_balanced_arm_needs_no_torque_at_rest(name):
    model = armdyn.load(name).model
    result = design(model, "gravity-balanced", reach=np.inf)
    M, G = inertia_terms(result.model)
    assert result.feasible
    assert np.abs(G).max() < 1e-13 * np.abs(inertia_terms(model)[1]).max()
    assert np.linalg.eigvalsh(M)[:, 0].min() > 0


def test_two_joints_are_decoupled_and_the_others_left_alone():
    model = puma_arm()
    before, _ = inertia_terms(model)
    result = design(model, "decouple=1,2")
    M, _ = inertia_terms(result.model)
    assert np.abs(before[:, 0, 1]).max() > 0.1
    assert np.abs(M[:, 0, 1]).max() < EXACT
    assert np.ptp(M[:, 0, 0]) > 0.1


def test_goals_together_are_reached_together():
    result = design(puma_arm(), "constant+gravity-balanced+decouple=1,3")
    M, G = inertia_terms(result.model)
    assert result.feasible
    assert max(np.ptp(M, axis=0).max(), np.abs(G).max(), np.abs(M[:, 0, 2]).max()) < 1e-11


def test_an_arm_that_does_so_already_is_not_touched():
    result = design(SAHA, "decouple=1,2")
    assert result.feasible
    assert result.changes == ()
    assert result.cost == 0
    assert "as it is" in result.reason
    assert result.model.links == SAHA.links
    again = design(design(SAHA, "constant").model, "constant")
    assert again.changes == ()


def test_what_is_added_only_can_be_bolted_on():
    result = design(SAHA, "constant", "*.mass,*.com,*.inertia", add_only=True)
    assert result.feasible
    assert np.ptp(inertia_terms(result.model)[0], axis=0).max() < 1e-11
    for change in result.changes:
        old, new = (model.links[change.link].inertia for model in (SAHA, result.model))
        assert np.linalg.eigvalsh(new.pseudo - old.pseudo)[0] > -1e-7
        assert change.after.mass > change.before.mass


def test_adding_needs_free_masses():
    with pytest.raises(ModelError, match="free a mass"):
        design(SAHA, "constant", add_only=True)


@pytest.mark.parametrize("margin", [-1e-3, 0.5, float("nan"), "thick"])
def test_a_margin_is_a_small_number(margin):
    with pytest.raises(ModelError, match="margin"):
        design(SAHA, "constant", margin=margin)


def test_a_wider_margin_costs_more():
    margins = (1e-6, 1e-4, 1e-2)
    costs = [design(SAHA, "constant", margin=margin, kept=0.0).cost for margin in margins]
    assert costs[0] < costs[1] < costs[2]


@pytest.mark.parametrize("kept", [0.2, 0.5, 1.0])
def test_changed_links_keep_their_size(kept):
    """In every direction the squared radius of gyration is at least the share of what it was."""
    found = design(SAHA, "constant", kept=kept)
    assert found.feasible
    assert found.changes
    for change in found.changes:
        before, after = (
            (0.5 * np.trace(link.tensor) * np.eye(3) - link.tensor) / link.mass
            for link in (change.before, change.after)
        )
        assert np.linalg.eigvalsh(after - kept * before)[0] > -1e-8


def test_to_keep_more_costs_more():
    costs = [design(SAHA, "constant", kept=kept).cost for kept in (0.0, 0.5, 1.0)]
    assert costs[0] < costs[1] < costs[2]


@pytest.mark.parametrize("kept", [-0.1, 1.5, float("nan"), "all"])
def test_a_share_lies_between_zero_and_one(kept):
    with pytest.raises(ModelError, match="kept"):
        design(SAHA, "constant", kept=kept)


@pytest.mark.parametrize(
    "bounds",
    [
        {"link2.mass": (5.0, 6.0)},
        {"link2.inertia.zz": (1.5, 2.0)},
        {"link3.com.z": (0.05, 0.1)},
        {"link1.com.x": (0.2, 0.3)},
        {"m2": (4.0, 4.0)},
    ],
    ids=lambda bounds: next(iter(bounds)),
)
def test_bounds_are_kept(bounds):
    result = design(SAHA, "constant", "*.mass,*.com,*.inertia", bounds=bounds)
    assert result.feasible, result.reason
    ((word, (low, high)),) = bounds.items()
    link = 2 if word == "m2" else int(word[4])
    mass, centre, tensor = after(result)[link]
    part = word.split(".")[-1]
    value = {"mass": mass, "m2": mass, "zz": tensor[2, 2], "x": centre[0], "z": centre[2]}[part]
    assert low - 1e-7 <= value <= high + 1e-7
    assert np.ptp(inertia_terms(result.model)[0], axis=0).max() < 1e-11


def test_a_weight_holds_a_number_back():
    free = "*.mass,*.com,*.inertia"
    light = after(design(SAHA, "constant", free))
    held = after(design(SAHA, "constant", free, weights={"m2": 1e4}))
    assert abs(held[2][0] - 3.0) < 0.1 * abs(light[2][0] - 3.0)


def test_what_the_arm_holds_is_balanced_too_and_kept():
    held = armdyn.load("saha_3r").with_payload(0.5, (0.05, 0.0, 0.0)).model
    result = design(held, "constant")
    assert result.feasible
    assert result.model.links[2].bodies[-1] is held.links[2].bodies[-1]
    assert np.ptp(inertia_terms(result.model)[0], axis=0).max() < EXACT
    empty = armdyn.Robot(result.model).without_payload().model
    assert np.ptp(inertia_terms(empty)[0], axis=0).max() > 1e-3


@pytest.mark.parametrize("seed", [1, 9, 25])
@pytest.mark.parametrize("goal", ["constant", "gravity-balanced"])
@pytest.mark.parametrize("free", [None, "*.com", "*.com,*.inertia.zz"])
def test_any_tree_reaches_what_it_says_it_does(seed, goal, free):
    model = special_model(seed)
    result = design(model, goal, free, reach=np.inf)
    M, G = inertia_terms(result.model)
    left = np.ptp(M, axis=0).max() if goal == "constant" else np.abs(G).max()
    scale = max(1.0, np.abs(M).max(), np.abs(G).max())
    assert (left < 1e-10 * scale) == result.feasible
    assert not (result.obstacles and result.feasible)
    assert np.linalg.eigvalsh([link.inertia.pseudo for link in result.model.links]).min() > -1e-9


def test_without_the_solver_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(MissingExtraError, match="pip install clarabel"):
        design(SAHA, "constant")


def test_the_equations_of_the_new_arm_have_no_rounding_in_them():
    found = design(SAHA, "constant+gravity-balanced")
    new = {block.symbol: block for block in armdyn.equations(found.model, values=True).blocks}
    assert all(line.constant or line.zero for line in new["M"].lines)
    assert not new["V"].shown
    assert not new["G"].shown


@pytest.mark.parametrize(
    "model",
    [SAHA, puma_arm(), planar(4), two_groups(2, 2), two_groups(2, 3), two_groups()],
    ids=lambda model: f"{model.name} {len(model.joints)}",
)
def test_the_file_of_a_constant_design_has_the_count_of_a_constant_mass_matrix(model, tmp_path):
    found = design(model, "constant", reach=np.inf)
    robot, n = armdyn.Robot(found.model), len(model.joints)
    robot.save(tmp_path / "new.toml")
    saved = armdyn.load(tmp_path / "new.toml")
    count, weight = (armdyn.count_operations(saved, x) for x in ("inverse_dynamics", "gravity"))
    assert count == armdyn.count_operations(robot)
    assert count.total <= 2 * n**2 - n + weight.total + n * (weight.total > 0)
    assert armdyn.count_operations(saved, "mass_matrix").total == 0
    assert armdyn.count_operations(saved, "coriolis").total == 0
    told = saved.inverse_dynamics(*(states := np.random.default_rng(2).uniform(-2, 2, (3, 20, n))))
    book = saved.inverse_dynamics(*states, formulation="newton_euler")
    np.testing.assert_allclose(told, book, rtol=0, atol=1e-12 * np.abs(book).max())


def test_what_is_free_in_a_design_is_saved_as_a_plain_decimal(tmp_path):
    """Half of what the third link had, and nothing of the solver's last digits."""
    armdyn.Robot(design(SAHA, "constant").model).save(tmp_path / "new.toml")
    assert "inertia = [0.015, 0.015, 0.0285]" in (tmp_path / "new.toml").read_text()


def heavy_hand(mass):
    """A light forearm of 0.4 m with a heavy hand."""
    rows = [
        {"joint": "revolute", "a": 0.4, "mass": m, "com": (-0.2, 0, 0), "inertia": [0.01] * 3}
        for m in (0.2, mass)
    ]
    return armdyn.from_dh(rows, gravity=(0, -9.81, 0)).model


def test_a_centre_of_mass_stays_as_near_to_its_joint_as_its_link_extends():
    """That of the first link would have to be m2 a1 / m1 = 10 m behind its joint."""
    model = heavy_hand(5.0)
    options = {"goal": "gravity-balanced", "symbolic": False}
    near, far = (armdyn.simplify(model, **options, reach=reach) for reach in (None, np.inf))
    assert not near.feasible
    assert "with a reach of 10 m" in near.reason
    assert np.abs(after(near)[1][1]).max() <= near.variables.reaches[0] + 1e-8 < 1.0
    assert "link1 0." in near.report()
    assert far.feasible
    assert after(far)[1][1][0] == pytest.approx(-10.0)
    assert "anywhere" in far.report()


def test_bounds_that_are_given_take_the_place_of_the_reach():
    bounds = {"link1.com.x": (-12.0, 0.0)}
    found = design(heavy_hand(5.0), "gravity-balanced", bounds=bounds)
    assert after(found)[1][1][0] == pytest.approx(-10.0)


@pytest.mark.parametrize("reach", [None, 0.3])
def test_counterweights_are_within_reach_of_their_joints(reach):
    free = "*.mass,*.com,*.inertia"
    found = design(heavy_hand(0.3), "gravity-balanced", free, add_only=True, reach=reach)
    weights = [(change.link, weight) for change in found.changes for weight in change.weights]
    assert found.feasible
    assert weights
    for link, weight in weights:
        assert np.linalg.norm(weight.position) <= found.variables.reaches[link] + 1e-6


@pytest.mark.parametrize("reach", [0.0, -1.0, float("nan"), "far"])
def test_a_reach_is_a_length(reach):
    with pytest.raises(ModelError, match="reach"):
        design(SAHA, "constant", reach=reach)
