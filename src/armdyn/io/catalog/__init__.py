"""The robots that come with armdyn, each number with its published source."""

from pathlib import Path

from armdyn.errors import check_known

FOLDER = Path(__file__).parent


def catalog_names() -> tuple[str, ...]:
    """The names of the robots in the catalog, in alphabetical order."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def remark(note: str) -> str:
    """What is implausible about a robot of the catalog, as the end of its note says, or nothing."""
    return note.partition("Implausible: ")[2]


def catalog_path(name: str) -> Path:
    """The file of a robot in the catalog; an UnknownNameError names the nearest ones."""
    check_known("robot in the catalog named", name, catalog_names())
    return FOLDER / f"{name}.toml"
