"""MJCF files, read through MuJoCo."""

from armdyn.errors import MissingExtraError

try:
    import mujoco as mujoco
except ImportError:
    raise MissingExtraError("mujoco", "mjcf", "reading MJCF files") from None
