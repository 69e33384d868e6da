"""Groups of joints, so that those of a leg are seen together."""

from collections import defaultdict

from armdyn.model import RobotModel

GROUPED_JOINTS = 10
"""An arm with more joints is shown in groups."""
_EDGES = "_- ./0123456789"


def joint_groups(model: RobotModel) -> list[str]:
    """The group of each coordinate; all are "" for an arm with few joints.

    A group is a chain without branches. Its name is how most of the names of its joints begin, or
    that of its first joint.
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
    """How more than half of the names begin, up to a whole word; else the first name."""
    first = names[0]
    ends = [i for i, letter in enumerate(first) if letter in _EDGES]
    for end in reversed(ends):
        start = first[:end].rstrip(_EDGES)
        if start and 2 * sum(name.startswith(first[:end]) for name in names) > len(names) > 1:
            return start
    return first
