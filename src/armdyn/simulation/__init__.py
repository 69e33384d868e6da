"""Motion from torques: trajectories, controllers, integrators and their results."""
