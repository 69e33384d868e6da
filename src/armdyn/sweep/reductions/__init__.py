"""What is kept of the results of many states: extremes, moments, histograms, quantiles, excesses.

Each is merged exactly, or in the fixed order of the blocks: the result does not depend on who
computed which block.
"""

from armdyn.sweep.reductions.counts import Histogram as Histogram
from armdyn.sweep.reductions.counts import Quantiles as Quantiles
from armdyn.sweep.reductions.exceeded import Exceeded as Exceeded
from armdyn.sweep.reductions.extremes import Extremes as Extremes
from armdyn.sweep.reductions.moments import Moments as Moments
from armdyn.sweep.reductions.reduction import Part as Part
from armdyn.sweep.reductions.reduction import Reduction as Reduction

REDUCTIONS: dict[str, type[Reduction]] = {
    kind.name: kind for kind in (Extremes, Moments, Histogram, Quantiles, Exceeded)
}
"""By the names under which they can be asked for."""
