"""The formulation with the fewest operations known, and its choices."""
