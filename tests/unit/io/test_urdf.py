"""URDF in: what every word of it means, and what is refused with which words."""

import math
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from armdyn.errors import (
    ArmdynWarning,
    InertiaError,
    ModelError,
    TopologyError,
    UnknownNameError,
    UnsupportedJointError,
    UrdfError,
)
from armdyn.formulations.newton_euler import newton_euler
from armdyn.model import Limits, Mimic
from armdyn.model.transform import rotation_from_rpy
from support.paths import ROBOTS
from support.reading import model_from_urdf
from support.urdf_files import INERTIAL, joint, link, one_joint, save


class TestMeaning:
    def test_torques_are_those_of_pinocchio(self) -> None:
        model, peer = (
            model_from_urdf(ROBOTS / "arm.urdf"),
            pin.buildModelFromUrdf(str(ROBOTS / "arm.urdf")),
        )
        rng = np.random.default_rng(1)
        for q, qd, qdd in rng.uniform(-1, 1, (5, 3, 3)):
            theirs = pin.rnea(
                peer, peer.createData(), np.array([*q[:2], np.cos(q[2]), np.sin(q[2])]), qd, qdd
            )
            np.testing.assert_allclose(newton_euler(model, q, qd, qdd).tau, theirs, rtol=1e-12)

    def test_joints_limits_and_friction(self) -> None:
        model = model_from_urdf(ROBOTS / "arm.urdf")
        shoulder, slide, wrist = model.joints
        assert [j.name for j in model.joints] == ["shoulder", "slide", "wrist"]
        assert [j.kind for j in model.joints] == ["revolute", "prismatic", "revolute"]
        assert shoulder.limits == Limits(-2.0, 2.5, 3.0, 80.0)
        assert wrist.limits == Limits()
        assert (shoulder.friction.viscous, shoulder.friction.coulomb_positive) == (0.3, 0.7)
        assert shoulder.friction.coulomb_negative == 0.7
        assert slide.friction.is_zero
        assert slide.axis.tolist() == [0, 0, -1]

    def test_merged_links_are_kept_and_the_end_is_the_flange(self) -> None:
        model = model_from_urdf(ROBOTS / "arm.urdf")
        assert [body.name for body in model.links[1].bodies] == ["slider", "plate"]
        assert (model.flange.name, model.flange.link) == ("tip", 2)
        assert model_from_urdf(ROBOTS / "arm.urdf", tool="plate").flange.link == 1

    def test_tensor_is_turned_by_the_rpy_of_its_origin(self, tmp_path: Path) -> None:
        rpy, tensor = (0.3, -0.4, 1.1), np.diag([0.3, 0.2, 0.15])
        inside = (
            f'<inertial><origin xyz="0.1 0.2 0.3" rpy="{" ".join(map(str, rpy))}"/>'
            '<mass value="2"/><inertia ixx="0.3" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.15"/>'
            "</inertial>"
        )
        body = model_from_urdf(save(tmp_path, link("a"), link("b", inside), joint("a", "b")))
        R = rotation_from_rpy(rpy)
        inertia = body.links[0].inertia
        np.testing.assert_allclose(inertia.moment_about_com, R @ tensor @ R.T, atol=1e-15)
        np.testing.assert_allclose(inertia.com, (0.1, 0.2, 0.3))

    def test_axis_is_x_by_default(self, tmp_path: Path) -> None:
        assert model_from_urdf(one_joint(tmp_path)).joints[0].axis.tolist() == [1, 0, 0]

    def test_long_axis_is_normalised_with_a_warning(self, tmp_path: Path) -> None:
        path = one_joint(tmp_path, '<axis xyz="3 0 4"/>')
        with pytest.warns(ArmdynWarning, match=r"robot.urdf:4: joint 'j': the axis .* length 5 "):
            model = model_from_urdf(path)
        np.testing.assert_allclose(model.joints[0].axis, (0.6, 0, 0.8))

    def test_rounded_axis_is_normalised_in_silence(self, tmp_path: Path) -> None:
        model = model_from_urdf(one_joint(tmp_path, '<axis xyz="0.7071 0.7071 0"/>'))
        assert np.linalg.norm(model.joints[0].axis) == pytest.approx(1, abs=1e-15)

    @pytest.mark.parametrize(
        ("kind", "inside", "limits"),
        [
            ("revolute", "", (-math.inf, math.inf)),
            ("revolute", '<limit effort="1" velocity="1"/>', (-math.inf, math.inf)),
            ("revolute", '<limit upper="2" effort="1" velocity="1"/>', (0, 2)),
            ("prismatic", '<limit lower="-1" upper="2"/>', (-1, 2)),
            ("continuous", '<limit lower="-1" upper="1" effort="3"/>', (-math.inf, math.inf)),
        ],
    )
    def test_limits(self, tmp_path: Path, kind: str, inside: str, limits: tuple) -> None:
        found = model_from_urdf(one_joint(tmp_path, inside, kind)).joints[0].limits
        assert (found.lower, found.upper) == limits

    def test_mimic_is_a_coupling(self) -> None:
        model = model_from_urdf(ROBOTS / "gripper.urdf")
        assert model.joints[2].mimic == Mimic("left", -1.25, 0.003)
        K, k = model.coupling
        assert K.tolist() == [[1, 0], [0, 1], [0, -1.25]]
        assert k.tolist() == [0, 0, 0.003]

    def test_mimic_of_a_fixed_joint_itself_is_idle(self, tmp_path: Path) -> None:
        follower = joint("b", "c", '<mimic joint="j"/>', name="k", kind="fixed")
        path = save(tmp_path, *map(link, "abc"), joint("a", "b"), follower)
        assert model_from_urdf(path).coupling is None

    def test_joints_are_locked_on_loading(self) -> None:
        model = model_from_urdf(ROBOTS / "gripper.urdf", locked={"left": 0.02})
        assert [j.name for j in model.joints] == ["turn"]
        place = {body.name: body.placement[1, 3] for body in model.links[0].bodies}
        assert place["left_finger"] == pytest.approx(0.04)
        assert place["right_finger"] == pytest.approx(-0.02 - 1.25 * 0.02 + 0.003)

    def test_gravity_and_base(self) -> None:
        plain = model_from_urdf(ROBOTS / "arm.urdf")
        assert plain.gravity.tolist() == [0, 0, -9.81]
        base = np.diag([1.0, -1.0, -1.0, 1.0])
        hung = model_from_urdf(ROBOTS / "arm.urdf", gravity=(0, 0, 9.81), base=base)
        q, zero = np.array([0.3, 0.1, -0.2]), np.zeros(3)
        # upside down in a field that is upside down
        np.testing.assert_allclose(
            newton_euler(hung, q, zero, zero).tau, newton_euler(plain, q, zero, zero).tau
        )

    @pytest.mark.parametrize("kind", ["floating", "planar"])
    def test_root_is_fixed_on_request(self, tmp_path: Path, kind: str) -> None:
        path = save(
            tmp_path, link("world", ""), *map(link, "ab"), joint("a", "b"),
            joint("world", "a", '<origin xyz="0 0 1"/>', name="free", kind=kind),
        )  # fmt: skip
        model = model_from_urdf(path, fix_root=True)
        assert [j.name for j in model.joints] == ["j"]
        assert model.joints[0].placement[2, 3] == 1
        names = [j.name for j in model_from_urdf(path).joints]
        assert names == (["free_x", "free_y", "free_turn", "j"] if kind == "planar" else ["j"])


