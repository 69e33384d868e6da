"""From formulations to programs of the fewest operations."""
