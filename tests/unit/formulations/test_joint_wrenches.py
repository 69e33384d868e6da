"""The short way to forces in joints gives what Newton-Euler gives, in frames turned at will."""

import numpy as np

from armdyn.formulations.joint_wrenches import joint_wrenches, link_motion
from armdyn.formulations.kinematics import world_frames
from armdyn.formulations.newton_euler import newton_euler
from armdyn.formulations.spatial import rotate
from armdyn.model.edit import with_turned_links
from armdyn.model.transform import rotation_from_vector
from armdyn.robot import Robot
from support.peers import close
from support.random_robots import random_states


def test_wrenches_are_those_of_newton_euler(arm):
    model = arm.model
    state, rng = random_states(model, 1, (2, 3)), np.random.default_rng(2)
    exerted = rng.normal(size=(2, 3, len(model.joints), 6))
    turning = tuple(rng.normal(size=(2, 2, 3, 3)))
    newton = newton_euler(model, *state, exerted, turning)
    moving = link_motion(model, *state, turning)
    for one, other in ((moving.w, newton.w), (moving.wd, newton.wd), (moving.vd, newton.vd)):
        close(np.array(one), np.array(other))
    local = joint_wrenches(model, state[0], moving, exerted, world=False)
    close(np.array([*local.f, *local.n, *local.base]), [*newton.f, *newton.n, *newton.base])
    world = joint_wrenches(model, state[0], moving, exerted, world=True)
    R = world_frames(model, state[0]).R
    turned = [rotate(R, v) for R, v in zip((*R, *R), (*newton.f, *newton.n), strict=True)]
    base = [rotate(model.base[:3, :3], v) for v in newton.base]
    close(np.array([*world.f, *world.n, *world.base]), [*turned, *base])


def test_turned_frames_change_nothing_but_themselves(arm):
    model = arm.model
    rng = np.random.default_rng(3)
    turns = rotation_from_vector(rng.normal(size=(len(model.joints), 3)))
    other, (q, qd, qdd) = with_turned_links(model, turns), random_states(model, 4)
    before, after = (world_frames(one, q) for one in (model, other))
    close(np.array(after.O), np.array(before.O))
    close(np.array(after.R), np.array(before.R) @ turns)
    close(newton_euler(other, q, qd, qdd).tau, newton_euler(model, q, qd, qdd).tau)
    for link in model.frame_names:
        frames = [Robot(one).model.frame(link).placement for one in (model, other)]
        assert frames[0].shape == frames[1].shape
        of = model.frame(link).link
        if of >= 0:
            close(turns[of] @ frames[1][:3, :3], frames[0][:3, :3])
