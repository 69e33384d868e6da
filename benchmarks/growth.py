"""Measure how the cost of every formulation grows with the joints; write and draw it where told."""

import argparse
import json
from pathlib import Path

from armdyn.bench.growth import growth
from armdyn.bench.plot_growth import plot_growth
from armdyn.cli.console import status
from armdyn.io.atomic import write_text


def main() -> None:
    """Measure, print, write and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, help="a .json file")
    parser.add_argument("--plot", type=Path, help="a .png, .pdf or .svg file")
    given = parser.parse_args()
    with status("starting") as tell:
        series = growth(tell)
    for one in series:
        print(f"{one.quantity:17} {one.method:25} operations grow as n^{one.exponent:.2f}")
    if given.output is not None:
        data = [one.data() for one in series]
        write_text(given.output, json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    if given.plot is not None:
        plot_growth(series, given.plot)


if __name__ == "__main__":
    main()
