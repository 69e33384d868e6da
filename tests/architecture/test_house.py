"""The house keeps its own rules."""

import re
import subprocess

from armdyn.quantities.formulations import FORMULATIONS
from support.paths import ROOT
from support.source_code import FILES


def test_every_formulation_is_documented():
    text = (ROOT / "docs" / "formulations.md").read_text(encoding="utf-8")
    for name in FORMULATIONS:
        assert f"| `{name}` |" in text


def test_no_path_of_a_machine_in_the_project():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    files = [ROOT / name for name in listed.stdout.split()] or FILES
    pattern = re.compile(r"/(?:home|root|Users|work)/\w")
    for path in files:
        if (
            path.suffix in (".py", ".md", ".toml", ".csv", ".urdf", ".xml", ".yml", ".yaml")
            and path.exists()
        ):
            assert not pattern.search(path.read_text(encoding="utf-8")), path


def test_nodes_are_made_by_their_graph_alone():
    """So operands come before what is made of them, and equal expressions are one node."""
    makers = {path.name for path in FILES if re.search(r"\bNode\(", path.read_text("utf-8"))}
    assert makers == {"nodes.py"}
