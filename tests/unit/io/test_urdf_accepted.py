"""URDF that other readers accept: macros, and faults that change no torque."""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

import armdyn
from armdyn.errors import ArmdynWarning, InertiaError, UrdfError
from armdyn.io.files import save_model
from armdyn.loading import load
from armdyn.model import Limits
from support.reading import model_from_urdf
from support.urdf_files import joint, link, one_joint, save


class TestWhatOtherReadersAccept:
    @pytest.mark.parametrize(
        ("inside", "message"),
        [
            ('<limit lower="2" upper="1"/>', "the lower limit 2 is above the upper 1; both are"),
            ('<axis xyz="0 0 1"/><axis xyz="0 0  1"/>', "a second <axis> that says the same"),
            ("<origin/><origin/>", "a second <origin> that says the same"),
            ('<dynamic damping="1"/>', "<dynamic> is no element of URDF.* is <dynamics> meant?"),
        ],
    )
    def test_in_a_joint(self, tmp_path: Path, inside: str, message: str) -> None:
        path = one_joint(tmp_path, inside)
        with pytest.warns(ArmdynWarning, match=f"robot.urdf:4: .*{message}"):
            model = model_from_urdf(path)
        assert model.joints[0].limits == Limits()
        assert any(re.search(message, finding.message) for finding in armdyn.check(path).findings)

    def test_unknown_elements_are_noted(self, tmp_path: Path) -> None:
        path = one_joint(tmp_path, "<nick>PR2</nick>")
        model_from_urdf(path)  # without a warning
        found = [
            f for f in armdyn.check(path).findings if "<nick> is no element of URDF" in f.message
        ]
        assert [f.level for f in found] == ["note"]

    @pytest.mark.parametrize("start", ["\n", "\ufeff\n\n", " \t\r\n"])
    def test_empty_lines_before_the_declaration(self, tmp_path: Path, start: str) -> None:
        path = one_joint(tmp_path, '<axis xyz="0 0 2"/>')
        declared = path.read_text().replace("<robot", '<?xml version="1.0"?><robot', 1)
        path.write_bytes((start + declared).encode())
        line = 4 + start.count("\n")
        with pytest.warns(ArmdynWarning, match=f"robot.urdf:{line}: joint 'j': the axis"):
            model_from_urdf(path)

    def test_other_text_before_the_declaration(self, tmp_path: Path) -> None:
        path = tmp_path / "robot.urdf"
        path.write_text('<!-- by hand -->\n<?xml version="1.0"?>\n<robot/>')
        with pytest.raises(UrdfError, match=r"robot\.urdf:2: .*delete what stands before <\?xml"):
            model_from_urdf(path)

    def test_the_world_as_a_parent_without_a_link(self, tmp_path: Path) -> None:
        parts = (*map(link, "ab"), joint("a", "b"), joint("world", "a", name="w", kind="floating"))
        with pytest.warns(ArmdynWarning, match="joint 'w': its parent 'world' is no link"):
            model = model_from_urdf(save(tmp_path, *parts), fix_root=True)
        assert model.base_link.name == "world"
        assert [body.name for body in model.base_link.bodies] == ["world", "a"]

    def test_no_inertial_at_all(self, tmp_path: Path) -> None:
        path = save(tmp_path, *(link(name, "") for name in "ab"), joint("a", "b"))
        with pytest.raises(InertiaError, match=r"no link .* <inertial>.*physical='warn'"):
            model_from_urdf(path)
        with pytest.warns(ArmdynWarning, match="no link of this robot has an <inertial>"):
            model_from_urdf(path, physical="warn")


XACRO = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:property name="m" value="${1 + 1}"/>
<xacro:macro name="part" params="name"><link name="${name}"><inertial><mass value="${m}"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link></xacro:macro>
<xacro:part name="a"/><xacro:part name="b"/>
<xacro:include filename="$(find mine)/joint.xacro"/></robot>"""


class TestXacro:
    @pytest.mark.parametrize("ending", [".urdf.xacro", ".urdf", ".xml"])
    def test_macros_are_expanded(self, tmp_path: Path, ending: str) -> None:
        folder = tmp_path / "mine"
        folder.mkdir()
        inner = joint("a", "b", '<axis xyz="0 0 ${m}"/>')
        (folder / "joint.xacro").write_text(f"<robot>{inner}</robot>")
        (folder / f"arm{ending}").write_text(XACRO)
        with pytest.warns(
            ArmdynWarning, match=rf"arm{ending} \(expanded\):\d+: joint 'j': the axis"
        ):
            robot = load(folder / f"arm{ending}")
        assert robot.model.links[0].inertia.mass == 2

    def test_what_cannot_be_expanded_is_refused_with_the_reason(self, tmp_path: Path) -> None:
        path = tmp_path / "arm.xacro"
        path.write_text(XACRO)
        with pytest.raises(
            UrdfError, match=r"arm\.xacro:2: <xacro:property> .*cannot expand it \("
        ):
            load(path)

    def test_without_the_package(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("armdyn.io.urdf.macros.find_spec", lambda _name: None)
        path = tmp_path / "arm.xacro"
        path.write_text(XACRO)
        with pytest.raises(UrdfError, match=r"pip install xacro\); expand it first: xacro arm"):
            load(path)

    @pytest.mark.parametrize("expand", [True, False])
    def test_tags_that_are_left_over_are_skipped(self, tmp_path: Path, expand: bool) -> None:
        rest = '<gazebo><mass value="${x}"/></gazebo><xacro:unknown/>'
        path = one_joint(tmp_path, "<xacro:insert_block/>")
        path.write_text(path.read_text().replace("</robot>", f"{rest}</robot>"))
        with pytest.warns(ArmdynWarning, match=r"<xacro:insert_block>: it is written in xacro and"):
            model = model_from_urdf(path, trusted=expand)
        assert len(model.joints) == 1

    @pytest.mark.parametrize(
        ("inner", "reason"),
        [
            (None, "this is no regular file of at most 20 MB: .*joint.xacro"),
            ("<!DOCTYPE a [<!ATTLIST link x CDATA '1'>]><robot/>", "declarations in the DOCTYPE"),
            ("<robot><a b='${[0] * 10**10}'/></robot>", r"cannot expand it \("),
        ],
    )
    def test_files_that_it_names_are_read_as_all_others(self, tmp_path, inner, reason) -> None:
        path = tmp_path / "arm.xacro"
        path.write_text(XACRO.replace("$(find mine)/", ""))
        if inner is None:
            os.mkfifo(tmp_path / "joint.xacro")
        else:
            (tmp_path / "joint.xacro").write_text(inner)
        with pytest.raises(UrdfError, match=reason):
            model_from_urdf(path)

    def test_a_name_that_looks_like_a_macro_comes_back(self, tmp_path: Path) -> None:
        robot = load("two_link")
        odd = replace(
            robot.model, joints=tuple(replace(j, name="${x}" + j.name) for j in robot.model.joints)
        )
        save_model(odd, tmp_path / "odd.urdf")
        assert [j.name for j in model_from_urdf(tmp_path / "odd.urdf").joints] == [
            j.name for j in odd.joints
        ]
