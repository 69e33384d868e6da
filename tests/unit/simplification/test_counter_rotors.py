"""Rotors that turn against an arm: what the ground carries, and other programs, are the oracles."""

import json
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import armdyn
from armdyn.errors import ModelError
from armdyn.formulations.rotors import rotor_matrix, spin_momenta, spins
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import Rotor
from armdyn.model.edit import with_payload
from armdyn.shorten.canonical.frames import canonical, canonical_frames
from armdyn.study.simplify.linear import (
    GoalElement,
    InertiaCoefficients,
    numbers_of,
    samples,
    thin_disc,
)
from support.design_arms import planar, polar, two_groups
from support.peers import close, pin_model
from support.random_robots import random_model

MASSES = "*.mass,*.com,*.inertia"
ARMS = {
    "2R": planar(2),
    "3R": planar(3),
    "saha": armdyn.load("saha_3r").model,
    "two groups": two_groups(2, 2),
    "askew": random_model("RRR", 2),
    "tree": random_model("RRR", 4, tree=True),
}


def designed(model, **more):
    given = {"goal": "shaking-moment", "free": MASSES, "counter_rotors": -20.0, "reach": np.inf}
    return armdyn.simplify(armdyn.Robot(model), **given | more)


@pytest.fixture(scope="module", params=ARMS)
def still(request):
    """An arm without shaking, and what it was made of."""
    return designed(ARMS[request.param], add_only=request.param != "two groups")


def shaking(robot, states=30):
    """Force and moment on the base in random motions, less those at rest, (states, 2, 3)."""
    q, qd, qdd = np.random.default_rng(3).uniform(-2, 2, (3, states, robot.n))
    moving = robot.reactions(q, qd, qdd, base_wrench=True)[:, 0]
    return (moving - robot.reactions(q, 0 * qd, 0 * qdd, base_wrench=True)[:, 0]).reshape(-1, 2, 3)


def slopes(model, q):
    """Momentum and angular momentum for unit rates by Pinocchio, rotors put on top, (6, n)."""
    other, data = pin_model(model)
    columns = pin.computeCentroidalMap(other, data, q).copy()
    for i, rotor in enumerate(joint.rotor for joint in model.joints):
        if rotor.spins:
            frame = model.frame(rotor.carrier)
            R = data.oMi[frame.link + 1].rotation if frame.link >= 0 else model.base[:3, :3]
            axis = R @ frame.placement[:3, :3] @ rotor.axis
            columns[3:, i] += rotor.inertia * rotor.gear_ratio * axis
    return columns


@pytest.mark.slow
def test_no_motion_shakes_the_base(still):
    assert still.feasible
    before, after = shaking(still.before), shaking(still.robot)
    for k in range(2):
        assert np.abs(after[:, k]).max() < 1e-12 * np.abs(before[:, k]).max()


def test_bodies_that_turn_the_other_way_take_all_momentum_in_pinocchio(still):
    for q in np.random.default_rng(1).uniform(-3, 3, (5, still.before.n)):
        before, after = slopes(still.before.model, q), slopes(still.model, q)
        assert np.abs(before).max() > 0.1
        assert np.abs(after).max() < 1e-12 * max(np.abs(before).max(), 1.0)


def test_links_have_material_beside_the_rotors_that_they_carry(still):
    """A rotor has moments of half its own across its axis, or more."""
    new, old = still.model, still.before.model
    frames = canonical_frames(old)
    for i, frame in enumerate(frames):
        own, was = (
            np.linalg.inv(frame) @ m.links[i].inertia.pseudo @ np.linalg.inv(frame).T
            for m in (new, old)
        )
        for spin in (s for s in spins(new) if s.link == i):
            own = own - new.joints[spin.place].rotor.inertia * thin_disc(spin, frame)
        least = 0 * was if old.name == "two groups" else was
        assert np.linalg.eigvalsh(own - least)[0] > -1e-7 * np.trace(own)
    for change in still.changes:
        spun = [s for s in spins(new) if s.link == change.link]
        if not change.weights:
            continue
        points = [np.append(w.position, 1.0) for w in change.weights]
        weights = sum(w.mass * np.outer(r, r) for w, r in zip(change.weights, points, strict=True))
        rotors = [new.joints[s.place].rotor.inertia * thin_disc(s, change.frame) for s in spun]
        T = np.linalg.inv(change.frame)
        added, i = sum(rotors, weights), change.link
        pseudo = new.links[i].inertia.pseudo - old.links[i].inertia.pseudo
        close(T @ pseudo @ T.T, added, 1e-5)


