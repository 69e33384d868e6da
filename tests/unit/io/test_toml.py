"""TOML in and out: the same robot comes back, and what cannot be read is refused with its place."""

import math
import re
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.errors import InertiaError, ModelError, TomlError, UnknownNameError
from armdyn.formulations.newton_euler import newton_euler
from armdyn.io.catalog import catalog_names, catalog_path
from armdyn.io.dh import COLUMNS
from armdyn.io.toml.read import BODY, JOINT, LINK, TOP
from armdyn.io.toml.write import toml_from_model
from armdyn.model import Connection, Frame, FrictionLaw, Inertia, Limits, Mimic, Rotor, assemble
from armdyn.model.edit import with_payload
from armdyn.model.transform import rotation_about, rotation_from_rpy, transform
from armdyn.robot import Robot
from support.paths import DOCS, ROBOTS
from support.reading import model_from_dh, model_from_toml, model_from_urdf

TREE = """
format = 1
name = "arm"
[[link]]
name = "base"
[[link]]
name = "upper"
mass = 2.0
com = [0.1, 0.0, 0.0]
inertia = [0.01, 0.02, 0.02]
[[joint]]
name = "shoulder"
type = "revolute"
parent = "base"
child = "upper"
"""
DH = """
format = 1
convention = "modified"
[[joint]]
name = "elbow"
joint = "revolute"
a = 0.5
mass = 1.0
"""


def save(folder: Path, text: str) -> Path:
    path = folder / "robot.toml"
    path.write_text(text, encoding="utf-8")
    return path


def again(folder: Path, model):
    return model_from_toml(save(folder, toml_from_model(model)), physical="ignore")


def torques(model):
    q, qd, qdd = np.random.default_rng(7).uniform(-1.0, 1.0, (3, 20, len(model.joints)))
    return newton_euler(model, q, qd, qdd).tau


def random_rotation(rng):
    axis = rng.normal(size=3)
    return rotation_about(axis / np.linalg.norm(axis), rng.uniform(-3.0, 3.0))


def random_inertia(rng):
    points = rng.normal(size=(6, 3)) * 0.2
    mass, com = rng.uniform(0.1, 5.0), rng.normal(size=3)
    spread = sum(p @ p * np.eye(3) - np.outer(p, p) for p in points)
    if rng.random() < 0.3:
        return Inertia.from_origin(mass, mass * com, 9.0 * spread)
    return Inertia.from_com(mass, com, spread, random_rotation(rng) if rng.random() < 0.5 else None)


def random_tree(seed: int):
    """Any joints and axes, branches, fixed joints, far-end frames, drives, a payload, a mimic."""
    rng = np.random.default_rng(seed)
    links = {f"link{i}": random_inertia(rng) for i in range(8)}
    kinds = ["revolute", "prismatic", "fixed", "revolute", "prismatic", "revolute", "fixed"]
    connections = [
        Connection(
            f"joint{i}",
            kind,
            f"link{rng.integers(i)}",
            f"link{i}",
            transform(random_rotation(rng), rng.normal(size=3)),
            rng.normal(size=3),
            Limits(-1.0, [2.0, math.inf][i % 2], *rng.uniform(1.0, 9.0, 2 + i % 2)),
            FrictionLaw(*rng.uniform(0.0, 1.0, 6)),
            Rotor(rng.uniform(), -50.0),
            Mimic("joint1", -2.0, 0.1) if i == 5 else None,
        )
        for i, kind in enumerate(kinds, start=1)
    ]
    model = assemble(
        f"tree {seed}",
        links,
        connections,
        placements={"link4": transform(random_rotation(rng), rng.normal(size=3))},
        tool="link4",
        tool_transform=transform(random_rotation(rng), (0.0, 0.1, 0.2)),
        base=transform(random_rotation(rng), (1.0, 2.0, 3.0)),
        gravity=rng.normal(size=3),
        source='A "quoted" source,\nwith \\ and Δ',
        reduced=True,
    )
    return with_payload(model, 1.5, (0.0, 0.1, 0.2), 0.01 * np.eye(3), name="box")


