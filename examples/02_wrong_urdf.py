"""My URDF is wrong: what armdyn finds in a description, and how another library reads it.

The tensor of the forearm was exported in g mm² and its mass in grams: a common slip.

    python examples/02_wrong_urdf.py
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import armdyn

URDF = """
<robot name="slip">
  <link name="base"/>
  <link name="forearm">
    <inertial>
      <origin xyz="0.2 0 0"/> <mass value="{mass}"/>
      <inertia ixx="{ixx}" iyy="{iyy}" izz="{iyy}" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <collision><origin xyz="0.2 0 0"/><geometry><box size="0.4 0.05 0.05"/></geometry></collision>
  </link>
  <joint name="elbow" type="revolute">
    <parent link="base"/> <child link="forearm"/> <axis xyz="0 1 0"/>
    <limit lower="-90" upper="90" effort="50" velocity="2"/>
  </joint>
</robot>
"""

with TemporaryDirectory() as folder:
    file = Path(folder, "slip.urdf")
    file.write_text(URDF.format(mass=2700, ixx=1.1e6, iyy=36e6))
    findings = armdyn.check(file).findings  # `armdyn check slip.urdf` prints them
    file.write_text(URDF.format(mass=2.7, ixx=1.1e-3, iyy=36e-3).replace("90", "1.57"))
    mended = armdyn.check(file).findings

for finding in findings:
    print(f"{finding.level}: {finding.message}\n")
print(f"{len(findings)} findings before, {len(mended)} after mending")
assert len(mended) < len(findings)
