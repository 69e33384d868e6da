"""Robots with loops that tests share: those of the golden values, as files."""

FIVE_BAR = """
format = 1
name = "five_bar"
[base]
rpy = [1.5707963267948966, 0.0, 0.0]
[[link]]
name = "base"
[[link]]
name = "link1"
mass = 1.9
com = [0.16, 0.012, 0.0]
inertia = [0.0024, 0.0228, 0.024]
[[link]]
name = "link2"
mass = 1.25
com = [0.27, -0.008, 0.0]
inertia = [0.0031, 0.02945, 0.031]
[[link]]
name = "link3"
mass = 1.6
com = [0.14, 0.006, 0.0]
inertia = [0.0018, 0.0171, 0.018]
[[link]]
name = "link4"
mass = 1.05
com = [0.22, 0.01, 0.0]
inertia = [0.0022, 0.0209, 0.022]
[[joint]]
name = "q_link1"
type = "revolute"
parent = "base"
child = "link1"
position = [0.0, 0.0, 0.0]
viscous = 0.3
[[joint]]
name = "q_link2"
type = "revolute"
parent = "link1"
child = "link2"
position = [0.35, 0.0, 0.0]
viscous = 0.05
actuated = false
[[joint]]
name = "q_link3"
type = "revolute"
parent = "base"
child = "link3"
position = [0.28, 0.0, 0.0]
viscous = 0.25
[[joint]]
name = "q_link4"
type = "revolute"
parent = "link3"
child = "link4"
position = [0.31, 0.0, 0.0]
viscous = 0.04
actuated = false
[[loops]]
name = "pin"
type = "revolute"
a = { link = "link2", position = [0.52, 0.0, 0.0] }
b = { link = "link4", position = [0.47, 0.0, 0.0] }
[assembly]
q_link1 = 2.3
q_link2 = -1.72
q_link3 = 0.7
q_link4 = 1.61
"""
PARALLELOGRAM_ARM = """
format = 1
name = "parallelogram_arm"
[base]
rpy = [1.5707963267948966, 0.0, 0.0]
[[link]]
name = "base"
[[link]]
name = "link1"
mass = 5.2
com = [0.28, 0.01, 0.0]
inertia = [0.019, 0.1805, 0.19]
[[link]]
name = "crank"
mass = 3.1
com = [0.11, -0.006, 0.0]
inertia = [0.0028, 0.0266, 0.028]
[[link]]
name = "coupler"
mass = 2.4
com = [0.33, 0.009, 0.0]
inertia = [0.0088, 0.0836, 0.088]
[[link]]
name = "forearm"
mass = 4.0
com = [-0.21, 0.004, 0.0]
inertia = [0.016, 0.152, 0.16]
[[joint]]
name = "q_link1"
type = "revolute"
parent = "base"
child = "link1"
position = [0.0, 0.0, 0.0]
viscous = 0.8
[[joint]]
name = "q_crank"
type = "revolute"
parent = "base"
child = "crank"
position = [0.0, 0.0, 0.0]
viscous = 0.6
[[joint]]
name = "q_coupler"
type = "revolute"
parent = "crank"
child = "coupler"
position = [0.25, 0.0, 0.0]
viscous = 0.07
actuated = false
[[joint]]
name = "q_forearm"
type = "revolute"
parent = "link1"
child = "forearm"
position = [0.6, 0.0, 0.0]
viscous = 0.09
actuated = false
[[loops]]
name = "pin"
type = "revolute"
a = { link = "coupler", position = [0.6, 0.0, 0.0] }
b = { link = "forearm", position = [0.25, 0.0, 0.0] }
[assembly]
q_link1 = 1.1
q_crank = 2.4
q_coupler = -1.3
q_forearm = 1.3
"""
