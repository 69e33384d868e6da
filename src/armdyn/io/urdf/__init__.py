"""URDF files: reader and writer."""