def assert_same_data(a, b):
    assert [j.name for j in a.joints] == [j.name for j in b.joints]
    for ours, theirs in zip(a.joints, b.joints, strict=True):
        for field in ("kind", "parent", "limits", "friction", "rotor", "mimic"):
            assert getattr(ours, field) == getattr(theirs, field)
        np.testing.assert_array_equal(ours.placement, theirs.placement)
        np.testing.assert_allclose(ours.axis, theirs.axis, rtol=0, atol=3e-16)
    for ours, theirs in zip((a.base_link, *a.links), (b.base_link, *b.links), strict=True):
        assert ours.name == theirs.name
        assert len(ours.bodies) == len(theirs.bodies)
        for x, y in zip(ours.bodies, theirs.bodies, strict=True):
            assert (x.name, x.payload) == (y.name, y.payload)
            np.testing.assert_array_equal(x.placement, y.placement)
            assert x.inertia.mass == y.inertia.mass
            assert x.inertia.given_about == y.inertia.given_about
            np.testing.assert_array_equal(x.inertia.given_axes, y.inertia.given_axes)
            for field in ("first_moment", "moment"):
                ours_, theirs_ = getattr(x.inertia, field), getattr(y.inertia, field)
                np.testing.assert_allclose(ours_, theirs_, rtol=1e-14, atol=1e-15)
    places = [{f.name: (f.link, f.placement.tolist()) for f in m.frames} for m in (a, b)]
    assert places[0] == places[1]
    assert (a.flange.name, a.flange.link) == (b.flange.name, b.flange.link)
    for field in ("tool", "base", "gravity"):
        np.testing.assert_array_equal(getattr(a, field), getattr(b, field))
    for key in ("name", "title", "source", "note", "reduced"):
        assert getattr(a, key) == getattr(b, key)


