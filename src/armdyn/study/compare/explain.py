"""Why another library may compute another torque: each cause as a change to the robot.

A change is what the library makes of the description, so the torque of the changed robot must be
its torque, to rounding. Where joints of a URDF are misread, the numbers are those of the file: a
RobotModel has fixed joints merged and axes of length one. The fewest causes that turn our torque
into that of the library, up to rounding, explain it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial, reduce
from itertools import combinations
from operator import methodcaller
from pathlib import Path

import numpy as np

from armdyn.arrays import Array, frozen
from armdyn.errors import UrdfError
from armdyn.formulations.friction import friction_torque
from armdyn.formulations.newton_euler import newton_euler
from armdyn.formulations.rotors import all_rotor_torques
from armdyn.formulations.springs import spring_torques
from armdyn.io.xml import Place, Problems, XmlElement, read_xml
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import GRAVITY, Body, FrictionLaw, Inertia, Joint, Link, RobotModel, Rotor
from armdyn.model.edit import with_base, with_gravity, without_payload
from armdyn.model.friction import ASYMMETRIC_VISCOUS, COULOMB, TERMS
from armdyn.model.transform import IDENTITY, rotation_about, transform
from armdyn.robot import Robot
from armdyn.study.compare.peers import Answer, Material, Sources
from armdyn.study.states import StateSet

JOINT_TOLERANCE = 1e-9
"""Largest difference that counts as rounding, relative to the terms of the joint's torque."""
ROBOT_TOLERANCE = 1e-12
"""The same relative to the largest torque of the robot."""
MOST_CAUSES = 6
"""The most causes that are combined."""
MENTIONED_REMAINDER = 0.5
"""Causes that explain a part are mentioned if at most this share of the difference remains."""

Edit = Callable[[RobotModel], RobotModel]


@dataclass(frozen=True, eq=False)
class Cause:
    """A reason for a difference: what another library makes of a robot, as a change to it."""

    name: str
    """A word or two, for programs."""
    text: str
    """What the library does, to follow its name."""
    slots: str
    """Words for what it decides about; causes that share one exclude each other."""
    edit: Edit = field(default=lambda model: model)
    rigid: bool = False
    """Whether the links are concerned, and not only friction and rotors."""
    signs: Array | None = None
    """What the position of each joint is multiplied by, (N,)."""
    uncouples: bool = False
    """Whether joints that follow others are on their own."""
    adds: Array | None = None
    """A torque of the library's own, (m, N)."""


Choice = tuple[Cause, ...]


def each_joint(change: Callable[[Joint], Joint]) -> Edit:
    """A change to every joint."""
    return lambda model: replace(model, joints=tuple(map(change, model.joints)))


def each_body(change: Callable[[Body], Body]) -> Edit:
    """A change to every part of every moving link."""
    return lambda model: replace(
        model, links=tuple(Link(x.name, tuple(map(change, x.bodies))) for x in model.links)
    )


