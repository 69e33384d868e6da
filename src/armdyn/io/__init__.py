"""Robots in and out of files."""
