"""The numbers of the arm, link by link, and what changing them does to the torques."""

import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import Any, NamedTuple

import numpy as np

from armdyn.errors import ArmdynError, ModelError, check_known, shown
from armdyn.formulations.ledger import Ledger
from armdyn.io import edits
from armdyn.io.keys import FRICTION_KEYS, friction_from_keys, keys_from_friction
from armdyn.model import FrictionLaw, Inertia, RobotModel
from armdyn.model.validate import check_physical
from armdyn.robot import Robot
from armdyn.studio import marks
from armdyn.studio.arm import Arm, Evaluator, Snapshot, State, numeric_value
from armdyn.studio.background import Tell
from armdyn.studio.drawing import Other
from armdyn.studio.marks import paired_bars
from armdyn.studio.session import Panel, Session
from armdyn.studio.style import BAD

NONE = "none"
"""What stands for a limit that is not known."""
DIGITS = 7
"""Digits of a number in a field."""
LONGEST_TEXT = 400
"""Characters of a field at most."""
COUNTS = {1: "a number", 2: "two numbers", 3: "three numbers"}


def written(*values: float) -> str:
    """Numbers as text."""
    return " ".join(f"{x:.{DIGITS}g}" if math.isfinite(x) else NONE for x in values)


def typed(where: str, text: str, *counts: int, limits: bool = False) -> list[float]:
    """The numbers of a text, as many as one of the counts says; of limits each may be none.

    Raises:
        ModelError: The text is something else; it says where that is.
    """
    words = text[:LONGEST_TEXT].replace(",", " ").split()
    try:
        values = [math.inf if limits and word == NONE else float(word) for word in words]
    except ValueError:
        values = []
    wrong = math.isnan if limits else lambda value: not math.isfinite(value)
    if len(values) not in counts or any(map(wrong, values)):
        asked = " or ".join(COUNTS.get(count, f"{count} numbers") for count in counts)
        more = f", or {NONE!r}" if limits else ""
        raise ModelError(f"{where}: expected {asked}{more}, got {shown(text)}")
    return values


def typed_limits(where: str, text: str, count: int) -> list[float] | None:
    """Limits, each of which may be none; None for a text without any."""
    return None if text.strip() in ("", NONE) else typed(where, text, count, limits=True)


@dataclass(frozen=True, slots=True, eq=False)
class BodyPart:
    """A body of a link, and the joint that moves it."""

    name: str
    link: int
    depth: int
    """How many joints carry it."""


def parts(model: RobotModel) -> list[BodyPart]:
    """The bodies that move, in the order of the tree."""
    return [
        BodyPart(body.name, i, len(model.paths[i]))
        for i, link in enumerate(model.links)
        for body in link.bodies
        if not body.payload
    ]


class PartField(NamedTuple):
    """A text of a part that can be edited."""

    label: str
    hint: str
    words: str = ""
    """What its numbers are called where one is wrong."""
    size: int = 0
    """How many there are; 0 for keys and values, as in a table of a file."""
    read: Callable[[str, str, int], list[float] | None] = typed


BODY = {
    "mass": PartField("mass [kg]", "A number, as 1.5 or 1e-2", "mass", 1),
    "com": PartField("centre [m]", "In the frame of the link: x y z", "centre of mass", 3),
    "moments": PartField("Ixx Iyy Izz", "About the centre of mass [kg m²]", "Ixx Iyy Izz", 3),
    "products": PartField("Ixy Ixz Iyz", "As they stand in the tensor [kg m²]", "Ixy Ixz Iyz", 3),
    "shape": PartField("or a shape", 'type = "box", size = [0.1, 0.1, 0.3], density = 2700'),
}
JOINT = {
    "friction": PartField("friction", "viscous = 0.1, coulomb = 0.5; empty: none"),
    "rotor_inertia": PartField("rotor [kg m²]", "Of the rotor, before the gear", "rotor", 1),
    "gear_ratio": PartField(
        "gear ratio", "Turns of the motor for one of the joint", "gear ratio", 1
    ),
    "limits": PartField(
        "positions", "Lowest and highest [rad or m], or none", "position limits", 2, typed_limits
    ),
    "velocity_limit": PartField(
        "velocity limit", "A number [rad/s or m/s], or none", "velocity limit", 1, typed_limits
    ),
    "effort_limit": PartField(
        "effort limit", "A number [N m or N], or none", "effort limit", 1, typed_limits
    ),
}
FIELDS = BODY | JOINT
"""What can be edited of a link and of the joint that moves it; keys are those of a file."""
UPPER = np.triu_indices(3, 1)


def inertia_of(model: RobotModel, part: BodyPart) -> Inertia:
    """The inertia of a part."""
    bodies = model.links[part.link].bodies
    return next(body.inertia for body in bodies if body.name == part.name)


