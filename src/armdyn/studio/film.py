"""A motion as an animated GIF: the arm, and its torques with a cursor."""

from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from typing import Any

import numpy as np

from armdyn.arrays import Array
from armdyn.formulations.kinematics import world_frames
from armdyn.loops.coordinates import coordinates_of
from armdyn.report.figures import GREY, INK, PALE, STYLE
from armdyn.report.portrait import link_lines
from armdyn.robot import Robot
from armdyn.studio.background import Tell
from armdyn.studio.recording import Recording
from armdyn.studio.stage import stage
from armdyn.studio.style import LINES

MAX_FRAMES = 60
FRAMES_PER_SECOND = 12
SIZE = (8.0, 4.0)
"""Width and height [inches] at DPI."""
DPI = 80


def film(robot: Robot, recording: Recording, tell: Tell) -> bytes:
    """The content of a GIF that takes as long as the motion, or is quicker if that is long."""
    import matplotlib as mpl  # noqa: PLC0415 (an extra)
    from PIL import Image  # noqa: PLC0415 (comes with matplotlib)

    count = int(np.clip(round(recording.duration * FRAMES_PER_SECOND), 2, MAX_FRAMES))
    times = np.linspace(0.0, recording.duration, count)
    states = [recording.at(float(t), 0.0) for t in times]
    paths = [skeleton(robot, state.q, state.base) for state in states]
    images = []
    with mpl.rc_context(STYLE):
        for k, picture in enumerate(_pictures(robot, recording, paths, times)):
            tell(f"drawing picture {k + 1} of {count}")
            images.append(Image.fromarray(picture).quantize(64))
    stream = BytesIO()
    period = max(20, round(1000 * recording.duration / count))
    images[0].save(
        stream, format="GIF", save_all=True, append_images=images[1:], duration=period, loop=0
    )
    return stream.getvalue()


def skeleton(robot: Robot, q: Array, base: Array | None = None) -> list[Array]:
    """The lines of an arm on the page: from each link to its joints, and to the tool, (k, 3).

    Its base is where it stands, or elsewhere.
    """
    model = robot.model
    here = model if base is None else replace(model, base=base)
    lines = link_lines(here, world_frames(here, coordinates_of(model).positions(q)))
    return [stage(model).on_page(line) for line in lines]


def _pictures(
    robot: Robot, recording: Recording, paths: list[list[Array]], times: Array
) -> Iterator[Array]:
    """The pictures at times since the start, (h, w, 3): a figure whose lines are moved."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 (an extra)
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    figure = Figure(figsize=SIZE, dpi=DPI, facecolor="white")
    agg: Any = FigureCanvasAgg(figure)
    figure.text(0.03, 0.93, robot.model.title or robot.name, weight="bold", color=INK)
    figure.text(0.03, 0.87, recording.title, color=GREY, fontsize=8)
    axes: Any = figure.add_axes((0.0, 0.0, 0.5, 0.88), projection="3d")
    points = np.concatenate([line for path in paths for line in path])
    centre = 0.5 * (points.min(0) + points.max(0))
    half = 0.55 * float(np.ptp(points, axis=0).max()) or 1.0
    ends = centre[:, None] + half * np.array([-1, 1])
    axes.set(xlim=ends[0], ylim=ends[1], zlim=ends[2])
    axes.set_box_aspect((1, 1, 1))
    axes.view_init(elev=18, azim=-55)
    axes.set_axis_off()
    x, y = np.meshgrid(ends[0], ends[1])
    axes.plot_surface(x, y, np.full_like(x, ends[2, 0]), color=PALE, alpha=0.35)
    look = {"color": "#2260A0", "linewidth": 4, "marker": "o", "markersize": 4}
    links = [axes.plot(*line.T, **look)[0] for line in paths[0]]
    plot = figure.add_axes((0.58, 0.17, 0.39, 0.66))
    plot.set_prop_cycle(color=LINES)
    plot.plot(recording.t, recording.tau, label=robot.joint_names, linewidth=1.3)
    plot.set_xlabel("t [s]")
    plot.set_ylabel("torque [N·m, N]")
    if recording.tau.shape[1] <= 8:
        plot.legend(fontsize=6, frameon=False, ncols=2)
    start = float(recording.t[0])
    cursor = plot.axvline(start, color=INK, linewidth=1.0)
    for t, path in zip(times, paths, strict=True):
        for drawn, line in zip(links, path, strict=True):
            drawn.set_data_3d(*line.T)
        cursor.set_xdata([start + t] * 2)
        agg.draw()
        yield np.asarray(agg.buffer_rgba())[..., :3].copy()
