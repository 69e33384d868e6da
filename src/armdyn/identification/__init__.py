"""Parameters of an arm from measured motion, and the motions that show them."""
