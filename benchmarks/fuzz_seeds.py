"""Files that are right, and values that are odd, of which `fuzz_tries` makes bad input."""

from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np


class TheirError(Exception):
    """What a function raises that was handed to armdyn: it goes through as it is."""


class Whole(int):
    """A type in the place of a value or a function."""

    def __new__(cls, *given: Any) -> Self:
        """A whole number."""
        try:
            return super().__new__(cls, *given)
        except (TypeError, ValueError, OverflowError) as error:
            raise TheirError from error


def length(*given: Any) -> int:
    """A function in the place of a value, or of one that takes something else."""
    try:
        return len(*given)
    except TypeError as error:
        raise TheirError from error


ODD_NUMBERS = [
    "0", "-1", "1e200", "-1e200", "1e308", "1e-320", "-1e-320", "1e999", "nan", "inf", "-inf",
    "1e-200", "0x10", "1_0", "5e-324", "1e160", "1e-165", "3.14", "1e6", "true", "{}", "[]",
    "[1,2]", "[[1]]", "1", "2", "9" * 5000, "", "1 2", "1,2", "٣", "0" * 400 + "1", "1979-05-27",
]  # fmt: skip
ODD_TEXTS = [
    "", " ", "\0", "${x}", "$(x)", "$${x}", "[/]", "[bold]", "\x1b[31m", "é", "机", "a" * 3000,
    "\ud800", ".", "tool", "base", "world", "nan", "'", '"', "&", "<", "]]>", "\n", "\u202e", "-",
    "--json", "joint1", "link1", "revolute", "floating", "planar", "prismatic", "fixed", "1e200",
    "q1", "a\0b",
]  # fmt: skip
ODD_VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 3, 2**63, 10**400, -(10**5000), 1.5, 1e200, 1e308, 1e-320,
    -1e-320, np.nan, np.inf, -np.inf, 1j, Fraction(1, 3), Decimal("nan"), date(2020, 1, 1), b"x",
    [], [[]], {}, set(), (), {1: 2}, {"x": None}, {"joint1": "x"}, {"tool": [1, 2]}, [1, [2]],
    ["a", "b"], [None, None], object(), Whole, length, print, Path("x"), range(2), iter("ab"),
    np.zeros(2), np.zeros((2, 2)), np.zeros((0, 2)), np.zeros((3, 0)), np.full(2, np.nan),
    np.full(2, 1e200), np.full(2, np.inf), np.array(1.0), np.zeros(2, complex),
    np.array(["a", "b"]), np.array([None, "x"]), np.zeros(3), np.array([1, 10**400], dtype=object),
    np.zeros(2, "datetime64[s]"), np.zeros((4, 4)), np.eye(4), np.eye(3), [1.0, 2.0],
    [1e-320, 1e308], [True, False], np.zeros(2, np.float16),
    np.ma.masked_array([1.0, 2.0], [True, False]), np.eye(4) * 1e200, lambda *_: None,
    lambda *_: [1e308, np.nan], slice(1), ..., NotImplemented, np.zeros(2, [("a", float)]),
    memoryview(b"ab"), *ODD_TEXTS,
]  # fmt: skip
URDF = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.1 0 0.2" rpy="0 0.3 0"/><mass value="2"/>
    <inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0" izz="0.02"/></inertial>
    <visual><geometry><mesh filename="package://a/b.stl"/></geometry></visual></link>
  <link name="fore"><inertial><mass value="1"/>
    <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.02"/></inertial></link>
  <link name="finger"/>
  <joint name="j1" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0.3" rpy="0 0 1.5"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="50" velocity="3"/><dynamics damping="0.1" friction="0.2"/>
    <armdyn rotor_inertia="1e-4" gear_ratio="100" coulomb_negative="0.1"/></joint>
  <joint name="j2" type="prismatic"><parent link="upper"/><child link="fore"/>
    <axis xyz="0 0 1"/><limit lower="0" upper="1" effort="5" velocity="1"/></joint>
  <joint name="j3" type="continuous"><parent link="fore"/><child link="finger"/>
    <mimic joint="j1" multiplier="2" offset="0.1"/></joint>
  <armdyn flange="fore" gravity="0 0 -9.81" title="an arm"><tool xyz="0 0 0.1"/></armdyn>