@pytest.mark.parametrize("seed", range(12))
def test_random_tree_comes_back(tmp_path, seed):
    model = random_tree(seed)
    copy = again(tmp_path, model)
    assert_same_data(model, copy)
    np.testing.assert_allclose(torques(copy), torques(model), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", catalog_names())
def test_catalog_robot_comes_back(tmp_path, name):
    model = model_from_toml(catalog_path(name))
    copy = again(tmp_path, model)
    assert_same_data(model, copy)
    tau = torques(model)
    np.testing.assert_allclose(torques(copy), tau, rtol=0, atol=1e-12 * np.abs(tau).max())


@pytest.mark.parametrize("name", ["arm.urdf", "gripper.urdf"])
def test_urdf_robot_comes_back(tmp_path, name):
    model = model_from_urdf(ROBOTS / name)
    assert_same_data(model, again(tmp_path, model))


@pytest.mark.parametrize("name", catalog_names())
def test_writing_twice_gives_the_same_text(tmp_path, name):
    text = toml_from_model(model_from_toml(catalog_path(name)))
    assert toml_from_model(model_from_toml(save(tmp_path, text))) == text


def test_published_digits_survive(tmp_path):
    """The tensor of the Panda's link 1 is written as it was published, not as it was stored."""
    text = toml_from_model(model_from_toml(catalog_path("panda")))
    assert "[0.70337, -0.000139, 0.006772]" in text


def test_flange_that_is_no_link_comes_back(tmp_path):
    model = model_from_toml(save(tmp_path, TREE))
    model = replace(model, flange=Frame("grip", 0, transform(position=(0.0, 0.0, 0.3))))
    assert again(tmp_path, model).flange.name == "grip"
    np.testing.assert_array_equal(again(tmp_path, model).flange.placement, model.flange.placement)


def test_dh_table_is_that_of_from_dh(tmp_path):
    rows = [
        dict(joint="revolute", a=0.2, alpha=-0.4, d=0.3, theta=0.1, mass=3.0, com=(0.1, 0.2, 0.3)),
        dict(joint="prismatic", alpha=1.2, mass=1.0, inertia=(0.1, 0.2, 0.25), coulomb=(1.0, 2.0)),
    ]
    text = 'format = 1\nconvention = "standard"\n' + "".join(
        "[[joint]]\n" + "".join(f"{k} = {_toml(v)}\n" for k, v in row.items()) for row in rows
    )
    model = model_from_toml(save(tmp_path, text))
    assert_same_data(model, replace(model_from_dh(rows), name="robot"))


def _toml(value):
    return (
        f'"{value}"' if isinstance(value, str) else str(value).replace("(", "[").replace(")", "]")
    )


def test_fixed_joint_and_parts_are_merged(tmp_path):
    """A part on the link and the same part on a fixed joint are the same robot."""
    R = "rpy = [0.1, 0.2, 0.3]\nposition = [0.0, 0.1, 0.2]\n"
    mass = "mass = 0.7\ncom = [0.0, 0.0, 0.1]\ninertia = [0.01, 0.01, 0.01]\n"
    joint = 'type = "fixed"\nparent = "upper"\nchild = "hand"\n'
    part = TREE.replace("[[joint]]", f'[[link.body]]\nname = "hand"\n{R}{mass}[[joint]]')
    apart = TREE + f'[[link]]\nname = "hand"\n{mass}[[joint]]\nname = "fix"\n{joint}{R}'
    one, two = (model_from_toml(save(tmp_path, text)) for text in (part, apart))
    np.testing.assert_allclose(torques(one), torques(two), rtol=1e-14)
    np.testing.assert_array_equal(one.frame("hand").placement, two.frame("hand").placement)


def test_tensor_axes_and_point(tmp_path):
    """About the origin and about the centre of mass, in turned axes: one body, one inertia."""
    R = rotation_from_rpy((0.3, -0.2, 0.5))
    com, I = np.array([0.1, 0.0, 0.0]), np.diag([0.01, 0.02, 0.02])
    about_com = TREE.replace(
        "[0.01, 0.02, 0.02]", "[0.01, 0.02, 0.02]\ninertia_rpy = [0.3, -0.2, 0.5]"
    )
    moment = R @ I @ R.T + 2.0 * ((com @ com) * np.eye(3) - np.outer(com, com))
    about_origin = TREE.replace(
        "[0.01, 0.02, 0.02]", f"{moment.tolist()}\ninertia_about = 'origin'"
    )
    one, two = (model_from_toml(save(tmp_path, t)).links[0] for t in (about_com, about_origin))
    np.testing.assert_allclose(one.inertia.moment, two.inertia.moment, rtol=1e-14)
    np.testing.assert_allclose(one.bodies[0].inertia.tensor_as_given, I, atol=1e-16)


def test_options(tmp_path):
    path = catalog_path("panda")
    base = transform(position=(1.0, 0.0, 0.0))
    model = model_from_toml(
        path, locked={"joint7": 0.3}, tool="link5", gravity=(0, 0, -1), base=base
    )
    assert len(model.joints) == 6
    assert (model.flange.name, model.flange.link) == ("link5", 4)
    np.testing.assert_array_equal(model.gravity, (0.0, 0.0, -1.0))
    np.testing.assert_array_equal(model.base, base)


def test_another_flange_drops_the_tool_of_the_file(tmp_path):
    path = catalog_path("craig_two_link")
    assert model_from_toml(path, tool="link2").tool[0, 3] == 0.4
    assert model_from_toml(path, tool="link1").tool[0, 3] == 0.0


def test_unknown_names_in_the_options():
    with pytest.raises(UnknownNameError, match=r"flange of 'panda' named 'hand'"):
        model_from_toml(catalog_path("panda"), tool="hand")
    with pytest.raises(UnknownNameError, match=r"joint to lock.*'joint9'.*joint1"):
        model_from_toml(catalog_path("panda"), locked={"joint9": 0.0})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("format = = 1", r"robot\.toml: not valid TOML: .*line 1"),
        ("", r"format: expected 1, got None"),
        ("format = 2", r"format: expected 1, got 2.*newer armdyn"),
        ("format = 1", r"there is no \[\[joint\]\]"),
        ("format = 1\njoint = 3", r"joint: expected tables, each headed by \[\[joint\]\], got 3"),
        ("gravty = 1\n" + TREE, r"there is no key 'gravty'\. Did you mean 'gravity'"),
        ("gravity = [0, 1]\n" + TREE, r"gravity: expected numbers of shape \(3,\), got"),
        ("gravity = [0, nan, 1]\n" + TREE, r"gravity: expected a finite number.*nan"),
        ("base = 3\n" + TREE, r"base: expected a table, got 3"),
        ("base = { rpy = [0,0,0], angle = 1 }\n" + TREE, r"base: there is no key 'angle'"),
        ("reduced = 1\n" + TREE, r"reduced: expected true or false, got 1"),
        (TREE + "rotor_inertia = -1", r"robot\.toml: joint 1 'shoulder': rotor_inertia .* got -1"),
        (TREE + "rotor_inertia = 1\ngear_ratio = 0", r"joint 1 'shoulder': gear_ratio is 0"),
        (
            TREE + "stribeck = 1\nstribeck_velocity = 0",
            r"joint 1 'shoulder': stribeck = 1.0 needs a positive stribeck_velocity",
        ),
        (TREE.replace('"arm"', '""'), r"robot: a name is a string that is not empty, got ''"),
        ("name = 1\nformat = 1\n[[joint]]", r"name: expected a string, got 1"),
        ("flange = 'uper'\n" + TREE, r"flange of 'arm' named 'uper'\. Did you mean 'upper'"),
        (TREE + "mas = 1", r"joint 1 'shoulder': there is no key 'mas'\. Did you mean 'axis'"),
        (TREE.replace("com = ", "cm = "), r"link 2 'upper': there is no key 'cm'.* 'com'"),
        (TREE.replace("2.0", "'2'"), r"link 2 'upper': mass: expected a number, got '2'"),
        (TREE.replace("2.0", "true"), r"mass: expected a number, got True"),
        (TREE.replace("2.0", "inf"), r"mass: expected a finite number, got inf"),
        (TREE.replace("2.0", "1" + 400 * "0"), r"mass: expected a number"),
        (TREE.replace("0.1, 0.0,", "0.1,"), r"com: expected numbers of shape \(3,\), got"),
        (TREE.replace("[0.01, 0.02, 0.02]", "[[1, 2], [3]]"), r"inertia: expected numbers"),
        (TREE.replace("com =", "first_moment ="), r"first_moment goes with inertia_about"),
        (TREE + "[[link]]\nname = 'upper'", r"link 3 'upper': the name is taken"),
        (TREE.replace('name = "base"\n', ""), r"link 1: the key 'name' is missing"),
        (TREE.replace('"revolute"', '"ball"'), r"type: expected 'revolute'.*got 'ball'"),
        (TREE.replace('child = "upper"', ""), r"'shoulder': the key 'child' is missing"),
        (TREE.replace('child = "upper"', "child = 'up'"), r"child of joint 'shoulder': 'up'"),
        (TREE + "axis = [0, 0, 0]", r"joint 'shoulder': the axis .* has no direction"),
        (TREE + "limits = [1, 0]", r"the lower limit 1 is above the upper limit 0"),
        (TREE + "limits = [-inf, inf]", r"leave a limit out where there is none"),
        (TREE + "limits = [0, 1]\nlower = 0", r"give limits, or lower and upper, not both"),
        (TREE + "effort_limit = -1", r"are magnitudes and cannot be negative"),
        (TREE + "viscous = -1", r"joint 1 'shoulder': viscous is a magnitude"),
        (TREE + "rpy = [0,0,0]\nrotation = [[1,0,0],[0,1,0],[0,0,1]]", r"give rpy or rotation"),
        (TREE + "rotation = [[1,0,0],[0,1,0],[0,0,2]]", r"'shoulder': rotation.*not a rotation"),
        (TREE + "mimic = { leader = 'x' }", r"mimicked by 'shoulder' named 'x'"),
        (TREE + "mimic = { joint = 'x' }", r"'shoulder': mimic: there is no key 'joint'"),
        (TREE + "[[link.frame]]\nname = 'base'", r"two links, bodies or frames are named 'base'"),
        (DH + "twist = 1", r"joint 1 'elbow': there is no key 'twist'"),
        (DH + "alpha = '90'", r"joint 1 'elbow': alpha: expected a number, got '90'"),
        (
            DH + "coulomb = [1, 2, 3]",
            r"coulomb \(a number or a pair\): expected numbers of shape \(2,\)",
        ),
        (DH + "limits = 3", r"limits must be \(lower, upper\), got 3"),
        (DH.replace("modified", "craig"), r"convention must be 'standard' or 'modified'"),
        (DH.replace('"revolute"', '"ball"'), r"joint 1 'elbow': joint must be .* got 'ball'"),
        (DH + "[[link]]\nname = 'x'", r"there is no key 'link'"),
    ],
)
def test_refused_with_its_place(tmp_path, text, message):
    with pytest.raises(TomlError, match=message) as caught:
        model_from_toml(save(tmp_path, text))
    assert caught.value.file == tmp_path / "robot.toml"
    assert str(tmp_path / "robot.toml") in str(caught.value)


