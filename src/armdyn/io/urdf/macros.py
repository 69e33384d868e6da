"""Files in xacro, the macro language of URDF, which the package of that name expands.

Xacro evaluates expressions of the file and reads other files that it names. So it runs only for a
file that says it is xacro (by its ending or by xmlns:xacro), in a process of its own with a limit
of time, and never for what comes from a browser.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from armdyn.errors import UrdfError
from armdyn.io.regular import MAX_BYTES
from armdyn.io.xml import Problems, XmlElement, parse_xml, read_xml

EXPANSION_MEMORY = 2 * 2**30
"""Most memory that xacro may take [bytes]."""
EXPANSION_TIME = 60.0
"""Longest time that xacro may take [s]."""
SKIPPED = ("gazebo", "transmission", "ros2_control", "visual", "collision")
"""Elements that no torque depends on, whatever is written in them."""
_PREFIX = "xacro:"
_EXPRESSION = re.compile(r"\$\{")
_DECLARED_EXPRESSION = re.compile(r"\$[{(]")
_PROGRAM = """
import io, os, pathlib, re, stat, sys, xacro
from xacro import substitution_args
file, most, memory = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
except (ImportError, OSError, ValueError):
    pass

def opened(name):
    status = os.stat(name)
    if not stat.S_ISREG(status.st_mode) or status.st_size > most:
        raise OSError(22, f"this is no regular file of at most {most >> 20} MB", str(name))
    with open(name, encoding="utf-8") as stream:
        text = stream.read(most)
    if re.search(r"<!DOCTYPE[^>]*[[]", text):
        raise OSError(22, "there are declarations in the DOCTYPE", str(name))
    return io.StringIO(text)

xacro.open = opened  # in the place of the builtin, for all files that it reads
installed = substitution_args._eval_find

def find(package):
    for folder in file.parents:
        for place in (folder, folder / package):
            if place.name == package and place.is_dir():
                return str(place)
    try:
        return installed(package)
    except ImportError:
        raise LookupError(f"no folder above or beside the file is named {package}") from None

substitution_args._eval_find = substitution_args._eval_dict["find"] = find
try:
    text = xacro.process_file(str(file)).toxml("utf-8")
    if len(text) > most:
        raise OSError(f"the expanded file would have more than {most >> 20} MB")
except Exception as reason:
    sys.exit(str(getattr(reason, "exc", None) or reason))
sys.stdout.buffer.write(text)
"""
"""Expands one file; $(find NAME) is a folder NAME above or beside the file, or what ROS knows."""


def read_robot(
    path: Path, problems: Problems, expand: bool = True, line_breaks: bool = False
) -> XmlElement:
    """The root of a URDF file with its macros expanded; `line_breaks` as in `read_xml`.

    Tags of xacro that are left in an expanded file are skipped with a warning.
    """
    robot = read_xml(path, UrdfError, line_breaks)
    declared = path.suffix.lower() == ".xacro" or "xmlns:xacro" in robot.attributes
    macro = next(_macros(robot, _DECLARED_EXPRESSION if declared else _EXPRESSION), None)
    written_by_armdyn = robot.all("armdyn") and not declared
    if robot.tag != "robot" or macro is None or written_by_armdyn:
        return robot
    try:
        if not declared:
            raise UrdfError("it does not declare that (xmlns:xacro)")
        expanded = path.with_name(f"{path.name} (expanded)")
        root = parse_xml(expanded, UrdfError, _expansion(path, expand))
        problems.file = expanded
        return root
    except UrdfError as reason:
        bare = _without_tags(robot)
        whole = bare.all("link") and bare.all("joint") and not any(_macros(bare, _EXPRESSION))
        if path.suffix.lower() == ".xacro" or not whole:
            text = f"<{macro.tag}> is written in xacro, a macro language for URDF; {reason}"
            text += f"; expand it first: xacro {path.name} > robot.urdf"
            raise macro.refusal(UrdfError, text) from None
        text = f"it is written in xacro and skipped ({reason})"
        problems.warn(macro, f"<{macro.tag}>", text)
        return bare


def _macros(element: XmlElement, expression: re.Pattern[str]) -> Iterator[XmlElement]:
    """Elements in xacro among those that matter."""
    values = element.attributes.values()
    if element.tag.startswith(_PREFIX) or any(map(expression.search, values)):
        yield element
    for child in element.children:
        if child.tag not in SKIPPED:
            yield from _macros(child, expression)


def _without_tags(element: XmlElement) -> XmlElement:
    kept = (child for child in element.children if not child.tag.startswith(_PREFIX))
    return replace(element, children=tuple(map(_without_tags, kept)))


def _expansion(path: Path, expand: bool) -> bytes:
    """The text of the expanded file, or an UrdfError with the reason why there is none."""
    if not expand:
        raise UrdfError("macros are not expanded here")
    if find_spec("xacro") is None:
        raise UrdfError("the package xacro, which expands it, is not installed (pip install xacro)")
    limits = str(MAX_BYTES), str(EXPANSION_MEMORY)
    words = [sys.executable, "-c", _PROGRAM, str(path.resolve()), *limits]
    try:
        run = subprocess.run(words, capture_output=True, timeout=EXPANSION_TIME, check=False)
    except subprocess.TimeoutExpired:
        raise UrdfError(f"xacro did not end within {EXPANSION_TIME:g} s") from None
    if run.returncode:
        said = run.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no reason given"]
        raise UrdfError(f"xacro cannot expand it ({said[0]})")
    return run.stdout
