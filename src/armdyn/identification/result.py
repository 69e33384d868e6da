"""What an identification found, with its reports, pictures and files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.html import html_table, html_text
from armdyn.identification.diagnosis import Finding
from armdyn.identification.estimate import Noise
from armdyn.identification.observer.observer import Observer
from armdyn.identification.page import check_page, page, torque_figure
from armdyn.identification.preparation import Cutoffs, Health
from armdyn.identification.residuals import Fit, ResidualTest
from armdyn.identification.task import Search
from armdyn.identification.uncertainty import FoundParameter
from armdyn.io.atomic import write_text
from armdyn.report.figures import save_picture
from armdyn.report.portrait import figure_html
from armdyn.report.result import Result, Section
from armdyn.robot import Robot


@dataclass(frozen=True, eq=False, repr=False)
class Identification(Result):
    """The robot that was found, how well it explains the data, and what is known of it."""

    robot: Robot
    """The robot that was found; every link of it can exist."""
    given: Robot
    """The robot as it was given."""
    parameters: tuple[FoundParameter, ...]
    """Every linear parameter, with standard error and interval."""
    base: tuple[FoundParameter, ...]
    """The combinations of parameters that torques depend on, alike."""
    training: Fit
    validation: Fit | None
    """None if nothing was held out."""
    split: str
    """What sort of validation it was."""
    method: str
    search: Search
    """What was chosen on held-out blocks of the training."""
    cutoffs: Cutoffs
    noise: Noise
    """What the torques have that the model does not explain."""
    tests: tuple[ResidualTest, ...]
    """What the residuals still contain."""
    findings: tuple[Finding, ...]
    """What was odd about the data."""
    health: Health
    sources: tuple[str, ...]
    held_out: tuple[str, ...]
    passes: int
    """How often the training data were read."""
    seconds: float
    """Time that it took [s]."""

    @property
    def unexcited(self) -> tuple[FoundParameter, ...]:
        """Base parameters that the motion did not show, with the reason."""
        return tuple(parameter for parameter in self.base if not parameter.excited)

    @property
    def noise_time(self) -> Array:
        """Correlation time of what is not explained, (n,) [s]."""
        return np.array([test.noise_time for test in self.tests])

    def observer(self, gain: Any = 25.0, **options: Any) -> Observer:
        """An observer of the robot, with thresholds from the noise that was found."""
        worst = self.training.rms
        if self.validation is not None:
            worst = np.maximum(worst, self.validation.rms)
        floor = np.maximum(worst, 1e-9)
        return Observer(
            self.robot, gain, **{"noise": floor, "noise_time": self.noise_time} | options
        )

    def save(self, path: str | Path) -> None:
        """Write the robot to a .toml or .urdf file, with its sources and the date."""
        self.robot.save(path)

    def plot(self, path: str | Path) -> None:
        """Draw measured and predicted torques to a .png, .pdf or .svg file."""
        save_picture(path, torque_figure, self)

    def save_report(self, path: str | Path) -> None:
        """Write an .html page with tables and pictures, whole or not at all."""
        check_page(path)
        write_text(path, page(self))

    def sections(self) -> tuple[Section, ...]:
        """The parts of the report, the verdict first."""
        order = (_verdict, _findings, _errors, _base, _unexcited, _motors, _links, _residuals)
        parts = (part(self) for part in (*order, _method, _parameters))
        return tuple(part for part in parts if part is not None)

    def _repr_html_(self) -> str:
        """The first parts of the report and the torques, in a notebook."""
        told = [part for part in self.sections() if part.title][:_SHOWN]
        texts = ("\n".join((part.title, *(f"  {line}" for line in part.lines))) for part in told)
        tables = (
            html_table(part.columns, part.rows, texts=part.texts) if part.rows else ""
            for part in told
        )
        parts = (html_text(text) + table for text, table in zip(texts, tables, strict=True))
        return "".join(parts) + figure_html(lambda: torque_figure(self))

    def __repr__(self) -> str:
        fit = self.validation or self.training
        return (
            f"<Identification of {self.given.name!r}: {100 * fit.relative_error:.2f} % error in "
            f"{fit.name}>"
        )


def _verdict(found: Identification) -> Section:
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


def _findings(found: Identification) -> Section | None:
    if not found.findings:
        return None
    lines = [("! " if f.severe else "- ") + str(f) for f in found.findings]
    data = [
        {"kind": f.kind, "text": f.text, "advice": f.advice, "severe": f.severe}
        for f in found.findings
    ]
    return Section("What the data have", tuple(lines), data={"findings": data})


def _errors(found: Identification) -> Section:
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


def _base(found: Identification) -> Section:
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


def _unexcited(found: Identification) -> Section | None:
    some = found.unexcited
    if not some:
        return None
    rows = tuple((p.name if len(p.name) <= 60 else p.name[:57] + "...", p.why) for p in some)
    line = "what the robot had was kept as far as the data allow"
    return Section("Not shown by the motion", (line,), ("base parameter", "why"), rows, 2)


def _motors(found: Identification) -> Section:
    N = 10 * len(found.robot.model.links)
    some = found.parameters[N:]
    return Section(
        "Rotors, friction and springs" if found.robot.model.springs else "Rotors and friction",
        (f"terms: {found.search.friction or 'none'}",),
        ("parameter", "value", "from", "to", "before", "unit"),
        tuple(_row(p) for p in some),
        data={"friction": found.search.friction},
    )


def _links(found: Identification) -> Section:
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


def _residuals(found: Identification) -> Section:
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


def _method(found: Identification) -> Section:
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


def _parameters(found: Identification) -> Section:
    return Section("", data={"parameters": _data(found.parameters)})


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


_SHOWN = 4
"""Parts of the report in a notebook: verdict, findings, errors and base parameters."""
