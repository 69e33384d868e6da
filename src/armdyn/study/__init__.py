"""Questions about an arm: what is odd, what matters, what it costs, what would be simpler."""
