"""Many steps of many arms in machine code, on several threads."""

import ctypes
import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from armdyn.arrays import Array, record
from armdyn.kernels.build import machine_code
from armdyn.kernels.cache import ObjectCache
from armdyn.kernels.llvm.backend import LlvmTarget
from armdyn.kernels.llvm.rollout_loop import JOB
from armdyn.kernels.llvm.target import Target
from armdyn.kernels.threads import threads, together
from armdyn.model import RobotModel
from armdyn.quantities.steps import StepRequest

BLOCK = 64
"""Arms whose rows stay in the first caches."""
NEVER = 2**62
_rollout_loop: Any = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@record
class StepInput:
    """An argument of all steps of all arms: rows by arm and time."""

    rows: Array
    """(arms, times, size); one arm stands for all of them, one time for always."""
    ahead: int = 0
    """The row of the first step."""
    pace: int = 0
    """Rows from one step to the next."""

    def __post_init__(self) -> None:
        if self.rows.dtype != np.float64 or self.rows.strides[-1] != 8:
            raise TypeError("the numbers of a row must be doubles that follow each other")

    @property
    def stride(self) -> int:
        """Bytes from one arm to the next."""
        return self.rows.strides[0] if len(self.rows) > 1 else 0

    @property
    def advance(self) -> int:
        """Bytes from one step to the next."""
        return self.pace * self.rows.strides[1] if self.rows.shape[1] > 1 else 0

    def address(self, arm: int, step: int) -> int:
        """Of the row of an arm at a step."""
        ahead = self.ahead * self.rows.strides[1] if self.rows.shape[1] > 1 else 0
        return self.rows.ctypes.data + arm * self.stride + ahead + step * self.advance


@dataclass(slots=True)
class Run:
    """Arms under way."""

    state: Array
    """The rows, (arms, width), which advance."""
    tracks: list[StepInput]
    """The other arguments of the step."""
    positions: Array
    """Records, (arms, records, n)."""
    rates: Array
    every: int
    """Steps from one record to the next."""
    limit: float
    """Of √(|q|² + |q̇|²)."""
    done: int = 0
    """Steps taken."""
    corrections: Array = field(init=False)
    """The largest of each arm, (arms,)."""

    def __post_init__(self) -> None:
        self.corrections = np.zeros(len(self.state))


class Stepper:
    """A step of an integrator for one robot, as machine code that goes on by itself."""

    def __init__(
        self, model: RobotModel, request: StepRequest, target: Target, cache: ObjectCache | None
    ):
        self._built = machine_code(model, request, LlvmTarget(target), cache)
        self._rollout_loop = _rollout_loop(self._built.code["rollout_loop"])

    def advance(self, run: Run, count: int, block: int = BLOCK) -> tuple[int, int] | None:
        """Take steps, all arms on as many threads as are set; arms have the same bits with any.

        Returns:
            The arm that was first out of bounds and after how many steps in all, or None.
        """
        arms = len(run.state)
        if not arms:
            run.done += count
            return None
        blocks = math.ceil(arms / block)
        pieces = min(threads(), blocks)
        bounds = [block * (blocks * k // pieces) for k in range(pieces)] + [arms]
        found: list[tuple[int, int]] = []

        def piece(first: int, last: int) -> None:
            step, arm = self._piece(run, first, last, count, block)
            if step != NEVER:
                found.append((run.done + step + 1, first + arm))

        together(piece, bounds)
        run.done += count
        if not found:
            return None
        step, arm = min(found)
        return arm, step

    def _piece(self, run: Run, first: int, last: int, count: int, block: int) -> tuple[int, int]:
        state = StepInput(run.state[:, None])
        tracks = [state, *run.tracks, state]
        args = np.array([track.address(first, run.done) for track in tracks])
        steps = np.array([track.stride for track in tracks] + [8] * len(tracks))
        steps[[0, len(tracks) - 1]] = run.state.strides[0]
        advance = np.array([track.advance for track in tracks])
        recorded = run.done // run.every + 1
        records = [a[first:, recorded:].ctypes.data for a in (run.positions, run.rates)]
        words = {
            "args": args.ctypes.data,
            "steps": steps.ctypes.data,
            "advance": advance.ctypes.data,
            "arms": last - first,
            "most": block,
            "count": count,
            "every": run.every,
            "wait": run.every - run.done % run.every,
            "positions": records[0],
            "rates": records[1],
            "distance": run.positions.strides[0],
            "limit": int(np.array(run.limit * run.limit).view(np.int64)),
            "corrections": run.corrections[first:].ctypes.data,
            "bad_step": NEVER,
            "bad_arm": -1,
        }
        job = np.array([words[name] for name in JOB])
        self._rollout_loop(job.ctypes.data)
        return int(job[-2]), int(job[-1])


def stepper(
    model: RobotModel, request: StepRequest, arms: int, cache: ObjectCache | None = None
) -> Stepper:
    """The stepper for so many arms; those used last stay in memory."""
    host = Target.host()
    few = arms <= host.narrow.lanes("float64")
    return _stepper(model, request, host.narrow if few else host, cache)


_stepper = lru_cache(maxsize=16)(Stepper)