def numbers(model: RobotModel, part: BodyPart) -> dict[str, str]:
    """The texts of `FIELDS` that say the present numbers of a part; no shape."""
    joint, inertia = model.joints[part.link], inertia_of(model, part)
    tensor, limits = np.asarray(inertia.moment_about_com), joint.limits
    ends = limits.lower, limits.upper
    values: dict[str, Any] = {
        "mass": [inertia.mass],
        "com": inertia.com,
        "moments": np.diag(tensor),
        "products": tensor[UPPER],
        "rotor_inertia": [joint.rotor.inertia],
        "gear_ratio": [joint.rotor.gear_ratio],
        "limits": ends if np.isfinite(ends).any() else [np.inf],
        "velocity_limit": [limits.velocity],
        "effort_limit": [limits.effort],
    }
    laws = ", ".join(f"{key} = {_toml(x)}" for key, x in keys_from_friction(joint.friction))
    return {"shape": "", "friction": laws} | {key: written(*x) for key, x in values.items()}


def edited(model: RobotModel, part: BodyPart, new: Mapping[str, str]) -> RobotModel:
    """The robot with other numbers of a part; what is not edited stays as exact as it was.

    Raises:
        ModelError: A number or a text that means nothing; it names the link or the joint.
    """
    now, joint = numbers(model, part), model.joints[part.link].name
    keys: dict[str, Any] = {}
    for key, field in FIELDS.items():
        if new[key] != now[key] and field.size:
            owner = part.name if key in BODY else joint
            values = field.read(f"{field.words} of {owner}", new[key], field.size)
            keys[key] = values[0] if values is not None and field.size == 1 else values
    body = {key: keys.pop(key) for key in BODY if key in keys}
    if body.keys() & {"moments", "products"}:
        tensor = np.array(inertia_of(model, part).moment_about_com)
        np.fill_diagonal(tensor, body.pop("moments", np.diag(tensor)))
        tensor[UPPER] = tensor.T[UPPER] = body.pop("products", tensor[UPPER])
        body["inertia"] = tensor.tolist()
    if new["shape"].strip():
        body = {"shape": _table(f"shape of {part.name}", new["shape"])}
    made: RobotModel = edits.with_link(model, part.name, None, body) if body else model
    made = edits.with_joint(made, joint, keys) if keys else made
    if new["friction"] == now["friction"]:
        return made
    law = _friction(joint, new["friction"])
    joints = (replace(j, friction=law) if j.name == joint else j for j in made.joints)
    return replace(made, joints=tuple(joints))


def _friction(joint: str, text: str) -> FrictionLaw:
    friction = _table(f"friction of {joint}", text)
    for key in friction:
        if key not in FRICTION_KEYS:
            raise ModelError(
                f"friction of {joint}: {shown(key)} is none of {', '.join(FRICTION_KEYS)}"
            )
    return friction_from_keys(f"joint {joint!r}", friction)


def _table(where: str, text: str) -> dict[str, Any]:
    """Keys and values as a file has them between braces."""
    if len(text) > LONGEST_TEXT:
        raise ModelError(f"{where}: expected at most {LONGEST_TEXT} characters, got {len(text)}")
    try:
        line = " ".join(text.split()).rstrip(",")
        found: dict[str, Any] = tomllib.loads(f"x = {{{line}}}")["x"]
    except tomllib.TOMLDecodeError as error:
        raise ModelError(
            f"{where}: expected keys and values, as viscous = 0.1, coulomb = 0.5; {error}"
        ) from None
    return found


def _toml(value: Any) -> str:
    values = value if isinstance(value, tuple) else (value,)
    words = ", ".join(f"{float(x):.{DIGITS}g}" for x in values)
    return f"[{words}]" if isinstance(value, tuple) else words


MAX_TREE = 60
"""Links in the tree; those of a larger arm are chosen by name."""
EDITED = " (edited)"
"""What the name of the source of an edited robot ends with."""


