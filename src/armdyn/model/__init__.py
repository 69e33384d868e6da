"""The robot as frozen data."""

from armdyn.model.assemble import Connection as Connection
from armdyn.model.assemble import assemble as assemble
from armdyn.model.cut_joints import Loop as Loop
from armdyn.model.friction import FrictionLaw as FrictionLaw
from armdyn.model.inertia import Inertia as Inertia
from armdyn.model.joint import Drive as Drive
from armdyn.model.joint import Joint as Joint
from armdyn.model.joint import Limits as Limits
from armdyn.model.joint import Mimic as Mimic
from armdyn.model.joint import Rotor as Rotor
from armdyn.model.joint import Transmission as Transmission
from armdyn.model.joint_types import JointType as JointType
from armdyn.model.link import Body as Body
from armdyn.model.link import Frame as Frame
from armdyn.model.link import JointSpring as JointSpring
from armdyn.model.link import Link as Link
from armdyn.model.link import Spring as Spring
from armdyn.model.robot import GRAVITY as GRAVITY
from armdyn.model.robot import RobotModel as RobotModel
