"""Robots in graphs: formulations traced with a robot's numbers as parameters, and reduced."""
