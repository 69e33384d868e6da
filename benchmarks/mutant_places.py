"""The places that mutants.py changes: signs, operators, indices, constants, comparisons, terms.

Nothing is changed in texts, types, decorators, imports and complaints.
"""

import ast
import re
from dataclasses import dataclass

SIGNS = {ast.Add: "-", ast.Sub: "+"}
OPERATORS = {ast.Mult: "/", ast.Div: "*", ast.Pow: "*"}
COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
    ast.And: "or", ast.Or: "and",
}  # fmt: skip
SWAPS = {"sign": SIGNS, "operator": OPERATORS, "comparison": COMPARISONS}
BETWEEN = re.compile(rb"#.*|([^\s()#\\]+(?:\s+(?:not|in)\b)?)")
"""A comment, or the operator, between two operands and their parentheses."""


@dataclass(frozen=True)
class Mutant:
    """A change of one place."""

    file: str
    """Below the package; it begins with the room."""
    line: int
    column: int
    kind: str
    scope: str
    """The innermost function or class around it, as `__qualname__` has it; empty: there is none."""
    start: int
    end: int
    """Of the bytes that are replaced."""
    new: str
    before: str
    after: str
    """The lines without and with the change."""

    @property
    def room(self) -> str:
        """The folder."""
        return self.file.partition("/")[0]

    @property
    def name(self) -> str:
        """By this it can be run again, as long as its file stays as it is."""
        return f"{self.file.replace('/', ':', 1)}:{self.line}:{self.column}:{self.kind}"

    @property
    def change(self) -> str:
        """What is changed, in words that stay when the line moves."""
        return f"{self.file}: {self.before} → {self.after}"

    def of(self, source: bytes) -> bytes:
        """The source with the change."""
        return source[: self.start] + self.new.encode() + source[self.end :]


def places(file: str, source: bytes) -> list[Mutant]:
    """Every mutant of a file, in the order of the source."""
    return sorted(_Places(file, source).found, key=lambda one: (one.start, one.kind, one.end))


class _Places(ast.NodeVisitor):
    def __init__(self, file: str, source: bytes):
        self.file, self.source = file, source
        self.scope = self.within = ""
        self.lines = [0, *(match.end() for match in re.finditer(rb"\n", source))]
        self.found: list[Mutant] = []
        self.visit(ast.parse(source))

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Of the bytes of a node."""
        return (
            self.lines[node.lineno - 1] + node.col_offset,
            self.lines[node.end_lineno - 1] + node.end_col_offset,
        )

    def add(self, kind: str, start: int, end: int, new: str, at: int | None = None) -> None:
        at = start if at is None else at
        line = self.source.count(b"\n", 0, at)
        first = self.source.rfind(b"\n", 0, start) + 1
        last = (self.source + b"\n").index(b"\n", end)
        texts = (
            self.source[first:last],
            self.source[first:start] + new.encode() + self.source[end:last],
        )
        before, after = (" ".join(text.decode().split()) for text in texts)
        if before != after:
            where = line + 1, at - self.lines[line], kind, self.scope, start, end
            self.found.append(Mutant(self.file, *where, new, before, after))

    def swap(
        self, left: ast.expr, operator: ast.AST, right: ast.expr, tail: str = ""
    ) -> tuple[int, int]:
        """Another operator between two operands; where it stands."""
        between = BETWEEN.finditer(self.source, self.span(left)[1], self.span(right)[0])
        start, end = next(match.span(1) for match in between if match[1])
        for kind, swaps in SWAPS.items():
            if type(operator) in swaps:
                self.add(kind, start, end, swaps[type(operator)] + tail)
        return start, end

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Another operator, factors in the other order, or the first term alone."""
        self.generic_visit(node)
        if _is_sequence(node.left) or _is_sequence(node.right):
            return
        start, end = self.swap(node.left, node.op, node.right)
        first, last = self.span(node)
        if isinstance(node.op, ast.Add | ast.Sub):
            self.add("term", start, last, "")
        elif isinstance(node.op, ast.MatMult) and b"#" not in self.source[first:last]:
            left, right = self.source[first:start].decode(), self.source[end:last].decode()
            if left.strip() != right.strip():
                self.add("operator", first, last, f"{right.strip()} @ ({left.strip()})", start)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Another operator, or nothing done."""
        self.generic_visit(node)
        if not _is_sequence(node.value):
            self.swap(node.target, node.op, node.value, "=")
            self.add("term", *self.span(node), "pass")

    def visit_Compare(self, node: ast.Compare) -> None:
        """The opposite, or a limit that belongs to the other side."""
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
            self.swap(left, operator, right)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """`and` for `or`."""
        self.generic_visit(node)
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.swap(left, node.op, right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """The operand alone."""
        self.generic_visit(node)
        start, _ = self.span(node)
        if isinstance(node.op, ast.USub):
            self.add("sign", start, start + len("-"), "")
        elif isinstance(node.op, ast.Not):
            self.add("comparison", start, start + len("not"), "")

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """A neighbouring index or bound: towards zero, where it mostly exists."""
        self.visit(node.value)
        for part in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
            bounds = (part.lower, part.upper) if isinstance(part, ast.Slice) else (part,)
            for bound in filter(None, bounds):
                negative = isinstance(bound, ast.UnaryOp) and isinstance(bound.op, ast.USub)
                number = bound.operand if negative else bound
                if isinstance(number, ast.Constant) and type(number.value) is int:
                    other = number.value - 1 if number.value > negative else number.value + 1
                    self.add("index", *self.span(number), str(other))
                else:
                    self.visit(bound)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Another number or truth."""
        if isinstance(node.value, bool):
            self.add("constant", *self.span(node), str(not node.value))
        elif isinstance(node.value, int):
            self.add("constant", *self.span(node), str(node.value + 1))
        elif isinstance(node.value, float):
            self.add("constant", *self.span(node), str(2 * node.value or 1.0))

    def visit_Raise(self, node: ast.AST) -> None:
        """Nothing is changed in it."""

    visit_Import = visit_ImportFrom = visit_JoinedStr = visit_arg = visit_Raise  # noqa: N815

    def visit_keyword(self, node: ast.keyword) -> None:
        """The value; zip(strict=True) guards against what does not happen."""
        if node.arg != "strict":
            self.visit(node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """The value, not the type."""
        if node.value:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.ClassDef | ast.Lambda) -> None:
        """Defaults and body; not decorators, bases and types."""
        name = getattr(node, "name", "<lambda>")
        if name in ("__repr__", "__str__"):
            return
        outer, is_class = (self.scope, self.within), isinstance(node, ast.ClassDef)
        self.scope = self.within + name
        self.within = self.scope + ("." if is_class else ".<locals>.")
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        for part in ([] if is_class else [node.args]) + body:
            self.visit(part)
        self.scope, self.within = outer

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef  # noqa: N815


def _is_sequence(node: ast.expr) -> bool:
    """Whether it is a text or a list, which are joined and repeated."""
    text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return text or isinstance(node, ast.List | ast.Tuple | ast.ListComp | ast.JoinedStr)
