"""Where the files are that tests read."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "armdyn"
DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples"
ROBOTS = ROOT / "tests" / "robots"
TEXTBOOK = ROOT / "tests" / "golden" / "textbook.json"
