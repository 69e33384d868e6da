"""Groups of joints, so that those of a leg are seen together."""

from collections import defaultdict
from itertools import takewhile

from armdyn.model import RobotModel

GROUPED_JOINTS = 10
"""An arm with more joints is shown in groups."""
_EDGES = "_- ./0123456789"


def joint_groups(model: RobotModel) -> list[str]:
    """The group of each coordinate; all are "" for an arm with few joints.

    A group is a chain without branches. Its name is how the names of its joints begin, or that of
    its first joint.
    """
    if len(model.independent) <= GROUPED_JOINTS:
        return [""] * len(model.independent)
    children: dict[int, list[int]] = defaultdict(list)
    for i, joint in enumerate(model.joints):
        children[joint.parent].append(i)
    chain: dict[int, int] = {}
    for i, joint in enumerate(model.joints):
        alone = joint.parent >= 0 and len(children[joint.parent]) == 1
        chain[i] = chain[joint.parent] if alone else i
    members: dict[int, list[str]] = defaultdict(list)
    for i in model.independent:
        members[chain[i]].append(model.joints[i].name)
    names = {first: _common(own) for first, own in members.items()}
    return [names[chain[i]] for i in model.independent]


def _common(names: list[str]) -> str:
    """How names begin, up to a whole word."""
    same = (len({*letters}) == 1 for letters in zip(*names, strict=False))
    start = "".join(c for c, _ in zip(names[0], takewhile(bool, same), strict=False))
    if any(len(name) > len(start) and name[len(start)] not in _EDGES for name in names):
        cut = max((start.rfind(edge) for edge in _EDGES), default=-1)
        start = start[: cut + 1]
    return start.strip(_EDGES) or names[0]
