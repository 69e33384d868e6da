"""A tree with a slide and a shared motor, and an arm of a textbook, with rotors that spin.

The numbers of the tree are those of a program of its own, in which a rotor is not a link but a
moment on its carrier; they agree to 1e-13 with one that has a link for each rotor, with MuJoCo 4.0
and with Pinocchio 4.1.
"""

import numpy as np
import pytest

import armdyn
from support.peers import close

TREE = """
format = 1
name = "tree4"
flange = "link3"
gravity = [0.3, -0.2, -9.7]

[[link]]
name = "base"
mass = 20.0
com = [0.02, -0.01, 0.1]
inertia = [[0.9, 0.02, -0.01], [0.02, 1.1, 0.03], [-0.01, 0.03, 0.7]]

[[link]]
name = "link1"
mass = 9.0
com = [0.12, 0.01, 0.03]
inertia = [0.06, 0.16, 0.15]

[[link]]
name = "link2"
mass = 5.0
com = [0.1, 0.02, 0.0]
inertia = [0.02, 0.06, 0.05]

[[link]]
name = "link3"
mass = 2.5
com = [0.0, 0.01, -0.1]
inertia = [0.02, 0.02, 0.006]

[[link]]
name = "link4"
mass = 4.0
com = [0.02, 0.05, 0.15]
inertia = [0.05, 0.04, 0.02]

[[joint]]
name = "joint1"
type = "revolute"
parent = "base"
child = "link1"
position = [0.1, 0.0, 0.4]
rpy = [0.05, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
rotor_inertia = 0.0003
gear_ratio = 50.0
rotor_axis = [0.0, 0.0, 1.0]
rotor_carrier = "link1"

[[joint]]
name = "joint2"
type = "revolute"
parent = "link1"
child = "link2"
position = [0.3, 0.0, 0.05]
rpy = [0.0, 0.1, 0.3]
axis = [0.0, 0.6, 0.8]
rotor_inertia = 0.00015
gear_ratio = -100.0
rotor_axis = [0.0, 0.6, 0.8]
rotor_carrier = "link1"

[[joint]]
name = "joint3"
type = "prismatic"
parent = "link2"
child = "link3"
position = [0.25, 0.0, 0.0]
rpy = [0.0, -0.2, 0.0]
axis = [0.0, 0.0, 1.0]
rotor_inertia = 5e-05
gear_ratio = 628.3
rotor_axis = [0.0, 0.0, 1.0]
rotor_carrier = "link2"

[[joint]]
name = "joint4"
type = "revolute"
parent = "link1"
child = "link4"
position = [0.0, 0.2, 0.1]
rpy = [0.0, 0.0, 0.0]
axis = [1.0, 0.0, 0.0]

[[drives]]
name = "shared"
joints = { joint4 = 60.0, joint2 = 5.0 }
rotor_inertia = 0.0001
gear_ratio = 1.0
rotor_axis = [1.0, 0.0, 0.0]
rotor_carrier = "link1"
"""
Q = [-0.68, -1.644, -0.128, 0.471]
QD = [0.204, -1.464, 0.81, 0.452]
QDD = [-0.13, -0.811, 1.674, -1.666]
TAU = [2.11352768417161, -5.3199556268114, 52.488003674922, -1.99317538928996]
M = [
    [2.75303793291285, 0.553481193472329, 0.133836251546905, -0.0125084899827181],
    [0.553481193472329, 1.88723578256761, -0.338419580074564, 0.03],
    [0.133836251546905, -0.338419580074564, 22.2380445, 0.0],
    [-0.0125084899827181, 0.03, 0.0, 0.51],
]
BIAS = [2.67541483395561, -3.10096047495284, 15.0044576151826, -1.12081149298771]
C = [
    [0.0, 0.00460095852723809, -0.00831580652330441, 0.0],
    [-0.00460095852723809, 0.0, -0.00115875992537848, 0.0],
    [-0.00831580652330441, 0.00115875992537848, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.0],
]
FALLING = [-1.30940877298079, 1.88002759677037, -0.638229368748527, 2.05496458542056]
BASE = [
    -12.5752635349285,
    15.6457327641958,
    392.057617435867,
    -36.0408428325621,
    -56.716837024713,
    1.90902862370987,
]
WRENCHES = [
    [
        -6.57526353492853,
        11.6457327641958,
        198.057617435867,
        -29.0425497268838,
        -29.8009698671549,
        0.724455347290282,
    ],
    [
        -3.35947555118369,
        8.47300606763898,
        71.900021165267,
        -12.7856070297862,
        0.827382727354794,
        -0.806311932047876,
    ],
    [
        -1.33997513756848,
        6.8326467674448,
        23.9432261816869,
        -1.51578373783215,
        -0.706876861979568,
        0.101826658172537,
    ],
    [
        -0.399299713873532,
        1.46379190787834,
        38.8621533293486,
        -1.78981523412938,
        -0.0353711182212388,
        -0.0131351212408156,
    ],
]
KINETIC = 9.6641465583293
ROTORS = [
    [-338.0, 64.88, 435.618434470598, 0.0],
    [0.0, -8099.6, 803.875538417737, -520.075],
    [0.0, 0.0, 660299.478807971, 0.0],
    [0.0, 0.0, 0.0, -6240.9],
]
"""Columns: torques for each unit of the inertia of a rotor."""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    file = tmp_path_factory.mktemp("tree") / "tree4.toml"
    file.write_text(TREE)
    return armdyn.load(file)


