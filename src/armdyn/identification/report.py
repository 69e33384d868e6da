"""An identification for people and for programs."""

from collections.abc import Sequence
from typing import Any

from armdyn.identification.record import Found
from armdyn.identification.residuals import Fit
from armdyn.identification.uncertainty import FoundParameter
from armdyn.report.result import Section


def sections(found: Found) -> tuple[Section, ...]:
    """The parts of the report, the verdict first."""
    order = (_verdict, _findings, _errors, _base, _unexcited, _motors, _links, _residuals)
    parts = (part(found) for part in (*order, _method, _parameters))
    return tuple(part for part in parts if part is not None)


def _verdict(found: Found) -> Section:
    fit = found.validation or found.training
    lines = [f"{found.given.name} from {', '.join(found.sources)}"]
    if found.validation is not None:
        lines.append(
            f"validation: {_percent(found.validation.relative_error)} of the torques are not "
            f"explained ({found.split})"
        )
    else:
        lines.append("nothing was held out: the error of the training says little about others")
    lines.append(f"training: {_percent(found.training.relative_error)} are not explained")
    lines.append(f"{sum(p.excited for p in found.base)} of {len(found.base)} base parameters shown")
    severe = [finding for finding in found.findings if finding.severe]
    if severe:
        lines.append(f"NOT TO BE TRUSTED: {', '.join(f.kind for f in severe)}, see below")
    return Section(
        "Identification",
        tuple(lines),
        data={
            "robot": found.given.name,
            "sources": list(found.sources),
            "held_out": list(found.held_out),
            "relative_error": fit.relative_error,
            "split": found.split,
            "training": _fit_data(found.training),
            "validation": _fit_data(found.validation),
        },
    )


def _fit_data(fit: Fit | None) -> dict[str, Any] | None:
    if fit is None:
        return None
    return {
        "relative_error": fit.relative_error,
        "per_joint": fit.per_joint.tolist(),
        "rms": fit.rms.tolist(),
        "samples": fit.samples,
        "duration": fit.duration,
    }


def _findings(found: Found) -> Section | None:
    if not found.findings:
        return None
    lines = [("! " if f.severe else "- ") + str(f) for f in found.findings]
    data = [
        {"kind": f.kind, "text": f.text, "advice": f.advice, "severe": f.severe}
        for f in found.findings
    ]
    return Section("What the data have", tuple(lines), data={"findings": data})


def _errors(found: Found) -> Section:
    joints = [found.given.model.joints[i] for i in found.given.model.independent]
    held = found.validation
    rows = []
    for j, joint in enumerate(joints):
        unit = joint.type.torque_unit
        row = [joint.name, _percent(found.training.per_joint[j])]
        row.append(f"{found.training.rms[j]:.3g} {unit}")
        if held is not None:
            row += [_percent(held.per_joint[j]), f"{held.rms[j]:.3g} {unit}"]
        row.append(f"{found.noise.deviation[j]:.3g} {unit}")
        rows.append(tuple(row))
    columns = ["joint", "training", "rms", *(["validation", "rms "] if held else []), "noise"]
    return Section("Errors by joint", (), tuple(columns), tuple(rows))


def _base(found: Found) -> Section:
    some = [p for p in found.base if p.excited]
    return Section(
        "Base parameters that the motion shows",
        ("value, 95 % interval, and what the robot had",),
        ("base parameter", "value", "from", "to", "before", "unit"),
        tuple(_row(p) for p in some),
        data={"base_parameters": _data(found.base)},
    )


def _row(p: FoundParameter) -> tuple[str, ...]:
    low, high = p.interval
    name = p.name if len(p.name) <= 60 else p.name[:57] + "..."
    return name, f"{p.value:.4g}", f"{low:.4g}", f"{high:.4g}", f"{p.before:.4g}", p.unit


def _data(parameters: Sequence[FoundParameter]) -> list[dict[str, Any]]:
    return [
        {
            "name": p.name, "unit": p.unit, "value": p.value, "error": p.error,
            "interval": list(p.interval), "before": p.before, "excited": p.excited, "why": p.why,
        }
        for p in parameters
    ]  # fmt: skip


def _unexcited(found: Found) -> Section | None:
    some = found.unexcited
    if not some:
        return None
    rows = tuple((p.name if len(p.name) <= 60 else p.name[:57] + "...", p.why) for p in some)
    line = "what the robot had was kept as far as the data allow"
    return Section("Not shown by the motion", (line,), ("base parameter", "why"), rows, 2)


def _motors(found: Found) -> Section:
    N = 10 * len(found.robot.model.links)
    some = found.parameters[N:]
    return Section(
        "Rotors, friction and springs" if found.robot.model.springs else "Rotors and friction",
        (f"terms: {found.search.friction or 'none'}",),
        ("parameter", "value", "from", "to", "before", "unit"),
        tuple(_row(p) for p in some),
        data={"friction": found.search.friction},
    )


def _links(found: Found) -> Section:
    rows = []
    for link, old in zip(found.robot.model.links, found.given.model.links, strict=True):
        body, before = link.inertia, old.inertia
        centre = ", ".join(f"{c:.3f}" for c in body.com)
        rows.append((link.name, f"{body.mass:.3g}", f"{before.mass:.3g}", f"({centre})"))
    line = "every link can exist: its pseudo-inertia is positive definite"
    faults = [link.name for link in found.robot.model.links if link.inertia.fault]
    if faults:
        line = f"links that cannot exist: {', '.join(faults)}"
    return Section("Links", (line,), ("link", "mass [kg]", "before", "centre [m]"), tuple(rows))


def _residuals(found: Found) -> Section:
    lines = [f"{t.joint}: {text}" for t in found.tests for text in t.told]
    data = [
        {"joint": t.joint, "velocity": t.velocity, "position": t.position, "drift": t.drift,
         "noise_time": t.noise_time}
        for t in found.tests
    ]  # fmt: skip
    return Section(
        "What the residuals still contain",
        tuple(lines) or ("nothing that goes with velocity, position or time",),
        data={"residual_tests": data},
    )


def _method(found: Found) -> Section:
    search = found.search
    lines = [
        f"method {found.method}; {found.training.samples:,} samples, "
        f"{found.training.duration:.4g} s; {found.passes} "
        f"pass{'es' * (found.passes != 1)} over the data; {found.seconds:.2g} s",
        f"Butterworth of order 4 both ways: torques and equations {found.cutoffs.equations:.3g} "
        f"Hz, positions {found.cutoffs.motion:.3g} Hz",
    ]
    if search.weights_tried:
        tried = ", ".join(f"{w:g}: {e:.3g}" for w, e in search.weights_tried)
        lines.append(f"weight of the prior {search.weight:g}; held-out error by weight: {tried}")
    rows = tuple((name, f"{error:.4g}") for name, error in search.friction_tried)
    return Section(
        "How it was found",
        tuple(lines),
        ("friction that was tried", "held-out error") if rows else (),
        rows,
        data={
            "method": found.method,
            "passes": found.passes,
            "seconds": found.seconds,
            "cutoff": found.cutoffs.equations,
            "motion_cutoff": found.cutoffs.motion,
            "prior_weight": search.weight,
        },
    )


def _parameters(found: Found) -> Section:
    return Section("", data={"parameters": _data(found.parameters)})


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
