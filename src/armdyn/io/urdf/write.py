"""A RobotModel as URDF, with armdyn's own words only for what URDF has none for.

Each moving link is a <link>; the parts that fixed joints had merged into it, its payloads and its
frames are links on fixed joints of their own, so that nothing that has a name is lost.
"""

import numpy as np

from armdyn.io.urdf.element import element, numbers, place
from armdyn.io.urdf.read import TEXTS
from armdyn.io.urdf.write_joint import fixed_joint, moving_joint
from armdyn.io.urdf.write_link import moving_link, parts, unique
from armdyn.io.xml import Element, text_from_element
from armdyn.model import GRAVITY, RobotModel


def urdf_from_model(model: RobotModel) -> str:
    """The robot as the text of a URDF file, every number in full precision."""
    frames = {frame.name: frame for frame in (model.flange, *model.frames)}
    bodies = [body for link in (model.base_link, *model.links) for body in link.bodies]
    taken = {link.name for link in (model.base_link, *model.links)}
    taken |= {"tool", *frames} | {body.name for body in bodies if not body.payload}
    joint_names = {joint.name for joint in model.joints}
    elements = [_robot_words(model)]
    for i, link in enumerate((model.base_link, *model.links), start=-1):
        elements.append(moving_link(link, frames.get(link.name)))
        if i >= 0:
            parent = model.joints[i].parent
            carrier = model.links[parent] if parent >= 0 else model.base_link
            elements.append(moving_joint(model.joints[i], carrier.name, link.name))
        for part, placement in parts(i, link, frames.values(), taken):
            joint = unique(f"{part.attributes['name']}_fixed", joint_names)
            elements += [part, fixed_joint(joint, link.name, part.attributes["name"], placement)]
    return text_from_element(element("robot", *elements, name=model.name))


def _robot_words(model: RobotModel) -> Element:
    words = {"flange": model.flange.name}
    if not np.array_equal(model.gravity, GRAVITY):
        words["gravity"] = numbers(model.gravity)
    words |= {key: getattr(model, key) for key in TEXTS if getattr(model, key)}
    if model.reduced:
        words["reduced"] = "true"
    return element("armdyn", place("base", model.base), place("tool", model.tool), **words)
