"""The graph of the joints of an SDF model: a tree of them, and those that close loops."""

from collections.abc import Sequence

from armdyn.io.sdf.joint import CUTS, SdfJoint


def spanning_tree(
    root: str, joints: Sequence[SdfJoint]
) -> tuple[list[tuple[SdfJoint, bool]], list[SdfJoint]]:
    """The joints of a tree from the root outward, each with whether it is passed from its child.

    Joints that cannot close a loop are taken first, then those that are passed from the parent, and
    of these the ones nearest to the root. What is left closes loops.
    """
    depth, left = {root: 0}, list(joints)
    found: list[tuple[SdfJoint, bool]] = []
    while True:
        ready = [j for j in left if (j.parent in depth) != (j.child in depth)]
        if not ready:
            return found, left
        joint = min(ready, key=lambda j: (j.type in CUTS, *_cost(j, depth)))
        reverse = joint.parent not in depth
        near, far = (joint.child, joint.parent) if reverse else (joint.parent, joint.child)
        depth[far] = depth[near] + 1
        found.append((joint, reverse))
        left.remove(joint)


def _cost(joint: SdfJoint, depth: dict[str, int]) -> tuple[bool, int]:
    reverse = joint.parent not in depth
    return reverse, depth[joint.child if reverse else joint.parent]