class Explainer:
    """The robot of a file at states (m, n), and its torques under the causes of differences.

    The states are those of a robot with the same joints, perhaps in another order.
    """

    def __init__(self, model: RobotModel, robot: Robot, states: StateSet):
        own = [joint.name for joint in model.coordinate_joints]
        names = robot.joint_names
        self._model, self._at = model, coordinates_of(model)
        self._back = [own.index(name) for name in names]
        q, qd, qdd = (v[:, [names.index(name) for name in own]] for v in states.motion)
        all_q = self._at.positions(q)
        all_qd = self._at.rates(qd)
        all_qdd = self._at.rates(qdd)
        self.states = replace(states, q=all_q, qd=all_qd, qdd=all_qdd)
        """Motions of all N moving joints, in the order of the file."""
        terms = robot.ledger(*states.motion).terms.values()
        scale = np.sum([np.abs(term) for term in terms], axis=0)
        largest = scale.max(axis=0)
        self.tolerance = JOINT_TOLERANCE * largest + ROBOT_TOLERANCE * largest.max()
        self._links, self._drives = cache(self._torque_of_links), cache(self._torque_of_drives)

    def coordinates(self, torque: Array) -> Array:
        """The torques of the coordinates, without those of the joints that follow them, (m, n)."""
        return torque[:, list(self._model.independent)][:, self._back]

    def torque(self, choice: Choice = ()) -> Array:
        """The torque with all these causes, (m, n)."""
        links = self._links(tuple(cause for cause in choice if cause.rigid))
        torque = links + self._drives(tuple(cause for cause in choice if not cause.rigid))
        if any(cause.uncouples for cause in choice):
            return self.coordinates(torque)
        return self._at.torques(torque)[:, self._back]

    def _torque_of_links(self, choice: Choice) -> Array:
        q, qd, qdd = self.states.motion
        for cause in choice:
            q = q if cause.signs is None else cause.signs * q
        return newton_euler(self._edited(choice), q, qd, qdd).tau

    def _torque_of_drives(self, choice: Choice) -> Array:
        model = self._edited(choice)
        rotors = all_rotor_torques(model, *self.states.motion)
        springs = spring_torques(model, model.springs, self.states.q)
        torque = friction_torque(model, self.states.qd) + rotors + springs
        return sum((cause.adds for cause in choice if cause.adds is not None), torque)

    def _edited(self, choice: Choice) -> RobotModel:
        return reduce(lambda model, cause: cause.edit(model), choice, self._model)

    def explain(self, theirs: Array, causes: Sequence[Cause]) -> tuple[bool, list[Choice]]:
        """Whether causes give a torque (m, n), and all smallest sets that do, or the nearest."""
        ours = self.torque()
        effects = [np.abs(self.torque((cause,)) - ours) for cause in causes]
        felt = [c for c, e in zip(causes, effects, strict=True) if (e > self.tolerance).any()]
        nearest: Choice = ()
        least = before = np.abs(theirs - ours).max()
        for count in range(MOST_CAUSES + 1):
            found = []
            for choice in combinations(felt, count):
                slots = [slot for cause in choice for slot in cause.slots.split()]
                if len(slots) > len(set(slots)):  # they decide about the same thing
                    continue
                left = np.abs(theirs - self.torque(choice))
                if (left <= self.tolerance).all():
                    found.append(choice)
                elif left.max() < min(least, MENTIONED_REMAINDER * before):
                    nearest, least = choice, left.max()
            if found:
                return True, found
        return False, [nearest]


def misreadings(file: Path, model: RobotModel) -> Iterator[Cause]:
    """What a library may make of a URDF that armdyn has read without complaint."""
    if file.suffix.lower() != ".urdf":
        return
    root = read_xml(file, UrdfError)
    problems = Problems(file, UrdfError)
    given = {x.attributes["name"]: Place(x, "", problems) for x in root.all("joint")}
    axes = {joint.name: _axis(given.get(joint.name)) for joint in model.joints}
    signs = {name: -1.0 if sorted(axis) == [-1, 0, 0] else 1.0 for name, axis in axes.items()}
    places = _fixed_links_in_a_row(root, list(given.values()))

    def without_fixed_joints(joint: Joint) -> Joint:
        """The joint where it would be if no fixed joint came before it."""
        origin = given[joint.name].origin() if joint.name in given else joint.placement
        return replace(joint, placement=frozen(origin))

    def turned(joint: Joint) -> Joint:
        """An axis of several components as z of a frame that is turned about it by its length."""
        axis = axes[joint.name]
        length = float(np.linalg.norm(axes[joint.name]))
        if np.count_nonzero(axis) < 2:
            return joint
        placement = joint.placement @ transform(rotation_about(axis / length, length))
        return replace(joint, placement=frozen(placement), axis=frozen([0.0, 0.0, 1.0]))

    yield from _spaces_in_numbers(root)
    for name, text, edit in (
        ("fixed joints", "forgets the fixed joints that come before a moving one",
         each_joint(without_fixed_joints)),
        ("fixed links", "puts links that are fixed side by side one behind the other",
         each_body(lambda b: replace(b, placement=places.get(b.name, b.placement)))),
        ("oblique axes",
         "misreads an axis with several components, as z of a frame turned about it",
         each_joint(turned)),
    ):  # fmt: skip
        yield _of_links(name, text, name, edit)
    yield Cause(
        "negative axes",
        "takes speed and torque of joints with a negative axis the wrong way round",
        "signs",
        each_joint(lambda joint: replace(joint, axis=frozen(signs[joint.name] * joint.axis))),
        rigid=True,
        signs=np.array(list(signs.values())),
    )


