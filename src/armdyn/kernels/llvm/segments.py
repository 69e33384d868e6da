"""A program as a processor takes it: fused multiply-adds, sines and cosines at once, segments.

Values keep the numbers that they have in the program. A long block of code waits for its own
results and spills registers. So a long program is cut where few values are alive, which get places
in memory, and each segment runs over several vectors of states before the next one begins.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TypeVar

import numpy as np

from armdyn.graph.linearize import delay, schedule, tighten
from armdyn.graph.operations import TRIG
from armdyn.graph.program import Program
from armdyn.kernels.llvm.fuse import FUSED, Definitions, fuse
from armdyn.kernels.llvm.target import Target
from armdyn.thresholds import MOST_REORDERED

Operation = tuple[int, str, tuple[int, ...]]
"""Value, operation and operands."""

Angles = tuple[tuple[int, int, int], ...]
"""For each angle its value, its sine and its cosine; -1 where one of these is not used."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Operations, and the angles that are turned into sines and cosines after them."""

    operations: tuple[Operation, ...]
    angles: Angles


Layers = tuple[Layer, ...]
"""The values of a program. The angles of a layer are computed from inputs and the layers before,
then the sines and cosines of all of them at once; the last layer has no angles."""


def lower(program: Program, fma: bool, *, split: bool = True) -> Layers:
    """The program in layers, its operations output by output.

    With fused multiply-adds, sums may be split where some of their terms come late (`fuse`).
    """
    first = len(program.symbols) + len(program.constants)
    definitions = {first + i: (op.op, op.args) for i, op in enumerate(program.instructions)}
    if fma:
        definitions = fuse(definitions, program.outputs, split)
    waiting = {value: args for value, (_, args) in definitions.items()}
    layers = []
    for turned in [*_turned(definitions), {}]:
        angles = tuple((a, made.get("sin", -1), made.get("cos", -1)) for a, made in turned.items())
        order = schedule(list(turned) or program.outputs, waiting)
        layers.append(Layer(_tightened([(v, *definitions[v]) for v in order]), angles))
        for value in (*order, *(v for made in turned.values() for v in made.values())):
            del waiting[value]
    return tuple(layers)


def hastened(lowered: Layers) -> Layers:
    """The same with each operation as early as it can be where that costs no more values."""
    level: dict[int, int] = {}
    layers = []
    for layer in lowered:
        for value, _, args in layer.operations:
            level[value] = 1 + max(level.get(a, 0) for a in args)
        for angle, *made in layer.angles:
            level |= dict.fromkeys(made, 1 + level.get(angle, 0))
        by_level = sorted(layer.operations, key=lambda operation: level[operation[0]])
        layers.append(replace(layer, operations=_tightened(by_level)))
    return tuple(layers)


def _tightened(operations: list[Operation]) -> tuple[Operation, ...]:
    """The operations in an order near the given one in which few values are alive."""
    by_value = {operation[0]: operation for operation in operations}
    operands = {value: args for value, _, args in operations}
    return tuple(by_value[v] for v in delay(tighten(list(operands), operands), operands))


def _turned(definitions: Definitions) -> list[dict[int, dict[str, int]]]:
    """For each layer its angles with their sines and cosines."""
    depth: dict[int, int] = {}
    layers: list[dict[int, dict[str, int]]] = []
    for value, (op, args) in definitions.items():
        depth[value] = max(depth.get(a, 0) for a in args)
        if op in TRIG:
            if depth[value] == len(layers):
                layers.append({})
            layers[depth[value]].setdefault(args[0], {})[op] = value
            depth[value] += 1
    return layers


LENGTHS = 200, 400
"""Fewest and most operations in a segment."""
USUAL_REGISTERS = 16
"""Registers that sums are split for."""
TEMPORARY = 4
"""Registers that values do not stay in: constants and results on their way need some."""
WORTH_ANOTHER_WAY = 0.95
"""Part of the stores at which a way is taken that has longer chains of dependent operations."""
_PLAIN = {"add", "sub", "mul", "neg", "angle_sum", *FUSED}
"""Operations that are one instruction, and harmless on zeros."""
_Key = TypeVar("_Key")


Columns = tuple[int, tuple[int, ...]]
"""The first of some columns of the results, and the values of all of them."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Straight-line operations on values loaded from slots, some of which are stored in slots."""

    operations: tuple[Operation, ...]
    loads: dict[int, int]
    """Slot of each value that comes from memory."""
    stores: dict[int, int]
    """Slot of each value that goes to memory."""
    results: tuple[Columns, ...] = ()
    """Results that it writes into their rows."""

    @property
    def adds_angles(self) -> bool:
        """Whether one of the operations is a sum of angles."""
        return any(op == "angle_sum" for _, op, _ in self.operations)


@dataclass(frozen=True, slots=True)
class SineCosine:
    """Sines and cosines of angles that lie in consecutive slots."""

    angles: int
    """First slot of the angles."""
    sines: int
    cosines: int
    count: int
    wanted: frozenset[int]
    """Slots of sines and cosines that somebody reads."""


