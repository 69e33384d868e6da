"""The list of robots of the laws has every feature that changes programs, at least three times."""

import numpy as np
import pytest

from armdyn.model.friction import TERMS
from support.arms import ARMS, fresh_arm


def pairs_of_axes(model):
    """For each joint on another joint: whether their axes are parallel, and whether they meet."""
    for joint in model.joints:
        if joint.parent >= 0:
            before, here = model.joints[joint.parent].axis, joint.placement[:3, :3] @ joint.axis
            normal = np.cross(before, here)
            parallel = np.linalg.norm(normal) < 1e-12
            yield parallel, not parallel and abs(normal @ joint.placement[:3, 3]) < 1e-12


def features(arm):
    """What is special about a robot, read off its model."""
    model, joints = arm.model, arm.model.joints
    turned = [abs(j.placement[:3, :3]).max(0).min() > 1 - 1e-12 for j in joints]
    pairs = list(pairs_of_axes(model))
    yield from {j.kind for j in joints}
    yield "several types of joints" if len({j.kind for j in joints}) > 1 else "one type of joint"
    yield "chain" if model.is_chain else "tree"
    for place in {p for p in model.parents if model.parents.count(p) > 1}:
        yield "branches of the base" if place < 0 else "branches of a link"
    yield "quarter turns" if all(turned) else "no quarter turn"
    yield "parallel axes" if any(parallel for parallel, _ in pairs) else "no parallel axes"
    yield "axes that meet" if any(meet for _, meet in pairs) else "no axes that meet"
    yield "offsets of zero" if any(0.0 in j.placement[:3, 3] for j in joints) else "no offset of 0"
    points = [k.inertia for k in arm.rigid.links if k.inertia.mass]
    if any(abs(body.moment_about_com).max() < 1e-12 for body in points):
        yield "point masses"
    if any(not link.inertia.mass for link in arm.rigid.links):
        yield "links without mass"
    if model.reduced:
        yield "regrouped links"
    if model.coupling is not None:
        yield "mimics"
    if model.drives:
        yield "drives"
    yield "rotors" if any(j.rotor.inertia for j in joints) else "no rotor"
    for term in TERMS:
        if any(own.friction.has(term) for own in model.driven):
            yield f"friction: {term.name}"


def test_every_feature_is_in_at_least_three_robots_of_three_to_seven_joints():
    assert len(ARMS) == 20
    assert {len(arm.kinds) for arm in ARMS.values()} == {3, 4, 5, 6, 7}
    count = {}
    for arm in ARMS.values():
        for feature in features(arm):
            count[feature] = count.get(feature, 0) + 1
    assert {f: n for f, n in count.items() if n < 3} == {}
    assert {f"friction: {term.name}" for term in TERMS} < set(count)
    assert {"mimics", "drives", "regrouped links", "point masses", "parallel axes"} < set(count)


@pytest.mark.parametrize("seed", range(5))
def test_a_fresh_robot_is_the_same_for_its_seed(seed):
    assert fresh_arm(seed).model == fresh_arm(seed).model
    assert 3 <= len(fresh_arm(seed).model.joints) <= 7
