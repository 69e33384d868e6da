"""Helical joints: the laws of a screw, in every quantity and everywhere a robot goes."""

import ctypes
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn import Robot
from armdyn.closed_forms.closed_form import ClosedForm
from armdyn.closed_forms.symbolic_robot import symbolise
from armdyn.errors import ModelError, WriteError
from armdyn.export.export import export
from armdyn.model import Connection, FrictionLaw, Inertia, Limits, Mimic, Rotor, assemble
from armdyn.model.joint_types import joint_type
from armdyn.shorten.canonical.frames import canonical
from armdyn.shorten.symbolic import pattern
from armdyn.study.structure.structure import structure
from support.peers import close
from support.programs import EvaluatedRobot
from support.random_robots import random_inertia, random_model, random_states, random_transform
from support.reading import model_from_toml

pytestmark = pytest.mark.slow

PITCH = 0.03
SCREW = joint_type("helical", PITCH)


def arm(first="helical", pitch=PITCH, **more):
    """A spindle that carries an arm."""
    body = dict(mass=1.5, com=(-0.1, 0.02, 0.05), inertia=(0.02, 0.03, 0.04))
    return armdyn.from_dh(
        [
            dict(joint=first, pitch=pitch, d=0.2, a=0.1, **body) | more,
            dict(joint="revolute", a=0.3, alpha=np.pi / 2, **body),
            dict(joint="prismatic", **body),
        ],
        name="spindle",
    )


def coupled_pairs(seed):
    """A chain with screws, and the same with a slide in place of each that follows a hinge."""
    rng = np.random.default_rng(seed)
    links, between, screws, pairs = {"base": Inertia.zero()}, {}, [], []
    for i in range(1, 5):
        parent, child = f"link{i - 1}" if i > 1 else "base", f"link{i}"
        links[child] = random_inertia(rng)
        place, axis = random_transform(rng), rng.normal(size=3)
        more = dict(friction=FrictionLaw(0.3), rotor=Rotor(1e-3, 20.0), limits=Limits(-1.0, 1.0))
        if i % 2:
            pitch = rng.uniform(-0.2, 0.2)
            kind = joint_type("helical", pitch)
            screws.append(Connection(f"j{i}", kind, parent, child, place, axis, **more))
            between[f"nut{i}"] = Inertia.zero()
            pairs += [
                Connection(f"j{i}", "revolute", parent, f"nut{i}", place, axis, **more),
                Connection(
                    f"s{i}", "prismatic", f"nut{i}", child, axis=axis, mimic=Mimic(f"j{i}", pitch)
                ),
            ]
        else:
            screws.append(Connection(f"j{i}", "revolute", parent, child, place, axis))
            pairs.append(screws[-1])
    both = assemble("screws", links, screws), assemble("pairs", links | between, pairs)
    return map(EvaluatedRobot, both)


def test_a_screw_is_a_hinge_and_a_slide_that_follows_it():
    screws, pairs = coupled_pairs(0)
    q, qd, x = np.random.default_rng(0).uniform(-1, 1, (3, 4))
    assert screws.n == pairs.n == 4
    close(screws.inverse_dynamics(q, qd, x), pairs.inverse_dynamics(q, qd, x))
    close(screws.forward_kinematics(q), pairs.forward_kinematics(q))
    close(screws.jacobian_dot(q, qd), pairs.jacobian_dot(q, qd))
    close(screws.potential_energy(q), pairs.potential_energy(q))


def test_the_variable_turns_theta_and_slides_d():
    q = np.array([0.7, 0.2, 0.1])
    turned = arm("revolute", None, theta=0.7, d=0.2 + PITCH * 0.7)
    close(arm().forward_kinematics(q), turned.forward_kinematics([0.0, 0.2, 0.1]), 1e-15)


def test_gravity_pulls_along_the_thread():
    # lifting three bodies of 1.5 kg by the pitch takes m g p, whatever the configuration
    close(arm().gravity_vector([0.3, 0.2, 0.1])[0], 4.5 * 9.81 * PITCH, 1e-13)