@dataclass(slots=True)
class Plan:
    """Segments, sines and cosines in order, and where the outputs are at the end."""

    steps: list[Segment | SineCosine] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    """Slot of each output, unless segments write them into rows."""
    slots: int = 0
    """Slots in all; the inputs are in the first ones, in order."""
    ahead: int = 0
    """Steps at the beginning that can be done for other states while these go on: the first sines
    and cosines, and the sums of angles before. They leave the inputs where they are."""

    def stores(self, registers: int) -> int:
        """How many vectors are stored, with an estimate of those that registers have no room for.

        A store delays arithmetic more than anything else that is not arithmetic.
        """
        count = 0
        room = registers - TEMPORARY
        for step in self.steps:
            if isinstance(step, Segment):
                excess = [max(0, alive - room) for alive in _alive(step.operations, set())]
                count += len(step.stores)
                count += sum(max(0, b - a) for a, b in pairwise([0, *excess]))
        return count


def best_plan(
    program: Program,
    target: Target,
    lengths: tuple[int, int] = LENGTHS,
    group: int = 0,
    blocks: bool = False,
) -> Plan:
    """The plan with the fewest stores of some.

    Whether sums are split is decided for one number of registers, because it changes the rounding;
    the order of operations, which does not, is decided for those of the processor. Arguments are
    as in `Planner`.
    """
    orders = _orders(program, target.fma)
    found = [Planner(program, group, blocks).plan(order, lengths) for order in orders]
    return found[_fewest({k: p.stores(target.registers) for k, p in enumerate(found)})]


@lru_cache(maxsize=1)  # a program is compiled for one state, then for batches
def _orders(program: Program, fma: bool) -> tuple[Layers, ...]:
    """The ways that a plan is chosen from, all with the same rounding."""
    if len(program.instructions) > MOST_REORDERED.value:
        return (hastened(lower(program, fma)),)
    ways = {split: lower(program, fma, split=split) for split in (True, False)}
    plans = {split: Planner(program).plan(way) for split, way in ways.items()}
    chosen = ways[_fewest({split: plan.stores(USUAL_REGISTERS) for split, plan in plans.items()})]
    return hastened(chosen), chosen


def _fewest(stores: Mapping[_Key, int]) -> _Key:
    """The first way to do something, or the one that has much fewer stores."""
    first = next(iter(stores))
    best = min(stores, key=stores.__getitem__)
    return best if stores[best] < WORTH_ANOTHER_WAY * stores[first] else first


def groups(columns: int, size: int) -> list[int]:
    """The first columns of groups of a size, the last of which may overlap the one before."""
    return [min(column, columns - size) for column in range(0, columns, size)]


