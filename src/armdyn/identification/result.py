"""What an identification found, with its reports, pictures and files."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from html import escape
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import WriteError
from armdyn.html import html_table
from armdyn.identification.diagnosis import Finding
from armdyn.identification.estimate import Noise
from armdyn.identification.observer import Observer, torque_figure
from armdyn.identification.preparation import Cutoffs, Health
from armdyn.identification.residuals import Fit, ResidualTest
from armdyn.identification.task import Search
from armdyn.identification.uncertainty import FoundParameter
from armdyn.io.atomic import write_text
from armdyn.io.regular import check_path
from armdyn.report.figures import ALARM, COLOURS, GREY, INK, check_plot, styled_figure
from armdyn.report.portrait import figure_html
from armdyn.report.result import DrawnResult, Section, number, parts_of
from armdyn.robot import Robot
from armdyn.version import __version__


@dataclass(frozen=True, eq=False, repr=False)
class Identification(DrawnResult):
    """The robot that was found, how well it explains the data, and what is known of it."""

    robot: Robot
    """The robot that was found; its torques are those that were scored."""
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
    scored: str
    """What the errors are those of: a possible robot, or base parameters as they are."""
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
    def impossible(self) -> tuple[str, ...]:
        """Links, rotors and friction that cannot exist, as least squares may have them."""
        model = self.robot.model
        links = [link.name for link in model.links if link.inertia.fault]
        motors = [o.name for o in model.driven if o.rotor.fault or o.friction.fault]
        return *links, *motors

    def observer(self, gain: Any = 25.0, **options: Any) -> Observer:
        """An observer of the robot, with thresholds from the noise that was found."""
        fits = [fit.rms for fit in (self.training, self.validation) if fit is not None]
        times = [test.noise_time for test in self.tests]
        noise = {"noise": np.maximum(np.max(fits, axis=0), 1e-9), "noise_time": times}
        return Observer(self.robot, gain, **noise | options)

    def save(self, path: str | Path) -> None:
        """Write the robot to a .toml or .urdf file, with its sources and the date."""
        self.robot.save(path)

    def figure(self) -> Any:
        """What was measured and predicted in the validation, or else in the training, by joint."""
        fit = self.validation or self.training
        model = self.given.model
        series = fit.series
        t = _regular(fit.series.t)
        dashed = {"color": INK, "linewidth": 0.9, "linestyle": (0, (4, 2))}
        curves = (
            (series.tau, "measured", {"color": COLOURS["inertial"], "linewidth": 1.6}),
            (series.predicted, "predicted", dashed),
            (series.residual, "difference", {"color": ALARM, "linewidth": 0.8}),
        )

        def words(j: int, unit: str) -> str:
            return f"error {fit.rms[j]:.2g} {unit}, {100 * fit.per_joint[j]:.2g} %"

        split = self.split if fit is self.validation else "the data it was found from"
        title = f"{100 * fit.relative_error:.2g} % error in {fit.name}"
        subtitle = f"{split}; below {self.cutoffs.equations:.3g} Hz"
        return torque_figure(model, t, curves, words, title, subtitle)

    def save_report(self, path: str | Path) -> None:
        """Write an .html page with tables and pictures, whole or not at all."""
        check_page(path)
        write_text(path, page(self))

    def sections(self) -> tuple[Section, ...]:
        """The parts of the report, the verdict first."""
        order = (_verdict, _findings, _errors, _base, _unexcited, _motors, _links, _residuals)
        parts = (part(self) for part in (*order, _method))
        data = {"parameters": _data(self.parameters)}
        return *(part for part in parts if part is not None), Section("", data=data)

    def _repr_html_(self) -> str:
        """The report and the torques, in a notebook."""
        return super()._repr_html_() + figure_html(self.figure)

    def __repr__(self) -> str:
        fit = self.validation or self.training
        return (
            f"<Identification of {self.given.name!r}: {100 * fit.relative_error:.2f} % error in "
            f"{fit.name}>"
        )


# the parts of the report


def _verdict(found: Identification) -> Section:
    fit = found.validation or found.training
    held_out = "nothing was held out: the error of the training says little about others"
    if found.validation is not None:
        share = number(found.validation.relative_error, "%", 3)
        held_out = f"validation: {share} of the torques are not explained ({found.split})"
    lines = [
        f"{found.given.name} from {', '.join(found.sources)}",
        held_out,
        f"training: {number(found.training.relative_error, '%', 3)} are not explained",
        f"scored: {found.scored}",
        f"{sum(p.excited for p in found.base)} of {len(found.base)} base parameters shown",
    ]
    severe = ", ".join(finding.kind for finding in found.findings if finding.severe)
    if severe:
        lines.append(f"NOT TO BE TRUSTED: {severe}, see below")
    data = {"robot": found.given.name, **parts_of(found, "sources", "held_out")}
    data |= {"relative_error": fit.relative_error, **parts_of(found, "split", "scored")}
    for name, each in parts_of(found, "training", "validation").items():
        data[name] = None if each is None else each.data()
    return Section("Identification", tuple(lines), data=data)


def _findings(found: Identification) -> Section | None:
    if not found.findings:
        return None
    lines = tuple(("! " if f.severe else "- ") + str(f) for f in found.findings)
    return Section("What the data have", lines, data=parts_of(found, "findings"))


def _errors(found: Identification) -> Section:
    model = found.given.model
    fits = [fit for fit in (found.training, found.validation) if fit is not None]
    rows = []
    for j, joint in enumerate(model.coordinate_joints):
        unit = joint.type.torque_unit
        cells = [(number(x.per_joint[j], "%", 3), f"{x.rms[j]:.3g} {unit}") for x in fits]
        noise = f"{found.noise.deviation[j]:.3g} {unit}"
        rows.append((joint.name, *(cell for pair in cells for cell in pair), noise))
    columns = ("joint", *("training", "rms", "validation", "rms ")[: 2 * len(fits)], "noise")
    return Section("Errors by joint", (), columns, tuple(rows))


def _base(found: Identification) -> Section:
    return Section(
        "Base parameters that the motion shows",
        ("value, 95 % interval, and what the robot had",),
        ("base parameter", *_COLUMNS),
        tuple(_row(p) for p in found.base if p.excited),
        data={"base_parameters": _data(found.base)},
    )


_COLUMNS = ("value", "from", "to", "before", "unit")


def _row(p: FoundParameter) -> tuple[str, ...]:
    numbers = (p.value, *p.interval, p.before)
    return p.title, *(f"{x:.4g}" for x in numbers), p.unit


def _data(parameters: Sequence[FoundParameter]) -> list[dict[str, Any]]:
    return [asdict(p) | parts_of(p, "title", "interval") for p in parameters]


def _unexcited(found: Identification) -> Section | None:
    rows = tuple((p.title, p.why) for p in found.unexcited)
    line = "what the robot had was kept as far as the data allow"
    columns = ("base parameter", "why")
    return Section("Not shown by the motion", (line,), columns, rows, 2) if rows else None


def _motors(found: Identification) -> Section:
    return Section(
        "Rotors, friction and springs" if found.robot.model.springs else "Rotors and friction",
        (f"terms: {found.search.friction or 'none'}",),
        ("parameter", *_COLUMNS),
        tuple(_row(p) for p in found.parameters[10 * len(found.robot.model.links) :]),
        data={"friction": found.search.friction},
    )


def _links(found: Identification) -> Section:
    rows = []
    for link, old in zip(found.robot.model.links, found.given.model.links, strict=True):
        body, before = link.inertia, old.inertia
        centre = ", ".join(f"{c:.3f}" for c in body.com)
        rows.append((link.name, f"{body.mass:.3g}", f"{before.mass:.3g}", f"({centre})"))
    line = "every link can exist: its pseudo-inertia is positive definite"
    if found.impossible:
        names = ", ".join(found.impossible)
        line = f"cannot exist: {names}; project=True (--project) finds the nearest that can"
    columns = ("link", "mass [kg]", "before", "centre [m]")
    data = parts_of(found, "impossible")
    return Section("Links", (line,), columns, tuple(rows), data=data)


def _residuals(found: Identification) -> Section:
    lines = [f"{t.joint}: {text}" for t in found.tests for text in t.told]
    return Section(
        "What the residuals still contain",
        tuple(lines) or ("nothing that goes with velocity, position or time",),
        data={"residual_tests": found.tests},
    )


def _method(found: Identification) -> Section:
    search, cutoffs, prior = found.search, found.cutoffs, ""
    if search.weight:
        prior = f"; weight of the prior {search.weight:g}, fixed and not searched for"
    lines = (
        f"method {found.method}{prior}",
        f"{found.training.samples:,} samples, {found.training.duration:.4g} s; {found.passes} "
        f"pass{'es' * (found.passes != 1)} over the data; {found.seconds:.2g} s",
        f"Butterworth of order 4 both ways: torques and equations {cutoffs.equations:.3g} Hz, "
        f"positions {cutoffs.motion:.3g} Hz",
    )
    data = parts_of(found, "method", "passes", "seconds")
    data |= {"cutoff": cutoffs.equations, "motion_cutoff": cutoffs.motion}
    data["prior_weight"] = search.weight
    return Section("How it was found", lines, data=data)


# pictures


def _regular(t: Array) -> Array:
    """Times from zero on; a step between logs is one sample long."""
    steps = np.diff(t)
    usual = float(np.median(steps)) if len(steps) else 0.0
    steps = np.where((steps < 0) | (steps > 50 * usual), usual, steps)
    return np.concatenate([[0.0], np.cumsum(steps)])[: len(t)]


def error_figure(found: Any) -> Any:
    """Bars of the error of each joint in training and validation."""
    names = found.given.joint_names
    figure, axes = _canvas(7.6, 0.9 + 0.42 * len(names), 1, 1)
    axes, place = axes[0, 0], np.arange(len(names))
    colours = {found.training: COLOURS["rotor"], found.validation: COLOURS["inertial"]}
    colours.pop(None, None)
    height = 0.8 / len(colours)
    for k, (fit, colour) in enumerate(colours.items()):
        at = place + (k - (len(colours) - 1) / 2) * height
        axes.barh(at, 100 * fit.per_joint, height * 0.9, color=colour, label=fit.name)
        for y, share, rms in zip(at, fit.per_joint, fit.rms, strict=True):
            axes.text(100 * share, y, f"  {rms:.2g}", va="center", fontsize=7, color=GREY)
    axes.set_yticks(place, names)
    axes.invert_yaxis()
    axes.set_xlabel("error of the torque [% of its size]; beside the bars, rms [N m or N]")
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2, fontsize=8)
    figure.tight_layout()
    return figure


def residual_figure(found: Any) -> Any:
    """Residuals over velocity and position of each joint."""
    series = found.training.series
    names = found.given.joint_names
    figure, axes = _canvas(8.4, 0.5 + 1.15 * len(names), len(names), 2)
    some = slice(None, None, max(1, len(series.t) // 3000))
    look = {"markersize": 1.5, "color": COLOURS["inertial"], "alpha": 0.5}
    for j, name in enumerate(names):
        good = series.good[some, j]
        for panel, x in zip(axes[j], (series.qd, series.q), strict=True):
            panel.plot(x[some, j][good], series.residual[some, j][good], ".", **look)
            panel.axhline(0.0, color=GREY, linewidth=0.6)
            panel.locator_params(axis="y", nbins=4)
        axes[j, 0].set_ylabel(name if len(name) < 14 else name[:12] + "…", fontsize=7)
    for panel, word in zip(axes[0], ("velocity", "position"), strict=True):
        panel.set_title(f"residual over {word}", fontsize=9, color=INK)
    figure.tight_layout()
    return figure


def _canvas(width: float, height: float, rows: int, columns: int) -> tuple[Any, Any]:
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    figure = Figure(figsize=(width, height), facecolor="white")
    return figure, figure.subplots(rows, columns, squeeze=False)


# the page

_LOOK = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } b { font-size: 1.15rem; line-height: 3; }
p.sub { color: #6b6b6b; margin-top: 0; } table { border-collapse: collapse; font-size: .85rem; }
th, td { border-bottom: 1px solid #eee; } th { border-bottom: 1px solid #6b6b6b; }
pre { white-space: pre-wrap; font: inherit; } svg { max-width: 100%; height: auto; }
.figure { font-size: 2.6rem; font-weight: 600; } .figures { display: flex; gap: 3rem; }
.figures div { color: #6b6b6b; } .figures .figure { color: #0072b2; line-height: 1.1; }
"""


