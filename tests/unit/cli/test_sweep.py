import json

import pytest

import armdyn

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
    words = ("sweep", "two_link", "--random", 100, "--set", "q=-1:1", "--out", store)
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
