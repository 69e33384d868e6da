"""What is kept of the results of many states: extremes, moments, histograms, quantiles, excesses.

Each is merged exactly, or in the fixed order of the blocks: the result does not depend on who
computed which block.
"""

from armdyn.sweeping.reductions.counts import Histogram as Histogram
from armdyn.sweeping.reductions.counts import Quantiles as Quantiles
from armdyn.sweeping.reductions.exceeded import Exceeded as Exceeded
from armdyn.sweeping.reductions.extremes import Extremes as Extremes
from armdyn.sweeping.reductions.moments import Moments as Moments
from armdyn.sweeping.reductions.reduction import Part as Part
from armdyn.sweeping.reductions.reduction import Reduction as Reduction

REDUCTIONS: dict[str, type[Reduction]] = {
    kind.name: kind for kind in (Extremes, Moments, Histogram, Quantiles, Exceeded)
}
"""By the names under which they can be asked for."""
