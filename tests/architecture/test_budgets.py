"""The house gets no larger: lines by room against the ceilings that docs/architecture.md shows."""

import ast
import re
import tokenize
from collections import Counter

import pytest

from support.paths import ROOT, SOURCE
from support.source_code import FILES, text_of

TOKENS, TOKENS_A_LINE = 591_760, 9.97
"""Tokens but for those of imports, and how many a line of code has on average."""
_ROW = re.compile(r"^\| `([\w/]+)` .*\| ([\d,]+) \|$", re.MULTILINE)


def _rooms():
    """Lines of Python by room; a module of the package itself is a room of its own."""
    lines = Counter()
    for path in FILES:
        place = path.relative_to(SOURCE)
        room = place.parts[0] if len(place.parts) > 1 else place.stem
        lines[room] += len(text_of(path).splitlines())
    return lines


def test_no_room_is_larger_than_its_ceiling():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    ceilings = {room: int(most.replace(",", "")) for room, most in _ROW.findall(page)}
    rooms = _rooms()
    assert set(ceilings) == {*rooms, "sum"}
    larger = {room: (n, ceilings[room]) for room, n in rooms.items() if n > ceilings[room]}
    assert larger == {}
    assert rooms.total() <= ceilings["sum"]


@pytest.mark.slow
def test_lines_are_not_saved_by_writing_more_into_them():
    tokens = lines = 0
    skipped = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT)
    for path in FILES:
        nodes = ast.walk(ast.parse(text_of(path)))
        imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
        left_out = {k for node in imports for k in range(node.lineno, node.end_lineno + 1)}
        with tokenize.open(path) as file:
            code = [t for t in _tokens(file) if t.type not in skipped]
        places = [t.start[0] for t in code if t.start[0] not in left_out]
        tokens += len(places)
        lines += len(set(places))
    assert tokens <= TOKENS
    assert tokens / lines <= TOKENS_A_LINE


def _tokens(file):
    """Those of a file; a formatted text is one, as it was before Python 3.12 looked into it."""
    depth = 0
    for token in tokenize.generate_tokens(file.readline):
        name = tokenize.tok_name[token.type]
        if depth == 0:
            yield token
        depth += (name == "FSTRING_START") - (name == "FSTRING_END")
