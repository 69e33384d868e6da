"""What is told of the loops of a robot beside its equations: how its passive joints follow."""

from collections.abc import Iterator

from armdyn.errors import LoopError
from armdyn.loops.closure import closure_of
from armdyn.loops.plane import Path, PlanarLoop, Segment
from armdyn.loops.steps import Follower, LinearDyad, LinearStep
from armdyn.model import RobotModel


def check_loops(model: RobotModel, form: str) -> None:
    """Refuse a form that is not written for the loops of a robot."""
    if not model.loops:
        return
    loop, closure = model.loops[0], closure_of(model)
    if closure.iteration is not None:
        raise LoopError(
            f"the loops of {model.name!r} are solved by iteration, so there are no equations in "
            "closed form; evaluate the methods of the robot instead",
            loop=loop.name,
        )
    curved = [step for step in closure.steps if isinstance(step, Follower)]
    if form != "recursive" and curved:
        names = [model.joints[i].name for i in (curved[0].joint, curved[0].leader)]
        raise LoopError(
            f"joint {names[0]!r} of {model.name!r} follows {names[1]!r} along a curve, for which "
            f"the {form} form is not written; take the form recursive",
            loop=loop.name,
        )
    if form not in ("state", "recursive") and closure.linear is None:
        raise LoopError(
            f"the {form} form is not written for robots with loops that are not parallelograms, "
            f"as {loop.where} of {model.name!r}; take the form state or recursive",
            loop=loop.name,
        )


def notes_on_loops(model: RobotModel) -> Iterator[str]:
    """Which joints are passive, and the closures that they follow from."""
    if not model.loops:
        return
    passive = ", ".join(f"q{i + 1}" for i in model.passive)
    active = ", ".join(f"q{i + 1}" for i in model.independent)
    yield (
        f"the coordinates are the actuated joints {active}; {passive} are passive and follow from "
        "the loops. Numbers are those of joints and links"
    )
    for step in closure_of(model).steps:
        if isinstance(step, LinearDyad):
            yield f"loop {step.dyad.plane.loop.name}, a parallelogram: {_linear(step)}"
        elif isinstance(step, LinearStep):
            yield f"a coupling: {_linear(step)}"
        elif isinstance(step, Follower):
            yield f"a coupling: {_curve(step)}"
        else:
            x, y = _closure(step.plane)
            yield f"loop {step.plane.loop.name}: {x} = 0 and {y} = 0"


def _curve(step: Follower) -> str:
    powers = ("", f"q{step.leader + 1}", *(f"q{step.leader + 1}^{k}" for k in range(2, 99)))
    terms = [_signed(c, power or "1") for c, power in zip(step.coefficients, powers, strict=False)]
    return f"q{step.joint + 1} = {_joined(terms)}"


def _linear(dyad: LinearStep) -> str:
    told = []
    for joint, ratios, offset in zip(dyad.unknown, dyad.ratios, dyad.offsets, strict=True):
        terms = [_signed(ratio, f"q{j + 1}") for j, ratio in ratios]
        terms += [f"{offset:+.6g}"] if offset else []
        told.append(f"q{joint + 1} = {_joined(terms)}")
    return ", ".join(told)


def _closure(plane: PlanarLoop) -> tuple[str, str]:
    """Both components of the closure."""
    x, y = [], []
    for segment in plane.segments:
        cosine, sine = _pair(segment.path)
        (vx, vy), slide = segment.v, _slide(segment)
        x += [_signed(vx, cosine + slide), _signed(-vy, sine + slide)]
        y += [_signed(vx, sine + slide), _signed(vy, cosine + slide)]
    return _joined(x), _joined(y)


def _pair(path: Path) -> tuple[str, str]:
    if not path:
        return "1", "0"
    angle = _joined([_signed(sign, f"q{j + 1}") for j, sign in path])
    return f"cos({angle})", f"sin({angle})"


def _slide(segment: Segment) -> str:
    return f" q{segment.slide + 1}" if segment.slide >= 0 else ""


def _signed(factor: float, what: str) -> str:
    """A term with its sign; nothing if it is zero."""
    if not factor or what.startswith("0"):
        return ""
    size = "" if abs(factor) == 1 and not what.startswith("1") else f"{abs(factor):.6g}"
    rest = what.removeprefix("1").strip()
    return ("- " if factor < 0 else "+ ") + " ".join(word for word in (size, rest) if word)


def _joined(terms: list[str]) -> str:
    text = " ".join(term for term in terms if term)
    return text.removeprefix("+ ") or "0"
