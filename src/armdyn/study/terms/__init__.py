"""Torques along a motion, split into their terms."""
