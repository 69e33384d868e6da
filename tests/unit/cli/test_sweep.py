import json

import numpy as np
import pytest

import armdyn
from armdyn.sweeping.picture import draw

pytestmark = pytest.mark.slow


def test_a_grid_as_json_and_with_a_picture(command, tmp_path):
    picture = tmp_path / "map.png"
    code, out, _ = command(
        "sweep", "two_link", "--set", "q1=-1:1:9", "--set", "q2=0,0.5,1", "--set", "qdd=2",
        "--by", "q1,q2", "--plot", picture, "--workspace", "--json",
    )  # fmt: skip
    assert code == 0
    found = json.loads(out)
    assert found["states"] == 27
    arm = armdyn.load("two_link")
    top = found["extremes"][0]["max"]
    assert arm.inverse_dynamics(**top["state"])[0] == top["value"]
    assert picture.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("columns", [None, 100, 80, 60, 40])
def test_the_whole_worst_state_is_printed_and_no_number_is_cut(command, monkeypatch, columns):
    if columns is not None:
        monkeypatch.setenv("COLUMNS", str(columns))
    words = "sweep", "panda", "--random", "1e3", "--set", "q=:", "--set", "qd=-1:1"
    code, out, _ = command(*words, "--reduce", "extremes", "--reduce", "moments")
    assert code == 0
    assert columns is None or max(map(len, out.splitlines())) <= columns
    printed = {*out.split()}
    for entry in json.loads(command(*words, "--json")[1])["extremes"]:
        for side in ("min", "max"):
            state = entry[side]["state"]
            assert f"{entry[side]['value']:.5g}" in printed
            assert {f"{x:.4g}" for x in (*state["q"], *state["qd"])} <= printed


def test_degrees_are_radians_where_a_joint_turns(command, tmp_path):
    """The stanford arm has a joint that slides, of which a number is one of metres."""
    said = {
        "rad": ["q1=-0.7853981633974483:0.7853981633974483:5", "q3=0.4", "qd=0.5235987755982988"],
        "deg": ["q1=-45:45:5", "q3=0.4", "qd=30"],
    }
    # all columns of qd are said of at once: 30 is 30 m/s for the one that slides
    said["rad"].append("qd3=30")
    found = {}
    for unit, texts in said.items():
        words = [word for text in texts for word in ("--set", text)]
        extra = ["--degrees"] if unit == "deg" else []
        code, out, _ = command("sweep", "stanford", *words, *extra, "--json")
        assert code == 0
        found[unit] = json.loads(out)["extremes"]
    assert found["rad"] == found["deg"]
    file = tmp_path / "states.parquet"
    code, _, err = command("sweep", "two_link", file, "--degrees")
    assert (code, "--degrees is for --set and for .csv files" in " ".join(err.split())) == (2, True)


def test_a_motion_in_degrees_is_swept_ranked_and_compared_as_in_radians(command, tmp_path):
    t = np.linspace(0.0, 1.0, 9)
    q, names = np.column_stack([np.sin(t), 0.5 * np.cos(2 * t)]), "t,q1,q2"
    files = {"rad": tmp_path / "rad.csv", "deg": tmp_path / "deg.csv"}
    for unit, values in (("rad", q), ("deg", np.degrees(q))):
        table = np.column_stack([t, values])
        np.savetxt(files[unit], table, "%.17g", ",", header=names, comments="")
    for words in (("sweep", "two_link", "FILE"), ("rank", "two_link", "two_link", "--task", "FILE"),
                  ("compare", "two_link", "--with", "pinocchio", "--states", "FILE")):  # fmt: skip
        said = []
        for unit, extra in (("rad", ()), ("deg", ("--degrees",))):
            given = [files[unit] if word == "FILE" else word for word in words]
            code, out, _ = command(*given, *extra, "--json")
            assert code < 2  # a difference that is explained is 1
            found = json.loads(out)
            said.append(numbers({k: v for k, v in found.items() if k not in ("rate", "seconds")}))
        assert len(said[0]) > 3
        np.testing.assert_allclose(said[1], said[0], rtol=1e-9, atol=1e-12)
    for words in (("rank", "two_link", "--task", "workspace"), ("terms", "two_link", "workspace"),
                  ("compare", "two_link")):  # fmt: skip
        code, _, err = command(*words, "--degrees")
        assert code == 2
        assert "--degrees is for trajectories" in " ".join(err.split())


def numbers(data):
    """All numbers in what JSON says, in order."""
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, list):
        return [number for entry in data for number in numbers(entry)]
    return [data] if isinstance(data, int | float) and not isinstance(data, bool) else []


def test_a_map_that_hardly_varies_has_short_labels_inside_the_picture():
    over = armdyn.Grid(q1=(0, 1, 9), q2=(0, 1, 9), gravity=(0.0))
    arm = armdyn.load("two_link")
    result = armdyn.sweep(arm, "inverse_dynamics", over, by=("q1", "q2"))
    worst = result.extremes.worst
    worst[...] = 0.51992 + 1e-5 * np.arange(worst.size).reshape(worst.shape) / worst.size
    figure = draw(result, workspace=True)
    figure.canvas.draw()
    width = figure.bbox.width
    labels = [x for axes in figure.axes for x in axes.get_yticklabels() if x.get_text()]
    assert max(label.get_window_extent().x1 for label in labels) < width
    assert max(len(label.get_text()) for label in labels) <= 6


def test_samples_with_every_reduction_and_a_picture(command, tmp_path):
    for count, name in ((500, "--random"), (512, "--sobol")):
        picture = tmp_path / f"{count}.svg"
        code, out, err = command(
            "sweep", "two_link", name, count, "--set", "q=-1:1", "--reduce", "extremes",
            "--reduce", "moments", "--reduce", "histogram", "--bins", 8, "--reduce", "quantiles",
            "--levels", "0.5,0.9", "--reduce", "exceeded", "--limits", "5", "--plot", picture,
        )  # fmt: skip
        assert (code, err) == (0, "")
        for title in ("Extremes", "Moments", "Histograms of 8 bins", "Quantiles", "Where limits"):
            assert title in out
        assert picture.exists()


def test_a_store_is_written_and_read(command, tmp_path):
    store = tmp_path / "a.parquet"
    words = ("sweep", "two_link", "--random", 100, "--set", "q=-1:1", "--output", store)
    code, out, _ = command(*words)
    assert code == 0
    assert f"wrote {store}" in out.replace("\n", "")
    code, out, _ = command(*words)
    assert "100 states were in the store" in out
    code, out, _ = command("sweep", "two_link", store, "--quantity", "bias", "--json")
    assert json.loads(out)["states"] == 100


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--set", "q"), "expected NAME=RANGE, as q2=-1:1:50"),
        (("--set", "q=1:2:3:4"), "expected LOWER:UPPER or LOWER:UPPER:POINTS"),
        (("--set", "q=a:2"), "expected a number, got 'a'"),
        (("--random", 5, "--sobol", 5), "not several of them"),
        (("states.csv", "--set", "q=1"), "a file says what the states are"),
        (("--bins", 5), "--bins is for --reduce histogram"),
        (("--reduce", "mean"), "there is no reduction 'mean'"),
        (("--quantity", "torque"), "there is no quantity 'torque'"),
        (("--set", "q=::3:"), "expected LOWER:UPPER"),
    ],
)
def test_what_is_wrong_ends_with_one_message(command, words, message):
    code, _, err = command("sweep", "two_link", *words)
    assert code == 2
    assert message in " ".join(err.replace("│", " ").split())
