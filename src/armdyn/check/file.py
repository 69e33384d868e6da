"""What a file says that no robot can hold: numbers that loading leaves behind."""

from collections.abc import Iterator
from pathlib import Path

from armdyn.errors import DescriptionError
from armdyn.io.xml import read_xml
from armdyn.model.validate import Finding


def file_findings(source: str | Path) -> Iterator[Finding]:
    """Friction and limits given in a URDF file for joints that do not move."""
    path = Path(source)
    if path.suffix.lower() not in (".urdf", ".xml"):
        return
    robot = read_xml(path, DescriptionError)
    if robot.tag != "robot":
        return
    for joint in robot.all("joint"):
        if joint.attributes.get("type") != "fixed":
            continue
        given = [
            f"{name} {value}"
            for dynamics in joint.all("dynamics")
            for name, value in dynamics.attributes.items()
            if name in ("damping", "friction") and value.strip().strip("0.")
        ]
        if given:
            yield Finding(
                "warning",
                f"joint {joint.attributes.get('name')!r}",
                f"line {joint.line}: {' and '.join(given)} on a fixed joint has no effect",
            )
