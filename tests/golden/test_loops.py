"""Golden values of closed loops: free bodies in maximal coordinates, in a calculation with 60 digits.

All joint forces are unknowns of one linear system there, and the Coriolis matrix comes from
differences of the mass matrix. Columns of states: the actuated joints, as robots have them.
"""

import numpy as np
import pytest

import armdyn
from support.loops import FIVE_BAR, PARALLELOGRAM_ARM

pytestmark = pytest.mark.slow
ERROR = 1e-10
FIVE_BAR_STATES = [
    {
        "q": [2.3, 0.7],
        "qd": [0.8, -1.1],
        "qdd": [1.5, 2.0],
        "tau": [-5.7660831567701, 6.16177279364169],
        "M": [[0.266844173838239, -0.0215837995957867], [-0.0215837995957867, 0.196119638011321]],
        "C": [
            [-0.000854822176862044, -0.0926271261539425],
            [-0.0865921716627688, 0.0130984156112916],
        ],
        "g": [-6.22438779936373, 5.88559121151537],
        "viscous": [0.36700637267316, -0.396085297252337],
        "force": [-6.39565906690686, 2.35672892976758],
        "all": {"link1": 2.3, "link2": -1.71675217268939, "link3": 0.7, "link4": 1.60892407342791},
        "rates": {
            "link1": 0.8,
            "link2": -1.46809489562039,
            "link3": -1.1,
            "link4": 1.78209002289984,
        },
        "changes": {
            "link1": 1.5,
            "link2": -0.334738030197111,
            "link3": 2.0,
            "link4": -1.33694531079865,
        },
    },
    {
        "q": [1.9, 1.2],
        "qd": [-1.4, 0.6],
        "qdd": [-3.0, 4.5],
        "tau": [-3.83081136686294, 3.48780635931028],
        "M": [[0.261481214156026, 0.0485593520102497], [0.0485593520102497, 0.155292285381632]],
        "C": [
            [-0.0243553383407539, -0.0122181931418688],
            [0.0927182045003947, -0.0640879425721449],
        ],
        "g": [-3.29165136623292, 3.10292738296753],
        "viscous": [-0.559793182663915, 0.277270588421973],
        "force": [-3.07429749340481, 2.62425331358242],
        "all": {"link1": 1.9, "link2": -1.03329526566402, "link3": 1.2, "link4": 0.738299348611502},
        "rates": {
            "link1": -1.4,
            "link2": 1.71529614596944,
            "link3": 0.6,
            "link4": -1.76748950041991,
        },
        "changes": {
            "link1": -3.0,
            "link2": 5.11625992758456,
            "link3": 4.5,
            "link4": -7.81411573107407,
        },
    },
    {
        "q": [2.6, 0.35],
        "qd": [2.2, 1.7],
        "qdd": [0.0, 0.0],
        "tau": [-7.55340472907632, 6.58394925633746],
        "M": [[0.256313545489724, -0.0705730020840925], [-0.0705730020840925, 0.190254089898754]],
        "C": [[-0.0574163872415991, 0.0866913583438448], [-0.132107989340778, 0.0371972866277782]],
        "g": [-7.57446398632934, 6.81135144561995],
        "viscous": [0.709697819713757, 0.396468744954875],
        "force": [-9.93910612035875, 1.96306768926235],
        "all": {"link1": 2.6, "link2": -2.22270550408845, "link3": 0.35, "link4": 2.19077616434088},
        "rates": {
            "link1": 2.2,
            "link2": -1.09987469867218,
            "link3": 1.7,
            "link4": -0.0929855035196021,
        },
        "changes": {
            "link1": 0.0,
            "link2": 1.49833210715527,
            "link3": 0.0,
            "link4": -1.58008917262114,
        },
    },
]
PARALLELOGRAM_ARM_STATES = [
    {
        "q": [1.1, 2.4],
        "qd": [0.9, -0.7],
        "qdd": [1.2, -2.1],
        "tau": [23.228725956027, -2.21376786736026],
        "M": [[2.3877544, -0.085901585937876], [-0.085901585937876, 0.5520856]],
        "C": [[0.0, -0.205607716760206], [-0.264352778691694, 0.0]],
        "g": [20.0391019438254, -0.713388703412284],
        "viscous": [0.976, -0.676],
        "force": [4.33441944218473, 21.5229525230102],
        "all": {"link1": 1.1, "crank": 2.4, "coupler": -1.3, "forearm": 1.3},
        "rates": {"link1": 0.9, "crank": -0.7, "coupler": 1.6, "forearm": -1.6},
        "changes": {"link1": 1.2, "crank": -2.1, "coupler": 3.3, "forearm": -3.3},
    },
    {
        "q": [0.6, 2.3],
        "qd": [-1.3, 1.6],
        "qdd": [3.3, 0.4],
        "tau": [45.8969580638309, -0.817680129733633],
        "M": [[2.3877544, 0.0352614230505302], [0.0352614230505302, 0.5520856]],
        "C": [[0.0, 0.486384926199195], [0.395187752536846, 0.0]],
        "g": [37.225048092692, -0.641132987502483],
        "viscous": [-1.504, 1.424],
        "force": [8.36179884533562, 19.7226897855116],
        "all": {"link1": 0.6, "crank": 2.3, "coupler": -1.7, "forearm": 1.7},
        "rates": {"link1": -1.3, "crank": 1.6, "coupler": -2.9, "forearm": 2.9},
        "changes": {"link1": 3.3, "crank": 0.4, "coupler": 2.9, "forearm": -2.9},
    },
    {
        "q": [1.7, 3.5],
        "qd": [2.1, 0.5],
        "qdd": [0.0, 0.0],
        "tau": [-6.51616689887576, -2.25517438850284],
        "M": [[2.3877544, 0.0654336809263962], [0.0654336809263962, 0.5520856]],
        "C": [[0.0, 0.149475811923219], [-0.627798410077521, 0.0]],
        "g": [-6.59090480483737, -0.936797727340045],
        "viscous": [1.936, 0.044],
        "force": [-0.943515369062298, 23.5567232458538],
        "all": {"link1": 1.7, "crank": 3.5, "coupler": -1.8, "forearm": 1.8},
        "rates": {"link1": 2.1, "crank": 0.5, "coupler": 1.6, "forearm": -1.6},
        "changes": {"link1": 0.0, "crank": 0.0, "coupler": 0.0, "forearm": 0.0},
    },
]