def test_locked_screws_keep_the_dynamics_of_the_others():
    robot, rest = arm(), arm().with_locked({"joint1": 0.7})
    q, qd, qdd = np.random.default_rng(2).uniform(-1, 1, (3, 2))
    whole = [np.concatenate([[first], x]) for first, x in ((0.7, q), (0.0, qd), (0.0, qdd))]
    close(rest.inverse_dynamics(q, qd, qdd), robot.inverse_dynamics(*whole)[1:])
    close(rest.forward_kinematics(q), robot.forward_kinematics(whole[0]))


def test_friction_and_rotor_act_on_the_angle():
    robot = arm(viscous=2.0, coulomb=0.5, rotor_inertia=1e-3, gear_ratio=30.0)
    q, qd, qdd = [0.1, 0.2, 0.3], [0.5, 0.1, 0.2], [1.0, 2.0, 3.0]
    extra = robot.inverse_dynamics(q, qd, qdd) - arm().inverse_dynamics(q, qd, qdd)
    close(extra, [2.0 * 0.5 + 0.5 + 0.9, 0, 0], 1e-12)


def test_energy_is_kept_while_screws_move_freely():
    robot = Robot(random_model("HRH", 0))
    run = armdyn.simulate(robot, [0.1, 0.2, -0.3], [1.0, -0.5, 0.5], 0.5)
    assert run.status == "finished"
    assert abs(run.energy_drift) < 1e-6


def test_letters_units_and_description(tmp_path):
    robot = arm()
    assert "HRP" in repr(robot)
    assert "HRP" in repr(robot.model)
    path = tmp_path / "spindle.toml"
    robot.save(path)
    assert "pitch" in path.read_text()
    back = model_from_toml(path)
    assert [j.type for j in back.joints] == [j.type for j in robot.model.joints]


@pytest.mark.parametrize("seed", range(3))
def test_a_random_tree_with_screws_comes_back(tmp_path, seed):
    model = random_model("HRHPH", seed, tree=True, rotors=True, friction=True)
    path = tmp_path / "tree.toml"
    Robot(model).save(path)
    back = model_from_toml(path)
    assert [j.type for j in back.joints] == [j.type for j in model.joints]
    state = random_states(model, seed)
    close(
        Robot(back).formulate("newton_euler", *state).tau,
        Robot(model).formulate("newton_euler", *state).tau,
        1e-12,
    )


def test_a_dh_table_in_a_file_has_a_pitch(tmp_path):
    path = tmp_path / "screw.toml"
    path.write_text(
        'format = 1\nconvention = "standard"\n[[joint]]\njoint = "helical"\npitch = 0.01\nmass = 1.0\n'
    )
    assert model_from_toml(path).joints[0].type == joint_type("helical", 0.01)


def test_the_pitch_is_in_the_digest_and_its_kind_in_the_pattern():
    steep, flat, hinge = arm(pitch=0.2).model, arm().model, arm("revolute", None).model
    assert len({steep.digest, flat.digest, hinge.digest}) == 3
    patterns = [pattern(canonical(model)) for model in (steep, flat, hinge)]
    assert patterns[0] == patterns[1] != patterns[2]


# words


FAULTS = [
    (dict(pitch=None), r"DH row 1: a helical joint needs its pitch, in metres per radian"),
    (dict(pitch=0.0), r"DH row 1: the pitch of a helical joint is a finite.* not 0.*got 0\.0"),
    (dict(pitch=np.inf), r"DH row 1: pitch: "),
    (dict(pitch="1"), r"DH row 1: pitch: expected a number, got '1'"),
    (dict(first="revolute"), r"DH row 1: a revolute joint has no pitch; leave it out, or make"),
]


