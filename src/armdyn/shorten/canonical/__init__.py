"""The robot as the compiler likes it: canonical frames, regrouped inertias, snapped numbers."""
