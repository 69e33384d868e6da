"""Closed forms of passive joints that are taken one after the other."""

from armdyn.formulations.loops.dyad import Dyad, StandingDyad
from armdyn.formulations.loops.follower import Follower, StandingFollower
from armdyn.formulations.loops.linear_step import LinearStep

Step = Dyad | LinearStep | Follower
"""Joints that follow from those before; a LinearDyad is a linear step."""
StandingStep = StandingDyad | LinearStep | StandingFollower
"""A step at a configuration."""
