"""The structure of the equations of motion as text and as plain data."""

import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from armdyn.errors import counted
from armdyn.study.structure.elements import Structure, StructureElement

MOST_JOINTS_WITH_H = 10
"""Every h_i is printed up to this number of joints."""
MOST_NAMED = 12
"""The most elements that are named before one reason."""
_INDENT: Any = {"initial_indent": " " * 6, "subsequent_indent": " " * 6}


def text(structure: Structure) -> str:
    """Tables of D, h and g, then the reasons, equal ones told once."""
    n = len(structure.joints)
    lines = [
        f"{structure.title}: structure of D, h and g in",
        "tau_i = sum_j D_ij qdd_j + sum_km h_ikm qd_k qd_m + g_i",
        "",
        "0 zero, c constant, otherwise the joints it depends on; exact, for every value of the",
        "parameters that are not zero.",
    ]
    if any(element.rounding for *_, element in structure.different()):
        lines.append("* varies in general, but with the numbers of this robot by rounding only.")
    if structure.mimics:
        lines.append(f"Counted as joints of their own: {', '.join(structure.mimics)} (followers).")
    lines += ["", *(f"joint {i}: {name}" for i, name in enumerate(structure.joints, 1))]
    lines += ["", *_table("D", [[cell(e) for e in row] for row in structure.D])]
    lines += ["", *_table("g", [[cell(e) for e in structure.g]], rows=False)]
    if n <= MOST_JOINTS_WITH_H:
        for i, grid in enumerate(structure.h, 1):
            upper = [
                ["" if m < k else cell(e) for m, e in enumerate(r)] for k, r in enumerate(grid)
            ]
            lines += ["", *_table(f"h{i}", upper)]
        lines += ["", "h_ikm = h_imk, so the lower half mirrors the upper one."]
    else:
        most = f"h is printed for up to {MOST_JOINTS_WITH_H} joints"
        lines += ["", f"{most}; the data and the picture have it all."]
    lines.append("")
    for letter, count in structure.counts.items():
        zero, constant, varies = count.values()
        total = counted(zero + constant + varies, "element")
        lines.append(f"{letter}: {total}, {zero} zero, {constant} constant, {varies} vary")
    lines.append("")
    for k, (_, elements, reason) in enumerate(reasons(structure)):
        lines += ["Why:"] * (k == 0) + [f"  {elements}:", *textwrap.wrap(reason, 92, **_INDENT)]
    return "\n".join(lines) + "\n"


def cell(element: StructureElement) -> str:
    """An element in a table: 0, c, or joints such as 2,4-6, with * where only rounding is left."""
    if element.status != "varies":
        return {"zero": "0", "constant": "c"}[element.status]
    return spans(element.joints) + ("*" if element.rounding else "")


def spans(joints: tuple[int, ...]) -> str:
    """Joints such as 2,4-6."""
    runs: list[list[int]] = []
    for joint in joints:
        if runs and joint == runs[-1][-1] + 1:
            runs[-1].append(joint)
        else:
            runs.append([joint])
    return ",".join(
        ",".join(map(str, run)) if len(run) < 3 else f"{run[0]}-{run[-1]}" for run in runs
    )


def data(structure: Structure) -> dict[str, Any]:
    """The structure as plain data: each different element once, with its place from 1."""
    tables: dict[str, list[dict[str, Any]]] = {letter: [] for letter in "Dhg"}
    for letter, place, element in structure.different():
        plain = asdict(element) | {"joints": [*element.joints], "parameters": [*element.parameters]}
        tables[letter].append({"place": list(place), **plain})
    return {
        "robot": structure.robot,
        "joints": list(structure.joints),
        "mimics": list(structure.mimics),
        "symmetry": ["D_ij = D_ji", "h_ikm = h_imk"],
        "counts": structure.counts,
        **tables,
    }


def _table(head: str, cells: list[list[str]], rows: bool = True) -> list[str]:
    n = len(cells[0]) if cells else 0
    width = 2 + max(len(text) for text in (str(n), *(c for row in cells for c in row)))
    lines = [f"{head:<5}" + "".join(f"{j:>{width}}" for j in range(1, n + 1))]
    for i, row in enumerate(cells, 1):
        lines.append(f"{i if rows else '':<5}" + "".join(f"{c:>{width}}" for c in row))
    return [line.rstrip() for line in lines]


def reasons(structure: Structure) -> Iterator[tuple[str, str, str]]:
    """Each reason once: "D", "h" or "g", the elements as in "D12 = D13 = 0", and the reason."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for letter, place, element in structure.different():
        if element.reason:
            digits = map(str, place)
            name = letter + ("".join(digits) if max(place) < 10 else "_" + ",".join(digits))
            groups.setdefault((letter, element.status, element.reason), []).append(name)
    for (letter, status, reason), names in groups.items():
        if len(names) > MOST_NAMED:
            names[MOST_NAMED:] = [f"{len(names) - MOST_NAMED} more"]
        if status == "zero":
            yield letter, " = ".join([*names, "0"]), reason
        else:
            word = "constant" if status == "constant" else "as good as constant"
            yield letter, f"{', '.join(names)} {word}", reason
