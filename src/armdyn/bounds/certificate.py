"""Certificates: all that is needed to check a bound without the search.

`check.c` reads them and needs a C compiler only. A certificate has for each row the coefficients of
its polynomial, the limits, the threshold and the tree of halvings, as words that are separated by
spaces; numbers are hexadecimal, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import numpy as np

from armdyn.arrays import Array
from armdyn.bounds.motors import MotorBound, Proved
from armdyn.bounds.polynomials import U
from armdyn.errors import ModelError
from armdyn.io.atomic import replacing

VERSION = 1
CHECKER = "check.c"
SLACK = 1e-9
"""How far above a proved threshold that of its certificate is, relative to it: what other
arithmetic takes."""


def certificate(bound: MotorBound) -> str:
    """The certificate of a bound; its threshold is `upper` and a billionth more.

    Raises:
        ModelError: Nothing was proved.
    """
    if not bound.proofs:
        raise ModelError("nothing was proved, so that there is no certificate; ask for prove=True")
    lines = [f"armdyn-bound {VERSION} {len(bound.proofs)}"]
    for proof in bound.proofs:
        lines += _row(proof)
    return "\n".join(lines) + "\n"


def write_certificate(path: str | Path, bound: MotorBound) -> None:
    """Write a certificate to a file, and the program that checks it beside it."""
    checker = files("armdyn.bounds").joinpath(CHECKER).read_text(encoding="utf-8")
    for place, text in ((Path(path), certificate(bound)),
                        (Path(path).with_name(CHECKER), checker)):  # fmt: skip
        with replacing(place) as stream:
            stream.write(text.encode())


def _row(proof: Proved) -> Iterator[str]:
    row, limits = proof.row, proof.limits
    yield str(len(row.joints))
    for j, slides, *ends in zip(row.joints, row.slides, proof.low, proof.high, strict=True):
        least, most = (-1.0, 1.0) if slides else (limits.low[j], limits.high[j])
        # the search widens its boxes by this much
        more = 16 * U * (abs(ends[0]) + abs(ends[1]))
        yield _words(int(slides), least, most, ends[0] - more, ends[1] + more)
    yield _words(proof.threshold * (1 + SLACK), row.error, *proof.friction)
    yield _words(len(proof.speeds), *(x for pair in proof.speeds for x in pair))
    yield str(len(row.rates))
    for rates in row.rates:
        yield _words(len(rates), *rates)
    keys = [row.functions[:, k] for k in range(len(row.joints))]
    order = np.lexsort([*keys, row.entries])
    yield str(len(order))
    for n in order.tolist():
        yield _words(int(row.entries[n]), *row.functions[n].tolist(), row.numbers[n])
    yield " ".join(map(str, _preorder(proof.tree.axes, proof.tree.halves)))


def _preorder(axes: Array, halves: Array) -> Iterator[int]:
    """For each box the joint that is halved, from 1, or 0; a box before its halves."""
    nodes = [0]
    while nodes:
        node = nodes.pop()
        yield int(axes[node]) + 1
        if axes[node] >= 0:
            nodes += [int(halves[node]) + 1, int(halves[node])]


def _words(*values: float) -> str:
    return " ".join(str(x) if isinstance(x, int) else float(x).hex() for x in values)
