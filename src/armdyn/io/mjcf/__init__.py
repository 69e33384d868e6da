"""MJCF files, read through MuJoCo."""