def _fixed_links_in_a_row(root: XmlElement, joints: list[Place]) -> dict[str, Array]:
    """Placements of fixed links as if each stood on the one before, depth first."""
    order = [link.attributes["name"] for link in root.all("link")]
    joints = sorted(joints, key=lambda joint: order.index(_end(joint, "child")))
    places: dict[str, Array] = {}

    def put(link: str, place: Array) -> Array:
        """Put what is fixed to a link behind a place; returns the place of the last one."""
        for joint in joints:
            if _end(joint, "parent") == link and joint.attributes["type"] == "fixed":
                place = places[_end(joint, "child")] = frozen(place @ joint.origin())
                place = put(_end(joint, "child"), place)
        return place

    for joint in joints:
        if joint.attributes["type"] != "fixed":
            put(_end(joint, "child"), IDENTITY)
    return places


def _spaces_in_numbers(root: XmlElement) -> Iterator[Cause]:
    """Inertias that urdfdom drops because of spaces, all of them or the tensor."""
    unread = _unread_inertias(root)

    def dropped(body: Body) -> Body:
        if unread.get(body.name) == "inertia":
            massive = Inertia.from_com(body.inertia.mass, body.inertia.com, np.zeros((3, 3)))
            return replace(body, inertia=massive)
        return replace(body, inertia=Inertia.zero()) if body.name in unread else body

    if unread:
        named = ", ".join(map(repr, list(unread)[:3])) + " and others" * (len(unread) > 3)
        text = f"drops the inertia of {named}: a number in it ends with a space, tab or line break"
        yield _of_links("spaces in numbers", text, "spaces in numbers", each_body(dropped))


def _unread_inertias(root: XmlElement) -> dict[str, str]:
    """Links whose inertia urdfdom drops, and the element in it at which it stops.

    It parts the numbers of a vector at spaces, and takes none with a space, tab or line break
    behind it. Its order is origin, mass, inertia; what came before stays only with the last.
    """
    found: dict[str, str] = {}
    for link in root.all("link"):
        parts = {part.tag: part.attributes for i in link.all("inertial") for part in i.children}
        for tag in ("origin", "mass", "inertia"):
            values = parts.get(tag, {}).values()
            numbers = [n for v in values for n in (v.split(" ") if tag == "origin" else [v])]
            if not all(re.fullmatch(r"\s*\S+", number) for number in numbers if number):
                found.setdefault(link.attributes["name"], tag)
    return found


def _end(joint: Place, tag: str) -> str:
    return joint.element.all(tag)[0].attributes["link"]


def _axis(joint: Place | None) -> Array:
    axis, along_x = joint and joint.only("axis"), (1.0, 0.0, 0.0)
    return np.array(along_x) if axis is None else axis.vector("xyz", along_x)


STANDARD_GRAVITY = 9.80665


def causes(sources: Sources, material: Material, answer: Answer) -> list[Cause]:
    """Every cause there may be for a library that was given this file and gave this answer."""
    return [
        *_links(sources, material),
        *_friction(material.model),
        *_own_terms(material.model, answer),
        Cause(
            "springs",
            "has no springs",
            "spring",
            lambda model: replace(model, springs=()),
        ),
        Cause(
            "rotors",
            "has no rotor inertia (armature)",
            "rotor",
            each_joint(lambda joint: replace(joint, rotor=Rotor())),
        ),
        Cause(
            "spin",
            "knows rotors by their inertia behind the gear alone, and not that they spin",
            "rotor",
            each_joint(lambda joint: replace(joint, rotor=joint.rotor.reflecting)),
        ),
        Cause(
            "mimic",
            "gives mimic joints torques of their own, not in that of the joint they follow",
            "mimic",
            uncouples=True,
        ),
    ]


_of_links = partial(Cause, rigid=True)


def _of_friction(
    name: str, text: str, slots: str, change: Callable[[FrictionLaw], FrictionLaw]
) -> Cause:
    edit = each_joint(lambda joint: replace(joint, friction=change(joint.friction)))
    return Cause(name, text, slots, edit)


