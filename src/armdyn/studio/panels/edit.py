"""The numbers of the arm, link by link, and what changing them does to the torques."""

from dataclasses import replace
from html import escape
from typing import Any

from armdyn.errors import ArmdynError, check_known
from armdyn.formulations.ledger import Ledger
from armdyn.formulations.textbook_terms import TextbookTerms
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import RobotModel, edit
from armdyn.model.validate import check_physical
from armdyn.robot import Robot
from armdyn.studio import svg
from armdyn.studio.arm import Arm, Evaluator, Snapshot, State
from armdyn.studio.background import Tell
from armdyn.studio.beside import Other
from armdyn.studio.editing import Numbers, Part, edited, inertia_of, numbers, parts
from armdyn.studio.panel import Panel
from armdyn.studio.panels.paired import paired_bars
from armdyn.studio.session import Session
from armdyn.studio.style import BAD

MAX_TREE = 60
"""Links in the tree; those of a larger arm are chosen by name."""
EDITED = " (edited)"
"""What the name of the source of an edited robot ends with."""


FIELDS = {
    "mass": ("mass [kg]", "A number, as 1.5 or 1e-2"),
    "com": ("centre [m]", "Centre of mass in the frame of the link: x y z"),
    "moments": ("Ixx Iyy Izz", "Moments about the centre of mass [kg m²]"),
    "products": ("Ixy Ixz Iyz", "Products, as they stand in the tensor [kg m²]"),
    "shape": ("or a shape", 'type = "box", size = [0.1, 0.1, 0.3], density = 2700'),
    "friction": ("friction", "viscous = 0.1, coulomb = 0.5; empty: none"),
    "rotor_inertia": ("rotor [kg m²]", "Inertia of the rotor, before the gear"),
    "gear_ratio": ("gear ratio", "Turns of the motor for one of the joint"),
    "position": ("positions", "Lowest and highest [rad or m], or none"),
    "velocity": ("velocity limit", "A number [rad/s or m/s], or none"),
    "effort": ("effort limit", "A number [N m or N], or none"),
}
"""Labels and hints of what is edited."""
LONG = ("friction",)
"""Texts that need several lines."""


class EditPanel(Panel):
    """A tree of links, the numbers of one of them, and the torques with other numbers."""

    def __init__(self, session: Session):
        self._session = session
        gui = session.client.gui
        self._tree = gui.add_html("")
        self._choice: Any = gui.add_dropdown("link", ("link1",))
        self._fields: dict[str, Any] = {
            key: gui.add_text(label, "", hint=hint, multiline=key in LONG)
            for key, (label, hint) in FIELDS.items()
        }
        self._html = gui.add_html("")
        self._use = gui.add_button("Use these numbers", disabled=True)
        self._beside: Any = gui.add_checkbox("compare with original", False, visible=False)
        self._back = gui.add_button("Back to the original", visible=False)
        self._original: Arm | None = None
        self._parts: list[Part] = []
        self._new: RobotModel | None = None
        self._editing = self._writing = False
        self._last: Snapshot | None = None
        guard = session.guard
        self._choice.on_update(guard(lambda _: self._read()))
        for handle in self._fields.values():
            handle.on_update(guard(self._changed))
        self._use.on_click(guard(lambda _: self.use()))
        self._beside.on_update(guard(lambda _: self._compare()))
        self._back.on_click(guard(lambda _: self._restore()))
        session.page.on("part", lambda message: self._choose(message.get("name")))

    def enter(self, arm: Arm) -> None:
        """Begin with an arm; one that was edited here keeps its original."""
        if not self._editing:
            self._original = arm
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

        self._session.jobs.start("loading", work, lambda made: self._enter(made, state), arm.title)

    def resume(self, arm: Arm, original: Arm | None, state: State | None) -> None:
        """Show an arm that was edited before."""
        self._original = original
        self._enter(arm, state)

    def _enter(self, arm: Arm, state: State | None) -> None:
        self._editing = True
        try:
            self._session.enter(arm, state and replace(state, terms=None))
        finally:
            self._editing = False

    def _restore(self) -> None:
        if self._original is not None:
            self._enter(self._original, self._session.state)

    def _compare(self) -> None:
        original = self._original
        other = None
        if self._beside.value and original is not None:
            other = Other(original.robot, original.evaluator, labels=("edited", "original"))
        self._session.compare(other)

    @property
    def _part(self) -> Part | None:
        return next((part for part in self._parts if part.name == self._choice.value), None)

    def _read(self) -> None:
        """Write the numbers of the chosen part into the fields."""
        part = self._part
        if part is None:
            return
        now = numbers(self._session.arm.robot.model, part)
        self._writing = True
        try:
            for key, handle in self._fields.items():
                handle.value = getattr(now, key)
        finally:
            self._writing = False
        self._new = None
        self._tell()

    def _changed(self, event: Any) -> None:
        part = self._part
        if self._writing or part is None or (event is not None and event.client_id is None):
            return
        values = Numbers(**{key: handle.value for key, handle in self._fields.items()})
        self._new, fault, model = None, "", self._session.arm.robot.model
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
            self._html.content = svg.framed(
                f"<b style='color:{BAD}'>{escape(fault)}</b>", "edit-fault"
            )
            return
        other = self._session.scene.beside if self._beside.value else None
        if self._last is None or (self._new is None and other is None):
            self._html.content = ""
            return
        model = self._session.arm.robot.model
        joints = [model.joints[i] for i in model.independent]
        told = [joint.name for joint in joints], [joint.type.torque_unit for joint in joints]
        now = self._last.ledger
        if self._new is not None:
            bars = paired_bars(now, ledger(self._new, self._last.state), *told)
        else:
            assert other is not None
            bars = paired_bars(other.ledger, now, *told, ("original", "edited"))
        self._html.content = svg.framed(bars, "edit")


def ledger(model: RobotModel, state: State) -> Ledger:
    """The torques of a robot that is not compiled."""
    if state.payload > 0:
        model = edit.with_payload(model, state.payload, (0, 0, 0), None)
    return Ledger(*TextbookTerms(coordinates_of(model)).ledger(state.q, state.qd, state.qdd))


def tree_html(model: RobotModel, original: RobotModel | None = None) -> str:
    """The links one below the other, indented by what carries them, those edited marked."""
    before = {} if original is None else {part.name: part for part in parts(original)}
    rows = []
    for part in parts(model)[:MAX_TREE]:
        old, mass = before.get(part.name), inertia_of(model, part).mass
        same = old is None or original is None
        same = same or numbers(model, part) == numbers(original, old)  # type: ignore[arg-type]
        mark = "" if same else " <b style='color:var(--ad-near)'>edited</b>"
        name = escape(part.name)
        rows.append(
            f"<button type='button' class='ad-part' data-part='{name}' "
            f"style='padding-left:{10 * (part.depth - 1)}px'>└ <b>{name}</b> "
            f"{mass:.4g} kg, on {escape(model.joints[part.link].name)}{mark}</button>"
        )
    rest = len(parts(model)) - len(rows)
    more = f"<div>and {rest} more</div>" if rest > 0 else ""
    return svg.framed("".join(rows) + more, "tree")
