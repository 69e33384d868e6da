"""`armdyn robots`: the catalog."""

from armdyn.cli.console import print_table, printed_as_json, table


def robots() -> None:
    """List the robots that come with armdyn."""
    from armdyn.io.catalog import remark
    from armdyn.io.describe import catalog

    entries = catalog()
    if printed_as_json(lambda: entries):
        return
    text = ("name", "robot", "joints", "source")
    mass = "{moving_mass:.2f}".format_map
    odd = {x["name"]: f" Implausible: {found}" for x in entries if (found := remark(x["note"]))}
    rows = (
        (x["name"], x["title"], x["kinds"], mass(x), x["source"] + odd.get(x["name"], ""))
        for x in entries
    )
    print_table(table("name", "robot", "joints", "mass [kg]", "source", left=text, rows=rows))
