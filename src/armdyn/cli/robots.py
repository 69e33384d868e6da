"""`armdyn robots`: the catalog."""

from armdyn.cli.console import print_json, print_table, table
from armdyn.cli.options import Json


def robots(json: Json = False) -> None:
    """List the robots that come with armdyn."""
    from armdyn.io.describe import catalog

    entries = catalog()
    if json:
        print_json(entries)
        return
    text = ("name", "robot", "joints", "source")
    rows = table("name", "robot", "joints", "mass [kg]", "source", left=text)
    for entry in entries:
        mass = f"{entry['moving_mass']:.2f}"
        rows.add_row(entry["name"], entry["title"], entry["kinds"], mass, entry["source"])
    print_table(rows)
