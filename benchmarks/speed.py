"""Print the speed table, and write it as JSON where told."""

import argparse
import json
from pathlib import Path

from armdyn.bench.bench import bench
from armdyn.cli.bench import print_report
from armdyn.cli.console import status
from armdyn.io.atomic import write_text


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller batches, less time")
    parser.add_argument("--seconds", type=float, help="how long to measure each row")
    parser.add_argument("-o", "--output", type=Path, help="a .json file")
    given = parser.parse_args()
    with status("starting") as tell:
        report = bench(seconds=given.seconds, quick=given.quick, tell=tell)
    print_report(report)
    if given.output is not None:
        write_text(given.output, json.dumps(report.data(), indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