@pytest.fixture(scope="module", params=["five_bar", "parallelogram_arm"])
def golden(request, tmp_path_factory):
    file = tmp_path_factory.mktemp("loops") / f"{request.param}.toml"
    five = request.param == "five_bar"
    file.write_text(FIVE_BAR if five else PARALLELOGRAM_ARM)
    return armdyn.load(file), FIVE_BAR_STATES if five else PARALLELOGRAM_ARM_STATES


def test_all_joints_follow(golden):
    robot, states = golden
    order = [link.name for link in robot.model.links]
    for state in states:
        q = np.array(state["q"])
        found = robot.all_joints(q)
        expected = [state["all"][name] for name in order]
        np.testing.assert_allclose(np.cos(found - expected), 1.0, atol=ERROR)
        here = robot._at.at(q)
        qd, qdd = np.array(state["qd"]), np.array(state["qdd"])
        rates, changes = here.rates(qd), here.accelerations(qd, qdd)
        np.testing.assert_allclose(rates, [state["rates"][k] for k in order], atol=ERROR)
        np.testing.assert_allclose(changes, [state["changes"][k] for k in order], atol=ERROR)


def test_torques_and_the_matrices_they_are_made_of(golden):
    robot, states = golden
    for state in states:
        motion = state["q"], state["qd"], state["qdd"]
        smooth = robot.inverse_dynamics(*motion, friction=False)
        np.testing.assert_allclose(smooth, state["tau"], atol=ERROR)
        rough = robot.inverse_dynamics(*motion) - smooth
        np.testing.assert_allclose(rough, state["viscous"], atol=ERROR)
        np.testing.assert_allclose(robot.mass_matrix(motion[0]), state["M"], atol=ERROR)
        C = robot.coriolis_matrix(*motion[:2])
        np.testing.assert_allclose(C, state["C"], atol=ERROR)
        np.testing.assert_allclose(robot.gravity_vector(motion[0]), state["g"], atol=ERROR)
        found = robot.forward_dynamics(*motion[:2], state["tau"], friction=False)
        np.testing.assert_allclose(found, motion[2], atol=ERROR)


def test_the_force_in_the_cut_joint(golden):
    robot, states = golden
    for state in states:
        last = robot.reactions(state["q"], state["qd"], state["qdd"])[-1]
        expected = [state["force"][0], 0.0, state["force"][1], 0.0, 0.0, 0.0]
        np.testing.assert_allclose(last, expected, atol=ERROR)


def test_few_operations(golden):
    robot, _ = golden
    count = armdyn.count_operations(robot)
    most = 140 if robot.name == "five_bar" else 32
    assert count.total + count.div + count.sqrt <= most