</robot>
"""
MJCF = """<mujoco model="arm">
  <compiler angle="radian"/><option gravity="0 0 -9.81"/>
  <default><joint damping="0.1"/></default>
  <worldbody><body name="upper" pos="0 0 0.3" quat="1 0 0 0">
    <joint name="j1" axis="0 1 0" range="-2 2" armature="0.01"/>
    <inertial pos="0.1 0 0" mass="2" diaginertia="0.02 0.03 0.02"/>
    <body name="fore" pos="0.3 0 0"><joint name="j2" type="slide" frictionloss="0.2" stiffness="1"/>
      <geom type="box" size="0.1 0.1 0.1" mass="1"/><site name="end"/></body></body></worldbody>
  <equality><joint joint1="j1" joint2="j2" polycoef="0 1 0 0 0" active="false"/></equality>
  <actuator><motor joint="j1" gear="10"/></actuator>
</mujoco>
"""
TREE = """format = 1
name = "arm"
title = "an arm"
gravity = [0.0, 0.0, -9.81]
flange = "fore"
[tool]
position = [0.0, 0.0, 0.1]
rpy = [0.1, 0.2, 0.3]
[letters]
a1 = "l"
[[link]]
name = "base"
[[link]]
name = "upper"
mass = 2.0
com = [0.1, 0.0, 0.2]
inertia = [0.02, 0.03, 0.02]
inertia_rpy = [0.1, 0.0, 0.0]
[[link.body]]
name = "motor"
payload = true
position = [0.1, 0.0, 0.0]
mass = 0.5
inertia = [[0.02, 0.0, 0.0], [0.0, 0.03, 0.0], [0.0, 0.0, 0.02]]
[[link]]
name = "fore"
mass = 1.0
inertia_about = "origin"
first_moment = [0.1, 0.0, 0.0]
inertia = [0.02, 0.03, 0.02]
[[joint]]
name = "j1"
type = "revolute"
parent = "base"
child = "upper"
axis = [0.0, 1.0, 0.0]
limits = [-2.0, 2.0]
viscous = [0.1, 0.2]
coulomb = 0.3
stribeck = 0.4
stribeck_velocity = 0.1
rotor_inertia = 1e-4
gear_ratio = 100.0
[[joint]]
name = "j2"
type = "helical"
pitch = 0.01
parent = "upper"
child = "fore"
mimic = { leader = "j1", multiplier = 2.0, offset = 0.1 }
"""
TABLE = """format = 1
name = "scara"
convention = "standard"
[[joint]]
joint = "revolute"
a = 0.4
alpha = 1.57
d = 0.1
theta = 0.0
mass = 2.0
com = [-0.2, 0.0, 0.0]
inertia = [0.02, 0.03, 0.02]
limits = [-2.0, 2.0]
velocity_limit = 3.0
power = 0.1
power_exponent = 0.5
[[joint]]
joint = "prismatic"
d = 0.1
mass = 1.0
offset = 0.1
effort_limit = 10.0
"""
MOTION = "t,q1,q2,qd1,qd2\n" + "".join(f"{i / 10},{i * i},0.{i},{i},1\n" for i in range(8))
TORQUES = "t,tau1,tau2\n" + "".join(f"{i / 10},{i},0.{i}\n" for i in range(4))
SDF = """<sdf version="1.9"><world name="w"><gravity>0 0 -9.8</gravity>
 <model name="ground"><static>true</static><link name="plate"/></model>
 <model name="bars"><pose>0 0 0.1 0 0 0.2</pose>
  <link name="crank"><pose>0 0 0 0 -1.2 0</pose><inertial><pose>0.1 0 0 0 0 0</pose><mass>1</mass>
   <inertia><ixx>0.001</ixx><iyy>0.02</iyy><izz>0.02</izz></inertia></inertial></link>
  <frame name="elbow" attached_to="crank"><pose>0.2 0 0 0 0.7 0</pose></frame>
  <link name="coupler"><pose relative_to="elbow"/></link>
  <model name="out" placement_frame="end"><pose>0.5 0 0 0 -1.4 0</pose><link name="rocker"/>
   <frame name="end"><pose>0 0 0 0.2 0 0</pose></frame></model>
  <joint name="j1" type="revolute"><parent>world</parent><child>crank</child>
   <drake:rotor_inertia>0.001</drake:rotor_inertia><drake:gear_ratio>50</drake:gear_ratio>
   <axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>1e16</upper><effort>9</effort></limit>
    <dynamics><damping>0.1</damping></dynamics></axis></joint>
  <joint name="j2" type="revolute"><parent>crank</parent><child>coupler</child>
   <axis><xyz>0 1 0</xyz></axis></joint>
  <joint name="j3" type="revolute"><parent>world</parent><child>out::rocker</child>
   <axis><xyz expressed_in="__model__">0 1 0</xyz></axis></joint>
  <joint name="j4" type="revolute"><pose relative_to="coupler">0.4 0 0 0 0 0</pose>
   <parent>out</parent><child>coupler</child>
   <axis><xyz expressed_in="coupler">0 1 0</xyz></axis></joint>
 </model></world></sdf>