class TestUnsupportedJoints:
    @pytest.mark.parametrize("kind", ["floating", "spherical", "Revolute"])
    @pytest.mark.parametrize("fix_root", [False, True])
    def test_joint_inside_the_robot(self, tmp_path: Path, kind: str, fix_root: bool) -> None:
        path = save(
            tmp_path, *map(link, "abc"), joint("a", "b"), joint("b", "c", name="k", kind=kind)
        )
        with pytest.raises(UnsupportedJointError, match=f"joint 'k' is of type '{kind}'.*handles"):
            model_from_urdf(path, fix_root=fix_root)

    def test_what_a_planar_joint_cannot_have(self, tmp_path: Path) -> None:
        inside = '<dynamics damping="1"/>'
        path = save(tmp_path, *map(link, "ab"), joint("a", "b", inside, kind="planar"))
        with pytest.warns(ArmdynWarning, match="<dynamics> of a joint that turns and slides"):
            model = model_from_urdf(path)
        assert all(j.friction.is_zero and math.isinf(j.limits.upper) for j in model.joints)
        path = save(
            tmp_path, *map(link, "abc"), joint("a", "b"),
            joint("b", "c", '<mimic joint="j"/>', name="k", kind="planar"),
        )  # fmt: skip
        with pytest.raises(UrdfError, match="joint 'k' has several coordinates and cannot mimic"):
            model_from_urdf(path)

    def test_every_free_joint_on_the_root_is_fixed_on_request(self, tmp_path: Path) -> None:
        path = save(
            tmp_path, *map(link, "abcd"), joint("a", "b", kind="floating"),
            joint("a", "c", name="k", kind="planar"), joint("c", "d", name="l"),
        )  # fmt: skip
        message = r":6: joint 'j' .*'floating'.*but 'a' carries others too.*fix_root"
        with pytest.raises(UnsupportedJointError, match=message):
            model_from_urdf(path)
        model = model_from_urdf(path, fix_root=True)
        assert [j.name for j in model.joints] == ["l"]
        assert [body.name for body in model.base_link.bodies] == ["a", "b", "c"]

    def test_elsewhere_the_reason_is_told(self, tmp_path: Path) -> None:
        path = save(
            tmp_path, *map(link, "abc"), joint("a", "b"), joint("b", "c", name="k", kind="floating")
        )
        with pytest.raises(UnsupportedJointError, match="its parent is 'b' and the root is 'a'"):
            model_from_urdf(path, fix_root=True)
        path = save(tmp_path, *map(link, "abc"), joint("a", "b", kind="floating"))
        with pytest.raises(UnsupportedJointError, match="no single root link"):
            model_from_urdf(path, fix_root=True)

    def test_all_of_them_are_listed(self, tmp_path: Path) -> None:
        path = save(
            tmp_path, *map(link, "abc"), joint("a", "b", kind="ball"),
            joint("b", "c", name="k", kind="floating"),
        )  # fmt: skip
        with pytest.raises(UnsupportedJointError, match=r"(?s)'ball'.*and 1 more:.*'floating'"):
            model_from_urdf(path)