@pytest.mark.slow
def test_tree_has_the_torques_and_wrenches_of_another_program(tree):
    close(tree.inverse_dynamics(Q, QD, QDD), TAU, 1e-13)
    close(tree.bias(Q, QD), BIAS, 1e-13)
    close(tree.mass_matrix(Q), M, 1e-13)
    close(tree.forward_dynamics(Q, QD, np.zeros(4)), FALLING, 1e-12)
    close(tree.kinetic_energy(Q, QD), KINETIC, 1e-13)
    close(tree.reactions(Q, QD, QDD, base_wrench=True)[0], BASE, 1e-13)
    close(tree.reactions(Q, QD, QDD), WRENCHES, 1e-13)


@pytest.mark.slow
def test_coriolis_terms_and_columns_of_rotors_are_those_of_another_program(tree):
    locked = tree
    for name in ("joint1", "joint2", "joint3", "shared"):
        locked = locked.with_rotor(name)
    close(tree.coriolis_matrix(Q, QD) - locked.coriolis_matrix(Q, QD), C, 1e-12)
    Y, names = tree.regressor(Q, QD, QDD), [p.name for p in tree.parameter_table]
    spinning = [owner for owner in tree.model.driven if owner.rotor.spins]
    for column, owner in zip(np.transpose(ROTORS), spinning, strict=True):
        squared = owner.rotor.gear_ratio**2
        close(squared * Y[:, names.index(f"{owner.name}.rotor")], column, 1e-12)


@pytest.mark.slow
def test_two_links_with_motors_have_the_matrix_of_the_textbook():
    """Siciliano and others, Robotics, 2009, section 7.3.2: motor 2 stands on the elbow of link 1."""
    a1, l1, l2, m1, m2, I1, I2 = 1.0, 0.5, 0.4, 50.0, 40.0, 10.0, 8.0
    kr1, kr2, mm2, Im1, Im2 = 100.0, 80.0, 5.0, 0.01, 0.02
    com = (m1 * (l1 - a1)) / (m1 + mm2)
    moment = I1 + Im2 + m1 * mm2 / (m1 + mm2) * (l1 - a1) ** 2
    row = {"joint": "revolute", "gear_ratio": kr1, "rotor_axis": [0, 0, 1]}
    rows = [
        row
        | {"a": a1, "mass": m1 + mm2, "com": [com, 0, 0], "inertia": [1.0, 1.0, moment]}
        | {"rotor_inertia": Im1, "rotor_carrier": "base", "link": "upper"},
        row
        | {"a": 0.7, "mass": m2, "com": [l2 - 0.7, 0, 0], "inertia": [1.0, 1.0, I2]}
        | {"rotor_inertia": Im2, "gear_ratio": kr2, "rotor_carrier": "upper"},
    ]
    arm = armdyn.from_dh(rows, "standard", physical="ignore")
    q, qd = np.array([0.4, -1.1]), np.array([1.5, -0.7])
    c2, h = np.cos(q[1]), -m2 * a1 * l2 * np.sin(q[1])
    b11 = I1 + m1 * l1**2 + kr1**2 * Im1 + I2 + m2 * (a1**2 + l2**2 + 2 * a1 * l2 * c2)
    b11 += Im2 + mm2 * a1**2
    b12 = I2 + m2 * (l2**2 + a1 * l2 * c2) + kr2 * Im2
    b22 = I2 + m2 * l2**2 + kr2**2 * Im2
    close(arm.mass_matrix(q), [[b11, b12], [b12, b22]], 1e-13)
    C = [[h * qd[1], h * (qd[0] + qd[1])], [-h * qd[0], 0.0]]
    close(arm.coriolis_matrix(q, qd), C, 1e-13)