def _links(sources: Sources, material: Material) -> Iterator[Cause]:
    """What may become of geometry, inertias and gravity."""
    if sources.other_convention is not None:
        right, wrong, other = sources.other_convention
        text = f"reads the {right} DH table as {wrong}"
        yield _of_links("DH convention", text, "table", lambda _: other)
    yield _of_links(
        "base",
        "stands upright at the origin, whatever the placement of the base",
        "base",
        lambda model: with_base(model, None),
    )
    yield from misreadings(material.file, material.model)

    def unturned(body: Body) -> Body:
        inertia = body.inertia
        if inertia.given_about != "com" or not inertia.has_com:
            return body
        tensor = inertia.tensor_as_given
        return replace(body, inertia=Inertia.from_com(inertia.mass, inertia.com, tensor))

    plain, gravity = material.plain, material.model.gravity
    yield _of_links(
        "inertial rpy",
        "loses the rotation of the inertial frame (rpy of <inertial>)",
        "inertia",
        each_body(unturned),
    )
    yield _of_links(
        "reduced inertias",
        "was not given the reduced inertias, which mass, centre of mass and tensor cannot hold",
        "inertia",
        lambda model: replace(model, links=plain.links, base_link=plain.base_link),
    )
    yield _of_links("payload", "leaves out the payload", "payload", without_payload)
    standard = STANDARD_GRAVITY / (float(np.linalg.norm(gravity)) or 1.0) * gravity
    for name, text, value in (
        (f"gravity {STANDARD_GRAVITY}", f"computes with gravity {STANDARD_GRAVITY} m/s²", standard),
        ("gravity", "takes gravity as (0, 0, -9.81) m/s²", GRAVITY),
        ("no gravity", "has no gravity", np.zeros(3)),
        ("gravity upwards", "takes gravity the other way round", -gravity),
    ):
        yield _of_links(name, text, "gravity", partial(with_gravity, gravity=value))


def _friction(model: RobotModel) -> Iterator[Cause]:
    """Terms of friction that are left out, or taken for others."""
    laws = [joint.friction for joint in model.joints]
    damped = any(_even(f).viscous for f in laws)
    dry = any(f.coulomb_positive for f in laws)
    for term in TERMS:
        yield _of_friction(term.name, term.absence, term.name, methodcaller("without", term))
    if dry:
        yield _of_friction(
            "friction as viscous",
            "takes friction, the Coulomb torque, for the viscous coefficient"
            + " and drops damping" * damped,
            "viscous coulomb asymmetric_viscous",
            lambda f: _even(f).without(COULOMB).changed(viscous=f.coulomb_positive),
        )
    if dry and damped:
        yield _of_friction(
            "friction added to viscous",
            "adds friction, the Coulomb torque, to the viscous coefficient",
            "viscous coulomb asymmetric_viscous",
            lambda f: (
                _even(f).without(COULOMB).changed(viscous=_even(f).viscous + f.coulomb_positive)
            ),
        )
    same = "has the same viscous friction in both directions"
    yield _of_friction("even viscous", same, "asymmetric_viscous", _even)
    yield _of_friction(
        "even coulomb",
        "has the same dry friction in both directions",
        "coulomb",
        lambda f: f.changed(coulomb_negative=f.coulomb_positive),
    )
    sharp = "has no smooth change of the sign of dry friction"
    yield _of_friction("sharp sign", sharp, "sign", methodcaller("changed", smooth_velocity=0.0))


def _even(law: FrictionLaw) -> FrictionLaw:
    """The law with the viscous coefficient of the positive direction in both."""
    viscous = law.viscous + law.viscous_positive
    return law.without(ASYMMETRIC_VISCOUS).changed(viscous=viscous)


def _own_terms(model: RobotModel, answer: Answer) -> Iterator[Cause]:
    """What the library itself shows: soft dry friction, springs and the like."""
    softened = answer.terms.get("constraint")
    most = np.array([joint.friction.coulomb_positive for joint in model.joints])
    if softened is not None and (np.abs(softened) <= most * (1 + 1e-9)).all():
        dry = [term for term in TERMS if term.dry]
        soft = _of_friction(
            "soft dry friction",
            "softens dry friction, the Coulomb term, at low speed",
            " ".join(["sign", *(term.name for term in dry)]),
            methodcaller("without", *dry),
        )
        yield replace(soft, adds=softened)
    for name, text in (
        ("spring", "has springs along curves, of balls or of tendons, which armdyn leaves out"),
        ("fluid", "has the drag of a fluid, which armdyn leaves out"),
        ("gravity compensation", "compensates gravity, which armdyn leaves out"),
    ):
        if name in answer.terms:
            yield Cause(name, text, name, adds=answer.terms[name])
