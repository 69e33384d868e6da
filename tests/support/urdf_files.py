"""Small URDF files, a line an element."""

from pathlib import Path

INERTIAL = (
    '<inertial><mass value="2"/>'
    '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>'
)


def link(name: str, inside: str = INERTIAL) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(parent: str, child: str, inside: str = "", *, name: str = "j", kind: str = "revolute"):
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>'


def save(folder: Path, *elements: str) -> Path:
    path = folder / "robot.urdf"
    path.write_text("\n".join(['<robot name="r">', *elements, "</robot>"]))
    return path


def one_joint(folder: Path, inside: str = "", kind: str = "revolute") -> Path:
    return save(folder, link("a"), link("b"), joint("a", "b", inside, kind=kind))