class TestProblems:
    @pytest.mark.parametrize(
        ("inside", "message"),
        [
            ('<axis xyz="0 0 0"/>', r"the axis \[0.0, 0.0, 0.0\] has no direction"),
            ('<axis xyz="0 0"/>', "xyz of <axis> is '0 0'; expected 3 finite numbers"),
            ('<axis xyz="0 nan 1"/>', "xyz of <axis> is '0 nan 1'; expected 3 finite"),
            ('<origin xyz="0 0 one"/>', "xyz of <origin> is '0 0 one'"),
            ('<origin rpy="inf 0 0"/>', "rpy of <origin> is 'inf 0 0'"),
            ('<origin xyz="0 0 1e999"/>', "xyz of <origin> is '0 0 1e999'"),
            ('<origin xyz="0 0 1_0"/>', "xyz of <origin> is '0 0 1_0'"),
            ('<origin/><origin xyz="1 0 0"/>', "a second <origin>"),
            ('<limit lower="x"/>', "lower of <limit> is 'x'; expected a finite number"),
            ('<limit effort="-1"/>', "effort of <limit> is '-1'; it must be at least 0"),
            ('<dynamics damping="-1"/>', "damping of <dynamics> is '-1'"),
            ('<dynamics friction="NaN"/>', "friction of <dynamics> is 'NaN'"),
            ("<mimic/>", "<mimic> has no attribute 'joint'"),
            ('<mimic joint="x"/>', "mimics 'x', which is no joint of this robot"),
            ('<armdyn rotor="1"/>', "<armdyn> has no attribute 'rotor'; it knows rotor_inertia"),
            ('<armdyn rotor_inertia="-1"/>', "rotor_inertia of <armdyn> is '-1'"),
            ('<armdyn rotor_inertia="1" gear_ratio="0"/>', "gear_ratio is 0.0"),
            ('<armdyn stribeck="1"/>', "stribeck needs a positive stribeck_velocity"),
            ('<armdyn offset="NaN"/>', "offset of <armdyn> is 'NaN'"),
            ('<armdyn power="-1"/>', "power of <armdyn> is '-1'"),
            (
                '<armdyn power="1" power_exponent="0"/>',
                "power_exponent must be positive and finite",
            ),
            ('<armdyn viscous_positive="1"/>', "<armdyn> has no attribute 'viscous_positive'"),
        ],
    )
    def test_in_a_joint(self, tmp_path: Path, inside: str, message: str) -> None:
        with pytest.raises(UrdfError, match=f"robot.urdf:4: joint 'j'.*{message}") as caught:
            model_from_urdf(one_joint(tmp_path, inside))
        assert caught.value.line == 4

    @pytest.mark.parametrize(
        ("inside", "message"),
        [
            ("<inertial/>", "<inertial> has no <mass> in it"),
            ('<inertial><mass value="1"/></inertial>', "<inertial> has no <inertia> in it"),
            (INERTIAL.replace('value="2"', ""), "<mass> has no attribute 'value'"),
            (INERTIAL.replace('value="2"', 'value="NaN"'), "value of <mass> is 'NaN'"),
            (INERTIAL.replace('izz="0.1"', ""), "<inertia> has no attribute 'izz'"),
            (INERTIAL.replace('izz="0.1"', 'izz="0,1"'), "izz of <inertia> is '0,1'"),
            (INERTIAL + INERTIAL.replace('"2"', '"3"'), "a second <inertial>"),
            ('<armdyn colour="red"/>', "<armdyn> has no attribute 'colour'; it knows payload"),
        ],
    )
    def test_in_a_link(self, tmp_path: Path, inside: str, message: str) -> None:
        path = save(tmp_path, link("a"), link("b", inside), joint("a", "b"))
        with pytest.raises(UrdfError, match=f"robot.urdf:3: link 'b': {message}"):
            model_from_urdf(path)

    def test_all_problems_are_listed_in_the_order_of_the_file(self, tmp_path: Path) -> None:
        path = save(
            tmp_path, link("a"), link("b"), link("b"), '<joint name="i" type="revolute"/>',
            joint("a", "b", '<axis xyz="0 0 x"/>', kind="ball"),
        )  # fmt: skip
        with pytest.raises(UrdfError) as caught:
            model_from_urdf(path)
        assert str(caught.value).startswith(f"{path}:4: link 'b' is already defined in line 3")
        lines = [line.split(":")[0].strip() for line in str(caught.value).splitlines()[2:]]
        assert lines == ["line 5", "line 5", "line 6"]

    def test_names(self, tmp_path: Path) -> None:
        path = save(
            tmp_path, "<link/>", '<link name=""/>', link("a"), joint("a", "c"), joint("d", "a")
        )
        with pytest.raises(UrdfError, match="a link: <link> has no attribute 'name'") as caught:
            model_from_urdf(path)
        for part in (
            "has an empty attribute 'name'",
            "its child 'c' is no link",
            "its parent 'd' is no link",
            "joint 'j' is already defined in line 5",
        ):
            assert part in str(caught.value)

    def test_moving_joint_cannot_follow_a_fixed_one(self, tmp_path: Path) -> None:
        follower = joint("b", "c", '<mimic joint="j"/>', name="k")
        path = save(tmp_path, *map(link, "abc"), joint("a", "b", kind="fixed"), follower)
        with pytest.raises(UrdfError, match="'k' mimics 'j', which is fixed; make it fixed too"):
            model_from_urdf(path)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("<mujoco/>", "expected <robot> .* got <mujoco>: this is MJCF"),
            ("<sdf/>", "got <sdf>: this is SDF"),
            ("<html/>", "got <html>"),
            ("<robot/>", "no <link>"),
            (f"<robot>{link('a')}</robot>", "no joint moves"),
            (
                '<robot><xacro:property name="x" value="1"/></robot>',
                "<xacro:property> .* expand it",
            ),
            ('<robot><link name="a${x}"/></robot>', "<link> is written in xacro"),
            (f"<robot>{'<link/>' * 5001}</robot>", "more than 5000 links"),
        ],
    )
    def test_no_robot_to_read(self, tmp_path: Path, text: str, message: str) -> None:
        (tmp_path / "robot.urdf").write_text(text)
        with pytest.raises(UrdfError, match=message):
            model_from_urdf(tmp_path / "robot.urdf")

    def test_unused_namespace_of_xacro_is_harmless(self, tmp_path: Path) -> None:
        path = one_joint(tmp_path)
        path.write_text(path.read_text().replace("<robot ", '<robot xmlns:xacro="http://x.org" '))
        assert len(model_from_urdf(path).joints) == 1

    def test_unknown_names_in_the_call(self) -> None:
        with pytest.raises(UnknownNameError, match=r"'palms'.*Did you mean 'palm'"):
            model_from_urdf(ROBOTS / "gripper.urdf", tool="palms")
        with pytest.raises(UnknownNameError, match=r"'lefty'.*Did you mean 'left'"):
            model_from_urdf(ROBOTS / "gripper.urdf", locked={"lefty": 0.0})
        with pytest.raises(ModelError, match="'right' mimics 'left'"):
            model_from_urdf(ROBOTS / "gripper.urdf", locked={"right": 0.0})

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            ('flange="z"', "the flange 'z' is no link"),
            ('gravity="0 0"', "gravity of <armdyn> is '0 0'"),
            ('reduced="yes"', "reduced of <armdyn> is 'yes'; expected 'true' or 'false'"),
            ('tool="a"', "<armdyn> has no attribute 'tool'; it knows flange"),
        ],
    )
    def test_in_the_words_of_our_own(self, tmp_path: Path, words: str, message: str) -> None:
        path = save(tmp_path, link("a"), link("b"), joint("a", "b"), f"<armdyn {words}/>")
        with pytest.raises(UrdfError, match=f"robot.urdf:5: .*{message}"):
            model_from_urdf(path)


