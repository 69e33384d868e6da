"""Sweeps: a quantity over more states than memory holds, on one machine or many.

armdyn.sweep(robot, "inverse_dynamics", armdyn.Grid(q=(None, None, 20)), reduce="extremes")
"""

from armdyn.sweep.grid import Grid as Grid
from armdyn.sweep.reductions import Exceeded as Exceeded
from armdyn.sweep.reductions import Extremes as Extremes
from armdyn.sweep.reductions import Histogram as Histogram
from armdyn.sweep.reductions import Moments as Moments
from armdyn.sweep.reductions import Quantiles as Quantiles
from armdyn.sweep.samples import Random as Random
from armdyn.sweep.samples import Sobol as Sobol