def test_elements_with_rotors_are_those_of_the_robot():
    rng = np.random.default_rng(7)
    robot = armdyn.Robot(random_model("RRRR", 5, tree=True))
    carriers = (robot.model.base_link.name, *(link.name for link in robot.model.links))
    for joint, carrier in zip(robot.model.joints, rng.permutation(carriers)[:4], strict=True):
        given = {"axis": rng.normal(size=3), "inertia": 0.01, "gear_ratio": rng.normal(0, 30)}
        robot = robot.with_rotor(joint.name, carrier=str(carrier), **given)
    model = robot.model
    frames, q = canonical(model), samples(model)[:3]
    rotors = tuple(spins(model))
    phi = [np.block([[x.J, x.u[:, None]], [x.u, np.array([x.M])]]) for x in frames.links]
    numbers = np.append(numbers_of(np.array(phi)), spin_momenta(model))
    arm = InertiaCoefficients(frames, q, coordinates_of(model), rotors)
    D = np.array(
        [
            [arm.of(GoalElement("D", (i, j), False, 1.0)) @ numbers for j in range(4)]
            for i in range(4)
        ]
    )
    close(np.moveaxis(D, -1, 0) + rotor_matrix(model), robot.mass_matrix(q), 1e-11)
    for s, state in enumerate(q):
        columns = slopes(model, state)
        for i in range(4):
            p, h = (
                np.array(
                    [(arm.of(GoalElement(x + c, (i,), False, 1.0)) @ numbers)[s] for c in "xyz"]
                )
                for x in "ph"
            )
            # the axes of the canonical base are others, lengths and products are not
            assert p @ h == pytest.approx(columns[:3, i] @ columns[3:, i], abs=1e-9)


def test_rotors_of_the_robot_keep_their_ratios():
    model = planar(2)
    robot = armdyn.Robot(model)
    carriers, ratios = (model.base_link.name, model.links[0].name), (-30.0, 60.0)
    for joint, carrier, ratio in zip(model.joints, carriers, ratios, strict=True):
        axis = [0, 0, 1 if ratio < 0 else -1]  # the same rotor with both signs turned
        given = {"axis": axis, "carrier": carrier, "inertia": 1e-4, "gear_ratio": ratio}
        robot = robot.with_rotor(joint.name, **given)
    found = armdyn.simplify(robot, goal="shaking-moment", reach=np.inf)
    assert found.feasible
    assert [j.rotor.gear_ratio for j in found.model.joints] == [*ratios]
    assert np.abs(shaking(found.robot)).max() < 1e-12 * np.abs(shaking(robot)).max()
    again = armdyn.simplify(found.robot, goal="shaking-moment", reach=np.inf)
    assert again.reason.endswith("its links do so as it is")
    inertias = [[j.rotor.inertia for j in x.model.joints] for x in (found, again)]
    np.testing.assert_allclose(*inertias, rtol=1e-10)


@pytest.mark.parametrize("turned", [[0, 0, 1], [1, 0, 0]], ids=["along", "across"])
def test_rotors_that_do_not_turn_the_other_way_are_in_vain(turned):
    robot = armdyn.Robot(planar(2))
    given = {"axis": turned, "carrier": "base", "inertia": 1e-4, "gear_ratio": 30.0}
    robot = robot.with_rotor(robot.joint_names[0], **given)
    found = armdyn.simplify(robot, goal="shaking-moment", counter_rotors=-30.0)
    assert [o.joints for o in found.obstacles] == [(0,)]
    assert "a rotor with a negative gear_ratio" in found.reason