class TestTopology:
    @pytest.mark.parametrize(
        ("joints", "message"),
        [
            ([("a", "b")], "2 root links: 'a', 'c'"),
            ([("a", "b"), ("b", "c"), ("c", "a")], "every link is the child of some joint"),
            ([("a", "c"), ("b", "c")], "'c' is the child of the joints 'j0' and 'j1'.*loop"),
            ([("b", "c"), ("c", "b")], "'j0', 'j1' form a loop that does not hang on the root 'a'"),
            ([("a", "b"), ("c", "c")], "form a loop that does not hang on the root"),
        ],
        ids=["roots", "circle", "closed", "apart", "itself"],
    )
    def test_no_tree(self, tmp_path: Path, joints: list, message: str) -> None:
        elements = [joint(*ends, name=f"j{i}") for i, ends in enumerate(joints)]
        with pytest.raises(TopologyError, match=f"robot.urdf: .*{message}"):
            model_from_urdf(save(tmp_path, *map(link, "abc"), *elements))

    def test_joints_that_mimic_each_other(self, tmp_path: Path) -> None:
        first = joint("a", "b", '<mimic joint="k"/>')
        second = joint("b", "c", '<mimic joint="j"/>', name="k")
        with pytest.raises(TopologyError, match=r"robot.urdf: .*mimic each other in a circle"):
            model_from_urdf(save(tmp_path, *map(link, "abc"), first, second))


