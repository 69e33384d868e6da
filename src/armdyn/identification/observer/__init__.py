"""Watching an arm: what the environment does to it, from positions, velocities and torques."""
