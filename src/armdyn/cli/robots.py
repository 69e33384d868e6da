"""`armdyn robots`: the catalog."""

from armdyn.cli.console import print_json, print_table, table
from armdyn.cli.options import Json


def robots(json: Json = False) -> None:
    """List the robots that come with armdyn."""
    from armdyn.io.catalog import remark
    from armdyn.io.describe import catalog

    entries = catalog()
    if json:
        print_json(entries)
        return
    text = ("name", "robot", "joints", "source")
    mass = "{moving_mass:.2f}".format_map
    odd = {x["name"]: f" Implausible: {found}" for x in entries if (found := remark(x["note"]))}
    rows = (
        (x["name"], x["title"], x["kinds"], mass(x), x["source"] + odd.get(x["name"], ""))
        for x in entries
    )
    print_table(table("name", "robot", "joints", "mass [kg]", "source", left=text, rows=rows))
