"""The equations of motion of a robot, written for people."""
