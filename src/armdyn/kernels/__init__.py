"""Programs made ready to run elsewhere: machine code, C99, and Python for any array library."""
