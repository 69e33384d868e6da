"""`armdyn cache`: what is kept on disk."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from armdyn.cli.console import print_line, print_table, printed_as_json, table
from armdyn.cli.options import flag

if TYPE_CHECKING:
    from pathlib import Path

    from armdyn.io.shelf import Entry, Shelf


def cache(*, clear: bool = flag("--clear", "Remove everything that is kept.")) -> None:
    """Show or clear what is kept on disk: compiled kernels, and programs of deep searches."""
    from armdyn.io.shelf import cache_root
    from armdyn.kernels.cache import user_cache
    from armdyn.shorten.program_store import user_programs

    root, kept = cache_root(), {"kernels": user_cache(), "programs": user_programs()}
    shelves = {kind: shelf for kind, shelf in kept.items() if shelf is not None}
    for shelf in shelves.values() if clear else ():
        shelf.entries()  # a folder that is not ours is an error before anything is removed
    work = (lambda shelf: _amount(shelf.clear())) if clear else _shown
    result = {kind: work(shelf) for kind, shelf in shelves.items()}
    folder = None if root is None else str(root)
    if printed_as_json(lambda: {"folder": folder, "removed" if clear else "kept": result}):
        return
    if root is None:
        print_line("nothing is kept on disk: ARMDYN_CACHE_DIR says so, or this user has no home")
    elif clear:
        for kind, removed in result.items():
            print_line(f"removed {removed['files']} {kind}, {_bytes(removed['bytes'])}")
    else:
        _print(root, result)


def _shown(shelf: Shelf) -> dict[str, Any]:
    from armdyn.errors import CacheError

    try:
        entries, problem = shelf.entries(), None
    except CacheError as error:
        entries, problem = [], str(error)
    times = [datetime.fromtimestamp(entry.used).astimezone() for entry in entries]
    used: list[str | None] = [time.isoformat("T", "seconds") for time in times]
    used = used or [None]
    ends = {"oldest": used[0], "newest": used[-1]}
    return {"folder": str(shelf.folder), **_amount(entries), **ends, "problem": problem}


def _amount(entries: list[Entry]) -> dict[str, int]:
    return {"files": len(entries), "bytes": sum(entry.size for entry in entries)}


def _print(root: Path, result: dict[str, Any]) -> None:
    print_line(f"kept in {root}")
    rows = table("", "files", "size", "oldest use", "newest use", left=("",))
    for kind, data in result.items():
        ends = ((data[end] or "-")[:16].replace("T", " ") for end in ("oldest", "newest"))
        rows.add_row(kind, str(data["files"]), _bytes(data["bytes"]), *ends)
    print_table(rows)
    for data in result.values():
        if data["problem"]:
            print_line(f"note: {data['problem']}")


def _bytes(count: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"
