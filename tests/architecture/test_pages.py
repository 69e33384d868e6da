"""What the pages of the documentation show is what happens."""

import re
import subprocess
import sys
from pathlib import Path

from armdyn.programs.request import OPTIONS

DOCS = Path(__file__).parents[2] / "docs"
KERNELS = (DOCS / "kernels.md").read_text(encoding="utf-8")


def test_the_example_of_the_kernels_runs():
    code = re.search(r"```python\n(.*?)```", KERNELS, re.DOTALL)[1]
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, encoding="utf-8"
    )
    assert result.stdout.startswith("(7),(7),(7)->(7) ")


def test_every_quantity_is_listed_with_its_arguments_and_options():
    table = re.search(r"<!-- quantities -->(.*?)<!-- /quantities -->", KERNELS, re.DOTALL)[1]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) ?\|$", table, re.MULTILINE)
    assert {
        name: (tuple(a.split(", ")), tuple(filter(None, o.split(", ")))) for name, a, o in rows
    } == OPTIONS
