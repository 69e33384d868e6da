"""What the dynamics of a robot tell: checks, reports, plots."""