def test_rotors_are_of_no_help_to_slides():
    found = designed(polar())
    assert not found.feasible
    assert "joint 2 slides and moves the mass it carries" in found.reason


def test_rotors_that_their_carriers_cannot_hold():
    """The link before would have less than no inertia beside a rotor as large as this."""
    small = designed(planar(2), free="*.com")
    assert small.feasible
    for model in (planar(2), small.model):
        robot = replace(model, joints=tuple(replace(j, rotor=Rotor()) for j in model.joints))
        found = designed(robot, free="*.com", counter_rotors=-0.5)
        assert not found.feasible
        assert "too heavy for their carriers" in found.reason


def test_material_is_not_added_twice(still):
    """Links hold the rotors that they have."""
    again = designed(still.model, add_only=True)
    assert again.reason.endswith("its links do so as it is")
    assert not again.changes


def test_constant_mass_matrices_without_shaking():
    found = designed(armdyn.load("saha_3r").model, goal="constant+shaking-moment")
    assert found.feasible
    M = found.robot.mass_matrix(np.random.default_rng(2).uniform(-3, 3, (20, 3)))
    assert np.ptp(M, axis=0).max() < 1e-12 * M.max()
    assert not any(v.remains for v in found.variations)


def test_what_the_arm_holds_is_balanced_too():
    model = with_payload(planar(2), 1.5, com=(0.1, 0.0, 0.0))
    found = designed(model)
    assert found.feasible
    assert np.abs(shaking(found.robot)).max() < 1e-12 * np.abs(shaking(found.before)).max()


def test_what_counter_rotors_cannot_be():
    robot = armdyn.load("two_link")
    for ratio in (10.0, 0.0):
        with pytest.raises(ModelError, match="expected a negative gear ratio such as -10"):
            armdyn.simplify(robot, goal="shaking-moment", counter_rotors=ratio)
    with pytest.raises(ModelError, match="the goal constant has no use for them"):
        armdyn.simplify(robot, counter_rotors=-10.0)
    geared = robot.with_joint("joint2", rotor_inertia=0.1)
    with pytest.raises(ModelError, match=r"'joint2' .* has no place for another one"):
        armdyn.simplify(geared, goal="shaking-moment", counter_rotors=-10.0)


@pytest.mark.parametrize("goal", ["constant", "diagonal", "decouple=1,2"])
def test_rotors_that_spin_are_no_part_of_other_mass_matrices(goal):
    given = {"axis": [1, 0, 0], "carrier": "link1", "inertia": 1e-3, "gear_ratio": 50.0}
    robot = armdyn.load("two_link").with_rotor("joint2", **given)
    with pytest.raises(ModelError, match=r"rotor of 'joint2' .* with_rotor\('joint2'\)"):
        armdyn.simplify(robot, goal=goal)
    assert armdyn.simplify(robot, goal="shaking-force").feasible


@pytest.mark.slow
def test_the_command_gives_arms_counter_rotors(command, tmp_path):
    path = tmp_path / "new.urdf"
    words = ("--goal", "shaking-moment", "--counter-rotors", "-10", "--json", "-o", str(path))
    code, out, _ = command("simplify", "two_link", *words)
    assert code == 0
    found = json.loads(out)
    _, moment = found["shaking"]
    assert moment["after"] < 1e-9 * moment["before"]
    read = armdyn.load(path)
    assert [x["after"] for x in found["rotors"]] == [j.rotor.inertia for j in read.model.joints]
    assert np.abs(shaking(read)).max() < 1e-12 * np.abs(shaking(armdyn.load("two_link"))).max()