class TestInertias:
    def test_impossible_inertia(self, tmp_path: Path) -> None:
        inside = INERTIAL.replace('izz="0.1"', 'izz="0.3"')
        path = save(tmp_path, link("a"), link("b", inside), joint("a", "b"))
        with pytest.raises(InertiaError, match=r"robot.urdf: link 'b'.*triangle") as caught:
            model_from_urdf(path)
        assert caught.value.link == "b"
        with pytest.warns(ArmdynWarning, match="triangle"):
            model_from_urdf(path, physical="warn")
        assert model_from_urdf(path, physical="ignore").links[0].inertia.mass == 2

    def test_joint_that_moves_nothing_with_an_inertial(self, tmp_path: Path) -> None:
        path = save(
            tmp_path, *map(link, "ab"), link("c", ""), link("d", ""),
            joint("a", "b"), joint("b", "c", name="k"), joint("c", "d", name="l", kind="fixed"),
        )  # fmt: skip
        message = "joint 'k' moves link 'c', but neither .* has an <inertial>"
        with pytest.raises(InertiaError, match=f"robot.urdf: {message}.*physical='warn'"):
            model_from_urdf(path)
        with pytest.warns(ArmdynWarning, match=message):
            model_from_urdf(path, physical="warn")
        assert len(model_from_urdf(path, physical="ignore").joints) == 2
        assert len(model_from_urdf(path, locked={"k": 0.1}).joints) == 1

    @pytest.mark.parametrize("kind", ["revolute", "fixed"])
    def test_link_without_inertial_between_others_is_legal(self, tmp_path: Path, kind: str) -> None:
        path = save(
            tmp_path, link("a"), link("b", ""), link("c"),
            joint("a", "b"), joint("b", "c", name="k", kind=kind),
        )  # fmt: skip
        model = model_from_urdf(path)
        assert sum(part.inertia.mass for part in model.links) == 2

    def test_massless_link_that_says_so_is_legal(self, tmp_path: Path) -> None:
        nothing = INERTIAL.replace('"2"', '"0"').replace("0.1", "0")
        path = save(tmp_path, link("a"), link("b", nothing), joint("a", "b"))
        assert model_from_urdf(path).links[0].inertia.is_zero