@pytest.mark.parametrize(("changed", "message"), FAULTS)
def test_bad_pitches_are_refused(changed, message):
    with pytest.raises(ModelError, match=message):
        arm(**changed)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ('type = "helical"', "joint 1 'j': a helical joint needs its pitch"),
        ('type = "helical"\npitch = 0', "joint 1 'j': the pitch of a helical joint is .* not 0"),
        ('type = "helical"\npitch = inf', "pitch: expected a finite number"),
        ('type = "prismatic"\npitch = 0.1', "joint 1 'j': a prismatic joint has no pitch"),
        ('type = "planar"\npitch = 0.1', "joint 1 'j': a planar joint has no pitch"),
    ],
)
def test_bad_pitches_of_files_are_refused_with_their_place(tmp_path, words, message):
    path = tmp_path / "bad.toml"
    ends = 'name = "j"\nparent = "a"\nchild = "b"\n'
    links = '[[link]]\nname = "a"\n[[link]]\nname = "b"\nmass = 1.0\n'
    path.write_text(f"format = 1\n{links}[[joint]]\n{ends}{words}\n")
    with pytest.raises(ModelError, match=message):
        model_from_toml(path)


def test_urdf_has_no_screws(tmp_path):
    with pytest.raises(WriteError, match=r"joint 'joint1' is helical.*save the robot as \.toml"):
        arm().save(tmp_path / "spindle.urdf")
    arm().with_locked({"joint1": 0.0}).save(tmp_path / "rest.urdf")


def test_simplify_says_why_it_cannot():
    with pytest.raises(ModelError, match=r"helical joints \(joint1\).*lock them"):
        armdyn.simplify(arm())


# equations, structure, programs


@pytest.mark.parametrize("kinds", ["HRP", "RHR", "PHH"])
def test_closed_forms_are_the_dynamics(kinds):
    model = random_model(kinds, 4)
    robot, symbols = EvaluatedRobot(model), symbolise(model)
    form = ClosedForm(symbols)
    q, qd, _ = random_states(model, 4)
    close(symbols.evaluate(form.M, q), robot.mass_matrix(q))
    close(symbols.evaluate(form.V, q, qd), robot.coriolis_vector(q, qd))
    close(symbols.evaluate(form.G, q), robot.gravity_vector(q))


def test_equations_name_the_pitch():
    text = armdyn.equations(arm()).text()
    assert "G1 = g p1 (m1 + m2 + m3)" in text
    assert "p1 0.03 m/rad pitch of joint 1" in " ".join(text.split())
    assert "p1" in armdyn.equations(arm(), "recursive").text()
    assert "position of joint1 [rad]" in text


def test_the_structure_of_a_spindle():
    found = structure(arm())
    assert found.g[0].status == "constant"
    assert "slides straight up or down" in found.g[0].reason


def test_a_weightless_upright_screw_is_not_explained_by_its_axis():
    model = arm().model
    bare = replace(model, links=tuple(replace(link, bodies=()) for link in model.links))
    assert "vertical" not in structure(bare).g[0].reason


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_exported_functions_have_the_torques_and_the_units(tmp_path):
    robot = arm(viscous=0.3)
    q, qd, qdd = np.random.default_rng(2).uniform(-1, 1, (3, 3))
    expected = robot.inverse_dynamics(q, qd, qdd)
    for language in ("c", "python"):
        export(robot.model, tmp_path, language)
    text = (tmp_path / "spindle.h").read_text()
    assert "joint1  helical, rad" in text
    library = tmp_path / "spindle.so"
    words = ["cc", "-O1", "-shared", "-fPIC", str(tmp_path / "spindle.c"), "-lm", "-o"]
    subprocess.run([*words, str(library)], check=True)
    real = ctypes.POINTER(ctypes.c_double)
    tau = np.zeros(3)
    ctypes.CDLL(str(library)).spindle_inverse_dynamics(
        *(x.ctypes.data_as(real) for x in (q, qd, qdd, tau))
    )
    close(tau, expected, 1e-12)
    space = {}
    exec((tmp_path / "spindle.py").read_text(), space)
    close(space["inverse_dynamics"](q, qd, qdd), expected, 1e-12)
