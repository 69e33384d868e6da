"""How many operations each formulation takes."""
