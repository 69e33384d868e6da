"""armdyn: the dynamics compiler for robot arms.

    import armdyn
    robot = armdyn.load("panda")          # from the catalog, or a .urdf, .xml (MJCF) or .toml file
    robot.inverse_dynamics(q, qd, qdd)    # joint torques [N m or N]; see help(armdyn.Robot)

robots                  the names of the robots that come with armdyn
load, from_dh           a Robot from a description, or from a Denavit-Hartenberg table
Robot, Ledger           an arm and its quantities; a torque split into its terms
BaseMotion              how the base of an arm moves
FreeBase, BaseState     an arm on a base that nothing holds; the pose and twist of this base
Inertia                 mass properties of bodies: shapes, meshes, sums and holes
simulate, simulation    motion from torques; trajectories and controllers
equations               the equations of motion, for people
simplify                arms with simpler dynamics
spring_balance          springs that carry the weight of an arm
terms, Workspace        which terms of the torques matter, along a motion or over random states
motors, size            what a motion asks of the motors; motors and gears chosen from a list
worst_case              which position, speed and payload ask most of which motor
reduced                 the approximate model within a stated error
rank                    several arms on one task
sweep, Grid, Random, Sobol   a quantity over more states than memory holds
excite                  the motion that shows the parameters of an arm best
identify                the parameters of an arm from logs of its motion
identify_friction, identify_payload, identify_gravity, identify_drive_gains, update_model
                        the same for parts of it, or with little data
Observer                what the environment does to an arm: external torques, wrench, contact
compare                 the torques of other libraries for the same file
count_operations        how many operations a quantity takes
set_threads             threads for large batches
errors                  every error and warning
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from armdyn import errors as errors
from armdyn.forks import IMPORTING, imported
from armdyn.formulations.ledger import Ledger as Ledger
from armdyn.loading import from_dh as from_dh
from armdyn.loading import load as load
from armdyn.loading import robots as robots
from armdyn.model.base_motion import BaseMotion as BaseMotion
from armdyn.model.inertia import Inertia as Inertia
from armdyn.robot import Robot as Robot
from armdyn.version import __version__ as __version__

if TYPE_CHECKING:
    from armdyn import simulation as simulation
    from armdyn.closed_forms.forms import equations as equations
    from armdyn.identification.excitation.excite import excite as excite
    from armdyn.identification.identify import identify as identify
    from armdyn.identification.identify import identify_friction as identify_friction
    from armdyn.identification.identify import identify_gravity as identify_gravity
    from armdyn.identification.identify import update_model as update_model
    from armdyn.identification.observer import Observer as Observer
    from armdyn.identification.payload import identify_drive_gains as identify_drive_gains
    from armdyn.identification.payload import identify_payload as identify_payload
    from armdyn.kernels.threads import set_threads as set_threads
    from armdyn.mechanics.base_state import BaseState as BaseState
    from armdyn.mechanics.free_base import FreeBase as FreeBase
    from armdyn.simulation.simulator import simulate as simulate
    from armdyn.study.check.check import check as check
    from armdyn.study.compare.compare import compare as compare
    from armdyn.study.operations.count import count_operations as count_operations
    from armdyn.study.simplify.simplify import simplify as simplify
    from armdyn.study.simplify.springs import spring_balance as spring_balance
    from armdyn.study.sizing.motors import motors as motors
    from armdyn.study.sizing.size import size as size
    from armdyn.study.sizing.worst_case import worst_case as worst_case
    from armdyn.study.states import Workspace as Workspace
    from armdyn.study.terms.rank import rank as rank
    from armdyn.study.terms.reduced import reduced as reduced
    from armdyn.study.terms.terms import terms as terms
    from armdyn.sweeping.grid import Grid as Grid
    from armdyn.sweeping.samples import Random as Random
    from armdyn.sweeping.samples import Sobol as Sobol
    from armdyn.sweeping.sweep import sweep as sweep

_MODULES = {
    "BaseState": "armdyn.mechanics.base_state",
    "FreeBase": "armdyn.mechanics.free_base",
    "Grid": "armdyn.sweeping.grid",
    "Observer": "armdyn.identification.observer",
    "Random": "armdyn.sweeping.samples",
    "Sobol": "armdyn.sweeping.samples",
    "Workspace": "armdyn.study.states",
    "check": "armdyn.study.check.check",
    "compare": "armdyn.study.compare.compare",
    "count_operations": "armdyn.study.operations.count",
    "equations": "armdyn.closed_forms.forms",
    "excite": "armdyn.identification.excitation.excite",
    "identify": "armdyn.identification.identify",
    "identify_drive_gains": "armdyn.identification.payload",
    "identify_friction": "armdyn.identification.identify",
    "identify_gravity": "armdyn.identification.identify",
    "identify_payload": "armdyn.identification.payload",
    "motors": "armdyn.study.sizing.motors",
    "rank": "armdyn.study.terms.rank",
    "reduced": "armdyn.study.terms.reduced",
    "set_threads": "armdyn.kernels.threads",
    "simplify": "armdyn.study.simplify.simplify",
    "simulate": "armdyn.simulation.simulator",
    "size": "armdyn.study.sizing.size",
    "worst_case": "armdyn.study.sizing.worst_case",
    "spring_balance": "armdyn.study.simplify.springs",
    "sweep": "armdyn.sweeping.sweep",
    "terms": "armdyn.study.terms.terms",
    "update_model": "armdyn.identification.identify",
}
"""For each name that is imported on first use, its module."""

__all__ = [  # noqa: PLE0604
    "BaseMotion",
    "Inertia",
    "Ledger",
    "Robot",
    "errors",
    "from_dh",
    "load",
    "robots",
    "simulation",
    *_MODULES,
]


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return imported(f"{_MODULES[name]}:{name}")
    if name == "simulation":
        with IMPORTING:
            return import_module("armdyn.simulation")
    raise AttributeError(f"module 'armdyn' has no attribute {name!r}")
