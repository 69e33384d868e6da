"""How robots and figures show themselves in notebooks."""

import io
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from armdyn.figures import STYLE
from armdyn.html import html_table
from armdyn.model import RobotModel
from armdyn.portrait import draw_portrait
from armdyn.shorten.canonical.dh_table import dh_table

MOST_JOINTS_DRAWN = 30
"""Joints of a robot beyond which it is shown by its tables alone."""


def robot_html(model: RobotModel) -> str:
    """Joints, DH table and picture of a robot."""
    columns = (
        "joint",
        "kind",
        "parent",
        "lower",
        "upper",
        "velocity",
        "effort",
        "link",
        "mass [kg]",
    )
    parents = (model.base_link.name, *(link.name for link in model.links))
    rows = [
        (
            *(joint.name, joint.kind, parents[joint.parent + 1]),
            *(f"{value:.5g}" for value in (joint.limits.lower, joint.limits.upper)),
            *(f"{value:.5g}" for value in (joint.limits.velocity, joint.limits.effort)),
            *(link.name, f"{link.inertia.mass:.5g}"),
        )
        for joint, link in zip(model.joints, model.links, strict=True)
    ]
    parts = [html_table(columns, rows, f"{model.title or model.name} [rad, m, s, N m, N]", texts=3)]
    parts.append(dh_table(model)._repr_html_())
    if len(model.joints) <= MOST_JOINTS_DRAWN:
        parts.append(figure_html(lambda: draw_portrait(model)))
    return "".join(parts)


def figure_html(draw: Callable[[], Any]) -> str:
    """A figure as an image inside a page; nothing where matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        return ""
    from base64 import b64encode  # noqa: PLC0415 (rarely needed)

    import matplotlib as mpl  # noqa: PLC0415 (an extra)

    stream = io.BytesIO()
    with mpl.rc_context(STYLE):
        draw().savefig(stream, format="png", dpi=110)
    code = b64encode(stream.getvalue()).decode()
    return f'<div><img src="data:image/png;base64,{code}" style="max-width:100%"/></div>'
