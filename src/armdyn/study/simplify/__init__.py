"""Arms with simple dynamics: obstacles, conditions, and the smallest change that reaches them."""
