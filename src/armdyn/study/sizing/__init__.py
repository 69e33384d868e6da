"""Motors: what a motion asks of them, and the choice of motors and gears from a list."""