"""
MJCF_LOOP = """<mujoco model="bars">
 <worldbody><body name="crank"><joint name="j1" axis="0 1 0"/>
   <inertial pos="0.1 0 0" mass="1" diaginertia="0.001 0.02 0.02"/>
   <body name="coupler" pos="0.2 0 0"><joint name="j2" axis="0 1 0"/>
    <inertial pos="0.2 0 0" mass="2" diaginertia="0.001 0.02 0.02"/></body></body>
  <body name="rocker" pos="0.6 0 -0.3"><joint name="j3" axis="0 1 0"/>
   <inertial pos="0.1 0 0" mass="1" diaginertia="0.001 0.02 0.02"/></body></worldbody>
 <equality><connect name="pin" body1="coupler" body2="rocker" anchor="0.4 0 0"/></equality>
 <actuator><motor joint="j1"/></actuator>
</mujoco>
"""
TOML_LOOP = """format = 1
name = "bars"
convention = "standard"
joint = [
  { name = "j1", joint = "revolute", a = 0.2, mass = 1.0, com = [-0.1, 0.0, 0.0] },
  { name = "j2", joint = "revolute", a = 0.4, mass = 2.0, actuated = false, link = "coupler" },
  { name = "j3", joint = "revolute", parent = "base", a = 0.3, actuated = false, link = "rocker" },
]
[[loops]]
name = "pin"
type = "spherical"
a = { link = "coupler" }
b = { link = "rocker", position = [0.1, 0.0, 0.0] }
[assembly]
j1 = 0.5
j2 = -0.4
j3 = 1.0
"""
FILES = {
    "urdf": URDF,
    "sdf": SDF,
    "xml": MJCF,
    "loop.xml": MJCF_LOOP,
    "loop.toml": TOML_LOOP,
    "tree.toml": TREE,
    "dh.toml": TABLE,
    "csv": MOTION,
    "torques.csv": TORQUES,
}

COMMANDS = [
    "robots",
    "info ARM",
    "info ARM --payload 1,0,0,0",
    "info ARM --gravity 0,0,1 --base 0,0,1 --lock j1=0 --tool fore",
    "check ARM",
    "torque ARM arm.move.csv",
    "torque ARM arm.move.csv -o OUT.csv",
    "simulate ARM --duration 0.01 --method RK45 --q0 0,0 --qd0 0,0",
    "simulate ARM --duration 0.01 --method rk4 --step 0.001 --arms 2",
    "simulate ARM --duration 0.01 --controller gravity-pd --kp 1 --kd 1 --target 0,0 --dt 0.01",
    "simulate ARM --torque arm.torques.csv --duration 0.01 --rtol 1e-3 --wrench 0,0,0,0,0,0",
    "ops ARM",
    "equations ARM --form energy",
    "export ARM -o OUT --lang python",
    "cache",
    "--version",
]
