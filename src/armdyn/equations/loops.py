"""What the equations of a robot with loops leave to the reader: how its passive joints follow."""

from collections.abc import Iterator

from armdyn.formulations.loops.closure import closure_of
from armdyn.formulations.loops.parallelogram import LinearDyad
from armdyn.formulations.loops.plane import Path, PlanarLoop, Segment
from armdyn.model import RobotModel


def notes_on_loops(model: RobotModel) -> Iterator[str]:
    """That the equations are those of the open tree, and the closures that are added to them."""
    if not model.loops:
        return
    passive = ", ".join(f"q{i + 1}" for i in model.passive)
    yield (
        f"these are the equations of the open tree of {model.name}; {passive} are passive and "
        "follow from its loops. With qd = G qd_a the torques of the actuated joints are G' tau, "
        "their mass matrix is G' M G and their Coriolis matrix G' (M dG/dt + C G)"
    )
    for dyad in closure_of(model).dyads or ():
        if isinstance(dyad, LinearDyad):
            yield f"loop {dyad.dyad.plane.loop.name}, a parallelogram: {_linear(dyad)}"
        else:
            x, y = _closure(dyad.plane)
            yield f"loop {dyad.plane.loop.name}: {x} = 0 and {y} = 0"


def _linear(dyad: LinearDyad) -> str:
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
