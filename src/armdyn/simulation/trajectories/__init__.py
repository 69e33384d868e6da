"""Motions as functions of time."""

from armdyn.simulation.trajectories.moves import fourier as fourier
from armdyn.simulation.trajectories.moves import hold as hold
from armdyn.simulation.trajectories.moves import quintic as quintic
from armdyn.simulation.trajectories.moves import trapezoid as trapezoid
from armdyn.simulation.trajectories.moves import via_points as via_points
from armdyn.simulation.trajectories.piecewise import from_csv as from_csv
from armdyn.simulation.trajectories.piecewise import sampled as sampled
from armdyn.simulation.trajectories.time_optimal import time_optimal as time_optimal
from armdyn.simulation.trajectories.tool import cartesian_line as cartesian_line
from armdyn.simulation.trajectories.tool import tool_circle as tool_circle
from armdyn.simulation.trajectories.tool import tool_line as tool_line
