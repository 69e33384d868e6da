"""`armdyn identify`: files in, a robot, a picture and a page out."""

import json

import numpy as np
import pytest

import armdyn
from armdyn.io.csv.table import write_csv
from support.measured_arms import guessed, measured, worn

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A robot file and the logs of a true arm."""
    path = tmp_path_factory.mktemp("identify")
    arm = worn(armdyn.load("saha_3r"))
    guessed(arm).save(path / "guess.toml")
    for name, seed in (("run", 0), ("other", 5)):
        log = measured(arm, seed=seed)
        columns = {"t": log["t"]}
        columns |= {f"q{j + 1}": column for j, column in enumerate(log["q"].T)}
        columns |= {f"tau{j + 1}": column for j, column in enumerate(log["tau"].T)}
        write_csv(path / f"{name}.csv", columns)
    return path


def test_a_robot_is_identified_and_written(folder, command):
    words = ["identify", folder / "guess.toml", folder / "run.csv"]
    words += ["--validate", folder / "other.csv", "--prior-weight", "1"]
    words += [
        "-o",
        folder / "new.toml",
        "--plot",
        folder / "new.png",
        "--report",
        folder / "new.html",
    ]
    code, out, err = command(*words)
    assert (code, err) == (0, "")
    assert "another motion, another log" in " ".join(out.split())
    assert "every link can exist" in out
    new = armdyn.load(folder / "new.toml")
    assert "identified from run.csv" in new.model.source
    assert (folder / "new.png").stat().st_size > 10_000
    assert "</html>" in (folder / "new.html").read_text(encoding="utf-8")
    assert new.model.joints[0].friction.viscous > 0


def test_special_cases_and_json(folder, command):
    words = ["identify", folder / "guess.toml", folder / "run.csv", "--json"]
    code, out, _ = command(*words, "--only", "friction", "--validate", "0.4")
    result = json.loads(out)
    assert code == 0
    assert 0 < result["validation"]["relative_error"] < 1
    assert len(result["validation"]["per_joint"]) == 3
    code, out, _ = command(*words, "--method", "least_squares", "--coupled", "joint2+joint3",
                           "--validate", "0")  # fmt: skip
    assert code == 0
    assert json.loads(out)["validation"] is None


def test_mistakes_end_in_a_sentence(folder, command):
    robot, log = folder / "guess.toml", folder / "run.csv"
    for words, message in (
        ([robot, folder / "none.csv"], "there is no file"),
        ([robot, log, "-o", folder / "x.txt"], "the ending must be one of"),
        ([robot, log, "--report", folder / "x.pdf"], "the ending must be .html"),
        ([robot, log, "-o", robot], "is the robot itself"),
        ([robot, log, "--method", "magic"], "there is no method"),
        ([robot, log, "--only", "mass"], "there is no special case"),
        ([robot, log, "--gains", "1,2"], "expected 1 or 3 numbers"),
        ([robot, log, "--only", "payload", "--plot", folder / "x.png"], "has no --plot"),
        ([robot, log, "--only", "gravity", "--cutoff", "5"], "has no --cutoff"),
        ([robot, log, "--only", "payload", "--method", "robust"], "has no --method"),
        (["panda", log], "the positions of"),
    ):
        code, _, err = command("identify", *words)
        assert code == 2
        assert message in " ".join(err.replace("│", " ").split())
        assert "Traceback" not in err
    assert not (folder / "x.txt").exists()
    assert np.isfinite(armdyn.load(robot).parameters()).all()