class EditPanel(Panel):
    """A tree of links, the numbers of one of them, and the torques with other numbers."""

    def __init__(self, session: Session):
        super().__init__(session)
        gui = self._gui
        self._tree = gui.add_html("")
        self._choice: Any = gui.add_dropdown("link", ("link1",))
        self._fields: dict[str, Any] = {
            key: gui.add_text(field.label, "", hint=field.hint, multiline=key == "friction")
            for key, field in FIELDS.items()
        }
        self._html = gui.add_html("")
        self._use = self._button("Use these numbers", self.use, disabled=True)
        self._beside: Any = gui.add_checkbox("compare with original", False, visible=False)
        self._back = self._button("Back to the original", self._restore, visible=False)
        self._original: Arm | None = None
        self._parts: list[BodyPart] = []
        self._new: RobotModel | None = None
        self._writing = False
        self._last: Snapshot | None = None
        guard = session.guard
        self._choice.on_update(guard(lambda _: self._read()))
        for handle in self._fields.values():
            handle.on_update(guard(self._changed))
        self._beside.on_update(guard(lambda _: self._compare()))
        session.page.on("part", lambda message: self._choose(message.get("name")))

    def enter(self, arm: Arm) -> None:
        """Begin with an arm."""
        self._original = arm
        self.vary(arm)

    def vary(self, arm: Arm) -> None:
        """Go on with an arm that was edited, which keeps its original."""
        self._session.memory.original = self._original
        self._parts, self._last = parts(arm.robot.model), None
        chosen = self._choice.value
        names = tuple(part.name for part in self._parts) or ("no link moves",)
        self._choice.options = names
        self._choice.value = chosen if chosen in names else names[0]
        differs = self._original is not None and self._original.robot is not arm.robot
        self._beside.visible = self._back.visible = differs
        self._beside.value = False
        original = None if self._original is None else self._original.robot.model
        self._tree.content = tree_html(arm.robot.model, original)
        self._read()

    def show(self, snapshot: Snapshot) -> None:
        """Compare the torques in another state."""
        self._last = snapshot
        self._tell()

    def _choose(self, name: Any) -> None:
        """A link of the tree is pressed."""
        check_known("link", name, [part.name for part in self._parts])
        self._choice.value = name
        self._read()

    def put(self, name: str, **values: Any) -> None:
        """Choose a part and write some of its numbers, as a hand would."""
        self._choice.value = name
        self._read()
        for key, value in values.items():
            self._fields[key].value = value
        self._changed(None)

    def use(self) -> None:
        """Go on with the numbers that were written."""
        model, arm, state = self._new, self._session.arm, self._session.state
        if model is None:
            return
        robot = Robot(check_physical(model, "error"))

        def work(tell: Tell) -> Arm:
            tell("compiling the edited arm")
            name = f"{arm.source.removesuffix(EDITED)}{EDITED}"
            made = replace(arm, robot=robot, evaluator=Evaluator(robot), findings=())
            return replace(made, source=name, in_catalog=False)

        self._session.jobs.start("loading", work, lambda made: self._go_on(made, state), arm.title)

    def resume(self, arm: Arm, original: Arm | None, state: State | None) -> None:
        """Show an arm that was edited before."""
        with self._session.drawing:
            self._session.enter(arm, state)
            self._original = original
            self.vary(arm)

    def _go_on(self, arm: Arm, state: State) -> None:
        self._session.enter(arm, replace(state, terms=None), variant=True)

    def _restore(self) -> None:
        if self._original is not None:
            self._go_on(self._original, self._session.state)

    def _compare(self) -> None:
        original = self._original
        other = None
        if self._beside.value and original is not None:
            other = Other(original.robot, original.evaluator, labels=("edited", "original"))
        self._session.compare(other)

    @property
    def _part(self) -> BodyPart | None:
        return next((part for part in self._parts if part.name == self._choice.value), None)

    def _read(self) -> None:
        """Write the numbers of the chosen part into the fields."""
        part = self._part
        if part is None:
            return
        now = numbers(self._session.robot.model, part)
        self._writing = True
        try:
            for key, handle in self._fields.items():
                handle.value = now[key]
        finally:
            self._writing = False
        self._new = None
        self._tell()

    def _changed(self, event: Any) -> None:
        part = self._part
        if self._writing or part is None or (event is not None and event.client_id is None):
            return
        values = {key: handle.value for key, handle in self._fields.items()}
        self._new, fault, model = None, "", self._session.robot.model
        if values == numbers(model, part):
            self._tell()
            return
        try:
            self._new = check_physical(edited(model, part, values), "error")
        except ArmdynError as error:
            fault = str(error)
        self._tell(fault)

    def _tell(self, fault: str = "") -> None:
        """Show what the numbers do, or what is wrong with them."""
        self._use.disabled = self._new is None
        if fault:
            self._html.content = marks.framed(
                f"<b style='color:{BAD}'>{escape(fault)}</b>", "edit-fault"
            )
            return
        other = self._session.scene.beside if self._beside.value else None
        if self._last is None or (self._new is None and other is None):
            self._html.content = ""
            return
        model, now = self._session.robot.model, self._last.ledger
        if self._new is not None:
            state = self._last.state
            after = Ledger(*numeric_value(self._new, "ledger", state, *state.motion))
            bars = paired_bars(model, now, after)
        else:
            assert other is not None
            bars = paired_bars(model, other.ledger, now, ("original", "edited"))
        self._html.content = marks.framed(bars, "edit")


def tree_html(model: RobotModel, original: RobotModel | None = None) -> str:
    """The links one below the other, indented by what carries them, those edited marked."""
    before = {} if original is None else {p.name: numbers(original, p) for p in parts(original)}
    rows = []
    for part in parts(model)[:MAX_TREE]:
        now, mass = numbers(model, part), inertia_of(model, part).mass
        same = before.get(part.name, now) == now
        mark = "" if same else " <b style='color:var(--ad-near)'>edited</b>"
        name = escape(part.name)
        rows.append(
            f"<button type='button' class='ad-part' data-part='{name}' "
            f"style='padding-left:{10 * (part.depth - 1)}px'>└ <b>{name}</b> "
            f"{mass:.4g} kg, on {escape(model.joints[part.link].name)}{mark}</button>"
        )
    rest = len(parts(model)) - len(rows)
    more = f"<div>and {rest} more</div>" if rest > 0 else ""
    return marks.framed("".join(rows) + more, "tree")
