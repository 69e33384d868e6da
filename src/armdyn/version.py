"""The version, apart so that every room can read it."""

__version__ = "0.2.0"