def check_page(path: str | Path) -> None:
    """Refuse, before anything is computed, a page that could not be written."""
    if check_path(path).suffix.lower() not in (".html", ".htm"):
        raise WriteError(f"cannot write a report to {str(path)!r}: the ending must be .html")
    check_plot("pictures.svg")


def page(found: Identification) -> str:
    """The page as text."""
    name = escape(found.given.model.title or found.given.name)
    pictures: dict[str, Callable[[Any], Any]] = {
        "Identification": Identification.figure,
        "Errors by joint": error_figure,
        "What the residuals still contain": residual_figure,
    }
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        f"<title>Identification of {name}</title><style>{_LOOK}</style></head><body>",
        f"<h1>Identification of {name}</h1>",
        f"<p class='sub'>armdyn {__version__}, {date.today().isoformat()}; "
        f"{escape(', '.join(found.sources))}</p>",
        _figures(found),
    ]
    for section in found.sections():
        if section.title:
            parts.append(section.html())
        if section.title in pictures:
            picture = StringIO()
            styled_figure(pictures[section.title], found, save=(picture, "svg", 100))
            text = picture.getvalue()
            parts.append(text[text.index("<svg") :])
    rows = [(p.title, p.name) for p in found.base]
    stands = html_table(("base parameter", "stands for"), rows, texts=2)
    parts.append(f"<details><summary>what base parameters stand for</summary>{stands}</details>")
    return "\n".join([*parts, "</body></html>\n"])


def _figures(found: Identification) -> str:
    """The numbers that matter, large."""
    told = ((f"held out: {found.split}", found.validation), ("training", found.training))
    cells = [(f"{100 * fit.relative_error:.2f} %", what) for what, fit in told if fit is not None]
    excited = sum(p.excited for p in found.base)
    cells.append((f"{excited} of {len(found.base)}", "base parameters shown"))
    texts = (f"<div><div class='figure'>{x}</div>{escape(what)}</div>" for x, what in cells)
    return f"<div class='figures'>{''.join(texts)}</div>"
