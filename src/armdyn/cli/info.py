"""`armdyn info`: what a robot is made of."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from armdyn.cli.console import print_table, print_text, printed_as_json, table
from armdyn.cli.options import RobotSource, flag, optional
from armdyn.errors import counted

if TYPE_CHECKING:
    from armdyn.shorten.canonical.dh_table import DhTable


def info(
    robot: RobotSource,
    *,
    dh: Literal["standard", "modified"] | None = optional(
        "Show the Denavit-Hartenberg table of the arm instead, of whatever format it is."
    ),
    degrees: bool = flag("--degrees", "Print the angles of that table in degrees."),
    modes: str | None = optional(
        "Show instead how an arm whose transmissions give vibrates at a configuration, or where in "
        "its workspace it does so most slowly.",
        "Q1,Q2,...|workspace",
    ),
) -> None:
    """Show the joints, links, inertias, friction, drives and DH table of a robot."""
    from armdyn.io.describe import describe

    arm = robot.open()
    if dh is not None:
        _print_dh(arm.dh_table(dh), degrees)
        return
    if modes is not None:
        _print_modes(arm, modes)
        return
    data = describe(arm.model)
    if printed_as_json(lambda: data):
        return
    for line in _head(data):
        print_text(line)
    for part in (_joints, _loops, _couplings, _drives, _springs, _bodies):
        if (rows := part(data)).row_count:
            print_table(rows)


def _print_modes(arm: Any, at: str) -> None:
    from armdyn.cli.motion_options import joint_values

    elastic = arm.elastic
    slowest = at == "workspace"
    q = elastic.slowest("locked")[1] if slowest else joint_values(arm, "--modes", at, False)
    free, locked = elastic.modes(q), elastic.modes(q, "locked")
    names = [*elastic.both.joint_names]
    data = {"q": q.tolist(), "coordinates": names}
    for motors, found in (("free", free), ("locked", locked)):
        parts = (found.squared, found.frequencies, found.damping, found.shapes)
        words = ("squared", "frequencies", "damping", "shapes")
        data[motors] = {word: part.tolist() for word, part in zip(words, parts, strict=True)}
    if printed_as_json(lambda: data):
        return

    def row(k: int) -> Iterator[str]:
        mode = free.rigid + k
        most = names[int(abs(free.shapes[:, mode]).argmax())]
        yield str(k + 1)
        yield f"{free.frequencies[k]:.4g}"
        yield f"{100 * free.damping[mode]:.3g}"
        yield f"{locked.frequencies[k]:.4g}"
        yield f"{100 * locked.damping[k]:.3g}"
        yield most

    where = ", ".join(f"{x:.4g}" for x in q)
    print_text(f"{'lowest of the workspace, ' if slowest else ''}at q = {where}")
    columns = ("mode", "motors free [Hz]", "damping [%]", "locked [Hz]", "damping [%]", "most in")
    rows = map(row, range(len(free.frequencies)))
    print_table(table(*columns, left=("most in",), title="Vibrations", rows=rows))
    for x in free.squared[: free.rigid]:
        if x < -1e-6 * free.squared[-1]:
            print_text(f"gravity topples the arm: a motion grows by {(-x) ** 0.5:.3g} per second")


def _print_dh(found: "DhTable", degrees: bool) -> None:
    if printed_as_json(found.data):
        return
    columns = found.columns(degrees)
    rows = found.cells(degrees)
    print_table(table(*columns, left=columns[:2], title=found.title, rows=rows))
    for name, place in (("base", found.base), ("tool", found.tool)):
        print_text(f"{name} at {_cell(_origin(place))} m, rotation {_rotation(place)}")


def _rotation(place: Any) -> str:
    rows = ("[" + ", ".join(f"{v:.5g}" for v in row.round(12) + 0.0) + "]" for row in place[:3, :3])
    return f"[{', '.join(rows)}]"


def _head(data: dict[str, Any]) -> list[str]:
    title = f" ({data['title']})" if data["title"] else ""
    lines = [
        f"{data['name']}{title}: {data['kinds']}, {counted(data['coordinates'], 'coordinate')}",
        f"moving mass {data['moving_mass']:.6g} kg, with the base {data['total_mass']:.6g} kg",
        f"gravity {_cell(data['gravity'])} m/s²",
        f"tool on {data['flange']} at {_cell(_origin(data['tool']))} m",
        f"source: {data['source'] or 'not given'}",
    ]
    if data["floating"]:
        lines.append(f"base {data['base_link']['name']} floats: robot.free_base has its dynamics")
    if data["reduced"]:
        lines.append("parameters: a reduced set, right in the torques, not link by link")
    return [*lines, f"note: {data['note']}"] if data["note"] else lines


def _joints(data: dict[str, Any]) -> Any:
    def row(joint: dict[str, Any]) -> Iterator[str]:
        mimic, pitch = joint["mimic"], joint["pitch"]
        follows = mimic and f"{mimic['multiplier']:g}·{mimic['leader']} + {mimic['offset']:g}"
        follows = follows or ("" if joint["actuated"] else "loops")
        values = _entries(joint["limits"], "lower upper velocity effort")
        kind = joint["kind"] + (f", {pitch:g} m/rad" if pitch else "")
        return map(_cell, (joint["name"], kind, joint["parent"], joint["axis"], *values, follows))

    return table(
        "joint", "kind", "parent", "axis", "lower", "upper", "velocity", "effort", "follows",
        left=("joint", "kind", "parent", "axis", "follows"), title="Joints [rad, m, s, N·m, N]",
        rows=map(row, data["joints"]),
    )  # fmt: skip


def _couplings(data: dict[str, Any]) -> Any:
    columns = ("coupling", "joint", "follows", "coefficients of its powers")
    rows = (
        (x["name"], x["follower"], x["leader"], ", ".join(f"{c:g}" for c in x["coefficients"]))
        for x in data["loops"]
        if "follower" in x
    )
    return table(*columns, left=columns, title="Couplings", rows=rows)


def _loops(data: dict[str, Any]) -> Any:
    def row(loop: dict[str, Any]) -> Iterator[str]:
        a, b = ((end["link"], _origin(end["placement"])) for end in (loop["a"], loop["b"]))
        return map(_cell, (loop["name"], loop["type"], *a, *b, loop["length"]))

    columns = ("loop", "cut joint", "link", "at [m]", "other link", "at [m]", "length [m]")
    title = "Loops, ends in the frames of the links"
    rows = (row(loop) for loop in data["loops"] if "a" in loop)
    return table(*columns, left=columns[:-1], title=title, rows=rows)


def _drives(data: dict[str, Any]) -> Any:
    from armdyn.model.friction import PARAMETERS

    owners = [*data["joints"], *data["drives"]]
    laws = [owner["friction"] for owner in owners]
    shown = [
        parameter
        for name, parameter in PARAMETERS.items()
        if parameter.heading and any(law[name] not in (None, parameter.default) for law in laws)
    ]

    spun = any(owner["rotor"]["axis"] for owner in owners)

    def row(owner: dict[str, Any]) -> tuple[str, ...]:
        friction, rotor = owner["friction"], owner["rotor"]
        values = [friction[parameter.name] for parameter in shown]
        values += _entries(rotor, "inertia gear_ratio reflected")
        values += [f"{_cell(rotor['axis'])} on {rotor['carrier']}" if rotor["axis"] else ""] * spun
        turns = " + ".join(f"{ratio:g}·{name}" for name, ratio in owner.get("joints", {}).items())
        return owner["name"] + (f" = {turns}" if turns else ""), *map(_cell, values)

    columns = ("joint", *(parameter.heading for parameter in shown), "rotor", "gear", "reflected")
    columns += ("spins about",) * spun
    title = "Friction at the joint, rotor at the motor [SI]"
    return table(*columns, left=("joint",), title=title, rows=map(row, owners))


def _springs(data: dict[str, Any]) -> Any:
    columns = ("spring", "link", "at [m]", "to", "at [m]", "N/m", "free length [m]")
    title = "Springs, ends in the frames of the links"
    keys = "name link point other anchor stiffness free_length"
    rows = (map(_cell, _entries(spring, keys)) for spring in data["springs"])
    return table(*columns, left=columns[:4], title=title, rows=rows)


def _bodies(data: dict[str, Any]) -> Any:
    def row(link: dict[str, Any], body: dict[str, Any]) -> Iterator[str]:
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = body["inertia"]
        about = body["inertia_about"] + ", own axes" * bool(body["inertia_axes"])
        part = body["name"] + " (payload)" * body["payload"]
        tensor = (xx, yy, zz), (xy, xz, yz)
        return map(_cell, (link["name"], part, body["mass"], body["com"], *tensor, about))

    texts = ("link", "part", "centre of mass [m]", "xx, yy, zz [kg m²]", "xy, xz, yz", "about")
    title = "Inertia as given, in the frame of each part; fixed joints merged into the link"
    links = (data["base_link"], *data["links"])
    rows = (row(link, body) for link in links for body in link["bodies"])
    return table(*texts[:2], "mass [kg]", *texts[2:], left=texts, title=title, rows=rows)


def _entries(record: dict[str, Any], keys: str) -> list[Any]:
    return [record[key] for key in keys.split()]


def _origin(place: Any) -> list[float]:
    """Where a frame is, of its transform."""
    return [row[3] for row in place[:3]]


def _cell(value: Any) -> str:
    """A text, a number, numbers in brackets, or a dash where nothing is known."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, int | float):
        return "-" if value is None else f"{value:.5g}"
    return f"({', '.join(f'{entry + 0.0:.5g}' for entry in value)})"
