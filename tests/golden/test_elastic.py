"""An arm of three skew axes with transmissions that give: numbers of a program of its own.

In that program rotors are moments on their carriers, rates of torques are series in time through
Newton-Euler, and motors are coordinates of their own. Its accelerations agree to 6e-14 with MuJoCo
4.0, in which rotors are bodies and transmissions tendons, and its rates of torques to 4e-11 with
differences of the eighth order.
"""

import numpy as np
import pytest

import armdyn
from support.peers import close

ARM = """
format = 1
name = "elastic3"
flange = "link3"

[[link]]
name = "base"
[[link]]
name = "link1"
mass = 8.0
com = [0.01, 0.03, 0.12]
inertia = [0.1, 0.09, 0.05]
[[link]]
name = "link2"
mass = 6.0
com = [0.2, 0.01, -0.02]
inertia = [[0.03, 0.002, -0.001], [0.002, 0.12, 0.003], [-0.001, 0.003, 0.11]]
[[link]]
name = "link3"
mass = 3.0
com = [0.15, -0.02, 0.04]
inertia = [[0.008, 0.001, 0.0], [0.001, 0.03, -0.002], [0.0, -0.002, 0.028]]

[[joint]]
name = "joint1"
type = "revolute"
parent = "base"
child = "link1"
position = [0, 0, 0.3]
axis = [0, 0, 1]
rotor_inertia = 2e-4
gear_ratio = -62.6
rotor_axis = [0.28, 0.0, 0.96]
rotor_carrier = "base"
transmission_stiffness = 20000.0
[[joint]]
name = "joint2"
type = "revolute"
parent = "link1"
child = "link2"
position = [0.05, 0.1, 0.2]
rpy = [0.1, 0.2, -0.3]
axis = [0, 1, 0]
rotor_inertia = 2e-4
gear_ratio = 107.8
rotor_axis = [0, 1, 0]
rotor_carrier = "link1"
transmission_stiffness = 15000.0
[[joint]]
name = "joint3"
type = "revolute"
parent = "link2"
child = "link3"
position = [0.4, -0.05, 0.02]
rpy = [0.0, 0.4, 0.2]
axis = [0.6, 0, 0.8]
rotor_inertia = 1e-4
gear_ratio = -80.0
rotor_axis = [0.48, 0.6, 0.64]
rotor_carrier = "link2"
transmission_stiffness = 5000.0
"""
MOTION = np.array(
    [[0.3, -0.7, 0.9], [1.1, -0.4, 0.8], [-2.0, 1.5, 2.5], [5.0, -7.0, 3.0], [20.0, 31.0, -15.0]]
)
STATE = np.array(
    [
        [-0.477, -0.403, 0.628],
        [-0.624, -0.89, -0.45],
        [-0.48516, -0.401, 0.63257],
        [0.315, 0.125, -0.7],
        [-2.7, 6.78, -3.08],
    ]
)


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    path = tmp_path_factory.mktemp("elastic") / "elastic3.toml"
    path.write_text(ARM)
    return armdyn.load(path).elastic


def test_motors_for_a_motion(complete):
    reduced = complete.reduced
    rates = reduced.links.inverse_dynamics_rates(*MOTION)
    close(rates[0], [-2.73871846290981, -23.2719332000877, 0.702964126811386], 1e-13)
    close(rates[1], [8.73287541382469, -1.03050064436579, 1.60590763219406], 1e-13)
    close(rates[2], [3.90028745960042, 20.6739174233065, 3.83828135978427], 1e-13)
    motors = reduced.inverse_dynamics(*MOTION)
    close(motors.theta, [0.299863064076854, -0.701551462213339, 0.900140592825362], 1e-14)
    close(motors.thetad, [1.10043664377069, -0.400068700042958, 0.800321181526439], 1e-14)
    close(motors.thetadd, [-1.99980498562702, 1.50137826116155, 2.50076765627196], 1e-14)
    close(motors.tau, [-4.30606962000496, -19.7824778896004, 2.30345542682544], 1e-13)


def test_accelerations_of_links_and_motors(complete):
    damped = [x.robot.with_elasticity(x.stiffness, [8.0, 6.0, 1.5]).elastic
              for x in (complete, complete.reduced)]  # fmt: skip
    whole, motors = damped[0].forward_dynamics(*STATE)
    close(whole, [-287.105536311943, 141.692460824557, 1562.53771560291], 1e-13)
    close(motors, [195.199501883249, -12.6109644397479, -41.6633671032809], 1e-13)
    links, motors = damped[1].forward_dynamics(*STATE)
    close(links, [-286.857030036004, 141.802615915734, 1561.83972621354], 1e-13)
    close(motors, [195.199501883249, -12.6109644397479, -39.9296874999997], 1e-13)
    q, qd, theta, thetad, _ = STATE
    close(complete.kinetic_energy(q, qd, thetad), 1.06384019041222, 1e-13)
    kinetic = damped[1].kinetic_energy(q, qd, thetad)
    close(kinetic, 0.855709634937399 + 0.2138414586, 1e-13)
    gravity = 101.330745076981 - 20.0 * 9.81 * 0.1  # less that of a base which stands
    close(complete.potential_energy(q, theta), gravity + 0.748068249999999, 1e-13)


def test_vibrations_where_links_rest(complete):
    q = complete.resting([-0.816, 0.2, 0.457])
    close(q, [-0.816, 0.201667077295499, 0.456763278131077], 1e-13)
    expected = {
        complete: [18315.6165192317, 38782.6938861939, 198872.010303545],
        complete.reduced: [18308.529781365, 38796.243792614, 198761.747007501],
    }
    for elastic, squared in expected.items():
        found = elastic.modes(q)
        assert found.rigid == 3
        close(found.squared[3:], squared, 1e-12)
    close(found.squared[:3], [0.0, 3.04112684417532, 4.16951787019002], 1e-8)
    locked = complete.modes(q, "locked").squared
    close(locked, [10500.3290157489, 15960.9733964403, 189627.730188699], 1e-12)
