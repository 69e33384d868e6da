"""What `--help` prints: verbs in groups, options with what they take, names and examples.

It is laid out here and not by typer, so that it reads the same at every width and cuts no name.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from inspect import Parameter, cleandoc, signature
from pathlib import Path
from textwrap import wrap
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from typer.core import TyperCommand

from armdyn.forks import imported

WIDEST, GAP, WIDEST_LABEL = 100, 2, 26
"""Characters of a line, between a word and its text, and of the longest word beside its text."""
LONGEST_CHOICE = 24
"""Characters of the alternatives that stand beside the name of an option and not in its text."""
WORDS = {float: "NUMBER", int: "N", str: "NAME", Path: "FILE"}
"""What an option takes, where nothing better is said."""
_QUANTITIES = "armdyn.quantities.program:QUANTITIES"
NAMES = {
    "torque": ("Formulations", "armdyn.quantities.formulations:FORMULATIONS"),
    "ops": ("Quantities", _QUANTITIES),
    "sweep": ("Quantities", _QUANTITIES),
    "export": ("Functions", _QUANTITIES),
    "bench": ("What can be measured", "armdyn.bench.bench:CASES"),
}
"""What can be named in the options of a verb, and where these names are."""


class Verb(TyperCommand):
    """A verb of the command line."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write usage, meaning, arguments, options, names and examples."""
        formatter.write("\n".join(_verb_lines(self, ctx)) + "\n")


def program_lines(
    program: Any, ctx: Any, groups: Mapping[str, Iterable[tuple[str, Any]]]
) -> Iterator[str]:
    """The command line as a whole: the names and functions of its verbs in their groups."""
    yield f"{_bold('Usage')}: {ctx.command_path} VERB ..."
    yield from ("", *_paragraphs(program.help))
    for group, verbs in groups.items():
        texts = [(name, cleandoc(verb.__doc__).partition("\n")[0]) for name, verb in verbs]
        yield from ("", _bold(group), *_rows(texts))
    yield from ("", _bold("Options"), *_rows(map(_option_row, _shown(program.params))))
    yield from ("", *_paragraphs(f"`{ctx.command_path} VERB --help` shows examples of each verb."))


def _verb_lines(verb: Any, ctx: Any) -> Iterator[str]:
    takes = _taken(verb)
    arguments = [p for p in verb.params if p.param_type_name == "argument"]
    words = [_argument(p) for p in arguments]
    yield f"{_bold('Usage')}: {' '.join([ctx.command_path, *words, '[OPTIONS]'])}"
    yield from ("", *_paragraphs(verb.help))
    if arguments:
        texts = ((_word_of(p), p.help or "") for p in arguments)
        yield from ("", _bold("Arguments"), *_rows(texts))
    for panel, options in _panels(p for p in verb.get_params(ctx) if p not in arguments):
        rows = (_option_row(p, takes.get(p.name, "")) for p in options)
        yield from ("", _bold(panel), *_rows(rows))
    if verb.name in NAMES:
        title, place = NAMES[verb.name]
        names = ", ".join(imported(place))
        indent = " " * GAP
        lines = wrap(names, _width(), initial_indent=indent, subsequent_indent=indent)
        yield from ("", _bold(title), *lines)
    if verb.name in EXAMPLES:
        yield from ("", _bold("Examples"), *(f"  {line}" for line in EXAMPLES[verb.name]))


def _shown(params: Iterable[Any]) -> list[Any]:
    return [p for p in params if not getattr(p, "hidden", False)]


def _panels(params: Iterable[Any]) -> Iterator[tuple[str, list[Any]]]:
    """The options in their groups."""
    groups: dict[str, list[Any]] = {"Options": []}
    for param in _shown(params):
        groups.setdefault(getattr(param, "rich_help_panel", None) or "Options", []).append(param)
    yield from groups.items()


def _word_of(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper()).strip("[].")


def _argument(param: Any) -> str:
    word = _word_of(param)
    many = "..." if param.nargs == -1 or getattr(param, "multiple", False) else ""
    return word + many if param.required else f"[{word}{many}]"


def _option_row(param: Any, takes: str = "") -> tuple[str, str]:
    """The spelling of an option with what it takes, and its text."""
    spelt = ", ".join(sorted(param.opts, key=len))
    spelt += "".join(f" / {other}" for other in param.secondary_opts)
    text, choice = param.help or "", (param.metavar or takes)
    if getattr(param, "is_flag", False):
        return spelt, text
    if "|" in takes and len(choice) > LONGEST_CHOICE:
        text, choice = f"{text} One of {takes.replace('|', ', ')}.", "NAME"
    default = param.default
    told = default not in (None, "", ..., (), []) and not callable(default) and not param.required
    text += f" [{default}]" if told and getattr(param, "show_default", True) else ""
    return f"{spelt} {choice or 'VALUE'}", text + (" Required." if param.required else "")


def _taken(verb: Any) -> dict[str, str]:
    """For each parameter of a verb, what it takes, by its type."""
    found = signature(verb.callback, eval_str=True).parameters.values()
    return {parameter.name: _word(parameter.annotation) for parameter in found}