def test_two_roots_are_refused(tmp_path):
    with pytest.raises(TomlError, match=r"there are 2 root links: 'base', 'loose'"):
        model_from_toml(save(tmp_path, TREE + "[[link]]\nname = 'loose'"))


def test_unreadable_files(tmp_path):
    with pytest.raises(TomlError, match="there is no such file"):
        model_from_toml(tmp_path / "none.toml")
    with pytest.raises(TomlError, match="this is a directory"):
        model_from_toml(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    with pytest.raises(TomlError, match="cannot be read: .*utf-8"):
        model_from_toml(tmp_path / "latin.toml")
    with (tmp_path / "huge.toml").open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    with pytest.raises(TomlError, match="the file has 100.0 MB, more than the 4 MB that are read"):
        model_from_toml(tmp_path / "huge.toml")
    with pytest.raises(TomlError, match="robot.toml: "):
        model_from_toml(save(tmp_path, "format = " + 100_000 * "["))


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".a" * 20_000 + " = 1",
        '"a"' + " . 'a'" * 20_000 + " = 1",
        "[" + "a." * 20_000 + "a]",
        "a = " + "[" * 20_000,
        "a = " + "{ a = " * 20_000,
    ],
)
def test_deep_nesting_is_refused_before_it_costs_anything(tmp_path, text):
    start = time.perf_counter()
    with pytest.raises(TomlError, match="nested more than 6 deep"):
        model_from_toml(save(tmp_path, text))
    assert time.perf_counter() - start < 0.5


