"""Motion from torques: trajectories, controllers, integrators and their results."""

from armdyn.simulation.all_joints import LoopMotion as LoopMotion
from armdyn.simulation.all_joints import simulate_all_joints as simulate_all_joints
from armdyn.simulation.controllers import CartesianImpedance as CartesianImpedance
from armdyn.simulation.controllers import ComputedTorque as ComputedTorque
from armdyn.simulation.controllers import Free as Free
from armdyn.simulation.controllers import GravityPD as GravityPD
from armdyn.simulation.controllers import OperationalSpace as OperationalSpace
from armdyn.simulation.controllers import SlotineLi as SlotineLi
from armdyn.simulation.result import Simulation as Simulation
from armdyn.simulation.simulator import simulate as simulate
from armdyn.simulation.system import Event as Event
from armdyn.simulation.trajectories import cartesian_line as cartesian_line
from armdyn.simulation.trajectories import fourier as fourier
from armdyn.simulation.trajectories import from_csv as from_csv
from armdyn.simulation.trajectories import hold as hold
from armdyn.simulation.trajectories import quintic as quintic
from armdyn.simulation.trajectories import sampled as sampled
from armdyn.simulation.trajectories import tool_circle as tool_circle
from armdyn.simulation.trajectories import tool_line as tool_line
from armdyn.simulation.trajectories import trapezoid as trapezoid
from armdyn.simulation.trajectories import via_points as via_points
from armdyn.simulation.trajectories.tool import ToolMotion as ToolMotion
