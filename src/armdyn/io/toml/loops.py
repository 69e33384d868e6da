"""The loops of a robot file: [[loops]], [assembly], and joints that are not actuated."""

from armdyn.arrays import Array
from armdyn.errors import ModelError, UnknownNameError
from armdyn.io.toml.table import PLACEMENT, Table
from armdyn.model import Loop, RobotModel
from armdyn.model.cut_joints import COUPLING, CUT_JOINTS, cut_joint
from armdyn.model.edit import coupling_between, loop_between, with_loops
from armdyn.model.joint_types import COMPOUND_TYPES

LOOP = ("name", "type", "a", "b", "length")
COUPLED = ("name", "type", "follower", "leader", "coefficients")


def closed_by_tables(model: RobotModel, top: Table) -> RobotModel:
    """The tree with the loops that its file has."""
    loops = [_loop(model, t) for t in top.tables("loops")]
    passive = [name for t in top.tables("joint") for name in _passive(t)]
    given = top.table("assembly")
    if given is not None and not loops:
        raise given.error("there are no [[loops]] to assemble; leave it out")
    if not loops and not passive:
        return model
    assembly = {} if given is None else {name: given.number(name) for name in given.data}
    return with_loops(model, loops, passive, assembly)


def _passive(t: Table) -> list[str]:
    """Names of the simple joints of a table that has actuated = false."""
    if t.flag("actuated", True):
        return []
    compound = COMPOUND_TYPES.get(t.text("type")) if "type" in t.data else None  # DH: a joint
    if compound is None:
        return [t.text("name")]
    return [f"{t.text('name')}_{ending}" for ending, _, _ in compound.parts]


def _loop(model: RobotModel, t: Table) -> Loop:
    name, kind = t.text("name"), t.text("type")
    if kind == COUPLING.name:
        return _coupling(model, t)
    t.check_keys(LOOP)
    if kind not in CUT_JOINTS:
        raise t.error(str(UnknownNameError("cut joint of type", kind, CUT_JOINTS)))
    try:
        ends = _end(t, "a"), _end(t, "b")
        return loop_between(model, name, cut_joint(kind), *ends, t.number("length", 0.0))
    except (ModelError, UnknownNameError) as fault:
        raise t.error(str(fault)) from fault


def _coupling(model: RobotModel, t: Table) -> Loop:
    t.check_keys(COUPLED)
    ends = t.text("follower"), t.text("leader")
    given = t.numbers("coefficients")
    try:
        loop = coupling_between(model, t.text("name"), *ends, given)
    except UnknownNameError as fault:
        raise t.error(str(fault)) from fault
    if loop.fault:
        raise t.error(f"{loop.where}: {loop.fault}")
    return loop


def _end(t: Table, key: str) -> tuple[str, Array]:
    """The link of an end and the place of its frame there."""
    end = t.table(key)
    if end is None:
        raise t.error(
            f"the end {key!r} is missing; expected a link and a place on it, as "
            f'{key} = {{ link = "coupler", position = [0.6, 0.0, 0.0] }}'
        )
    end.check_keys(("link", *PLACEMENT))
    return end.text("link"), end.placement()