def _word(kind: Any) -> str:
    if kind is Parameter.empty:
        return ""
    if get_origin(kind) is Literal:
        return "|".join(map(str, get_args(kind)))
    inner = [part for part in get_args(kind) if part is not NoneType]
    if get_origin(kind) is Annotated or inner:
        return _word(inner[0])
    return WORDS.get(kind, "")


def _rows(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Words with their texts beside them, or below where the word is long."""
    rows = list(pairs)
    beside = (len(word) for word, _ in rows if len(word) <= WIDEST_LABEL)
    label = max(beside, default=0) + 2 * GAP
    for word, text in rows:
        lines = _wrapped(text, _width() - label) or [""]
        if len(word) > WIDEST_LABEL:
            yield f"{' ' * GAP}{word}"
        else:
            yield f"{' ' * GAP}{word}".ljust(label) + lines.pop(0)
        yield from (" " * label + line for line in lines if line)


def _paragraphs(text: str | None) -> Iterator[str]:
    for place, paragraph in enumerate(cleandoc(text or "").split("\n\n")):
        yield from ([""] * bool(place)) + _wrapped(paragraph, _width())


def _wrapped(text: str, width: int) -> list[str]:
    """Lines that break between words, not within names that have a hyphen."""
    return wrap(text, width, break_on_hyphens=False)


def _width() -> int:
    return min(WIDEST, shutil.get_terminal_size().columns)


def _bold(text: str) -> str:
    return typer.style(text, bold=True)


EXAMPLES: dict[str, tuple[str, ...]] = {
    "robots": ("armdyn robots", "armdyn robots --json"),
    "info": ("armdyn info panda", "armdyn info ur5e --dh standard --degrees"),
    "check": ("armdyn check arm.urdf", "armdyn check arm.xml --json"),
    "inertia": (
        "armdyn inertia box 0.1 0.2 0.3 --density 2700",
        "armdyn inertia link.stl --units mm --mass 1.2",
    ),
    "compare": ("armdyn compare arm.urdf", "armdyn compare panda --with pinocchio,mujoco"),
    "torque": (
        "armdyn torque puma560 move.csv -o torques.csv --plot torques.png",
        "armdyn torque puma560 --q 0,45,-90,0,30,0 --qd 10,0,0,0,0,0 --degrees",
        "cat move.csv | armdyn torque ur5e - --payload 2,0,0,0.1",
    ),
    "sweep": (
        "armdyn sweep ur5e --set q=::20 --reduce extremes",
        "armdyn sweep panda states.parquet --quantity gravity_vector -o gravity.zarr",
    ),
    "terms": (
        "armdyn terms puma560 move.csv --plot terms.png",
        "armdyn terms ur5e workspace --speed 1 --tolerance 0.1",
    ),
    "reduced": (
        "armdyn reduced puma560 move.csv --tolerance 0.05 -o reduced/",
        "armdyn reduced ur5e workspace --tolerance 0.01 --reference effort",
    ),
    "rank": (
        "armdyn rank ur3 ur5e ur10 --task move.csv --plot rank.png",
        "armdyn rank before.toml after.toml --task workspace --by mean_power",
    ),
    "size": (
        "armdyn size arm.toml move.csv motors.toml",
        "armdyn size arm.toml move.csv motors.toml --minimise inertia -o driven.toml",
    ),
    "worst": (
        "armdyn worst ur5e --lift 5 --plot worst.png",
        "armdyn worst panda --lift 3 --speed 0.5 --acceleration 2",
    ),
    "simulate": (
        "armdyn simulate two_link --q0 1,0 --duration 5 --plot swing.png",
        "armdyn simulate two_link --controller gravity-pd --move 1,0 --saturation clip",
    ),
    "excite": (
        "armdyn excite panda --duration 20 -o motion.csv --plot motion.png",
        "armdyn excite ur10 --duration 20 --table 0 --acceleration 8 -o motion.csv",
    ),
    "identify": (
        "armdyn identify arm.urdf run.csv --validate other.csv -o new.toml",
        "armdyn identify ur10 run.csv --validate 0.4 --cutoff 5 --plot torques.png",
    ),
    "ops": ("armdyn ops ur5e", "armdyn ops puma560 --quantity mass_matrix --plot ops.png"),
    "equations": (
        "armdyn equations two_link -o two_link.tex",
        "armdyn equations puma560 --drop 0.01 --over move.csv --values --digits 3",
    ),
    "simplify": (
        "armdyn simplify saha_3r --goal constant+gravity-balanced -o new.toml",
        "armdyn simplify two_link --by springs --plot springs.png",
    ),
    "export": (
        "armdyn export panda -o panda_c",
        "armdyn export ur5e -o ur5e_c --functions inverse_dynamics,jacobian --float",
        "armdyn export panda -o panda_library --target cmake",
    ),
    "studio": ("armdyn studio panda", "armdyn studio arm.urdf --port 8080 --no-browser"),
    "bench": ("armdyn bench panda ur5e", "armdyn bench --quick --only one_state"),
    "cache": ("armdyn cache", "armdyn cache --clear"),
}
"""At least two command lines for each verb."""
