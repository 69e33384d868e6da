"""The torques of other libraries for the same robot, and why they differ."""