@pytest.mark.parametrize("number", ["9" * 5000, "0x" + "f" * 5000])
def test_integer_with_thousands_of_digits(tmp_path, number):
    with pytest.raises(TomlError, match=r"robot.toml: .*(digits|number)"):
        model_from_toml(save(tmp_path, TREE.replace("mass", f"mass = {number}\n#", 1)))


def test_brackets_and_dots_in_texts_and_comments_are_no_nesting(tmp_path):
    dots = "[{" * 20 + "a.b.c.d.e.f.g.h.i" + '\\"'
    texts = f"""note = "{dots}" # {dots}\nsource = \'\'\'{dots}'\n{dots}\'\'\'\n"""
    assert model_from_toml(save(tmp_path, texts + TREE)).source.count(".") == 16


def test_impossible_inertia_names_file_and_link(tmp_path):
    path = save(tmp_path, TREE.replace("[0.01, 0.02, 0.02]", "[0.01, 0.02, 0.2]"))
    with pytest.raises(InertiaError, match=r"robot\.toml: link 'upper'.*triangle inequality"):
        model_from_toml(path)
    assert model_from_toml(path, physical="ignore").links[0].inertia.mass == 2.0


def test_bad_options_are_not_the_fault_of_the_file(tmp_path):
    path = save(tmp_path, TREE)
    with pytest.raises(ModelError, match=r"gravity: expected numbers of shape \(3,\)") as caught:
        model_from_toml(path, gravity=9.81)
    assert not isinstance(caught.value, TomlError)


def test_examples_of_the_documentation_load(tmp_path):
    text = (DOCS / "formats.md").read_text(encoding="utf-8")
    examples = re.findall(r"```toml\n(.*?)```", text, flags=re.DOTALL)
    arms = [model_from_toml(save(tmp_path, example)) for example in examples]
    assert [arm.name for arm in arms] == ["cylindrical arm", "gripper arm", "pendulum", "wrist"]
    assert [len(arm.independent) for arm in arms] == [2, 2, 1, 2]
    assert [drive.name for drive in arms[3].drives] == ["motor6"]
    assert arms[1].flange.name == "grip"