class Planner:
    """Gives every value that outlives its piece a slot, and slots that are free again to others.

    Results are written into rows, so many columns at a time (`group`); or they stay in slots (0),
    and so do inputs. With `blocks` the slots of inputs stand for where they lie in memory.
    """

    def __init__(self, program: Program, group: int = 0, blocks: bool = False):
        self.program = program
        self.blocks = blocks
        self.inputs = len(self.program.symbols)
        self.constants = range(self.inputs, self.inputs + len(self.program.constants))
        self.group = min(group, len(program.outputs))
        self.slot: dict[int, int] = {i: i for i in range(self.inputs)}
        self.free: list[int] = []
        self.slots = self.inputs
        self.last: dict[int, int] = {}

    def plan(self, lowered: Layers, lengths: tuple[int, int] = LENGTHS) -> Plan:
        """Where to cut the layers of the program, and what is where."""
        pieces: list[Layer] = []  # of operations, or of angles
        for layer in lowered:
            cut = _cut(layer.operations, set(self.program.outputs), *lengths)
            pieces += [Layer(operations, ()) for operations in cut]
            pieces += [Layer((), layer.angles)] if layer.angles else []
        self.ahead = _independent(pieces)
        if self.group and not (pieces[self.ahead :] and _is_straight(pieces[-1])):
            pieces.append(Layer((), ()))
        for place, piece in enumerate(pieces):  # after its last use a value has no slot any more
            for _, _, args in piece.operations:
                self.last |= dict.fromkeys(args, place)
            self.last |= dict.fromkeys((angle for angle, _, _ in piece.angles), place)
        results = self._results(pieces) if self.group else {}
        if not self.group:
            self.last |= dict.fromkeys(self.program.outputs, len(pieces))
        result = Plan()
        for place, piece in enumerate(pieces):
            if piece.angles:
                result.steps += self._sine_cosine(piece.angles, place)
            else:
                result.steps.append(
                    self._segment(piece.operations, place, tuple(results.get(place, ())))
                )
            if place + 1 == self.ahead:
                result.ahead = len(result.steps)
        if self.group:
            result.slots = self.slots
            return result
        constant = sorted({k for k in self.program.outputs if k in self.constants})
        if constant:
            result.steps.append(Segment((), {}, {k: self._take(k) for k in constant}))
        result.outputs = [self.slot[k] for k in self.program.outputs]
        result.slots = self.slots
        return result

    def _results(self, pieces: list[Layer]) -> dict[int, list[Columns]]:
        """The groups of results by the piece that writes them, which makes the last value."""
        made = {value: k for k, piece in enumerate(pieces) for value, _, _ in piece.operations}
        made |= {v: k for k, piece in enumerate(pieces) for row in piece.angles for v in row[1:]}
        segments = [k for k in range(self.ahead, len(pieces)) if _is_straight(pieces[k])]
        found: dict[int, list[Columns]] = {}
        for column in groups(len(self.program.outputs), self.group):
            values = self.program.outputs[column : column + self.group]
            ready = max(made.get(value, 0) for value in values)
            place = next(k for k in segments if k >= ready)
            found.setdefault(place, []).append((column, values))
            for value in values:
                self.last[value] = max(place, self.last.get(value, 0))
        return found

    def _segment(
        self,
        operations: tuple[Operation, ...],
        place: int,
        results: tuple[Columns, ...],
    ) -> Segment:
        made = [value for value, _, _ in operations]
        read = {a for _, _, args in operations for a in args if a not in self.constants}
        read.update(a for _, values in results for a in values if a not in self.constants)
        read.difference_update(made)
        loads = {a: self.slot[a] for a in sorted(read)}
        self._release(read, place)
        kept = [value for value in made if self.last.get(value, -1) > place]
        return Segment(operations, loads, {value: self._take(value) for value in kept}, results)

    def _sine_cosine(self, angles: Angles, place: int) -> list[Segment | SineCosine]:
        """The angles brought side by side, if they are not yet; then their sines and cosines."""
        count = len(angles)
        start = self.slot.get(angles[0][0], -1)
        steps: list[Segment | SineCosine] = []
        elsewhere = self.blocks and start < self.inputs
        slots = [self.slot.get(a, -1) for a, _, _ in angles]
        if elsewhere or slots != list(range(start, start + count)):
            start = self.slots
            self.slots = self.slots + count
            loads = {a: self.slot[a] for a, _, _ in angles if a in self.slot}
            steps.append(Segment((), loads, {a: start + i for i, (a, _, _) in enumerate(angles)}))
        sines = self.slots
        self.slots = self.slots + 2 * count
        for i, (_, sine, cosine) in enumerate(angles):
            self.slot |= {sine: sines + i, cosine: sines + count + i}
        self.slot.pop(-1, None)
        wanted = frozenset(self.slot[v] for _, *made in angles for v in made if v >= 0)
        self._release({a for a, _, _ in angles}, place)
        steps.append(SineCosine(start, sines, sines + count, count, wanted))
        return steps

    def _take(self, value: int) -> int:
        if not self.free:
            self.free = [self.slots]
            self.slots = self.slots + 1
        self.slot[value] = self.free.pop()
        return self.slot[value]

    def _release(self, values: set[int], place: int) -> None:
        """Free the slots of values that nobody reads any more."""
        stay = self.blocks or not self.group or place < self.ahead
        for value in sorted(v for v in values if v >= self.inputs or not stay):
            if self.last.get(value, -1) <= place and value in self.slot:
                self.free.append(self.slot[value])


def _independent(pieces: list[Layer]) -> int:
    """Pieces up to the first angles, if nothing before them is costly; otherwise none."""
    first = next((k + 1 for k, piece in enumerate(pieces) if piece.angles), 0)
    plain = all(op in _PLAIN for piece in pieces[:first] for _, op, _ in piece.operations)
    return first if plain else 0


def _is_straight(piece: Layer) -> bool:
    return not piece.angles and all(op != "angle_sum" for _, op, _ in piece.operations)


def _cut(
    operations: tuple[Operation, ...], kept: set[int], shortest: int, longest: int
) -> list[tuple[Operation, ...]]:
    """The operations in pieces, so that the values alive at all cuts together are fewest.

    Only the last piece may be shorter than the shortest.
    """
    count = len(operations)
    if count <= longest:
        return [operations] if operations else []
    cost = np.full(count + 1, np.inf)
    cost[0] = 0.0
    before = np.zeros(count + 1, dtype=int)
    alive = [*_alive(operations, kept)[:count], 0]
    for end in range(min(shortest, count), count + 1):
        first = max(0, end - longest)
        last = end - 1 if end == count else end - shortest
        before[end] = first + int(cost[first : last + 1].argmin())
        cost[end] = cost[before[end]] + alive[end]
    ends = [count]
    while ends[-1] > 0:
        ends.append(int(before[ends[-1]]))
    return [operations[a:b] for a, b in pairwise(reversed(ends))]


def _alive(operations: tuple[Operation, ...], kept: set[int]) -> list[int]:
    """Before each operation, how many values made so far are used later."""
    last: dict[int, int] = {}
    for place, (value, _, args) in enumerate(operations):
        last[value] = len(operations) if value in kept else place
        for a in args:
            if last.get(a, place) < place:
                last[a] = place
    change = [0] * (len(operations) + 2)
    for place, (value, _, _) in enumerate(operations):
        change[place + 1] += 1
        change[last[value] + 1] -= 1
    return list(accumulate(change[: len(operations) + 1]))
