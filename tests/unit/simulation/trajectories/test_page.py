"""The page on trajectories shows what happens."""

import re

from armdyn.simulation import trajectories
from support.pages import page

PAGE = page("trajectories")


def test_its_table_names_every_function():
    rows = set(re.findall(r"^\| `(\w+)\(", PAGE, re.MULTILINE))
    offered = {name for name in vars(trajectories) if callable(getattr(trajectories, name))}
    assert rows | {"sampled"} == offered
