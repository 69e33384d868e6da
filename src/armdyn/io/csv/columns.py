"""Columns of a table by the names of joints, as recorders of ROS write them.

A column may be called as its joint (its position), or as the joint with a word for what it is:
elbow.position, elbow/velocity, velocity_elbow, /joint_states/elbow/position, position[elbow].
"""

import re
from collections.abc import Sequence

TIMES = ("time", "__time", "timestamp", "t [s]", "time [s]")
"""What the column of times may be called besides t."""
WORDS = {
    "q": ("position", "positions", "pos", "q"),
    "qd": ("velocity", "velocities", "vel", "qd"),
    "qdd": ("acceleration", "accelerations", "acc", "qdd"),
    "": ("effort", "efforts", "eff"),
}
"""For each group of columns, the words for it; those of efforts are passed over."""
PASSED_OVER = ""
"""The name that a column gets which is known and not used."""
_OWN = re.compile(r"t|qd{0,2}\d+|[fn][xyz]")
_SEPARATORS = re.compile(r"[/.:\[\]\s]+")


def numbered_columns(names: Sequence[str], joints: Sequence[str]) -> list[str]:
    """The names with those of joints replaced by q1, qd1, qdd1, ...; others as they are."""
    if all(_OWN.fullmatch(name) for name in names):
        return list(names)
    known = {joint: f"q{i}" for i, joint in enumerate(joints, 1)}
    for i, joint in enumerate(joints, 1):
        for group, words in WORDS.items():
            meant = f"{group}{i}" if group else PASSED_OVER
            for word in words:
                pairs = (f"{joint}/{word}", f"{joint}_{word}", f"{word}/{joint}", f"{word}_{joint}")
                known |= dict.fromkeys(pairs, meant)
    return [_numbered(name, known) for name in names]


def _numbered(name: str, known: dict[str, str]) -> str:
    if _OWN.fullmatch(name):
        return name
    if name.lower() in TIMES:
        return "t"
    parts = _SEPARATORS.sub("/", name).strip("/").split("/")
    endings = ("/".join(parts[-count:]) for count in range(len(parts), 0, -1))
    return next((known[ending] for ending in endings if ending in known), name)
