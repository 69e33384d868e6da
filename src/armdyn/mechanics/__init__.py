"""Robots as they are built: bases that nothing holds, and their momentum."""
