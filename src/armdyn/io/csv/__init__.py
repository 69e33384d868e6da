"""Tables of numbers and trajectories as comma-separated values."""
