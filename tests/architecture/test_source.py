"""The source keeps its directions and its sizes."""

import tomllib

from support.paths import ROOT, SOURCE


def test_the_layers_name_every_room_once():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    layers = [room for layer in contract["layers"] for room in layer.split(" | ")]
    rooms = {path.stem for path in SOURCE.glob("*.py")} | {
        path.parent.name for path in SOURCE.glob("*/__init__.py")
    }
    assert contract["exhaustive"]
    assert sorted(layers) == sorted(rooms - {"__init__"})