def test_the_documented_dh_table_is_a_cylindrical_arm(tmp_path):
    text = (DOCS / "formats.md").read_text(encoding="utf-8")
    example = re.findall(r"```toml\n(.*?)```", text, flags=re.DOTALL)[0]
    arm = Robot(model_from_toml(save(tmp_path, example)))
    reach = arm.forward_kinematics([[0.3, 0.2], [0.3, 0.6]])[:, :3, 3]
    assert abs(np.diff(reach[:, 2])[0]) < 1e-12  # the boom moves in a horizontal plane,
    assert np.linalg.norm(np.diff(reach, axis=0)) == pytest.approx(0.4)  # away from the column
    assert np.abs(arm.gravity_vector([0.3, 0.5])).max() < 1e-12
    assert all(finding.level == "note" for finding in armdyn.check(arm).findings)


def test_documentation_names_every_key():
    text = (DOCS / "formats.md").read_text(encoding="utf-8")
    for key in {*TOP, *LINK, *BODY, *JOINT, *COLUMNS} - {"body", "frame", "joint"}:
        assert key in re.findall(r"\w+", text)


def test_a_frame_named_tool_is_the_flange(tmp_path):
    frame = '[[link.frame]]\nname = "tool"\nposition = [0.0, 0.0, 0.4]\n[[joint]]'
    text = TREE.replace("[[joint]]", frame)
    model = model_from_toml(save(tmp_path, text))
    assert model.frame("tool").placement[2, 3] == 0.4
    assert model.frame_names == ("base", "upper", "tool")
    with pytest.raises(TomlError, match="named 'tool'.*elsewhere by 'upper'"):
        model_from_toml(save(tmp_path, 'flange = "upper"\n' + text))


COMPOUND = """
format = 1
[[link]]
name = "base"
[[link]]
name = "hand"
mass = 2.0
com = [0.1, 0.0, 0.0]
inertia = [0.01, 0.02, 0.02]
[[joint]]
name = "wrist"
type = "TYPE"
parent = "base"
child = "hand"
position = [0.0, 0.0, 0.5]
"""


@pytest.mark.parametrize(
    ("kind", "letters", "names"),
    [
        ("planar", "PPR", "wrist_x wrist_y wrist_turn"),
        ("universal", "RR", "wrist_x wrist_y"),
        ("cylindrical", "RP", "wrist_turn wrist_slide"),
        ("spherical", "RRR", "wrist_x wrist_y wrist_z"),
    ],
)
def test_compound_joints_are_chains(tmp_path, kind, letters, names):
    model = model_from_toml(save(tmp_path, COMPOUND.replace("TYPE", kind)))
    assert "".join(joint.type.letter for joint in model.joints) == letters
    assert " ".join(joint.name for joint in model.joints) == names
    assert [link.inertia.is_zero for link in model.links] == [True] * (len(letters) - 1) + [False]
    np.testing.assert_array_equal(torques(again(tmp_path, model)), torques(model))


def test_drives_of_a_compound_joint_are_those_of_its_hinges(tmp_path):
    drive = "limits = [-1.0, 1.0]\nviscous = 0.5\nrotor_inertia = 0.1\n"
    text = COMPOUND.replace("TYPE", "universal") + drive
    for joint in model_from_toml(save(tmp_path, text)).joints:
        assert (joint.limits.upper, joint.friction.viscous, joint.rotor.inertia) == (1.0, 0.5, 0.1)


@pytest.mark.parametrize(
    ("kind", "more", "message"),
    [
        (
            "planar",
            "viscous = 1.0",
            "joint 'wrist' is planar: it turns and slides.*wrist_x, wrist_y",
        ),
        ("spherical", 'mimic = { leader = "j" }', "joint 'wrist' is spherical.*cannot mimic"),
        ("planar", "axis = [0.0, 0.0, 0.0]", "joint 'wrist': the axis .* has no direction"),
        ("cylindrical", "pitch = 0.1", "joint 1 'wrist': a cylindrical joint has no pitch"),
    ],
)
def test_what_compound_joints_cannot_have_is_refused(tmp_path, kind, more, message):
    with pytest.raises(TomlError, match=message):
        model_from_toml(save(tmp_path, COMPOUND.replace("TYPE", kind) + more))


def test_a_link_named_like_one_between_is_refused(tmp_path):
    text = COMPOUND.replace("TYPE", "universal") + '[[link]]\nname = "hand after wrist_x"\n'
    with pytest.raises(TomlError, match="link name 'hand after wrist_x' is taken"):
        model_from_toml(save(tmp_path, text))
