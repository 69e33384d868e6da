"""The rank of the regressor over a finite field, beside that of `base_parameters` over floats."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import ModelError
from armdyn.graph.field import PRIME, rank
from support.paths import ROOT


def both(robot, **options):
    return robot.exact_rank(**options), robot.base_parameters(**options).rank


@pytest.mark.arms(where=lambda arm: not arm.mimics)
def test_ranks_of_all_parameters_together_agree(arm):
    links = [link.name for link in arm.model.links]
    springs = [
        {"link": links[1], "point": [0.1, 0.2, 0.3], "anchor": [0.3, 0.1, 0.5], "stiffness": 90.0},
        {"link": links[-1], "other": links[0], "point": [0.1, 0.0, 0.1], "stiffness": 70.0,
         "free_length": 0.2},
    ]  # fmt: skip
    robot = arm.robot.with_springs(springs)
    exact, found = both(robot)
    assert exact == found
    assert found < sum(p.linear for p in robot.parameter_table)
    links_exact, links_found = both(robot, links=True)
    assert links_exact == links_found < found


@pytest.mark.slow
@pytest.mark.parametrize(("name", "links"), [("stanford", 33), ("panda", 43)])
def test_ranks_of_links_are_those_of_the_literature(name, links):
    assert armdyn.load(name).exact_rank(links=True) == links


def test_a_spring_to_a_point_above_a_pendulum_acts_like_its_weight():
    row = {"joint": "revolute", "alpha": np.pi / 2, "mass": 1.0, "com": (0.3, 0.0, 0.0)}
    pendulum = armdyn.from_dh([row], convention="modified")
    spring = {"link": "link1", "point": [0.2, 0.1, 0.0], "stiffness": 50.0}
    above = pendulum.with_springs([spring | {"anchor": [0.0, 0.0, 0.7]}])
    aside = pendulum.with_springs([spring | {"anchor": [0.4, 0.0, 0.7]}])
    # across the axis gravity shows m cx and m cy, and both springs pull in these directions
    assert both(pendulum) == both(above) == both(aside) == (3, 3)
    stiff = pendulum.with_springs([spring | {"anchor": [0.4, 0.0, 0.7], "free_length": 0.1}])
    assert both(stiff) == (4, 4)
    grouping = above.base_parameters().groupings
    assert any("spring1.stiffness" in text and "link1.mc" in text for text in grouping)


def test_coulomb_friction_by_direction_and_an_offset_are_two():
    arm = armdyn.load("two_link")
    names = ("coulomb_positive", "coulomb_negative", "offset")
    assert both(arm.with_parameters({f"joint1.{name}": 0.3 for name in names})) == (8, 8)


def test_rows_that_are_multiples_of_others_do_not_count():
    half = pow(2, -1, PRIME)
    assert rank([[1, 2], [half, 1], [0, 0]]) == 1
    assert rank([[1, 2], [half, 2], [0, 0]]) == 2


def test_joints_that_follow_others_have_no_exact_rank():
    gripper = armdyn.load(ROOT / "tests" / "robots" / "gripper.urdf")
    with pytest.raises(ModelError, match=r"follow others, and ranks are exact for independent"):
        gripper.exact_rank()
