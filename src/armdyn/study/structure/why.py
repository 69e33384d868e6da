"""Why an element of D, h or g vanishes or is constant, in words.

Statements about axes and inertias are decided over the finite field, as the elements are.
"""

from collections.abc import Sequence

import numpy as np

from armdyn.arrays import Array
from armdyn.study.structure.probe import Pattern, Probe

WHATEVER = "whatever the inertias"
THESE = "with the inertias as they are"
CANCELS = "what varies cancels in the numbers of this robot, up to rounding"
BRANCHES = "joints on different branches move no link together"
MOST_LISTED = 8
"""The most parameters that a sentence names; the element keeps all of them."""

Reason = tuple[str, tuple[str, ...]]
"""A sentence, and the parameters that are zero and would change it."""


class Why:
    """The reasons for the elements of one trunk; indices count from 0 within it."""

    def __init__(self, probe: Probe, D: Pattern, h: Pattern, g: Pattern):
        self.trunk, self.absent = probe.trunk, probe.absent
        self.D, self.h, self.g = D, h, g
        self.always_D, self.always_h, self.always_g = probe.always()
        (self.D_wakes, self.D_stirs), (self.g_wakes, self.g_stirs) = probe.awakened()
        self.axes = probe.axes()

    # the mass matrix

    def mass(self, i: int, j: int) -> Reason:
        """Why D_ij is zero or constant; nothing where it varies."""
        if self.D.zero[i, j]:
            return self._no_mass(i, j)
        return self._constant_mass(i, j) if self.D.constant[i, j] else ("", ())

    def _no_mass(self, i: int, j: int) -> Reason:
        slides = self.trunk.slides[i] + self.trunk.slides[j]
        if self._apart(i, j):
            return BRANCHES, ()
        if self._bare(i, j):
            return "the links that both joints move have no inertia", ()
        if self.always_D.zero[i, j]:
            if slides == 2:
                return f"both slide, along axes that are always perpendicular, {WHATEVER}", ()
            return f"one slides parallel to the axis the other turns about, {WHATEVER}", ()
        missing, angle = self._named(self.D_wakes[i, j]), self._angle(i, j)
        if not missing:
            return f"{angle}, and more than one inertial parameter that would couple is zero", ()
        return f"{angle}; {_but(missing, 'would couple the joints')}", missing

    def _constant_mass(self, i: int, j: int) -> Reason:
        own, slides = i == j, self.trunk.slides[i] + self.trunk.slides[j]
        if self.always_D.constant[i, j]:
            if own and slides:
                return f"a joint that slides feels the mass it moves, {WHATEVER}", ()
            if own and not self.trunk.beyond(i):
                return f"no joint beyond it moves the inertia about its axis, {WHATEVER}", ()
            if own:
                return f"the joints beyond leave the inertia about its axis alone, {WHATEVER}", ()
            both = "both slide, " if slides == 2 else ""
            return f"{both}{self._angle(i, j)}, {WHATEVER}", ()
        if self._bare(i, j):
            return "its rotor alone: the links it moves have no inertia", ()
        return self._balance(self.D_stirs[i, j], "would make it vary")

    # velocities

    def velocity(self, i: int, k: int, m: int) -> Reason:
        """Why h_ikm is zero or constant; nothing where it varies."""
        D, zero = self.D.on, self.h.zero[i, k, m]
        if not self.h.constant[i, k, m]:
            return "", ()
        held = self.always_h.zero if zero else self.always_h.constant
        how = WHATEVER if held[i, k, m] else THESE
        if not zero:
            return f"the derivatives of D it is made of are constant, {how}", ()
        if any(self._apart(a, b) for a, b in ((i, k), (i, m), (k, m))):
            return BRANCHES, ()
        if i == k == m:
            text = "h_iii = ½ ∂D_ii/∂q_i, and no joint changes the inertia about itself"
        elif i in (k, m):
            text = "h_iki = ½ ∂D_ii/∂q_k, and D_ii does not depend on q_k"
        elif not (D[i, k, m] or D[i, m, k] or D[k, m, i]):
            text = "D_ik does not depend on q_m, D_im not on q_k, D_km not on q_i"
        else:
            text = "the derivatives of D it is made of cancel"
        return f"{text}, {how}", ()

    # gravity

    def weight(self, i: int) -> Reason:
        """Why g_i is zero or constant; nothing where it varies."""
        if not self.g.constant[i]:
            return "", ()
        slides, level, upright = self.trunk.slides[i], self.axes.level[i], self.axes.upright[i]
        if self.g.zero[i]:
            if level and upright:
                return "there is no gravity", ()
            if upright and not slides and self.always_g.zero[i]:
                return f"its axis is always vertical, {WHATEVER}", ()
            if level and slides:
                return f"it slides along an axis that is always horizontal, {WHATEVER}", ()
            if self._bare(i, i):
                return "the links it moves have no inertia", ()
            return self._balance(self.g_wakes[i], "would load it")
        if self.always_g.constant[i]:
            way = "straight up or down" if upright else "at a constant angle to gravity"
            return f"it slides {way}, {WHATEVER}", ()
        return self._balance(self.g_stirs[i], "would make it vary")

    # what they share

    def _balance(self, which: Array, effect: str) -> Reason:
        """That the parameters which would have an effect are zero."""
        missing = self._named(which)
        if not missing:
            return f"{THESE}: more than one parameter that {effect} is zero", ()
        return f"{THESE}: {_but(missing, effect)}", missing

    def _apart(self, i: int, j: int) -> bool:
        return i not in self.trunk.paths[j] and j not in self.trunk.paths[i]

    def _bare(self, i: int, j: int) -> bool:
        """Whether no link that both joints move has any inertia."""
        outer = i if j in self.trunk.paths[i] else j
        moved = {outer, *self.trunk.beyond(outer)}
        inertial, numbers = self.trunk.inertial, self.trunk.numbers
        return not any(numbers[name] for name, link in inertial.items() if link in moved)

    def _angle(self, i: int, j: int) -> str:
        if self.axes.perpendicular[i, j]:
            return "axes always perpendicular"
        if self.axes.parallel[i, j]:
            return "axes always parallel"
        if self.axes.constant[i, j]:
            return "axes always at the same angle"
        return "axes at an angle that changes"

    def _named(self, which: Array) -> tuple[str, ...]:
        return tuple(self.absent[k] for k in np.flatnonzero(which))


def _but(names: Sequence[str], effect: str) -> str:
    """That each of the parameters would have an effect, but is zero."""
    if len(names) == 1:
        return f"{names[0]} {effect}, but is zero"
    more = len(names) - MOST_LISTED
    last = f"{more} more" if more > 1 else names[-1]
    shown = names[:MOST_LISTED] if more > 1 else names[:-1]
    return f"any of {', '.join(shown)} and {last} {effect}, but they are zero"
