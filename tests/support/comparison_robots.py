"""Small robots on which libraries are compared."""

ONE_JOINT = """<robot name="one">
  <link name="base"/>
  <link name="arm"><inertial><mass value="1"/>
    <inertia ixx="0.42" iyy="0.42" izz="0.42" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/>
    <axis xyz="0 0 1"/><dynamics damping="0.3" friction="0.7"/></joint>
</robot>
"""
INERTIAL = """<inertial><origin xyz="0.1 0.02 -0.03" rpy="{rpy}"/><mass value="2"/>
  <inertia ixx="0.03" ixy="0.002" ixz="-0.001" iyy="0.05" iyz="0.003" izz="0.04"/></inertial>"""


def two_joints(axis="0 1 0", first="", second="", words="", rpy="0 0 0", between=""):
    """Two joints, plain in every way except for what is given."""
    body = INERTIAL.format(rpy=rpy)
    holder = "middle" if between else "upper"
    return f"""<robot name="two">{words}
      <link name="base"/><link name="upper">{body}</link><link name="fore">{body}</link>{between}
      <joint name="one" type="continuous"><origin xyz="0 0 0.3" rpy="0.3 0 0"/>
        <parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>{first}</joint>
      <joint name="two" type="continuous"><origin xyz="0.4 0 0" rpy="0 0.2 0.1"/>
        <parent link="{holder}"/><child link="fore"/><axis xyz="{axis}"/>{second}</joint>
    </robot>"""


def fixed_link(child, parent, xyz):
    return f"""<link name="{child}">{INERTIAL.format(rpy="0 0 0")}</link>
      <joint name="{child}_fixed" type="fixed"><origin xyz="{xyz}" rpy="0 0.4 0.2"/>
        <parent link="{parent}"/><child link="{child}"/></joint>"""
