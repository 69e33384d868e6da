"""Sweeps: a quantity over more states than memory holds, on one machine or many.

armdyn.sweep(robot, "inverse_dynamics", armdyn.Grid(q=(None, None, 20)), reduce="extremes")
"""

from armdyn.sweeping.grid import Grid as Grid
from armdyn.sweeping.reductions import Exceeded as Exceeded
from armdyn.sweeping.reductions import Extremes as Extremes
from armdyn.sweeping.reductions import Histogram as Histogram
from armdyn.sweeping.reductions import Moments as Moments
from armdyn.sweeping.reductions import Quantiles as Quantiles
from armdyn.sweeping.samples import Random as Random
from armdyn.sweeping.samples import Sobol as Sobol
