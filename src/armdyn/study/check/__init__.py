"""What is suspicious in the description of a robot."""
