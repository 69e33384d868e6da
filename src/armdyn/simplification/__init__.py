"""Arms with simple dynamics: what forbids them, what they need, the smallest change to one."""
