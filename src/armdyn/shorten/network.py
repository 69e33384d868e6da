"""A network: a graph whose nodes can be given other definitions of the same value.

A cell keeps its value for ever; what changes is how it is computed. Operands are literals, twice
the index of a cell plus one if its value is negated, because signs are free. Values are known by
their residues at two points of two finite fields; cells equal at both, up to sign, are one cell.
"""

from collections.abc import Iterator, Sequence

from armdyn.errors import GraphError
from armdyn.graph.field import OTHER_PRIME, PRIME, FiniteField, residue
from armdyn.graph.nodes import Graph, Node
from armdyn.graph.visit import inside_angles, reachable

Definition = tuple[str, tuple[int, ...]]
"""How a cell is computed: an operation and the literals it is applied to."""

COUNTED = ("add", "mul")
"""Operations that make up the total; the others are never created here."""

POINTS = (1, PRIME), (2, OTHER_PRIME)
"""Seeds and primes of the two points at which residues are known."""

ZERO, ONE = 0, 1
"""The cells of the numbers 0 and 1."""


class Network:
    """The cells that a list of outputs needs, with their uses counted."""

    def __init__(self, outputs: Sequence[Node], extra: Sequence[Node] = ()):
        self.graph: Graph = outputs[0].graph
        self.definition: list[Definition] = []
        self.first: list[int] = []
        """Residue of each cell at the first point."""
        self.second: list[int] = []
        """Residue of each cell at the second point."""
        self.operands: list[tuple[int, ...]] = []
        """The cells that each definition uses."""
        self.price: list[int] = []
        """1 for cells that are computed by an addition or a multiplication, 0 for the others."""
        self.rank: list[int] = []
        """A number for each cell that is larger than those of its operands."""
        self._users: list[list[int]] = []
        self.uses: list[int] = []
        """How many live cells and outputs use a cell; it is computed only if there are any."""
        self.leaf: dict[int, Node] = {}
        """The node of each cell that is not computed here: symbols and constants."""
        self.angle: set[int] = set()
        """Cells inside the argument of a sine or cosine: these keep their definition."""
        self._known: dict[int, int] = {}
        self._literal: dict[int, int] = {}
        self._read([*outputs, *extra], own={node.index for node in extra})
        self.outputs = [self._literal[node.index] for node in outputs]
        self.extra = [self._literal[node.index] for node in extra]
        """Literals of nodes that are not needed, but could be used."""
        for literal in self.outputs:
            self.uses[literal >> 1] += 1
            if self.uses[literal >> 1] == 1:
                self._count(literal >> 1, 1)

    # reading and writing graphs

    def _read(self, outputs: Sequence[Node], own: set[int]) -> None:
        nodes, inside = reachable(outputs), inside_angles(outputs)
        at = [FiniteField(*point).residues(nodes, inside) for point in POINTS]
        own |= inside
        literal = self._literal
        for value in (ZERO, ONE):
            self.leaf[self._append(("leaf", ()), value, value)] = self.graph.number(value)
        for node in nodes:
            i = node.index
            if node.op == "neg" and not node.constant:
                literal[i] = literal[node.args[0].index] ^ 1
                continue
            found = self.find(at[0][i], at[1][i])
            if found is not None and i not in own:
                literal[i] = found
                continue
            is_leaf = node.constant or not node.args
            op = "leaf" if is_leaf else node.op
            literals = () if is_leaf else tuple(literal[a.index] for a in node.args)
            if op == "sub":
                op, literals = "add", (literals[0], literals[1] ^ 1)  # a - b = a + (-b)
            cell = self._append((op, literals), at[0][i], at[1][i])
            literal[i] = 2 * cell
            if is_leaf:
                self.leaf[cell] = node
            if i in inside:
                self.angle.add(cell)

    def cell(self, node: Node) -> int:
        """The cell of a node that was read."""
        return self._literal[node.index] >> 1

    def nodes(self) -> list[Node]:
        """The outputs as nodes of the graph they came from."""
        made: dict[int, Node] = {}

        def signed(literals: Sequence[int]) -> list[Node]:
            return [-made[k >> 1] if k & 1 else made[k >> 1] for k in literals]

        for cell in self.order():
            op, literals = self.definition[cell]
            made[cell] = self.leaf[cell] if op == "leaf" else self.graph.apply(op, signed(literals))
        return signed(self.outputs)

    # cells

    def find(self, first: int, second: int) -> int | None:
        """The literal that has these residues at the two points."""
        cell = self._known.get(min(first, PRIME - first))
        if cell is None:
            return None
        negated = first != self.first[cell]
        expected = -self.second[cell] % OTHER_PRIME if negated else self.second[cell]
        return 2 * cell + negated if second == expected else None

    def constant(self, op: str, x: int, y: int) -> int:
        """The cell of an operation on two cells that are constants."""
        first, second = self.residues(op, (2 * x, 2 * y))
        found = self.find(first, second)
        if found is not None:
            return found >> 1
        cell = self._append(("leaf", ()), first, second)
        self.leaf[cell] = self.graph.apply(op, [self.leaf[x], self.leaf[y]])
        return cell

    def new(self, op: str, literals: tuple[int, int]) -> int:
        """A cell that is not used yet."""
        return self._append((op, literals), *self.residues(op, literals))

    def _append(self, definition: Definition, first: int, second: int) -> int:
        cell = len(self.definition)
        operands = tuple([k >> 1 for k in definition[1]])
        self.definition.append(definition)
        self.operands.append(operands)
        self.price.append(_price(definition))
        self.rank.append(1 + max([self.rank[k] for k in operands], default=0))
        self._users.append([])
        for k in operands:
            self._users[k].append(cell)
        self.first.append(first)
        self.second.append(second)
        self.uses.append(0)
        self._known.setdefault(min(first, PRIME - first), cell)
        return cell

    def residues(self, op: str, literals: tuple[int, int]) -> tuple[int, int]:
        """Residues of an operation at the two points."""
        result = []
        for values, (_, prime) in zip((self.first, self.second), POINTS, strict=True):
            operands = [-values[k >> 1] if k & 1 else values[k >> 1] for k in literals]
            result.append(residue(op, operands, prime))
        return result[0], result[1]

    def discard(self, cell: int) -> None:
        """Forget the newest cell, which is not used."""
        key = min(self.first[cell], PRIME - self.first[cell])
        if self._known.get(key) == cell:
            del self._known[key]
        for k in self.operands[cell]:
            self._users[k].remove(cell)
        known = self.definition, self.operands, self.price, self.first, self.second
        for column in (*known, self.rank, self.uses, self._users):
            column.pop()

    def live(self) -> list[int]:
        """Cells that are used, and every symbol and constant."""
        return [c for c in range(len(self.uses)) if self.alive(c)]

    def alive(self, cell: int) -> bool:
        """Whether the cell is there without further cost."""
        return self.uses[cell] > 0 or cell in self.leaf

    def is_constant(self, cell: int) -> bool:
        """Whether the cell costs nothing because it depends on parameters alone."""
        return cell in self.leaf and self.leaf[cell].constant

    def is_operation(self, cell: int) -> bool:
        """Whether the cell is computed by an addition or a multiplication that may be replaced."""
        counted = self.definition[cell][0] in COUNTED
        return counted and self.uses[cell] > 0 and cell not in self.angle

    def total(self) -> int:
        """Multiplications and additions of all live cells."""
        return sum(price for price, n in zip(self.price, self.uses, strict=True) if n)

    # rewiring

    def redefine(self, cell: int, definition: Definition) -> int:
        """Compute a cell in another way; returns how many operations that saves."""
        live = self.uses[cell] > 0
        saved = self._count(cell, -1) if live else 0
        for k in self.operands[cell]:
            self._users[k].remove(cell)
        self._define(cell, definition)
        for k in self.operands[cell]:
            self._users[k].append(cell)
        self._raise(cell)
        return saved - self._count(cell, 1) if live else 0

    def gain(self, cell: int, definition: Definition) -> int | None:
        """How many operations another definition would save; None if it cannot be taken."""
        if not self.is_operation(cell) or self.depends([k >> 1 for k in definition[1]], cell):
            return None
        old = self.definition[cell]
        saved = self._count(cell, -1)
        self._define(cell, definition)
        saved -= self._count(cell, 1)
        self._count(cell, -1)
        self._define(cell, old)
        self._count(cell, 1)
        return saved

    def cone(self, cell: int) -> int:
        """Operations that only this cell needs, itself included."""
        self._count(cell, -1)
        return self._count(cell, 1)

    def depends(self, cells: list[int], cell: int) -> bool:
        """Whether one of the cells is computed from a cell."""
        rank, operands = self.rank, self.operands
        bottom = rank[cell]
        seen: set[int] = set()
        stack = list(cells)
        while stack:
            here = stack.pop()
            if here == cell:
                return True
            if rank[here] > bottom and here not in seen:
                seen.add(here)
                stack.extend(operands[here])
        return False

    def _define(self, cell: int, definition: Definition) -> None:
        self.definition[cell] = definition
        self.operands[cell] = tuple([k >> 1 for k in definition[1]])
        self.price[cell] = _price(definition)

    def _raise(self, cell: int) -> None:
        """Raise the rank of a cell above its operands, and those that use it above it."""
        rank, stack = self.rank, [cell]
        while stack:
            here = stack.pop()
            least = 1 + max([rank[k] for k in self.operands[here]], default=0)
            if least > rank[here]:
                rank[here] = least
                stack.extend(self._users[here])

    def _count(self, cell: int, step: int) -> int:
        """Count the uses that a cell makes of others, or with step -1 take them back.

        Returns the cost of the cell and of all that becomes live or is not needed any more.
        """
        uses = self.uses
        price = self.price
        operands = self.operands
        turning = 1 if step > 0 else 0
        cost, stack = 0, [cell]
        while stack:
            here = stack.pop()
            cost += price[here]
            for k in operands[here]:
                uses[k] += step
                if uses[k] == turning:
                    stack.append(k)
        return cost

    def order(self) -> Iterator[int]:
        """Live cells, operands first."""
        done: set[int] = set()
        stack = [literal >> 1 for literal in reversed(self.outputs)]
        entered: set[int] = set()
        while stack:
            cell = stack[-1]
            waiting = [k for k in self.operands[cell] if k not in done]
            if cell in done or not waiting:
                stack.pop()
                if cell not in done:
                    done.add(cell)
                    yield cell
                continue
            if cell in entered:
                raise GraphError(f"cell {cell} of the network depends on itself")
            entered.add(cell)
            stack.extend(reversed(waiting))


def _price(definition: Definition) -> int:
    op, literals = definition
    free = op == "mul" and any(k >> 1 == ONE for k in literals)
    return int(op in COUNTED and not free)
