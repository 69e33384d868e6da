import numpy as np
import pytest

import armdyn
from armdyn.shorten.canonical.frames import canonical, canonical_frames
from armdyn.shorten.canonical.redesign import redesign
from support.peers import close
from support.random_robots import random_inertia, random_model


def pseudo(link):
    return np.block([[link.J, link.u[:, None]], [link.u, np.array([link.M])]])


def test_a_canonical_frame_is_a_fixed_place_on_its_link(arm):
    model = arm.model
    frames = canonical_frames(model)
    for link, canonical_link, frame in zip(
        model.links, canonical(model).links, frames, strict=True
    ):
        close(frame @ pseudo(canonical_link) @ frame.T, link.inertia.pseudo, 1e-12)


def test_inertias_asked_for_in_canonical_frames_come_back_from_them(arm):
    model, rng = arm.model, np.random.default_rng(arm.seed)
    wanted = {i: random_inertia(rng).pseudo for i in range(len(model.links))}
    for i, link in enumerate(canonical(redesign(model, wanted)).links):
        np.testing.assert_allclose(pseudo(link), wanted[i], rtol=0, atol=1e-13)


@pytest.mark.parametrize("seed", range(6))
def test_a_length_and_an_offset_asked_for_come_back_and_nothing_else_moves(seed):
    model = random_model("RRRR", seed)
    before = canonical(model).links
    moved = redesign(model, {}, lengths={2: 0.11}, offsets={2: -0.07})
    for i, (old, new) in enumerate(zip(before, canonical(moved).links, strict=True)):
        moved_by = np.array([0.11 * (i == 2), 0.0, 0.0])
        np.testing.assert_allclose(new.across, old.across + moved_by, atol=1e-13)
        assert new.r == pytest.approx(old.r - 0.07 * (i == 2), abs=1e-13)
        np.testing.assert_allclose(pseudo(new), pseudo(old), rtol=0, atol=1e-12)


def test_payloads_stay_and_untouched_links_are_the_same_objects():
    model = armdyn.load("saha_3r").with_payload(0.5, (0.0, 0.1, 0.0)).model
    wanted = np.diag([0.1, 0.2, 0.3, 2.0])
    after = redesign(model, {2: wanted})
    assert after.links[:2] == model.links[:2]
    assert [body.name for body in after.links[2].bodies] == ["link3", "payload"]
    assert after.links[2].bodies[1] is model.links[2].bodies[1]
    held = canonical(redesign(armdyn.load("saha_3r").model, {2: 0 * wanted})).links[2]
    assert pseudo(held).max() == 0
    total = canonical(after).links[2]
    assert pytest.approx(2.5) == total.M
