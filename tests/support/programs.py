"""Robots whose programs are evaluated in NumPy: made once for a whole run, and never compiled."""

import os
import pickle
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np

from armdyn import Robot
from armdyn.graph.program import Program
from armdyn.model import RobotModel
from armdyn.quantities.program import quantity_program
from armdyn.quantities.request import Request


@lru_cache(maxsize=512)
def kept_program(model: RobotModel, request: Request) -> Program:
    """The program of a quantity, kept on disk for all workers of the run."""
    key = sha256(f"{model.digest} {request}".encode()).hexdigest()
    path = Path(os.environ["ARMDYN_CACHE_DIR"], "tests", key)
    if path.exists():
        return pickle.loads(path.read_bytes())
    program = replace(quantity_program(model, request), split=None)  # a closure cannot be kept
    path.parent.mkdir(exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(pickle.dumps(program))
    os.replace(file.name, path)
    return program


class Evaluated:
    """A program in the place of a kernel."""

    def __init__(self, program: Program):
        self.program = program
        self.inputs = {array.name: array.size for array in program.inputs}
        self.shape = program.shape

    @property
    def call(self):
        return self

    def __call__(self, *arrays):
        with np.errstate(all="ignore"):
            return self.program(*arrays)


class EvaluatedRobot(Robot):
    """A robot whose every quantity is its program, evaluated by the table of operations."""

    def _kernel(self, request, dtype="float64"):
        return Evaluated(kept_program(self.model, request))
